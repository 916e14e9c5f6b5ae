# SPDX-License-Identifier: Apache-2.0 OR MIT
"""tockmark: what the Tock operating system costs on OpenTitan Earl Grey."""

__version__ = "0.2.0"
BASELINE = "tockmark-baseline"  # how the name of our own kernel begins
STAND_IN = "tockmark-stand-in"  # likewise, of what apps are only tried on
