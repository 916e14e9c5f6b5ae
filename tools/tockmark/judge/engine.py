# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A side of a judgement on the simulator: links of a kernel, and runs of the rows that are asked.

What was simulated once is kept by its image, so a judgement that was interrupted, or is made again,
simulates only what is not there yet.
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

import msgspec

from tockmark.compare import gate, rule
from tockmark.compare.gate import Gated
from tockmark.compare.limits import Level, Limits
from tockmark.compare.pairs import Moved
from tockmark.compare.rule import Change
from tockmark.errors import INTERRUPTED, TockmarkError
from tockmark.files import write_whole
from tockmark.paths import shown
from tockmark.result import file
from tockmark.result.build import by_layout, joined
from tockmark.result.model import GONE, Result
from tockmark.rig import run
from tockmark.rig.board import BoardProfile
from tockmark.rig.image import AppBuild
from tockmark.rig.kernel import read_kernel, run_layouts
from tockmark.suite.catalogue import Boot, Catalogue
from tockmark.suite.selection import Selection
from tockmark.trees.builds import Links

SAMPLES = 9  # of a row: as many as the known spread over links was measured with
# The rows that touch the kernel, and two of the apps' own: what these differ by is noise.
DEFAULT = "kernel,loop.empty,loop.taken"


@dataclass(frozen=True)
class How:
    """How both sides are run."""

    board: BoardProfile
    apps: AppBuild
    catalogue: Catalogue
    icaches: tuple[bool, ...]
    samples: int
    jobs: int
    fresh: bool = False


@dataclass
class Simulated:
    """One side. `name` says which; its results are written to `folder` as they come."""

    name: str
    links: Links
    how: How
    folder: Path
    boots: int = 0  # that it took
    taken: int = 0  # of them, those that were simulated before
    _said: list[str] = field(default_factory=list)  # by its apps, run by run
    _kept: Result | None = None

    def measured(self, first: int, last: int, wanted: Selection) -> list[Result]:
        """As Side has it. The kernel's panic ends the judgement, for then there is nothing to
        judge."""
        kernels = [read_kernel(elf) for elf in self.links.upto(last)]
        layouts = run_layouts(kernels, 1)[first:]
        if not layouts:
            return []
        many = f"{len(wanted.terms)} rows in doubt" if first else "all rows"
        which = f"link {first + 1}" + f" to {last}" * (len(layouts) > 1)
        print(f"{self.name}: {many}, {which}", file=sys.stderr, flush=True)
        found: list[list[Result]] = []
        for icaches, boots in runs_of(wanted, self.how):
            suite = run.Suite(self.how.apps, boots, boots)
            options = run.RunOptions(
                layouts=layouts,
                board=self.how.board,
                suites=(suite,),
                catalogue=self.how.catalogue,
                icaches=icaches,
                all_samples=False,
                samples=self.how.samples,
                jobs=self.how.jobs,
                fresh=self.how.fresh,
            )
            ran = run.run(options)
            jobs = [job for jobs in ran.jobs for job in jobs if job.started]
            self.boots += len(jobs)
            self.taken += sum(job.taken is not None for job in jobs)
            made, log = by_layout(ran, options, wanted)
            self._keep(made[0], log, first)
            self._check(ran)
            found.append([_of_link(one, n) for n, one in enumerate(made)])
        return [_beside(of_one) for of_one in zip(*found, strict=True)]

    @property
    def told(self) -> str:
        """What it took, in words."""
        return f"{self.boots} boots, of which {self.taken} were simulated before"

    def _check(self, ran: run.Ran) -> None:
        """TockmarkError if the run was interrupted, or a kernel panicked."""
        if ran.interrupted:
            raise TockmarkError(
                "interrupted: every boot that ended is kept",
                "the same command goes on from there",
                INTERRUPTED,
            )
        for layout, jobs in zip(ran.layouts, ran.jobs, strict=True):
            for job in jobs:
                if job.panicked and job.note is not None:
                    raise TockmarkError(
                        f"{self.name}: {shown(layout.kernel.path)} panicked in {job.name}",
                        f"{shown(self._log)} has its last lines",
                    )

    @property
    def _log(self) -> Path:
        return self.folder / f"{self.name}.log"

    def _keep(self, result: Result, log: str, first: int) -> None:
        """Keep what came of one link, so that it is there also if nothing comes of the rest."""
        self._said.append(log)
        self.keep(result if self._kept is None or not first else self._kept)

    def keep(self, result: Result) -> None:
        """Keep a result of this side in its file, and beside it all that was printed."""
        self._kept = result
        texts = {self._log: "".join(self._said), self._log.with_suffix(".json"): file.text(result)}
        write_whole(texts)


def runs_of(wanted: Selection, how: How) -> Iterator[tuple[list[bool], list[Boot]]]:
    """Which boots to run with which settings of the cache: those that give a row that is meant."""
    boots = {icache: wanted.boots(how.apps.lang, [icache]) for icache in how.icaches}
    if len(boots) == 2 and boots[True] == boots[False]:
        yield list(how.icaches), boots[True]
    else:
        yield from (([icache], some) for icache, some in boots.items() if some)


def _of_link(result: Result, number: int) -> Result:
    """A result with the one layout that it was measured in."""
    layouts = result.provenance.layouts[number : number + 1]
    return replace(result, provenance=msgspec.structs.replace(result.provenance, layouts=layouts))


def _beside(results: Sequence[Result]) -> Result:
    """Results of one link as one: each has rows of its own."""
    first, *others = results
    return replace(
        first,
        **{
            name: sum((getattr(one, name) for one in others), start=getattr(first, name))
            for name in ("rows", *GONE, "problems")
        },
    )


# The verdict on a change, with as few simulations as it takes.
#
# Every row is measured in one link of each side. That decides the instructions, which do not depend
# on the layout. Of cycles some rows may be beyond a limit, or it is their layout: these alone are
# measured in two links a side, and what is still in doubt in four, as far as links can be had. The
# rule is gate's throughout (judge/verdict.py): here is only decided what is run.


LINKS = 4  # of a side, at most, unless told otherwise


class Side(Protocol):
    """One kernel in links that differ in layout only, and what measures it."""

    @property
    def name(self) -> str:
        """What to call it."""
        ...

    def measured(self, first: int, last: int, wanted: Selection) -> list[Result]:
        """Some rows in the links from number `first` up to `last`, without it: a result of each;
        fewer where there are no more links. TockmarkError if they cannot be measured."""
        ...


@dataclass(frozen=True)
class Judged:
    """The verdict, and the results that it was reached by."""

    names: tuple[str, str]
    results: tuple[Result, Result]
    gated: Gated
    looked_again: tuple[int, ...]  # rows that were in doubt after each look but the last

    @property
    def moved(self) -> list[Moved]:
        """All that moved for certain: instructions of an operation by one or more, and not by a
        stray one or two of a sample; cycles by more than a limit with their whole interval. In the
        order of trust, the largest change first."""
        beyond = {(one.row.key, one.series): one for one in self.gated.moved}
        found = [
            beyond.get((pair.row.key, series)) or Moved(Level.PASS, pair.row, "", series, change)
            for pair in self.gated.comparison.in_order
            for series, change in pair.changes.items()
            if (pair.row.key, series) in beyond or (pair.judged and _counted(series, change))
        ]
        return sorted(found, key=lambda one: (one.series == "cycles", -one.change.size))


def _counted(series: str, change: Change) -> bool:
    """Whether instructions moved, by one of an operation or more, and not by a stray one or two."""
    return series == "instret" and not change.unmoved and abs(change.new - change.base) >= 1


def judge(
    base: Side,
    head: Side,
    wanted: Selection,
    limits: Limits,
    most: int = LINKS,
    known: rule.Spread | None = None,
) -> Judged:
    """Measure both sides until no row is in doubt, or `most` links of each are measured. `known` is
    how far rows spread over links; None: what committed results say of the base."""
    catalogue = wanted.catalogue
    of_both = [side.measured(0, 1, wanted) for side in (base, head)]
    doubts: list[int] = []
    count = 1
    while True:
        results = [whole(of_side) for of_side in of_both]
        spread = known or rule.known_spread(results[0])
        old, new = zip((base.name, head.name), results, strict=True)
        gated = gate.gate([old], new, limits, catalogue, spread)
        if not gated.comparison.judged:
            raise TockmarkError(
                "no row that a kernel touches was measured on both sides", "leave out --only"
            )
        if not gated.unsure or count >= most:
            break
        count = min(2 * count, most)
        again = doubtful(gated, catalogue)
        more = [
            side.measured(len(of_side), count, again)
            for side, of_side in zip((base, head), of_both, strict=True)
        ]
        if not any(more):
            break
        doubts.append(len(again.terms))
        of_both = [had + new for had, new in zip(of_both, more, strict=True)]
    return Judged((base.name, head.name), (results[0], results[1]), gated, tuple(doubts))


def whole(of_links: Sequence[Result]) -> Result:
    """The results of several links as one: rows that were measured in one only have one layout."""
    made = joined(of_links)
    layouts = tuple(layout for result in of_links for layout in result.provenance.layouts)
    return replace(made, provenance=msgspec.structs.replace(made.provenance, layouts=layouts))


def doubtful(gated: Gated, catalogue: Catalogue) -> Selection:
    """The rows that may be beyond a limit, or it is their layout."""
    return Selection(catalogue, tuple(dict.fromkeys(one.row.name for one in gated.unsure)))
