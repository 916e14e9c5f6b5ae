# SPDX-License-Identifier: Apache-2.0 OR MIT
"""How sure the median of samples is that vary by themselves, as on a board. Knows nothing of
benchmarks."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

Z = 1.96  # standard deviations to either side: 95 % of a normal distribution


@dataclass(frozen=True)
class Interval:
    """Where a value lies; a known one has both ends equal."""

    low: float
    high: float


def median_interval(samples: Sequence[int]) -> Interval:
    """Where the median of what gave these samples lies, with 95 % confidence and whatever their
    distribution: as many of n lie below it as of n coins show heads, which its ranks follow from.
    """
    ordered = sorted(samples)
    n = len(ordered)
    out = max(0, math.floor((n - Z * math.sqrt(n)) / 2) - 1)  # samples left out at either end
    return Interval(ordered[out], ordered[n - 1 - out])
