# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Which waits of one kernel are longer than another's: two rows beside each load, of the worst
alarm and of the time that 99 % of them stay within.

Each is one of the alarms that came at the same phases: on one kernel it comes out the same each
time, so there is no chance to reckon with. What differs from kernel to kernel without anybody's
doing is the layout of the code, for which there is a margin (docs/method.md).
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass

from tockmark.errors import TockmarkError
from tockmark.latency.chain import WaitSpread
from tockmark.latency.report import StoredLatency, WorstAlarm
from tockmark.latency.stretches import ELSEWHERE
from tockmark.show.text import Table, TableColumn, bad, change, figures, good
from tockmark.suite.catalogue import ICACHE

MARGIN = 0.05  # a wait that is longer by so much of it is a finding
LEAST = 200  # and by so many cycles
LONGER, SHORTER, SAME = "longer", "shorter", "as before"
WORST, MOST = "worst", "99 %"
WHICH: dict[str, Callable[[WaitSpread], int]] = {
    WORST: lambda one: one.worst,
    MOST: lambda one: one.most_of,
}
WORDS = {
    WORST: "the worst alarm beside {}, i-cache {}:",
    MOST: "99 % of the alarms beside {}, i-cache {}, come within",
}


@dataclass(frozen=True)
class WaitRow:
    """How long an alarm waits beside a load, before and after, and the stage that changed most the
    same way: grew, or shrank where it waits no longer than before."""

    load: str
    what: str  # the load in words
    of: str  # one of WHICH
    icache: bool
    before: int
    after: int
    stage: str
    grown: int
    function: str | None  # that did so most, where the worst alarm was traced on both kernels

    @property
    def name(self) -> str:
        return f"wait.alarm load={self.load} {self.of}"

    @property
    def verdict(self) -> str:
        """One of LONGER, SHORTER and SAME."""
        least, most = sorted((self.before, self.after))
        if most - least <= max(LEAST, self.before * MARGIN):
            return SAME
        return LONGER if most == self.after else SHORTER

    @property
    def why(self) -> str:
        """Name the stage, and the function if it is known."""
        most = f", most in {self.function}" if self.function else ""
        return f"{self.stage} {self.grown:+,}{most}"

    def __str__(self) -> str:
        words = WORDS[self.of].format(self.what, ICACHE[self.icache])
        return (
            f"{words} {self.before:,} → {self.after:,} cycles"
            f" ({change(self.before, self.after)}), in the stage {self.why}"
        )


def wait_rows(base: StoredLatency, new: StoredLatency) -> list[WaitRow]:
    """Return the waits of both beside each load. TockmarkError if the files are not of the same
    machine, stages and alarms."""
    for what, one, other in (
        ("kernels with other stages", base.family, new.family),
        ("other boards", base.board, new.board),
        ("other settings of the cache", base.icache, new.icache),
        ("other simulators", base.simulator, new.simulator),
        ("other numbers of alarms", _counts(base), _counts(new)),
    ):
        if one != other:
            raise TockmarkError(f"these are of {what}", "measure both alike, on one machine")
    return list(_rows(base, new))


def _rows(base: StoredLatency, new: StoredLatency) -> Iterator[WaitRow]:
    known = {load.name: load for load in base.loads}
    for load in new.loads:
        old = known[load.name]
        traced = base.worst.load == new.worst.load == load.name
        for of, value in WHICH.items():
            grown = {
                name: value(one) - value(old.stages[name]) for name, one in load.stages.items()
            }
            ends = value(old.whole), value(load.whole)
            most = max if ends[0] < ends[1] else min
            stage = most(grown, key=grown.__getitem__)
            alarms = (base.worst, new.worst)[:: 1 if most is max else -1]
            function = _function(*alarms) if traced and of == WORST else None
            yield WaitRow(
                load.name,
                load.what,
                of,
                new.icache,
                *ends,
                stage,
                grown[stage],
                function,
            )


def longer(rows: Sequence[WaitRow]) -> list[WaitRow]:
    """Return those that wait longer by the margin."""
    return [row for row in rows if row.verdict == LONGER]


def _function(base: WorstAlarm, new: WorstAlarm) -> str | None:
    """Return the function that took most cycles more, whoever called it; None if none did."""
    grown = Counter[str]()
    for alarm, sign in ((new, 1), (base, -1)):
        for part in alarm.parts:
            if part.stack != ELSEWHERE:
                grown[part.stack[-1]] += sign * part.cycles
    most = max(grown, key=grown.__getitem__, default=None)
    return most if most is not None and grown[most] > 0 else None


def _counts(one: StoredLatency) -> dict[str, int]:
    return {load.name: load.whole.count for load in one.loads}


def table(rows: Sequence[WaitRow]) -> Table:
    """Return the rows for their reader; those that wait longer or shorter say in which stage."""
    columns = figures({"base": 10, "head": 10, "": 9})
    found = Table(
        [
            TableColumn("how long an alarm waits", 36, 0, left=True),
            TableColumn("i$", 3),
            *columns,
            TableColumn("most in the stage", 36, 2, left=True),
        ]
    )
    colours: dict[str, Callable[[str], str]] = {LONGER: bad, SHORTER: good, SAME: str}
    for one in rows:
        moved = colours[one.verdict](change(one.before, one.after))
        why = "" if one.verdict == SAME else f"{one.verdict}: {one.why}"
        ends = f"{one.before:,}", f"{one.after:,}"
        found.add(one.name, ICACHE[one.icache], *ends, moved, why)
    return found


def records(rows: Sequence[WaitRow]) -> list[dict[str, object]]:
    """Return the rows for other programs."""
    return [{"row": row.name, **asdict(row), "verdict": row.verdict} for row in rows]


def answer(base: StoredLatency, new: StoredLatency, rows: Sequence[WaitRow]) -> str:
    """Return the verdict."""
    against = f"{new.kernel.title} against {base.kernel.title}"
    return f"{dearest(rows) or f'no alarm waits longer by more than {MARGIN:.0%}'}; {against}"


def dearest(rows: Sequence[WaitRow]) -> str:
    """Say which wait is longer by most, a worst one if there is any, and how many more are longer;
    empty if none is."""
    found = longer(rows)
    if not found:
        return ""
    one = max(found, key=lambda row: (row.of == WORST, row.after - row.before))
    more = len(found) - 1
    others = f"; {more} more row{'s wait' if more > 1 else ' waits'} longer" if more else ""
    return f"{one}{others}"
