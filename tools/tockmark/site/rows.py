# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The figures of rows as pages have them, a line a row; every figure is model.py's."""

from dataclasses import dataclass

from tockmark.result.model import ICACHE, Row, ratio
from tockmark.show import text
from tockmark.show.plot import Named
from tockmark.show.table import apart, sections, spread
from tockmark.suite.catalogue import LANGS, Catalogue, RowKey, label, row_key

THIN, MINUS = "\u202f", "\u2212"


def number(value: float | None, digits: int = 1) -> str:
    """A number as a page has it: thousands apart, a true minus."""
    if value is None:
        return "–"
    return text.number(value, digits, ",").replace(",", THIN).replace("-", MINUS)


def trimmed(value: float | None, digits: int = 2) -> str:
    """The same without superfluous zeros."""
    if value is None:
        return "–"
    if value == round(value):
        return number(value)
    return number(value, digits).rstrip("0").rstrip(".")


@dataclass(frozen=True)
class Line:
    """A row of one result with one cache setting. `error` says what is wrong with it, if so: then
    its net is shown, and nothing else is made of it."""

    id: str
    label: str  # its parameters, or its id where it has none
    icache: str
    net: str
    spread: str  # from the least to the greatest steady sample
    range: str  # over layouts
    instructions: str
    per_op: str
    us: str
    rate: str
    steady: str
    ratio: str  # to the baseline
    error: str


def line(row: Row, catalogue: Catalogue, baseline: Row | None = None) -> Line:
    """What a table says of a row."""
    stats = row.cycles.stats if row.cycles else None
    good = not row.errors
    return Line(
        row.id,
        label("", row.params).strip() or row.id,
        ICACHE[row.icache],
        number(row.net),
        number(stats.max - stats.min) if stats and stats.max != stats.min else "",
        spread(row) if row.cycles and len(row.cycles.nets) > 1 else "",
        number(row.instructions),
        trimmed(text.rounded(row.per_op), 3) if good else "–",
        trimmed(row.us) if good else "–",
        trimmed(row.mb_per_s(catalogue.moved(row.id, row.params))) if good else "–",
        row.steadiness or "–",
        number(ratio(baseline, row), 2),
        "; ".join(row.errors),
    )


@dataclass(frozen=True)
class Section:
    """A table: the rows of one section, in one language."""

    title: str
    lines: list[Line]


def tables(named: Named, catalogue: Catalogue, baseline: Named | None) -> list[Section]:
    """All rows of a result, by language and section; settings of the cache below each other."""
    made = []
    for _, result in apart([(named.name, named.result)]):
        lang = result.langs[0]
        columns = [result.column(icache, lang) for icache in result.icaches]
        beside: list[dict[RowKey, Row]] = [
            baseline.result.column(icache, lang) if baseline else {} for icache in result.icaches
        ]
        told = f", {LANGS[lang]}" if len(named.result.langs) > 1 else ""
        for title, lines in sections(columns, catalogue):
            found = [
                line(row, catalogue, other.get(row_key(one.id, one.params)))
                for one in lines
                for row, other in zip(one.rows, beside, strict=True)
                if row
            ]
            made.append(Section(title + told, found))
    return made
