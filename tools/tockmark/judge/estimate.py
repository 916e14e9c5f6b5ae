# SPDX-License-Identifier: Apache-2.0 OR MIT
"""How sure estimates are: of a median whose samples vary by themselves, as on a board, and of
deviations that are themselves estimated. Knows nothing of benchmarks."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

Z = 1.96  # standard deviations to either side: 95 % of a normal distribution


@dataclass(frozen=True)
class Interval:
    """Where a value lies; a known one has both ends equal."""

    low: float
    high: float


def student(z: float, free: int) -> float:
    """What z standard deviations of a normal distribution become where the deviation is estimated
    with so many degrees of freedom: Student's t of the same probability, by its expansion in 1/free
    (Abramowitz and Stegun 26.7.5), which for a z of 3.5 is within 2 % from 7 up."""
    if free < 1:
        return math.inf
    return (
        z
        + (z**3 + z) / (4 * free)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * free**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * free**3)
    )


def median_interval(samples: Sequence[int]) -> Interval:
    """Where the median of what gave these samples lies, with 95 % confidence and whatever their
    distribution: as many of n lie below it as of n coins show heads, which its ranks follow from.
    """
    ordered = sorted(samples)
    n = len(ordered)
    out = max(0, math.floor((n - Z * math.sqrt(n)) / 2) - 1)  # samples left out at either end
    return Interval(ordered[out], ordered[n - 1 - out])
