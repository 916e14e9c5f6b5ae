# SPDX-License-Identifier: Apache-2.0 OR MIT
"""How figures and words look wherever they are shown: colours, numbers, prose, and `Table`, which
writes cells as text, Markdown, HTML or JSON and escapes them by itself.

A colour is for a terminal only: the words say all of it without. The command line chooses once, for
its standard output; whoever else makes a table gets plain text.
"""

import os
import re
import shutil
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from string import ascii_uppercase
from typing import Any, TextIO

import msgspec
from markupsafe import Markup

from tockmark.base.errors import printable_text

_CODES = re.compile(r"\x1b\[\d+m")

_on = False


def set_colours(stream: TextIO) -> None:
    """Colour from here on what is made for this stream, if it wants colours."""
    global _on
    _on = wants_colours(stream.isatty(), os.environ)


def has_colours() -> bool:
    """Tell whether tables are coloured."""
    return _on


def wants_colours(terminal: bool, environment: Mapping[str, str]) -> bool:
    """Decide: NO_COLOR says no, else FORCE_COLOR yes, unless they are empty (no-color.org,
    force-color.org); else a terminal that can show colours wants them."""
    if environment.get("NO_COLOR"):
        return False
    if environment.get("FORCE_COLOR"):
        return True
    return terminal and environment.get("TERM", "") not in ("", "dumb", "unknown")


def uncoloured(text: str) -> str:
    """Return a text without its colours."""
    return _CODES.sub("", text)


def shown_width(text: str) -> int:
    """Return how many columns a text takes."""
    return len(uncoloured(text))


def good(text: str) -> str:
    """Colour what is lower, better, in place."""
    return _coloured(text, 32)


def doubtful(text: str) -> str:
    """Colour a warning, or what cannot be decided."""
    return _coloured(text, 33)


def bad(text: str) -> str:
    """Colour what is higher, worse, wrong, missing."""
    return _coloured(text, 31)


def coloured_ratio(text: str) -> str:
    """Colour a ratio of costs by what is shown of it: beyond 1 there is more to pay."""
    try:
        shown = float(text)
    except ValueError:  # there is none
        return text
    return text if shown == 1 else bad(text) if shown > 1 else good(text)


def _coloured(text: str, code: int) -> str:
    """Put a text between codes of SGR (ECMA-48)."""
    return f"\x1b[{code}m{text}\x1b[0m" if _on and text.strip() else text


# How numbers, percentages and prose look everywhere.


LINE = 100  # columns of the widest table, where nothing else is said
NARROW = 80  # of the narrowest
NONE = "-"


def number(value: float | None, digits: int = 1, group: str = "") -> str:
    """Write a whole number without decimals, others with so many. `group`, a comma, may stand
    between thousands."""
    if value is None:
        return NONE
    return f"{value:{group}.0f}" if value == int(value) else f"{value:{group}.{digits}f}"


def trimmed(value: float, digits: int = 3) -> str:
    """Write a number without superfluous zeros."""
    return f"{value:.{digits}f}".rstrip("0").rstrip(".")


def rounded(value: float | None) -> float | None:
    """Round a figure that is to be read: a large one to a digit behind the point."""
    return value if value is None or abs(value) < 100 else round(value, 1)


def three_digits(value: float | None) -> float | None:
    """Round a figure of the first screen: to three digits, and a larger one to a whole number."""
    if value is None or abs(value) >= 100:
        return value if value is None else round(value)
    return float(f"{value:.3g}")


def aligned(
    values: Sequence[float | None], digits: int = 3, marks: Sequence[str] | None = None
) -> list[str]:
    """Write a column of numbers, their points below each other: what one lacks behind the point
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


def percentage(value: float, sign: str = "", digits: int | None = None) -> str:
    """Write a share in percent, where a heading says so: with three digits, or two behind the point
    if it is small, unless `digits` says how many."""
    if digits is None:
        digits = 2 if abs(value) < 0.1 else 1 if abs(value) < 1 else 0
    return f"{value * 100:{sign}.{digits}f}"


def percent(value: float, sign: str = "", digits: int | None = None) -> str:
    """Write a share in percent with its unit."""
    return f"{percentage(value, sign, digits)} %"


def change(base: float | None, new: float | None) -> str:
    """Write the change from one to the other in percent."""
    if base is None or new is None:
        return NONE
    if base == new:
        return "0 %"
    return percent(new / base - 1, sign="+") if base > 0 and new > 0 else "no ratio"


def ratio(value: float | None) -> str:
    """Write a ratio; 1 says that both are equal."""
    return NONE if value is None else f"{value:.2f}"


def letters(count: int) -> list[str]:
    """Return short names: A to Z, then AA, AB, …"""
    high = ("", *ascii_uppercase)
    return [high[place // 26] + ascii_uppercase[place % 26] for place in range(count)]


def width_of_terminal(most: int = LINE) -> int:
    """Return the columns of the terminal, from 80 to so many; 100 where there is none."""
    return min(most, max(NARROW, shutil.get_terminal_size((LINE, 24)).columns))


def right(value: str, width: int) -> str:
    """Put a value at the right of its column, coloured or not."""
    return " " * (width - shown_width(value)) + value


def left(value: str, width: int) -> str:
    """Put a value at the left of its column, coloured or not."""
    return value + " " * (width - shown_width(value))


def shortened(label: str, width: int) -> str:
    """Make a label fit: the middle of a long one is left out, since its end tells it from others
    of its kind."""
    if len(label) <= width:
        return label
    kept = (width - 1) // 2
    return f"{label[: width - 1 - kept]}…{label[len(label) - kept :]}"


def sentence(text: str) -> str:
    """Begin a text with a capital, as a line does."""
    return text[:1].upper() + text[1:]


def wrap(text: str, indent: str = "    ", width: int = LINE) -> list[str]:
    """Wrap prose; lines after the first are indented."""
    return textwrap.wrap(text, width, subsequent_indent=indent, break_on_hyphens=False)


def format_list(what: str, names: Sequence[str], most: int = 12) -> list[str]:
    """Say how many there are, and name the first of them."""
    more = f", and {len(names) - most} more" if len(names) > most else ""
    return wrap(f"{what} ({len(names)}): {', '.join(names[:most])}{more}") if names else []


# How cells become a table. Names come from kernels, paths and commits, that is from whoever opened
# a pull request. So what is not plain becomes a character reference: it is shown as it is, and
# neither Markdown nor HTML nor a mention or link of the forge is made of it.


LONGEST = 200  # characters of a name
_PLAIN = r"A-Za-z0-9 .,;:=+%()/\-"
_HARMLESS = _PLAIN + r"_'\"…→–×±µ"  # these stay in prose, too
_LINK = r"|:(?=//)|(?<=www)\."  # what a forge takes for an address, plain as it is


def escaped(text: str) -> Markup:
    """Escape a name for Markdown and HTML, whatever it holds; of a long one the beginning stays."""
    text = text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
    return _referenced(text, _PLAIN)


def prose(text: str) -> Markup:
    """Escape a sentence that may hold names; quotes, underscores and arrows stay as they are."""
    return text if isinstance(text, Markup) else _referenced(text, _HARMLESS)


def code(name: str) -> Markup:
    """Write a name in the letters of code, where a forge looks for no mention and no link."""
    return Markup(f"<code>{escaped(name)}</code>")


def quoted(name: str) -> Markup:
    """Put a name in backticks, if it holds nothing that could end them, else write it as `code`."""
    return Markup(f"`{name}`") if prose(name) == name else code(name)


def _referenced(text: str, plain: str) -> Markup:
    text = printable_text(uncoloured(text))
    escaped_text = re.sub(f"[^{plain}]{_LINK}", lambda at: f"&#{ord(at[0])};", text, flags=re.I)
    return Markup(escaped_text)


@dataclass(frozen=True)
class TableColumn:
    """A column of a table. Only text has widths: there `gap` blanks stand before a cell."""

    name: str = ""  # its heading; a "\n" begins a second line
    width: int = 0
    gap: int = 1
    left: bool = False  # else its cells stand at the right
    names: bool = False  # its cells are names: code, in Markdown and HTML

    def padded(self, cell: str) -> str:
        """Put a cell at its place in a line of text, coloured or not."""
        return " " * self.gap + (left if self.left else right)(cell, self.width)

    def escaped(self, cell: str, as_code: Callable[[str], Markup]) -> Markup:
        """Escape a cell for Markdown or HTML, which write a name `as_code`."""
        return as_code(cell) if self.names and not isinstance(cell, Markup) else prose(cell)


def figures(widths: Mapping[str, int], gap: int = 1) -> list[TableColumn]:
    """Make columns of numbers by their headings."""
    return [TableColumn(name, width, gap) for name, width in widths.items()]


class Table:
    """Cells in rows, written as text, Markdown, HTML or JSON.

    A cell is a string, in text perhaps coloured: `bad("+3 %")`. The writers pad it, or escape it
    unless it is `Markup`. A row that is one string stands across all columns.

        table = Table([TableColumn("", 30, 0, left=True), *figures({"base": 9, "new": 9})])
        table.add(row.name, number(base), bad(number(new)))
        lines = table.text("A section")  # or table.markdown(), table.html(), table.records()

    The lines of text begin at the left, and so many dashes as the columns are wide, or `rule`,
    stand below the headings. With `ends_at` the columns end there, and a first cell that is too
    long for its own takes the blanks of the next.
    """

    def __init__(
        self,
        columns: Sequence[TableColumn],
        rows: Iterable[Sequence[str]] = (),
        ends_at: int = 0,
        rule: int = 0,
    ) -> None:
        self.columns, self.rows = columns, list(rows)
        self.ends_at, self.rule = ends_at, rule

    def add(self, *cells: str) -> None:
        """Add a row; one string alone stands across all columns."""
        self.rows.append(cells[0] if len(cells) == 1 else cells)

    def line(self, cells: Sequence[str]) -> str:
        """Write a row as text."""
        if isinstance(cells, str):
            return cells
        first, *rest = (
            column.padded(cell) for column, cell in zip(self.columns, cells, strict=True)
        )
        if self.ends_at:
            room = self.ends_at - len(cells[0]) - 1
            return f"{cells[0]} {right(''.join(rest).lstrip(), room)}".rstrip()
        return "".join([first, *rest]).rstrip()

    def heading(self) -> list[str]:
        """Write the names of the columns, and the rule, as text."""
        lines = zip_longest(*(column.name.split("\n") for column in self.columns), fillvalue="")
        width = sum(column.gap + column.width for column in self.columns)
        return [*map(self.line, lines), "-" * (self.rule or self.ends_at or width)]

    def text(self, *titles: str) -> list[str]:
        """Write the titles, headings and rows as lines of text."""
        return [*titles, *self.heading(), *map(self.line, self.rows)]

    def markdown(self) -> list[str]:
        """Write the rows as lines of Markdown and an empty one behind; nothing without rows."""
        if not self.rows:
            return []
        heads = "".join(f" {column.name} |" if column.name else " |" for column in self.columns)
        sides = "".join("---|" if column.left else "---:|" for column in self.columns)
        rows = [" | ".join(c.escaped(cell, quoted) for c, cell in cells) for cells in self._cells()]
        return [f"|{heads}".replace("\n", " "), f"|{sides}", *(f"| {row} |" for row in rows), ""]

    def html(self) -> Markup:
        """Write the rows as an element of a page."""
        rows = ["".join(f"<th>{prose(column.name)}</th>" for column in self.columns)]
        for cells in self._cells():
            rows.append("".join(f"<td>{c.escaped(cell, code)}</td>" for c, cell in cells))
        return Markup(f"<table>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>")

    def records(self) -> list[dict[str, str]]:
        """Return the rows for JSON: cells by the names of their columns."""
        return [{c.name: uncoloured(cell) for c, cell in cells} for cells in self._cells()]

    def _cells(self) -> Iterator[list[tuple[TableColumn, str]]]:
        """Pair the cells of each row with their columns; one that stands across all has none."""
        for row in self.rows:
            across = isinstance(row, str)
            yield [(TableColumn(), str(row))] if across else [*zip(self.columns, row, strict=True)]


def as_json(records: object) -> Any:
    """Return any records as other programs read them; what is not bounded is null."""
    return msgspec.json.decode(msgspec.json.encode(records))
