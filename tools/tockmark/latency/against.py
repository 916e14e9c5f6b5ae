# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Which waits of one kernel are longer than another's: two rows beside each load, of the worst
alarm and of the time that 99 % of them stay within.

Each is one of the alarms that came at the same phases: on one kernel it comes out the same each
time, so there is no chance to reckon with. What differs from kernel to kernel without anybody's
doing is the layout of the code, for which there is a margin (docs/method.md). A wait that is longer
by more is beyond a hard limit.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tockmark.compare.limits import Limit
from tockmark.compare.verdict import RowVerdict, Verdict
from tockmark.errors import TockmarkError
from tockmark.latency.chain import WaitSpread
from tockmark.latency.report import LoadFound, StoredLatency, WorstAlarm
from tockmark.latency.stretches import ELSEWHERE
from tockmark.suite.catalogue import Lang, Params, RowName

MARGIN = 0.05  # a wait that is longer by so much of it is a finding
LEAST = 200  # and by so many cycles
WORST, MOST = "worst", "99%"
WHICH: dict[str, Callable[[WaitSpread], int]] = {
    WORST: lambda one: one.worst,
    MOST: lambda one: one.most_of,
}


@dataclass(frozen=True)
class WaitName(RowName):
    """What a wait is called: `wait.alarm load=console of=worst`."""

    id: str
    params: Params
    icache: bool | None
    lang: Lang = "c"


def wait_verdicts(base: StoredLatency, new: StoredLatency) -> list[RowVerdict]:
    """Return what is said of the waits beside each load. TockmarkError if the files are not of the
    same machine, stages and alarms."""
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
    return list(_verdicts(base, new))


def _verdicts(base: StoredLatency, new: StoredLatency) -> Iterator[RowVerdict]:
    known = {load.name: load for load in base.loads}
    for lost in new.never:
        if lost.name in known:
            why = f"never comes within {lost.cycles:,} cycles, the stage {lost.ended} was over"
            name = _name(new, lost.name, WORST)
            yield RowVerdict(name, Verdict.GONE, limit=Limit.HARD, why=why)
    for load in new.loads:
        if (old := known.get(load.name)) is not None:  # else it never came on the other
            for of, value in WHICH.items():
                traced = base.worst.load == new.worst.load == load.name and of == WORST
                worst = (base.worst, new.worst) if traced else None
                yield judge_wait(_name(new, load.name, of), old, load, value, worst)


def judge_wait(
    name: RowName,
    old: LoadFound,
    new: LoadFound,
    value: Callable[[WaitSpread], int],
    worst: tuple[WorstAlarm, WorstAlarm] | None = None,
) -> RowVerdict:
    """Judge one wait, and name the stage that changed most the same way: grew, or shrank where it
    waits no longer than before. `worst` alarms that were traced on both kernels name the function,
    too."""
    before, after = value(old.whole), value(new.whole)
    verdict = Verdict.SAME
    if abs(after - before) > max(LEAST, before * MARGIN):
        verdict = Verdict.WORSE if after > before else Verdict.BETTER
    grown = {name: value(one) - value(old.stages[name]) for name, one in new.stages.items()}
    stage = (max if before < after else min)(grown, key=grown.__getitem__)
    where = f"{stage} {grown[stage]:+,}"
    if worst and (function := _function(*worst if before < after else reversed(worst))):
        where += f", most in {function}"
    share = after / before - 1 if before else None
    return RowVerdict(
        name,
        verdict,
        before,
        after,
        share,
        None if share is None else (share, share),
        limit=Limit.HARD if verdict is Verdict.WORSE else Limit.NONE,
        where="" if verdict is Verdict.SAME else where,
    )


def _name(found: StoredLatency, load: str, of: str) -> WaitName:
    return WaitName(f"wait.{found.chain}", {"load": load, "of": of}, found.icache)


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
