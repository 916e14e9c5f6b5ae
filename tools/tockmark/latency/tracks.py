# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The stages of the alarms in a trace, for the timeline of `tockmark trace`: from the rise of the
interrupt line to the upcall, by the points of families.toml.

The simulator's marks are not asked: the trace has every instruction, so a point is passed where its
own leaves the decode stage, as all else on a timeline. Nobody tells when an alarm was due; so it
counts from the last rise of the line before it was served, and one whose line was up for another
interrupt all the while is left out, as is one that nobody gets an upcall of.
"""

from collections.abc import Iterator

from tockmark.errors import TockmarkError, say
from tockmark.latency.chain import UPCALL, Alarm, Passings, alarm
from tockmark.latency.points import KernelFamily, addresses, family_of
from tockmark.profile.symbols import Program
from tockmark.profile.timeline import VECTOR, Slice, moments
from tockmark.profile.trace import TracedSteps
from tockmark.rig.image import Image
from tockmark.wire.records import Mark

ALARMS = "alarms"
RISE, TRAP, WAKE = "irq", "trap", "wake"  # what the simulator's own marks are called
QUEUED = "queued"  # the stage of every family that ends when the upcall is queued
NEVER = 1 << 63  # a cycle


def alarm_tracks(traced: TracedSteps) -> list[Slice]:
    """Return the alarms of a trace with their stages inside them; none, which is said, if those of
    the kernel are not known, or its points are not found. Alarms that overlap are on a further
    track."""
    try:
        family = family_of(traced.kernel)
        points = _points(family, traced.kernel, traced.image)
    except TockmarkError as error:
        say(f"the trace has no stages of alarms: {error.what}")
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
            for at in addresses(kernel, stage):
                found.setdefault((False, at), []).append(stage.mark)
        for slot in image.slots:
            if stage.app is not None and (place := slot.symbols.get(stage.app)) is not None:
                found.setdefault((True, place), []).append(stage.mark)
    return found


def _passed(traced: TracedSteps, points: dict[tuple[bool, int], list[str]]) -> Iterator[Mark]:
    """Yield the passings of each point in order, named as the simulator's marks are."""
    for rise in traced.raised:
        yield Mark(0, rise, RISE)
    if not any(user for user, _ in points):
        for at in traced.upcalls:
            yield Mark(0, at, UPCALL)
    before = None
    for moment in moments(traced.steps):
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
    rises = passings.all(RISE)
    point = [family.stage[family.served_at].mark]
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
            yield alarm(family, passings, due, upcall)


def _slices(family: KernelFamily, one: Alarm, track: str) -> Iterator[Slice]:
    whole: dict[str, int | str] = {"cycle": one.due, "cycles": one.whole}
    yield Slice(track, "alarm", one.due, one.ends[-1], whole)
    begin = one.due
    for stage, end in zip(family.stage, one.ends, strict=True):
        if end > begin:
            args: dict[str, int | str] = {"cycle": begin, "cycles": end - begin, "what": stage.what}
            yield Slice(track, stage.name, begin, end, args)
        begin = end
