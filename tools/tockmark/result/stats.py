# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What a series of samples says: pure arithmetic that knows nothing of benchmarks.

The first sample is cold and kept apart; all the others are the steady ones, and none is dropped:
outliers are counted, not removed.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

LONGEST_PERIOD = 4
SETTLED = 8  # as many samples at the end must repeat before the series counts as settled
MILD, SEVERE = 1.5, 3.0  # Tukey's fences, in interquartile ranges beyond the quartiles
MODE_SAMPLES = 50  # with fewer, chance makes modes
MODE_SHARE = 0.1  # a group of samples with less than this is outliers, not a mode
MODE_DISTANCE = 4.0  # between the medians of two modes, in spreads of the samples around them
NORMAL_MAD = 1.4826  # times the MAD is the sd, of a normal distribution

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
    p95: int
    p99: int
    max: int
    mad: float  # median distance from the median, as it is
    mode_share: float  # of the steady samples that have the most frequent value
    outliers_mild: int
    outliers_severe: int
    bimodal: bool  # the median stands for neither of two groups
    deterministic: bool  # all steady samples are equal
    period: int | None  # the steady samples repeat with this period (1: equal); None: they vary
    settled: int | None  # from this sample on (0 is the cold one) they repeat; None: not at the end


def summarise(samples: Sequence[int]) -> Stats | None:
    """The statistics of a series; None if it is empty. A single sample, as of what a boot does only
    once, stands for the steady ones."""
    if not len(samples):
        return None
    steady = np.asarray(samples[1:] if len(samples) > 1 else samples, dtype=np.int64)
    ordered = np.sort(steady)
    settled, period = tail(steady)
    median = _middle(ordered)
    distance = (ordered - ordered[0]).astype(np.float64)  # small numbers: nothing is rounded away
    mild, severe = outliers(ordered)
    return Stats(
        n=len(samples),
        first=int(samples[0]),
        min=int(ordered[0]),
        median=_plain(median),
        mean=_plain(float(ordered[0]) + float(distance.mean())),
        sd=_plain(float(distance.std())),
        p95=percentile(ordered, 95),
        p99=percentile(ordered, 99),
        max=int(ordered[-1]),
        mad=_plain(_mad(ordered)),
        mode_share=_plain(float(np.unique(ordered, return_counts=True)[1].max() / len(ordered))),
        outliers_mild=mild,
        outliers_severe=severe,
        bimodal=bimodal(ordered),
        deterministic=settled == 0 and period == 1,
        period=period if settled == 0 else None,
        settled=settled + 1 if settled is not None else None,
    )


def percentile(ordered: Sequence[int] | Ints, percent: int) -> int:
    """The smallest sample that at least `percent` of all do not exceed (nearest rank)."""
    rank = math.ceil(len(ordered) * percent / 100)
    return int(ordered[max(rank, 1) - 1])


def tail(steady: Sequence[int] | Ints) -> tuple[int | None, int | None]:
    """Where the repeating end of a series starts, and its period: (None, None) if there is none.

    A shorter series than SETTLED may repeat from its start if it holds the group twice.
    """
    values = np.asarray(steady, dtype=np.int64)
    best: tuple[int, int] | None = None
    for period in range(1, min(LONGEST_PERIOD, len(values)) + 1):
        breaks = np.flatnonzero(values[period:] != values[:-period])
        start = int(breaks[-1]) + 1 if len(breaks) else 0
        long_enough = len(values) - start >= min(SETTLED, max(len(values), 2 * period))
        if long_enough and (best is None or start < best[0]):
            best = start, period
    return best if best is not None else (None, None)


def outliers(ordered: Ints) -> tuple[int, int]:
    """How many samples lie beyond Tukey's inner fences but not the outer ones, and beyond those.

    Where more than half of the samples are equal, every other one is beyond the outer fences.
    """
    low, high = np.quantile(ordered, [0.25, 0.75])
    beyond = np.maximum(low - ordered, ordered - high)
    severe = int(np.count_nonzero(beyond > SEVERE * (high - low)))
    return int(np.count_nonzero(beyond > MILD * (high - low))) - severe, severe


def bimodal(ordered: Ints) -> bool:
    """Whether the samples fall into two groups well apart.

    The samples are cut where the variance within the two parts is least (Otsu), among the cuts that
    leave MODE_SHARE of them on either side, so that a few outliers make no mode. They are bimodal
    if the medians of the parts are MODE_DISTANCE spreads apart (Ashman's D, with the MAD in place
    of the sd, and at least one count: a counter's own step makes no mode either). Sarle's
    coefficient would be simpler, but a single far outlier drives it to its limit.
    """
    n = len(ordered)
    least = max(1, math.ceil(n * MODE_SHARE))
    cuts = np.arange(least, n - least + 1)
    if n < MODE_SAMPLES or not len(cuts := cuts[ordered[cuts - 1] < ordered[cuts]]):
        return False
    # What lies beyond the outermost cuts must not decide between them: it is drawn in.
    low, high = np.quantile(ordered, [MODE_SHARE, 1 - MODE_SHARE])
    sums = np.cumsum(np.clip(ordered, low, high) - low)
    below, above = sums[cuts - 1] / cuts, (sums[-1] - sums[cuts - 1]) / (n - cuts)
    cut = int(cuts[np.argmax(cuts * (n - cuts) * (above - below) ** 2)])
    parts = ordered[:cut], ordered[cut:]
    spreads = [max(1.0, NORMAL_MAD * _mad(part)) for part in parts]
    apart = _middle(parts[1]) - _middle(parts[0])
    return bool(apart > MODE_DISTANCE * math.hypot(*spreads) / math.sqrt(2))


def net_sd(series: Stats, overhead: Stats | None, times: float = 1) -> float:
    """The spread (sd) of one net sample: that of the overhead adds, as it varies for itself."""
    return _plain(math.hypot(series.sd, times * overhead.sd if overhead else 0))


def _middle(ordered: Ints) -> float:
    half = len(ordered) // 2
    return float(ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2)


def _mad(ordered: Ints) -> float:
    return float(np.median(np.abs(ordered - _middle(ordered))))


def _plain(value: float) -> float:
    """Whole numbers as integers, others to six digits: what goes into the result file."""
    return int(value) if value == int(value) else round(value, 6)
