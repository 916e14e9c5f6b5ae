# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Format colours, numbers, prose and tables. `Table` writes cells as text, Markdown or CSV, and
escapes them.

Colours are for terminals only and carry no information of their own. The command line switches them
on for its standard output, and sets the width of the terminal; everything else gets plain text of
LINE columns.
"""

import csv
import io
import os
import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from itertools import groupby, zip_longest
from string import ascii_uppercase
from typing import Any, TextIO

import msgspec
from markupsafe import Markup

from tockmark.base.errors import printable_text

NARROW, LINE, WIDE = 60, 100, 120  # columns: of the narrowest text, by default, of the widest
_CODES = re.compile(r"\x1b\[\d+m")
_NUMBER = re.compile(r"[-+]?[0-9.]+( %)?")
_LABEL = re.compile(r" *(\S.{0,20}? {2,}(?=\S))?")  # that the next lines are indented by

_on = False
_columns = LINE


def set_output(stream: TextIO) -> None:
    """Use colours if this stream wants them, and the width of the terminal, from 60 to 120."""
    global _on, _columns
    _on = wants_colours(stream.isatty(), os.environ)
    _columns = min(WIDE, max(NARROW, shutil.get_terminal_size((LINE, 24)).columns))


def columns() -> int:
    """Return the width of the output in columns."""
    return _columns


def has_colours() -> bool:
    """Return whether colours are on."""
    return _on


def wants_colours(terminal: bool, environment: Mapping[str, str]) -> bool:
    """Return whether output is coloured. NO_COLOR forbids it and FORCE_COLOR demands it, unless
    empty (no-color.org, force-color.org). Otherwise a terminal with colours gets them."""
    if environment.get("NO_COLOR"):
        return False
    if environment.get("FORCE_COLOR"):
        return True
    return terminal and environment.get("TERM", "") not in ("", "dumb", "unknown")


def uncoloured(text: str) -> str:
    """Return a text without its colours."""
    return _CODES.sub("", text)


def shown_width(text: str) -> int:
    """Return the width of a text in columns, without its colours."""
    return len(uncoloured(text))


def _coloured(text: str, code: int) -> str:
    """Enclose a text in SGR codes (ECMA-48) if colours are on."""
    return f"\x1b[{code}m{text}\x1b[0m" if _on and text.strip() else text


good = partial(_coloured, code=32)  # an improvement
doubtful = partial(_coloured, code=33)
bad = partial(_coloured, code=31)  # a regression or an error


def coloured_ratio(text: str) -> str:
    """Colour a formatted ratio of costs: bad above 1, good below."""
    try:
        shown = float(text)
    except ValueError:  # no ratio
        return text
    return text if shown == 1 else bad(text) if shown > 1 else good(text)


# Numbers, percentages and prose.


NONE = "-"


def number(value: float | None, digits: int = 1, group: str = "") -> str:
    """Format a number with this many digits behind the point; a whole number has none. `group` is
    the separator of thousands."""
    if value is None:
        return NONE
    return f"{value:{group}.0f}" if value == int(value) else f"{value:{group}.{digits}f}"


def trimmed(value: float, digits: int = 3) -> str:
    """Format a number without trailing zeros."""
    return f"{value:.{digits}f}".rstrip("0").rstrip(".")


def rounded(value: float | None) -> float | None:
    """Round a figure from 100 up to one digit behind the point."""
    return value if value is None or abs(value) < 100 else round(value, 1)


def three_digits(value: float | None) -> float | None:
    """Round a figure to three digits, from 100 up to a whole number."""
    if value is None or abs(value) >= 100:
        return value if value is None else round(value)
    return float(f"{value:.3g}")


def aligned(
    values: Sequence[float | None], digits: int = 3, marks: Sequence[str] | None = None
) -> list[str]:
    """Format a column of numbers with their decimal points aligned, each followed by its mark. They
    have at most `digits` digits behind the point and no trailing zeros."""
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
    """Format a share in percent, without the percent sign: with three digits, or two behind the
    point if it is below 10 %, unless `digits` is given."""
    if digits is None:
        digits = 2 if abs(value) < 0.1 else 1 if abs(value) < 1 else 0
    return f"{value * 100:{sign}.{digits}f}"


def percent(value: float, sign: str = "", digits: int | None = None) -> str:
    """Format a share in percent."""
    return f"{percentage(value, sign, digits)} %"


def change(base: float | None, new: float | None) -> str:
    """Format a change in percent."""
    if base is None or new is None:
        return NONE
    if base == new:
        return "0 %"
    return percent(new / base - 1, sign="+") if base > 0 and new > 0 else "no ratio"


def ratio(value: float | None) -> str:
    """Format a ratio."""
    return NONE if value is None else f"{value:.2f}"


def letters(count: int) -> list[str]:
    """Return short names: A to Z, then AA, AB, …"""
    first_letters = ("", *ascii_uppercase)
    return [first_letters[n // 26] + ascii_uppercase[n % 26] for n in range(count)]


def csv_cell(text: str) -> str:
    """Return a text that spreadsheets do not evaluate as a formula."""
    formula = text.startswith(("=", "+", "-", "@", "\t", "\r")) and not _NUMBER.fullmatch(text)
    return f"'{text}" if formula else text


def beginning(label: str, width: int) -> str:
    """Return the first words of a text, in this width."""
    return label if len(label) <= width else f"{label[: width - 1].rpartition(' ')[0]} …"


def counted(count: int, noun: str = "row") -> str:
    """Format a number of things."""
    return f"{count} {noun}{'s' * (count != 1)}"


def sentence(text: str) -> str:
    """Capitalise the first letter of a text."""
    return text[:1].upper() + text[1:]


def wrap(text: str, indent: str = "    ", width: int | None = None) -> list[str]:
    """Wrap prose, coloured or not, not inside words; lines after the first are indented."""
    lines: list[str] = []
    for word in re.findall(r" *[^ ]+(?: (?:%|µs)[^ ]*| … [^ ]*)*", text.replace("\n", " ")):
        if lines and shown_width(lines[-1] + word) <= (width or _columns):
            lines[-1] += word
        else:
            lines.append(indent + word.lstrip() if lines else word)
    return lines


def fold(text: str) -> str:
    """Wrap the lines of a text that are wider than the output, below their labels."""
    lines = []
    for line in text.splitlines():
        indent = len(_LABEL.match(uncoloured(line))[0])  # type: ignore[index]
        wide = shown_width(line) > _columns
        lines += wrap(line, " " * (indent if indent <= 24 else 4)) if wide else [line]
    return "\n".join(lines) + "\n" * text.endswith("\n")


# Tables. Names come from kernels, paths and commits, that is, from the author of a pull request. So
# every character that is not plain becomes a character reference: it displays as itself, and never
# turns into Markdown, HTML, a mention or a link.


LONGEST = 200  # characters of a name
_PLAIN = r"A-Za-z0-9 .,;:=+%()/\-"
_HARMLESS = _PLAIN + r"_'\"…→–×±µ†"  # what prose may also contain
_LINK = r"|:(?=//)|(?<=www)\."  # plain characters that a forge turns into a link


def escaped(text: str) -> Markup:
    """Escape a name for Markdown and HTML, and cut it at LONGEST characters."""
    text = text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
    return _referenced(text, _PLAIN)


def prose(text: str) -> Markup:
    """Escape a sentence that may contain names; quotes, underscores and arrows stay."""
    return text if isinstance(text, Markup) else _referenced(text, _HARMLESS)


def code(name: str) -> Markup:
    """Return a name as HTML code, where a forge recognises no mentions or links."""
    return Markup(f"<code>{escaped(name)}</code>")


def quoted(name: str) -> Markup:
    """Return a name in backticks, or as HTML code if it needs escaping."""
    return Markup(f"`{name}`") if prose(name) == name else code(name)


def _referenced(text: str, plain: str) -> Markup:
    text = printable_text(uncoloured(text))
    escaped_text = re.sub(f"[^{plain}]{_LINK}", lambda at: f"&#{ord(at[0])};", text, flags=re.I)
    return Markup(escaped_text)


NAME = 20  # least width of names that give none, before a table omits figures
RULE = "-"  # a row that is a line of dashes


@dataclass(frozen=True)
class TableColumn:
    """A column of a table. `width`, `gap` and `spare` are for text only."""

    name: str = ""  # the heading; "\n" starts a second line
    width: int = 0  # at least
    gap: int = 1  # blanks before a cell
    left: bool = False  # aligned to the left, else to the right
    names: bool = False  # its cells are names, written as code in Markdown
    spare: int = 0  # a table that is too wide omits the columns with the largest number first

    def padded(self, cell: str) -> str:
        """Return a cell, coloured or not, with its gap and alignment."""
        blanks = " " * (self.width - shown_width(cell))
        return " " * self.gap + (cell + blanks if self.left else blanks + cell)

    def too_narrow(self, name: str) -> bool:
        """Return whether a name does not fit."""
        return self.left and shown_width(name) > self.width

    def escaped(self, cell: str) -> Markup:
        """Escape a cell for Markdown."""
        return quoted(cell) if self.names and not isinstance(cell, Markup) else prose(cell)


def figures(
    widths: Mapping[str, int], gap: int = 1, spare: Sequence[str] = ()
) -> list[TableColumn]:
    """Return columns of numbers; `widths` are by heading. A table that is too wide omits the first
    of `spare` first."""
    ranks = {name: len(spare) - at for at, name in enumerate(spare)}
    return [
        TableColumn(name, width, gap, spare=ranks.get(name, 0)) for name, width in widths.items()
    ]


class Table:
    """A table that can be written as text, Markdown or CSV.

    A cell is a string, possibly coloured: `bad("+3 %")`. The writers pad it, and escape it unless
    it is `Markup`. A row that is a single string spans all columns; the last cell of another row
    that is too short spans the rest.

        table = Table([TableColumn("", 30, 0, left=True), *figures({"base": 9, "new": 9})])
        table.add(row.name, number(base), bad(number(new)))
        lines = table.text("A section")  # or table.markdown()

    In text, columns are as wide as their cells, or wider. A table that is too wide omits spare
    columns. A name in the first column that is still too long gets a line of its own, and one in
    the last column continues on the next line.
    """

    def __init__(
        self,
        columns: Sequence[TableColumn],
        rows: Iterable[Sequence[str]] = (),
        title: str = "",
        heads: Sequence[str] = (),
    ) -> None:
        """`heads` replace the headings in text, and then the widths are not fitted."""
        self.columns, self.rows, self.title, self.heads = columns, list(rows), title, heads

    def add(self, *cells: str) -> None:
        """Add a row; a single string spans all columns."""
        self.rows.append(cells[0] if len(cells) == 1 else cells)

    def _fitted(self, width: int) -> tuple["Table", list[str]]:
        """Return the table with columns that fit into this width, and the names of others."""
        rows = [row for row in self.rows if not isinstance(row, str)]
        full = [row for row in rows if len(row) == len(self.columns)]
        cells = [[row[at] for row in (full if at else rows)] for at in range(len(self.columns))]
        cells_wide = [
            max(map(shown_width, (*column.name.split("\n"), *own)))
            for column, own in zip(self.columns, cells, strict=True)
        ]
        widths = {
            at: min(wide, column.width or NAME) if column.left else max(wide, column.width)
            for at, (column, wide) in enumerate(zip(self.columns, cells_wide, strict=True))
            if any(cells[at]) or not full
        }

        def room() -> int:
            return width - sum(self.columns[at].gap + own for at, own in widths.items())

        if room() < 0:
            widths |= {at: cells_wide[at] for at in widths if not self.columns[at].left}
        omitted = []
        while room() < 0 and (rank := max(self.columns[at].spare for at in widths)):
            for at in [at for at in widths if self.columns[at].spare == rank]:
                omitted += [" ".join(self.columns[at].name.split())] if widths.pop(at) else []
        for at in widths:
            more = min(cells_wide[at] - widths[at], room())
            widths[at] = max(0, widths[at] + more) if self.columns[at].left else widths[at]
        fitted = Table([replace(self.columns[at], width=own) for at, own in widths.items()])
        for row in self.rows:
            spans = isinstance(row, str) or len(row) < len(self.columns)
            fitted.rows.append(row if spans else [row[at] for at in widths])
        return fitted, [*dict.fromkeys(filter(None, omitted))]

    @property
    def width(self) -> int:
        """The sum of the columns' widths."""
        return sum(column.gap + column.width for column in self.columns)

    def line(self, cells: Sequence[str]) -> str:
        """Return cells as one line of text; the last of too few spans the rest."""
        own = cells if len(cells) == len(self.columns) else cells[:-1]
        line = "".join(column.padded(cell) for column, cell in zip(self.columns, own, strict=False))
        return line.rstrip() if own is cells else f"{line} {cells[-1]}"

    def _lines(self, cells: Sequence[str], width: int) -> list[str]:
        """Return a row as lines of text. A name that is too long is on a line of its own."""
        if isinstance(cells, str):
            return [RULE * self.width] if cells == RULE else wrap(cells, width=width) or [""]
        first, *rest = cells
        name = wrap(first, width=width) if self.columns[0].too_narrow(first) else []
        cells = ["", *rest] if name else cells
        indent = self.width - self.columns[-1].width if len(cells) == len(self.columns) else 4
        if max(map(shown_width, cells[-1].split()), default=0) <= width - indent:
            return [*name, *wrap(self.line(cells), " " * indent, width)]
        return [*name, self.line([*cells[:-1], ""]), *wrap(f"    {cells[-1]}", width=width)]

    def text(self, *titles: str, width: int | None = None) -> list[str]:
        """Return the titles, headings and rows as lines of text."""
        width = width or _columns
        table, omitted = (self, []) if self.heads else self._fitted(width)
        names = (column.name.split("\n") for column in table.columns)
        heads = [*zip_longest(*names, fillvalue=""), RULE] if not self.heads else self.heads
        lines = [line for row in (*heads, *table.rows) for line in table._lines(row, width)]
        note = f"({width} columns: without {', '.join(omitted)})"
        return [*titles, *lines, *wrap(note)] if omitted else [*titles, *lines]

    def markdown(self) -> list[str]:
        """Return the table as lines of Markdown with an empty last line; nothing without rows."""
        if not self.rows:
            return []
        heads = "".join(f" {column.name} |" if column.name else " |" for column in self.columns)
        lines = [f"|{heads}".replace("\n", " ")]
        lines += ["|" + "".join("---|" if column.left else "---:|" for column in self.columns)]
        for row in (row for row in self.rows if row != RULE):
            blank = [""] * (len(self.columns) - len(row))
            pairs = () if isinstance(row, str) else zip(self.columns, [*row, *blank], strict=True)
            cells = [column.escaped(cell) for column, cell in pairs] or [prose(str(row))]
            lines.append(f"| {' | '.join(cells)} |")
        return [*lines, ""]


class Form(StrEnum):
    """The format of a table."""

    TEXT = "text"
    MARKDOWN = "markdown"
    CSV = "csv"


def preformatted(lines: Sequence[str]) -> list[str]:
    """Return lines as preformatted Markdown. A blank line, which would end it, gets a space."""
    return ["<pre>", *(escaped(line) or " " for line in lines), "</pre>"]


def written(parts: Sequence[str | Table], form: Form) -> str:
    """Return lines and tables in this form. CSV has only the tables; its sections are their titles
    and the rows that span all columns."""
    if form is Form.CSV:
        return _csv([part for part in parts if isinstance(part, Table)])
    lines: list[str] = []
    for _, some in groupby(parts, lambda part: isinstance(part, Table)):
        group = list(some)
        words = [part for part in group if isinstance(part, str)]
        if form is Form.TEXT:
            lines += words
        elif words:
            lines += [*preformatted("\n".join(words).strip("\n").split("\n")), ""]
        for table in (part for part in group if isinstance(part, Table)):
            if form is Form.TEXT:
                lines += [*table.text(*[table.title] * bool(table.title)), ""]
            else:
                title = [f"#### {prose(table.title)}", ""] if table.title else []
                lines += [*title, *table.markdown()]
    whole = "\n".join(lines).rstrip() + "\n"
    return fold(whole) if form is Form.TEXT else whole


def _csv(tables: Sequence[Table]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    before: list[str] = []
    for table in tables:
        section = table.title
        heads = ["section", *(" ".join(column.name.split()) or "row" for column in table.columns)]
        if heads != before:
            writer.writerow(before := heads)
        for row in table.rows:
            if isinstance(row, str):
                section = row
            else:
                cells = (uncoloured(cell).strip() for cell in row)
                writer.writerow([section, *("" if c == NONE else csv_cell(c) for c in cells)])
    return out.getvalue()


def as_json(records: object) -> Any:
    """Return records as JSON data, with null for infinite numbers."""
    return msgspec.json.decode(msgspec.json.encode(records))
