# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The study programs: what isolation costs whole programs.

A program's cost on a kernel is divided by the cost of the same object without a kernel. Both are at
the same addresses in flash, so there is a ratio in each layout, and the median, least and most over
the layouts. Means over programs are geometric, in each layout, and then summed up in the same way.

Next to another app's alarm, the number of alarms in a run depends on its phase, so the cost is the
mean over the runs. A run is starved if alarms did not come although they were due; such runs are
counted apart. The extra instructions of a run give its number of alarms.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from math import exp, inf, log
from pathlib import Path
from statistics import fmean, median
from typing import Annotated

from typer import Argument, Exit

from tockmark.base import paths
from tockmark.base.errors import INCOMPLETE
from tockmark.cli import options
from tockmark.cli.program import verb
from tockmark.compare import sweeps
from tockmark.result.file import load
from tockmark.result.model import Result, Row, Series, catalogue_of
from tockmark.show import listing, text
from tockmark.show.table import skipped_lines
from tockmark.show.text import LINE, Table, TableColumn, figures
from tockmark.suite.catalogue import HARNESS_ROWS, ICACHE, LANGS, Catalogue, Lang
from tockmark_lab.studies import crypto

BARE = "bare"  # start of the name of a result without a kernel
ERROR, BY_CACHE = "!", "~"  # marks of a ratio below 1
ALONE, WITH_ALARM = "none", "alarm"  # values of the parameter `beside`
BY_SIZE = "Cost by size"  # a section of the catalogue
LABEL, CYCLES, RATIO = 26, 12, 8
DIGITS = 3  # of a ratio, after the point
PERIOD = 96_000  # cycles between two alarms (lab/studies/programs/apps/c/ticker.c)
TICK = 9_600  # cycles of a tick of Tock's alarm: an alarm may be a tick late
STRAY = 3  # instructions that a sample may miss with the cache on

LEGEND = (
    "Cycles of one whole run on the bare core; then, for each kernel, the ratio of the cycles as an"
    " app to these, and the same next to an app whose alarm is due every 96,000 cycles (the mean of"
    " the runs that were not starved). Median over layouts. Each answer was compared with the known"
    " one. -: not measured. ~: fewer cycles than bare with the i-cache on, with as many"
    " instructions: other code left the cache's replacement in another state. !: fewer cycles than"
    " bare for another reason."
)


@dataclass(frozen=True)
class Ratios:
    """The ratio of two costs in each layout."""

    by_layout: tuple[float, ...]

    @property
    def median(self) -> float:
        """The median over the layouts."""
        return median(self.by_layout)

    @property
    def below(self) -> bool:
        """Whether isolation seems to save cycles, in the digits that are shown."""
        return round(self.median, DIGITS) < 1


@dataclass(frozen=True)
class ProgramKey:
    """A program: its benchmark, its other parameters, and its language."""

    id: str
    more: str
    lang: Lang

    @property
    def label(self) -> str:
        """Its name in tables: `aes.encrypt key=128, Rust`."""
        return f"{self.id}{self.more}, {LANGS[self.lang]}"


@dataclass(frozen=True)
class AlarmRun:
    """A run of a program next to another app's alarm."""

    cycles: float
    added: float  # instructions that the program alone does not have

    def is_starved(self, of_an_alarm: float) -> bool:
        """Return whether alarms were lost. The last one may fall behind the end of the run."""
        due = self.cycles // (PERIOD + TICK)
        return self.added / of_an_alarm < max(due - 1, min(due, 1)) - 0.5


@dataclass(frozen=True)
class KernelResults:
    """Measurements of programs on one kernel, or without one, from some results."""

    name: str
    results: tuple[Result, ...]

    @cached_property
    def rows(self) -> Mapping[tuple[ProgramKey, object, bool | None], Row]:
        """The rows by program, neighbour (what runs next to it) and cache setting."""
        return {
            (program_key(row), row.params.get("beside"), row.icache): row
            for result in self.results
            for row in result.rows
            if row.id not in HARNESS_ROWS and "beside" in row.params
        }

    @property
    def is_bare(self) -> bool:
        """Whether there was no kernel."""
        return self.name.startswith(BARE)

    def nets(self, key: ProgramKey, neighbour: str, icache: bool | None) -> tuple[float, ...]:
        """Return the cycles of a run in each layout; empty if there is no sound measurement."""
        row = self.rows.get((key, neighbour, icache))
        return row.cycles.nets if row is not None and row.cycles is not None and row.sound else ()

    def alarm_runs(self, key: ProgramKey, icache: bool | None) -> list[list[AlarmRun]]:
        """Return the steady runs next to an alarm in each layout; empty if they or those alone have
        no sound measurement."""
        own, alone = (self.rows.get((key, load, icache)) for load in (WITH_ALARM, ALONE))
        if own is None or alone is None or not (own.sound and alone.sound):
            return []
        counts = _by_layout(own.cycles), _by_layout(own.instret), _by_layout(alone.instret)
        return [
            [
                AlarmRun(run, count - median(base))
                for run, count in zip(cycles, retired, strict=True)
            ]
            for cycles, retired, base in zip(*counts, strict=False)
        ]

    @cached_property
    def of_an_alarm(self) -> float:
        """The instructions of an alarm: the step between runs with n and with n + 1 alarms. Most
        runs have about as many per period."""
        settings = dict.fromkeys((key, icache) for key, _, icache in self.rows)
        all_runs = [run for at in settings for runs in self.alarm_runs(*at) for run in runs]
        rough = PERIOD * median(run.added / run.cycles for run in all_runs)
        if rough < 1:
            return inf  # most runs have no alarm
        added = sorted(run.added for run in all_runs)
        steps = [b - a for a, b in pairwise(added) if 0.5 < (b - a) / rough < 1.9]
        return median(steps) if steps else rough

    def served(self, key: ProgramKey, icache: bool | None) -> list[list[float]]:
        """Return the cycles of the runs in which no alarm was lost, in each layout."""
        return [
            [run.cycles for run in runs if not run.is_starved(self.of_an_alarm)]
            for runs in self.alarm_runs(key, icache)
        ]

    @cached_property
    def period(self) -> float:
        """The mean time between two alarms, over the runs in which none was lost."""
        settings = dict.fromkeys((key, icache) for key, _, icache in self.rows)
        every = [run for at in settings for runs in self.alarm_runs(*at) for run in runs]
        served = [run for run in every if not run.is_starved(self.of_an_alarm)]
        alarms = sum(round(run.added / self.of_an_alarm) for run in served)
        return sum(run.cycles for run in served) / alarms

    def starved(self, key: ProgramKey, icache: bool | None) -> tuple[int, int]:
        """Return the number of starved runs, and of all runs next to an alarm."""
        total = sum(map(len, self.alarm_runs(key, icache)))
        return total - sum(map(len, self.served(key, icache))), total

    def is_error(
        self, bare: "KernelResults", key: ProgramKey, neighbour: str, icache: bool | None
    ) -> bool:
        """Return whether a ratio below 1 is an error: fewer instructions were retired than bare, or
        no cache can explain the fewer cycles."""
        own, base = self.rows.get((key, neighbour, icache)), bare.rows.get((key, ALONE, icache))
        if own is None or base is None or icache is not True:
            return True
        return (own.instructions or 0) < (base.instructions or 0) - STRAY

    def ratios(
        self, bare: "KernelResults", key: ProgramKey, neighbour: str, icache: bool | None
    ) -> Ratios | None:
        """Return the cycles here divided by the bare program's cycles; None if not known."""
        own: Sequence[float | None] = self.nets(key, neighbour, icache)
        if neighbour == WITH_ALARM:
            own = [fmean(runs) if runs else None for runs in self.served(key, icache)]
        base = bare.nets(key, ALONE, icache)
        both = [a / b for a, b in zip(own, base, strict=False) if a is not None and b > 0]
        return Ratios(tuple(both)) if both else None


def _by_layout(series: Series | None) -> list[list[float]]:
    """Return the net counts of each steady sample, in each layout."""
    every = [series, *series.further] if series else []
    nets = [[each.net_of(count) for count in each.steady] for each in every]
    return [[net for net in of_layout if net is not None] for of_layout in nets]


def program_key(row: Row) -> ProgramKey:
    """Return the program of a row."""
    more = "".join(f" {n}={v}" for n, v in row.params.items() if n != "beside")
    return ProgramKey(row.id, more, row.lang)


def group_by_kernel(results: Iterable[Result]) -> list[KernelResults]:
    """Group results by kernel. Results without a kernel come first, our own kernel comes last."""
    by_title: dict[str, list[Result]] = {}
    for result in results:
        by_title.setdefault(result.provenance.kernel.title, []).append(result)
    order = sorted(
        by_title.items(),
        key=lambda entry: (
            not entry[0].startswith(BARE),
            entry[1][0].provenance.kernel.is_baseline,
        ),
    )
    return [KernelResults(short(name), tuple(kernel_results)) for name, kernel_results in order]


def short(title: str) -> str:
    """Return a kernel's title in one or two words."""
    title = title.partition(" (")[0].partition(",")[0]
    return "baseline" if title.startswith("tockmark-baseline") else title


def programs(kernels: Sequence[KernelResults], catalogue: Catalogue) -> list[ProgramKey]:
    """Return the programs that were measured, in the order of the catalogue."""
    order = {id_: i for i, id_ in enumerate(catalogue.benchmarks)}
    keys = dict.fromkeys(key for kernel in kernels for key, _, _ in kernel.rows)
    return sorted(keys, key=lambda key: (order.get(key.id, len(order)), key.more, key.lang))


def mean(ratios: Sequence[Ratios | None]) -> Ratios | None:
    """Return the geometric mean over programs in each layout that all of them have."""
    measured = [program.by_layout for program in ratios if program is not None]
    if not measured:
        return None
    layouts = zip(*measured, strict=False)
    return Ratios(
        tuple(exp(sum(map(log, layout_ratios)) / len(layout_ratios)) for layout_ratios in layouts)
    )


def format_ratio(ratios: Ratios | None, below: str = "") -> str:
    """Format the median of ratios. A ratio below 1 gets the mark `below`."""
    if ratios is None:
        return text.NONE
    return f"{ratios.median:.{DIGITS}f}{below if ratios.below else ''}"


def program_table(
    measured: Sequence[KernelResults], catalogue: Catalogue, icache: bool | None
) -> Table:
    """Return the table of one cache setting: programs, bare cycles, ratios for each kernel."""
    bare = next((kernel for kernel in measured if kernel.is_bare), None)
    kernels = [kernel for kernel in measured if not kernel.is_bare]
    keys = programs(measured, catalogue)
    base = bare or kernels[0]
    lead = "bare" if bare else base.name
    heads = [TableColumn("program", LABEL, 0, left=True), *figures({lead: CYCLES})]
    shown = [(kernel, neighbour) for kernel in kernels for neighbour in (ALONE, WITH_ALARM)]
    for kernel, neighbour in shown:
        name = kernel.name if neighbour == ALONE else "+ alarm"
        heads += figures({name: max(RATIO, len(name))})
    table = Table(heads)
    columns = [
        [kernel.ratios(base, key, neighbour, icache) for key in keys] for kernel, neighbour in shown
    ]
    for i, key in enumerate(keys):
        nets = base.nets(key, ALONE, icache)
        cycles = f"{median(nets):,.0f}" if nets else text.NONE
        cells = [
            format_ratio(
                column[i], ERROR if kernel.is_error(base, key, neighbour, icache) else BY_CACHE
            )
            for (kernel, neighbour), column in zip(shown, columns, strict=True)
        ]
        table.add(key.label, cycles, *cells)
    table.add("Geometric mean", "", *(format_ratio(mean(column)) for column in columns))
    return table


def sizes(kernels: Sequence[KernelResults], catalogue: Catalogue) -> Table:
    """Return the size of each program as an app: flash and RAM of its ELF, with the harness, and
    the most stack that it used."""
    table = Table(
        [
            TableColumn("program", LABEL, 0, left=True),
            *figures({"flash": 9, "RAM": 9, "stack used": 12, "instructions": 14}),
        ]
    )
    for key in programs(kernels, catalogue):
        rows = [
            row
            for kernel in kernels
            for (program, _, _), row in kernel.rows.items()
            if program == key
        ]
        slots = [
            slot
            for kernel in kernels
            for result in kernel.results
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
    """Return the lines fitted to costs by size; empty if none were measured."""
    rows = tuple(row for row in result.rows if catalogue.section_of(row.id) == BY_SIZE)
    fitted = sweeps.sweeps(replace(result, rows=rows), catalogue)
    return [listing.fit_text(fitted)] if fitted else []


def screen(named: Sequence[tuple[str, Result]], width: int = LINE) -> str:
    """Format the screen of the study: a table for each cache setting, the sizes of the programs,
    and what results have of crypto and of costs by size."""
    catalogue = catalogue_of(result for _, result in named)
    kernels = group_by_kernel(result for _, result in named)
    icaches = dict.fromkeys(icache for _, result in named for icache in result.icaches)
    out: list[str] = []
    if any(kernel.rows for kernel in kernels):
        for icache in icaches:
            title = f"Whole programs, i-cache {ICACHE[icache]}"
            out += [*program_table(kernels, catalogue, icache).text(title, ""), ""]
        out += [*sizes(kernels, catalogue).text("Bytes, and instructions of a run", ""), ""]
        out += [*text.wrap(LEGEND, "", width), ""]
    for _, result in named:
        out += crypto.blocks(result, width)
        out += _by_size(result, catalogue)
    for name, result in named:
        kernel = result.provenance.kernel
        levels = f", opt-level {kernel.opt_level}" if kernel.opt_level else ""
        layouts = f"{result.layouts} layouts" if result.layouts > 1 else "one layout"
        out += text.wrap(f"{kernel.title}{levels}, {layouts}: {name}", "    ", width)
        out += [line for skipped in skipped_lines(result) for line in text.wrap(skipped, "", width)]
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
    """Show what isolation costs whole programs, and what results have of crypto and of costs by
    size.

    A result without a kernel comes first, and the others are compared with it."""
    named = [(paths.shown(path), load(path)) for path in files]
    options.show(screen(named, text.columns()))
    raise Exit(options.incomplete_code(*(result for _, result in named)))
