# SPDX-License-Identifier: Apache-2.0 OR MIT
"""From the simulator's marks of a boot to the stages of each of its alarms, and what they come to.

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
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import ceil

from tockmark.documents import Count, Part
from tockmark.errors import INCOMPLETE, TockmarkError
from tockmark.latency.points import KernelFamily
from tockmark.wire.records import ARM, FULL, Mark, Record, decode

IRQ, UPCALL = "irq", "upcall"
WORD = 1 << 32
TODO = "report this, with the log"


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


def clock(dues: Sequence[int], rises: Sequence[int]) -> Clock:
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


def alarm(family: KernelFamily, passings: Passings, due: int, upcall: int) -> Alarm:
    """Return the stages of an alarm, from its two ends."""
    names = [stage.own or (stage.mark,) for stage in family.stage]
    found: list[int | None] = [None] * len(names)
    found[-1] = bound = upcall
    for number in reversed(range(family.by_turn, len(names) - 1)):
        found[number] = passings.last(names[number], due, bound)
        bound = bound if found[number] is None else found[number]  # type: ignore[assignment]
    served = passings.first(names[family.served_at], due, bound)
    at, most = due, bound if served is None else served
    for number in range(family.by_turn):
        most = bound if number > family.served_at else most
        found[number] = passings.first(names[number], at, most)
        at = at if found[number] is None else found[number]  # type: ignore[assignment]
    ends, at = [], due
    for one in found:
        at = at if one is None else one
        ends.append(at)
    return Alarm(due, tuple(ends), tuple(one is not None for one in found))


def alarms(family: KernelFamily, lines: Iterable[str], load: str) -> list[Alarm]:
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
    ticking = clock(quiet, [rise or 0 for rise in rises])
    found = [
        alarm(family, passings, ticking.cycle_of(due), upcall)
        for due, upcall in zip(dues, upcalls[-len(dues) :], strict=True)
    ]
    return _all_passed(family, found, load)


def lines_sent(
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
    served_by, begun_by = family.stage[family.served_at].mark, family.begins.mark
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
        found.append(alarm(family, passings, due, upcall))
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


def never_came(family: KernelFamily, lines: Iterable[str], end: int, load: str) -> tuple[int, str]:
    """Return of a boot that was ended at a cycle how long its last alarm has waited, and which was
    the last stage that surely ended for it. TockmarkError if none waits."""
    passings = Passings(item for item in decode(lines) if isinstance(item, Mark))
    arms, upcalls = passings.all(ARM), passings.all(UPCALL)
    at = passings.first([IRQ], arms[-1], end) if arms else None
    if at is None or (upcalls and upcalls[-1] > at):
        raise TockmarkError(f"{load}: the boot ended, and no alarm waited", TODO, INCOMPLETE)
    rise, ended = at, IRQ
    for stage in family.stage[: family.by_turn]:  # whose the passings behind are, nothing tells
        if (passed := passings.first(stage.own or (stage.mark,), at, end)) is None:
            break
        at, ended = passed, stage.name
    return end - rise, ended


def spreads(family: KernelFamily, found: Sequence[Alarm]) -> Mapping[str, WaitSpread]:
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
