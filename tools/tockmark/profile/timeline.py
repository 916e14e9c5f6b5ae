# SPDX-License-Identifier: Apache-2.0 OR MIT
"""This makes a timeline of an instruction trace, and writes it as Chrome's trace events in JSON,
which Perfetto (https://ui.perfetto.dev) shows: who ran when, in which phase of the kernel, which
interrupts waited, which system calls were made.

A boundary is the cycle in which an instruction left the decode stage. Times are the simulator's,
which go on while the core sleeps; in the file they are µs at the board's clock, and the cycles
stand beside them. The format is that of "Trace Event Format", Google, 2016.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tockmark.profile.run import Codes
from tockmark.profile.sample import Step, places, writes_pmp
from tockmark.rig.rv32 import ECALL, MRET

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
Counted = Mapping[str, Sequence[int]]  # by counter: the cycle of each of what it counts


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
    counted: Counted


@dataclass(frozen=True)
class Happened:
    """What a trace tells, each kind in the order in which it ended."""

    slices: list[Slice]
    instants: list[Instant]
    counted: Counted


@dataclass(frozen=True)
class Moment:
    """One retired instruction, in which cycle of the simulation it left the decode stage, and since
    when it, or what came before it, held the core."""

    step: Step
    begin: int
    end: int
    slept: int = 0  # cycles before


def moments(steps: Sequence[tuple[int, Step]]) -> Iterator[Moment]:
    """Yield the instructions of a trace with their times; what is between them is sleep."""
    before = steps[0][0] - steps[0][1].cycles if steps else 0
    for cycle, step in steps:
        begin = max(cycle - step.cycles, before)
        yield Moment(step, begin, cycle, begin - before)
        before = cycle


def of_steps(
    steps: Sequence[tuple[int, Step]],
    codes: Codes,
    processes: Sequence[str],
    abi: int,
    end: int,
    raised: Sequence[int] = (),
) -> Happened:
    """Return what happened in a trace up to a cycle. `raised` are the cycles in which the interrupt
    line rose."""
    codes.study({(step.user, step.pc) for _, step in steps})

    def owner(step: Step) -> int:
        return codes.code_of(step)[0]

    only = [step for _, step in steps]
    there = places(only, lambda step: codes.code_of(step)[1].frames(step.pc), owner)
    builder = _Builder(processes, abi)
    for moment, place in zip(moments(steps), there, strict=True):
        name = place.phase if not moment.step.user else processes[owner(moment.step)]
        track = f"app {name}" if moment.step.user else KERNEL
        code = codes.code_of(moment.step)[1]
        starts = code.start_of(moment.step.pc) == moment.step.pc
        builder.add(moment, track, name, str(place.stack[-1]), starts)
    end = max(end, steps[-1][0])
    builder.close(end)
    waits = _waits([at for at in raised if at < end], builder.taken, end)
    return Happened(builder.slices + waits, builder.instants, builder.counted)


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

    def add(self, moment: Moment, track: str, name: str, function: str, starts: bool) -> None:
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

    def _take(self, moment: Moment) -> None:
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


def clipped(found: Iterable[Slice], begin: int, end: int) -> list[Slice]:
    """Return those slices, or parts of slices, that lie in a window; their arguments tell the whole
    of them."""
    return [
        Slice(one.track, one.name, max(one.begin, begin), min(one.end, end), one.args)
        for one in found
        if one.end > begin and one.begin < end
    ]


FORM = "tockmark-trace"  # which no reader of trace events asks for: it tells us what is ours
PROCESS, FIRST_THREAD = 1, 2  # numbers that Chrome's format asks for


def chrome(found: Timeline) -> str:
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
