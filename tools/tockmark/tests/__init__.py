# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Unit and contract tests of the tool. They need no built products."""
