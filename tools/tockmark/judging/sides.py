# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A side of a judgement on the simulator: links of a kernel, and runs of the rows that are asked.

What was simulated once is kept by its image, so a judgement that was interrupted, or is made again,
simulates only what is not there yet.
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import msgspec

from tockmark.errors import INTERRUPTED, TockmarkError
from tockmark.files import write_whole
from tockmark.paths import shown
from tockmark.result import file
from tockmark.result.model import GONE, Result
from tockmark.result.of_run import by_layout
from tockmark.suite.catalogue import Boot, Catalogue
from tockmark.suite.select import Selection
from tockmark.target import links, run
from tockmark.target.board import Board
from tockmark.target.image import Apps, read_kernel
from tockmark.tree.links import Links

SAMPLES = 9  # of a row: as many as the known spread over links was measured with
# The rows that touch the kernel, and two of the apps' own: what these differ by is noise.
DEFAULT = "kernel,loop.empty,loop.taken"


@dataclass(frozen=True)
class How:
    """How both sides are run."""

    board: Board
    apps: Apps
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
        layouts = links.layouts(kernels, 1)[first:]
        if not layouts:
            return []
        many = f"{len(wanted.terms)} rows in doubt" if first else "all rows"
        which = f"link {first + 1}" + f" to {last}" * (len(layouts) > 1)
        print(f"{self.name}: {many}, {which}", file=sys.stderr, flush=True)
        found: list[list[Result]] = []
        for icaches, boots in runs_of(wanted, self.how):
            suite = run.Suite(self.how.apps, boots, boots)
            options = run.Options(
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
