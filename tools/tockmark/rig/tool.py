# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Calling other people's tools: linkers, packers, loaders. A failure is one line."""

import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tockmark.errors import INCOMPLETE, TockmarkError

TOCKLOADER = Path(sys.executable).with_name("tockloader")
_NO_REASON = "collect2: "  # gcc's last line: that the linker failed, which has said why
SETUP = "run `make setup`, or `tockmark doctor`"


def call(command: Sequence[str], doing: str, todo: str = SETUP) -> str:
    """Run a tool; what it said. On failure show the last thing of that, and where the tool is not
    there what to do."""
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except FileNotFoundError as error:
        raise TockmarkError(
            f"{doing}: {Path(command[0]).name} is not there",
            todo,
        ) from error
    except OSError as error:
        raise TockmarkError(
            f"{doing}: cannot run {Path(command[0]).name}: {error.strerror}", "", INCOMPLETE
        ) from error
    if done.returncode:
        said = [_plain(line.strip()) for line in (done.stderr or done.stdout).splitlines()]
        reasons = [line for line in said if line and not line.startswith(_NO_REASON)]
        last = reasons[-1] if reasons else f"without a word, code {done.returncode}"
        raise TockmarkError(
            f"{doing}: {Path(command[0]).name} failed: {last}",
            "--debug shows the command",
            INCOMPLETE,
        ) from subprocess.CalledProcessError(done.returncode, command, done.stdout, done.stderr)
    return done.stdout


def _plain(line: str) -> str:
    """What a tool said, without the level that some put before it: `[ERROR  ] no such file`."""
    return re.sub(r"^\[[A-Z]+ *\] ", "", line)
