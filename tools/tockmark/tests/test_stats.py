# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The statistics of known series have the expected values, and numpy computes the same values."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tockmark.result.stats import median, repeating_tail, steady_median, summarise

samples_of = st.lists(st.integers(0, 2**32 - 1), min_size=2, max_size=200)


def test_the_cold_sample_is_excluded() -> None:
    stats = summarise([900, 10, 12, 10, 12])
    assert (stats.n, stats.first, stats.min, stats.max) == (5, 900, 10, 12)
    assert (stats.median, stats.mean, stats.sd, stats.period, stats.settled) == (11, 11, 1, 2, 1)


def test_only_whole_periods_count() -> None:
    """Otherwise the same samples would have the median 10, 11 or 12, depending on their end."""
    for samples in ([10, 12] * 5, [10, 12] * 5 + [10], [12, *[10, 12] * 5]):
        assert summarise([900, *samples]).median == 11
        assert steady_median(tuple(samples)) == 11
    assert steady_median((3, 4, *[7, 8, 9] * 4, 7)) == 8


@given(samples_of)
def test_a_periodic_series_does_not_wander(samples: list[int]) -> None:
    stats = summarise(samples)
    assert not (stats.wanders and stats.period)


@pytest.mark.parametrize(
    ("samples", "word"),
    [
        ([900, *[7] * 11], "="),
        ([900, 7, 8, 7, 8], "p2"),
        ([900, *[7, 8, 9, 9] * 2], "p4"),
        ([900, 1, 2, 3] + [7] * 20, "~4"),
        ([900, *[2241] * 20, *[2242] * 11], "w"),  # two plateaus
        ([900, *range(20), *[7] * 11], "w"),  # settles late
        ([900, *[1, 2, 3, 2, 5] * 3, *[11, 12, 13, 12, 15] * 3], "w"),
        ([900, *[1, 2, 3, 2, 5, 9] * 5], "~"),  # noise without drift
        ([900, *[7] * 10, 8], "~"),
        ([5], "1"),
    ],
)
def test_steadiness_of_series(samples: list[int], word: str) -> None:
    assert summarise(samples).steadiness == word


@pytest.mark.parametrize(
    ("values", "expected"),
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
        ([], (None, None)),
    ],
)
def test_periods(values: list[int], expected: tuple[int | None, int | None]) -> None:
    assert repeating_tail(tuple(values)) == expected


@given(samples_of)
def test_the_statistics_agree_with_numpy(samples: list[int]) -> None:
    stats, values = summarise(samples), samples[1:]
    start, period = repeating_tail(tuple(values))
    if start is not None and period is not None:
        values = values[: len(values) - (len(values) - start) % period]
    assert stats.median == median(values) == pytest.approx(np.median(values))
    assert stats.mean == pytest.approx(np.mean(values), rel=1e-9, abs=1e-6)
    assert stats.sd == pytest.approx(np.std(values), rel=1e-6, abs=1e-5)
    assert stats.p99 == np.percentile(values, 99, method="inverted_cdf")
