# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What a series of samples says, and straight lines: pure arithmetic that knows no benchmarks.

The first sample is cold and kept apart; all the others are the steady ones. Of a series that
repeats with a period only whole periods count: its median must not hang on where it was cut off.
All that is fitted anywhere by least squares is fitted here.

Where samples vary by themselves, their median lies between two ranks, whatever their distribution:
as many of n samples lie below it as of n coins show heads. Samples that hang together, in plateaus
or as they drift, tell as much as fewer that do not: n by 1 + 2 Σ ρ, over the correlations of their
sides of the median at one lag, two, …, in pairs up to the first that is not above 0 (C. Geyer,
Practical Markov chain Monte Carlo, 1992). As that is an estimate, intervals have a margin.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

LONGEST_PERIOD = 4
TINY = 1e-9  # more than 0
MARGIN = 1.2  # of the sum of correlations, found by draws: docs/method.md
SETTLED = 8  # as many samples at the end must repeat before the series counts as settled

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Stats:
    """The cold sample of a series, and its steady ones in numbers."""

    n: int
    first: int | None  # None: the cold sample is not among them
    min: int
    median: float
    mean: float
    sd: float  # of the population
    p99: int
    max: int
    period: int | None  # the steady samples repeat with this period (1: equal); None: they vary
    settled: int | None  # from this sample on (the first is 0) they repeat; None: not at the end
    wanders: bool  # it settles only late, or its halves differ: no one figure is its own

    @property
    def steadiness(self) -> str:
        """How steady the samples are, in a word, as tables have it: `=` all equal, `p2` to `p4` a
        period, `w` they wander, `~5` settled from sample 5 on, `~` they vary, `1` only one."""
        if self.n == 1:
            return "1"
        if self.period:
            return "=" if self.period == 1 else f"p{self.period}"
        if self.wanders:
            return "w"
        return f"~{self.settled}" if self.settled else "~"


def steady(samples: Sequence[int]) -> Sequence[int]:
    """Return all samples but the cold one. A single sample, as of what a boot does only once,
    stands for the steady ones."""
    return samples[1:] if len(samples) > 1 else samples


def summarise(samples: Sequence[int], has_cold: bool = True) -> Stats:
    """Return the statistics of a series of one sample or more, the first of them cold or not."""
    kept = tuple(steady(samples) if has_cold else samples)
    every = np.asarray(kept, dtype=np.int64)
    settled, period = repeating_tail(kept)
    values = every[: _whole(len(every), settled, period)]
    ordered = np.sort(values)
    distance = (ordered - ordered[0]).astype(np.float64)  # small numbers: nothing is rounded away
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
    """Return how many of so many samples are left without an incomplete last period."""
    return count if settled is None or not period else count - (count - settled) % period


def _wanders(values: Ints, settled: int | None) -> bool:
    """Return whether the end of a series is another than its beginning: it settles in its second
    half, or the median of one half lies outside the middle half of the other's samples. So a shift
    by more than the samples vary by is seen, whatever their distribution; noise around one place is
    not."""
    if len(values) < SETTLED:
        return False
    half = len(values) // 2
    if settled is not None and settled > half:
        return True
    halves = np.sort(values[:half]), np.sort(values[half:])
    return any(
        not percentile(other, 25) <= percentile(one, 50) <= percentile(other, 75)
        for one, other in (halves, halves[::-1])
    )


@lru_cache(1 << 14)  # layouts of one kernel have many series in common
def steady_median(values: tuple[int, ...]) -> float:
    """Return the median of steady samples, over whole periods."""
    if values.count(values[0]) == len(values):
        return values[0]
    return median(values[: _whole(len(values), *repeating_tail(values))])


def median(values: Sequence[float]) -> float:
    """Return the median of one value or more."""
    ordered = sorted(values)
    half = len(ordered) // 2
    return plain_number(
        ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2
    )


def effective_sizes(samples: Ints | Floats) -> Floats:
    """Return how many independent samples tell as much as these n: their series stand in the last
    axis."""
    *series, n = samples.shape
    sides = np.sign(samples - np.median(samples, axis=-1, keepdims=True))
    sides -= sides.mean(axis=-1, keepdims=True)  # many may stand at the median
    power = np.maximum((sides * sides).sum(axis=-1), TINY)

    def correlation(lag: int) -> Floats:
        found: Floats = (sides[..., lag:] * sides[..., : n - lag]).sum(axis=-1) / power
        return found

    inflated, alive = -np.ones(series), np.ones(series, dtype=bool)
    for lag in range(0, n - 1, 2):
        two = correlation(lag) + correlation(lag + 1)
        alive &= two > 0
        if not alive.any():
            break
        inflated += 2 * two * alive
    found: Floats = n / np.maximum(inflated, 1)
    return found


@lru_cache(1 << 14)
def excluded_ranks(n: int, chance: float) -> float:
    """Return how many of n ordered samples may be left out at either end so that their median lies
    outside the others with this probability: a part of the last one is by a straight line between
    the probabilities of whole ranks. 0 also where n are too few (`enough`)."""
    found, out = 0.0, 0
    while out < n // 2:
        more: float = 2 * math.comb(n, out) / 2**n
        if found + more > chance:
            return max(out - 1 + (chance - found) / more, 0)
        found, out = found + more, out + 1
    return max(out - 1, 0)


def min_samples(chance: float) -> int:
    """Return the least number of independent samples that say with at most this probability of an
    error where their median lies: all below it, or all above, comes as often."""
    return 1 + math.ceil(math.log2(1 / chance))


def median_intervals(samples: Ints, alone: Floats, chance: float) -> tuple[Floats, Floats]:
    """Return between which values the medians lie, but for this probability, where the samples tell
    as much as so many alone: each series stands in the last axis. Of too few it is the whole
    range."""
    n = samples.shape[-1]
    ordered = np.sort(samples, axis=-1).astype(np.float64)
    whole = np.floor(n / (1 + MARGIN * (n / np.maximum(alone, 1) - 1))).astype(np.int64)
    shares = [excluded_ranks(one, chance) / one for one in whole.ravel().tolist()]
    out = n * np.reshape(shares, (*whole.shape, 1))
    rank = np.floor(out).astype(np.int64)

    def between(one: Ints, two: Ints) -> Floats:
        low, high = (np.take_along_axis(ordered, at, axis=-1) for at in (one, two))
        found: Floats = (low + (out - rank) * (high - low))[..., 0]
        return found

    inner = np.minimum(rank + 1, n // 2)
    return between(rank, inner), between(n - 1 - rank, n - 1 - inner)


def percentile(ordered: Sequence[int] | Ints, percent: int) -> int:
    """Return the smallest sample that at least `percent` of all do not exceed (nearest rank)."""
    rank = math.ceil(len(ordered) * percent / 100)
    return int(ordered[max(rank, 1) - 1])


@lru_cache(1 << 14)
def repeating_tail(samples: tuple[int, ...]) -> tuple[int | None, int | None]:
    """Return where the repeating end of steady samples starts, and its period; (None, None) if
    there is none.

    A shorter series than SETTLED may repeat from its start if it holds the group twice.
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
    """Return whole numbers as integers, others to six digits: more than any count has."""
    return int(value) if value == int(value) else round(value, 6)


@dataclass(frozen=True)
class LinearFit:
    """y = intercept + slopes · columns, and what that leaves of y."""

    intercept: float
    slopes: tuple[float, ...]
    squares: float  # the sum of the squared residuals


def least_squares(ys: Sequence[float] | Floats, *columns: Sequence[float] | Floats) -> LinearFit:
    """Return the line of least squares; the columns must not depend on each other.

    Taken from the means, where the columns' products stay small and whole numbers exact."""
    y = np.asarray(ys, dtype=np.float64)
    x = np.stack([np.asarray(column, dtype=np.float64) for column in columns], axis=1)
    dx, dy = x - x.mean(axis=0), y - y.mean()
    try:
        slopes = np.linalg.solve(dx.T @ dx, dx.T @ dy)
    except np.linalg.LinAlgError:  # sizes too far apart for their squares
        slopes = np.linalg.lstsq(dx, dy, rcond=None)[0]
    rest = dy - dx @ slopes
    intercept = y.mean() - float(slopes @ x.mean(axis=0))
    return LinearFit(float(intercept), tuple(map(float, slopes)), float(rest @ rest))


@dataclass(frozen=True)
class StraightLine:
    """A straight line through a sweep; one point was held out of the fit to check it."""

    slope: float
    intercept: float
    residual_sd: float  # of the points that were fitted, with n - 2 degrees of freedom
    held_out: float  # x of the point that was held out
    held_out_error: float  # its y less what the line says


def fit_line(
    xs: Sequence[float], ys: Sequence[float], held_out: int | None = None
) -> StraightLine | None:
    """Return a line through all points but one (the middle one, unless told); None below four
    points: two make a line, a third a residual, the fourth checks it."""
    if len(set(xs)) < 4:
        return None
    order = sorted(range(len(xs)), key=lambda i: xs[i])
    out = order[len(order) // 2] if held_out is None else held_out
    kept = [i for i in order if i != out]
    found = least_squares([ys[i] for i in kept], [xs[i] for i in kept])
    (slope,) = found.slopes
    sd = float(np.sqrt(found.squares / (len(kept) - 2)))
    error = float(ys[out] - (found.intercept + slope * xs[out]))
    # What floating point leaves of a zero is none: nine digits are more than any count has.
    return StraightLine(
        *(round(v, 9) + 0.0 for v in (slope, found.intercept, sd, float(xs[out]), error))
    )


@dataclass(frozen=True)
class Slope:
    """What one counter counted in samples of 1 + n and of 1 + 2 n passes of a body, the cold one of
    each first: between them lies what one more pass costs.

    What a sample has besides drops out, as it is the same in both: the readings, the first pass,
    which brings code into the cache, and whatever the kernel left there. The loop that makes the
    passes is in the slope; that of an empty body, which is nothing else, takes it off."""

    short: tuple[int, ...]
    long: tuple[int, ...]
    passes: int  # how many more the long ones have

    @cached_property
    def per_pass(self) -> float:
        """The counts of one pass, by the medians."""
        return (steady_median(steady(self.long)) - steady_median(steady(self.short))) / self.passes


def slope_between(own: Slope, empty: Slope) -> float:
    """Return the counts of one pass, without the loop."""
    return plain_number(own.per_pass - empty.per_pass)
