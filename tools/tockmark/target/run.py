# SPDX-License-Identifier: Apache-2.0 OR MIT
"""This runs every boot of the suite as an image of its own, in parallel, in each layout.

What comes out is the UART's text, boot by boot; what it means is for the layers behind. A boot that
was simulated before is taken from the cache.
"""

import os
import re
import threading
import time
from collections.abc import Container, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Literal, get_args

from msgspec.structs import replace

from tockmark.base import paths, processes
from tockmark.base.errors import TockmarkError, print_message
from tockmark.base.files import temporary_folder
from tockmark.suite.catalogue import (
    COUNTERS,
    CYCLECOUNT,
    ICACHE,
    PERF,
    Boot,
    Catalogue,
    CounterName,
    Lang,
    lang_suffix,
)
from tockmark.target import cache
from tockmark.target.board import BoardProfile, unmeasurable_reason
from tockmark.target.image import AppBuild, DoesNotFitError, Image, build_image, with_early_stop
from tockmark.target.image_folder import ImageFolder, load_or_ask
from tockmark.target.kernel import (
    KernelElf,
    RunLayout,
    check_app_capacity,
    check_core,
    check_runs,
    warn_without_panics,
)
from tockmark.target.progress import Display, Status
from tockmark.target.protocol import Ability, LostError, Replay, Session, Start, target_core
from tockmark.wire.captured import BootKey, Captured, Ending
from tockmark.wire.uart_line import RESET

# Samples of a row on a simulator: enough for a median where they never repeat
# (docs/method.md), and where the kernel takes no part in what is measured.
SIMULATED_SAMPLES, APP_SAMPLES = 25, 13
BOOTING = 1.0  # million cycles or so that a boot costs besides its samples, its image among them
# What ends a row, for progress.
_ROW = re.compile(r"#tm \d+ \w+ (?:(?:data cycles|fail|skip) |.*\bclock=sim\b)")

# How an app says that the kernel lacks the driver that it reads by; a long line is split.
_ABSENT = re.compile(
    r"#tm \d+ \w+ fail time\.read call=(perf|cyclecount)_exists"
    r"(?: \*\w+ *\n#tm \d+ \w+ \+)? err=NODEVICE"
)

# The simulator is asked to mark where an app's functions begin and what the core does unasked;
# wire/records.py reads the lines that come of it.
SYMBOL = "tm_mark_"  # an app's symbol tm_mark_x is the address of the mark x
ENTRY = "_start"  # and this one that of the mark start
OWN_MARKS = ("irq", "trap", "wake", RESET)  # they need no address


class WithoutCounterError(TockmarkError):
    """The kernel lacks the driver by which the apps read."""

    def __init__(self, kernel: KernelElf, counter: CounterName) -> None:
        named, option = COUNTERS[counter], f" --counter {counter}" * (counter != PERF)
        super().__init__(
            f"{kernel.name or paths.shown(kernel.path)} has no {named} capsule, by which apps read"
            " the counters",
            f"put it in with `tockmark patch{option} TREE`, and build that kernel",
        )


@dataclass(frozen=True)
class Suite:
    """The boots that are run of the apps of one language."""

    apps: AppBuild
    boots: list[Boot]
    further: list[Boot]  # those of them that layouts beyond the first run, too


BootSource = Literal["log", "cache"]  # from which a boot may be taken in place of a run


@dataclass(frozen=True)
class RunOptions:
    """A run as the user asked for it."""

    layouts: tuple[RunLayout, ...]
    board: BoardProfile
    suites: tuple[Suite, ...]  # each of another language, all for one version of the interface
    catalogue: Catalogue
    icaches: list[bool]
    all_samples: bool
    samples: int | None  # of a row, at most; None: as many as are enough
    jobs: int
    fresh: bool = False  # simulate also what is in the cache
    images: ImageFolder | None = (
        None  # images that are there; None: they are laid as they are needed
    )
    earlier: Mapping[BootKey, Captured] = field(default_factory=dict)  # what need not be run again
    some: Container[tuple[BootKey, int]] | None = None  # with their layouts; None: all boots

    @property
    def kernel(self) -> KernelElf:
        """The kernel of the first layout."""
        return self.layouts[0].kernel

    @property
    def abi(self) -> int:
        """The version of the interface."""
        return self.suites[0].apps.abi

    @property
    def langs(self) -> list[Lang]:
        """The languages of the apps."""
        return [suite.apps.lang for suite in self.suites]


@dataclass(kw_only=True)
class Job(Status):
    """One boot with one cache setting on its way from objects to log lines."""

    boot: Boot
    icache: bool
    apps: AppBuild
    layout: int  # its number
    image: Image | None = None
    session: Session | None = None
    source: BootSource | None = None  # from there, as it was; None: it was run
    captured: Captured | None = None  # once it runs
    note: str | None = None  # what went wrong
    skipped: str | None = None  # why this kernel cannot run this boot, or this target time it

    @property
    def name(self) -> str:
        """Its name in messages."""
        return f"{self.boot.name}, i-cache {ICACHE[self.icache]}{lang_suffix(self.apps.lang)}"

    @property
    def key(self) -> BootKey:
        """Tells it from the others of its layout."""
        return self.boot.name, self.icache, self.apps.lang

    @property
    def ending(self) -> Ending | None:
        """How it ended; None: it did not."""
        return self.captured.ending if self.captured else None

    @property
    def finished(self) -> bool:
        """Whether it ended of itself, well or not."""
        return self.ending is not None and not self.ending.killed


@dataclass(frozen=True)
class FinishedRun:
    """A run that is over: every boot with what it said."""

    jobs: list[list[Job]]  # of each layout
    layouts: tuple[RunLayout, ...]
    interrupted: bool  # by Ctrl-C, or by `lost`
    lost: LostError | None = None  # a boot that no worker finishes

    @property
    def started(self) -> int:
        """How many boots said anything."""
        return sum(job.captured is not None for jobs in self.jobs for job in jobs)

    @property
    def boots_by_source(self) -> dict[BootSource, int]:
        """How many of them were taken from each source."""
        taken = [job.source for jobs in self.jobs for job in jobs if job.captured]
        return {source: taken.count(source) for source in get_args(BootSource)}


def run(options: RunOptions) -> FinishedRun:
    """Run the suite. Ctrl-C, or a boot that no worker finishes, keeps what there is of the first
    layout, and of the others those that are whole."""
    check_runs(options.kernel, options.abi, options.board)
    if core := target_core(options.board.target):
        for layout in options.layouts:
            check_core(layout.kernel, core, True in options.icaches)
    options.board.target.check_ready()
    for layout in options.layouts:
        if Ability.MARKS in options.board.target.can and not layout.kernel.panics:
            warn_without_panics(layout.kernel.path)
    jobs = [
        [
            _job(boot, icache, suite.apps, options, layout)
            for suite in options.suites
            for boot in (suite.further if layout else suite.boots)
            for icache in options.icaches
            if options.some is None
            or ((boot.name, icache, suite.apps.lang), layout) in options.some
        ]
        for layout in range(len(options.layouts))
    ]
    _say_how_long([job for some in jobs for job in some if not job.done], options)
    with temporary_folder(paths.RUNS) as folder:  # runs may go on side by side
        runner = _Runner(options, folder)
        interrupted = runner.run([job for some in jobs for job in some])
    kept = [
        layout
        for layout, some in enumerate(jobs)
        if layout == 0 or not interrupted or all(job.finished for job in some)
    ]
    layouts = tuple(options.layouts[n] for n in kept)
    return FinishedRun([jobs[n] for n in kept], layouts, interrupted, runner.lost)


def run_with_fallback(
    asked: RunOptions, instead: Sequence[RunOptions]
) -> tuple[RunOptions, FinishedRun]:
    """Run the suite. Where the kernel lacks what its apps read, run the first one of `instead`, if
    its apps are built. Return what was run."""
    try:
        return asked, run(asked)
    except WithoutCounterError as error:
        if not instead or not all(suite.apps.folder.is_dir() for suite in instead[0].suites):
            raise
        try:
            ran = run(instead[0])
        except WithoutCounterError:
            raise error from None
        named = asked.kernel.name or paths.shown(asked.kernel.path)
        print_message(
            f"{named} has no Perf capsule: the apps read CycleCount, which counts cycles alone"
        )
        return instead[0], ran


def check_selection(options: RunOptions, only: str | None) -> None:
    """TockmarkError if the rows that --only names leave nothing to run, or the kernel has no slots
    for a boot."""
    if not any(suite.boots for suite in options.suites):
        said = ", ".join(options.langs)
        raise TockmarkError(f"no row of '{only}' is in --lang {said}", "nothing is left to run")
    if len(options.layouts) > 1 and not any(suite.further for suite in options.suites):
        raise TockmarkError(
            f"no row of '{only}' touches the kernel",
            "run it in one layout: further ones leave it out",
        )
    if options.catalogue.name is not None:
        slots = max(len(boot.slots) for suite in options.suites for boot in suite.boots)
        for layout in options.layouts:
            check_app_capacity(layout.kernel, slots)


def _say_how_long(jobs: Sequence[Job], options: RunOptions) -> None:
    """Say before the start how long a slow simulator takes."""
    pace = getattr(options.board.target, "cycles_per_second", None)
    if pace is None or not jobs:
        return
    cycles = 1e6 * sum(job.weight for job in jobs)
    at_once = min(options.jobs, len(jobs))
    print_message(
        f"{options.board.name} simulates some {pace:,} cycles a second: {len(jobs)} boots of at"
        f" most {cycles / 1e6:.0f} M cycles take up to {cycles / pace / at_once / 60:.0f} minutes,"
        f" {at_once} at a time"
    )


def default_samples(boot: Boot, known: Catalogue) -> int:
    """Return how many samples of each row of this boot are taken on a simulator, where the user
    does not say."""
    touched = {known.benchmarks[id_].touches for id_ in boot.measures}
    return SIMULATED_SAMPLES if "kernel" in touched else APP_SAMPLES


def mark_options(apps: Sequence[Mapping[str, int]]) -> list[str]:
    """Return the simulator's options for the apps of a boot, each given by its symbols; none if
    they have nothing to mark."""
    marked = [
        f"{symbol.removeprefix(SYMBOL)}={address:#x}"
        for symbols in apps
        for symbol, address in symbols.items()
        if symbol.startswith(SYMBOL)
    ]
    entries = [f"start={symbols[ENTRY]:#x}" for symbols in apps if ENTRY in symbols]
    names = [*marked, *entries, *OWN_MARKS] if marked else []
    return [word for name in names for word in ("--mark", name)]


def _job(boot: Boot, icache: bool, apps: AppBuild, options: RunOptions, layout: int) -> Job:
    known = options.catalogue
    unsuited = unmeasurable_reason(boot, known, options.board.target)
    several = f"layout {layout}: " * (len(options.layouts) > 1)
    return Job(
        title=f"{several}{boot.name}, {ICACHE[icache]}{lang_suffix(apps.lang)}",
        rows_expected=known.rows_of(boot),
        weight=BOOTING + known.cost(boot),
        done=unsuited is not None,
        boot=boot,
        icache=icache,
        apps=apps,
        layout=layout,
        skipped=unsuited,
    )


class _Runner:
    """A run under way: its threads share the images, the cache and the word to stop."""

    def __init__(self, options: RunOptions, folder: Path) -> None:
        self.options = options
        self.folder = folder
        self.cache = cache.default_cache(options.fresh)
        self.stop = threading.Event()
        self.images: dict[tuple[AppBuild, str, int], Image] = {}
        self.locks: dict[tuple[AppBuild, str, int], threading.Lock] = {}
        self.lost: LostError | None = None
        # Where workers simulate, far more boots are under way than cores can link here.
        self.cores = threading.BoundedSemaphore(os.cpu_count() or 1)

    def run(self, jobs: list[Job]) -> bool:
        """Run all that is not done; say whether it was interrupted."""
        waiting = [job for job in jobs if not job.done]
        display = Display(waiting)
        pool = ThreadPoolExecutor(self.options.jobs)
        # Layout by layout, so that an interruption leaves whole ones. In each long ones first, so
        # that no core is idle at the end; and a boot's second run not right behind its first, since
        # both need the same image. What an earlier log has comes first of all: an interruption does
        # not lose it.
        order = sorted(
            waiting,
            key=lambda job: (
                job.layout,
                job.key not in self.options.earlier,
                job.icache is not jobs[0].icache,
                -job.weight,
            ),
        )
        left = {pool.submit(self._run_one, job): job for job in order}
        try:
            while left and not self.stop.is_set():
                for future in wait(left, timeout=0.2).done:
                    future.result()  # a defect of the tool itself must not pass in silence
                    captured = left[future].captured
                    if captured and (absent := _ABSENT.search("\n".join(captured.lines))):
                        lacking = PERF if absent[1] == PERF else CYCLECOUNT
                        raise WithoutCounterError(self.options.kernel, lacking)
                    del left[future]
                display.show()
        except BaseException as error:
            self.stop.set()
            if not isinstance(error, KeyboardInterrupt):
                raise
        finally:
            for job in jobs:
                if job.session is not None:
                    job.session.stop()
            if self.stop.is_set():
                processes.end_all()
            pool.shutdown(cancel_futures=True)
            display.close()
        return self.stop.is_set()

    def _run_one(self, job: Job) -> None:
        job.began = time.monotonic()
        try:
            if self.stop.is_set():
                return
            job.state = "building"
            job.image = self._image(job)
            start = self._start(job, job.image)
            earlier = self.options.earlier.get(job.key)
            if earlier is not None and earlier.image == start.image:
                job.captured = self._captured(job, start, earlier.lines, earlier.ending)
                job.source, job.rows = "log", job.rows_expected
            elif not self.stop.is_set():
                self._boot(job, start)
            if job.ending and job.ending.panicked and job.boot.panics:
                job.skipped, job.note = job.boot.panics, None
        except DoesNotFitError as error:
            job.skipped = error.problem
        except LostError as error:
            job.note, self.lost = str(error), error
            self.stop.set()
        except TockmarkError as error:
            job.note = None if self.stop.is_set() else str(error)
        finally:
            ended = job.finished or job.skipped
            job.state = "failed" if job.note else "done" if ended else "stopped"
            job.over = time.monotonic()
            job.done = True

    def _image(self, job: Job) -> Image:
        """Return the flash image of a boot, built by whoever needs it first.

        Where the cache is off a row may end as soon as it repeats. With it on samples that are
        equal may be a plateau: what the cache holds goes on changing."""
        options, boot, layout = self.options, job.boot, self.options.layouts[job.layout]
        if options.images is not None:
            return options.images.image(options.images.boot(boot.name, job.apps.lang))
        out, key = self.folder / job.apps.lang / str(job.layout), (job.apps, boot.name, job.layout)
        with self.locks.setdefault(key, threading.Lock()), self.cores:
            if key not in self.images:
                samples = options.samples or default_samples(boot, options.catalogue)
                words = {"tm_most_samples": 0 if options.all_samples else samples}
                self.images[key] = build_image(
                    boot, job.apps, layout.kernel, options.board, out, words, layout.seed
                )
        image = self.images[key]
        if job.icache or options.all_samples:
            return image
        return with_early_stop(image, options.board, out / f"{boot.name}.early.flash")

    def _start(self, job: Job, image: Image) -> Start:
        board, marks = self.options.board, list[str]()
        if Ability.MARKS in board.target.can:
            marks = mark_options([slot.symbols for slot in image.slots])
        load = partial(load_or_ask, board, job.boot.name, image.flash)
        boot = job.boot.name
        kernel = self.options.layouts[job.layout].kernel
        return Start(
            job.name,
            image.flash,
            job.icache,
            tuple(marks),
            image.id,
            boot,
            load,
            reporter=job.boot.group,
            panics=kernel.panics,
        )

    def _boot(self, job: Job, start: Start) -> None:
        job.state = "running"
        job.session = session = self.cache.begin(self.options.board.target, start)
        job.source = "cache" if isinstance(session, Replay) else None
        lines: list[str] = []
        job.captured = self._captured(job, start, lines, None)
        for text in session.lines():
            lines.append(text)
            job.rows += bool(_ROW.search(text))
            job.cycles = session.cycles
            if self.stop.is_set():
                session.stop()
        ending = session.ending()
        if self.stop.is_set() and ending.why is not None:
            ending = Ending(killed=True)
        elif ending.killed:  # it said its cycles a while before its last line
            ending = replace(ending, cycles=0)
        job.captured = replace(job.captured, ending=ending)
        job.note, job.cycles = ending.why, ending.cycles

    def _captured(
        self, job: Job, start: Start, lines: Sequence[str], ending: Ending | None
    ) -> Captured:
        """Return what a boot printed, as one of this run."""
        return Captured(
            lines,
            boot=job.boot.name,
            icache=job.icache,
            app=job.boot.group,
            lang=None if self.options.langs == ["c"] else job.apps.lang,
            image=start.image,
            layout=job.layout,
            ending=ending,
        )
