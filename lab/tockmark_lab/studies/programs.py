# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The study programs: what isolation costs whole programs.

A program's cost on a kernel is held against the same object's without one: a ratio in
each layout, where both lie at the same places in flash; over the layouts its median, the least and
the most. Means over programs are geometric, in each layout, then likewise.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import exp, log
from pathlib import Path
from statistics import median
from typing import Annotated

from typer import Argument, Exit

from tockmark.base import paths
from tockmark.base.errors import INCOMPLETE
from tockmark.cli import options
from tockmark.cli.program import verb
from tockmark.compare import sweeps
from tockmark.result.file import load
from tockmark.result.model import Result, Row, catalogue_of
from tockmark.show import listing, text
from tockmark.show.table import skipped_lines
from tockmark.show.text import LINE, Table, TableColumn, figures
from tockmark.suite.catalogue import ICACHE, LANGS, OF_BOOT, Catalogue, Lang
from tockmark_lab.studies import crypto

BARE = "bare"  # how the name begins of what is in a kernel's place
ERROR, BY_CACHE = "!", "~"  # behind a ratio below 1
ALONE, WITH_ALARM = "none", "alarm"  # values of the parameter `beside`
BY_SIZE = "Cost by size"  # a section of the catalogue
LABEL, CYCLES, RATIO = 26, 12, 8
DIGITS = 3  # of a ratio, behind the point
STRAY = 3  # instructions that a sample may count less, with the cache on

LEGEND = (
    "Cycles of one whole run on the bare core; behind them, per kernel, how many times as many it"
    " takes as an app, and the same beside an app whose alarm ends every 96,000 cycles. Median over"
    " layouts. Each answer was held against the known one. -: not measured. ~: less than bare with"
    " the i-cache on, by as many instructions: what else ran left the cache's replacement"
    " elsewhere. !: less than bare, and not by that."
)


@dataclass(frozen=True)
class Ratios:
    """A cost by another in each layout."""

    by_layout: tuple[float, ...]

    @property
    def median(self) -> float:
        """The median over the layouts."""
        return median(self.by_layout)

    @property
    def below(self) -> bool:
        """Whether isolation seems to save something that is seen in three digits."""
        return round(self.median, DIGITS) < 1


@dataclass(frozen=True)
class ProgramKey:
    """A program: its benchmark with its other parameter, and its language."""

    id: str
    more: str
    lang: Lang

    @property
    def label(self) -> str:
        """As tables have it: `aes.encrypt key=128, Rust`."""
        return f"{self.id}{self.more}, {LANGS[self.lang]}"


@dataclass(frozen=True)
class KernelResults:
    """What was measured of programs on one kernel, or without one, in some results."""

    name: str
    results: tuple[Result, ...]

    @cached_property
    def rows(self) -> Mapping[tuple[ProgramKey, object, bool | None], Row]:
        """The rows by program, what stands beside it, and cache setting."""
        return {
            (key_of(row), row.params.get("beside"), row.icache): row
            for result in self.results
            for row in result.rows
            if row.id not in OF_BOOT and "beside" in row.params
        }

    @property
    def is_bare(self) -> bool:
        """Whether there was no kernel."""
        return self.name.startswith(BARE)

    def nets(self, key: ProgramKey, beside: str, icache: bool | None) -> tuple[float, ...]:
        """Return the cycles of a run in each layout; none if it was not measured soundly."""
        row = self.rows.get((key, beside, icache))
        return row.cycles.nets if row is not None and row.cycles is not None and row.sound else ()

    def saves(
        self, bare: "KernelResults", key: ProgramKey, beside: str, icache: bool | None
    ) -> bool:
        """Tell whether fewer instructions were retired than bare, or there is no cache to explain
        fewer cycles: an error."""
        own, base = self.rows.get((key, beside, icache)), bare.rows.get((key, ALONE, icache))
        if own is None or base is None or icache is not True:
            return True
        return (own.instructions or 0) < (base.instructions or 0) - STRAY

    def by(
        self, bare: "KernelResults", key: ProgramKey, beside: str, icache: bool | None
    ) -> Ratios | None:
        """Return how many times the cycles of the bare program it takes here; None: not known."""
        own, base = self.nets(key, beside, icache), bare.nets(key, ALONE, icache)
        both = [a / b for a, b in zip(own, base, strict=False) if b > 0]
        return Ratios(tuple(both)) if both else None


def key_of(row: Row) -> ProgramKey:
    """Return which program a row is of."""
    more = "".join(f" {n}={v}" for n, v in row.params.items() if n != "beside")
    return ProgramKey(row.id, more, row.lang)


def group_by_kernel(results: Iterable[Result]) -> list[KernelResults]:
    """Put results of one kernel together; what is bare leads, our own kernel stands last."""
    found: dict[str, list[Result]] = {}
    for result in results:
        found.setdefault(result.provenance.kernel.title, []).append(result)
    order = sorted(
        found.items(),
        key=lambda one: (
            not one[0].startswith(BARE),
            one[1][0].provenance.kernel.is_baseline,
        ),
    )
    return [KernelResults(short(name), tuple(some)) for name, some in order]


def short(title: str) -> str:
    """Return a kernel's title in a word or two."""
    title = title.partition(" (")[0].partition(",")[0]
    return "baseline" if title.startswith("tockmark-baseline") else title


def programs(some: Sequence[KernelResults], catalogue: Catalogue) -> list[ProgramKey]:
    """Return the programs that were measured, in the catalogue's order."""
    place = {id_: i for i, id_ in enumerate(catalogue.benchmarks)}
    found = dict.fromkeys(key for one in some for key, _, _ in one.rows)
    return sorted(found, key=lambda key: (place.get(key.id, len(place)), key.more, key.lang))


def mean(ratios: Sequence[Ratios | None]) -> Ratios | None:
    """Return the geometric mean over programs in each layout that all of them have."""
    there = [one.by_layout for one in ratios if one is not None]
    if not there:
        return None
    layouts = zip(*there, strict=False)
    return Ratios(tuple(exp(sum(map(log, some)) / len(some)) for some in layouts))


def ratio(found: Ratios | None, below: str = "") -> str:
    """Write the median of ratios, and behind one below 1 what it means."""
    if found is None:
        return text.NONE
    return f"{found.median:.{DIGITS}f}{below if found.below else ''}"


def table_of(some: Sequence[KernelResults], catalogue: Catalogue, icache: bool | None) -> Table:
    """Return the table of one cache setting: programs, bare cycles, ratios of each kernel."""
    bare = next((one for one in some if one.is_bare), None)
    kernels = [one for one in some if not one.is_bare]
    keys = programs(some, catalogue)
    base = bare or kernels[0]
    lead = "bare" if bare else base.name
    heads = [TableColumn("program", LABEL, 0, left=True), *figures({lead: CYCLES})]
    shown = [(one, beside) for one in kernels for beside in (ALONE, WITH_ALARM)]
    for one, beside in shown:
        name = one.name if beside == ALONE else "+ alarm"
        heads += figures({name: max(RATIO, len(name))})
    table = Table(heads)
    columns = [[one.by(base, key, beside, icache) for key in keys] for one, beside in shown]
    for i, key in enumerate(keys):
        nets = base.nets(key, ALONE, icache)
        cycles = f"{median(nets):,.0f}" if nets else text.NONE
        cells = [
            ratio(column[i], ERROR if one.saves(base, key, beside, icache) else BY_CACHE)
            for (one, beside), column in zip(shown, columns, strict=True)
        ]
        table.add(key.label, cycles, *cells)
    table.add("Geometric mean", "", *(ratio(mean(column)) for column in columns))
    return table


def sizes(some: Sequence[KernelResults], catalogue: Catalogue) -> Table:
    """Return what each program takes as an app: flash and RAM by its ELF, harness among them, and
    the most that it ever used of its stack."""
    table = Table(
        [
            TableColumn("program", LABEL, 0, left=True),
            *figures({"flash": 9, "RAM": 9, "stack used": 12, "instructions": 14}),
        ]
    )
    for key in programs(some, catalogue):
        rows = [row for one in some for (own, _, _), row in one.rows.items() if own == key]
        slots = [
            slot
            for one in some
            for result in one.results
            for run in result.provenance.boots
            if run.lang == key.lang and run.boot == key.id.partition(".")[0]
            for slot in run.slots
        ]
        stack = max((row.stack or 0 for row in rows), default=0)
        count = next((row.instructions for row in rows if row.params["beside"] == ALONE), None)
        table.add(
            key.label,
            f"{max(slot.flash_length or 0 for slot in slots):,}" if slots else text.NONE,
            f"{max(slot.ram_length or 0 for slot in slots):,}" if slots else text.NONE,
            f"{stack:,}" if stack else text.NONE,
            text.NONE if count is None else f"{count:,.0f}",
        )
    return table


def _by_size(result: Result, catalogue: Catalogue) -> list[str]:
    """Return the lines through what was measured by size: none, if nothing was."""
    rows = tuple(row for row in result.rows if catalogue.section_of(row.id) == BY_SIZE)
    found = sweeps.sweeps(replace(result, rows=rows), catalogue)
    return [listing.fit_text(found)] if found else []


def screen(named: Sequence[tuple[str, Result]], width: int = LINE) -> str:
    """Show the screen of the study: a table for each cache setting, and what programs take; of
    crypto and of sizes what results have of them."""
    catalogue = catalogue_of(result for _, result in named)
    some = group_by_kernel(result for _, result in named)
    icaches = dict.fromkeys(icache for _, result in named for icache in result.icaches)
    out: list[str] = []
    if any(one.rows for one in some):
        for icache in icaches:
            title = f"Whole programs, i-cache {ICACHE[icache]}"
            out += [*table_of(some, catalogue, icache).text(title, ""), ""]
        out += [*sizes(some, catalogue).text("Bytes, and instructions of a run", ""), ""]
        out += [*text.wrap(LEGEND, "", width), ""]
    for _, result in named:
        out += crypto.blocks(result, width)
        out += _by_size(result, catalogue)
    for name, result in named:
        kernel = result.provenance.kernel
        levels = f", opt-level {kernel.opt_level}" if kernel.opt_level else ""
        layouts = f"{result.layouts} layouts" if result.layouts > 1 else "one layout"
        out += text.wrap(f"{kernel.title}{levels}, {layouts}: {name}", "    ", width)
        out += [line for said in skipped_lines(result) for line in text.wrap(said, "", width)]
        if why := result.incomplete:
            more = f" (and {len(why) - 1} more)" if len(why) > 1 else ""
            out += text.wrap(f"INCOMPLETE: {why[0]}{more}", "    ", width)
    return "\n".join(out).rstrip() + "\n"


@verb(
    "tockmark-lab programs tock.json bare.json",
    "tockmark-lab programs lab/studies/crypto/data/tock-2.2.json",
    exits={INCOMPLETE: "a result is incomplete"},
)
def programs_verb(files: Annotated[list[Path], Argument(help="Result files.")]) -> None:
    """Show what isolation costs whole programs; of crypto and of sizes what results have of them.

    A result without a kernel leads: the others are held against it."""
    named = [(paths.shown(path), load(path)) for path in files]
    print(screen(named, text.width_of_terminal()), end="")
    raise Exit(options.incomplete_code(*(result for _, result in named)))
