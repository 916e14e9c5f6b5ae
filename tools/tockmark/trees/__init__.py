# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Modules here build kernels of commits of the user's own checkout, in links."""
