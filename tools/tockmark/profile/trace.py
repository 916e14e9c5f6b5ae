# SPDX-License-Identifier: Apache-2.0 OR MIT
"""This simulates a row's boot again, for the verb `trace`: on the plain simulator, whose marks tell
when samples were taken and interrupts rose, and on the one with the retirement port, up to the end
of a window around one sample. Both must print the same log as far as both go.
"""

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from tockmark.errors import INCOMPLETE, TockmarkError
from tockmark.profile.run import (
    Codes,
    ProfileOptions,
    boot_of,
    instructions,
    kernel_of,
    rows_of,
    simulators,
)
from tockmark.profile.sample import Sampler, Step, paired, parse, reading
from tockmark.profile.symbols import Program
from tockmark.profile.timeline import (
    SAMPLES,
    TRACKS,
    UPCALL,
    Slice,
    Timeline,
    clipped,
    of_steps,
)
from tockmark.result.stats import summarise
from tockmark.rig import cache
from tockmark.rig.image import NO_CONTROLS, Image, build_image, stopping_early
from tockmark.rig.kinds import sim
from tockmark.rig.progress import ProgressLine
from tockmark.rig.protocol import Start
from tockmark.rig.run import mark_options
from tockmark.suite.catalogue import Boot, Catalogue
from tockmark.wire.records import Mark, Marks, Record, decode, intervals
from tockmark.wire.rows import StoredRow, samples_of
from tockmark.wire.uart_line import BY_SIMULATOR, as_text

Which = Literal["worst", "median"]
MOST_CYCLES = 500_000  # of a window: its events are kept in memory, and shown by a browser
MOST_SAMPLES = 32  # of a row that the core's counters measure
AROUND = 4  # of a sample, one part in so many before and behind it
LEAST_AROUND = 2_000  # cycles
BEFORE = 20_000  # cycles before a window that tell which calls are open, and what registers hold
BEHIND = 64  # cycles in which the last instruction of a window retires
QUIET = 2.0  # seconds until progress is shown
IRQ, OPENS, CLOSES = "irq", "sample", "sampled"  # marks


@dataclass(frozen=True)
class Window:
    """What is to be seen: from a cycle to a cycle, or else around a sample."""

    begin: int | None = None
    end: int | None = None
    around: Which = "worst"

    @property
    def by_sample(self) -> bool:
        return self.begin is None and self.end is None


@dataclass(frozen=True)
class Sampled:
    """One sample of the row, from 0, and the cycles of the simulation in which it was taken."""

    number: int
    value: int
    begin: int
    end: int


@dataclass(frozen=True)
class TracedSteps:
    """What ran in a window, and some cycles before: each instruction with the cycle in which it
    left the decode stage; and the cycles in which the interrupt line rose, and upcalls began."""

    kernel: Program
    image: Image
    steps: Sequence[tuple[int, Step]]
    raised: Sequence[int]
    upcalls: Sequence[int]


More = Callable[[TracedSteps], list[Slice]]  # tells what stands on further tracks


def timeline(
    options: ProfileOptions, catalogue: Catalogue, window: Window, more: More = lambda _: []
) -> Timeline:
    """Simulate a row again, and return what happened in the window, with what `more` says of it.
    TockmarkError if the kernel does not measure it, the simulator with the retirement port is not
    built, or the window is too long, or empty."""
    if window.begin is not None and window.end is not None:
        _check(window.begin, window.end)
    plain, tracing = simulators(options.board)
    boot = boot_of(catalogue, options.id, options.params)
    by = catalogue.benchmarks[options.id].by
    symbols = {"tm_most_samples": 0 if by == "mark" else MOST_SAMPLES}
    symbols["tm_only"] = boot.only | NO_CONTROLS
    image = build_image(boot, options.apps, options.kernel, options.board, options.out, symbols)
    if not options.icache:
        image = stopping_early(image, options.board, image.flash)
    run = _TracedBoot(options, boot, image, plain, tracing)
    log = run.log(_marks(image, by == "sampler"))
    row = rows_of(log, boot.group, options)[-1]
    items = [*decode(log.split("\n"))]
    samples: list[Sampled] = []
    if by != "reading":
        samples = _by_marks(row, boot.group, items)
    elif window.by_sample:  # which takes a trace of all
        samples = _by_readings(row, run.traced())
    begin, end, chosen = window_of(window, samples)
    lines = [*run.traced(max(begin - BEFORE, 0), end + BEHIND)]
    run.check(log)
    if not lines or (int(lines[-1][:10]) < begin and run.over):
        raise TockmarkError(
            f"the run is over before cycle {begin}", "give an earlier --from", INCOMPLETE
        )
    kernel = kernel_of(options.kernel)
    codes = Codes(kernel, image)
    processes = [slot.name for slot in image.slots]
    steps = [(int(line[:10]), parse(line)) for line in lines]
    raised = [one.cycle for one in items if isinstance(one, Mark) and one.name == IRQ]
    raised = [at for at in raised if steps[0][0] <= at]
    end = min(end, steps[-1][0]) if run.over else end
    found = of_steps(steps, codes, processes, options.apps.abi, end, raised)
    upcalls = [one.at for one in found.instants if one.name == UPCALL]
    further = more(TracedSteps(kernel, image, steps, raised, upcalls))
    slices = [*found.slices, *further, *map(_shown, samples)]
    *interrupts, of_kernel = TRACKS
    own = [*interrupts, *sorted({one.track for one in further}), of_kernel]
    return Timeline(
        title=f"{options.label}, {options.measured.title}, {chosen}",
        window=(begin, end),
        clock_hz=options.board.clock_hz,
        tracks=[*own, *(f"app {name}" for name in processes)],
        slices=sorted(clipped(slices, begin, end), key=lambda one: (one.begin, -one.end)),
        instants=[one for one in found.instants if begin <= one.at < end],
        counted={
            name: [at for at in cycles if begin <= at < end]
            for name, cycles in found.counted.items()
        },
    )


def _shown(one: Sampled) -> Slice:
    args: dict[str, int | str] = {"cycle": one.begin, "cycles": one.value}
    return Slice(SAMPLES, f"sample {one.number + 1}: {one.value} cycles", one.begin, one.end, args)


def _check(begin: int, end: int) -> None:
    if begin >= end:
        raise TockmarkError(f"--from {begin} is not before --to {end}", "exchange them")
    if end - begin > MOST_CYCLES:
        raise TockmarkError(
            f"from {begin} to {end} are {end - begin} cycles: a trace has {MOST_CYCLES} at most",
            "bring --from and --to nearer",
        )


def window_of(asked: Window, samples: Sequence[Sampled]) -> tuple[int, int, str]:
    """Return the first cycle and the one behind the last, and what is there."""
    if not asked.by_sample:
        begin = asked.begin if asked.begin is not None else max((asked.end or 0) - MOST_CYCLES, 0)
        end = asked.end if asked.end is not None else begin + MOST_CYCLES
        _check(begin, end)
        return begin, end, f"cycles {begin} to {end}"
    if not samples:
        raise TockmarkError("the samples of this row are not found", "give --from and --to")
    steady = samples[1:] or samples  # the first one is cold
    if asked.around == "worst":
        one = max(steady, key=lambda sample: sample.value)
    else:
        stats = summarise([sample.value for sample in samples])
        middle = stats.median if stats else samples[0].value
        one = min(steady, key=lambda sample: abs(sample.value - middle))
    wide = max((one.end - one.begin) // AROUND, LEAST_AROUND)
    begin = max(one.begin - wide, 0)
    end = min(one.end + wide, begin + MOST_CYCLES)
    chosen = f"sample {one.number + 1} of {len(samples)}, the {asked.around}"
    cut = f", cut at {MOST_CYCLES:,} cycles" if end < one.end else ""
    return begin, end, f"{chosen}: cycles {begin} to {end}{cut}"


def _marks(image: Image, sampler: bool) -> tuple[str, ...]:
    """Return what the plain simulator is to mark: what the apps name, interrupts, and where samples
    of tm_sample begin and end."""
    options = mark_options([slot.symbols for slot in image.slots]) or ["--mark", IRQ]
    if sampler:
        app = next(Program(Path(slot.elf)) for slot in image.slots if "tm_sample" in slot.symbols)
        found = Sampler.in_app(app)
        for name, at in ((OPENS, found.start), (CLOSES, found.ecalls[1] + 4)):
            options += ["--mark", f"{name}={at:#x}"]
    return tuple(options)


def _by_marks(row: StoredRow, app: str, items: Sequence[object]) -> list[Sampled]:
    """Return the samples of a row, by the marks between its record and the one before; none if
    there are not as many."""
    marks = Marks()
    for item in items:
        if isinstance(item, Mark):
            marks.append(item)
    taken = samples_of(row, "cycles")
    params = {(name, str(value)) for name, value in row.params.items()}
    before = 0
    for item in items:
        if not (isinstance(item, Record) and item.app == app):
            continue
        if item.kind == "bench" and item.words == (row.id,) and params <= {*item.pairs}:
            how = dict(item.pairs)
            first, last = how.get("from", OPENS), how.get("to", CLOSES)
            own = marks.of_row(first, last, before, item.line)
            if row.clock == "sim":
                return _numbered(taken, intervals(own, first, last, len(taken)))
            opened = [mark.cycle for mark in own if mark.name == OPENS]
            closed = [mark.cycle for mark in own if mark.name == CLOSES]
            return _numbered(taken, [*zip(opened, closed, strict=False)][-len(taken) :])
        before = item.line
    return []


def _by_readings(row: StoredRow, lines: Iterable[str]) -> list[Sampled]:
    """Return the samples of a row that begins and ends at different places, by a whole trace; none
    if its readings are not told from others."""
    found = [(int(line[:10]), value) for line in lines if (value := reading(line)) is not None]
    taken = samples_of(row, "cycles")
    with suppress(TockmarkError):
        pairs = paired([value for _, value in found], taken)
        return _numbered(taken, [(found[first][0], found[last][0]) for first, last in pairs])
    return []


def _numbered(taken: Sequence[int], found: Sequence[tuple[int, int]]) -> list[Sampled]:
    both = zip(taken, found, strict=True) if len(found) == len(taken) else ()
    return [Sampled(number, value, *when) for number, (value, when) in enumerate(both)]


class _TracedBoot:
    """The boot, on both simulators."""

    def __init__(
        self,
        options: ProfileOptions,
        boot: Boot,
        image: Image,
        plain: sim.SimTarget,
        tracing: sim.SimTarget,
    ) -> None:
        self._options, self._plain, self._tracing = options, plain, tracing
        self._start = Start(
            options.label,
            image.flash,
            options.icache,
            reporter=boot.group,
            panics=options.kernel.panics,
        )
        self._printed: list[str] = []
        self.over = False  # the traced run ended of itself, and not at the end of what was asked

    def log(self, marks: tuple[str, ...]) -> str:
        """Return what the plain simulator prints, with marks."""
        start = replace(self._start, marks=marks)
        session = cache.default(self._options.fresh).begin(self._plain, start)
        shown, said = ProgressLine(QUIET), []
        try:
            for line in session.lines():
                said.append(f"{line}\n")
                shown.show(f"simulating {self._options.label}, cycle {session.cycles:,}")
            if ending := session.ending().why:
                raise TockmarkError(ending, "`tockmark run` shows more", INCOMPLETE)
        finally:
            session.stop()
        return "".join(said)

    def traced(self, begin: int = 0, end: int | None = None) -> Iterator[str]:
        """Yield the instructions of some cycles, or of all."""
        shown = ProgressLine(QUIET)
        more = ["--itrace", "-", "--from", str(begin)]
        if end is not None:
            more += ["--to", str(end), "--max-cycles", str(end + BEHIND)]
        with tempfile.TemporaryDirectory() as folder:
            uart = Path(folder) / "uart.log"
            simulation = self._tracing.start(self._start, "--uart", str(uart), *more)
            try:
                for line in instructions(simulation.lines()):
                    yield line
                    shown.show(f"tracing {self._options.label}, cycle {int(line[:10]):,}")
                ending = simulation.ending().why
                self.over = ending is None
                if ending and not (end is not None and simulation.process.code == sim.LIMIT):
                    raise TockmarkError(ending, "`tockmark run` shows more", INCOMPLETE)
            finally:
                simulation.stop()
            self._printed = uart.read_text(encoding="latin-1").split("\n")

    def check(self, log: str) -> None:
        """TockmarkError if the traced run printed anything else, as far as it went."""
        plain = [line for line in log.split("\n") if not line.startswith(BY_SIMULATOR)]
        whole, last = self._printed[:-1], self._printed[-1]
        there = plain[len(whole)] if len(whole) < len(plain) else ""
        if [*map(as_text, whole)] != plain[: len(whole)] or not there.startswith(as_text(last)):
            raise TockmarkError(
                "the run with the retirement port printed another log", "report this"
            )
