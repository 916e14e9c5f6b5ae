# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Run the app of one benchmark twice: as measured, and with a trace of every instruction.
Both runs must print the same log, byte for byte, so the profile is of what is measured. The profile
covers one steady sample.
"""

import bisect
import functools
import gzip
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from tockmark.base import paths
from tockmark.base.errors import INCOMPLETE, TockmarkError, file_name
from tockmark.base.files import write_whole
from tockmark.profile import callgrind, file, report
from tockmark.profile.follow import KERNEL, Graph, follow
from tockmark.profile.sample import (
    HEADING,
    Sample,
    Sampler,
    Step,
    attribute_cycles,
    mcycle_read,
    pair_reads,
    parse,
    sample_between,
)
from tockmark.profile.symbols import Frame, Program
from tockmark.result.provenance import Kernel
from tockmark.result.stats import summarise
from tockmark.suite.catalogue import (
    ICACHE,
    OVERHEADS,
    Boot,
    Catalogue,
    Lang,
    Params,
    label,
    lang_suffix,
)
from tockmark.target import cache, sim
from tockmark.target.board import BoardProfile
from tockmark.target.image import NO_CONTROLS, AppBuild, Image, build_image, with_early_stop
from tockmark.target.kernel import KernelElf
from tockmark.target.protocol import Ability, Start, require_ability
from tockmark.wire.boots import assemble
from tockmark.wire.records import decode
from tockmark.wire.rows import StoredRow, series_samples

SAMPLES = 32  # at most per row; the median is among them even if samples repeat late
LINES = "profiling"  # the cargo profile with the same code and line tables
MISCOUNT = 2  # with the cache on, Ibex's minstret may be off by 2 between two reads
NO_LINES = ", by symbol only: it has no line tables; for the baseline, run `make profile`"


@dataclass(frozen=True)
class ProfileOptions:
    """The options of the user."""

    kernel: KernelElf
    board: BoardProfile
    apps: AppBuild
    icache: bool
    id: str
    params: Params
    out: Path
    fresh: bool = False  # ignore cached simulations
    by_symbol: bool = False  # use no line tables from another build
    callgrind: Path | None = None  # also write this file

    @property
    def label(self) -> str:
        """The row, and the language unless it is C."""
        return label(self.id, self.params) + lang_suffix(self.apps.lang)

    @property
    def measured(self) -> Kernel:
        """The kernel as files describe it."""
        elf = self.kernel
        return Kernel(elf.name, elf.path.name, elf.sha256, opt_level=elf.opt_level)


class Codes:
    """The programs of an image: its apps by number, and the kernel."""

    def __init__(self, kernel: Program, image: Image) -> None:
        # The kernel is last, so its index is KERNEL (-1).
        self._programs = [*(Program(Path(slot.elf)) for slot in image.slots), kernel]
        self._starts = [slot.flash_start for slot in image.slots]

    def look_up(self, addresses: Iterable[tuple[bool, int]]) -> None:
        """Look up all code that runs, as pairs of (is user mode, address)."""
        ran: dict[int, set[int]] = {}
        for user, address in addresses:
            ran.setdefault(self.owner(user, address), set()).add(address)
        for owner, owned in ran.items():
            self._programs[owner].look_up(owned)

    def code_of(self, step: Step) -> tuple[int, Program]:
        """Return the owner of an instruction's stack, and its program."""
        owner = self.owner(step.user, step.pc)
        return owner, self._programs[owner]

    def owner_of(self, step: Step) -> int:
        """Return the owner of an instruction's stack."""
        return self.code_of(step)[0]

    def frames(self, step: Step) -> tuple[Frame, ...]:
        """Return the functions of an instruction, outermost first."""
        return self.code_of(step)[1].frames(step.pc)

    def apps_of(self, steps: Iterable[Step]) -> list[Path]:
        """Return the ELF files of the apps that these instructions belong to."""
        owners = {self.owner(True, step.pc) for step in steps if step.user}
        return [self._programs[owner].path for owner in sorted(owners)]

    def owner(self, user: bool, address: int) -> int:
        """Return the owner of an address: an app's number, or KERNEL."""
        return max(bisect.bisect_right(self._starts, address) - 1, 0) if user else KERNEL


@dataclass(frozen=True)
class Traced:
    """A run of a row, and its steady sample."""

    image: Image
    row: StoredRow
    number: int  # of the sample among the row's, from 0
    sample: Sample
    overhead: float | None  # median cycles of time.read in the same boot; None: not measured


def profile(options: ProfileOptions, catalogue: Catalogue) -> tuple[file.StoredProfile, str]:
    """Profile a benchmark and write the files; return the profile and the text for the user.

    Raise TockmarkError if the kernel does not measure the benchmark, or no simulator is built."""
    run = trace_row(options, catalogue)
    sample = run.sample
    kernel = load_kernel_program(options.kernel, options.by_symbol)
    codes = Codes(kernel, run.image)
    codes.look_up((step.user, step.pc) for step in sample.steps)
    spent = attribute_cycles(sample, codes.frames, codes.owner_of)
    row = options.id, options.params, options.icache
    stored = file.stored_profile(
        spent, *row, options.measured, options.board.name, options.apps.lang
    )
    counted = series_samples(run.row, "instret")[run.number]
    has_both_counts = options.apps.abi != 1  # ABI 1 counts instructions in other samples
    if has_both_counts and abs(stored.instructions - counted) > (MISCOUNT if options.icache else 0):
        raise TockmarkError(
            f"the trace has {stored.instructions} instructions, but the app counted {counted}",
            "report this",
        )
    machine = f"{options.board.name} (simulated {options.board.machine})"
    board = f"{machine}, i-cache {ICACHE[options.icache]}"
    instructions = f" and {counted} instructions" if has_both_counts else ""
    text = "\n".join(
        [
            f"{options.label}: sample {run.number + 1} of {len(series_samples(run.row, 'cycles'))},"
            f" {sample.cycles} cycles",
            f"kernel  {file.hashed_title(stored.kernel)}{'' if kernel.lines else NO_LINES}",
            f"board   {board}",
            f"check   the figures below add up to the app's {sample.cycles} cycles{instructions};",
            "        the run without a trace printed the same log, byte for byte",
            "",
            report.tables(stored),
        ]
    )
    sampled = report.total_in_words(stored, run.overhead, OVERHEADS[run.row.by])
    elves = [options.kernel.path, *codes.apps_of(sample.steps)]
    if options.callgrind is not None:
        graph = Graph()
        follow(sample.steps[sample.first + 1 : sample.last + 1], codes.code_of, graph)
        title = f"{options.label}, {board}: one steady sample"
        write_whole({options.callgrind: callgrind.text(graph, title)})
    files = {
        "profile.txt": f"{text}\n",
        "profile.json": file.text(stored),
        "stacks.folded": report.folded(stored),
        "flame.svg": report.flame_graph(stored, f"{stored.kernel.title}, {board}", sampled),
        "sample.txt": "".join(report.listing(spent, elves)),
    }
    for name, content in files.items():
        (options.out / name).write_text(content, encoding="utf-8")
    return stored, f"{text}\n\nwritten to {paths.shown(options.out)}: {', '.join(files)}"


def default_out(
    id_: str, params: Params, kernel: KernelElf, board: BoardProfile, icache: bool, lang: Lang
) -> Path:
    """Return the default folder of a profile."""
    name = file_name((kernel.name or kernel.path.stem).partition(" ")[0])
    parts = [label(id_, params).replace(" ", "-").replace("=", ""), name, board.name]
    parts += [] if lang == "c" else [lang]
    return paths.PROFILES / "-".join([*parts, *([] if icache else ["icache-off"])])


def simulators(board: BoardProfile) -> tuple[sim.SimTarget, sim.SimTarget]:
    """Return the plain simulator and the one that traces instructions. Raise TockmarkError if the
    board has none, or it is not built."""
    require_ability(board.target, Ability.RETIREMENT, "profile", board.name)
    assert isinstance(board.target, sim.SimTarget)  # the only one with this ability
    return board.target, board.target.tracing()


def load_kernel_program(kernel: KernelElf, by_symbol: bool = False) -> Program:
    """Return the kernel's symbols, from the build with line tables if that has the same code and
    `by_symbol` is not set."""
    program = _program(kernel.path, kernel.path.stat().st_mtime_ns)
    return program if by_symbol else program_with_lines(kernel) or program


def program_with_lines(kernel: KernelElf) -> Program | None:
    """Return the build with line tables next to a kernel; None if it does not exist or its code
    differs."""
    path = kernel.path.absolute().parents[1] / LINES / kernel.path.name
    if not path.exists():
        return None
    with_lines = _program(path, path.stat().st_mtime_ns)
    return with_lines if with_lines.same_code(load_kernel_program(kernel, True)) else None


@functools.lru_cache(4)  # of two kernels: debugging information takes seconds to read
def _program(path: Path, _changed: int) -> Program:
    return Program(path)


def trace_row(options: ProfileOptions, catalogue: Catalogue, trace: Path | None = None) -> Traced:
    """Run a benchmark's app and find a steady sample of the row; write the whole trace to `trace`,
    compressed, if it is given.

    Raise TockmarkError if the kernel does not measure the row, or a simulator is not built."""
    targets = simulators(options.board)
    by = catalogue.benchmarks[options.id].by
    if by == "mark":
        raise TockmarkError(
            f"{options.label} is timed by the simulator and cannot be profiled",
            f"profile another row of {catalogue.benchmarks[options.id].group} (`tockmark list`)",
        )
    boot = boot_of(catalogue, options.id, options.params)
    image = row_image(options, boot, SAMPLES)
    with tempfile.TemporaryDirectory() as folder:
        path = trace or Path(folder) / "trace.gz"
        finder = _BySampler(image) if by == "sampler" else _ByReads(path)
        saved = path if trace or by == "reading" else None
        log = run_both(options, targets, image.flash, finder.watch, saved)
        rows = rows_of(log, catalogue.benchmarks[options.id].group, options)
        number = _steady(series_samples(rows[-1], "cycles"))
        sample = finder.sample(rows, number)
    return Traced(image, rows[-1], number, sample, _overhead(rows, OVERHEADS[by]))


def boot_of(catalogue: Catalogue, id_: str, params: Params) -> Boot:
    """Return the boot that gives a row, restricted to its benchmark. If the harness measures the
    benchmark in all boots, return the first."""
    measuring = [boot for boot in catalogue.boots() if id_ in boot.measures]
    giving = [boot for boot in measuring if (id_, params) in catalogue.measured_rows(boot)]
    return catalogue.narrowed((giving or measuring)[0], [id_])


def row_image(options: ProfileOptions, boot: Boot, samples: int) -> Image:
    """Build the image of a boot that takes at most this many samples per row; 0: all."""
    words = {"tm_most_samples": samples, "tm_only": boot.only | NO_CONTROLS}
    image = build_image(boot, options.apps, options.kernel, options.board, options.out, words)
    return image if options.icache else with_early_stop(image, options.board, image.flash)


def find_sampler(image: Image) -> Sampler:
    """Find tm_sample. Only the benchmark app that reports contains it."""
    apps = (Path(slot.elf) for slot in image.slots if "tm_sample" in slot.symbols)
    return Sampler.in_app(Program(next(apps)))


class _BySampler:
    """Finds the samples taken by tm_sample."""

    def __init__(self, image: Image) -> None:
        self._sampler = find_sampler(image)
        self._runs: list[list[str]] = []

    def watch(self, lines: Iterator[str]) -> None:
        """Read a whole trace."""
        self._runs = list(self._sampler.windows(lines))

    def sample(self, rows: Sequence[StoredRow], number: int) -> Sample:
        """Return a sample of the last row."""
        measured = [parse(run[-1]).value for run in self._runs]
        return self._sampler.sample(self._runs[runs_of(rows, measured)][number])


class _ByReads:
    """Finds the samples of a row that begins and ends at different positions, in a saved trace."""

    def __init__(self, trace: Path) -> None:
        self._trace = trace
        self._reads: list[int] = []

    def watch(self, lines: Iterator[str]) -> None:
        """Read a whole trace."""
        self._reads = [value for value in map(mcycle_read, lines) if value is not None]

    def sample(self, rows: Sequence[StoredRow], number: int) -> Sample:
        """Return a sample of the last row."""
        cycles = series_samples(rows[-1], "cycles")
        first, last = pair_reads(self._reads, cycles)[number]
        return sample_between(read_trace(self._trace), first, last, cycles[number])


def read_trace(trace: Path) -> Iterator[str]:
    """Yield the lines of a saved trace."""
    with gzip.open(trace, "rt", encoding="ascii") as lines:
        yield from lines


@contextmanager
def traced_boot(
    target: sim.SimTarget, start: Start, *more: str
) -> Iterator[tuple[sim.Simulation, Path]]:
    """Yield a boot that prints a trace, and the file with what its UART prints; stop it at the
    end. `more` are further options of the simulator."""
    with tempfile.TemporaryDirectory() as folder:
        uart = Path(folder) / "uart.log"
        simulation = target.start_here(start, "--uart", str(uart), "--itrace", "-", *more)
        try:
            yield simulation, uart
        finally:
            simulation.stop()


def run_both(
    options: ProfileOptions,
    targets: tuple[sim.SimTarget, sim.SimTarget],
    flash: Path,
    watch: Callable[[Iterator[str]], None],
    trace: Path | None,
) -> str:
    """Return the log after `watch` has read the trace. Raise TockmarkError if a run fails, or if
    the plain simulator prints another log."""
    start = Start(options.label, flash, options.icache, panics=options.kernel.panics)
    plain = cache.default_cache(options.fresh).begin(targets[0], start)
    try:
        with traced_boot(targets[1], start) as (tracing, uart):
            watch(instructions(tracing.lines(), trace))
            log = "".join(f"{line}\n" for line in plain.lines())
            for session in (plain, tracing):
                if ending := session.ending().why:
                    raise TockmarkError(ending, "see `tockmark run`", INCOMPLETE)
            traced = uart.read_text(encoding="latin-1")
    finally:
        plain.stop()
    if traced != log:
        raise TockmarkError("the run with a trace printed another log", "report this")
    return log


def instructions(lines: Iterator[str], trace: Path | None = None) -> Iterator[str]:
    """Check and skip the heading, then yield the lines of the trace; also write them to `trace` if
    it is given."""
    if next(lines, HEADING) != HEADING:
        raise TockmarkError("the trace has another format", paths.make_command("profile"))
    with gzip.open(trace, "wt", 1, "ascii") if trace else nullcontext() as out:
        for line in lines:
            if out:
                out.write(f"{line}\n")
            yield line


def rows_of(log: str, group: str, options: ProfileOptions) -> Sequence[StoredRow]:
    """Return the rows of the app up to the requested one. Raise TockmarkError if it was not
    measured."""
    measured = assemble(decode(log.split("\n")))
    app = next((app for _, app in measured.each() if app.name == group), None)
    rows = app.rows if app is not None else ()
    for at, row in enumerate(rows):
        if (row.id, row.params) == (options.id, options.params) and row.cycles_runs:
            return rows[: at + 1]
    why = [gone.why for _, gone in app.absent_rows if gone.id == options.id] if app else []
    raise TockmarkError(
        f"{options.label} was not measured on this kernel{f': {why[0]}' if why else ''}",
        "see `tockmark run` for the rows of this kernel",
        INCOMPLETE,
    )


def _overhead(rows: Sequence[StoredRow], overhead: str) -> float | None:
    """Return the median of the overhead's steady samples; None if the row is the overhead
    itself."""
    overhead_samples = [series_samples(row, "cycles") for row in rows[:-1] if row.id == overhead]
    stats = summarise(overhead_samples[-1]) if overhead_samples else None
    return stats.median if stats else None


def runs_of(rows: Sequence[StoredRow], measured: Sequence[int]) -> slice:
    """Return the range of the tm_sample runs that gave the last row.

    `measured` has the cycles of all runs. The samples of each row are consecutive, in the order of
    the rows; a failed benchmark may have left others between them."""
    start = end = 0
    for row in rows:
        cycles = series_samples(row, "cycles")
        start = end
        while tuple(measured[start : start + len(cycles)]) != cycles:
            start += 1
            if start > len(measured):
                raise TockmarkError(f"no samples in the trace match {row.id}")
        end = start + len(cycles)
    return slice(start, end)


def _steady(cycles: Sequence[int]) -> int:
    """Return the index of the last sample that took the median time of the steady ones."""
    stats = summarise(cycles)
    medians = [i for i, value in enumerate(cycles) if i and stats and value == stats.median]
    return medians[-1] if medians else len(cycles) - 1
