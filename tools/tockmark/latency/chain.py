# SPDX-License-Identifier: Apache-2.0 OR MIT
"""From the simulator's marks of a boot to the stages of each of its alarms.

families.toml says at which points in a kernel's code the stages of an alarm end. The points are
found in an ELF file by symbols, and by the functions that were put into one another.

An alarm is due at a tick of the kernel's clock, as the app tells; which cycle that is follows from
the first alarms, which nothing disturbs: there the interrupt line rises just then. So an alarm
counts from when it is due, be its interrupt hidden behind another that is pending.

A line counts from when the core's interrupt line rises. The UART has one line at a time, so the one
whose upcall comes is the last that the driver began, and it is sent when its bytes have taken their
time: the rise just then is its own. Where another interrupt is pending the line does not rise, and
that is said.

A point that is not passed between its neighbours was passed for an alarm or an interrupt before:
its stage took no time. The stages add up to the whole, always; which of them are real is checked by
how often each point was passed.

The timeline of `profile --perfetto` has the stages of alarms, too. There the trace has every
instruction, so a point is passed where its own leaves the decode stage. Nobody tells when an alarm
was due: it counts from the last rise of the line before it was served. An alarm whose line was up
for another interrupt all the while is left out, as is one that nobody gets an upcall of.
"""

import re
import tomllib
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import ceil
from pathlib import Path

import msgspec

from tockmark.base.documents import Count, Part
from tockmark.base.errors import INCOMPLETE, TockmarkError, print_message
from tockmark.base.paths import make_command, shown
from tockmark.profile.symbols import Program, Scope
from tockmark.profile.timeline import VECTOR, Slice, TracedSteps, timed_steps
from tockmark.target.image import Image
from tockmark.wire.records import ARM, FULL, Mark, Record, decode

FAMILIES = Path(__file__).with_name("families.toml")
ALARM, UART = "alarm", "uart"  # the chains
HALFWORD = 2  # bytes, at which an instruction may begin
IRQ, UPCALL = "irq", "upcall"
WORD = 1 << 32
TODO = "report this, with the log"
ALARMS = "alarms"
TRAP, WAKE = "trap", "wake"  # what the simulator's own marks are called
QUEUED = "queued"  # the stage of every family that ends when the upcall is queued
NEVER = 1 << 63  # a cycle


class Stage(Part, frozen=True):
    """A stage, and the point that ends it: see families.toml."""

    name: str
    what: str
    own: tuple[str, ...] = ()
    symbol: str | None = None
    inlined: tuple[str, ...] = ()
    also_in: str | None = None
    app: str | None = None

    @property
    def mark(self) -> str:
        """What the simulator calls its point."""
        return self.name.replace(" ", "_")


class Deferred(Part, frozen=True):
    """How deferred calls are told: a function that asks for one, and one that serves it."""

    set: str
    served: str


class OtherChain(Part, frozen=True):
    """The chain of another event than an alarm: the stages that differ, by their names."""

    name: str
    begins: str
    stage: tuple[Stage, ...]


class KernelFamily(Part, frozen=True):
    """Kernels that have their stages at the same points."""

    name: str
    known_by: str
    served: str
    by_process: str
    looks: str  # the stage whose point is where the kernel asks what is pending
    stage: tuple[Stage, ...]
    deferred: Deferred | None = None
    chain: tuple[OtherChain, ...] = ()
    begins: Stage | None = None  # where the driver of the chain's event begins

    def for_chain(self, chain: str) -> "KernelFamily":
        """Return the family with the stages of a chain."""
        if chain == ALARM:
            return self
        other = next(one for one in self.chain if one.name == chain)
        own = {stage.name: stage for stage in other.stage}
        stages = tuple(own.get(stage.name, stage) for stage in self.stage)
        begins = Stage("begins", "the driver begins", symbol=other.begins)
        return msgspec.structs.replace(self, stage=stages, begins=begins)

    @property
    def look_stage(self) -> Stage:
        """The stage whose point is where the kernel asks what is pending."""
        return next(stage for stage in self.stage if stage.name == self.looks)

    @property
    def served_number(self) -> int:
        """The number of the stage whose point only alarms come by."""
        return [stage.name for stage in self.stage].index(self.served)

    @property
    def first_process_stage(self) -> int:
        """The number of the first stage that is the process's own."""
        return [stage.name for stage in self.stage].index(self.by_process)


def load_families(path: Path = FAMILIES) -> list[KernelFamily]:
    """Read the list."""
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    return msgspec.convert(data["family"], list[KernelFamily])


def find_family(program: Program, chain: str = ALARM) -> KernelFamily:
    """Return the family of a kernel, with the stages of a chain. TockmarkError if there is none."""
    names = set(program.code_names().values())
    known = load_families()
    for family in known:
        if family.known_by in names:
            return family.for_chain(chain)
    raise TockmarkError(
        f"{shown(program.path)} is of no kernel whose stages are known"
        f" ({', '.join(family.name for family in known)})",
        "give a kernel with its symbols, not stripped",
    )


def mark_options(
    family: KernelFamily, program: Program, app: Mapping[str, int], more: Sequence[str] = ()
) -> tuple[str, ...]:
    """Return the simulator's options for the points of a family in a kernel and an app (its
    symbols), and for some marks of the simulator's own. TockmarkError if a point is gone."""
    own = {name for stage in family.stage for name in stage.own}
    marks = [*dict.fromkeys([*more, *sorted(own)])]
    for stage in (*family.stage, *filter(None, [family.begins])):
        if stage.app is not None:
            marks.append(f"{stage.mark}={app[stage.app]:#x}")
        elif stage.symbol is not None:
            marks += [f"{stage.mark}={at:#x}" for at in stage_addresses(program, stage)]
    return tuple(word for mark in marks for word in ("--mark", mark))


def check_points(program: Program) -> None:
    """TockmarkError unless the family of a kernel is known, and all of its points are there."""
    for stage in find_family(program).stage:
        if stage.symbol is not None:
            stage_addresses(program, stage)


def stage_addresses(program: Program, stage: Stage) -> list[int]:
    """Return where a stage's point is in a kernel. TockmarkError if it is gone."""
    assert stage.symbol is not None
    own, others = _named(program, stage.symbol), _named(program, stage.also_in)
    if not own and not others:
        raise _gone(program, stage, f"has no function {stage.symbol}")
    path = (stage.symbol, *stage.inlined)
    found = _begins(program, own, stage.inlined) if stage.inlined else own
    found = sorted([*found, *_begins(program, others, path)])
    if found:
        return found
    if program.lines:
        raise _gone(program, stage, f"has no {' in '.join(reversed(path))}")
    raise TockmarkError(
        f"{shown(program.path)} has no line tables, by which the stage '{stage.name}' is found",
        f"{make_command('profile')} for the baseline's; build Tock with debuginfo",
    )


def _named(program: Program, pattern: str | None) -> list[int]:
    """Return where the functions begin whose names a pattern fits."""
    if pattern is None:
        return []
    return [at for at, name in program.code_names().items() if re.fullmatch(pattern, name)]


def _begins(program: Program, functions: Iterable[int], path: Sequence[str]) -> list[int]:
    """Return where the last of these functions, each within the one before, begins in some."""
    inside = [at for one in functions for at in range(one, one + program.size(one), HALFWORD)]
    program.look_up(inside)
    held = {at for at in inside if _holds(program.scopes(at), path)}
    # Unrolled loops have it several times: it begins wherever it does not go on.
    return [at for at in inside if at in held and at - HALFWORD not in held]


def _holds(scopes: Sequence[Scope], names: Sequence[str]) -> bool:
    """Return whether functions of these names are there, each within the one before."""
    inner = iter(scope.path for scope in scopes)
    return all(any(re.fullmatch(name, path) for path in inner) for name in names)


def _gone(program: Program, stage: Stage, what: str) -> TockmarkError:
    return TockmarkError(
        f"{shown(program.path)} {what}, where the stage '{stage.name}' ends",
        "say in tools/tockmark/latency/families.toml where it ends in this kernel",
    )


@dataclass(frozen=True)
class Alarm:
    """One that came, or a line that was sent: when it was due, and when each stage ended; cycles of
    the simulator."""

    due: int
    ends: tuple[int, ...]
    passed: tuple[bool, ...]  # whether the stage's point was passed for it

    def __post_init__(self) -> None:
        assert [self.due, *self.ends] == sorted([self.due, *self.ends])

    @property
    def whole(self) -> int:
        return self.ends[-1] - self.due

    @property
    def stages(self) -> tuple[int, ...]:
        """The cycles of each stage, which add up to the whole."""
        starts = (self.due, *self.ends[:-1])
        return tuple(end - start for start, end in zip(starts, self.ends, strict=True))


class WaitSpread(Part, frozen=True):
    """How long something took, in cycles, each time; and how often it was seen at all."""

    median: Count
    most_of: Count  # 99 % took no longer
    worst: Count
    count: Count


def spread(cycles: Iterable[int], count: int | None = None) -> WaitSpread:
    """Return the spread of at least one; the median of an even number is the lower one."""
    ordered = sorted(cycles)

    def at(part: float) -> int:
        return ordered[ceil(part * len(ordered)) - 1]

    return WaitSpread(at(0.5), at(0.99), ordered[-1], len(ordered) if count is None else count)


@dataclass(frozen=True)
class Clock:
    """Which cycle a tick of the kernel's clock is."""

    cycle: int
    tick: int
    per_tick: int

    def cycle_of(self, tick: int) -> int:
        """Return the cycle in which a tick begins, less than half of all ticks from the known."""
        apart = (tick - self.tick + WORD // 2) % WORD - WORD // 2
        return self.cycle + apart * self.per_tick


def clock_from(dues: Sequence[int], rises: Sequence[int]) -> Clock:
    """Return the clock by alarms that nothing disturbed: their ticks, and when the line rose.
    TockmarkError if these do not agree."""
    (first, *_, last), ticks = rises, (dues[-1] - dues[0]) % WORD
    found = Clock(first, dues[0], (last - first) // max(ticks, 1))
    if [found.cycle_of(due) for due in dues] != [*rises] or found.per_tick < 1:
        raise TockmarkError(
            "the interrupts of the first alarms do not rise at the ticks for which they were set",
            TODO,
            INCOMPLETE,
        )
    return found


class Passings:
    """When the core came by each point, in order."""

    def __init__(self, marks: Iterable[Mark]) -> None:
        self._at: dict[str, list[int]] = defaultdict(list)
        for mark in marks:
            self._at[mark.name].append(mark.cycle)

    def all(self, name: str) -> Sequence[int]:
        return self._at[name]

    def first(self, names: Sequence[str], start: int, end: int) -> int | None:
        """Return the first time in a span, its ends among them."""
        found = [
            self._at[name][at]
            for name in names
            if (at := bisect_left(self._at[name], start)) < len(self._at[name])
        ]
        return min((one for one in found if one <= end), default=None)

    def last(self, names: Sequence[str], start: int, end: int) -> int | None:
        """Return the last time in a span."""
        found = [
            self._at[name][at - 1]
            for name in names
            if (at := bisect_right(self._at[name], end)) > 0
        ]
        return max((one for one in found if one >= start), default=None)


def find_stages(family: KernelFamily, passings: Passings, due: int, upcall: int) -> Alarm:
    """Return the stages of an alarm, from its two ends."""
    names = [stage.own or (stage.mark,) for stage in family.stage]
    found: list[int | None] = [None] * len(names)
    found[-1] = bound = upcall
    for number in reversed(range(family.first_process_stage, len(names) - 1)):
        found[number] = passings.last(names[number], due, bound)
        bound = bound if found[number] is None else found[number]  # type: ignore[assignment]
    served = passings.first(names[family.served_number], due, bound)
    at, most = due, bound if served is None else served
    for number in range(family.first_process_stage):
        most = bound if number > family.served_number else most
        found[number] = passings.first(names[number], at, most)
        at = at if found[number] is None else found[number]  # type: ignore[assignment]
    ends, at = [], due
    for one in found:
        at = at if one is None else one
        ends.append(at)
    return Alarm(due, tuple(ends), tuple(one is not None for one in found))


def alarms_in_log(family: KernelFamily, lines: Iterable[str], load: str) -> list[Alarm]:
    """Return the alarms of a boot's log but for the first, undisturbed ones. TockmarkError if the
    log has not all, or a point was never passed."""
    items, passings = _decoded(lines, load)
    upcalls = passings.all(UPCALL)
    quiet = _summed(_numbers(items, "quiet"), 0)
    dues = _summed(_numbers(items, "due"), quiet[-1] if quiet else 0)
    if not (_ended(items) and quiet and dues) or len(upcalls) < len(quiet) + len(dues):
        raise TockmarkError(
            f"{load}: {len(upcalls)} alarms came, and the app did not say all that it waited for",
            "`--debug` keeps the log; an app may wait for ever where others spin before it",
            INCOMPLETE,
        )
    rises = [
        passings.first([IRQ], start, end)
        for start, end in zip(passings.all(ARM), upcalls[: len(quiet)], strict=False)
    ]
    ticking = clock_from(quiet, [rise or 0 for rise in rises])
    found = [
        find_stages(family, passings, ticking.cycle_of(due), upcall)
        for due, upcall in zip(dues, upcalls[-len(dues) :], strict=True)
    ]
    return _all_passed(family, found, load)


def lines_in_log(
    family: KernelFamily, lines: Iterable[str], load: str, count: int, takes: range
) -> list[Alarm]:
    """Return the last so many lines of a boot's log, of which each takes so many cycles from when
    the driver begins it. TockmarkError as of `alarms`."""
    items, passings = _decoded(lines, load)
    arms, upcalls = (passings.all(name)[-count:] for name in (ARM, UPCALL))
    if not _ended(items) or len(upcalls) < count:
        raise TockmarkError(
            f"{load}: {len(passings.all(UPCALL))} lines came to their upcalls, not {count}",
            "`--debug` keeps the log; an app may wait for ever where others spin before it",
            INCOMPLETE,
        )
    assert family.begins is not None
    served_by, begun_by = family.stage[family.served_number].mark, family.begins.mark
    found = []
    for arm, upcall in zip(arms, upcalls, strict=True):
        served = passings.last([served_by], arm, upcall) or upcall
        begun = passings.last([begun_by], arm, served) or upcall
        due = passings.first([IRQ], begun + takes.start, min(begun + takes.stop, served))
        if due is None:
            raise TockmarkError(
                f"{load}: a line's interrupt hid behind another, so when it rose is not known",
                "leave out this load",
                INCOMPLETE,
            )
        found.append(find_stages(family, passings, due, upcall))
    return _all_passed(family, found, load)


def _decoded(lines: Iterable[str], load: str) -> tuple[Sequence[object], Passings]:
    """Return what a log has, and its marks. TockmarkError if these are not all."""
    items = decode(lines)
    marks = [item for item in items if isinstance(item, Mark)]
    if any(mark.name == FULL for mark in marks):
        raise TockmarkError(
            f"{load}: the core came by more points than the simulator prints marks",
            "ask for fewer alarms with --alarms",
        )
    return items, Passings(marks)


def _ended(items: Iterable[object]) -> bool:
    return any(isinstance(item, Record) and item.kind == "end" for item in items)


def _all_passed(family: KernelFamily, found: list[Alarm], load: str) -> list[Alarm]:
    """TockmarkError if a point was never passed."""
    for number, stage in enumerate(family.stage):
        if not any(one.passed[number] for one in found):
            raise TockmarkError(
                f"{load}: no alarm came by the end of the stage '{stage.name}'",
                "say in tools/tockmark/latency/families.toml where it ends in this kernel",
                INCOMPLETE,
            )
    return found


def lost_alarm(family: KernelFamily, lines: Iterable[str], end: int, load: str) -> tuple[int, str]:
    """Return of a boot that was ended at a cycle how long its last alarm has waited, and which was
    the last stage that surely ended for it. TockmarkError if none waits."""
    passings = Passings(item for item in decode(lines) if isinstance(item, Mark))
    arms, upcalls = passings.all(ARM), passings.all(UPCALL)
    at = passings.first([IRQ], arms[-1], end) if arms else None
    if at is None or (upcalls and upcalls[-1] > at):
        raise TockmarkError(f"{load}: the boot ended, and no alarm waited", TODO, INCOMPLETE)
    rise, ended = at, IRQ
    for stage in family.stage[
        : family.first_process_stage
    ]:  # whose the passings behind are, nothing tells
        if (passed := passings.first(stage.own or (stage.mark,), at, end)) is None:
            break
        at, ended = passed, stage.name
    return end - rise, ended


def stage_spreads(family: KernelFamily, found: Sequence[Alarm]) -> Mapping[str, WaitSpread]:
    """Return how long each stage took, and for how many alarms its point was passed."""
    return {
        stage.name: spread(
            (one.stages[number] for one in found), sum(one.passed[number] for one in found)
        )
        for number, stage in enumerate(family.stage)
    }


def _summed(apart: Iterable[int], start: int) -> list[int]:
    """Return ticks of which each is told by how far it is from the one before."""
    return [at % WORD for at in accumulate(apart, initial=start)][1:]


def _numbers(items: Iterable[object], kind: str) -> list[int]:
    records = (item for item in items if isinstance(item, Record) and item.kind == kind)
    return [int(word) for record in records for word in record.words]


def alarm_tracks(traced: TracedSteps) -> list[Slice]:
    """Return the alarms of a trace with their stages inside them; none, which is said, if those of
    the kernel are not known, or its points are not found. Alarms that overlap are on a further
    track."""
    try:
        family = find_family(traced.kernel)
        points = _points(family, traced.kernel, traced.image)
    except TockmarkError as error:
        print_message(f"the trace has no stages of alarms: {error.problem}")
        return []
    passings = Passings(_passed(traced, points))
    found: list[Slice] = []
    ends: list[int] = []  # of the last alarm on each track
    for one in _alarms(family, passings):
        lane = next((n for n, end in enumerate(ends) if end <= one.due), len(ends))
        ends[lane:] = [one.ends[-1], *ends[lane + 1 :]]
        found += _slices(family, one, f"{ALARMS} {lane + 1}" if lane else ALARMS)
    return found


def _points(
    family: KernelFamily, kernel: Program, image: Image
) -> dict[tuple[bool, int], list[str]]:
    """Return the stages that end at an address, in user mode or not. TockmarkError if a point of
    the kernel is gone."""
    found: dict[tuple[bool, int], list[str]] = {}
    for stage in family.stage:
        if stage.symbol is not None:
            for at in stage_addresses(kernel, stage):
                found.setdefault((False, at), []).append(stage.mark)
        for slot in image.slots:
            if stage.app is not None and (place := slot.symbols.get(stage.app)) is not None:
                found.setdefault((True, place), []).append(stage.mark)
    return found


def _passed(traced: TracedSteps, points: dict[tuple[bool, int], list[str]]) -> Iterator[Mark]:
    """Yield the passings of each point in order, named as the simulator's marks are."""
    for rise in traced.raised:
        yield Mark(0, rise, IRQ)
    if not any(user for user, _ in points):
        for at in traced.upcalls:
            yield Mark(0, at, UPCALL)
    before = None
    for moment in timed_steps(traced.steps):
        step, at = moment.step, moment.end
        if moment.slept:
            yield Mark(0, at, WAKE)
        if step.handler and before is not None and not before.trapped and step.pc & VECTOR:
            yield Mark(0, at, TRAP)
        for name in points.get((step.user, step.pc), ()):
            yield Mark(0, at, name)
        before = step


def _alarms(family: KernelFamily, passings: Passings) -> Iterator[Alarm]:
    """Yield the alarms that were served, in order, each with its own upcall."""
    rises = passings.all(IRQ)
    point = [family.stage[family.served_number].mark]
    found = [
        (rise, at)
        for rise, after in zip(rises, [*rises[1:], NEVER], strict=False)
        if (at := passings.first(point, rise, after - 1)) is not None
    ]
    came = 0  # the upcall of the alarm before
    for (due, at), (_, after) in zip(found, [*found[1:], (NEVER, NEVER)], strict=False):
        queued = passings.first([QUEUED], at, after - 1)
        if queued is None:
            continue
        upcall = passings.first([UPCALL], max(queued, came + 1), NEVER)
        if upcall is not None:
            came = upcall
            yield find_stages(family, passings, due, upcall)


def _slices(family: KernelFamily, one: Alarm, track: str) -> Iterator[Slice]:
    whole: dict[str, int | str] = {"cycle": one.due, "cycles": one.whole}
    yield Slice(track, "alarm", one.due, one.ends[-1], whole)
    begin = one.due
    for stage, end in zip(family.stage, one.ends, strict=True):
        if end > begin:
            args: dict[str, int | str] = {"cycle": begin, "cycles": end - begin, "what": stage.what}
            yield Slice(track, stage.name, begin, end, args)
        begin = end
