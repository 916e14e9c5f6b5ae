# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Errors, paths, files, processes and JSON documents, for all other packages."""
