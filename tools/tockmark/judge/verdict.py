# SPDX-License-Identifier: Apache-2.0 OR MIT
"""How one row changed, and what may be said of it: the one rule of compare and gate.

Code layout moves figures, and chance made the layout: it is the random factor, not the sample.

- **Instructions** do not depend on the layout, but for a stray one or two.
- **Cycles** have an interval: the difference of the means of the logarithms over the layouts, more
  or less t s sqrt(1/m + 1/n), where m and n are the numbers of links of the kernels and s is
  the row's spread over links: what both sides show, or what is known (spread.py) if that is more.
  Student's t is what Z deviations become where s itself is an estimate.
- Layouts of the apps never stand for links of the kernel. With one link on a side, a difference
  inside that spread is `layout?`.
- Rows of the apps' own, which no kernel touches, have no verdict: what their slopes differ by with
  the cache on is noise, and no cached row has a narrower interval. Between languages that is said
  by those whose body is in assembly, and so the same.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from tockmark.judge.estimate import student
from tockmark.judge.spread import Deviation, Spread, logs_of
from tockmark.judge.value import Value
from tockmark.result.model import Row, alike
from tockmark.suite.catalogue import Catalogue

Z = 3.5  # standard deviations to either side; docs/judging.md says why so many
ROUNDING = 1e-9  # of logarithms
SLACK = 2  # counts of a sample that never matter
SAME = 0.005  # a row of the apps that differs by more, and by more than a count, has moved


class Verdict(StrEnum):
    """What is said of a row, in one quantity."""

    EQUIVALENT = "equivalent"
    TRIVIAL = "trivial"
    RELEVANT = "relevant"
    LAYOUT = "layout?"
    INDETERMINATE = "indeterminate"


@dataclass(frozen=True)
class Change:
    """From one value of a row to another. The ratios are new by base."""

    base: float  # net counts of one operation: the median over the layouts
    new: float
    ratio: float | None  # of the geometric means over the layouts; None if a net is not above zero
    low: float  # where the ratio may lie
    high: float
    links: int  # of the side that has fewer

    @property
    def lower(self) -> bool:
        return self.new < self.base

    @property
    def size(self) -> float:
        """How large it is, whichever way: a logarithm."""
        if self.base == self.new:
            return 0
        return abs(math.log(self.ratio)) if self.ratio else math.inf

    @property
    def unmoved(self) -> bool:
        """Whether there may be no change at all."""
        return self.low <= 1 + ROUNDING and self.high >= 1 - ROUNDING

    @property
    def without_doubt(self) -> "Change":
        """What it would be if the interval were the one point that was measured."""
        point = self.ratio if self.ratio is not None else max(self.new, 1) / max(self.base, 1)
        return replace(self, low=point, high=point)

    def verdict(self, margin: float) -> Verdict:
        """Within a margin that makes a zone around 1, as far down as up."""
        edge = math.log1p(margin) + ROUNDING
        low, high = (math.log(end) if end > 0 else -math.inf for end in (self.low, self.high))
        if low > edge or high < -edge:
            return Verdict.RELEVANT
        if -edge <= low and high <= edge:
            return Verdict.EQUIVALENT if self.unmoved else Verdict.TRIVIAL
        return Verdict.LAYOUT if self.unmoved and self.links == 1 else Verdict.INDETERMINATE


def change(base: Value, new: Value, known: Deviation | None, noise: float = 0) -> Change:
    """From `base` to `new`, of what depends on the layout. `known` is the spread over links, if it
    is; `noise` is a logarithm: no interval is narrower."""
    shown = _shown(base, new)
    half = math.inf
    if known is not None:
        s = max(known.value, shown.value)
        wide = student(Z, known.free + shown.free) * s
        half = max(wide * math.sqrt(1 / base.links + 1 / new.links), noise)
    return _between(base, new, _log(new, new.nets) - _log(base, base.nets), half)


def change_of_count(base: Value, new: Value) -> Change:
    """The same of instructions, which do not depend on the layout."""
    return _between(base, new, _log(new, [new.net]) - _log(base, [base.net]), 0)


def _between(base: Value, new: Value, middle: float, half: float) -> Change:
    """An interval about a logarithm, with what the nets may be off by."""
    ends = base.per_op, new.per_op
    links = min(base.links, new.links)
    if base.nets == new.nets and base.inner == new.inner:  # nothing differs, whatever could
        return Change(*ends, 1 if ends[0] > 0 else None, 1, 1, links)
    half += sum(math.log1p(value.error / max(value.net, 1)) for value in (base, new))
    low, high = math.exp(middle - half), math.exp(middle + half)
    if abs(ends[1] - ends[0]) * min(base.inner, new.inner) <= SLACK:
        low, high = min(low, 1), max(high, 1)
    return Change(*ends, math.exp(middle) if min(ends) > 0 else None, low, high, links)


def _log(value: Value, nets: Sequence[float]) -> float:
    """The mean of the logarithms, of one operation."""
    return float(logs_of(nets).mean()) - math.log(value.inner)


def _shown(base: Value, new: Value) -> Deviation:
    """The spread that both sides show, pooled; none where neither has several layouts. Layouts of
    one link make it larger, but no surer."""
    logs = [logs_of(value.nets) for value in (base, new)]
    over = sum(len(one) - 1 for one in logs)
    squares = sum(len(one) * float(one.var()) for one in logs)
    return Deviation(math.sqrt(squares / over) if over else 0, base.links + new.links - 2)


def touches(row: Row, catalogue: Catalogue) -> str:
    """What the catalogue says; a row that it does not know may go through the kernel."""
    found = catalogue.benchmarks.get(row.id)
    return found.touches if found else "kernel"


def same(base: Row, new: Row, catalogue: Catalogue) -> bool:
    """Whether two rows of the apps' own run the same code: in two languages a body in assembly."""
    return base.lang == new.lang or bool(catalogue.benchmarks[base.id].bodies)


@dataclass(frozen=True)
class Rule:
    """The rule for the rows of two sides."""

    catalogue: Catalogue
    known: Spread
    noise: float  # of the cached cycles, a logarithm
    moved: tuple[Row, ...]  # of the apps, where the cache has no part in it

    @staticmethod
    def of(pairs: Iterable[tuple[Row, Row]], catalogue: Catalogue, known: Spread) -> "Rule":
        """What the apps' own rows set."""
        own = [
            alike(b, n)
            for b, n in pairs
            if touches(b, catalogue) == "app" and b.sound and n.sound and same(b, n, catalogue)
        ]
        noise = max((_noise(base, new) for base, new in own), default=0)
        moved = tuple(base for base, new in own if _has_moved(base, new))
        return Rule(catalogue, known, noise, moved)

    def judges(self, row: Row) -> bool:
        """Whether it has a verdict."""
        return touches(row, self.catalogue) == "kernel"

    def change(self, row: Row, name: str, base: Value, new: Value) -> Change:
        """How its `cycles` or `instret` changed."""
        if name != "cycles":
            return change_of_count(base, new)
        return change(base, new, self.known.of(row), self.noise if row.icache is not False else 0)


def _noise(base: Row, new: Row) -> float:
    """What an app's own row says of the noise with the cache on: the logarithm that its slope, if
    it is one, differs by; over passes of the same code no cold line shows. One count is none."""
    one, two = base.net or 0, new.net or 0
    if base.icache is False or not (base.cycles and base.cycles.is_slope) or min(one, two) <= 0:
        return 0
    return abs(math.log(two / one)) if abs(two - one) > 1 else 0


def _has_moved(base: Row, new: Row) -> bool:
    """Whether an app's own row differs by more than a count where the cache has no part in it."""
    names = ("cycles", "instret") if base.icache is False else ("instret",)
    for name in names:
        one, two = base.series(name), new.series(name)
        if one and two and one.per_op is not None and two.per_op is not None:
            off = abs(two.per_op - one.per_op) * one.inner
            if off > max(SAME * one.per_op * one.inner, 1):
                return True
    return False
