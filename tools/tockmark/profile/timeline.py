# SPDX-License-Identifier: Apache-2.0 OR MIT
"""This makes a timeline of one sample, or of a span of cycles, for `profile --perfetto`: who ran
when, in which phase of the kernel, which interrupts waited, which system calls were made. The file
has Chrome's trace events in JSON, which Perfetto (https://ui.perfetto.dev) shows.

A row's boot is simulated again: on the plain simulator, whose marks tell when samples were taken
and interrupts rose, and on the one with the retirement port, up to the end of the window. Both must
print the same log as far as both go.

A boundary is the cycle in which an instruction left the decode stage. Times are the simulator's,
which go on while the core sleeps; in the file they are µs at the board's clock, and the cycles
stand beside them. The format is that of "Trace Event Format", Google, 2016.
"""

import json
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from tockmark.base.errors import INCOMPLETE, TockmarkError
from tockmark.base.files import check_writable, write_whole
from tockmark.base.paths import shown
from tockmark.profile.run import (
    Codes,
    ProfileOptions,
    boot_of,
    instructions,
    load_kernel_program,
    rows_of,
    simulators,
)
from tockmark.profile.sample import (
    Sampler,
    Step,
    find_contexts,
    mcycle_read,
    parse,
    sample_readings,
    writes_pmp,
)
from tockmark.profile.symbols import Program
from tockmark.result.stats import summarise
from tockmark.suite.catalogue import Boot, Catalogue
from tockmark.target import cache, sim
from tockmark.target.image import NO_CONTROLS, Image, build_image, with_early_stop
from tockmark.target.progress import ProgressLine
from tockmark.target.protocol import Start
from tockmark.target.run import mark_options
from tockmark.target.rv32 import ECALL, MRET
from tockmark.wire.records import Mark, Marks, Record, decode, intervals
from tockmark.wire.rows import StoredRow, series_samples
from tockmark.wire.uart_line import BY_SIMULATOR, as_text

SAMPLES, RAISED, TAKEN, KERNEL = "samples", "interrupts raised", "interrupts taken", "kernel"
TRACKS = (SAMPLES, RAISED, TAKEN, KERNEL)  # above those of the apps
ASLEEP, PENDING, NOT_TAKEN = "asleep", "pending", "not taken"
PMP_WRITES, FILLS = "PMP writes", "cache fills"  # counters; Perfetto calls one by both words
UPCALL = "upcall"  # an instant
CAUSES = {7: "timer", 11: "external"}  # numbers of interrupts, at which Ibex enters the vector
START = "_start"  # where an app begins
VECTOR = 0xFF  # of an address, its place in the vector

DRIVERS = {  # by Tock's numbers, and ours
    0x0: "alarm",
    0x1: "console",
    0x8: "debug",
    0x1_0000: "IPC",
    0x9_0000: "CycleCount",
    0x9_0004: "Perf",
    0x9_0010: "Perf",
    0xA_0000: "registry by string",
    0xA_0001: "registry by package",
    0xA_0010: "relay",
}
YIELDS = {0: "yield-no-wait", 1: "yield-wait", 2: "yield-wait-for"}
# By the version of the interface: the register of the class, that of the first argument, and the
# classes, with whether a driver's number follows.
_CALLS = {
    1: (10, 11, ("yield", "subscribe", "command", "allow", "memop")),
    2: (14, 10, ("yield", "subscribe", "command", "allow-rw", "allow-ro", "memop", "exit")),
}
_OF_DRIVER = ("subscribe", "command", "allow", "allow-rw", "allow-ro")
Args = dict[str, int | str]
CounterEvents = Mapping[str, Sequence[int]]  # by counter: the cycle of each of what it counts
Which = Literal["worst", "median"]
MOST_CYCLES = 500_000  # of a window: its events are kept in memory, and shown by a browser
MOST_SAMPLES = 32  # of a row that the core's counters measure
AROUND = 4  # of a sample, one part in so many before and behind it
LEAST_AROUND = 2_000  # cycles
BEFORE = 20_000  # cycles before a window that tell which calls are open, and what registers hold
BEHIND = 64  # cycles in which the last instruction of a window retires
QUIET = 2.0  # seconds until progress is shown
IRQ, OPENS, CLOSES = "irq", "sample", "sampled"  # marks
FORM = "tockmark-trace"  # which no reader of trace events asks for: it tells us what is ours
PROCESS, FIRST_THREAD = 1, 2  # numbers that Chrome's format asks for


@dataclass(frozen=True)
class Slice:
    """Something that took a while on a track, in cycles."""

    track: str
    name: str
    begin: int
    end: int
    args: Args = field(default_factory=dict)


@dataclass(frozen=True)
class Instant:
    """Something that happened on a track in a cycle."""

    track: str
    name: str
    at: int
    args: Args = field(default_factory=dict)


@dataclass(frozen=True)
class Timeline:
    """All of a window, each kind in the order of time."""

    title: str
    window: tuple[int, int]
    clock_hz: int
    tracks: Sequence[str]  # from top to bottom
    slices: Sequence[Slice]
    instants: Sequence[Instant]
    counted: CounterEvents


@dataclass(frozen=True)
class TraceEvents:
    """What a trace tells, each kind in the order in which it ended."""

    slices: list[Slice]
    instants: list[Instant]
    counted: CounterEvents


@dataclass(frozen=True)
class TimedStep:
    """One retired instruction, in which cycle of the simulation it left the decode stage, and since
    when it, or what came before it, held the core."""

    step: Step
    begin: int
    end: int
    slept: int = 0  # cycles before


def timed_steps(steps: Sequence[tuple[int, Step]]) -> Iterator[TimedStep]:
    """Yield the instructions of a trace with their times; what is between them is sleep."""
    before = steps[0][0] - steps[0][1].cycles if steps else 0
    for cycle, step in steps:
        begin = max(cycle - step.cycles, before)
        yield TimedStep(step, begin, cycle, begin - before)
        before = cycle


def trace_events(
    steps: Sequence[tuple[int, Step]],
    codes: Codes,
    processes: Sequence[str],
    abi: int,
    end: int,
    raised: Sequence[int] = (),
) -> TraceEvents:
    """Return what happened in a trace up to a cycle. `raised` are the cycles in which the interrupt
    line rose."""
    codes.look_up({(step.user, step.pc) for _, step in steps})

    def owner(step: Step) -> int:
        return codes.code_of(step)[0]

    only = [step for _, step in steps]
    there = find_contexts(only, lambda step: codes.code_of(step)[1].frames(step.pc), owner)
    builder = _Builder(processes, abi)
    for moment, place in zip(timed_steps(steps), there, strict=True):
        name = place.phase if not moment.step.user else processes[owner(moment.step)]
        track = f"app {name}" if moment.step.user else KERNEL
        code = codes.code_of(moment.step)[1]
        starts = code.start_of(moment.step.pc) == moment.step.pc
        builder.add(moment, track, name, str(place.stack[-1]), starts)
    end = max(end, steps[-1][0])
    builder.close(end)
    waits = _waits([at for at in raised if at < end], builder.taken, end)
    return TraceEvents(builder.slices + waits, builder.instants, builder.counted)


class _Builder:
    """What is open while a trace is gone through."""

    def __init__(self, processes: Sequence[str], abi: int) -> None:
        self.slices: list[Slice] = []
        self.instants: list[Instant] = []
        self.counted: dict[str, list[int]] = {PMP_WRITES: [], FILLS: []}
        self.taken: list[tuple[int, str]] = []  # interrupts: when, and which
        self._class, self._first, self._classes = _CALLS[abi]
        self._registers: dict[int, int] = {0: 0}
        self._open: tuple[str, str] | None = None
        self._begin = self._end = self._instructions = 0
        self._functions: Counter[str] = Counter()
        self._last: Step | None = None
        self._left: dict[str, Step] = {}  # the last instruction of an app before the kernel ran
        self._handling: tuple[int, str] | None = None

    def add(self, moment: TimedStep, track: str, name: str, function: str, starts: bool) -> None:
        """Go on by an instruction of a function, on its track; `starts`: it is its first."""
        step, last = moment.step, self._last
        if moment.slept:
            self._close()
            begin = moment.begin - moment.slept
            self.slices.append(_slice(KERNEL, ASLEEP, begin, moment.begin))
        if (track, name) != self._open:
            self._close()
            self._open, self._begin = (track, name), moment.begin
        self._end = moment.end
        self._instructions += not step.trapped
        self._functions[function] += moment.end - moment.begin
        if step.handler and last is not None and not last.trapped:
            self._take(moment)
        if step.user:
            starts &= function != START
            if last is not None and not last.user and self._begins_upcall(track, step, starts):
                self._tell(track, UPCALL, moment.begin, {"function": function})
            if step.insn == ECALL:
                self._call(track, moment.end)
            self._left[track] = step
        elif writes_pmp(step.insn):
            self.counted[PMP_WRITES].append(moment.end)
        self.counted[FILLS] += [moment.end] * step.fills
        if step.insn == MRET and self._handling is not None:
            begin, cause = self._handling
            self.slices.append(_slice(TAKEN, cause, begin, moment.end))
            self._handling = None
        if step.rd:
            self._registers[step.rd] = step.value
        self._last = step

    def close(self, end: int) -> None:
        """End it in this cycle: after the last instruction the core sleeps."""
        self._close()
        if end > self._end:
            self.slices.append(_slice(KERNEL, ASLEEP, self._end, end))
        if self._handling is not None:
            begin, cause = self._handling
            self.slices.append(_slice(TAKEN, cause, begin, max(end, begin)))

    def _close(self) -> None:
        if self._open is not None and self._end > self._begin:
            ((most, _),) = self._functions.most_common(1)
            more: Args = {"instructions": self._instructions, "mostly": most}
            self.slices.append(_slice(*self._open, self._begin, self._end, more))
        self._open, self._instructions = None, 0
        self._functions.clear()

    def _take(self, moment: TimedStep) -> None:
        number = (moment.step.pc & VECTOR) // 4
        cause = CAUSES.get(number, f"interrupt {number}")
        self.taken.append((moment.end, cause))
        if self._handling is None:
            self._handling = moment.end, cause

    def _begins_upcall(self, track: str, step: Step, starts: bool) -> bool:
        left = self._left.get(track)
        if left is None:  # before the trace: nobody goes on at the first instruction of a function
            return starts
        return left.trapped and step.pc not in (left.pc, left.pc + left.size)

    def _call(self, track: str, at: int) -> None:
        number = self._registers.get(self._class)
        known = number is not None and number < len(self._classes)
        name = self._classes[number] if known and number is not None else "system call"
        given = [self._registers.get(self._first + i) for i in range(4)]
        first, second, *_ = given
        if name == "yield" and first in YIELDS and self._first == 10:
            name = YIELDS[first]
        elif name in _OF_DRIVER and first is not None:
            name += f" {DRIVERS.get(first, f'{first:#x}')}"
            name += f" {second}" if second is not None else ""
        elif name == "memop" and first is not None:
            name += f" {first}"
        args: Args = {f"argument {i}": value for i, value in enumerate(given) if value is not None}
        self._tell(track, name, at, args)

    def _tell(self, track: str, name: str, at: int, args: Args) -> None:
        self.instants.append(Instant(track, name, at, {"cycle": at, **args}))


def _slice(track: str, name: str, begin: int, end: int, more: Args | None = None) -> Slice:
    return Slice(track, name, begin, end, {"cycle": begin, "cycles": end - begin, **(more or {})})


def _waits(rises: Sequence[int], taken: Sequence[tuple[int, str]], end: int) -> list[Slice]:
    """Return a slice from each rise of the interrupt line to the interrupt that was taken next; up
    to the next rise, if none was before; or to the end."""
    found = []
    for rise, again in zip(rises, [*rises[1:], end], strict=False):
        when, cause = next(((at, cause) for at, cause in taken if at >= rise), (end, PENDING))
        if again < when:
            when, cause = again, NOT_TAKEN
        if when > rise:
            found.append(_slice(RAISED, cause, rise, when))
    return found


def clip(found: Iterable[Slice], begin: int, end: int) -> list[Slice]:
    """Return those slices, or parts of slices, that lie in a window; their arguments tell the whole
    of them."""
    return [
        Slice(one.track, one.name, max(one.begin, begin), min(one.end, end), one.args)
        for one in found
        if one.end > begin and one.begin < end
    ]


def format_chrome_trace(found: Timeline) -> str:
    """Return a timeline as trace events: a line each."""
    threads = {track: FIRST_THREAD + i for i, track in enumerate(found.tracks)}

    def ns(cycle: int) -> int:  # what is side by side stays so: Perfetto rounds to these
        return cycle * 1_000_000_000 // found.clock_hz

    def event(kind: str, **more: object) -> dict[str, object]:
        return {"ph": kind, "pid": PROCESS, **more}

    def named(what: str, thread: int, **args: object) -> dict[str, object]:
        return event("M", tid=thread, name=what, args=args)

    events = [named("process_name", FIRST_THREAD, name=found.title)]
    for order, (track, thread) in enumerate(threads.items()):
        events.append(named("thread_name", thread, name=track))
        events.append(named("thread_sort_index", thread, sort_index=order))
    events += [
        event(
            "X",
            tid=threads[one.track],
            name=one.name,
            ts=ns(one.begin) / 1000,
            dur=(ns(one.end) - ns(one.begin)) / 1000,
            args=one.args,
        )
        for one in found.slices
    ]
    events += [
        event("i", s="t", tid=threads[of.track], name=of.name, ts=ns(of.at) / 1000, args=of.args)
        for of in found.instants
    ]
    for counter, cycles in found.counted.items():
        of_what, what = counter.split()
        counts = {at: count for count, at in enumerate((found.window[0], *cycles))}
        events += [
            event("C", name=of_what, ts=ns(at) / 1000, args={what: count})
            for at, count in counts.items()
        ]
    about = {
        "clock_hz": found.clock_hz,
        "first_cycle": found.window[0],
        "last_cycle": found.window[1],
    }
    head = json.dumps({"format": FORM, "displayTimeUnit": "ns", "otherData": about})
    lines = ",\n".join(json.dumps(one, ensure_ascii=False) for one in events)
    return f'{head.removesuffix("}")}, "traceEvents": [\n{lines}\n]}}\n'


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
class SampleSpan:
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


ExtraSlices = Callable[[TracedSteps], list[Slice]]  # tells what stands on further tracks


def timeline(
    options: ProfileOptions, catalogue: Catalogue, window: Window, more: ExtraSlices = lambda _: []
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
        image = with_early_stop(image, options.board, image.flash)
    run = _TracedBoot(options, boot, image, plain, tracing)
    log = run.log(_marks(image, by == "sampler"))
    row = rows_of(log, boot.group, options)[-1]
    items = [*decode(log.split("\n"))]
    samples: list[SampleSpan] = []
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
    kernel = load_kernel_program(options.kernel)
    codes = Codes(kernel, image)
    processes = [slot.name for slot in image.slots]
    steps = [(int(line[:10]), parse(line)) for line in lines]
    raised = [one.cycle for one in items if isinstance(one, Mark) and one.name == IRQ]
    raised = [at for at in raised if steps[0][0] <= at]
    end = min(end, steps[-1][0]) if run.over else end
    found = trace_events(steps, codes, processes, options.apps.abi, end, raised)
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
        slices=sorted(clip(slices, begin, end), key=lambda one: (one.begin, -one.end)),
        instants=[one for one in found.instants if begin <= one.at < end],
        counted={
            name: [at for at in cycles if begin <= at < end]
            for name, cycles in found.counted.items()
        },
    )


def write_timeline(
    options: ProfileOptions, catalogue: Catalogue, window: Window, more: ExtraSlices, path: Path
) -> str:
    """Write the timeline of a row as trace events, and return what is in them, in words."""
    check_writable([path], FORM)
    found = timeline(options, catalogue, window, more)
    events = format_chrome_trace(found)
    write_whole({path: events})
    counts = "".join(f", {len(cycles)} {name}" for name, cycles in found.counted.items())
    size = f"{len(events.encode()) / 1000:,.0f} kB"
    return (
        f"{found.title}\n"
        f"{len(found.slices)} slices on {len(found.tracks)} tracks, {len(found.instants)} system"
        f" calls and upcalls{counts}\n"
        f"written to {shown(path)}, {size}; open it in https://ui.perfetto.dev"
    )


def _shown(one: SampleSpan) -> Slice:
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


def window_of(asked: Window, samples: Sequence[SampleSpan]) -> tuple[int, int, str]:
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


def _by_marks(row: StoredRow, app: str, items: Sequence[object]) -> list[SampleSpan]:
    """Return the samples of a row, by the marks between its record and the one before; none if
    there are not as many."""
    marks = Marks()
    for item in items:
        if isinstance(item, Mark):
            marks.append(item)
    taken = series_samples(row, "cycles")
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


def _by_readings(row: StoredRow, lines: Iterable[str]) -> list[SampleSpan]:
    """Return the samples of a row that begins and ends at different places, by a whole trace; none
    if its readings are not told from others."""
    found = [(int(line[:10]), value) for line in lines if (value := mcycle_read(line)) is not None]
    taken = series_samples(row, "cycles")
    with suppress(TockmarkError):
        pairs = sample_readings([value for _, value in found], taken)
        return _numbered(taken, [(found[first][0], found[last][0]) for first, last in pairs])
    return []


def _numbered(taken: Sequence[int], found: Sequence[tuple[int, int]]) -> list[SampleSpan]:
    both = zip(taken, found, strict=True) if len(found) == len(taken) else ()
    return [SampleSpan(number, value, *when) for number, (value, when) in enumerate(both)]


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
        session = cache.default_cache(self._options.fresh).begin(self._plain, start)
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
            simulation = self._tracing.start_here(self._start, "--uart", str(uart), *more)
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
