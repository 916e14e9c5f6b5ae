# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Measure how long an alarm takes to reach an app, by stage, and what delays it."""

FORM = "tockmark-latency"  # of its files
