# SPDX-License-Identifier: Apache-2.0 OR MIT
"""From rows to the one typed result, its arithmetic, and its file."""
