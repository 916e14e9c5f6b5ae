# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Intervals and fitted lines agree with theory and with scipy."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as reference

from tockmark.result.stats import (
    effective_sizes,
    excluded_ranks,
    fit_line,
    median_intervals,
    min_samples,
)

NOISE = np.random.default_rng(21)


@pytest.mark.parametrize("chance", [0.05, 0.001])
@pytest.mark.parametrize("n", [12, 60, 400])
def test_an_interval_misses_the_median_no_more_often_than_stated(n: int, chance: float) -> None:
    """With few samples it misses less often, because ranks are whole numbers."""
    alone = np.full(4000, n)
    low, high = median_intervals(NOISE.exponential(5000, (4000, n)).astype(np.int64), alone, chance)
    missed = np.mean((low > 5000 * math.log(2)) | (high < 5000 * math.log(2)))
    assert missed <= chance + 3 * math.sqrt(chance / 4000)
    if n > 12:
        assert missed > chance / 10


@pytest.mark.parametrize("n", range(1, 40))
def test_ranks_are_those_of_the_binomial_distribution(n: int) -> None:
    for chance in (0.05, 0.001):
        excluded = excluded_ranks(n, chance)
        assert excluded == 0 or 2 * reference.binom.cdf(int(excluded), n, 0.5) <= chance
        assert (
            n < min_samples(chance) or 2 * reference.binom.cdf(int(excluded) + 1, n, 0.5) > chance
        )
        assert (2 * 0.5**n <= chance) == (n >= min_samples(chance))


@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=50))
def test_an_interval_contains_the_median_of_its_samples(samples: list[int]) -> None:
    low, high = median_intervals(np.array(samples), np.array(float(len(samples))), 0.05)
    assert min(samples) <= low <= np.median(samples) <= high <= max(samples)


def test_correlated_samples_count_as_fewer() -> None:
    """A plateau that continues with a probability of 0.8 has the correlations 0.6, 0.36, …, which
    means four times the variance. A drift, or two plateaus, counts as hardly more than one sample.
    """
    flips = np.where(NOISE.random((200, 500)) < 0.2, -1, 1).cumprod(axis=1)
    assert np.median(effective_sizes(flips)) == pytest.approx(500 / 4, rel=0.25)
    assert np.median(effective_sizes(NOISE.normal(size=(200, 500)))) > 450
    assert effective_sizes(np.arange(100)) < 5
    assert effective_sizes(np.repeat([1000, 1040], 50)) < 5
    assert effective_sizes(np.tile([1000, 1040], 50)) == 100  # alternating samples all count


@given(
    st.lists(
        st.tuples(st.integers(-1000, 1000), st.integers(-1000, 1000)),
        min_size=4,
        max_size=20,
        unique_by=lambda point: point[0],
    )
)
def test_a_fitted_line_agrees_with_scipy(points: list[tuple[int, int]]) -> None:
    fitted = fit_line([x for x, _ in points], [y for _, y in points], held_out=0)
    kept = points[1:]
    expected = reference.linregress([x for x, _ in kept], [y for _, y in kept])
    assert fitted is not None
    assert fitted.slope == pytest.approx(expected.slope, abs=1e-6)
    assert fitted.intercept == pytest.approx(expected.intercept, abs=1e-6)
    residuals = [y - (expected.intercept + expected.slope * x) for x, y in kept]
    assert fitted.residual_sd == pytest.approx(
        math.sqrt(sum(r * r for r in residuals) / (len(kept) - 2)), abs=1e-5
    )
    x, y = points[0]
    error = y - (expected.intercept + expected.slope * x)
    assert (fitted.held_out, fitted.held_out_error) == pytest.approx((x, error), abs=1e-5)
