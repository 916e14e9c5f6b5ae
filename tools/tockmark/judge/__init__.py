# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Judging a change: kernels are run as far as a verdict needs them, and what moved is said."""
