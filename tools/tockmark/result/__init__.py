# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The typed result, its statistics and its file."""
