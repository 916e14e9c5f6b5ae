# SPDX-License-Identifier: Apache-2.0 OR MIT
"""tockmark-lab: what keeps tockmark's numbers right, and the studies made with them.

It uses tockmark's modules; tockmark uses none of these.
"""
