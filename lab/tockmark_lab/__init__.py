# SPDX-License-Identifier: Apache-2.0 OR MIT
"""tockmark-lab: checks that tockmark's numbers are right, and the studies made with them.

It uses tockmark's modules; tockmark uses none of these.
"""
