# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Intervals and lines: as the theory and scipy have them."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as reference

from tockmark.compare.rule import Interval, median_interval
from tockmark.result.stats import fit_line, fitted

NOISE = np.random.default_rng(21)


@pytest.mark.parametrize("n", [10, 60, 400])
def test_an_interval_holds_the_median_as_often_as_it_says(n: int) -> None:
    """At least; of few samples more often, since ranks are whole."""
    hits = 0
    for _ in range(400):
        found = median_interval(list(NOISE.exponential(5000, n).astype(np.int64)))
        hits += found.low <= 5000 * math.log(2) <= found.high
    assert 0.93 < hits / 400 <= 1
    if n > 10:
        assert hits < 400


@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=50))
def test_an_interval_lies_about_the_median(samples: list[int]) -> None:
    found = median_interval(samples)
    assert min(samples) <= found.low <= np.median(samples) <= found.high <= max(samples)


def test_equal_samples_leave_no_doubt() -> None:
    assert median_interval([325] * 1000) == Interval(325, 325)


@given(
    st.lists(
        st.tuples(st.integers(-1000, 1000), st.integers(-1000, 1000)),
        min_size=4,
        max_size=20,
        unique_by=lambda point: point[0],
    )
)
def test_a_line_is_that_of_scipy(points: list[tuple[int, int]]) -> None:
    found = fit_line([x for x, _ in points], [y for _, y in points], held_out=0)
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
    straight = fit_line([0, 1, 2, 3, 4], [5, 8, 11, 14, 17])
    assert straight is not None
    assert (straight.slope, straight.intercept) == pytest.approx((3, 5))
    assert (straight.residual_sd, straight.held_out_error) == pytest.approx((0, 0), abs=1e-9)
    kinked = fit_line([0, 1, 2, 3, 4], [5, 8, 21, 14, 17])
    assert kinked is not None
    assert (kinked.held_out, kinked.held_out_error) == pytest.approx((2, 10))
    assert fit_line([1, 2, 3], [1, 2, 3]) is None


def test_two_columns_are_fitted_together() -> None:
    """A kink at 3: y = 5 + 2x, and 4 more a step behind it."""
    x = np.arange(8.0)
    kink = np.maximum(0, x - 3)
    found = fitted(5 + 2 * x + 4 * kink, x, kink)
    assert (found.intercept, *found.slopes) == pytest.approx((5, 2, 4))
    assert found.squares == pytest.approx(0, abs=1e-18)
    apart = [1, 2, 3, 4, 5, 6, 2**53]  # squares too large to tell the small ones apart
    assert fitted(apart, apart, [max(0, size - 3) for size in apart]).squares < 1e32
