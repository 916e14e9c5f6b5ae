# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The page of a benchmark: what it means, what its body is, and its figures wherever it was
measured."""

from collections import Counter
from dataclasses import dataclass
from itertools import product

from markupsafe import Markup

from tockmark.judge import history
from tockmark.result.model import ICACHE, Row
from tockmark.show import history_text, text
from tockmark.show.plot import Named
from tockmark.show.table import mark, spread
from tockmark.site import bodies, pictures
from tockmark.site.bodies import Body
from tockmark.site.kernel import Profiled, profiled
from tockmark.site.rows import Line, line, number, trimmed
from tockmark.site.sorted import Kernel, Sorted
from tockmark.suite.catalogue import LANGS, Benchmark, RowKey, label, row_key
from tockmark.suite.select import Selection


@dataclass(frozen=True)
class Figure:
    """One set of parameters: net cycles of an operation, and their range over layouts."""

    per_op: str
    range: str
    instructions: str
    error: str


@dataclass(frozen=True)
class Measured:
    """A line: one kernel in one result, with one cache setting, in one language."""

    kernel: Kernel
    named: Named
    condition: str  # opt-level, machine, version of the interface
    lang: str
    icache: str
    layouts: int
    figures: list[Figure | None]  # by parameters
    whole: Line | None  # all that is said of the row, where there is one set of parameters only


@dataclass(frozen=True)
class Page:
    """All of it."""

    id: str
    known: Benchmark | None
    section: str
    bodies: list[Body]
    variants: list[str]  # sets of parameters, as they are called
    measured: list[Measured]
    profiles: list[tuple[Kernel, Profiled]]
    history: list[tuple[str, str, list[str]]]  # label, setting, cells
    pictures: list[tuple[str, Markup]]


def ids(site: Sorted) -> list[str]:
    """The benchmarks that have a page: all of the catalogue, and whatever else was measured."""
    rows = [id_ for one in site.found.every for id_, *_ in one.result.table]
    return list(dict.fromkeys([*site.catalogue.benchmarks, *rows]))


def address(site: Sorted, id_: str) -> str:
    """Where the page of a benchmark is."""
    return site.addresses.page("benchmark", id_, id_)


def page(site: Sorted, id_: str) -> Page:
    """The page of one benchmark."""
    known = site.catalogue.benchmarks.get(id_)
    meant = Selection(site.catalogue, (id_,))
    keys: dict[RowKey, str] = {}
    for params in known.variants() if known else []:
        keys[row_key(id_, params)] = label("", params).strip()
    rows = _rows(site, id_)
    for _, row in rows:
        keys.setdefault(row.key[:2], label("", row.params).strip())
    there = {row.key[:2] for _, row in rows}
    keys = {key: words for key, words in keys.items() if key in there}
    return Page(
        id_,
        known,
        site.catalogue.section_of(id_),
        [body for name in (known.bodies if known else ()) for body in bodies.load().get(name, ())],
        list(keys.values()),
        _measured(site, rows, list(keys)),
        [(k, profiled(one)) for k in site.kernels for one in k.profiles if one.id == id_],
        _history(site, meant),
        [*pictures.of_benchmark(_drawn(site), id_), *_trail(site, meant)],
    )


def _rows(site: Sorted, id_: str) -> list[tuple[Named, Row]]:
    return [
        (one, row) for one in site.found.every for row in one.result.table.values() if row.id == id_
    ]


def _drawn(site: Sorted) -> list[Named]:
    """The results that pictures show: those of the first group."""
    if not site.beside:
        return []
    return [Named(column.name, column.result) for column in site.beside[0].columns]


def _measured(site: Sorted, rows: list[tuple[Named, Row]], keys: list[RowKey]) -> list[Measured]:
    """A line for each result, language and cache setting that has a row; a kernel's together, in
    the order in which whole results have the kernels."""
    made = []
    by_result: dict[str, list[Row]] = {}
    for one, row in rows:
        by_result.setdefault(one.name, []).append(row)
    others = [one for one in site.found.every if one not in site.leads]
    every = [*site.leads, *others]
    titles = [one.result.provenance.kernel.title for one in every]
    for one in sorted(every, key=lambda one: titles.index(one.result.provenance.kernel.title)):
        own = by_result.get(one.name, [])
        for lang, icache in product(LANGS, (True, False, None)):
            found = {row.key[:2]: row for row in own if (row.lang, row.icache) == (lang, icache)}
            if found:
                made.append(
                    Measured(
                        site.kernel_of(one),
                        one,
                        _condition(one),
                        LANGS[lang],
                        ICACHE[icache],
                        one.result.layouts,
                        [_figure(found.get(key)) for key in keys],
                        line(found[keys[0]], site.catalogue) if len(keys) == 1 else None,
                    )
                )
    return made


def _condition(one: Named) -> str:
    told = one.result.provenance
    level = f"opt-level {told.kernel.opt_level}, " if told.kernel.opt_level else ""
    machine = told.board.machine or told.board.name or "machine not known"
    return f"{level}{machine}{f', version {told.abi}' if told.abi else ''}"


def _figure(row: Row | None) -> Figure | None:
    if row is None:
        return None
    several = row.cycles is not None and len(row.cycles.nets) > 1
    return Figure(
        trimmed(text.rounded(row.per_op), 3) + mark(row),
        spread(row, row.inner) if several else "",
        number(row.instructions),
        "; ".join(row.errors),
    )


def _series(site: Sorted, meant: Selection) -> list[history.Series]:
    """The rows over the runs, those with several runs only."""
    return [one for one in history.series(site.found.runs, meant) if len(one.points) > 1]


def _history(site: Sorted, meant: Selection) -> list[tuple[str, str, list[str]]]:
    return [(one.label, one.setting, history_text.cells(one)) for one in _series(site, meant)]


def _trail(site: Sorted, meant: Selection) -> list[tuple[str, Markup]]:
    """The same as a picture: of the rows that changed, under the setting that has most of them."""
    changed = [one for one in _series(site, meant) if any(p.changed for p in one.points)]
    settings = Counter(one.setting for one in changed).most_common(1)
    some = [one for one in changed if one.setting == settings[0][0]]
    drawn = pictures.of_history(some, "history") if some else None
    return [("history", drawn)] if drawn else []
