# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Comparing results: the rule, verdicts, agreement with a board, and sweeps."""
