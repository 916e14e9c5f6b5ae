# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Boards, kernels, flash images, and the targets that run them."""
