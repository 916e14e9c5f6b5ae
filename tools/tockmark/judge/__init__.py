# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Judging a change: run both kernels as far as the verdicts need, and report what changed."""
