# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Both sides of a judgement are run here, with as few simulations as the verdict takes.

Every row is measured in one link of each side. That decides the instructions, which do not depend
on the layout. Of cycles some rows may be beyond a limit, or it is their layout: these alone are
measured in two links a side, and what is still in doubt in four, as far as links can be had; of
paired links so are those that one pair alone says moved, with the cache on. The verdict is that of
compare/verdict.py throughout: here is only decided what is run. What was simulated once is kept by
its image, so a judgement that was interrupted, or is made again, simulates only what is not there
yet. How long alarms wait is measured by the first links, with each setting of the cache.
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from tockmark.base.errors import INTERRUPTED, TockmarkError, print_message
from tockmark.base.files import write_whole
from tockmark.base.paths import shown
from tockmark.compare.limits import Limits
from tockmark.compare.pairs import NO_MARGINS, Comparison, compare
from tockmark.compare.spread import Spread, committed_spread, paired_spread
from tockmark.compare.verdict import MOVED, Judgement, RowVerdict, judge_comparison
from tockmark.latency.chain import check_points
from tockmark.latency.report import StoredLatency, format_file, wait_verdicts
from tockmark.latency.run import ALARMS, LatencyOptions, RunLoad, loads_for, measure
from tockmark.profile.run import load_kernel_program
from tockmark.result import file
from tockmark.result.build import merge_layouts
from tockmark.result.model import ABSENT_LISTS, Result
from tockmark.suite.catalogue import ICACHE, Boot
from tockmark.suite.selection import Selection
from tockmark.target import run
from tockmark.target.kernel import KernelElf
from tockmark.target.results import results_by_layout
from tockmark.target.run import RunOptions
from tockmark.trees.builds import Links

SAMPLES = 9  # of a row: as many as the known spread over links was measured with
LINKS = 4  # of a side, at most, unless told otherwise
PAIRS = 8  # of paired links
# The rows that touch the kernel, and two of the apps' own: what these differ by is noise.
DEFAULT = "kernel,loop.empty,loop.taken"


class Side(Protocol):
    """One kernel in links that differ in layout only, and what measures it."""

    @property
    def name(self) -> str:
        """What to call it."""
        ...

    def measured(self, first: int, last: int, wanted: Selection) -> list[Result]:
        """Measure some rows in the links from number `first` up to `last`, without it: a result of
        each; fewer where there are no more links. TockmarkError if they cannot be measured."""
        ...


@dataclass(frozen=True)
class JudgeRun:
    """The judgement, and the results that it was reached by."""

    names: tuple[str, str]
    comparison: Comparison
    judgement: Judgement
    looked_again: tuple[int, ...]  # rows that were in doubt after each look but the last
    paired: bool = False

    @property
    def results(self) -> tuple[Result, Result]:
        return self.comparison.base, self.comparison.new


def judge(
    base: Side,
    head: Side,
    wanted: Selection,
    limits: Limits,
    most: int = LINKS,
    spread: Spread | None = None,
    paired: bool = False,
) -> JudgeRun:
    """Measure both sides until no row is in doubt, or `most` links of each side are measured.

    `spread` is the spread of rows over links (default: from committed results of the base's
    kernel). `paired`: each link of one side is paired with one of the other."""
    names = base.name, head.name
    of_both = [side.measured(0, 1, wanted) for side in (base, head)]
    doubts: list[int] = []
    count = 1
    while True:
        old, new = (merge_layouts(of_side) for of_side in of_both)
        row_spread = spread or committed_spread(old)
        if paired:
            row_spread = paired_spread(row_spread, wanted.catalogue)
        comparison = compare(
            old, new, names[1], wanted.catalogue, NO_MARGINS, row_spread, strict=True
        )
        if not comparison.judged:
            raise TockmarkError(
                "no row that a kernel touches was measured on both sides", "leave out --only"
            )
        found = judge_comparison(comparison, limits)
        again = [row for row in found.rows if row.in_doubt]
        again += _by_one_pair(comparison, found) if paired else ()
        if not again or count >= most:
            break
        count = min(2 * count, most)
        doubtful = tuple(dict.fromkeys(one.row.name for one in again))
        some = Selection(wanted.catalogue, doubtful)
        more = [
            side.measured(len(of_side), count, some)
            for side, of_side in zip((base, head), of_both, strict=True)
        ]
        if not any(more):
            break
        doubts.append(len(doubtful))
        of_both = [had + new for had, new in zip(of_both, more, strict=True)]
    return JudgeRun(names, comparison, found, tuple(doubts), paired)


def _by_one_pair(comparison: Comparison, found: Judgement) -> list[RowVerdict]:
    """Return what one pair alone says that moved with the cache on, where which way of a set is
    filled next now and then counts for more than is usual."""
    alone = {pair.row.key for pair in comparison.judged if pair.cycles.links == 1}
    return [
        row
        for row in found.rows_with(*MOVED)
        if row.row.icache is not False and row.row.key in alone
    ]


@dataclass
class Simulated:
    """A side on the simulator. `name` says which; its results are written to `folder` as they
    come."""

    name: str
    links: Links
    options: RunOptions  # for both sides: whatever the layouts, with the apps of its one suite
    folder: Path
    boots: int = 0  # that it took
    taken: int = 0  # of them, those that were simulated before
    _said: list[str] = field(default_factory=list)  # by its apps, run by run
    _kept: Result | None = None

    def measured(self, first: int, last: int, wanted: Selection) -> list[Result]:
        """Measure as Side says. The kernel's panic ends the judgement, for then there is nothing to
        judge."""
        layouts = self.links.layouts(last)[first:]
        if not layouts:
            return []
        many = f"{len(wanted.terms)} rows in doubt" if first else "all rows"
        which = f"link {first + 1}" + f" to {last}" * (len(layouts) > 1)
        print(f"{self.name}: {many}, {which}", file=sys.stderr, flush=True)
        found: list[list[Result]] = []
        for icaches, boots in boots_of(wanted, self.options):
            suites = (replace(self.options.suites[0], boots=boots, further_boots=boots),)
            options = replace(self.options, layouts=layouts, suites=suites, icaches=icaches)
            ran = run.run(options)
            jobs = [job for jobs in ran.jobs for job in jobs if job.captured]
            self.boots += len(jobs)
            self.taken += sum(job.source is not None for job in jobs)
            made, log = results_by_layout(ran, options, wanted)
            self._said.append(log)
            # What came of one link is there also if nothing comes of the rest.
            self.keep(made[0] if self._kept is None or not first else self._kept)
            self._check(ran)
            found.append(made)
        return [_beside(of_link) for of_link in zip(*found, strict=True)]

    @property
    def effort(self) -> str:
        """Say what it took."""
        return f"{self.boots} boots, of which {self.taken} were simulated before"

    def keep(self, result: Result) -> None:
        """Keep a result of this side in its file, and beside it all that was printed."""
        self._kept = result
        texts = {self._log: "".join(self._said), self._log.with_suffix(".json"): file.text(result)}
        write_whole(texts)

    @property
    def _log(self) -> Path:
        return self.folder / f"{self.name}.log"

    def _check(self, ran: run.FinishedRun) -> None:
        """TockmarkError if the run was interrupted or lost its workers, or a kernel panicked."""
        if ran.lost is not None:
            raise ran.lost
        if ran.interrupted:
            raise TockmarkError(
                "interrupted: every boot that ended is kept",
                "the same command goes on from there",
                INTERRUPTED,
            )
        for job in (job for jobs in ran.jobs for job in jobs):
            if job.problem is None or job.ending is None or not job.ending.panicked:
                continue
            kernel = ran.layouts[job.layout].kernel
            raise TockmarkError(
                f"{self.name}: {shown(kernel.path)} panicked in {job.name}",
                f"{shown(self._log)} has its last lines",
            )


def boots_of(wanted: Selection, options: RunOptions) -> Iterator[tuple[list[bool], list[Boot]]]:
    """Yield which boots to run with which settings of the cache: those that give a row that is
    meant."""
    (lang,) = options.langs
    boots = {icache: wanted.boots(lang, [icache]) for icache in options.icaches}
    if len(boots) == 2 and boots[True] == boots[False]:
        yield options.icaches, boots[True]
    else:
        yield from (([icache], some) for icache, some in boots.items() if some)


def _beside(results: Sequence[Result]) -> Result:
    """Return results of one link as one: each has rows of its own."""
    lists = {
        name: sum((getattr(one, name) for one in results), start=())
        for name in ("rows", *ABSENT_LISTS, "problems")
    }
    known = results[0].provenance.merged_with([one.provenance for one in results[1:]])
    return replace(results[0], provenance=known, **lists)


def loads_of(kernels: Sequence[KernelElf], names: str | None) -> tuple[RunLoad, ...]:
    """Return the loads of these names, separated by commas; none if nothing is asked for.
    TockmarkError if there is no such load, a kernel cannot bear it or its stages are not known."""
    if names is None:
        return ()
    for kernel in kernels:
        check_points(load_kernel_program(kernel))
    loads, _ = (loads_for(kernel, names.split(",")) for kernel in kernels)
    return loads


def compared_waits(
    kernels: Sequence[KernelElf], loads: tuple[RunLoad, ...], options: RunOptions, folder: Path
) -> list[RowVerdict]:
    """Return what is said of the waits of alarms beside each load; both sides' waits are kept in
    `folder`. TockmarkError if an alarm did not come, or a stage is not there."""
    found: list[RowVerdict] = []
    for icache in options.icaches if loads else ():
        base, head = _measured(kernels, loads, options, icache, folder)
        found += wait_verdicts(base, head)
    return found


def _measured(
    kernels: Sequence[KernelElf],
    loads: tuple[RunLoad, ...],
    options: RunOptions,
    icache: bool,
    folder: Path,
) -> Iterator[StoredLatency]:
    for side, kernel in zip(("base", "head"), kernels, strict=True):
        print_message(f"{side}: how long an alarm waits, i-cache {ICACHE[icache]}")
        asked = LatencyOptions(kernel, options.board, icache, ALARMS, loads)
        one = measure(asked, lambda text: print_message(f"  {text}"))
        write_whole({folder / f"{side}-waits-{ICACHE[icache]}.json": format_file(one)})
        yield one
