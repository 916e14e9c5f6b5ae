# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Runs every boot of the suite as its own image on its own target, in parallel.

What comes out is the UART's text, boot by boot. What it means is for the layers behind.
"""

import re
import tempfile
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path

from tockmark import BASELINE, paths
from tockmark.errors import TockmarkError
from tockmark.suite.catalogue import ICACHE, Boot, Catalogue
from tockmark.target import marks
from tockmark.target.board import Board
from tockmark.target.image import Apps, Image, Kernel, build_image, stopping_early
from tockmark.target.progress import Status, display
from tockmark.target.simulator import Simulation, simulate

SIMULATED_SAMPLES = 32  # of a row, on a simulator: where they never repeat, enough for a median
BOOTING = 1.0  # million cycles or so that a boot costs besides its samples, its image among them
_ROW = re.compile(
    r"#tm \d+ \w+ (?:(?:data instret|fail|skip) |.*\bclock=sim\b)"
)  # what ends a row, for progress


@dataclass(frozen=True)
class Options:
    """What the user asked for."""

    kernel: Kernel
    board: Board
    apps: Apps
    catalogue: Catalogue
    boots: list[Boot]
    icaches: list[bool]
    all_samples: bool
    samples: int | None  # of a row, at most; None: as the catalogue says
    jobs: int
    max_cycles: int


@dataclass
class Job:
    """One boot with one cache setting on its way from objects to log lines."""

    boot: Boot
    icache: bool
    status: Status
    image: Image | None = None
    simulation: Simulation | None = None
    lines: list[str] = field(default_factory=list)  # of the UART
    note: str | None = None
    ended: bool = False  # all that it said is in `lines`
    skipped: str | None = None  # why this kernel cannot run this boot

    @property
    def name(self) -> str:
        return f"{self.boot.name}, i-cache {ICACHE[self.icache]}"

    @property
    def started(self) -> bool:
        return self.simulation is not None


@dataclass(frozen=True)
class Ran:
    """What came of a run: every boot with what it said, and what went wrong besides."""

    jobs: list[Job]
    notes: list[str]
    interrupted: bool


def run(options: Options) -> Ran:
    """Run the suite. Ctrl-C keeps what is there."""
    name, abi = options.kernel.name or "", options.apps.abi
    if name.startswith(BASELINE) and f"abi{abi}" not in name:
        raise TockmarkError(f"the kernel is {name}", f"it runs no apps of --abi {abi}")
    if not options.board.target.binary.exists():
        binary = paths.shown(options.board.target.binary)
        raise TockmarkError(f"the simulator {binary} is not built", "run `make build`")
    jobs = [_job(boot, icache, options) for boot in options.boots for icache in options.icaches]
    paths.RUNS.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=paths.RUNS) as folder:  # runs may go on side by side
        notes = _run_all(jobs, options, Path(folder))
    return Ran(jobs, notes, bool(notes))


def _run_all(jobs: list[Job], options: Options, folder: Path) -> list[str]:
    stop = threading.Event()
    notes: list[str] = []
    images = Images(options, folder)
    shown = display([job.status for job in jobs])
    pool = ThreadPoolExecutor(options.jobs)
    known = options.catalogue
    # Long ones first, so that no core is idle at the end; and a boot's second run not right behind
    # its first, since both need the same image.
    order = sorted(jobs, key=lambda job: (job.icache is not jobs[0].icache, -known.cost(job.boot)))
    left: set[Future[None]] = {pool.submit(_run_one, job, options, images, stop) for job in order}
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
            if job.simulation is not None:
                job.simulation.stop()
        pool.shutdown(cancel_futures=True)
        shown.close()
    return notes


def _job(boot: Boot, icache: bool, options: Options) -> Job:
    rows = options.catalogue.rows_of(boot)
    name = f"{boot.name}, {ICACHE[icache]}"
    weight = BOOTING + options.catalogue.cost(boot)
    return Job(boot, icache, Status(name, rows, weight=weight))


class Images:
    """The flash image of each boot, built by whoever needs it first."""

    def __init__(self, options: Options, folder: Path) -> None:
        self.options = options
        self.out = folder
        self.locks = {boot.name: threading.Lock() for boot in options.boots}
        self.built: dict[str, Image] = {}

    def of(self, boot: Boot, icache: bool) -> Image:
        """Where the cache is off a row may end as soon as it repeats. With it on samples that are
        equal may be a plateau: what the cache holds goes on changing."""
        asked = self.options
        with self.locks[boot.name]:
            if boot.name not in self.built:
                symbols = {"tm_most_samples": asked.samples or 0}
                self.built[boot.name] = build_image(
                    boot, asked.apps, asked.kernel, asked.board, self.out, symbols
                )
        image = self.built[boot.name]
        if icache or asked.all_samples:
            return image
        return stopping_early(image, asked.board, self.out / f"{boot.name}.early.flash")


def _run_one(job: Job, options: Options, images: Images, stop: threading.Event) -> None:
    status = job.status
    status.started = time.monotonic()
    try:
        status.state = "building"
        job.image = images.of(job.boot, job.icache)
        if stop.is_set():
            return
        status.state = "running"
        watched = marks.options(slot.symbols for slot in job.image.slots)
        job.simulation = simulate(
            options.board, job.image.flash, job.icache, options.max_cycles, *watched
        )
        for text in job.simulation.lines():
            job.lines.append(text)
            status.rows += bool(_ROW.search(text))
            status.cycles = job.simulation.cycles
            if stop.is_set():
                job.simulation.stop()
        job.ended = True
        ending = job.simulation.ending()
        job.note = None if stop.is_set() else ending
        if job.simulation.panicked and job.boot.panics:
            job.skipped, job.note = job.boot.panics, None
        status.cycles = job.simulation.cycles
    except TockmarkError as error:
        job.note = str(error)
    finally:
        status.state = "failed" if job.note else "stopped" if stop.is_set() else "done"
        status.line()  # takes the time
        status.done = True
