# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The rule of every comparison: the change of a row, and its interval.

The rule, its symbols (n, x, d, σ, ν, z, t, h, η, e, p, c) and its formulas are in docs/method.md,
"The rule". The layout of the code is the random factor, not the sample: links of a kernel differ
in layout, and layouts of the apps do not count as links.

`Value` has a row's nets on one side. `change_of_cycles` computes the interval of the ratio of two
values, and `Rule` applies it to the rows of a comparison.
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

# The geometric mean of the ratios of the rows that touch the kernel


def counts_in_mean(row: Row, catalogue: Catalogue) -> bool:
    """Return whether a row counts in the geometric mean: it touches the kernel and is not
    time.read, which is the overhead."""
    benchmark = catalogue.benchmarks.get(row.id)
    return benchmark is not None and benchmark.touches == "kernel" and not row.is_overhead


def kernel_mean(
    base: Mapping[RowKey, Row], new: Mapping[RowKey, Row], catalogue: Catalogue
) -> float | None:
    """Return the geometric mean of new by base over the rows of two columns; None if they share no
    such row."""
    logs = [
        (row, np.log([row_ratio]))
        for key, row in base.items()
        if counts_in_mean(row, catalogue) and (row_ratio := ratio(row, new.get(key))) is not None
    ]
    return float(np.exp(mean_over_benchmarks(logs)[0])) if logs else None


# The value of a series of a row. A simulator gives the same samples again, so they add no error. On
# a board they vary, and the net has an interval.


Median = tuple[float, tuple[int, ...]]  # a weight, and the samples whose median it multiplies
OF_ALL = 0.01  # error probability p of a comparison, shared by all figures that vary
OF_ONE = 0.05  # error probability of a single figure


@dataclass(frozen=True)
class Value:
    """The nets n of one series of a row, in counts of one sample."""

    nets: tuple[float, ...]  # one per layout
    links: int = 1  # L: different links of the kernel among the layouts
    error: float = 0  # counts, up or down, that the counter may be off
    inner: int = 1  # operations in a sample
    medians_by_layout: tuple[tuple[Median, ...], ...] = ()  # medians of each net, if samples vary

    @property
    def net(self) -> float:
        """The median over the layouts: counts of one sample."""
        return median(self.nets)

    @property
    def per_op(self) -> float:
        """The counts of one operation."""
        return self.net / self.inner

    @property
    def varies(self) -> bool:
        """Whether the samples vary, so that another run could give another net."""
        return any(_varies(samples) for medians in self.medians_by_layout for _, samples in medians)

    def too_few_samples(self, error_probability: float) -> bool:
        """Return whether any series that varies is too short for an interval of its median."""
        varying = {
            samples
            for medians in self.medians_by_layout
            for _, samples in medians
            if _varies(samples)
        }
        return any(_effective_size(samples) < min_samples(error_probability) for samples in varying)

    def sampling_error(self, error_probability: float) -> tuple[float, float]:
        """Return the sampling error e(p) of x̄, the mean log net, below and above, at this error
        probability."""
        if not self.varies:
            return 0, 0
        squares = np.zeros(2)
        for net, medians in zip(self.nets, self.medians_by_layout, strict=True):
            below, above = net_error(medians, error_probability)
            low = math.log(max(net, 1)) - math.log(net - below) if net > below else math.inf
            squares += np.square([low, math.log1p(above / max(net, 1))])
        low, high = np.sqrt(squares) / len(self.nets)
        return float(low), float(high)


def value_of(result: Result, row: Row, name: str) -> Value | None:
    """Return the value of a row's `cycles` or `instret`; None if it is not known.

    The cached cycles of a row measured in one layout have the error of the null controls.
    Instructions may be off by `Result.stray_instructions`."""
    series = row.series(name)
    if series is None or not series.nets:
        return None
    error = 0.0
    if name == "instret":
        error = result.stray_instructions(row)
    elif row.icache is not False and len(series.nets) == 1:
        error = result.control_error(row.icache, row.lang) or 0
    layouts = [layout for layout in (series, *series.further) if layout.own_net is not None]
    medians_by_layout = () if result.simulated else tuple(map(_medians, layouts))
    return Value(
        series.nets, min(result.links, len(series.nets)), error, row.inner, medians_by_layout
    )


def interval(series: Series, simulated: bool) -> tuple[float, float]:
    """Return the interval of the net of the first layout: a point if samples are simulated, equal
    or not known."""
    own = series.own_net
    assert own is not None
    below, above = (0.0, 0.0) if simulated else net_error(_medians(series), OF_ONE)
    return own - below, own + above


def _medians(series: Series) -> tuple[Median, ...]:
    """Return the medians that the net of one layout is the sum of; none if samples are unknown."""
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


def net_error(medians: Iterable[Median], error_probability: float) -> tuple[float, float]:
    """Return the error of a weighted sum of medians, below and above: the errors of the medians
    combined in quadrature."""
    below = above = 0.0
    for weight, samples in medians:
        low, high = (abs(weight) * end for end in _median_error(samples, error_probability))
        below = math.hypot(below, low if weight > 0 else high)
        above = math.hypot(above, high if weight > 0 else low)
    return below, above


@lru_cache(1 << 10)  # all rows of a boot share the samples of the overhead
def _median_error(samples: tuple[int, ...], error_probability: float) -> tuple[float, float]:
    """Return the error of the median of samples, below and above."""
    if not _varies(samples):
        return 0, 0
    low, high = median_intervals(np.array(samples), _effective_size(samples), error_probability)
    own = steady_median(samples)
    return max(own - float(low), 0), max(float(high) - own, 0)


@lru_cache(1 << 10)
def _effective_size(samples: tuple[int, ...]) -> Floats:
    """Return the number of independent samples that are worth as much as these."""
    return effective_sizes(np.array(samples))


def _varies(samples: Sequence[int]) -> bool:
    return len(set(samples)) > 1


# The change of a value


MIN_FREEDOM = 4  # minimum ν₁ to use σ₁ alone
ALL_POSITIONS = 4  # pairs that put each function at all positions in the flash word
LARGEST = 700  # a logarithm: exp of a larger number overflows
NORMAL = NormalDist()
STEPS = 1.6  # divides the deviations for p′; found by random draws
SLACK = 2  # cycles of a sample that never matter
CERTAIN_LINKS = 4  # links a side that certain cached cycles need, unless these are paired
# The largest |d| of an app's own slope that is noise with the cache on: bodies in assembly, and
# compiled bodies.
NOISE_OF_BODY, NOISE = 0.01, 0.05
APP_CHANGE = 0.005  # a row of the apps changed if it differs by more, and by more than one count


@dataclass(frozen=True)
class Change:
    """The change of a row from one value to another. The ratios are new by base."""

    base: float  # net counts of one operation: the median over the layouts
    new: float
    ratio: float | None  # of the geometric means over the layouts; None if a net is not above zero
    low: float  # the interval of the ratio
    high: float
    links: int  # of the side with fewer

    @property
    def lower(self) -> bool:
        return self.new < self.base

    @property
    def contains_one(self) -> bool:
        """Whether the interval contains the ratio 1."""
        return self.low <= 1 + ROUNDING and self.high >= 1 - ROUNDING

    @property
    def point(self) -> float:
        """The measured ratio; a net below one count counts as one."""
        return self.ratio if self.ratio is not None else max(self.new, 1) / max(self.base, 1)


def change_of_cycles(
    base: Value,
    new: Value,
    sigma: Deviation | None,
    noise: float = 0,
    instructions_differ: bool = False,
    error_probability: float = OF_ALL,
    cached: bool = False,
) -> Change:
    """Return the change from `base` to `new` of cycles, which depend on the layout.

    The change and its interval are ratios; `sigma` (the known spread σ₀) and `noise` (η) are
    logarithms. If `sigma` is None, only σ₁ counts, or the interval is infinite if the sides have
    too few links for σ₁. `error_probability` is p. `instructions_differ`: equal nets may be a
    coincidence, so the interval is not a single point. `cached`: with few links the interval
    extends to 1."""
    if sigma is not None and sigma.paired:
        return _change_of_pairs(base, new, sigma, instructions_differ)
    sides = _side_deviation(base, new)
    half_width = math.inf
    if sigma is not None or sides.dof >= MIN_FREEDOM:
        prior = sigma or Deviation(0, 0)
        reach = student(Z, prior.dof + sides.dof) * max(prior.value, sides.value)
        half_width = max(reach * math.sqrt(1 / base.links + 1 / new.links), noise)
    d = _log(new, new.nets) - _log(base, base.nets)
    slack = math.inf if cached and min(base.links, new.links) < CERTAIN_LINKS else SLACK
    return _with_interval(base, new, d, half_width, instructions_differ, error_probability, slack)


def _change_of_pairs(
    base: Value, new: Value, sigma: Deviation, instructions_differ: bool
) -> Change:
    """Return the change over paired links (docs/method.md, "Paired links"). The nets of both sides
    are in the order of the pairs. Unequal numbers of pairs give an infinite interval."""
    # The errors e and c cancel within a pair.
    base, new = (replace(value, error=0, medians_by_layout=()) for value in (base, new))
    pairs = len(base.nets)
    if pairs != len(new.nets):
        d = _log(new, new.nets) - _log(base, base.nets)
        return _with_interval(base, new, d, math.inf)
    differences = logs_of(new.nets) - logs_of(base.nets)
    scatter = float(np.std(differences, ddof=1)) if pairs > 1 else 0
    reach = student(Z, sigma.dof + pairs - 1) * max(sigma.value, scatter)
    if pairs >= ALL_POSITIONS:  # the scatter over all positions bounds the interval
        reach = min(reach, student(Z, pairs - 1) * scatter)
    d = float(differences.mean()) - math.log(new.inner / base.inner)
    return _with_interval(base, new, d, reach / math.sqrt(pairs), instructions_differ)


def change_of_count(base: Value, new: Value, error_probability: float = OF_ALL) -> Change:
    """Return the change of instructions, which do not depend on the layout: h and c are 0."""
    d, slack = _log(new, [new.net]) - _log(base, [base.net]), base.error + new.error
    base, new = replace(base, error=0), replace(new, error=0)
    return _with_interval(base, new, d, 0, False, error_probability, slack)


def _with_interval(
    base: Value,
    new: Value,
    d: float,
    half_width: float,
    instructions_differ: bool = False,
    error_probability: float = OF_ALL,
    slack: float = SLACK,
) -> Change:
    """Return the change with the log ratio d and its interval, from h (`half_width`), e and c. It
    extends to 1 if the sides differ by at most `slack` counts of a sample."""
    per_op = base.per_op, new.per_op
    links = min(base.links, new.links)
    no_sampling_noise = base.medians_by_layout == new.medians_by_layout or not (
        base.varies or new.varies
    )
    same_nets = base.nets == new.nets and base.inner == new.inner
    if same_nets and no_sampling_noise and not instructions_differ:
        return Change(*per_op, 1 if per_op[0] > 0 else None, 1, 1, links)
    c = sum(math.log1p(value.error / max(value.net, 1)) for value in (base, new))
    below, above = (
        math.hypot(half_width, e) + c for e in _sampling_errors(base, new, error_probability)
    )
    low = math.exp(d - below)
    high = math.exp(d + above) if above < LARGEST else math.inf
    if abs(per_op[1] - per_op[0]) * min(base.inner, new.inner) <= slack:
        low, high = min(low, 1), max(high, 1)
    return Change(*per_op, math.exp(d) if min(per_op) > 0 else None, low, high, links)


def _sampling_errors(base: Value, new: Value, error_probability: float) -> tuple[float, float]:
    """Return e⁻ and e⁺, the sampling error of d below and above: both sides combined in quadrature
    at p, or as a sum at the lower confidence p′, whichever is wider.

    If samples jump between distant levels, each median can be one step off. Together they are two
    steps off, more than quadrature gives, so the interval must also cover the sum at p′."""
    errors = []
    for p in (error_probability, 2 * NORMAL.cdf(NORMAL.inv_cdf(error_probability / 2) / STEPS)):
        before, after = base.sampling_error(p), new.sampling_error(p)
        errors.append([(after[end], before[1 - end]) for end in (0, 1)])
    below, above = (max(math.hypot(*at_p), sum(at_p2)) for at_p, at_p2 in zip(*errors, strict=True))
    return below, above


def _log(value: Value, nets: Sequence[float]) -> float:
    """Return x̄: the mean logarithm of the nets of one operation."""
    return float(logs_of(nets).mean()) - math.log(value.inner)


def _side_deviation(base: Value, new: Value) -> Deviation:
    """Return σ₁ and ν₁, the spread that both sides show, pooled; 0 if neither has several layouts.
    Layouts of one link count in σ₁ but not in ν₁."""
    logs = [logs_of(value.nets) for value in (base, new)]
    over = sum(len(side) - 1 for side in logs)
    squares = sum(len(side) * float(side.var()) for side in logs)
    return Deviation(math.sqrt(squares / over) if over else 0, base.links + new.links - 2)


def touches(row: Row, catalogue: Catalogue) -> str:
    """Return what a row touches, by the catalogue: "kernel" if the catalogue does not have it."""
    benchmark = catalogue.benchmarks.get(row.id)
    return benchmark.touches if benchmark else "kernel"


@dataclass(frozen=True)
class Rule:
    """The rule for the rows of two sides."""

    catalogue: Catalogue
    spread: Spread
    noise: float  # η, for cached cycles
    changed_apps: tuple[Row, ...]  # rows of the apps that changed, and not by the cache
    noisy: tuple[Row, ...] = ()  # cached rows of the apps that differ by more than cache noise
    error_probability: float = OF_ALL  # p: error probability of one figure by its samples

    @staticmethod
    def for_rows(
        pairs: Iterable[tuple[Row, Row]], catalogue: Catalogue, spread: Spread, vary: int = 0
    ) -> "Rule":
        """Return the rule for pairs of rows with `vary` figures that vary. The apps' own rows set
        its noise."""
        own = [
            comparable(b, n)
            for b, n in pairs
            if touches(b, catalogue) == "app"
            and b.sound
            and n.sound
            # Two languages have only bodies in assembly in common.
            and (b.lang == n.lang or catalogue.benchmarks[b.id].bodies)
        ]
        # The limits exceed the differences between committed results, which put the same apps at
        # other addresses. Compiled code may differ.
        noise = [
            (b, _noise(b, n), NOISE_OF_BODY if catalogue.benchmarks[b.id].bodies else NOISE)
            for b, n in own
        ]
        changed_apps = tuple(base for base, new in own if _app_row_changed(base, new))
        noisy = tuple(base for base, eta, limit in noise if eta > limit)
        widest = max((eta for _, eta, limit in noise if eta <= limit), default=0)
        return Rule(catalogue, spread, widest, changed_apps, noisy, OF_ALL / max(vary, 1))

    def judges(self, row: Row) -> bool:
        """Return whether a row has a verdict."""
        return touches(row, self.catalogue) == "kernel"

    def series(self, row: Row) -> Sequence[str]:
        """Return the series of a row that may have a verdict."""
        benchmark = self.catalogue.benchmarks.get(row.id)
        return ("cycles",) if benchmark and benchmark.timed else SERIES

    def change(
        self, row: Row, name: str, base: Value, new: Value, instructions_differ: bool = False
    ) -> Change:
        """Return the change of the `cycles` or `instret` of a row. `instructions_differ`: the row
        executes other instructions than before."""
        if name != "cycles":
            return change_of_count(base, new, self.error_probability)
        cached = row.icache is not False
        noise = self.noise if cached else 0
        sigma = self.spread.row_deviation(row)
        return change_of_cycles(
            base, new, sigma, noise, instructions_differ, self.error_probability, cached
        )

    def too_few(self, values: Iterable[Value]) -> str | None:
        """Return a message if there are too few independent samples for a verdict, else None."""
        if not any(value.too_few_samples(self.error_probability) for value in values):
            return None
        return (
            "too few independent samples for a verdict: measure at least"
            f" {min_samples(self.error_probability) + 1}, more if they correlate"
        )


def _noise(base: Row, new: Row) -> float:
    """Return the noise with the cache on that an app's own slope shows: its |d|, or 0 if it differs
    by at most one count. A slope has no cold misses."""
    before, after = base.net or 0, new.net or 0
    is_slope = base.cycles and base.cycles.is_slope
    if base.icache is False or not is_slope or min(before, after) <= 0:
        return 0
    return abs(math.log(after / before)) if abs(after - before) > 1 else 0


def _app_row_changed(base: Row, new: Row) -> bool:
    """Return whether an app's own row differs by more than APP_CHANGE and a count, in instructions
    or with the cache off."""
    names = ("cycles", "instret") if base.icache is False else ("instret",)
    for name in names:
        before, after = base.series(name), new.series(name)
        if before and after and before.per_op is not None and after.per_op is not None:
            counts = abs(after.per_op - before.per_op) * before.inner
            if counts > max(APP_CHANGE * before.per_op * before.inner, 1):
                return True
    return False
