# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verb `run`: every boot of the suite as its own image on its own target, in parallel.

The apps' UART text becomes the log, and the result is made from that log alone, just as
`tockmark parse` would make it, plus the provenance that only the run knows.
"""

import hashlib
import subprocess
import tempfile
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from tockmark import catalogue as catalogues
from tockmark import marks, paths
from tockmark import result as results
from tockmark.board import Board
from tockmark.catalogue import OVERHEAD, Boot
from tockmark.errors import TockmarkError
from tockmark.image import Apps, Image, Kernel, build_image
from tockmark.progress import Status, display
from tockmark.protocol import BootMark, decode, decode_line
from tockmark.rows import assemble
from tockmark.target import Simulation, simulate

SIMULATED_SAMPLES = 64  # of a row, on a simulator: where they never repeat, enough for a median
BASELINE = "tockmark-baseline"  # how our kernel's name begins


@dataclass(frozen=True)
class Options:
    """What the user asked for."""

    kernel: Kernel
    board: Board
    apps: Apps
    boots: list[Boot]
    wanted: set[str] | None  # of the benchmarks; None: all
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
    log: list[str] = field(default_factory=list)
    note: str | None = None
    skipped: str | None = None  # why this kernel cannot run this boot

    @property
    def name(self) -> str:
        return f"{self.boot.name}, i-cache {'on' if self.icache else 'off'}"


def choose(catalogue: catalogues.Catalogue, only: str | None) -> tuple[list[Boot], set[str] | None]:
    """The boots to run, and the ids to keep (None: all), for what was given to --only."""
    boots = catalogue.boots()
    if only is None:
        return boots, None
    wanted: set[str] = set()
    for name in filter(None, (part.strip() for part in only.split(","))):
        ids = {id_ for id_, b in catalogue.benchmarks.items() if name in (id_, b.group)}
        if not ids:
            raise TockmarkError(
                f"there is no group or benchmark '{name}'",
                f"groups are {', '.join(catalogue.groups())}; `tockmark list` shows all benchmarks",
            )
        wanted |= ids
    if not wanted:
        raise TockmarkError("--only names nothing", "give groups or ids, separated by commas")
    return [boot for boot in boots if wanted.intersection(boot.measures)], wanted


def run(options: Options, catalogue: catalogues.Catalogue) -> tuple[results.Json, str]:
    """Run the suite; the result, and the log it was made from. Ctrl-C keeps what is there."""
    name, abi = options.kernel.name or "", options.apps.abi
    if name.startswith(BASELINE) and f"abi{abi}" not in name:
        raise TockmarkError(f"the kernel is {name}", f"it runs no apps of --abi {abi}")
    if not options.board.target.binary.exists():
        binary = paths.shown(options.board.target.binary)
        raise TockmarkError(f"the simulator {binary} is not built", "run `make build`")
    jobs = [_job(boot, icache, catalogue) for boot in options.boots for icache in options.icaches]
    paths.RUNS.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=paths.RUNS) as folder:  # runs may go on side by side
        notes = _run_all(jobs, options, catalogue, Path(folder))
    log = "".join(f"{line}\n" for job in jobs for line in job.log)
    measured = assemble(decode(log.splitlines()))
    provenance = _provenance(options, jobs)
    notes += [f"{job.name}: {job.note}" for job in jobs if job.note]
    booted = [(job.boot, job.icache) for job in jobs if job.skipped is None]
    result = results.build(measured, catalogue, provenance, booted, options.wanted, notes)
    for job in jobs:
        if job.skipped is not None:
            ids = [
                id_ for id_ in job.boot.measures if options.wanted is None or id_ in options.wanted
            ]
            where = {"app": job.boot.group, "boot": job.boot.name, "icache": job.icache}
            result["skipped"] += [
                {**where, "id": id_, "params": params, "why": job.skipped}
                for id_, params in catalogue.rows(ids)
            ]
    return result, log


def default_path(options: Options, result: results.Json) -> Path:
    """Where a result goes: a partial or incomplete one never replaces a whole one."""
    said = options.kernel.name or options.kernel.path.stem
    name = BASELINE if said.startswith(BASELINE) else said.lower().replace(" ", "-")
    parts = [datetime.now().date().isoformat(), name, f"abi{options.apps.abi}", options.board.name]
    if len(options.icaches) == 1:
        parts += ["icache-on" if options.icaches[0] else "icache-off"]
    if options.wanted is not None:
        parts += ["only", *dict.fromkeys(id_.partition(".")[0] for id_ in sorted(options.wanted))]
    parts += ["incomplete"] if results.incomplete(result) else []
    return paths.RESULTS / f"{'-'.join(parts)}.json"


def _run_all(
    jobs: list[Job], options: Options, catalogue: catalogues.Catalogue, folder: Path
) -> list[str]:
    stop = threading.Event()
    notes: list[str] = []
    images = Images(options, folder)
    shown = display([job.status for job in jobs])
    pool = ThreadPoolExecutor(options.jobs)
    # Long ones first, so that no core is idle at the end; and a boot's second run not right behind
    # its first, since both need the same image.
    order = sorted(
        jobs, key=lambda job: (job.icache is not jobs[0].icache, -catalogue.cost(job.boot))
    )
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


def _job(boot: Boot, icache: bool, catalogue: catalogues.Catalogue) -> Job:
    rows = len(catalogue.rows(boot.measures)) + (OVERHEAD not in boot.measures)
    return Job(boot, icache, Status(f"{boot.name}, {'on' if icache else 'off'}", rows))


class Images:
    """The flash image of each boot, built by whoever needs it first."""

    def __init__(self, options: Options, folder: Path) -> None:
        self.options = options
        self.out = folder
        self.locks = {boot.name: threading.Lock() for boot in options.boots}
        self.built: dict[str, Image] = {}

    def of(self, boot: Boot) -> Image:
        asked = self.options
        with self.locks[boot.name]:
            if boot.name not in self.built:
                symbols = {"tm_most_samples": asked.samples or 0}
                steady_stop = not asked.all_samples
                self.built[boot.name] = build_image(
                    boot, asked.apps, asked.kernel, asked.board, self.out, steady_stop, symbols
                )
            return self.built[boot.name]


def _run_one(job: Job, options: Options, images: Images, stop: threading.Event) -> None:
    status = job.status
    status.started = time.monotonic()
    try:
        status.state = "building"
        job.image = images.of(job.boot)
        if stop.is_set():
            return
        status.state = "running"
        watched = marks.options(slot.symbols for slot in job.image.slots)
        job.simulation = simulate(
            options.board, job.image.flash, job.icache, options.max_cycles, *watched
        )
        job.log.append(BootMark(job.boot.name, job.icache, job.boot.group).encode())
        for text in job.simulation.lines():
            job.log.append(text)
            line = decode_line(text)
            if line is not None and line.text.startswith(("data instret ", "fail ", "skip ")):
                status.rows += 1
            status.cycles = job.simulation.cycles
            if stop.is_set():
                job.simulation.stop()
        job.log.append(BootMark(job.boot.name, job.icache, job.boot.group, ends=True).encode())
        ending = job.simulation.ending()
        job.note = None if stop.is_set() else ending
        if job.simulation.panicked and job.boot.panics:
            job.skipped, job.note, job.log = job.boot.panics, None, []
        status.cycles = job.simulation.cycles
    except TockmarkError as error:
        job.note = str(error)
    finally:
        status.state = "failed" if job.note else "stopped" if stop.is_set() else "done"
        status.line()  # takes the time
        status.done = True


def _provenance(options: Options, jobs: list[Job]) -> results.Json:
    board, kernel = options.board, options.kernel
    own = kernel.path.resolve().is_relative_to(paths.ROOT)
    return {
        "kernel": {
            "name": kernel.name,
            "file": kernel.path.name,
            "sha256": kernel.sha256,
            "commit": _commit() if own else None,
            "flash_bytes": sum(len(data) for _, data in kernel.segments),
            "ram_bytes": kernel.slots.ram_start - board.ram.base if kernel.slots else None,
        },
        "board": {
            "name": board.name,
            "machine": board.machine,
            "clock_hz": board.clock_hz,
            "timing": board.timing,
            "simulator_sha256": hashlib.sha256(board.target.binary.read_bytes()).hexdigest(),
            "uart_cycles_per_byte": board.target.uart_cycles_per_byte,
        },
        "abi": options.apps.abi,
        "boots": [
            {
                "boot": job.boot.name,
                "icache": job.icache,
                "cycles": job.status.cycles,
                "slots": [slot.layout() for slot in job.image.slots],
            }
            for job in jobs
            if job.image is not None
        ],
    }


def _commit() -> str | None:
    """The commit of this checkout, marked if files differ from it; None where git cannot tell."""
    command = ["git", "-C", str(paths.ROOT), "describe", "--always", "--dirty", "--abbrev=40"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None
