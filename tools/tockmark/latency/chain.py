# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Turn the simulator's marks of a boot into the stages of each alarm.

families.toml lists the points in a kernel's code where the stages of an alarm end. They are found
in the ELF by symbols and by inlined functions; a kernel without one of them is an error.

All times are cycles of the simulation. An alarm is due at a tick of the kernel's clock, which the
app prints. The first alarms are undisturbed, so the interrupt line rises exactly when they are due;
this gives the cycle of each tick. Latency counts from the due time, even if another pending
interrupt hides the rise of the line.

The latency of a sent text line counts from the rise of the core's interrupt line. The UART sends
one text line at a time, so an upcall belongs to the last one that the driver began. The rise must
come in the time that its bytes take to send; if another pending interrupt hides it, that is an
error.

A point that is not passed between its neighbours was passed for an earlier alarm or interrupt, so
its stage took no time. A point that no alarm of a load passed is an error. The stages add up to the
whole. Each stage also has the number of alarms that passed its point.

The timeline of `profile --perfetto` also shows stages: a point is passed when its instruction
leaves the decode stage, and an alarm counts from the last rise of the line before it was served.
Alarms whose line was already up for another interrupt, or without an upcall, are omitted.
"""

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, combinations
from math import ceil
from pathlib import Path

import msgspec

from tockmark.base.documents import Count, Part
from tockmark.base.errors import INCOMPLETE, TockmarkError, print_message
from tockmark.base.paths import make_command, shown
from tockmark.profile.symbols import Program, Scope
from tockmark.profile.timeline import VECTOR, Slice, TracedSteps, slice_of, timed_steps
from tockmark.target.image import Image
from tockmark.wire.records import ARM, FULL, Mark, Record, decode

FAMILIES = Path(__file__).with_name("families.toml")
ALARM, UART = "alarm", "uart"  # chains
HALFWORD = 2  # bytes; instructions are aligned to it
IRQ, UPCALL = "irq", "upcall"
WORD = 1 << 32
TODO = "report this, with the log"
ALARMS = "alarms"
TRAP, WAKE = "trap", "wake"  # names of the simulator's own marks
QUEUED = "queued"  # in every family, the stage that ends when the upcall is queued
NEVER = 1 << 63  # a cycle


class Stage(Part, frozen=True):
    """A stage and the point that ends it; see families.toml."""

    name: str
    what: str
    own: tuple[str, ...] = ()
    symbol: str | None = None
    inlined: tuple[str, ...] = ()
    also_in: str | None = None
    app: str | None = None

    @property
    def mark(self) -> str:
        """The simulator's name for its point."""
        return self.name.replace(" ", "_")


class Deferred(Part, frozen=True):
    """The functions that request and serve deferred calls."""

    set: str
    served: str


class OtherChain(Part, frozen=True):
    """The chain of an event other than an alarm: the stages that differ, by name."""

    name: str
    begins: str
    stage: tuple[Stage, ...]


class KernelFamily(Part, frozen=True):
    """Kernels that have their stages at the same points."""

    name: str
    known_by: str
    served: str
    by_process: str
    looks: str  # the stage that ends where the kernel reads its pending interrupts
    stage: tuple[Stage, ...]
    deferred: Deferred | None = None
    chain: tuple[OtherChain, ...] = ()
    begins: Stage | None = None  # ends where the driver of the chain's event begins

    def for_chain(self, chain: str) -> "KernelFamily":
        """Return the family with the stages of a chain."""
        if chain == ALARM:
            return self
        other = next(other_chain for other_chain in self.chain if other_chain.name == chain)
        own = {stage.name: stage for stage in other.stage}
        stages = tuple(own.get(stage.name, stage) for stage in self.stage)
        begins = Stage("begins", "the driver begins", symbol=other.begins)
        return msgspec.structs.replace(self, stage=stages, begins=begins)

    @property
    def served_number(self) -> int:
        """The number of the stage whose point is passed for alarms only."""
        return [stage.name for stage in self.stage].index(self.served)

    @property
    def first_process_stage(self) -> int:
        """The number of the first stage that belongs to the process."""
        return [stage.name for stage in self.stage].index(self.by_process)


def load_families(path: Path = FAMILIES) -> list[KernelFamily]:
    """Read the list of families."""
    return msgspec.toml.decode(path.read_bytes(), type=dict[str, list[KernelFamily]])["family"]


def find_family(program: Program, chain: str = ALARM) -> KernelFamily:
    """Return the family of a kernel with the stages of a chain. Raise TockmarkError if no family
    matches."""
    names = set(program.code_names().values())
    families = load_families()
    for family in families:
        if family.known_by in names:
            return family.for_chain(chain)
    raise TockmarkError(
        f"{shown(program.path)}: the stages of this kernel are not known"
        f" ({', '.join(family.name for family in families)})",
        "give a kernel with its symbols, not stripped",
    )


def mark_options(
    family: KernelFamily, program: Program, app: Mapping[str, int], own_marks: Sequence[str] = ()
) -> tuple[str, ...]:
    """Return the simulator's options for the points of a family in a kernel and in an app with the
    symbols `app`, and for the marks `own_marks` of the simulator. Raise TockmarkError if a point is
    missing."""
    own = {name for stage in family.stage for name in stage.own}
    marks = [*dict.fromkeys([*own_marks, *sorted(own)])]
    for stage in (*family.stage, *filter(None, [family.begins])):
        if stage.app is not None:
            marks.append(f"{stage.mark}={app[stage.app]:#x}")
        elif stage.symbol is not None:
            marks += [f"{stage.mark}={at:#x}" for at in stage_addresses(program, stage)]
    return tuple(word for mark in marks for word in ("--mark", mark))


def check_points(program: Program) -> None:
    """Raise TockmarkError unless a kernel's family is known and has all its points."""
    for stage in find_family(program).stage:
        if stage.symbol is not None:
            stage_addresses(program, stage)


def stage_addresses(program: Program, stage: Stage) -> list[int]:
    """Return the addresses of a stage's point in a kernel. Raise TockmarkError if there are
    none."""
    assert stage.symbol is not None
    own, others = _function_starts(program, stage.symbol), _function_starts(program, stage.also_in)
    if not own and not others:
        raise _missing_point(program, stage, f"has no function {stage.symbol}")
    path = (stage.symbol, *stage.inlined)
    points = _inlined_starts(program, own, stage.inlined) if stage.inlined else own
    points = sorted([*points, *_inlined_starts(program, others, path)])
    if points:
        return points
    if program.lines:
        raise _missing_point(program, stage, f"has no {' in '.join(reversed(path))}")
    raise TockmarkError(
        f"{shown(program.path)} has no line tables, so the stage '{stage.name}' cannot be found",
        f"for the baseline, {make_command('profile')}; build Tock with debuginfo",
    )


def _function_starts(program: Program, pattern: str | None) -> list[int]:
    """Return the addresses of the functions whose names match a pattern."""
    if pattern is None:
        return []
    return [at for at, name in program.code_names().items() if re.fullmatch(pattern, name)]


def _inlined_starts(program: Program, functions: Iterable[int], path: Sequence[str]) -> list[int]:
    """Return the addresses in `functions` at which the last function of `path` begins. Each
    function of the path is inlined in the previous one."""
    inside = [at for f in functions for at in range(f, f + program.size(f), HALFWORD)]
    program.look_up(inside)
    matching = {at for at in inside if _is_inside(program.scopes(at), path)}
    # Unrolled loops contain it several times: it begins wherever it does not continue.
    return [at for at in inside if at in matching and at - HALFWORD not in matching]


def _is_inside(scopes: Sequence[Scope], names: Sequence[str]) -> bool:
    """Return whether functions of these names are in the scopes, each inside the previous one."""
    inner = iter(scope.path for scope in scopes)
    return all(any(re.fullmatch(name, path) for path in inner) for name in names)


def _missing_point(program: Program, stage: Stage, problem: str) -> TockmarkError:
    return TockmarkError(
        f"{shown(program.path)} {problem}, where the stage '{stage.name}' ends",
        "add the point of this kernel to tools/tockmark/latency/families.toml",
    )


@dataclass(frozen=True)
class Alarm:
    """An alarm that came, or a text line that was sent: its due time and the end of each stage, in
    cycles of the simulation."""

    due: int
    ends: tuple[int, ...]
    passed: tuple[bool, ...]  # whether each stage's point was passed for it

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
    """The distribution of a duration in cycles, and how often it was seen."""

    median: Count
    most_of: Count  # the 99th percentile
    worst: Count
    count: Count


def spread(cycles: Iterable[int], count: int | None = None) -> WaitSpread:
    """Return the spread of at least one value; the median of an even number is the lower middle
    one."""
    ordered = sorted(cycles)

    def at(part: float) -> int:
        return ordered[ceil(part * len(ordered)) - 1]

    return WaitSpread(at(0.5), at(0.99), ordered[-1], len(ordered) if count is None else count)


@dataclass(frozen=True)
class Clock:
    """The relation of the kernel's ticks to cycles."""

    cycle: int
    tick: int
    per_tick: int

    def cycle_of(self, tick: int) -> int:
        """Return the cycle in which a tick begins, which must be less than half the tick range
        away."""
        distance = (tick - self.tick + WORD // 2) % WORD - WORD // 2
        return self.cycle + distance * self.per_tick


def clock_from(dues: Sequence[int], rises: Sequence[int]) -> Clock:
    """Return the clock from undisturbed alarms: their due ticks and the rises of the interrupt
    line. A few rises may be late, because the kernel sets its timer just then. Raise TockmarkError
    if most do not agree."""
    for (due, rise), (later_due, later_rise) in combinations(zip(dues, rises, strict=True), 2):
        result = Clock(rise, due, (later_rise - rise) // max((later_due - due) % WORD, 1))
        late = [at - result.cycle_of(tick) for tick, at in zip(dues, rises, strict=True)]
        if result.per_tick > 0 and min(late) >= 0 and 2 * late.count(0) > len(late):
            return result
    raise TockmarkError(
        "the interrupts of the first alarms do not rise at their due ticks", TODO, INCOMPLETE
    )


class Passings:
    """The cycles when the core passed each point, in order."""

    def __init__(self, marks: Iterable[Mark]) -> None:
        self._at: dict[str, list[int]] = defaultdict(list)
        for mark in marks:
            self._at[mark.name].append(mark.cycle)

    def all(self, name: str) -> Sequence[int]:
        return self._at[name]

    def first(self, names: Sequence[str], start: int, end: int) -> int | None:
        """Return the first passing of any point from `start` to `end`, both included, or None."""
        cycles = [
            self._at[name][at]
            for name in names
            if (at := bisect_left(self._at[name], start)) < len(self._at[name])
        ]
        return min((cycle for cycle in cycles if cycle <= end), default=None)

    def last(self, names: Sequence[str], start: int, end: int) -> int | None:
        """Return the last passing of any point from `start` to `end`, both included, or None."""
        cycles = [
            self._at[name][at - 1]
            for name in names
            if (at := bisect_right(self._at[name], end)) > 0
        ]
        return max((cycle for cycle in cycles if cycle >= start), default=None)


def find_stages(family: KernelFamily, passings: Passings, due: int, upcall: int) -> Alarm:
    """Return the stages of an alarm between its due time and its upcall.

    From the first process stage on, take the last passing before the upcall; for the stages before,
    the first since the due time."""
    names = [stage.own or (stage.mark,) for stage in family.stage]
    passed: list[int | None] = [None] * len(names)
    passed[-1] = bound = upcall
    for number in reversed(range(family.first_process_stage, len(names) - 1)):
        passed[number] = passings.last(names[number], due, bound)
        bound = bound if passed[number] is None else passed[number]  # type: ignore[assignment]
    served = passings.first(names[family.served_number], due, bound)
    at, most = due, bound if served is None else served
    for number in range(family.first_process_stage):
        most = bound if number > family.served_number else most
        passed[number] = passings.first(names[number], at, most)
        at = at if passed[number] is None else passed[number]  # type: ignore[assignment]
    ends, at = [], due
    for cycle in passed:
        at = at if cycle is None else cycle
        ends.append(at)
    return Alarm(due, tuple(ends), tuple(cycle is not None for cycle in passed))


def alarms_in_log(family: KernelFamily, lines: Iterable[str], load: str) -> list[Alarm]:
    """Return the alarms of a boot's log except the first, undisturbed ones. Raise TockmarkError if
    the log is incomplete or a point was never passed."""
    items, passings = _decoded(lines, load)
    upcalls = passings.all(UPCALL)
    quiet = _ticks(_numbers(items, "quiet"), 0)
    dues = _ticks(_numbers(items, "due"), quiet[-1] if quiet else 0)
    if not (_ended(items) and quiet and dues) or len(upcalls) < len(quiet) + len(dues):
        raise _incomplete(load, f"{len(upcalls)} alarms came, but the log of the app is incomplete")
    rises = [
        passings.first([IRQ], start, end)
        for start, end in zip(passings.all(ARM), upcalls[: len(quiet)], strict=False)
    ]
    ticking = clock_from(quiet, [rise or 0 for rise in rises])
    stages = [
        find_stages(family, passings, ticking.cycle_of(due), upcall)
        for due, upcall in zip(dues, upcalls[-len(dues) :], strict=True)
    ]
    return _all_passed(family, stages, load)


def lines_in_log(
    family: KernelFamily, lines: Iterable[str], load: str, count: int, takes: range
) -> list[Alarm]:
    """Return the last `count` text lines sent in a boot's log. `takes` is the range of cycles that
    sending a line takes. Raise TockmarkError as `alarms_in_log` does."""
    items, passings = _decoded(lines, load)
    arms, upcalls = (passings.all(name)[-count:] for name in (ARM, UPCALL))
    if not _ended(items) or len(upcalls) < count:
        raise _incomplete(load, f"{len(passings.all(UPCALL))} lines had an upcall, not {count}")
    assert family.begins is not None
    served_by, begun_by = family.stage[family.served_number].mark, family.begins.mark
    sent = []
    for arm, upcall in zip(arms, upcalls, strict=True):
        served = passings.last([served_by], arm, upcall) or upcall
        begun = passings.last([begun_by], arm, served) or upcall
        due = passings.first([IRQ], begun + takes.start, min(begun + takes.stop, served))
        if due is None:
            raise TockmarkError(
                f"{load}: another pending interrupt hides when a line was sent",
                "omit this load",
                INCOMPLETE,
            )
        sent.append(find_stages(family, passings, due, upcall))
    return _all_passed(family, sent, load)


def _decoded(lines: Iterable[str], load: str) -> tuple[Sequence[object], Passings]:
    """Return the records and the marks of a log. Raise TockmarkError if the simulator did not print
    all marks."""
    items = decode(lines)
    marks = [item for item in items if isinstance(item, Mark)]
    if any(mark.name == FULL for mark in marks):
        raise TockmarkError(
            f"{load}: the core passed more points than the simulator prints",
            "give a smaller --alarms",
        )
    return items, Passings(marks)


def _incomplete(load: str, problem: str) -> TockmarkError:
    """Return the error of a boot that lacks upcalls."""
    todo = "look at the log (--debug); apps that compute may delay this one"
    return TockmarkError(f"{load}: {problem}", todo, INCOMPLETE)


def _ended(items: Iterable[object]) -> bool:
    return any(isinstance(item, Record) and item.kind == "end" for item in items)


def _all_passed(family: KernelFamily, alarms: list[Alarm], load: str) -> list[Alarm]:
    """Return the alarms. Raise TockmarkError if a point was never passed."""
    for number, stage in enumerate(family.stage):
        if not any(alarm.passed[number] for alarm in alarms):
            raise TockmarkError(
                f"{load}: no alarm reached the end of the stage '{stage.name}'",
                "add the point of this kernel to tools/tockmark/latency/families.toml",
                INCOMPLETE,
            )
    return alarms


def lost_alarm(family: KernelFamily, lines: Iterable[str], end: int, load: str) -> tuple[int, str]:
    """Return how long the last alarm of a boot had waited at the cycle `end`, and the last stage
    that certainly ended. Raise TockmarkError if no alarm was waiting."""
    passings = Passings(item for item in decode(lines) if isinstance(item, Mark))
    arms, upcalls = passings.all(ARM), passings.all(UPCALL)
    at = passings.first([IRQ], arms[-1], end) if arms else None
    if at is None or (upcalls and upcalls[-1] > at):
        raise TockmarkError(f"{load}: the boot ended, and no alarm waited", TODO, INCOMPLETE)
    rise, ended = at, IRQ
    for stage in family.stage[: family.first_process_stage]:  # later passings may be others'
        if (passed := passings.first(stage.own or (stage.mark,), at, end)) is None:
            break
        at, ended = passed, stage.name
    return end - rise, ended


def stage_spreads(family: KernelFamily, alarms: Sequence[Alarm]) -> Mapping[str, WaitSpread]:
    """Return the duration of each stage, and for how many alarms its point was passed."""
    return {
        stage.name: spread(
            (alarm.stages[number] for alarm in alarms),
            sum(alarm.passed[number] for alarm in alarms),
        )
        for number, stage in enumerate(family.stage)
    }


def _ticks(distances: Iterable[int], start: int) -> list[int]:
    """Return ticks from the distance of each to the previous one."""
    return [at % WORD for at in accumulate(distances, initial=start)][1:]


def _numbers(items: Iterable[object], kind: str) -> list[int]:
    records = (item for item in items if isinstance(item, Record) and item.kind == kind)
    return [int(word) for record in records for word in record.words]


def alarm_tracks(traced: TracedSteps) -> list[Slice]:
    """Return the alarms of a trace with their stages inside them; overlapping alarms go to further
    tracks. Print a warning and return none if the kernel's stages are unknown or a point is
    missing."""
    try:
        family = find_family(traced.kernel)
        points = _points(family, traced.kernel, traced.image)
    except TockmarkError as error:
        print_message(f"the trace has no stages of alarms: {error.problem}")
        return []
    passings = Passings(_passed(traced, points))
    slices: list[Slice] = []
    ends: list[int] = []  # of the last alarm on each track
    for alarm in _alarms(family, passings):
        lane = next((n for n, end in enumerate(ends) if end <= alarm.due), len(ends))
        ends[lane:] = [alarm.ends[-1], *ends[lane + 1 :]]
        slices += _slices(family, alarm, f"{ALARMS} {lane + 1}" if lane else ALARMS)
    return slices


def _points(
    family: KernelFamily, kernel: Program, image: Image
) -> dict[tuple[bool, int], list[str]]:
    """Return the names of the stages that end at each (is user mode, address). Raise TockmarkError
    if a point of the kernel is missing."""
    points: dict[tuple[bool, int], list[str]] = {}
    for stage in family.stage:
        if stage.symbol is not None:
            for at in stage_addresses(kernel, stage):
                points.setdefault((False, at), []).append(stage.mark)
        for slot in image.slots:
            if stage.app is not None and (address := slot.symbols.get(stage.app)) is not None:
                points.setdefault((True, address), []).append(stage.mark)
    return points


def _passed(traced: TracedSteps, points: dict[tuple[bool, int], list[str]]) -> Iterator[Mark]:
    """Yield the passings of each point in order, as marks with the simulator's names."""
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
    served = [
        (rise, at)
        for rise, after in zip(rises, [*rises[1:], NEVER], strict=False)
        if (at := passings.first(point, rise, after - 1)) is not None
    ]
    last_upcall = 0  # of the alarm before
    for (due, at), (_, after) in zip(served, [*served[1:], (NEVER, NEVER)], strict=False):
        queued = passings.first([QUEUED], at, after - 1)
        if queued is None:
            continue
        upcall = passings.first([UPCALL], max(queued, last_upcall + 1), NEVER)
        if upcall is not None:
            last_upcall = upcall
            yield find_stages(family, passings, due, upcall)


def _slices(family: KernelFamily, alarm: Alarm, track: str) -> Iterator[Slice]:
    yield slice_of(track, "alarm", alarm.due, alarm.ends[-1])
    begin = alarm.due
    for stage, end in zip(family.stage, alarm.ends, strict=True):
        if end > begin:
            yield slice_of(track, stage.name, begin, end, {"what": stage.what})
        begin = end
