# SPDX-License-Identifier: Apache-2.0 OR MIT
"""How a row changed, and what may be said of that: the one rule behind every comparison.

Code layout moves figures, and chance made the layout: it is the random factor, not the sample.

- **Instructions** do not depend on the layout, but for a stray one or two; where a clock sets how
  long a sample is, they do, and have no verdict.
- **Cycles** have an interval: the difference of the means of the logarithms over the layouts, more
  or less t s sqrt(1/m + 1/n), where m and n are the numbers of links of the kernels and s is the
  row's spread over links: what both sides show, or what is known (`Spread`) if that is more.
  Student's t is what so many deviations become where s itself is an estimate: as many as known
  links stay within, all rows together, in nearly all judgements (`Spread.z`).
- Layouts of the apps never stand for links of the kernel. A difference inside that
  spread is unsure.
- **Samples** of a board vary by themselves: each median lies between two ranks. The ends of a net,
  and of a difference of two, are as far out as the root of the squares of those that it is made of,
  or as less sure ones added up. All figures of a comparison that vary share one probability of an
  error.
- Rows of the apps' own, which no kernel touches, have no verdict: what their slopes differ by with
  the cache on is noise, and no cached row has a narrower interval. Between languages that is said
  by those whose body is in assembly, and so the same.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from statistics import NormalDist

import numpy as np

from tockmark.compare.spread import (
    ROUNDING,
    Deviation,
    Spread,
    Z,
    logs_of,
    mean_over_benchmarks,
    student,
)
from tockmark.result.model import Result, Row, Series, comparable, ratio
from tockmark.result.stats import (
    Floats,
    effective_sizes,
    median,
    median_intervals,
    min_samples,
    steady,
    steady_median,
)
from tockmark.suite.catalogue import Catalogue, RowKey
from tockmark.wire.rows import SERIES


@dataclass(frozen=True)
class Interval:
    """Where a value lies; a known one has both ends equal."""

    low: float
    high: float


# One number for two kernels: the geometric mean of the ratios of what touches the kernel


def counts_in_mean(row: Row, catalogue: Catalogue) -> bool:
    """Return whether a row has a part in the mean: it goes through the kernel. time.read does so,
    too, but is the readings' own cost."""
    known = catalogue.benchmarks.get(row.id)
    return known is not None and known.touches == "kernel" and not row.is_overhead


def kernel_mean(
    base: Mapping[RowKey, Row], new: Mapping[RowKey, Row], catalogue: Catalogue
) -> float | None:
    """Return the geometric mean of new by base, columns of results; None if they have no such row
    in common."""
    logs = [
        (row, np.log([found]))
        for key, row in base.items()
        if counts_in_mean(row, catalogue) and (found := ratio(row, new.get(key))) is not None
    ]
    return float(np.exp(mean_over_benchmarks(logs)[0])) if logs else None


# What a result says of one series of a row: its net in each layout, and what that may be off by. On
# a simulator the samples of a layout would come out the same again, so they say nothing of how sure
# its net is. On a board they vary by themselves: there, the net has an interval.


Median = tuple[float, tuple[int, ...]]  # so many times the median of these samples
OF_ALL = (
    0.01  # probability that any figure of a comparison lies outside its interval by its samples
)
OF_ONE = 0.05  # likewise of a figure that stands by itself


@dataclass(frozen=True)
class Value:
    """The nets of one quantity of a row, in counts of one sample."""

    nets: tuple[float, ...]  # one a layout
    links: int = 1  # different links of the kernel among the layouts
    error: float = 0  # counts that any net may be off by, up or down
    inner: int = 1  # operations in a sample
    sampled: tuple[tuple[Median, ...], ...] = ()  # of each net, where samples vary by themselves

    @property
    def net(self) -> float:
        """The median over the layouts: counts of one sample."""
        return median(self.nets)

    @property
    def per_op(self) -> float:
        """The counts of one operation: what samples of another make can be compared by."""
        return self.net / self.inner

    @property
    def varies(self) -> bool:
        """Whether its samples do, so that other ones could give another net."""
        return any(_varies(samples) for one in self.sampled for _, samples in one)

    def too_few_samples(self, chance: float) -> bool:
        """Return whether any of its samples are too few to say where their median lies."""
        every = {samples for one in self.sampled for _, samples in one if _varies(samples)}
        return any(_alone(samples) < min_samples(chance) for samples in every)

    def unsure(self, chance: float) -> tuple[float, float]:
        """Return how far below the mean of the nets' logarithms, and above, it may lie by their
        samples, but for this probability."""
        if not self.varies:
            return 0, 0
        squares = np.zeros(2)
        for net, medians in zip(self.nets, self.sampled, strict=True):
            below, above = apart(medians, chance)
            low = math.log(max(net, 1)) - math.log(net - below) if net > below else math.inf
            squares += np.square([low, math.log1p(above / max(net, 1))])
        low, high = np.sqrt(squares) / len(self.nets)
        return float(low), float(high)


def value_of(result: Result, row: Row, name: str) -> Value | None:
    """Return the value of a row's `cycles` or `instret`; None if it is not known.

    With one layout, the cached cycles may be off by what a null control shows there."""
    series = row.series(name)
    if series is None or not series.nets:
        return None
    error = 0.0
    if name == "cycles" and row.icache is not False and len(series.nets) == 1:
        error += result.control_error(row.icache, row.lang) or 0
    every = [one for one in (series, *series.further) if one.own_net is not None]
    sampled = () if result.simulated else tuple(map(_medians, every))
    return Value(series.nets, min(result.links, len(series.nets)), error, row.inner, sampled)


def interval(series: Series, simulated: bool, chance: float = OF_ONE) -> Interval:
    """Return where the net of the first layout lies, but for this probability: at a point on a
    simulator, and where samples are equal or not known."""
    own = series.own_net
    assert own is not None
    below, above = (0.0, 0.0) if simulated else apart(_medians(series), chance)
    return Interval(own - below, own + above)


def _medians(series: Series) -> tuple[Median, ...]:
    """Return what the net of one layout is made of; nothing where that is not known."""
    if not series.samples:
        return ()
    read = series.reading
    if series.is_slope:
        assert series.slope is not None
        assert read is not None
        assert read.slope is not None
        return tuple(
            (sign / slope.passes, tuple(steady(samples)))
            for slope, way in ((series.slope, 1), (read.slope, -1))
            for sign, samples in ((way, slope.long), (-way, slope.short))
        )
    return ((1, series.steady), *([(-series.reads, read.steady)] if read and series.reads else []))


def apart(medians: Iterable[Median], chance: float) -> tuple[float, float]:
    """Return how far below a sum of medians, and above, it may lie, but for this probability."""
    below = above = 0.0
    for times, samples in medians:
        low, high = (abs(times) * end for end in _ends(samples, chance))
        below = math.hypot(below, low if times > 0 else high)
        above = math.hypot(above, high if times > 0 else low)
    return below, above


@lru_cache(1 << 10)  # all rows of a boot have the same readings
def _ends(samples: tuple[int, ...], chance: float) -> tuple[float, float]:
    """Return how far below their median, and above, the one lies from which samples come."""
    if not _varies(samples):
        return 0, 0
    low, high = median_intervals(np.array(samples), _alone(samples), chance)
    own = steady_median(samples)
    return max(own - float(low), 0), max(float(high) - own, 0)


@lru_cache(1 << 10)
def _alone(samples: tuple[int, ...]) -> Floats:
    """Return how many independent samples tell as much."""
    return effective_sizes(np.array(samples))


def _varies(samples: Sequence[int]) -> bool:
    return len(set(samples)) > 1


# What may be said of a change


ENOUGH_SHOWN = 4  # degrees of freedom of what two sides show, where nothing else is known
ALL_PLACES = 4  # pairs, in which a function begins at each place of the flash word
LARGEST = 700  # a logarithm: of a larger number there is none
NORMAL = NormalDist()
STEPS = 1.6  # divides the deviations that both sides add up: _by_samples; found by draws
SLACK = 2  # counts of a sample that never matter
# How far an app's own slope may be noise with the cache on, a logarithm: of bodies in assembly, and
# of those that a compiler makes.
NOISE_OF_BODY, NOISE = 0.01, 0.05
SAME = 0.005  # a row of the apps that differs by more, and by more than a count, has moved


@dataclass(frozen=True)
class Change:
    """How a row got from one value to another. The ratios are new by base."""

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
        """How large the change is, whichever way: a logarithm."""
        if self.base == self.new:
            return 0
        return abs(math.log(self.ratio)) if self.ratio else math.inf

    @property
    def unmoved(self) -> bool:
        """Whether there may be no change at all."""
        return self.low <= 1 + ROUNDING and self.high >= 1 - ROUNDING

    @property
    def point(self) -> float:
        """The ratio that was measured; less than one count cannot be told from none."""
        return self.ratio if self.ratio is not None else max(self.new, 1) / max(self.base, 1)


def change(
    base: Value,
    new: Value,
    known: Deviation | None,
    noise: float = 0,
    z: float = Z,
    other: bool = False,
    chance: float = OF_ALL,
) -> Change:
    """Return the change from `base` to `new` of what depends on the layout. `known` is the spread
    over links, else it is what both sides show, if their links are enough; `noise` is a logarithm:
    no interval is narrower; `z` is how many deviations an interval reaches. `other`: it executes
    other instructions, which take as many cycles at one place and may not at the next. `chance`:
    that it lies outside by its samples."""
    if known is not None and known.paired:
        return _change_of_pairs(base, new, known, other)
    shown = _shown(base, new)
    known = known or (shown if shown.free >= ENOUGH_SHOWN else None)
    half = math.inf
    if known is not None:
        free = known.free + (shown.free if known is not shown else 0)
        wide = student(z, free) * max(known.value, shown.value)
        half = max(wide * math.sqrt(1 / base.links + 1 / new.links), noise)
    return _between(base, new, _log(new, new.nets) - _log(base, base.nets), half, other, chance)


def _change_of_pairs(base: Value, new: Value, known: Deviation, other: bool) -> Change:
    """Return the change over paired links, whose nets stand in the same order on both sides. What
    a net may be off by is the same in both of a pair."""
    base, new = (replace(one, error=0, sampled=()) for one in (base, new))
    pairs = len(base.nets)
    if pairs != len(new.nets):
        return _between(base, new, _log(new, new.nets) - _log(base, base.nets), math.inf)
    apart = logs_of(new.nets) - logs_of(base.nets)
    shown = float(np.std(apart, ddof=1)) if pairs > 1 else 0
    wide = student(Z, known.free + pairs - 1) * max(known.value, shown)
    if pairs >= ALL_PLACES:  # and so what they show is all that there is
        wide = min(wide, student(Z, pairs - 1) * shown)
    centre = float(apart.mean()) - math.log(new.inner / base.inner)
    return _between(base, new, centre, wide / math.sqrt(pairs), other)


def change_of_count(base: Value, new: Value, chance: float = OF_ALL) -> Change:
    """Return the change of instructions, which do not depend on the layout."""
    centre = _log(new, [new.net]) - _log(base, [base.net])
    return _between(base, new, centre, 0, chance=chance)


def _between(
    base: Value,
    new: Value,
    centre: float,
    half: float,
    other: bool = False,
    chance: float = OF_ALL,
) -> Change:
    """Return a change with an interval about a logarithm, by layouts and by samples, and with what
    the nets may be off by."""
    ends = base.per_op, new.per_op
    links = min(base.links, new.links)
    same = base.sampled == new.sampled or not (base.varies or new.varies)
    # Nothing differs, whatever could.
    if base.nets == new.nets and base.inner == new.inner and same and not other:
        return Change(*ends, 1 if ends[0] > 0 else None, 1, 1, links)
    off = sum(math.log1p(value.error / max(value.net, 1)) for value in (base, new))
    below, above = (math.hypot(half, end) + off for end in _by_samples(base, new, chance))
    low = math.exp(centre - below)
    high = math.exp(centre + above) if above < LARGEST else math.inf
    if abs(ends[1] - ends[0]) * min(base.inner, new.inner) <= SLACK:
        low, high = min(low, 1), max(high, 1)
    return Change(*ends, math.exp(centre) if min(ends) > 0 else None, low, high, links)


def _by_samples(base: Value, new: Value, chance: float) -> tuple[float, float]:
    """Return how far below a difference of logarithms, and above, it may lie by the samples.

    Where values stand far apart, each median may well be a step off, and its interval reach no
    further than that step: the root of two squares is less than both. So less sure ends, by a share
    of the deviations, must hold as a sum. At a share of the root of 2, and values close to each
    other, it would be as long as the root."""
    ends = []
    for p in (chance, 2 * NORMAL.cdf(NORMAL.inv_cdf(chance / 2) / STEPS)):
        before, after = base.unsure(p), new.unsure(p)
        ends.append([(after[end], before[1 - end]) for end in (0, 1)])
    below, above = (max(math.hypot(*sure), sum(step)) for sure, step in zip(*ends, strict=True))
    return below, above


def _log(value: Value, nets: Sequence[float]) -> float:
    """Return the mean of the logarithms, of one operation."""
    return float(logs_of(nets).mean()) - math.log(value.inner)


def _shown(base: Value, new: Value) -> Deviation:
    """Return the spread that both sides show, pooled; none where neither has several layouts.
    Layouts of one link make it larger, but no surer."""
    logs = [logs_of(value.nets) for value in (base, new)]
    over = sum(len(one) - 1 for one in logs)
    squares = sum(len(one) * float(one.var()) for one in logs)
    return Deviation(math.sqrt(squares / over) if over else 0, base.links + new.links - 2)


def touches(row: Row, catalogue: Catalogue) -> str:
    """Return what the catalogue says that a row touches; one that it does not know may go through
    the kernel."""
    found = catalogue.benchmarks.get(row.id)
    return found.touches if found else "kernel"


def same(base: Row, new: Row, catalogue: Catalogue) -> bool:
    """Return whether two rows of the apps' own run the same code: in two languages, if their body
    is in assembly."""
    return base.lang == new.lang or bool(catalogue.benchmarks[base.id].bodies)


@dataclass(frozen=True)
class Rule:
    """The rule for the rows of two sides."""

    catalogue: Catalogue
    spread: Spread
    noise: float  # of the cached cycles, a logarithm
    moved: tuple[Row, ...]  # of the apps, where the cache has no part in it
    noisy: tuple[Row, ...] = ()  # of the apps: what they differ by is no noise of the cache
    chance: float = OF_ALL  # that one figure lies outside its interval by its samples

    @staticmethod
    def for_rows(
        pairs: Iterable[tuple[Row, Row]], catalogue: Catalogue, known: Spread, vary: int = 0
    ) -> "Rule":
        """Return the rule as the apps' own rows set it, and the number of figures that vary."""
        own = [
            comparable(b, n)
            for b, n in pairs
            if touches(b, catalogue) == "app" and b.sound and n.sound and same(b, n, catalogue)
        ]
        noise = [(base, _noise(base, new), _ceiling(base, catalogue)) for base, new in own]
        moved = tuple(base for base, new in own if _has_moved(base, new))
        noisy = tuple(base for base, found, most in noise if found > most)
        widest = max((found for _, found, most in noise if found <= most), default=0)
        return Rule(catalogue, known, widest, moved, noisy, OF_ALL / max(vary, 1))

    def judges(self, row: Row) -> bool:
        """Return whether a row has a verdict."""
        return touches(row, self.catalogue) == "kernel"

    def series(self, row: Row) -> Sequence[str]:
        """Return the series of a row that may have a verdict."""
        known = self.catalogue.benchmarks.get(row.id)
        return ("cycles",) if known and known.timed else SERIES

    def change(self, row: Row, name: str, base: Value, new: Value, other: bool = False) -> Change:
        """Return how the `cycles` or `instret` of a row changed, which executes `other`
        instructions or as many."""
        if name != "cycles":
            return change_of_count(base, new, self.chance)
        noise = self.noise if row.icache is not False else 0
        z = self.spread.z(row.icache, min(base.links, new.links))
        return change(base, new, self.spread.row_deviation(row), noise, z, other, self.chance)

    def too_few(self, values: Iterable[Value]) -> str | None:
        """Say why samples give no verdict, if so: they vary, and are too few, or hang together so
        that they tell as much as too few."""
        if not any(value.too_few_samples(self.chance) for value in values):
            return None
        return (
            "its samples vary, and are too few for a verdict, or hang together:"
            f" {min_samples(self.chance) + 1} that do not would do"
        )


def _noise(base: Row, new: Row) -> float:
    """Return what an app's own row says of the noise with the cache on: the logarithm that its
    slope, if it is one, differs by; over passes of the same code no cold line shows. One count is
    none."""
    one, two = base.net or 0, new.net or 0
    if base.icache is False or not (base.cycles and base.cycles.is_slope) or min(one, two) <= 0:
        return 0
    return abs(math.log(two / one)) if abs(two - one) > 1 else 0


def _ceiling(row: Row, catalogue: Catalogue) -> float:
    """Return what may be noise of an app's own row: more than any two committed results differ by,
    whose kernels place the same apps elsewhere. Code of a compiler may be another."""
    known = catalogue.benchmarks.get(row.id)
    return NOISE_OF_BODY if known is not None and known.bodies else NOISE


def _has_moved(base: Row, new: Row) -> bool:
    """Return whether an app's own row differs by more than a count where the cache has no part."""
    names = ("cycles", "instret") if base.icache is False else ("instret",)
    for name in names:
        one, two = base.series(name), new.series(name)
        if one and two and one.per_op is not None and two.per_op is not None:
            off = abs(two.per_op - one.per_op) * one.inner
            if off > max(SAME * one.per_op * one.inner, 1):
                return True
    return False
