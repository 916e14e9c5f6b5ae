# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Runs the app of one benchmark on the simulator with the core's retirement port, which tells every
instruction, and on the plain one beside it. Both must print the same log, byte for byte; so what
is profiled is what is measured.
"""

import gzip
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from tockmark import paths
from tockmark.errors import INCOMPLETE, TockmarkError
from tockmark.log.protocol import decode
from tockmark.log.rows import RawRow, assemble
from tockmark.plain import file_name
from tockmark.profile.symbols import Program
from tockmark.profile.trace import HEADING, Sample, Sampler, difference, sample, windows
from tockmark.result.stats import summarise
from tockmark.rig import cache
from tockmark.rig.board import BoardProfile
from tockmark.rig.image import NO_CONTROLS, AppBuild, Image, build_image, stopping_early
from tockmark.rig.kernel import KernelElf
from tockmark.rig.kinds import sim
from tockmark.rig.protocol import Ability, Start, require
from tockmark.suite.catalogue import OVERHEAD, Catalogue, Lang, Params, aside, label

VARIANT = "retire"
SAMPLES = 32  # of a row, at most: where they do not repeat soon, the median one is among these
LINES = "profiling"  # the cargo profile that has line tables beside the same code


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

    @property
    def label(self) -> str:
        """The row, with any language but C."""
        return label(self.id, self.params) + aside(self.apps.lang)


@dataclass(frozen=True)
class Traced:
    """What a run gave of one row."""

    image: Image
    app: Program  # which reports
    row: RawRow
    number: int  # of the steady sample among the row's, from 0
    sample: Sample
    reading: float | None  # cycles of time.read in the same boot, the median; None: not measured


def default_out(
    id_: str, params: Params, kernel: KernelElf, board: BoardProfile, icache: bool, lang: Lang
) -> Path:
    """Where a profile goes."""
    name = file_name((kernel.name or kernel.path.stem).partition(" ")[0])
    parts = [label(id_, params).replace(" ", "-").replace("=", ""), name, board.name]
    parts += [] if lang == "c" else [lang]
    return paths.PROFILES / "-".join([*parts, *([] if icache else ["icache-off"])])


def simulators(board: BoardProfile) -> tuple[sim.SimTarget, sim.SimTarget]:
    """The plain simulator, and the one with the retirement port beside it."""
    require(board.target, Ability.RETIREMENT, "profile", board.name)
    assert isinstance(board.target, sim.SimTarget)  # no other kind can
    plain = board.target.binary
    binary = plain.parent.with_name(f"{plain.parent.name}-{VARIANT}") / plain.name
    if not binary.exists():
        raise TockmarkError(
            f"the simulator {paths.shown(binary)} is not built",
            f"run `make profile MACHINE={board.machine}` (half a minute)",
        )
    return board.target, msgspec.structs.replace(board.target, binary=binary)


def traced(options: ProfileOptions, catalogue: Catalogue, trace: Path | None = None) -> Traced:
    """Run a benchmark's app, and find a steady sample of its row; all of the trace goes into
    `trace`, compressed, if it is given. TockmarkError if the kernel does not measure the row, or
    the simulator with the retirement port is not built."""
    targets = simulators(options.board)
    group = catalogue.benchmarks[options.id].group
    boot = next(b for b in catalogue.boots() if options.id in b.measures)
    boot = catalogue.narrowed(boot, [options.id])
    symbols = {"tm_most_samples": SAMPLES, "tm_only": boot.only | NO_CONTROLS}
    image = build_image(boot, options.apps, options.kernel, options.board, options.out, symbols)
    if not options.icache:
        image = stopping_early(image, options.board, image.flash)
    app = _reporter(image)
    sampler = Sampler.of(app)
    log, runs = _run(options, targets, image.flash, sampler, trace)
    rows = _rows(log, group, options)
    number = _steady(rows[-1].series["cycles"])
    found = sample(_runs_of(rows, runs)[number], sampler)
    return Traced(image, app, rows[-1], number, found, _reading(rows))


def _reporter(image: Image) -> Program:
    """The app whose samples these are: only an app of benchmarks has the sampler."""
    return next(Program(Path(slot.elf)) for slot in image.slots if "tm_sample" in slot.symbols)


def kernel_of(kernel: KernelElf) -> Program:
    """The kernel's symbols: from the build with line tables, if it is of the same code."""
    program = Program(kernel.path)
    beside = kernel.path.parents[1] / LINES / kernel.path.name
    if beside.exists():
        better = Program(beside)
        if better.same_code(program):
            return better
    return program


def _run(
    options: ProfileOptions,
    targets: tuple[sim.SimTarget, sim.SimTarget],
    flash: Path,
    sampler: Sampler,
    trace: Path | None,
) -> tuple[str, list[list[str]]]:
    """The log, and the lines of each run of tm_sample."""
    start = Start(options.label, flash, options.icache)
    plain = cache.default(options.fresh).begin(targets[0], start)
    with tempfile.TemporaryDirectory() as folder:
        uart = Path(folder) / "uart.log"
        tracing = targets[1].start_here(start, "--uart", str(uart), "--itrace", "-")
        try:
            runs = list(windows(_kept(_checked(tracing.lines()), trace), sampler))
            log = "".join(f"{line}\n" for line in plain.lines())
            for simulation in (plain, tracing):
                ending = simulation.ending()
                if ending:
                    raise TockmarkError(ending, "`tockmark run` shows more", INCOMPLETE)
        finally:
            plain.stop()
            tracing.stop()
        traced = uart.read_text(encoding="latin-1")
    if traced != log:
        raise TockmarkError("the run with the retirement port printed another log", "report this")
    return log, runs


def _checked(lines: Iterator[str]) -> Iterator[str]:
    """The trace less its heading, which tells that its columns are where they should be."""
    heading = next(lines, HEADING)
    if heading != HEADING:
        raise TockmarkError("the simulator's trace has another form", "run `make profile`")
    return lines


def _kept(lines: Iterator[str], trace: Path | None) -> Iterator[str]:
    """The same lines, which are written down, too, if it is said where."""
    if trace is None:
        yield from lines
        return
    with gzip.open(trace, "wt", compresslevel=1, encoding="ascii") as file:
        for line in lines:
            file.write(f"{line}\n")
            yield line


def _rows(log: str, group: str, options: ProfileOptions) -> Sequence[RawRow]:
    """The rows of the app up to the one asked for, which is the last."""
    measured = assemble(decode(log.splitlines()))
    app = next((app for _, app in measured.each() if app.name == group), None)
    rows = app.rows if app is not None else ()
    for at, row in enumerate(rows):
        if (row.id, row.params) == (options.id, options.params) and row.series.get("cycles"):
            return rows[: at + 1]
    why = [no_row.why for no_row in app.no_rows if no_row.id == options.id] if app else []
    raise TockmarkError(
        f"{options.label} was not measured on this kernel{f': {why[0]}' if why else ''}",
        "`tockmark run` shows what was",
        INCOMPLETE,
    )


def _reading(rows: Sequence[RawRow]) -> float | None:
    """The median of the steady samples of time.read; of itself there is nothing to take off."""
    found = [row.series["cycles"] for row in rows[:-1] if row.id == OVERHEAD]
    stats = summarise(found[-1]) if found else None
    return stats.median if stats else None


def _runs_of(rows: Sequence[RawRow], runs: list[list[str]]) -> list[list[str]]:
    """The runs of tm_sample that gave the last row: each row's samples follow one another, in the
    order of the rows; a benchmark that failed may have left others between them."""
    measured = [difference(run) for run in runs]
    start = end = 0
    for row in rows:
        cycles = row.series["cycles"]
        start = end
        while measured[start : start + len(cycles)] != cycles:
            start += 1
            if start > len(measured):
                raise TockmarkError(f"the trace has no samples like those of {row.id}")
        end = start + len(cycles)
    return runs[start:end]


def _steady(cycles: list[int]) -> int:
    """The last sample that took as long as the median of the steady ones, counted from 0."""
    stats = summarise(cycles)
    usual = [i for i, taken in enumerate(cycles) if i and stats and taken == stats.median]
    return usual[-1] if usual else len(cycles) - 1
