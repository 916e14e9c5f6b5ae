# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Rows over time: a history of runs, and a campaign over the commits of a Tock checkout."""
