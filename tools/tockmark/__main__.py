# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Where the tool begins, as `tockmark` and as `python -m tockmark`."""

import sys

from tockmark.errors import INTERRUPTED


def main() -> None:
    """Load the tool and run it. Loading takes a while, in which Ctrl-C may come too."""
    try:
        from tockmark.cli.app import main as tool

        tool()
    except KeyboardInterrupt:
        print("tockmark: interrupted", file=sys.stderr)
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
