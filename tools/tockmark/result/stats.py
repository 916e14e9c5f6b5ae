# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Statistics of a series of samples, and least-squares fits. This module knows no benchmarks.

The first sample is cold and is reported separately; the others are the steady samples. If the
samples repeat with a period, only whole periods count, so that the median does not depend on where
the series ends.

The confidence interval of a median is given by two ranks, for any distribution: the number of
samples below the true median follows the binomial distribution. Correlated samples (plateaus,
drift) count as fewer independent ones: n / (1 + 2 Σ ρ). ρ is the autocorrelation of the samples'
side of the median; the lags are summed in pairs up to the first pair that is not positive
(C. Geyer, Practical Markov chain Monte Carlo, 1992). As that is an estimate, intervals are widened
by MARGIN.
"""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

LONGEST_PERIOD = 4
TINY = 1e-9  # avoids a division by 0
MARGIN = 1.2  # factor for the sum of correlations, calibrated by random draws: docs/method.md
SETTLED = 8  # samples that must repeat at the end of a settled series

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Stats:
    """The statistics of a series; all but `n` and `first` are of its steady samples."""

    n: int
    first: int | None  # the cold sample; None: the series has none
    min: int
    median: float
    mean: float
    sd: float  # of the population
    p99: int
    max: int
    period: int | None  # of the steady samples, if all repeat (1: all are equal); else None
    settled: int | None  # the sample (from 0) where they begin to repeat; None: they do not
    wanders: bool  # it settles late, or its halves differ: no single figure represents it

    @property
    def steadiness(self) -> str:
        """The steadiness as tables show it: `=` all equal, `p2` to `p4` a period, `w` wandering,
        `~5` repeating from sample 5 on, `~` varying, `1` a single sample."""
        if self.n == 1:
            return "1"
        if self.period:
            return "=" if self.period == 1 else f"p{self.period}"
        if self.wanders:
            return "w"
        return f"~{self.settled}" if self.settled else "~"


def steady(samples: Sequence[int]) -> Sequence[int]:
    """Return all samples but the cold one. A single sample, of something that a boot does only
    once, counts as steady."""
    return samples[1:] if len(samples) > 1 else samples


def summarise(samples: Sequence[int], has_cold: bool = True) -> Stats:
    """Return the statistics of a series of at least one sample."""
    kept = tuple(steady(samples) if has_cold else samples)
    every = np.asarray(kept, dtype=np.int64)
    settled, period = repeating_tail(kept)
    values = every[: _whole(len(every), settled, period)]
    ordered = np.sort(values)
    distance = (ordered - ordered[0]).astype(np.float64)  # small numbers keep their precision
    return Stats(
        n=len(samples),
        first=int(samples[0]) if has_cold else None,
        min=int(ordered[0]),
        median=steady_median(kept),
        mean=plain_number(float(ordered[0]) + float(distance.mean())),
        sd=plain_number(float(distance.std())),
        p99=percentile(ordered, 99),
        max=int(ordered[-1]),
        period=period if settled == 0 else None,
        settled=settled + has_cold if settled is not None else None,
        wanders=settled != 0 and _wanders(every, settled),
    )


def _whole(count: int, settled: int | None, period: int | None) -> int:
    """Return `count` without the samples of an incomplete last period."""
    return count if settled is None or not period else count - (count - settled) % period


def _wanders(values: Ints, settled: int | None) -> bool:
    """Return whether the end of a series differs from its beginning: it settles in its second half,
    or the median of one half lies outside the quartiles of the other half. This detects a shift
    larger than the noise, for any distribution."""
    if len(values) < SETTLED:
        return False
    half = len(values) // 2
    if settled is not None and settled > half:
        return True
    halves = np.sort(values[:half]), np.sort(values[half:])
    return any(
        not percentile(other, 25) <= percentile(half_samples, 50) <= percentile(other, 75)
        for half_samples, other in (halves, halves[::-1])
    )


@lru_cache(1 << 14)  # layouts of a kernel share many series
def steady_median(values: tuple[int, ...]) -> float:
    """Return the median of steady samples over whole periods."""
    if values.count(values[0]) == len(values):
        return values[0]
    return median(values[: _whole(len(values), *repeating_tail(values))])


def median(values: Sequence[float]) -> float:
    """Return the median of at least one value."""
    return plain_number(statistics.median(values))


def effective_sizes(samples: Ints | Floats) -> Floats:
    """Return the effective sample size of each series. The last axis holds the samples."""
    *series, n = samples.shape
    sides = np.sign(samples - np.median(samples, axis=-1, keepdims=True))
    sides -= sides.mean(axis=-1, keepdims=True)  # many samples may equal the median
    power = np.maximum((sides * sides).sum(axis=-1), TINY)

    def correlation(lag: int) -> Floats:
        correlations: Floats = (sides[..., lag:] * sides[..., : n - lag]).sum(axis=-1) / power
        return correlations

    inflated, alive = -np.ones(series), np.ones(series, dtype=bool)
    for lag in range(0, n - 1, 2):
        two = correlation(lag) + correlation(lag + 1)
        alive &= two > 0
        if not alive.any():
            break
        inflated += 2 * two * alive
    sizes: Floats = n / np.maximum(inflated, 1)
    return sizes


@lru_cache(1 << 14)
def excluded_ranks(n: int, chance: float) -> float:
    """Return how many of n ordered samples to exclude at each end, so that the true median lies
    outside the others with this probability. Fractions are interpolated linearly between whole
    ranks. Return 0 if n is too small (see `min_samples`)."""
    probability, out = 0.0, 0
    while out < n // 2:
        more: float = 2 * math.comb(n, out) / 2**n
        if probability + more > chance:
            return max(out - 1 + (chance - probability) / more, 0)
        probability, out = probability + more, out + 1
    return max(out - 1, 0)


def min_samples(chance: float) -> int:
    """Return the least number of independent samples whose range contains the true median, with at
    most this probability of an error: that all of them lie on one side of it."""
    return 1 + math.ceil(math.log2(1 / chance))


def median_intervals(samples: Ints, alone: Floats, chance: float) -> tuple[Floats, Floats]:
    """Return the lower and upper ends of the medians' confidence intervals, given the effective
    sample sizes (`alone`) and the probability of an error. The last axis holds the samples. With
    too few samples the interval is their whole range."""
    n = samples.shape[-1]
    ordered = np.sort(samples, axis=-1).astype(np.float64)
    whole = np.floor(n / (1 + MARGIN * (n / np.maximum(alone, 1) - 1))).astype(np.int64)
    shares = [excluded_ranks(count, chance) / count for count in whole.ravel().tolist()]
    out = n * np.reshape(shares, (*whole.shape, 1))
    rank = np.floor(out).astype(np.int64)

    def between(rank_below: Ints, rank_above: Ints) -> Floats:
        low, high = (np.take_along_axis(ordered, at, axis=-1) for at in (rank_below, rank_above))
        interpolated: Floats = (low + (out - rank) * (high - low))[..., 0]
        return interpolated

    inner = np.minimum(rank + 1, n // 2)
    return between(rank, inner), between(n - 1 - rank, n - 1 - inner)


def percentile(ordered: Sequence[int] | Ints, percent: int) -> int:
    """Return the nearest-rank percentile: the smallest sample that at least `percent` % of all
    samples do not exceed."""
    rank = math.ceil(len(ordered) * percent / 100)
    return int(ordered[max(rank, 1) - 1])


@lru_cache(1 << 14)
def repeating_tail(samples: tuple[int, ...]) -> tuple[int | None, int | None]:
    """Return the index where steady samples begin to repeat up to their end, and the period;
    (None, None) if they do not.

    A series shorter than SETTLED may repeat from its start if it contains the period twice.
    """
    values = np.asarray(samples, dtype=np.int64)
    best: tuple[int, int] | None = None
    for period in range(1, min(LONGEST_PERIOD, len(values)) + 1):
        breaks = (values[period:] != values[:-period]).nonzero()[0]
        start = int(breaks[-1]) + 1 if len(breaks) else 0
        long_enough = len(values) - start >= min(SETTLED, max(len(values), 2 * period))
        if long_enough and (best is None or start < best[0]):
            best = start, period
    return best if best is not None else (None, None)


def plain_number(value: float) -> float:
    """Return a whole number as int, any other rounded to six decimals."""
    return int(value) if value == int(value) else round(value, 6)


@dataclass(frozen=True)
class LinearFit:
    """A fit y = intercept + slopes · columns."""

    intercept: float
    slopes: tuple[float, ...]
    squares: float  # the sum of the squared residuals


def least_squares(ys: Sequence[float] | Floats, *columns: Sequence[float] | Floats) -> LinearFit:
    """Return the least-squares fit. The columns must be linearly independent.

    Subtracting the means first keeps the products small and whole numbers exact."""
    y = np.asarray(ys, dtype=np.float64)
    x = np.stack([np.asarray(column, dtype=np.float64) for column in columns], axis=1)
    dx, dy = x - x.mean(axis=0), y - y.mean()
    try:
        slopes = np.linalg.solve(dx.T @ dx, dx.T @ dy)
    except np.linalg.LinAlgError:  # columns whose squares differ too much in size
        slopes = np.linalg.lstsq(dx, dy, rcond=None)[0]
    rest = dy - dx @ slopes
    intercept = y.mean() - float(slopes @ x.mean(axis=0))
    return LinearFit(float(intercept), tuple(map(float, slopes)), float(rest @ rest))


@dataclass(frozen=True)
class StraightLine:
    """A straight line through a sweep, fitted without one point, which checks it."""

    slope: float
    intercept: float
    residual_sd: float  # of the fitted points, with n - 2 degrees of freedom
    held_out: float  # x of the held-out point
    held_out_error: float  # its y minus the line's


def fit_line(
    xs: Sequence[float], ys: Sequence[float], held_out: int | None = None
) -> StraightLine | None:
    """Return the line through all points but one, by default the middle one (`held_out` is an
    index). Return None for fewer than four points: a line needs two, a residual a third, and the
    check a fourth."""
    if len(set(xs)) < 4:
        return None
    order = sorted(range(len(xs)), key=lambda i: xs[i])
    out = order[len(order) // 2] if held_out is None else held_out
    kept = [i for i in order if i != out]
    line = least_squares([ys[i] for i in kept], [xs[i] for i in kept])
    (slope,) = line.slopes
    sd = float(np.sqrt(line.squares / (len(kept) - 2)))
    error = float(ys[out] - (line.intercept + slope * xs[out]))
    # Rounding to nine decimals turns floating-point residue into 0.
    return StraightLine(
        *(round(v, 9) + 0.0 for v in (slope, line.intercept, sd, float(xs[out]), error))
    )


@dataclass(frozen=True)
class Slope:
    """Samples of one counter over 1 + n and 1 + 2 n passes of a body, each series with its cold
    sample first. The difference is the cost of n more passes.

    Everything else is the same in both and cancels: the counter reads, the first pass, which loads
    code into the cache, and the state in which the kernel leaves the cache. The slope includes the
    loop around the passes; subtracting the slope of an empty body removes it."""

    short: tuple[int, ...]
    long: tuple[int, ...]
    passes: int  # passes that the long samples have more than the short ones

    @cached_property
    def per_pass(self) -> float:
        """The counts of one pass, from the medians."""
        return (steady_median(steady(self.long)) - steady_median(steady(self.short))) / self.passes
