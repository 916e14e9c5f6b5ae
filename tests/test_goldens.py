# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The tool says of the committed results, byte by byte, what goldens.py wrote down."""

import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).with_name("goldens.py")


def test_the_tool_says_what_was_written_down() -> None:
    """In a process of its own: what other tests set in this one must not count."""
    command = [sys.executable, str(SCRIPT), "check", "fast"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
