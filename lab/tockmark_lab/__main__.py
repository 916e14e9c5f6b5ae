# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Starts the lab's command, as `tockmark-lab` and as `python -m tockmark_lab`."""

from tockmark.__main__ import start


def main() -> None:
    """Load the lab's command and run it."""
    start("tockmark_lab.app")


if __name__ == "__main__":
    main()
