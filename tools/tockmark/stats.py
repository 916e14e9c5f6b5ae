# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What a series of samples says: pure arithmetic that knows nothing of benchmarks.

The first sample is cold and kept apart; all the others are the steady ones, and none is dropped.
"""

import math
import statistics
from dataclasses import dataclass

LONGEST_PERIOD = 4
SETTLED = 8  # as many samples at the end must repeat before the series counts as settled


@dataclass(frozen=True)
class Stats:
    """One series: the cold sample, and the steady ones in numbers."""

    n: int
    first: int
    min: int
    median: float
    mean: float
    sd: float
    p99: int
    max: int
    period: (
        int | None
    )  # the steady samples repeat with this period (1 = identical); None: they vary
    settled: int | None  # from this sample on (0 is the cold one) they repeat; None: not at the end


def summarise(samples: list[int]) -> Stats | None:
    """The statistics of a series; None if it has no steady sample."""
    steady = samples[1:]
    if not steady:
        return None
    settled, period = tail(steady)
    return Stats(
        n=len(samples),
        first=samples[0],
        min=min(steady),
        median=_plain(statistics.median(steady)),
        mean=_plain(statistics.fmean(steady)),
        sd=_plain(statistics.pstdev(steady)),
        p99=percentile(steady, 99),
        max=max(steady),
        period=period if settled == 0 else None,
        settled=settled + 1 if settled is not None else None,
    )


def percentile(samples: list[int], percent: int) -> int:
    """The smallest sample that at least `percent` of all do not exceed (nearest rank)."""
    rank = math.ceil(len(samples) * percent / 100)
    return sorted(samples)[max(rank, 1) - 1]


def tail(steady: list[int]) -> tuple[int | None, int | None]:
    """Where the repeating end of a series starts, and its period: (None, None) if there is none.

    A shorter series than SETTLED may repeat from its start if it holds the group twice.
    """
    best: tuple[int, int] | None = None
    for period in range(1, LONGEST_PERIOD + 1):
        start = len(steady) - period
        while start > 0 and steady[start - 1] == steady[start - 1 + period]:
            start -= 1
        length = len(steady) - start
        long_enough = length >= min(SETTLED, max(len(steady), 2 * period))
        if start >= 0 and long_enough and (best is None or start < best[0]):
            best = start, period
    return best if best is not None else (None, None)


def _plain(value: float) -> float:
    """Whole numbers as integers, others to six digits: what goes into the result file."""
    return int(value) if value == int(value) else round(value, 6)
