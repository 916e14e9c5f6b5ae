# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Colours in tables, for a terminal only: the words say all of it without them.

The command line chooses once, for its standard output; whoever else makes a table gets plain text.
A colour takes no columns, so a cell is filled up to its width before it is coloured.
"""

import os
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from string import ascii_uppercase
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


def shown_width(text: str) -> int:
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


def coloured_ratio(text: str) -> str:
    """A ratio of costs, by what is shown of it: beyond 1 there is more to pay."""
    try:
        shown = float(text)
    except ValueError:  # there is none
        return text
    return text if shown == 1 else bad(text) if shown > 1 else good(text)


def _coloured(text: str, code: int) -> str:
    return f"\x1b[{code}m{text}\x1b[0m" if _on and text.strip() else text


# Text at a fixed width: how numbers, percentages, columns and headings look in every table.


LINE = 100  # columns of the widest table
NONE = "-"


def number(value: float | None, digits: int = 1, group: str = "") -> str:
    """A number; a whole one without decimals, others with so many. `group`, a comma, may stand
    between thousands."""
    if value is None:
        return NONE
    return f"{value:{group}.0f}" if value == int(value) else f"{value:{group}.{digits}f}"


def trimmed(value: float, digits: int = 3) -> str:
    """A number without superfluous zeros."""
    return f"{value:.{digits}f}".rstrip("0").rstrip(".")


def rounded(value: float | None) -> float | None:
    """A figure to be read: of a large one no more than a digit behind the point."""
    return value if value is None or abs(value) < 100 else round(value, 1)


def aligned(
    values: Sequence[float | None], digits: int = 3, marks: Sequence[str] | None = None
) -> list[str]:
    """The numbers of a column, their points below each other: what a number lacks behind the point
    becomes blanks. No more digits than any of them needs. A mark stands right behind its number."""
    marks = marks or [""] * len(values)
    texts = [NONE if value is None else trimmed(value, digits) for value in values]
    behind = [
        len(mark) + (len(text) - text.index(".") if "." in text else 0)
        for text, mark in zip(texts, marks, strict=True)
    ]
    most = max(behind, default=0)
    return [
        text + mark + " " * (most - own)
        for text, mark, own in zip(texts, marks, behind, strict=True)
    ]


def points(value: float, sign: str = "", digits: int | None = None) -> str:
    """A share in percent, where a heading says so: three digits, or two behind the point of what is
    small, unless a whole column has as many."""
    if digits is None:
        digits = 2 if abs(value) < 0.1 else 1 if abs(value) < 1 else 0
    return f"{value * 100:{sign}.{digits}f}"


def percent(value: float, sign: str = "", digits: int | None = None) -> str:
    """The same with its unit."""
    return f"{points(value, sign, digits)} %"


def change(base: float | None, new: float | None) -> str:
    """The change from one to the other in percent."""
    if base is None or new is None:
        return NONE
    if base == new:
        return "0 %"
    return percent(new / base - 1, sign="+") if base > 0 and new > 0 else "no ratio"


def ratio(value: float | None) -> str:
    """One by the other, where 1 says that they are equal."""
    return NONE if value is None else f"{value:.2f}"


def letters(count: int) -> list[str]:
    """Short names: A to Z, then AA, AB, …"""
    names: list[str] = []
    for place in range(count):
        high, low = divmod(place, len(ascii_uppercase))
        names.append((ascii_uppercase[high - 1] if high else "") + ascii_uppercase[low])
    return names


def cells(values: Iterable[str], widths: Iterable[int]) -> str:
    """Values at the right of their columns, a blank before each."""
    return "".join(f" {right(value, width)}" for value, width in zip(values, widths, strict=True))


def right(value: str, width: int) -> str:
    """A value at the right of its column, coloured or not."""
    return " " * (width - shown_width(value)) + value


def left(value: str, width: int) -> str:
    """A value at the left of its column, coloured or not."""
    return value + " " * (width - shown_width(value))


def row(label: str, columns: str, width: int = LINE) -> str:
    """A line whose columns end at the right; a long label takes what its first figure leaves."""
    return f"{label} {right(columns.lstrip(), width - len(label) - 1)}".rstrip()


def heading(title: str, columns: str, width: int = LINE) -> list[str]:
    """A section's name, the names of its columns, and a rule."""
    return [title, row("", columns, width), "-" * width]


def shortened(label: str, width: int) -> str:
    """A label that fits: of a long one the middle is left out, since its end tells it from others
    of its kind."""
    if len(label) <= width:
        return label
    kept = (width - 1) // 2
    return f"{label[: width - 1 - kept]}…{label[len(label) - kept :]}"


def sentence(text: str) -> str:
    """With a capital, as a line begins."""
    return text[:1].upper() + text[1:]


def wrap(text: str, indent: str = "    ", width: int = LINE) -> list[str]:
    """Prose; lines after the first are indented."""
    return textwrap.wrap(text, width, subsequent_indent=indent, break_on_hyphens=False)


def listed(what: str, names: Sequence[str], most: int = 12) -> list[str]:
    """How many there are, and the first of them."""
    more = f", and {len(names) - most} more" if len(names) > most else ""
    return wrap(f"{what} ({len(names)}): {', '.join(names[:most])}{more}") if names else []
