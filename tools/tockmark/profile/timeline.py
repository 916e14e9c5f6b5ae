# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Make a timeline of a sample or of a range of cycles, for `profile --perfetto`: who ran when, in
which phase of the kernel, which interrupts waited, which system calls were made. The file has
Chrome's trace events in JSON, which Perfetto (https://ui.perfetto.dev) shows.

The boot of a row is simulated twice: with marks, which give the times of samples and interrupts,
and with a trace of every instruction, up to the end of the window. Both must print the same log up
to that point.

The boundary between two instructions is the cycle in which the first one left the decode stage.
Times are the simulator's, which continue while the core sleeps. The file has them in µs at the
board's clock, with the cycles in the arguments. The format follows "Trace Event Format", Google,
2016.
"""

import json
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
    find_sampler,
    instructions,
    load_kernel_program,
    row_image,
    rows_of,
    simulators,
    traced_boot,
)
from tockmark.profile.sample import (
    Step,
    find_contexts,
    mcycle_read,
    pair_reads,
    parse,
    writes_pmp,
)
from tockmark.profile.symbols import Program
from tockmark.result.stats import summarise
from tockmark.suite.catalogue import Boot, Catalogue
from tockmark.target import cache, sim
from tockmark.target.image import Image
from tockmark.target.progress import ProgressLine
from tockmark.target.protocol import Start
from tockmark.target.run import mark_options
from tockmark.target.rv32 import ECALL, MRET
from tockmark.wire.records import Mark, Marks, Record, decode, intervals
from tockmark.wire.rows import StoredRow, series_samples
from tockmark.wire.uart_line import SIM_MARK, as_text

SAMPLES, RAISED, TAKEN, KERNEL = "samples", "interrupts raised", "interrupts taken", "kernel"
TRACKS = (SAMPLES, RAISED, TAKEN, KERNEL)  # above the apps' tracks
ASLEEP, PENDING, NOT_TAKEN = "asleep", "pending", "not taken"
PMP_WRITES, FILLS = "PMP writes", "cache fills"  # counters; Perfetto shows both words
UPCALL = "upcall"  # the name of an instant
CAUSES = {7: "timer", 11: "external"}  # interrupts by their entry in Ibex's vector table
START = "_start"  # an app's first function
VECTOR = 0xFF  # mask of an address: the offset in the vector table

DRIVERS = {  # by number: Tock's, and ours
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
# By version of the system call interface: the register of the class, the register of the first
# argument, and the names of the classes.
_CALLS = {
    1: (10, 11, ("yield", "subscribe", "command", "allow", "memop")),
    2: (14, 10, ("yield", "subscribe", "command", "allow-rw", "allow-ro", "memop", "exit")),
}
_OF_DRIVER = ("subscribe", "command", "allow", "allow-rw", "allow-ro")
Args = dict[str, int | str]
CounterEvents = Mapping[str, Sequence[int]]  # by counter: the cycles of its events
Which = Literal["worst", "median"]
MOST_CYCLES = 500_000  # in a window, since a browser has to show the events
MOST_SAMPLES = 32  # of a row measured by the core's counters
AROUND = 4  # the window has 1/4 of the sample's length before and after it,
LEAST_AROUND = 2_000  # and at least as many cycles
BEFORE = 20_000  # cycles traced before a window, to know the open calls and the registers
BEHIND = 64  # cycles in which the last instruction of a window retires
QUIET = 2.0  # seconds until progress is shown
IRQ, OPENS, CLOSES = "irq", "sample", "sampled"  # marks
FORM = "tockmark-trace"  # marks our files; readers of trace events ignore it
PROCESS, FIRST_THREAD = 1, 2  # numbers that Chrome's format requires


@dataclass(frozen=True)
class Slice:
    """An event with a duration on a track, in cycles."""

    track: str
    name: str
    begin: int
    end: int
    args: Args = field(default_factory=dict)


@dataclass(frozen=True)
class Instant:
    """An event at one cycle on a track."""

    track: str
    name: str
    at: int
    args: Args = field(default_factory=dict)


@dataclass(frozen=True)
class Timeline:
    """All events of a window, each type in order of time."""

    title: str
    window: tuple[int, int]
    clock_hz: int
    tracks: Sequence[str]  # from top to bottom
    slices: Sequence[Slice]
    instants: Sequence[Instant]
    counted: CounterEvents


@dataclass(frozen=True)
class TimedStep:
    """A retired instruction: its first cycle, and the cycle of its leaving the decode stage."""

    step: Step
    begin: int
    end: int
    slept: int = 0  # cycles before it began


def timed_steps(steps: Sequence[tuple[int, Step]]) -> Iterator[TimedStep]:
    """Yield the instructions of a trace with their times; between two, the core may sleep."""
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
) -> "TraceEvents":
    """Return the events of a trace up to the cycle `end`. `raised` has the cycles in which the
    interrupt line rose."""
    codes.look_up({(step.user, step.pc) for _, step in steps})
    contexts = find_contexts([step for _, step in steps], codes.frames, codes.owner_of)
    events = TraceEvents(processes, abi)
    for timed, context in zip(timed_steps(steps), contexts, strict=True):
        name = context.phase if not timed.step.user else processes[codes.owner_of(timed.step)]
        track = f"app {name}" if timed.step.user else KERNEL
        code = codes.code_of(timed.step)[1]
        starts = code.start_of(timed.step.pc) == timed.step.pc
        events.add(timed, track, name, str(context.stack[-1]), starts)
    end = max(end, steps[-1][0])
    events.close(end)
    events.slices += _waits([at for at in raised if at < end], events.taken, end)
    return events


class TraceEvents:
    """The events of a trace, each type in order of its end; built instruction by instruction."""

    def __init__(self, processes: Sequence[str], abi: int) -> None:
        self.slices: list[Slice] = []
        self.instants: list[Instant] = []
        self.counted: dict[str, list[int]] = {PMP_WRITES: [], FILLS: []}
        self.taken: list[tuple[int, str]] = []  # interrupts: cycle and cause
        self._class, self._first, self._classes = _CALLS[abi]
        self._registers: dict[int, int] = {0: 0}
        self._open: tuple[str, str] | None = None
        self._begin = self._end = self._instructions = 0
        self._functions: Counter[str] = Counter()
        self._last: Step | None = None
        self._left: dict[str, Step] = {}  # by app: its last instruction before the kernel ran
        self._handling: tuple[int, str] | None = None

    def add(self, timed: TimedStep, track: str, name: str, function: str, starts: bool) -> None:
        """Add an instruction of a function to its track; `starts`: it is the function's first."""
        step, last = timed.step, self._last
        if timed.slept:
            self._close()
            begin = timed.begin - timed.slept
            self.slices.append(slice_of(KERNEL, ASLEEP, begin, timed.begin))
        if (track, name) != self._open:
            self._close()
            self._open, self._begin = (track, name), timed.begin
        self._end = timed.end
        self._instructions += not step.trapped
        self._functions[function] += timed.end - timed.begin
        if step.handler and last is not None and not last.trapped:
            self._take(timed)
        if step.user:
            left = self._left.get(track)
            # No app resumes at the first instruction of a function.
            begins = starts and function != START
            if left is not None:
                begins = left.trapped and step.pc not in (left.pc, left.pc + left.size)
            if last is not None and not last.user and begins:
                self._add_instant(track, UPCALL, timed.begin, {"function": function})
            if step.insn == ECALL:
                self._call(track, timed.end)
            self._left[track] = step
        elif writes_pmp(step.insn):
            self.counted[PMP_WRITES].append(timed.end)
        self.counted[FILLS] += [timed.end] * step.fills
        if step.insn == MRET and self._handling is not None:
            begin, cause = self._handling
            self.slices.append(slice_of(TAKEN, cause, begin, timed.end))
            self._handling = None
        if step.rd:
            self._registers[step.rd] = step.value
        self._last = step

    def close(self, end: int) -> None:
        """End the trace in this cycle; after the last instruction the core sleeps."""
        self._close()
        if end > self._end:
            self.slices.append(slice_of(KERNEL, ASLEEP, self._end, end))
        if self._handling is not None:
            begin, cause = self._handling
            self.slices.append(slice_of(TAKEN, cause, begin, max(end, begin)))

    def _close(self) -> None:
        if self._open is not None and self._end > self._begin:
            ((most, _),) = self._functions.most_common(1)
            more_args: Args = {"instructions": self._instructions, "mostly": most}
            self.slices.append(slice_of(*self._open, self._begin, self._end, more_args))
        self._open, self._instructions = None, 0
        self._functions.clear()

    def _take(self, timed: TimedStep) -> None:
        number = (timed.step.pc & VECTOR) // 4
        cause = CAUSES.get(number, f"interrupt {number}")
        self.taken.append((timed.end, cause))
        if self._handling is None:
            self._handling = timed.end, cause

    def _call(self, track: str, at: int) -> None:
        number = self._registers.get(self._class)
        is_known = number is not None and number < len(self._classes)
        name = self._classes[number] if is_known and number is not None else "system call"
        arguments = [self._registers.get(self._first + i) for i in range(4)]
        first, second, *_ = arguments
        if name == "yield" and first in YIELDS and self._first == 10:
            name = YIELDS[first]
        elif name in _OF_DRIVER and first is not None:
            name += f" {DRIVERS.get(first, f'{first:#x}')}"
            name += f" {second}" if second is not None else ""
        elif name == "memop" and first is not None:
            name += f" {first}"
        args: Args = {f"argument {i}": v for i, v in enumerate(arguments) if v is not None}
        self._add_instant(track, name, at, args)

    def _add_instant(self, track: str, name: str, at: int, args: Args) -> None:
        self.instants.append(Instant(track, name, at, {"cycle": at, **args}))


def slice_of(track: str, name: str, begin: int, end: int, more_args: Args | None = None) -> Slice:
    """Return a slice with its first cycle and its length among its arguments."""
    args = {"cycle": begin, "cycles": end - begin, **(more_args or {})}
    return Slice(track, name, begin, end, args)


def _waits(rises: Sequence[int], interrupts: Sequence[tuple[int, str]], end: int) -> list[Slice]:
    """Return a slice from each rise of the interrupt line to the next taken interrupt, the next
    rise or the end, whichever is first."""
    waits = []
    for rise, again in zip(rises, [*rises[1:], end], strict=False):
        when, cause = next(((at, cause) for at, cause in interrupts if at >= rise), (end, PENDING))
        if again < when:
            when, cause = again, NOT_TAKEN
        if when > rise:
            waits.append(slice_of(RAISED, cause, rise, when))
    return waits


def clip(slices: Iterable[Slice], begin: int, end: int) -> list[Slice]:
    """Return the parts of slices inside a window. Their arguments still describe the whole
    slices."""
    return [
        Slice(part.track, part.name, max(part.begin, begin), min(part.end, end), part.args)
        for part in slices
        if part.end > begin and part.begin < end
    ]


def format_chrome_trace(timeline: Timeline) -> str:
    """Return a timeline as trace events, one per line."""
    threads = {track: FIRST_THREAD + i for i, track in enumerate(timeline.tracks)}

    def ns(cycle: int) -> int:  # Perfetto's resolution, so adjacent slices stay adjacent
        return cycle * 1_000_000_000 // timeline.clock_hz

    def event(kind: str, **fields: object) -> dict[str, object]:
        return {"ph": kind, "pid": PROCESS, **fields}

    def metadata(key: str, thread: int, **args: object) -> dict[str, object]:
        return event("M", tid=thread, name=key, args=args)

    events = [metadata("process_name", FIRST_THREAD, name=timeline.title)]
    for order, (track, thread) in enumerate(threads.items()):
        events.append(metadata("thread_name", thread, name=track))
        events.append(metadata("thread_sort_index", thread, sort_index=order))
    events += [
        event(
            "X",
            tid=threads[part.track],
            name=part.name,
            ts=ns(part.begin) / 1000,
            dur=(ns(part.end) - ns(part.begin)) / 1000,
            args=part.args,
        )
        for part in timeline.slices
    ]
    events += [
        event("i", s="t", tid=threads[at.track], name=at.name, ts=ns(at.at) / 1000, args=at.args)
        for at in timeline.instants
    ]
    for counter, cycles in timeline.counted.items():
        counted, unit = counter.split()
        counts = {at: count for count, at in enumerate((timeline.window[0], *cycles))}
        events += [
            event("C", name=counted, ts=ns(at) / 1000, args={unit: count})
            for at, count in counts.items()
        ]
    about = {
        "clock_hz": timeline.clock_hz,
        "first_cycle": timeline.window[0],
        "last_cycle": timeline.window[1],
    }
    head = json.dumps({"format": FORM, "displayTimeUnit": "ns", "otherData": about})
    lines = ",\n".join(json.dumps(event, ensure_ascii=False) for event in events)
    return f'{head.removesuffix("}")}, "traceEvents": [\n{lines}\n]}}\n'


@dataclass(frozen=True)
class Window:
    """The requested window: a range of cycles, or the surroundings of a sample."""

    begin: int | None = None
    end: int | None = None
    around: Which = "worst"

    @property
    def by_sample(self) -> bool:
        return self.begin is None and self.end is None


@dataclass(frozen=True)
class SampleSpan:
    """A sample of the row, numbered from 0, and its first and last cycle of the simulation."""

    number: int
    value: int
    begin: int
    end: int


@dataclass(frozen=True)
class TracedSteps:
    """The instructions of a window, with the cycles of their leaving the decode stage.

    It begins some cycles before the window. `raised` and `upcalls` are the cycles when the
    interrupt line rose and upcalls began."""

    kernel: Program
    image: Image
    steps: Sequence[tuple[int, Step]]
    raised: Sequence[int]
    upcalls: Sequence[int]


ExtraSlices = Callable[[TracedSteps], list[Slice]]  # returns the slices of further tracks


def timeline(
    options: ProfileOptions,
    catalogue: Catalogue,
    window: Window,
    extra: ExtraSlices = lambda _: [],
) -> Timeline:
    """Simulate a row again and return the events of the window, including those that `extra`
    returns.

    Raise TockmarkError if the kernel does not measure the row, the simulator with the retirement
    port is not built, or the window is too long or empty."""
    if window.begin is not None and window.end is not None:
        _check_length(window.begin, window.end)
    plain, tracing = simulators(options.board)
    boot = boot_of(catalogue, options.id, options.params)
    by = catalogue.benchmarks[options.id].by
    image = row_image(options, boot, 0 if by == "mark" else MOST_SAMPLES)
    run = _TracedBoot(options, boot, image, plain, tracing)
    log = run.log(_marks(image, by == "sampler"))
    row = rows_of(log, boot.group, options)[-1]
    items = [*decode(log.split("\n"))]
    samples: list[SampleSpan] = []
    if by != "reading":
        samples = _by_marks(row, boot.group, items)
    elif window.by_sample:  # needs a trace of the whole run
        samples = _by_reads(row, run.traced())
    begin, end, chosen = window_of(window, samples)
    lines = [*run.traced(max(begin - BEFORE, 0), end + BEHIND)]
    run.check(log)
    if not lines or (int(lines[-1][:10]) < begin and run.over):
        raise TockmarkError(
            f"the run ends before cycle {begin}", "give an earlier --from", INCOMPLETE
        )
    kernel = load_kernel_program(options.kernel)
    codes = Codes(kernel, image)
    processes = [slot.name for slot in image.slots]
    steps = [(int(line[:10]), parse(line)) for line in lines]
    raised = [mark.cycle for mark in items if isinstance(mark, Mark) and mark.name == IRQ]
    raised = [at for at in raised if steps[0][0] <= at]
    end = min(end, steps[-1][0]) if run.over else end
    events = trace_events(steps, codes, processes, options.apps.abi, end, raised)
    upcalls = [instant.at for instant in events.instants if instant.name == UPCALL]
    further = extra(TracedSteps(kernel, image, steps, raised, upcalls))
    slices = [*events.slices, *further]
    for sample in samples:
        name = f"sample {sample.number + 1}: {sample.value} cycles"
        slices.append(slice_of(SAMPLES, name, sample.begin, sample.end, {"cycles": sample.value}))
    *interrupts, of_kernel = TRACKS
    own = [*interrupts, *sorted({part.track for part in further}), of_kernel]
    return Timeline(
        title=f"{options.label}, {options.measured.title}, {chosen}",
        window=(begin, end),
        clock_hz=options.board.clock_hz,
        tracks=[*own, *(f"app {name}" for name in processes)],
        slices=sorted(clip(slices, begin, end), key=lambda part: (part.begin, -part.end)),
        instants=[instant for instant in events.instants if begin <= instant.at < end],
        counted={
            name: [at for at in cycles if begin <= at < end]
            for name, cycles in events.counted.items()
        },
    )


def write_timeline(
    options: ProfileOptions,
    catalogue: Catalogue,
    window: Window,
    extra: ExtraSlices,
    path: Path,
) -> str:
    """Write the timeline of a row as trace events and return a summary."""
    check_writable([path], FORM)
    result = timeline(options, catalogue, window, extra)
    events = format_chrome_trace(result)
    write_whole({path: events})
    counts = "".join(f", {len(cycles)} {name}" for name, cycles in result.counted.items())
    size = f"{len(events.encode()) / 1000:,.0f} kB"
    return (
        f"{result.title}\n"
        f"{len(result.slices)} slices on {len(result.tracks)} tracks, {len(result.instants)} system"
        f" calls and upcalls{counts}\n"
        f"written to {shown(path)}, {size}; open it in https://ui.perfetto.dev"
    )


def _check_length(begin: int, end: int) -> None:
    if begin >= end:
        raise TockmarkError(f"--from {begin} is not before --to {end}", "swap them")
    if end - begin > MOST_CYCLES:
        raise TockmarkError(
            f"--from {begin} to --to {end} is {end - begin} cycles; at most {MOST_CYCLES} fit",
            "give a shorter range",
        )


def window_of(window: Window, samples: Sequence[SampleSpan]) -> tuple[int, int, str]:
    """Return the first cycle of the window, the cycle after the last, and a description."""
    if not window.by_sample:
        begin = (
            window.begin if window.begin is not None else max((window.end or 0) - MOST_CYCLES, 0)
        )
        end = window.end if window.end is not None else begin + MOST_CYCLES
        _check_length(begin, end)
        return begin, end, f"cycles {begin} to {end}"
    if not samples:
        raise TockmarkError("cannot find the samples of this row", "give --from and --to")
    steady = samples[1:] or samples  # the first one is cold
    if window.around == "worst":
        target = max(steady, key=lambda sample: sample.value)
    else:
        stats = summarise([sample.value for sample in samples])
        middle = stats.median if stats else samples[0].value
        target = min(steady, key=lambda sample: abs(sample.value - middle))
    margin = max((target.end - target.begin) // AROUND, LEAST_AROUND)
    begin = max(target.begin - margin, 0)
    end = min(target.end + margin, begin + MOST_CYCLES)
    chosen = f"sample {target.number + 1} of {len(samples)}, the {window.around}"
    cut = f", cut at {MOST_CYCLES:,} cycles" if end < target.end else ""
    return begin, end, f"{chosen}: cycles {begin} to {end}{cut}"


def _marks(image: Image, sampler: bool) -> tuple[str, ...]:
    """Return the options for the plain simulator's marks: the apps' own, interrupts, and the begin
    and end of samples of tm_sample."""
    options = mark_options([slot.symbols for slot in image.slots]) or ["--mark", IRQ]
    if sampler:
        sampler_code = find_sampler(image)
        for name, at in ((OPENS, sampler_code.start), (CLOSES, sampler_code.ecalls[1] + 4)):
            options += ["--mark", f"{name}={at:#x}"]
    return tuple(options)


def _by_marks(row: StoredRow, app: str, items: Sequence[object]) -> list[SampleSpan]:
    """Return the samples of a row, from the marks between the previous record and its own; none if
    there are not as many."""
    marks = Marks()
    for item in items:
        if isinstance(item, Mark):
            marks.append(item)
    cycles = series_samples(row, "cycles")
    params = {(name, str(value)) for name, value in row.params.items()}
    before = 0
    for item in items:
        if not (isinstance(item, Record) and item.app == app):
            continue
        if item.kind == "bench" and item.words == (row.id,) and params <= {*item.pairs}:
            fields = dict(item.pairs)
            first, last = fields.get("from", OPENS), fields.get("to", CLOSES)
            own = marks.row_marks(first, last, before, item.line)
            if row.clock == "sim":
                return _numbered(cycles, intervals(own, first, last, len(cycles)))
            opened = [mark.cycle for mark in own if mark.name == OPENS]
            closed = [mark.cycle for mark in own if mark.name == CLOSES]
            return _numbered(cycles, [*zip(opened, closed, strict=False)][-len(cycles) :])
        before = item.line
    return []


def _by_reads(row: StoredRow, lines: Iterable[str]) -> list[SampleSpan]:
    """Return the samples of a row that begins and ends at different positions, from a whole trace;
    none if its reads of mcycle cannot be identified."""
    reads = [(int(line[:10]), value) for line in lines if (value := mcycle_read(line)) is not None]
    cycles = series_samples(row, "cycles")
    with suppress(TockmarkError):
        pairs = pair_reads([value for _, value in reads], cycles)
        return _numbered(cycles, [(reads[first][0], reads[last][0]) for first, last in pairs])
    return []


def _numbered(samples: Sequence[int], spans: Sequence[tuple[int, int]]) -> list[SampleSpan]:
    both = zip(samples, spans, strict=True) if len(spans) == len(samples) else ()
    return [SampleSpan(number, value, *span) for number, (value, span) in enumerate(both)]


class _TracedBoot:
    """A boot on both simulators."""

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
        self.over = False  # whether the traced run ended before the end of the window

    def log(self, marks: tuple[str, ...]) -> str:
        """Return the log of the plain simulator, with marks."""
        start = replace(self._start, marks=marks)
        session = cache.default_cache(self._options.fresh).begin(self._plain, start)
        shown, printed = ProgressLine(QUIET), []
        try:
            for line in session.lines():
                printed.append(f"{line}\n")
                shown.show(f"simulating {self._options.label}, cycle {session.cycles:,}")
            if ending := session.ending().why:
                raise TockmarkError(ending, "see `tockmark run`", INCOMPLETE)
        finally:
            session.stop()
        return "".join(printed)

    def traced(self, begin: int = 0, end: int | None = None) -> Iterator[str]:
        """Yield the instructions of the cycles from `begin` to `end`, or to the end of the run."""
        shown = ProgressLine(QUIET)
        arguments = ["--from", str(begin)]
        if end is not None:
            arguments += ["--to", str(end), "--max-cycles", str(end + BEHIND)]
        with traced_boot(self._tracing, self._start, *arguments) as (simulation, uart):
            for line in instructions(simulation.lines()):
                yield line
                shown.show(f"tracing {self._options.label}, cycle {int(line[:10]):,}")
            ending = simulation.ending().why
            self.over = ending is None
            if ending and not (end is not None and simulation.process.code == sim.LIMIT):
                raise TockmarkError(ending, "see `tockmark run`", INCOMPLETE)
            self._printed = uart.read_text(encoding="latin-1").split("\n")

    def check(self, log: str) -> None:
        """Raise TockmarkError if the traced run printed anything else than the plain one."""
        plain = [line for line in log.split("\n") if not line.startswith(SIM_MARK)]
        whole, last = self._printed[:-1], self._printed[-1]
        expected = plain[len(whole)] if len(whole) < len(plain) else ""
        if [*map(as_text, whole)] != plain[: len(whole)] or not expected.startswith(as_text(last)):
            raise TockmarkError("the run with a trace printed another log", "report this")
