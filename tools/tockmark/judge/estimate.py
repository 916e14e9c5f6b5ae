# SPDX-License-Identifier: Apache-2.0 OR MIT
"""How sure a number is: bootstrap intervals of medians, and many tests at once. Knows nothing of
benchmarks. Whatever is drawn at random is drawn from a seed that
the samples themselves give: the same samples always have the same interval.
"""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tockmark.judge.lines import Floats

CONFIDENCE = 0.95
DRAWS = 4000

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Interval:
    """Where a value lies with the confidence above; a known one has both ends equal."""

    low: float
    high: float


def net_medians(samples: Sequence[int], overhead: Sequence[int] = (), times: float = 1) -> Floats:
    """Bootstrap draws of a median less that of the overhead, which varies for itself; a single
    value where nothing varies."""
    series, read = np.asarray(samples, dtype=np.int64), np.asarray(overhead, dtype=np.int64)
    draw = np.random.default_rng(zlib.crc32(read.tobytes(), zlib.crc32(series.tobytes())))
    drawn = _medians(series, draw)
    if len(read):
        drawn = drawn - times * _medians(read, draw)
    return drawn


def _medians(samples: Ints, draw: np.random.Generator) -> Floats:
    """The medians of DRAWS resamples.

    A resample's k-th smallest of n is the sample at the rank ceil(n U), where U is the k-th
    smallest of n uniform numbers: a beta variable. So its median is drawn at once, without the
    resample, however many samples there are.
    """
    ordered = np.sort(samples)
    n = len(ordered)
    if ordered[0] == ordered[-1]:
        return np.array([ordered[0]], dtype=np.float64)
    k = (n + 1) // 2
    lower = draw.beta(k, n - k + 1, DRAWS)
    found = ordered[(n * lower).astype(np.int64)].astype(np.float64)
    if n % 2 == 0:  # the other middle one: the least of n - k uniform numbers above the first
        upper = 1 - (1 - lower) * (1 - draw.random(DRAWS)) ** (1 / (n - k))
        found = (found + ordered[np.minimum((n * upper).astype(np.int64), n - 1)]) / 2
    return found


def interval(drawn: Floats) -> Interval:
    """The middle of what was drawn: as many draws are left out below as above."""
    ordered = np.sort(drawn)
    out = int(len(ordered) * (1 - CONFIDENCE) / 2)
    return Interval(float(ordered[out]), float(ordered[len(ordered) - 1 - out]))


def log_ratio(base: Floats, new: Floats) -> Floats:
    """Draws of the logarithm of new by base, which are above zero. Swapping changes its sign.
    Equal draws come of equal samples: there, nothing differs."""
    if np.array_equal(base, new):
        return np.zeros(1)
    drawn: Floats = np.log(new) - np.log(base)
    return drawn


def holm(p_values: Sequence[float]) -> list[float]:
    """The p-values of a family of tests, each corrected for the number of them (Holm 1979)."""
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    corrected = [0.0] * len(p_values)
    least = 0.0
    for done, i in enumerate(order):
        least = max(least, min(1.0, (len(p_values) - done) * p_values[i]))
        corrected[i] = least
    return corrected


def rank_test(base: Sequence[float] | Floats, new: Sequence[float] | Floats) -> float:
    """The two-sided p-value of Mann and Whitney's test that neither series tends to be larger."""
    if np.min([*base, *new]) == np.max([*base, *new]):
        return 1.0
    from scipy.stats import mannwhitneyu  # slow to load, and most verbs do not need it

    return float(mannwhitneyu(base, new, alternative="two-sided", method="asymptotic").pvalue)
