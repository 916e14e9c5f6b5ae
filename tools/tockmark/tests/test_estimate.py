# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Intervals, lines and corrected tests: as a plain bootstrap, scipy and the theory have them."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as reference

from tockmark.judge.estimate import holm, interval, log_ratio, net_medians, rank_test
from tockmark.judge.lines import fitted, line

NOISE = np.random.default_rng(21)


@pytest.mark.parametrize("n", [2, 5, 10, 101, 400])
def test_drawn_medians_are_those_of_resamples(n: int) -> None:
    """The short way to a resample's median has the distribution of the long way."""
    samples = NOISE.normal(10_000, 300, n).astype(np.int64)
    slow = np.median(NOISE.choice(samples, size=(4000, n)), axis=1)
    quick = net_medians(list(samples))
    assert quick.mean() == pytest.approx(slow.mean(), abs=0.1 * slow.std() + 1e-9)
    assert quick.std() == pytest.approx(slow.std(), rel=0.1)
    assert np.abs(np.quantile(quick, [0.1, 0.9]) - np.quantile(slow, [0.1, 0.9])).max() < slow.std()


def test_an_interval_holds_the_median_as_often_as_it_says() -> None:
    hits = 0
    for _ in range(400):
        found = interval(net_medians(list(NOISE.normal(5000, 100, 60).astype(np.int64))))
        hits += found.low <= 5000 <= found.high
    assert 0.90 < hits / 400 < 0.99


def test_the_overheads_spread_widens_the_interval() -> None:
    samples, overhead = (list(NOISE.normal(m, 50, 99).astype(np.int64)) for m in (900, 300))
    alone, both = interval(net_medians(samples)), interval(net_medians(samples, overhead))
    assert both.high - both.low > 1.2 * (alone.high - alone.low)
    assert both.low < 600 < both.high
    twice = interval(net_medians(samples, overhead, 2))
    assert twice.low < 300 < twice.high


@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=50))
def test_the_same_samples_have_the_same_interval(samples: list[int]) -> None:
    first, again = interval(net_medians(samples)), interval(net_medians(samples))
    assert first == again
    assert min(samples) <= first.low <= first.high <= max(samples)


def test_equal_samples_leave_no_doubt() -> None:
    assert net_medians([325] * 1000, [169] * 1000).tolist() == [156]


@given(
    st.lists(st.integers(1, 10**6), min_size=2, max_size=50),
    st.lists(st.integers(1, 10**6), min_size=2, max_size=50),
)
def test_a_swapped_ratio_is_the_reciprocal(one: list[int], two: list[int]) -> None:
    there = interval(log_ratio(net_medians(one), net_medians(two)))
    back = interval(log_ratio(net_medians(two), net_medians(one)))
    assert (back.low, back.high) == (-there.high, -there.low)


@given(
    st.lists(
        st.tuples(st.integers(-1000, 1000), st.integers(-1000, 1000)),
        min_size=4,
        max_size=20,
        unique_by=lambda point: point[0],
    )
)
def test_a_line_is_that_of_scipy(points: list[tuple[int, int]]) -> None:
    found = line([x for x, _ in points], [y for _, y in points], held_out=0)
    kept = points[1:]
    expected = reference.linregress([x for x, _ in kept], [y for _, y in kept])
    assert found is not None
    assert found.slope == pytest.approx(expected.slope, abs=1e-6)
    assert found.intercept == pytest.approx(expected.intercept, abs=1e-6)
    residuals = [y - (expected.intercept + expected.slope * x) for x, y in kept]
    assert found.residual_sd == pytest.approx(
        math.sqrt(sum(r * r for r in residuals) / (len(kept) - 2)), abs=1e-5
    )
    x, y = points[0]
    error = y - (expected.intercept + expected.slope * x)
    assert (found.held_out, found.held_out_error) == pytest.approx((x, error), abs=1e-5)


def test_a_kink_shows_where_it_was_held_out() -> None:
    straight = line([0, 1, 2, 3, 4], [5, 8, 11, 14, 17])
    assert straight is not None
    assert (straight.slope, straight.intercept) == pytest.approx((3, 5))
    assert (straight.residual_sd, straight.held_out_error) == pytest.approx((0, 0), abs=1e-9)
    kinked = line([0, 1, 2, 3, 4], [5, 8, 21, 14, 17])
    assert kinked is not None
    assert (kinked.held_out, kinked.held_out_error) == pytest.approx((2, 10))
    assert line([1, 2, 3], [1, 2, 3]) is None


def test_two_columns_are_fitted_together() -> None:
    """A kink at 3: y = 5 + 2x, and 4 more a step behind it."""
    x = np.arange(8.0)
    kink = np.maximum(0, x - 3)
    found = fitted(5 + 2 * x + 4 * kink, x, kink)
    assert (found.intercept, *found.slopes) == pytest.approx((5, 2, 4))
    assert found.squares == pytest.approx(0, abs=1e-18)
    apart = [1, 2, 3, 4, 5, 6, 2**53]  # squares too large to tell the small ones apart
    assert fitted(apart, apart, [max(0, size - 3) for size in apart]).squares < 1e32


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_holm(p_values: list[float]) -> None:
    corrected = holm(p_values)
    pairs = sorted(zip(p_values, corrected, strict=True))
    assert all(p <= c <= 1 for p, c in pairs)
    assert [c for _, c in pairs] == sorted(corrected)
    assert min(corrected) == pytest.approx(min(1, len(p_values) * min(p_values)))
    # As it is defined: reject in order as long as p <= alpha / (tests that are left).
    for alpha in (0.01, 0.05, 0.2):
        left, rejected = len(p_values), 0
        for p in sorted(p_values):
            if p * left > alpha:
                break
            left, rejected = left - 1, rejected + 1
        assert sum(c <= alpha for c in corrected) == rejected


def test_the_rank_test_tells_series_apart() -> None:
    one, two = NOISE.normal(100, 5, 80), NOISE.normal(110, 5, 80)
    assert rank_test(one, two) < 1e-6
    assert rank_test(one, one) > 0.9
    assert rank_test(one, two) == rank_test(two, one)
