# SPDX-License-Identifier: Apache-2.0 OR MIT
"""tockmark measures what the Tock operating system costs on OpenTitan Earl Grey."""

__version__ = "0.2.0"
BASELINE = "tockmark-baseline"  # how the names of our own kernels start
STAND_IN = "tockmark-stand-in"  # how the names of the lab's stand-in kernels start
