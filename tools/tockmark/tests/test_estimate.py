# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Intervals and lines: as the theory and scipy have them."""

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
def test_an_interval_holds_the_median_as_often_as_it_says(n: int, chance: float) -> None:
    """At least; of few samples more often, since ranks are whole."""
    alone = np.full(4000, n)
    low, high = median_intervals(NOISE.exponential(5000, (4000, n)).astype(np.int64), alone, chance)
    missed = np.mean((low > 5000 * math.log(2)) | (high < 5000 * math.log(2)))
    assert missed <= chance + 3 * math.sqrt(chance / 4000)
    if n > 12:
        assert missed > chance / 10


@pytest.mark.parametrize("n", range(1, 40))
def test_ranks_are_those_of_the_binomial_distribution(n: int) -> None:
    for chance in (0.05, 0.001):
        out = excluded_ranks(n, chance)
        assert out == 0 or 2 * reference.binom.cdf(int(out), n, 0.5) <= chance
        assert n < min_samples(chance) or 2 * reference.binom.cdf(int(out) + 1, n, 0.5) > chance
        assert (2 * 0.5**n <= chance) == (n >= min_samples(chance))


@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=50))
def test_an_interval_lies_about_the_median(samples: list[int]) -> None:
    low, high = median_intervals(np.array(samples), np.array(float(len(samples))), 0.05)
    assert min(samples) <= low <= np.median(samples) <= high <= max(samples)


def test_samples_that_hang_together_tell_as_much_as_fewer() -> None:
    """A plateau that goes on with a probability of 0.8 has correlations of 0.6, 0.36, …: four times
    the variance. A drift, or two plateaus, is hardly more than one sample."""
    flips = np.where(NOISE.random((200, 500)) < 0.2, -1, 1).cumprod(axis=1)
    assert np.median(effective_sizes(flips)) == pytest.approx(500 / 4, rel=0.25)
    assert np.median(effective_sizes(NOISE.normal(size=(200, 500)))) > 450
    assert effective_sizes(np.arange(100)) < 5
    assert effective_sizes(np.repeat([1000, 1040], 50)) < 5
    assert effective_sizes(np.tile([1000, 1040], 50)) == 100  # what alternates is no doubt


@given(
    st.lists(
        st.tuples(st.integers(-1000, 1000), st.integers(-1000, 1000)),
        min_size=4,
        max_size=20,
        unique_by=lambda point: point[0],
    )
)
def test_a_line_is_that_of_scipy(points: list[tuple[int, int]]) -> None:
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
