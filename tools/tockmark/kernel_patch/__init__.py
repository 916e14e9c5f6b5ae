# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Puts the Perf capsule, and what IPC needs, into a checkout of Tock, or takes them out again."""
