# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A validation as a file: what was expected and what was measured, a row a line.

What a row comes to is not in it: that follows from validation/unexplained.toml as it is now (row.py
judges). No date: the same sources give the same file."""

import subprocess
from collections import Counter
from pathlib import Path
from typing import Literal

from tockmark.errors import TockmarkError
from tockmark.paths import shown
from tockmark.result import document
from tockmark.result.provenance import Part
from tockmark.target.linking import GCC
from tockmark.validate.row import Row

FORMAT: Literal["tockmark-validation"] = "tockmark-validation"
VERSION: Literal[2] = 2  # 1 had the judgement of each row, too
ANEW = "make it anew with `tockmark validate -o`"


class Stored(Part, frozen=True):
    """The whole file."""

    format: Literal["tockmark-validation"]
    version: Literal[2]
    compiler: str  # of the programs
    rows: tuple[Row, ...]


def text(rows: list[Row]) -> str:
    """The rows as the file holds them."""
    return document.text(Stored(FORMAT, VERSION, _compiler(), tuple(rows)), ("rows",))


def load(path: Path) -> list[Row]:
    """Read and check a stored validation."""
    rows = list(document.read(path, Stored, FORMAT, VERSION, ANEW).rows)
    twice = [key for key, times in Counter(row.key for row in rows).items() if times > 1]
    if twice:
        raise TockmarkError(f"{shown(path)}: the row {twice[0]} stands twice", ANEW)
    return rows


def _compiler() -> str:
    done = subprocess.run([GCC, "--version"], capture_output=True, text=True, check=False)
    return done.stdout.splitlines()[0] if done.stdout else "unknown"
