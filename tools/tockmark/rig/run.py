# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Runs every boot of the suite as its own image on its own target, in parallel, in each layout.

What comes out is the UART's text, boot by boot. What it means is for the layers behind. A boot that
was simulated before is taken from the cache.
"""

import os
import re
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Literal

from tockmark import paths
from tockmark.errors import TockmarkError
from tockmark.files import folder_for_a_while
from tockmark.rig import cache
from tockmark.rig.board import BoardProfile, boot_unsuited
from tockmark.rig.image import AppBuild, Image, KernelElf, build_image, runs, stopping_early
from tockmark.rig.image_folder import Laid
from tockmark.rig.image_install import load_or_ask
from tockmark.rig.kernel_links import RunLayout
from tockmark.rig.progress import Display, Status
from tockmark.rig.protocol import Ability, Session, Start
from tockmark.suite.catalogue import ICACHE, Boot, Catalogue, Lang, aside

# Of a row, on a simulator: enough for a median where they never repeat (docs/methodology.md), and
# where the kernel takes no part in what is measured.
SIMULATED_SAMPLES, APP_SAMPLES = 25, 13
BOOTING = 1.0  # million cycles or so that a boot costs besides its samples, its image among them
_ROW = re.compile(
    r"#tm \d+ \w+ (?:(?:data cycles|fail|skip) |.*\bclock=sim\b)"
)  # what ends a row, for progress


@dataclass(frozen=True)
class Suite:
    """What is run of the apps of one language."""

    apps: AppBuild
    boots: list[Boot]
    further: list[Boot]  # those of them that layouts beyond the first run, too


Which = tuple[str, bool, Lang]  # a boot by its name, the cache's setting and its apps' language


@dataclass(frozen=True)
class Earlier:
    """A boot that an earlier log has whole."""

    image: str  # the id that its app said
    lines: tuple[str, ...]


@dataclass(frozen=True)
class RunOptions:
    """What the user asked for."""

    layouts: tuple[RunLayout, ...]
    board: BoardProfile
    suites: tuple[Suite, ...]  # each of another language, all for one version of the interface
    catalogue: Catalogue
    icaches: list[bool]
    all_samples: bool
    samples: int | None  # of a row, at most; None: as many as are enough
    jobs: int
    fresh: bool = False  # simulate also what is in the cache
    laid: Laid | None = None  # images that are there; None: they are laid as they are needed
    earlier: Mapping[Which, Earlier] = field(default_factory=dict)  # what need not be run again

    @property
    def kernel(self) -> KernelElf:
        """That of the first layout."""
        return self.layouts[0].kernel

    @property
    def abi(self) -> int:
        return self.suites[0].apps.abi

    @property
    def langs(self) -> list[Lang]:
        return [suite.apps.lang for suite in self.suites]


@dataclass
class Job:
    """One boot with one cache setting on its way from objects to log lines."""

    boot: Boot
    icache: bool
    apps: AppBuild
    status: Status
    layout: int | None = None  # its number, where there are several
    image: Image | None = None
    session: Session | None = None
    taken: Literal["cache", "log"] | None = None  # from there, as it was; None: it was run
    lines: list[str] = field(default_factory=list)  # of the UART
    note: str | None = None
    ended: bool = False  # all that it said is in `lines`
    finished: bool = False  # of itself, well or not
    panicked: bool = False  # the kernel did
    skipped: str | None = None  # why this kernel cannot run this boot, or this target time it

    @property
    def name(self) -> str:
        return f"{self.boot.name}, i-cache {ICACHE[self.icache]}{aside(self.apps.lang)}"

    @property
    def started(self) -> bool:
        return self.session is not None or self.taken is not None


@dataclass(frozen=True)
class Ran:
    """What came of a run: every boot with what it said, and what went wrong besides."""

    jobs: list[list[Job]]  # of each layout
    layouts: tuple[RunLayout, ...]
    notes: list[str]
    interrupted: bool


def run(options: RunOptions) -> Ran:
    """Run the suite. Ctrl-C keeps what there is of the first layout, and of the others those that
    are whole."""
    runs(options.kernel, options.abi, options.board)
    options.board.target.ready()
    jobs = [
        [
            _job(boot, icache, suite.apps, options, layout)
            for suite in options.suites
            for boot in (suite.further if layout else suite.boots)
            for icache in options.icaches
        ]
        for layout in range(len(options.layouts))
    ]
    with folder_for_a_while(paths.RUNS) as folder:  # runs may go on side by side
        notes = _run_all([job for some in jobs for job in some], options, folder)
    kept = [
        n for n, some in enumerate(jobs) if n == 0 or not notes or all(j.finished for j in some)
    ]
    return Ran([jobs[n] for n in kept], tuple(options.layouts[n] for n in kept), notes, bool(notes))


def _run_all(jobs: list[Job], options: RunOptions, folder: Path) -> list[str]:
    stop = threading.Event()
    notes: list[str] = []
    images, kept = Images(options, folder), cache.default(options.fresh)
    shown = Display([job.status for job in jobs if not job.status.done])
    pool = ThreadPoolExecutor(options.jobs)
    known = options.catalogue
    # Layout by layout, so that an interruption leaves whole ones. In each long ones first, so that
    # no core is idle at the end; and a boot's second run not right behind its first, since both
    # need the same image. What an earlier log
    # has comes first of all: an interruption does not lose it.
    order = sorted(
        jobs,
        key=lambda job: (
            job.layout or 0,
            _which(job) not in options.earlier,
            job.icache is not jobs[0].icache,
            -known.cost(job.boot),
        ),
    )
    left: set[Future[None]] = {
        pool.submit(_run_one, job, options, images, kept, stop)
        for job in order
        if not job.status.done
    }
    try:
        while left:
            done, left = wait(left, timeout=0.2)
            for future in done:
                future.result()  # a defect of the tool itself must not pass in silence
            shown.show()
    except KeyboardInterrupt:
        notes.append("interrupted: the rows that are missing were not measured")
    finally:
        stop.set()
        for job in jobs:
            if job.session is not None:
                job.session.stop()
        pool.shutdown(cancel_futures=True)
        shown.close()
    return notes


def _job(boot: Boot, icache: bool, apps: AppBuild, options: RunOptions, layout: int) -> Job:
    rows = options.catalogue.rows_of(boot)
    several = len(options.layouts) > 1
    name = f"layout {layout}: " * several + f"{boot.name}, {ICACHE[icache]}{aside(apps.lang)}"
    weight = BOOTING + options.catalogue.cost(boot)
    unsuited = boot_unsuited(boot, options.catalogue, options.board.target)
    status = Status(name, rows, weight=weight, done=unsuited is not None)
    return Job(boot, icache, apps, status, layout if several else None, skipped=unsuited)


class Images:
    """The flash image of each boot in each language and layout, built by whoever needs it first."""

    def __init__(self, options: RunOptions, folder: Path) -> None:
        self.options = options
        self.out = folder
        self.locks = {
            (suite.apps, boot.name, layout): threading.Lock()
            for suite in options.suites
            for boot in suite.boots
            for layout in range(len(options.layouts))
        }
        self.built: dict[tuple[AppBuild, str, int], Image] = {}
        # Where a cluster simulates, far more boots are under way than cores can link here.
        self.cores = threading.BoundedSemaphore(os.cpu_count() or 1)

    def of(self, boot: Boot, icache: bool, apps: AppBuild, layout: int) -> Image:
        """Where the cache is off a row may end as soon as it repeats. With it on samples that are
        equal may be a plateau: what the cache holds goes on changing."""
        asked, laid = self.options, self.options.layouts[layout]
        if asked.laid is not None:
            return asked.laid.image(asked.laid.boot(boot.name, apps.lang))
        out, key = self.out / apps.lang / str(layout), (apps, boot.name, layout)
        with self.locks[key], self.cores:
            if key not in self.built:
                symbols = {
                    "tm_most_samples": 0
                    if asked.all_samples
                    else asked.samples or enough(boot, asked.catalogue)
                }
                self.built[key] = build_image(
                    boot, apps, laid.kernel, asked.board, out, symbols, laid.seed
                )
        image = self.built[key]
        if icache or asked.all_samples:
            return image
        return stopping_early(image, asked.board, out / f"{boot.name}.early.flash")


def enough(boot: Boot, known: Catalogue) -> int:
    """So many samples of each row of this boot, on a simulator, where the user does not say."""
    touched = {known.benchmarks[id_].touches for id_ in boot.measures}
    return SIMULATED_SAMPLES if "kernel" in touched else APP_SAMPLES


def _run_one(
    job: Job, options: RunOptions, images: Images, kept: cache.Cache, stop: threading.Event
) -> None:
    status = job.status
    status.started = time.monotonic()
    try:
        if stop.is_set():
            return
        status.state = "building"
        job.image = images.of(job.boot, job.icache, job.apps, job.layout or 0)
        start = _start(job, job.image, options)
        earlier = options.earlier.get(_which(job))
        if earlier is not None and earlier.image == start.image:
            _take(job, earlier.lines)
        else:
            _boot(job, start, options, kept, stop)
        if job.panicked and job.boot.panics:
            job.skipped, job.note = job.boot.panics, None
    except TockmarkError as error:
        job.note = str(error)
    finally:
        status.state = "failed" if job.note else "done" if job.finished else "stopped"
        status.line()  # takes the time
        status.done = True


def _which(job: Job) -> Which:
    return job.boot.name, job.icache, job.apps.lang


def _start(job: Job, image: Image, options: RunOptions) -> Start:
    watched: list[str] = []
    if Ability.MARKS in options.board.target.can:
        watched = mark_options(slot.symbols for slot in image.slots)
    load = partial(load_or_ask, options.board.profile, job.boot.name, image.flash)
    return Start(job.name, image.flash, job.icache, tuple(watched), image.id, job.boot.name, load)


def _take(job: Job, lines: Sequence[str]) -> None:
    """Take what a boot printed when it was run before."""
    job.lines, job.taken = list(lines), "log"
    job.ended = job.finished = True
    job.status.rows = job.status.rows_expected


def _boot(
    job: Job, start: Start, options: RunOptions, kept: cache.Cache, stop: threading.Event
) -> None:
    if stop.is_set():
        return
    status = job.status
    status.state = "running"
    job.session = kept.begin(options.board.target, start)
    job.taken = "cache" if isinstance(job.session, cache.Replayed) else None
    for text in job.session.lines():
        job.lines.append(text)
        status.rows += bool(_ROW.search(text))
        status.cycles = job.session.cycles
        if stop.is_set():
            job.session.stop()
    job.ended = True
    ending = job.session.ending()
    job.finished = ending is None or not (stop.is_set() or job.session.killed)
    job.note = None if stop.is_set() else ending
    job.panicked = job.session.panicked
    status.cycles = job.session.cycles


# What the simulator is asked to mark: where an app's functions begin, and what the core does
# unasked. log/marks.py reads the lines that come of it.


SYMBOL = "tm_mark_"  # an app's symbol tm_mark_x is the address of the mark x
ENTRY = "_start"  # and this one that of the mark start
RESET = "reset"  # where the simulator began; the core comes by once
OWN = ("irq", "trap", "wake", RESET)  # marks that need no address


def mark_options(apps: Iterable[Mapping[str, int]]) -> list[str]:
    """The simulator's options for the apps of a boot, each given by its symbols; none if they have
    nothing to mark."""
    marked: list[str] = []
    entries: list[str] = []
    for symbols in apps:
        for symbol, address in symbols.items():
            if symbol.startswith(SYMBOL):
                marked.append(f"{symbol.removeprefix(SYMBOL)}={address:#x}")
            elif symbol == ENTRY:
                entries.append(f"start={address:#x}")
    names = [*marked, *entries, *OWN] if marked else []
    return [word for name in names for word in ("--mark", name)]
