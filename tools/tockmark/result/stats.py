# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What a series of samples says: pure arithmetic that knows nothing of benchmarks.

The first sample is cold and kept apart; all the others are the steady ones, and none is dropped.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

LONGEST_PERIOD = 4
SETTLED = 8  # as many samples at the end must repeat before the series counts as settled

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Stats:
    """One series: the cold sample, and the steady ones in numbers."""

    n: int
    first: int
    min: int
    median: float
    mean: float
    sd: float  # of the population
    p99: int
    max: int
    period: int | None  # the steady samples repeat with this period (1: equal); None: they vary
    settled: int | None  # from this sample on (0 is the cold one) they repeat; None: not at the end

    @property
    def steadiness(self) -> str:
        """In a word, as tables have it: `=` all equal, `p2` to `p4` a period, `~5` settled from
        sample 5 on, `~` they vary, `1` there is only one."""
        if self.n == 1:
            return "1"
        if self.period:
            return "=" if self.period == 1 else f"p{self.period}"
        return f"~{self.settled}" if self.settled else "~"


def steady(samples: Sequence[int]) -> Sequence[int]:
    """All but the cold one. A single sample, as of what a boot does only once, stands for the
    steady ones."""
    return samples[1:] if len(samples) > 1 else samples


def summarise(samples: Sequence[int]) -> Stats:
    """The statistics of a series, which has one sample or more."""
    values = np.asarray(steady(samples), dtype=np.int64)
    ordered = np.sort(values)
    settled, period = tail(values)
    distance = (ordered - ordered[0]).astype(np.float64)  # small numbers: nothing is rounded away
    return Stats(
        n=len(samples),
        first=int(samples[0]),
        min=int(ordered[0]),
        median=median(steady(samples)),
        mean=plain(float(ordered[0]) + float(distance.mean())),
        sd=plain(float(distance.std())),
        p99=percentile(ordered, 99),
        max=int(ordered[-1]),
        period=period if settled == 0 else None,
        settled=settled + 1 if settled is not None else None,
    )


def median(values: Sequence[float]) -> float:
    """Of one value or more."""
    ordered = sorted(values)
    half = len(ordered) // 2
    return plain(ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2)


def percentile(ordered: Sequence[int] | Ints, percent: int) -> int:
    """The smallest sample that at least `percent` of all do not exceed (nearest rank)."""
    rank = math.ceil(len(ordered) * percent / 100)
    return int(ordered[max(rank, 1) - 1])


def tail(values: Sequence[int] | Ints) -> tuple[int | None, int | None]:
    """Where the repeating end of steady samples starts, and its period: (None, None) if there is
    none.

    A shorter series than SETTLED may repeat from its start if it holds the group twice.
    """
    values = np.asarray(values, dtype=np.int64)
    best: tuple[int, int] | None = None
    for period in range(1, min(LONGEST_PERIOD, len(values)) + 1):
        breaks = np.flatnonzero(values[period:] != values[:-period])
        start = int(breaks[-1]) + 1 if len(breaks) else 0
        long_enough = len(values) - start >= min(SETTLED, max(len(values), 2 * period))
        if long_enough and (best is None or start < best[0]):
            best = start, period
    return best if best is not None else (None, None)


def plain(value: float) -> float:
    """Whole numbers as integers, others to six digits: more than any count has."""
    return int(value) if value == int(value) else round(value, 6)
