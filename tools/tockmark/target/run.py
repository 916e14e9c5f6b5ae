# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Run the boots of a suite in parallel: each has its own image, in each layout of the kernel.

The output is the UART text of each boot; other modules decode it. A boot that was simulated before
comes from the cache.
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

# Samples per row on a simulator: enough for a median where samples vary (docs/method.md), and where
# the kernel is not involved.
SIMULATED_SAMPLES, APP_SAMPLES = 25, 13
BOOTING = 1.0  # million cycles of a boot without its samples, roughly; includes building its image
# The end of a row, for the progress display.
_ROW = re.compile(r"#tm \d+ \w+ (?:(?:data cycles|fail|skip) |.*\bclock=sim\b)")

# Printed by an app if the kernel lacks its counter's driver. A long line is split.
_NO_COUNTER = re.compile(
    r"#tm \d+ \w+ fail time\.read call=(perf|cyclecount)_exists"
    r"(?: \*\w+ *\n#tm \d+ \w+ \+)? err=NODEVICE"
)

# Marks that the simulator makes: functions of the apps, and events of the core. wire/records.py
# reads them.
MARK_SYMBOL = "tm_mark_"  # the symbol tm_mark_x of an app is the address of mark x
ENTRY_SYMBOL = "_start"  # the address of mark `start`
OWN_MARKS = ("irq", "trap", "wake", RESET)  # they need no address


class WithoutCounterError(TockmarkError):
    """The kernel lacks the driver with which the apps read the counters."""

    def __init__(self, kernel: KernelElf, counter: CounterName) -> None:
        counter_name, option = COUNTERS[counter], f" --counter {counter}" * (counter != PERF)
        super().__init__(
            f"{kernel.name or paths.shown(kernel.path)} has no {counter_name} capsule, which the"
            " apps need to read the counters",
            f"add it with `tockmark patch{option} TREE`, and build that kernel",
        )


@dataclass(frozen=True)
class Suite:
    """The boots to run with the apps of one language."""

    apps: AppBuild
    boots: list[Boot]
    further_boots: list[Boot]  # those that further layouts run


BootSource = Literal["log", "cache"]  # of a boot that is not run


@dataclass(frozen=True)
class RunOptions:
    """The options of a run."""

    layouts: tuple[RunLayout, ...]
    board: BoardProfile
    suites: tuple[Suite, ...]  # one per language, all for one version of the interface
    catalogue: Catalogue
    icaches: list[bool]
    all_samples: bool
    samples: int | None  # per row, at most; None: default_samples
    jobs: int
    fresh: bool = False  # ignore the cache
    images: ImageFolder | None = None  # existing images; None: build them
    earlier: Mapping[BootKey, Captured] = field(default_factory=dict)  # boots that need not run
    selected: Container[tuple[BootKey, int]] | None = None  # boots with layouts; None: all

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
    """A boot with one cache setting, from its build to its output."""

    boot: Boot
    icache: bool
    apps: AppBuild
    layout: int  # number of the layout
    image: Image | None = None
    session: Session | None = None
    source: BootSource | None = None  # None: it was run
    captured: Captured | None = None  # its output, once it runs
    problem: str | None = None  # what went wrong
    skipped: str | None = None  # why it cannot run or be measured here

    @property
    def name(self) -> str:
        """Its name in messages."""
        return f"{self.boot.name}, i-cache {ICACHE[self.icache]}{lang_suffix(self.apps.lang)}"

    @property
    def key(self) -> BootKey:
        """The key of the boot in its layout."""
        return self.boot.name, self.icache, self.apps.lang

    @property
    def ending(self) -> Ending | None:
        """Its ending, or None."""
        return self.captured.ending if self.captured else None

    @property
    def finished(self) -> bool:
        """Whether it ended by itself, successfully or not."""
        return self.ending is not None and not self.ending.killed


@dataclass(frozen=True)
class FinishedRun:
    """A run that is over, with the output of all boots."""

    jobs: list[list[Job]]  # by layout
    layouts: tuple[RunLayout, ...]
    interrupted: bool  # by Ctrl-C, or by `lost`
    lost: LostError | None = None  # no worker could finish a boot

    @property
    def started(self) -> int:
        """The number of boots that printed anything."""
        return sum(job.captured is not None for jobs in self.jobs for job in jobs)

    @property
    def boots_by_source(self) -> dict[BootSource, int]:
        """The number of boots from each source."""
        sources = [job.source for jobs in self.jobs for job in jobs if job.captured]
        return {source: sources.count(source) for source in get_args(BootSource)}


def run(options: RunOptions) -> FinishedRun:
    """Run a suite. If Ctrl-C or a lost boot interrupts it, keep all boots of the first layout, and
    further layouts that are complete."""
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
            for boot in (suite.further_boots if layout else suite.boots)
            for icache in options.icaches
            if options.selected is None
            or ((boot.name, icache, suite.apps.lang), layout) in options.selected
        ]
        for layout in range(len(options.layouts))
    ]
    _print_duration([job for layout_jobs in jobs for job in layout_jobs if not job.done], options)
    with temporary_folder(paths.RUNS) as folder:  # several runs may run at the same time
        runner = _Runner(options, folder)
        interrupted = runner.run([job for layout_jobs in jobs for job in layout_jobs])
    kept_layouts = [
        layout
        for layout, layout_jobs in enumerate(jobs)
        if layout == 0 or not interrupted or all(job.finished for job in layout_jobs)
    ]
    layouts = tuple(options.layouts[n] for n in kept_layouts)
    return FinishedRun([jobs[n] for n in kept_layouts], layouts, interrupted, runner.lost)


def run_with_fallback(
    options: RunOptions, fallbacks: Sequence[RunOptions]
) -> tuple[RunOptions, FinishedRun]:
    """Run a suite. If the kernel lacks the counter of its apps, run the first of `fallbacks`
    instead, provided that its apps are built. Return the options that were used."""
    try:
        return options, run(options)
    except WithoutCounterError as error:
        if not fallbacks or not all(suite.apps.folder.is_dir() for suite in fallbacks[0].suites):
            raise
        try:
            ran = run(fallbacks[0])
        except WithoutCounterError:
            raise error from None
        kernel = options.kernel.name or paths.shown(options.kernel.path)
        print_message(
            f"{kernel} has no Perf capsule: the apps read CycleCount, which counts only cycles."
            " To count instructions, patch the kernel with `tockmark patch`."
        )
        return fallbacks[0], ran


def check_selection(options: RunOptions, only: str | None) -> None:
    """Raise a TockmarkError if --only leaves no boot to run, or the kernel cannot run as many apps
    as a boot has."""
    if not any(suite.boots for suite in options.suites):
        langs = ", ".join(options.langs)
        problem = f"--only '{only}' selects no row in --lang {langs}"
        raise TockmarkError(problem, "select others, or add a language")
    if len(options.layouts) > 1 and not any(suite.further_boots for suite in options.suites):
        raise TockmarkError(
            f"--only '{only}' selects no row that touches the kernel",
            "run it in one layout, since further layouts run only such rows",
        )
    if options.catalogue.name is not None:
        slots = max(len(boot.slots) for suite in options.suites for boot in suite.boots)
        for layout in options.layouts:
            check_app_capacity(layout.kernel, slots)


def _print_duration(jobs: Sequence[Job], options: RunOptions) -> None:
    """Print how long a slow simulator will take."""
    speed = getattr(options.board.target, "cycles_per_second", None)
    if speed is None or not jobs:
        return
    cycles = 1e6 * sum(job.weight for job in jobs)
    parallel = min(options.jobs, len(jobs))
    print_message(
        f"{options.board.name} simulates about {speed:,} cycles a second: {len(jobs)} boots of at"
        f" most {cycles / 1e6:.0f} M cycles take up to"
        f" {cycles / speed / parallel / 60:.0f} minutes, {parallel} at a time"
    )


def default_samples(boot: Boot, catalogue: Catalogue) -> int:
    """Return the default number of samples per row of a boot on a simulator."""
    layers = {catalogue.benchmarks[id_].touches for id_ in boot.measures}
    return SIMULATED_SAMPLES if "kernel" in layers else APP_SAMPLES


def mark_options(apps: Sequence[Mapping[str, int]]) -> list[str]:
    """Return the simulator's options for the marks of a boot's apps, given their symbols; none if
    the apps have no marks."""
    marks = [
        f"{symbol.removeprefix(MARK_SYMBOL)}={address:#x}"
        for symbols in apps
        for symbol, address in symbols.items()
        if symbol.startswith(MARK_SYMBOL)
    ]
    entries = [f"start={symbols[ENTRY_SYMBOL]:#x}" for symbols in apps if ENTRY_SYMBOL in symbols]
    names = [*marks, *entries, *OWN_MARKS] if marks else []
    return [word for name in names for word in ("--mark", name)]


def _job(boot: Boot, icache: bool, apps: AppBuild, options: RunOptions, layout: int) -> Job:
    catalogue = options.catalogue
    reason = unmeasurable_reason(boot, catalogue, options.board.target)
    prefix = f"layout {layout}: " * (len(options.layouts) > 1)
    return Job(
        title=f"{prefix}{boot.name}, {ICACHE[icache]}{lang_suffix(apps.lang)}",
        rows_expected=catalogue.rows_of(boot),
        weight=BOOTING + catalogue.cost(boot),
        done=reason is not None,
        boot=boot,
        icache=icache,
        apps=apps,
        layout=layout,
        skipped=reason,
    )


class _Runner:
    """A run in progress. Its threads share the images, the cache and the stop event."""

    def __init__(self, options: RunOptions, folder: Path) -> None:
        self.options = options
        self.folder = folder
        self.cache = cache.default_cache(options.fresh)
        self.stop = threading.Event()
        self.images: dict[tuple[AppBuild, str, int], Image] = {}
        self.locks: dict[tuple[AppBuild, str, int], threading.Lock] = {}
        self.lost: LostError | None = None
        # With workers, many more boots are in progress than this machine can link at a time.
        self.cores = threading.BoundedSemaphore(os.cpu_count() or 1)

    def run(self, jobs: list[Job]) -> bool:
        """Run all jobs that are not done; return whether the run was interrupted."""
        waiting = [job for job in jobs if not job.done]
        display = Display(waiting)
        pool = ThreadPoolExecutor(self.options.jobs)
        # Run layout by layout, so that an interruption leaves complete ones. Within a layout, boots
        # of an earlier log come first, so that an interruption does not lose them. Then come the
        # boots with the first cache setting, then with the second, because both settings of a boot
        # need the same image. Long boots start first, so that no core idles at the end.
        order = sorted(
            waiting,
            key=lambda job: (
                job.layout,
                job.key not in self.options.earlier,
                job.icache is not jobs[0].icache,
                -job.weight,
            ),
        )
        left = {pool.submit(self._run_job, job): job for job in order}
        try:
            while left and not self.stop.is_set():
                for future in wait(left, timeout=0.2).done:
                    future.result()  # raises if a thread failed
                    captured = left[future].captured
                    if captured and (absent := _NO_COUNTER.search("\n".join(captured.lines))):
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

    def _run_job(self, job: Job) -> None:
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
                job.skipped, job.problem = job.boot.panics, None
        except DoesNotFitError as error:
            job.skipped = error.problem
        except LostError as error:
            job.problem, self.lost = str(error), error
            self.stop.set()
        except TockmarkError as error:
            job.problem = None if self.stop.is_set() else str(error)
        finally:
            ended = job.finished or job.skipped
            job.state = "failed" if job.problem else "done" if ended else "stopped"
            job.over = time.monotonic()
            job.done = True

    def _image(self, job: Job) -> Image:
        """Return the flash image of a boot. The first job that needs it builds it.

        With the i-cache off, a row may end once its samples repeat. With it on, equal samples may
        be a plateau, since the content of the cache still changes."""
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
        boot = job.boot
        return Start(
            job.name,
            image.flash,
            job.icache,
            tuple(marks),
            image.id,
            boot.name,
            partial(load_or_ask, board, boot.name, image.flash),
            boot.group,
            self.options.layouts[job.layout].kernel.panics,
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
        elif ending.killed:  # its last report of cycles is older than its last line
            ending = replace(ending, cycles=0)
        job.captured = replace(job.captured, ending=ending)
        job.problem, job.cycles = ending.why, ending.cycles

    def _captured(
        self, job: Job, start: Start, lines: Sequence[str], ending: Ending | None
    ) -> Captured:
        """Return the output of a boot, with its place in this run."""
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
