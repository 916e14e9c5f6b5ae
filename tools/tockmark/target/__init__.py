# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Modules here know boards, kernels and flash images, and run them: text comes out."""
