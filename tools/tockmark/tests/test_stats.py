# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Statistics: known series give known numbers."""

import pytest

from tockmark.stats import percentile, summarise, tail


def test_the_cold_sample_stays_out() -> None:
    stats = summarise([900, 10, 12, 10, 12])
    assert stats is not None
    assert (stats.n, stats.first, stats.min, stats.max) == (5, 900, 10, 12)
    assert (stats.median, stats.mean, stats.sd, stats.period, stats.settled) == (11, 11, 1, 2, 1)


def test_one_sample_is_no_series() -> None:
    assert summarise([5]) is None
    assert summarise([]) is None


@pytest.mark.parametrize(
    ("steady", "expected"),
    [
        ([7] * 20, (0, 1)),
        ([7, 8] * 5, (0, 2)),
        ([7, 8, 9] * 3, (0, 3)),
        ([7, 8, 9, 9] * 2, (0, 4)),
        ([7, 8, 9, 9, 5] * 4, (None, None)),
        ([1, 2, 3] + [7] * 8, (3, 1)),
        ([1, 2, 3] + [7] * 7, (None, None)),
        ([7], (None, None)),
        ([7, 7], (0, 1)),
        ([7, 8], (None, None)),
        ([7, 8, 7, 8], (0, 2)),
    ],
)
def test_periods(steady: list[int], expected: tuple[int | None, int | None]) -> None:
    assert tail(steady) == expected


def test_percentile_is_a_sample() -> None:
    assert percentile(list(range(1, 101)), 99) == 99
    assert percentile([1, 2, 3], 99) == 3
    assert percentile([4], 50) == 4


def test_a_late_settling_series_says_when() -> None:
    stats = summarise([900, 1, 2, 3] + [7] * 8)
    assert stats is not None
    assert (stats.period, stats.settled) == (None, 4)
