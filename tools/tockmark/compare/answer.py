# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What a change costs, operation by operation: the answer that text, JSON, comments and pages show.

Here is no rule: a judgement (gate.py) has decided what moved for certain. Each operation that was
judged has one line for each cache setting, in cycles of one operation, and stands as

- gone: the head does not have it as the base does;
- sure: its cycles moved for certain, by the rule: beyond a limit with their whole range, or over
  paired links by anything;
- unsure: what was measured is beyond a limit, but the range is not, so it may be the layout; or it
  executes other instructions, whose time nothing tells yet;
- unchanged: it takes as many cycles within its limits; if it executes other instructions, with the
  whole range.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from tockmark.compare.gate import BY_CONTROL, Gated
from tockmark.compare.limits import Level
from tockmark.compare.pairs import Moved
from tockmark.compare.rule import SLACK, Change, Verdict
from tockmark.result.model import Row
from tockmark.suite.catalogue import Key


class Certainty(StrEnum):
    """What may be said of the cycles of an operation."""

    GONE = "gone"
    SURE = "sure"
    UNSURE = "unsure"
    UNCHANGED = "unchanged"


@dataclass(frozen=True)
class Line:
    """One operation with one cache setting."""

    row: Row  # the base's
    certainty: Certainty
    cycles: Change | None = None  # None: it is gone
    instret: Change | None = None  # None: gone, or a clock sets how many there are
    more: float = 0  # instructions of one operation that came, or went: for certain, else 0
    level: Level = Level.PASS  # what a limit says of its cycles, or that it is gone
    level_of_more: Level = Level.PASS  # of its instructions
    why: str = ""  # it is gone, or what a reader must know of its figures
    where: str = ""  # functions that the change is in, if that is known

    @property
    def group(self) -> str:
        """Return the group of the catalogue."""
        return self.row.id.partition(".")[0]

    @property
    def estimate(self) -> float | None:
        """Return by which share its cycles changed; None: there is no ratio."""
        return self.cycles.ratio - 1 if self.cycles and self.cycles.ratio else None

    @property
    def is_stray(self) -> bool:
        """Whether its cycles differ by no more than never matters."""
        change = self.cycles
        return change is not None and abs(change.new - change.base) * self.row.inner <= SLACK

    @property
    def dearer(self) -> bool:
        """Whether it seems to take more cycles; where these are equal, more instructions."""
        return (self.estimate or 0, self.more) > (0, 0)

    @property
    def is_news(self) -> bool:
        """Whether it is worth a line of its own. What may be cheaper, or it is the layout, is not:
        nothing came of it, and it executes the same."""
        if self.certainty is Certainty.UNSURE:
            return bool(self.more) or self.dearer
        return self.certainty is not Certainty.UNCHANGED or bool(self.more)

    @property
    def place(self) -> tuple[int, float]:
        """Return its place among others: the worst come first, and of these the largest."""
        order = (
            self.certainty is Certainty.GONE,
            self.certainty is Certainty.SURE and self.dearer,
            self.certainty is Certainty.UNSURE and self.dearer,
            self.certainty is Certainty.SURE,
            self.certainty is Certainty.UNSURE,
            bool(self.more),
            True,
        )
        return order.index(True), -(self.cycles.size if self.cycles else 0)


@dataclass(frozen=True)
class Answer:
    """All lines, by group: the group with the worst line first, in it the worst line."""

    gated: Gated
    moved: Sequence[Moved]  # for certain
    lines: tuple[Line, ...]

    @cached_property
    def groups(self) -> dict[str, list[Line]]:
        """Return the lines by the groups of the catalogue, in their order."""
        found: dict[str, list[Line]] = {}
        for line in self.lines:
            found.setdefault(line.group, []).append(line)
        return found

    def that_are(self, certainty: Certainty) -> list[Line]:
        """Return the lines that stand so."""
        return [line for line in self.lines if line.certainty is certainty]


def answer(gated: Gated, moved: Sequence[Moved], where: Mapping[str, str] | None = None) -> Answer:
    """Make the answer of a judgement and of what moved in it for certain. `where` says in which
    functions, by the labels of rows: whatever their cache setting."""
    lines = [*_gone(gated), *_judged(gated, moved, where or {})]
    lines.sort(key=lambda line: line.place)
    first: dict[str, tuple[int, float]] = {}
    for line in lines:
        first.setdefault(line.group, line.place)
    lines.sort(key=lambda line: (first[line.group], line.group))
    return Answer(gated, moved, tuple(lines))


def _gone(gated: Gated) -> Iterable[Line]:
    for one in gated.gone:
        yield Line(one.row, Certainty.GONE, level=one.level, why=one.why)


def _judged(gated: Gated, moved: Sequence[Moved], where: Mapping[str, str]) -> Iterable[Line]:
    certain = {(one.row.key, one.series): one for one in moved}
    doubtful = {one.row.key for one in (*gated.unsure, *gated.perhaps_better)}
    for pair in gated.comparison.judged:
        key: Key = pair.row.key
        cycles, count = certain.get((key, "cycles")), certain.get((key, "instret"))
        certainty = Certainty.UNCHANGED
        if cycles:
            certainty = Certainty.SURE
        elif key in doubtful or (count and pair.verdict is not Verdict.EQUIVALENT):
            certainty = Certainty.UNSURE
        said = [one.why for one in (cycles, count) if one]
        yield Line(
            pair.row,
            certainty,
            pair.cycles,
            pair.instret,
            count.change.new - count.change.base if count else 0,
            cycles.level if cycles else Level.PASS,
            count.level if count else Level.PASS,
            BY_CONTROL if BY_CONTROL in "; ".join(said) else "",
            where.get(pair.row.label, ""),
        )


def certain(gated: Gated, paired: bool = False) -> list[Moved]:
    """Return all that moved for certain: cycles by more than a limit with their whole range (over
    `paired` links, by anything), instructions of an operation by one or more, and not by a stray
    one or two of a sample. In the order of trust, the largest change first."""
    found = {(one.row.key, one.series): one for one in gated.moved}
    for pair in gated.comparison.judged:
        change = pair.instret
        if change and not change.unmoved and abs(change.new - change.base) >= 1:
            within = Moved(Level.PASS, pair.row, "", "instret", change, pair.cycles)
            found.setdefault((pair.row.key, "instret"), within)
        # Of paired links nothing moves cycles but the change.
        if paired and not pair.cycles.unmoved:
            within = Moved(Level.PASS, pair.row, "", "cycles", pair.cycles)
            found.setdefault((pair.row.key, "cycles"), within)
    place = {pair.row.key: n for n, pair in enumerate(gated.comparison.in_order)}
    return sorted(
        found.values(),
        key=lambda one: (one.series == "cycles", -one.change.size, place[one.row.key]),
    )
