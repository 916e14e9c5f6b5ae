# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Which waits of one kernel are longer than another's.

A worst wait is a maximum over the same alarms at the same phases: on one kernel it comes out the
same each time, so there is no chance to reckon with. What differs from kernel to kernel without
anybody's doing is the layout of the code, for which there is a margin.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from tockmark.errors import TockmarkError
from tockmark.latency.report import NOUN, LoadFound, StoredLatency, WorstAlarm
from tockmark.latency.stretches import ELSEWHERE
from tockmark.show.text import change
from tockmark.suite.catalogue import ICACHE

MARGIN = 0.05  # a worst wait that is longer by so much of it is a finding
LEAST = 200  # and by so many cycles


@dataclass(frozen=True)
class LongerWait:
    """The worst wait beside a load, before and after, and the stage that grew most."""

    load: str
    before: int
    after: int
    stage: str
    grown: int
    icache: bool
    function: str | None  # that grew most, where the alarm was traced on both kernels
    noun: str  # what waits
    never: bool = False  # it does not come any more: `after` is how long that was watched

    def __str__(self) -> str:
        if self.never:
            return (
                f"the {self.noun} beside {self.load}, i-cache {ICACHE[self.icache]}, never comes"
                f" within {self.after:,} cycles, and took {self.before:,} at most"
            )
        most = f", most in {self.function}" if self.function else ""
        return (
            f"the worst {self.noun} beside {self.load}, i-cache {ICACHE[self.icache]}:"
            f" {_change(self.before, self.after)}, in the stage '{self.stage}'"
            f" ({self.grown:+,}){most}"
        )


def longer(base: StoredLatency, new: StoredLatency) -> list[LongerWait]:
    """Return the loads beside which the worst alarm waits longer. TockmarkError if the files are
    not of the same machine, stages and alarms."""
    for what, one, other in (
        ("kernels with other stages", base.family, new.family),
        ("other chains", base.chain, new.chain),
        ("other boards", base.board, new.board),
        ("other settings of the cache", base.icache, new.icache),
        ("other simulators", base.simulator, new.simulator),
        ("other loads", _names(base), _names(new)),
        ("other numbers of alarms", _counts(base, new), _counts(new, base)),
    ):
        if one != other:
            raise TockmarkError(f"these are of {what}", "measure both alike, on one machine")
    return list(_longer(base, new))


def _longer(base: StoredLatency, new: StoredLatency) -> Iterator[LongerWait]:
    known = {load.name: load for load in base.loads}
    for lost in new.never:
        if (one := known.get(lost.name)) is not None:
            before = one.whole.worst
            ends = lost.what, before, lost.cycles, lost.ended, lost.cycles - before
            yield LongerWait(*ends, new.icache, None, NOUN[new.chain], never=True)
    for load in new.loads:
        if load.name not in known:  # it never came on the other
            continue
        before, after = known[load.name].whole.worst, load.whole.worst
        if after - before > max(LEAST, before * MARGIN):
            grown = _grown(known[load.name], load)
            stage = max(grown, key=grown.__getitem__)
            traced = base.worst.load == new.worst.load == load.name
            function = _function(base.worst, new.worst) if traced else None
            ends = load.what, before, after, stage, grown[stage]
            yield LongerWait(*ends, new.icache, function, NOUN[new.chain])


def _grown(base: LoadFound, new: LoadFound) -> dict[str, int]:
    return {name: one.worst - base.stages[name].worst for name, one in new.stages.items()}


def as_before(base: StoredLatency, new: StoredLatency, found: list[LongerWait]) -> list[str]:
    """Return what is said of the loads of which `longer` found none."""
    known = {load.name: load.whole.worst for load in base.loads}
    grown = {one.load for one in found}
    return [
        f"the worst {NOUN[new.chain]} beside {load.what}, i-cache {ICACHE[new.icache]}:"
        f" {_change(known[load.name], load.whole.worst)}"
        for load in new.loads
        if load.what not in grown and load.name in known
    ]


def _change(before: int, after: int) -> str:
    return f"{before:,} → {after:,} cycles ({change(before, after)})"


def _function(base: WorstAlarm, new: WorstAlarm) -> str | None:
    """Return the function that took most cycles more, whoever called it; None if none did."""
    grown = Counter[str]()
    for alarm, sign in ((new, 1), (base, -1)):
        for part in alarm.parts:
            if part.stack != ELSEWHERE:
                grown[part.stack[-1]] += sign * part.cycles
    most = max(grown, key=grown.__getitem__, default=None)
    return most if most is not None and grown[most] > 0 else None


def _names(one: StoredLatency) -> set[str]:
    return {load.name for load in one.loads} | {load.name for load in one.never}


def _counts(one: StoredLatency, other: StoredLatency) -> dict[str, int]:
    """Return how many alarms came beside each load, of those beside which they come on both."""
    both = {load.name for load in other.loads}
    return {load.name: load.whole.count for load in one.loads if load.name in both}


def text(base: StoredLatency, new: StoredLatency, found: list[LongerWait]) -> str:
    """Return the verdict."""
    against = f"{new.kernel.title} against {base.kernel.title}"
    if not found:
        return f"no worst {NOUN[new.chain]} waits longer by more than {MARGIN:.0%}: {against}\n"
    return "".join(f"{one}\n" for one in found) + f"{against}\n"
