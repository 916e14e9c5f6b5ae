# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Lets the tool run as `python -m tockmark`."""

from tockmark.cli import main

main()
