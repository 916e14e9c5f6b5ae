# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Kernels from commits of the user's own checkout: worktrees, builds, links (docs/trees.md)."""
