# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The first page: what was found, before anything else."""

from collections.abc import Iterable
from dataclasses import dataclass

from markupsafe import Markup

from tockmark.compare.pairs import Pair as Judged
from tockmark.compare.rule import VERDICTS, kernel_mean
from tockmark.result.model import Row, ratio
from tockmark.show import comparison, text
from tockmark.show.table import Named, ResultColumn, mark, short_names, spread
from tockmark.site import rows
from tockmark.site.model import Beside, SiteKernel, SitePair, Sorted
from tockmark.site.rows import UNKNOWN, trimmed
from tockmark.suite.catalogue import ICACHE, LANGS, Catalogue
from tockmark.suite.selection import Selection, screen

MOVED = 8  # rows that moved most
SENTENCES = 4  # of what was found; the comparisons have all
NAME = 40  # letters of a column's name


@dataclass(frozen=True)
class Head:
    """A column: a kernel and how it was built."""

    name: str
    kernel: SiteKernel
    level: str


@dataclass(frozen=True)
class Cell:
    """What one column says of a row."""

    cost: str
    range: str
    ratio: str | None  # to the first column; None in that one
    error: str


@dataclass(frozen=True)
class Screen:
    """The rows that people ask for first, kernels side by side."""

    condition: str
    unit: str
    heads: list[Head]
    blocks: list[tuple[str, list[tuple[str, str, list[Cell]]]]]  # title: words, id, cells
    means: list[str]


def screens(site: Sorted) -> list[Screen]:
    """A table for each group of results that can be read beside each other."""
    return [made for one in site.beside if (made := _screen(site, one)).blocks]


def _screen(site: Sorted, beside: Beside) -> Screen:
    columns = beside.columns
    names = short_names([(one.name, one.result) for one in columns], NAME)
    timed = all(column.timed for column in columns)
    blocks = []
    for title, words in screen(site.catalogue).items():
        lines = []
        for said, key in words.items():
            rows = [column.rows.get(key) for column in columns]
            if any(rows):
                cells = [_cell(i, rows, timed) for i in range(len(columns))]
                lines.append((said, key[0], cells))
        if lines:
            blocks.append((title, lines))
    return Screen(
        condition(beside),
        "net cycles" if timed else "net instructions",
        [_head(site, *one) for one in zip(names, columns, beside.of, strict=True)],
        blocks,
        [_mean(columns[0], column, site.catalogue) for column in columns[1:]],
    )


def condition(beside: Beside) -> str:
    """Under which all columns hold."""
    board = beside.columns[0].result.provenance.board
    version = f"version {beside.abi}" if beside.abi else "unknown version"
    return (
        f"{beside.machine}, {board.clock}, i-cache {ICACHE[beside.icache]}, interface {version},"
        f" apps in {LANGS[beside.lang]}"
    )


def _head(site: Sorted, name: str, column: ResultColumn, of: Named) -> Head:
    level = column.result.provenance.kernel.opt_level or UNKNOWN
    return Head(name, site.kernel_of(of), f"opt-level {level}")


def _cell(i: int, rows: list[Row | None], timed: bool) -> Cell:
    row = rows[i]
    counted = (row.cycles if timed else row.instret) if row else None
    cost = trimmed(text.rounded(counted.per_op if counted else None)) + mark(row)
    times = text.ratio(ratio(rows[0], row)) if i else None
    several = row is not None and row.cycles is not None and len(row.cycles.nets) > 1
    return Cell(
        cost,
        spread(row, row.inner) if several and row else "",
        times,
        "; ".join(row.errors) if row else "",
    )


def _mean(base: ResultColumn, new: ResultColumn, catalogue: Catalogue) -> str:
    return text.ratio(kernel_mean(base.rows, new.rows, catalogue))


@dataclass(frozen=True)
class SiteFinding:
    """What a comparison comes to, and under which conditions."""

    pair: SitePair
    new: str
    base: str
    mean: str  # of the net cycles' ratios, as the table has it
    conditions: str
    said: str


def findings(site: Sorted) -> list[SiteFinding]:
    """What was found, for pairs of the first table: other kernels with each other first, then with
    the baseline, which is none of Tock's."""
    if not site.beside:
        return []
    beside = site.beside[0]
    names = short_names([(one.name, one.result) for one in beside.columns], NAME)
    columns = {of.name: place for place, of in enumerate(beside.of)}
    found = []
    for pair in sorted(site.pairs, key=_has_baseline):
        if not (pair.comparison and {pair.base.name, pair.new.name} <= columns.keys()):
            continue
        base, new = columns[pair.base.name], columns[pair.new.name]
        levels = [_head(site, "", beside.columns[at], beside.of[at]).level for at in (new, base)]
        before, after = pair.comparison.links
        found.append(
            SiteFinding(
                pair,
                names[new],
                names[base],
                _mean(beside.columns[base], beside.columns[new], site.catalogue),
                "geometric mean over the benchmarks that touch the kernel;"
                f" {' against '.join(levels)}; i-cache {ICACHE[beside.icache]};"
                f" links: {after} against {before}",
                comparison.comparison_headline(pair.comparison),
            )
        )
    return found[:SENTENCES]


def _has_baseline(pair: SitePair) -> bool:
    return any(one.result.provenance.kernel.is_baseline for one in (pair.base, pair.new))


def moved(pairs: Iterable[Judged], most: int | None = None) -> list[Judged]:
    """Rows by how far they moved: those beyond the margin first, the largest change first; those
    that no kernel touches last."""
    found = sorted(pairs, key=lambda one: (VERDICTS[one.verdict].place, -one.cycles.size))
    return found[:most]


def picture(site: Sorted) -> tuple[str, Markup] | None:
    """The one of the first page, of what touches the kernel, under the condition of the first
    table: kernels beside each other if there are several results, else the first that there are
    rows for."""
    if not site.beside:
        return None
    beside = site.beside[0]
    names = short_names([(one.name, one.result) for one in beside.columns], NAME)
    cache = Selection(site.catalogue, (f"* icache={ICACHE[beside.icache]}",))
    kernel = Selection(site.catalogue, ("kernel",))
    for wanted in (["kernels"], ["before-after"], None):
        for limits in ((cache, kernel), ()):
            results = [one.result for one in beside.columns]
            for limit in limits:
                results = [one.only(limit) for one in results]
            named = [Named(*one) for one in zip(names, results, strict=True)]
            if (wanted is None or len(named) > 1) and (found := rows.drawn_pictures(named, wanted)):
                return found[0]
    return None
