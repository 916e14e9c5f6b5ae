# SPDX-License-Identifier: Apache-2.0 OR MIT
"""This runs the app of one benchmark on the simulator with the core's retirement port, which tells
every instruction, and on the plain one beside it. Both must print the same log, byte for byte; so
what is profiled is what is measured. The profile is of one steady sample.
"""

import bisect
import gzip
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

import msgspec

from tockmark.base import paths
from tockmark.base.errors import INCOMPLETE, TockmarkError, file_name
from tockmark.profile import callgrind, file, report
from tockmark.profile.follow import KERNEL, Graph, follow
from tockmark.profile.sample import (
    HEADING,
    Sample,
    Sampler,
    Step,
    attribute_cycles,
    mcycle_read,
    parse,
    sample_between,
    sample_readings,
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

VARIANT = "retire"
SAMPLES = 32  # of a row, at most: where they do not repeat soon, the median one is among these
LINES = "profiling"  # the cargo profile that has line tables beside the same code
MISCOUNT = 2  # with the cache on, Ibex's minstret may be off by as much between two readings
NO_LINES = ", by symbol only: it has no line tables; `make profile` makes the baseline's"


@dataclass(frozen=True)
class ProfileOptions:
    """What the user asked for."""

    kernel: KernelElf
    board: BoardProfile
    apps: AppBuild
    icache: bool
    id: str
    params: Params
    out: Path
    fresh: bool = False  # simulate also what is in the cache
    by_symbol: bool = False  # take no line tables that are not in the kernel itself
    callgrind: Path | None = None  # a file to be written besides

    @property
    def label(self) -> str:
        """The row, with any language but C."""
        return label(self.id, self.params) + lang_suffix(self.apps.lang)

    @property
    def measured(self) -> Kernel:
        """The kernel as files tell it."""
        elf = self.kernel
        return Kernel(elf.name, elf.path.name, elf.sha256, opt_level=elf.opt_level)


class Codes:
    """The kernel, and the apps of an image by their number."""

    def __init__(self, kernel: Program, image: Image) -> None:
        # The kernel is the last one, so KERNEL is its number, too.
        self._programs = [*(Program(Path(slot.elf)) for slot in image.slots), kernel]
        self._starts = [slot.flash_start for slot in image.slots]

    def look_up(self, addresses: Iterable[tuple[bool, int]]) -> None:
        """Look all code up that runs: in user mode or not, and where."""
        ran: dict[int, set[int]] = {}
        for user, address in addresses:
            ran.setdefault(self.owner(user, address), set()).add(address)
        for owner, there in ran.items():
            self._programs[owner].look_up(there)

    def code_of(self, step: Step) -> tuple[int, Program]:
        """Return whose stack an instruction is of, and its code."""
        owner = self.owner(step.user, step.pc)
        return owner, self._programs[owner]

    def apps_of(self, steps: Iterable[Step]) -> list[Path]:
        """Return the files of the apps that some instructions are of."""
        owners = {self.owner(True, step.pc) for step in steps if step.user}
        return [self._programs[owner].path for owner in sorted(owners)]

    def owner(self, user: bool, address: int) -> int:
        """Return whose code is at an address: an app's number, or KERNEL."""
        return max(bisect.bisect_right(self._starts, address) - 1, 0) if user else KERNEL


@dataclass(frozen=True)
class Traced:
    """What a run gave of one row."""

    image: Image
    row: StoredRow
    number: int  # of the steady sample among the row's, from 0
    sample: Sample
    reading: float | None  # cycles of time.read in the same boot, the median; None: not measured


def profile(options: ProfileOptions, catalogue: Catalogue) -> tuple[file.StoredProfile, str]:
    """Profile one benchmark, write the files, and return what is kept and the text for its reader.
    TockmarkError if the kernel does not measure it, or the simulator with the retirement port is
    not built."""
    run = trace_row(options, catalogue)
    found = run.sample
    kernel = load_kernel_program(options.kernel, options.by_symbol)
    codes = Codes(kernel, run.image)
    codes.look_up((step.user, step.pc) for step in found.steps)

    def where(step: Step) -> tuple[Frame, ...]:
        return codes.code_of(step)[1].frames(step.pc)

    spent = attribute_cycles(found, where, lambda step: codes.code_of(step)[0])
    row = options.id, options.params, options.icache
    kept = file.stored_profile(spent, *row, options.measured, options.board.name, options.apps.lang)
    counted = series_samples(run.row, "instret")[run.number]
    at_once = options.apps.abi != 1  # there by another command, in samples of their own
    if at_once and abs(kept.instructions - counted) > (MISCOUNT if options.icache else 0):
        raise TockmarkError(
            f"the trace has {kept.instructions} instructions where the app counted {counted}",
            "report this",
        )
    board = f"{options.board.name} ({options.board.machine}), i-cache {ICACHE[options.icache]}"
    instructions = f" and {counted} instructions" if at_once else ""
    text = "\n".join(
        [
            f"{options.label}: sample {run.number + 1} of {len(series_samples(run.row, 'cycles'))},"
            f" {found.cycles} cycles",
            f"kernel  {file.hashed_title(kept.kernel)}{'' if kernel.lines else NO_LINES}",
            f"board   {board}",
            f"check   the app measured {found.cycles} cycles{instructions}:"
            " what is charged below adds up to them;",
            "        and the run without the retirement port printed the same log, byte for byte",
            "",
            report.tables(kept),
        ]
    )
    sampled = report.total_in_words(kept, run.reading, OVERHEADS[run.row.by])
    elves = [options.kernel.path, *codes.apps_of(found.steps)]
    if options.callgrind is not None:
        graph = Graph()
        follow(found.steps[found.first + 1 : found.last + 1], codes.code_of, graph)
        callgrind.write(options.callgrind, graph, f"{options.label}, {board}: one steady sample")
    files = {
        "profile.txt": f"{text}\n",
        "profile.json": file.text(kept),
        "stacks.folded": report.folded(kept),
        "flame.svg": report.flame_graph(kept, f"{kept.kernel.title}, {board}", sampled),
        "sample.txt": "".join(report.listing(spent, elves)),
    }
    for name, content in files.items():
        (options.out / name).write_text(content, encoding="utf-8")
    return kept, f"{text}\n\nwritten to {paths.shown(options.out)}: {', '.join(files)}"


def default_out(
    id_: str, params: Params, kernel: KernelElf, board: BoardProfile, icache: bool, lang: Lang
) -> Path:
    """Return where a profile goes."""
    name = file_name((kernel.name or kernel.path.stem).partition(" ")[0])
    parts = [label(id_, params).replace(" ", "-").replace("=", ""), name, board.name]
    parts += [] if lang == "c" else [lang]
    return paths.PROFILES / "-".join([*parts, *([] if icache else ["icache-off"])])


def simulators(board: BoardProfile) -> tuple[sim.SimTarget, sim.SimTarget]:
    """Return the plain simulator, and the one with the retirement port beside it."""
    require_ability(board.target, Ability.RETIREMENT, "profile", board.name)
    assert isinstance(board.target, sim.SimTarget)  # no other kind can
    plain = board.target.binary
    binary = plain.parent.with_name(f"{plain.parent.name}-{VARIANT}") / plain.name
    if not binary.exists():
        raise TockmarkError(
            f"the simulator {paths.shown(binary)} is not built",
            paths.make_command(f"profile MACHINE={board.machine}"),
        )
    return board.target, msgspec.structs.replace(board.target, binary=binary)


def load_kernel_program(kernel: KernelElf, by_symbol: bool = False) -> Program:
    """Return the kernel's symbols: from the build with line tables, if it is of the same code and
    not only symbols are asked for."""
    program = Program(kernel.path)
    return program if by_symbol else program_with_lines(kernel, program) or program


def program_with_lines(kernel: KernelElf, program: Program) -> Program | None:
    """Return the build with line tables beside a kernel, if there is one of the same code."""
    beside = kernel.path.absolute().parents[1] / LINES / kernel.path.name
    if not beside.exists():
        return None
    better = Program(beside)
    return better if better.same_code(program) else None


def trace_row(options: ProfileOptions, catalogue: Catalogue, trace: Path | None = None) -> Traced:
    """Run a benchmark's app, and find a steady sample of its row; all of the trace goes into
    `trace`, compressed, if it is given. TockmarkError if the kernel does not measure the row, or
    the simulator with the retirement port is not built."""
    targets = simulators(options.board)
    by = catalogue.benchmarks[options.id].by
    if by == "mark":
        raise TockmarkError(
            f"{options.label} is timed by the simulator, so that no profile can hold it",
            f"profile another row of {catalogue.benchmarks[options.id].group}: `tockmark list` has"
            " them",
        )
    boot = boot_of(catalogue, options.id, options.params)
    symbols = {"tm_most_samples": SAMPLES, "tm_only": boot.only | NO_CONTROLS}
    image = build_image(boot, options.apps, options.kernel, options.board, options.out, symbols)
    if not options.icache:
        image = with_early_stop(image, options.board, image.flash)
    with tempfile.TemporaryDirectory() as folder:
        kept = trace or Path(folder) / "trace.gz"
        finder = _BySampler(image) if by == "sampler" else _ByReadings(kept)
        to = kept if trace or by == "reading" else None
        log = run_both(options, targets, image.flash, finder.watch, to)
        rows = rows_of(log, catalogue.benchmarks[options.id].group, options)
        number = _steady(series_samples(rows[-1], "cycles"))
        sample = finder.sample(rows, number)
    return Traced(image, rows[-1], number, sample, _reading(rows, OVERHEADS[by]))


def boot_of(catalogue: Catalogue, id_: str, params: Params) -> Boot:
    """Return the boot that gives a row, without its other benchmarks; of one that the harness
    measures in all, the first."""
    measuring = [one for one in catalogue.boots() if id_ in one.measures]
    giving = [one for one in measuring if (id_, params) in catalogue.rows_given(one)]
    return catalogue.narrowed((giving or measuring)[0], [id_])


class _BySampler:
    """Finds the samples that tm_sample takes: only an app of benchmarks, which reports, has it."""

    def __init__(self, image: Image) -> None:
        app = next(Program(Path(slot.elf)) for slot in image.slots if "tm_sample" in slot.symbols)
        self._sampler = Sampler.in_app(app)
        self._runs: list[list[str]] = []

    def watch(self, lines: Iterator[str]) -> None:
        """Look at all of a trace."""
        self._runs = list(self._sampler.windows(lines))

    def sample(self, rows: Sequence[StoredRow], number: int) -> Sample:
        """Return a sample of the last row."""
        measured = [parse(run[-1]).value for run in self._runs]
        return self._sampler.sample(self._runs[runs_of(rows, measured)][number])


class _ByReadings:
    """Finds the samples of a row that begins and ends at different places; the trace is kept."""

    def __init__(self, trace: Path) -> None:
        self._trace = trace
        self._readings: list[int] = []

    def watch(self, lines: Iterator[str]) -> None:
        """Look at all of a trace."""
        self._readings = [value for value in map(mcycle_read, lines) if value is not None]

    def sample(self, rows: Sequence[StoredRow], number: int) -> Sample:
        """Return a sample of the last row."""
        taken = series_samples(rows[-1], "cycles")
        first, last = sample_readings(self._readings, taken)[number]
        return sample_between(read_trace(self._trace), first, last, taken[number])


def read_trace(trace: Path) -> Iterator[str]:
    """Yield the lines of a trace that was kept."""
    with gzip.open(trace, "rt", encoding="ascii") as lines:
        yield from lines


def run_both(
    options: ProfileOptions,
    targets: tuple[sim.SimTarget, sim.SimTarget],
    flash: Path,
    watch: Callable[[Iterator[str]], None],
    trace: Path | None,
) -> str:
    """Return the log, after `watch` has seen the trace. TockmarkError if the run did not end well,
    or the plain simulator printed another log."""
    start = Start(options.label, flash, options.icache, panics=options.kernel.panics)
    plain = cache.default_cache(options.fresh).begin(targets[0], start)
    with tempfile.TemporaryDirectory() as folder:
        uart = Path(folder) / "uart.log"
        tracing = targets[1].start_here(start, "--uart", str(uart), "--itrace", "-")
        try:
            watch(instructions(tracing.lines(), trace))
            log = "".join(f"{line}\n" for line in plain.lines())
            for simulation in (plain, tracing):
                if ending := simulation.ending().why:
                    raise TockmarkError(ending, "`tockmark run` shows more", INCOMPLETE)
        finally:
            plain.stop()
            tracing.stop()
        traced = uart.read_text(encoding="latin-1")
    if traced != log:
        raise TockmarkError("the run with the retirement port printed another log", "report this")
    return log


def instructions(lines: Iterator[str], trace: Path | None = None) -> Iterator[str]:
    """Yield the trace less its heading, which tells that its columns are where they should be; and
    write it down, too, if it is said where."""
    if next(lines, HEADING) != HEADING:
        raise TockmarkError("the simulator's trace has another form", paths.make_command("profile"))
    with gzip.open(trace, "wt", 1, "ascii") if trace else nullcontext() as kept:
        for line in lines:
            if kept:
                kept.write(f"{line}\n")
            yield line


def rows_of(log: str, group: str, options: ProfileOptions) -> Sequence[StoredRow]:
    """Return the rows of the app up to the one asked for, which is the last."""
    measured = assemble(decode(log.split("\n")))
    app = next((app for _, app in measured.each() if app.name == group), None)
    rows = app.rows if app is not None else ()
    for at, row in enumerate(rows):
        if (row.id, row.params) == (options.id, options.params) and row.cycles_runs:
            return rows[: at + 1]
    why = [gone.why for _, gone in app.absent_rows if gone.id == options.id] if app else []
    raise TockmarkError(
        f"{options.label} was not measured on this kernel{f': {why[0]}' if why else ''}",
        "`tockmark run` shows what was",
        INCOMPLETE,
    )


def _reading(rows: Sequence[StoredRow], overhead: str) -> float | None:
    """Return the median of the steady samples of what a reading costs; of itself there is nothing
    to take off."""
    found = [series_samples(row, "cycles") for row in rows[:-1] if row.id == overhead]
    stats = summarise(found[-1]) if found else None
    return stats.median if stats else None


def runs_of(rows: Sequence[StoredRow], measured: Sequence[int]) -> slice:
    """Return which runs of tm_sample gave the last row, all of them having measured these cycles:
    each row's samples follow one another, in the order of the rows; a benchmark that failed may
    have left others between them."""
    start = end = 0
    for row in rows:
        cycles = series_samples(row, "cycles")
        start = end
        while tuple(measured[start : start + len(cycles)]) != cycles:
            start += 1
            if start > len(measured):
                raise TockmarkError(f"the trace has no samples like those of {row.id}")
        end = start + len(cycles)
    return slice(start, end)


def _steady(cycles: Sequence[int]) -> int:
    """Return the last sample that took as long as the median of the steady ones, from 0."""
    stats = summarise(cycles)
    usual = [i for i, taken in enumerate(cycles) if i and stats and taken == stats.median]
    return usual[-1] if usual else len(cycles) - 1
