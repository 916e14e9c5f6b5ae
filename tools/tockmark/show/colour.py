# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Colours in tables, for a terminal only: the words say all of it without them.

The command line chooses once, for its standard output; whoever else makes a table gets plain text.
A colour takes no columns, so a cell is filled up to its width before it is coloured."""

import os
import re
from collections.abc import Mapping
from typing import TextIO

GREEN, YELLOW, RED = 32, 33, 31  # SGR codes (ECMA-48)

_CODES = re.compile(r"\x1b\[\d+m")

_on = False


def choose(stream: TextIO) -> None:
    """Colour from here on what is made for this stream, if that wants it."""
    global _on
    _on = wanted(stream.isatty(), os.environ)


def is_on() -> bool:
    """Whether tables are coloured."""
    return _on


def wanted(terminal: bool, environment: Mapping[str, str]) -> bool:
    """NO_COLOR says no, else FORCE_COLOR says yes, unless they are empty (no-color.org,
    force-color.org); else a terminal that can show colours wants them."""
    if environment.get("NO_COLOR"):
        return False
    if environment.get("FORCE_COLOR"):
        return True
    return terminal and environment.get("TERM", "") not in ("", "dumb", "unknown")


def width(text: str) -> int:
    """The columns that a text takes."""
    return len(_CODES.sub("", text))


def good(text: str) -> str:
    """Lower, better, in place."""
    return _coloured(text, GREEN)


def doubtful(text: str) -> str:
    """A warning, or what cannot be told."""
    return _coloured(text, YELLOW)


def bad(text: str) -> str:
    """Higher, worse, wrong, missing."""
    return _coloured(text, RED)


def ratio(text: str) -> str:
    """A ratio of costs, by what is shown of it: beyond 1 there is more to pay."""
    try:
        shown = float(text)
    except ValueError:  # there is none
        return text
    return text if shown == 1 else bad(text) if shown > 1 else good(text)


def _coloured(text: str, code: int) -> str:
    return f"\x1b[{code}m{text}\x1b[0m" if _on and text.strip() else text
