# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Run both sides of a judgement, with as few simulations as the verdicts need.

Every row is measured in one link per side, or in several if the links are paired. Rows in doubt
(`RowVerdict.in_doubt`: the estimate is beyond a limit, but not the whole interval) are measured in
twice as many links, and so on up to a maximum.

A failed build or a panic ends the judgement. A damaged log makes rows missing, and a row that only
the base has is a regression. Boots are cached by simulator, image and options, so a repeated
judgement simulates only what is missing. With --waits, link 1 of each side also measures how long
alarms wait, with each cache setting.
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
from tockmark.compare.pairs import DEFAULT_MARGINS, Comparison, compare
from tockmark.compare.spread import Spread, committed_spread, paired_spread
from tockmark.compare.verdict import Judgement, RowVerdict, judge_comparison
from tockmark.latency.chain import check_points
from tockmark.latency.report import format_file, wait_verdicts
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

SAMPLES = 9  # per row: as in the results that the known spread is from
MAX_LINKS = 4  # per side, by default
PAIRS = 8  # of links, for every row: about a minute on two cores
MAX_PAIRS = 16  # of links, by default, for rows in doubt
# The rows that touch the kernel, plus two app-only rows to measure noise.
DEFAULT = "kernel,loop.empty,loop.taken"


class Side(Protocol):
    """A kernel in links that differ in layout only, and the means to measure it."""

    @property
    def name(self) -> str:
        """The name of the side."""

    def measured(self, first: int, last: int, wanted: Selection) -> list[Result]:
        """Measure rows in the links with numbers from `first` to `last` - 1. Return a result per
        link; fewer if there are not enough links. Raise TockmarkError if the kernel cannot be
        built, or panics."""


@dataclass(frozen=True)
class JudgeRun:
    """A judgement, and the results that it is based on."""

    names: tuple[str, str]
    comparison: Comparison
    judgement: Judgement
    rows_remeasured: tuple[int, ...]  # their number each time that rows got further links
    paired: bool = False

    @property
    def results(self) -> tuple[Result, Result]:
        return self.comparison.base, self.comparison.new


def measure_and_judge(
    base: Side,
    head: Side,
    wanted: Selection,
    limits: Limits,
    max_links: int = MAX_LINKS,
    spread: Spread | None = None,
    paired: bool = False,
) -> JudgeRun:
    """Measure both sides until no row is in doubt, or `max_links` links per side are measured.

    `spread` is the spread of rows over links (default: from committed results of the base's
    kernel). `paired`: the sides have paired links. Raise TockmarkError if a side cannot be
    measured, or both share no row that runs kernel code."""
    names = base.name, head.name
    count = min(PAIRS, max_links) if paired else 1
    results_by_side = [side.measured(0, count, wanted) for side in (base, head)]
    counts_in_doubt: list[int] = []
    while True:
        old, new = (merge_layouts(results) for results in results_by_side)
        row_spread = spread or committed_spread(old)
        if paired:
            row_spread = paired_spread(row_spread, wanted.catalogue)
        comparison = compare(
            old, new, names[1], wanted.catalogue, DEFAULT_MARGINS, row_spread, strict=True
        )
        if not comparison.judged:
            raise TockmarkError(
                "no row that runs kernel code was measured on both sides",
                "run judge without --only",
            )
        judgement = judge_comparison(comparison, limits)
        doubtful = [row for row in judgement.rows if row.in_doubt]
        if not doubtful or count >= max_links:
            break
        count = min(2 * count, max_links)
        names_in_doubt = tuple(dict.fromkeys(row.row.name for row in doubtful))
        selection = Selection(wanted.catalogue, names_in_doubt)
        more = [
            side.measured(len(results), count, selection)
            for side, results in zip((base, head), results_by_side, strict=True)
        ]
        if not any(more):
            break
        counts_in_doubt.append(len(names_in_doubt))
        results_by_side = [
            results + added for results, added in zip(results_by_side, more, strict=True)
        ]
    return JudgeRun(names, comparison, judgement, tuple(counts_in_doubt), paired)


@dataclass
class Simulated:
    """A side on the simulator. Its results and logs are written to `folder` after each step, in
    files with its `name`."""

    name: str
    links: Links
    options: RunOptions  # of both sides, with one suite of apps; its layouts are ignored
    folder: Path
    boots: int = 0  # in all
    reused: int = 0  # boots that were simulated before
    _logs: list[str] = field(default_factory=list)  # UART text, one per run
    _stored: Result | None = None

    def measured(self, first: int, last: int, wanted: Selection) -> list[Result]:
        """Measure rows (see Side)."""
        layouts = self.links.layouts(last)[first:]
        if not layouts:
            return []
        rows = f"{len(wanted.terms)} rows in doubt" if first else "all rows"
        links = f"links {first + 1} to {last}" if len(layouts) > 1 else f"link {first + 1}"
        print(f"{self.name}: {rows}, {links}", file=sys.stderr, flush=True)
        results: list[list[Result]] = []
        for icaches, boots in boots_of(wanted, self.options):
            suites = (replace(self.options.suites[0], boots=boots, further_boots=boots),)
            options = replace(self.options, layouts=layouts, suites=suites, icaches=icaches)
            ran = run.run(options)
            jobs = [job for jobs in ran.jobs for job in jobs if job.captured]
            self.boots += len(jobs)
            self.reused += sum(job.source is not None for job in jobs)
            results_of_run, log = results_by_layout(ran, options, wanted)
            self._logs.append(log)
            # Store link 1 now, so that it survives if a later link fails.
            stored = self._stored if first else None
            self.write(stored or results_of_run[0])
            self._check(ran)
            results.append(results_of_run)
        return [_merged(results_of_link) for results_of_link in zip(*results, strict=True)]

    def write(self, result: Result) -> None:
        """Write a result of this side to its file, and the UART text to the log next to it."""
        self._stored = result
        texts = {self._log: "".join(self._logs), self._log.with_suffix(".json"): file.text(result)}
        write_whole(texts)

    @property
    def _log(self) -> Path:
        return self.folder / f"{self.name}.log"

    def _check(self, ran: run.FinishedRun) -> None:
        """Raise TockmarkError if the run was interrupted, lost its workers, or a kernel
        panicked."""
        if ran.lost is not None:
            raise ran.lost
        if ran.interrupted:
            raise TockmarkError(
                "interrupted: every boot that ended is kept",
                "run the same command again to continue",
                INTERRUPTED,
            )
        for job in (job for jobs in ran.jobs for job in jobs):
            if job.problem is not None and job.ending is not None and job.ending.panicked:
                kernel = ran.layouts[job.layout].kernel
                raise TockmarkError(
                    f"{self.name}: {shown(kernel.path)} panicked in {job.name}",
                    f"see its last lines in {shown(self._log)}",
                )


def boots_of(wanted: Selection, options: RunOptions) -> Iterator[tuple[list[bool], list[Boot]]]:
    """Yield the boots to run for the selected rows, with their cache settings."""
    (lang,) = options.langs
    boots = {icache: wanted.boots(lang, [icache]) for icache in options.icaches}
    if len(boots) == 2 and boots[True] == boots[False]:
        yield options.icaches, boots[True]
    else:
        yield from (([icache], selected) for icache, selected in boots.items() if selected)


def _merged(results: Sequence[Result]) -> Result:
    """Return results of one link, each with other rows, as one result."""
    lists = {
        name: sum((getattr(result, name) for result in results), start=())
        for name in ("rows", *ABSENT_LISTS, "problems")
    }
    provenance = results[0].provenance.merged_with([result.provenance for result in results[1:]])
    return replace(results[0], provenance=provenance, **lists)


def loads_of(kernels: Sequence[KernelElf], names: str | None) -> tuple[RunLoad, ...]:
    """Return the loads with these names, separated by commas; none for None. Raise TockmarkError if
    there is no such load, a kernel does not support it, or the kernel's stages are not known."""
    if names is None:
        return ()
    for kernel in kernels:
        check_points(load_kernel_program(kernel))
    loads, _ = (loads_for(kernel, names.split(",")) for kernel in kernels)
    return loads


def compared_waits(
    kernels: Sequence[KernelElf], loads: tuple[RunLoad, ...], options: RunOptions, folder: Path
) -> list[RowVerdict]:
    """Return the verdicts on how long alarms wait under each load. The waits of both sides are
    stored in `folder`. Raise TockmarkError if an alarm did not come, or a stage is missing."""
    verdicts: list[RowVerdict] = []
    for icache in options.icaches if loads else ():
        measured, cached = [], ICACHE[icache]
        for side, kernel in zip(("base", "head"), kernels, strict=True):
            print_message(f"{side}: how long an alarm waits, i-cache {cached}")
            side_options = LatencyOptions(kernel, options.board, icache, ALARMS, loads)
            latency = measure(side_options, lambda text: print_message(f"  {text}"))
            write_whole({folder / f"{side}-waits-{cached}.json": format_file(latency)})
            measured.append(latency)
        verdicts += wait_verdicts(*measured)
    return verdicts
