# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Statistics: known series give known numbers, and scipy gives the same ones."""

import time
from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as reference

from tockmark.result.stats import Ints, Stats, bimodal, net_sd, percentile, summarise, tail

samples_of = st.lists(st.integers(0, 2**32 - 1), min_size=2, max_size=200)


def summary(samples: list[int]) -> Stats:
    stats = summarise(samples)
    assert stats is not None
    return stats


def sorted_ints(values: object) -> Ints:
    return np.sort(np.asarray(values).astype(np.int64))


def test_the_cold_sample_stays_out() -> None:
    stats = summary([900, 10, 12, 10, 12])
    assert (stats.n, stats.first, stats.min, stats.max) == (5, 900, 10, 12)
    assert (stats.median, stats.mean, stats.sd, stats.period, stats.settled) == (11, 11, 1, 2, 1)
    assert not stats.deterministic


def test_one_sample_stands_for_itself() -> None:
    assert summarise([]) is None
    alone = summarise([5])
    assert alone is not None
    assert (alone.n, alone.first, alone.median, alone.period) == (1, 5, 5, None)


def test_equal_samples_are_deterministic() -> None:
    stats = summary([900, *[7] * 11])
    assert stats.deterministic
    assert (stats.sd, stats.mad, stats.mode_share, stats.mean) == (0, 0, 1, 7)
    assert not summary([900, *[7] * 10, 8]).deterministic


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
        ([], (None, None)),
    ],
)
def test_periods(steady: list[int], expected: tuple[int | None, int | None]) -> None:
    assert tail(steady) == expected


def test_percentile_is_a_sample() -> None:
    assert percentile(list(range(1, 101)), 99) == 99
    assert percentile([1, 2, 3], 99) == 3
    assert percentile([4], 50) == 4


def test_a_late_settling_series_says_when() -> None:
    stats = summary([900, 1, 2, 3] + [7] * 8)
    assert (stats.period, stats.settled) == (None, 4)


@given(samples_of)
def test_the_numbers_are_those_of_scipy(samples: list[int]) -> None:
    stats, steady = summary(samples), samples[1:]
    assert stats.median == pytest.approx(np.median(steady))
    assert stats.mean == pytest.approx(np.mean(steady), rel=1e-9, abs=1e-6)
    assert stats.sd == pytest.approx(np.std(steady), rel=1e-6, abs=1e-5)
    assert stats.mad == pytest.approx(reference.median_abs_deviation(steady))
    for percent, found in ((95, stats.p95), (99, stats.p99)):
        assert found == np.percentile(steady, percent, method="inverted_cdf")
    assert stats.mode_share == pytest.approx(reference.mode(steady).count / len(steady), abs=1e-6)


@given(samples_of)
def test_what_a_summary_must_obey(samples: list[int]) -> None:
    stats = summary(samples)
    assert stats.min <= stats.median <= stats.max
    assert stats.p95 <= stats.p99 <= stats.max
    assert stats.outliers_mild + stats.outliers_severe < len(samples)
    moved = summary([sample + 1000 for sample in samples])
    spread = ("sd", "mad", "mode_share", "bimodal", "deterministic", "outliers_severe", "period")
    assert [asdict(stats)[name] for name in spread] == [asdict(moved)[name] for name in spread]


def test_outliers_are_counted_and_kept() -> None:
    steady = [*range(11), 5, 5, 17, 40]
    low, high = np.quantile(steady, [0.25, 0.75])
    stats = summary([0, *steady])
    assert high + 1.5 * (high - low) < 17 < high + 3 * (high - low) < 40
    assert (stats.outliers_mild, stats.outliers_severe, stats.max) == (1, 1, 40)


MODES = np.random.default_rng(6)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        pytest.param(MODES.normal(9000, 50, 500), False, id="normal"),
        pytest.param(MODES.uniform(9000, 9900, 500), False, id="uniform"),
        pytest.param(MODES.exponential(500, 500), False, id="exponential"),
        pytest.param([*MODES.normal(9000, 50, 480), *[999_999] * 20], False, id="4 % far off"),
        pytest.param([426, 427] * 50, False, id="one count apart"),
        pytest.param([426] * 100, False, id="equal"),
        pytest.param([426, 446] * 50, True, id="in turn"),
        pytest.param([426] * 80 + [446] * 20, True, id="one in five"),
        pytest.param([426] * 95 + [446] * 5, False, id="one in twenty"),
        pytest.param(
            [*MODES.normal(9000, 50, 250), *MODES.normal(9300, 50, 250)], True, id="6 sd apart"
        ),
        pytest.param([426, 446] * 5, False, id="too few to tell"),
    ],
)
def test_two_modes_are_told_from_one(values: object, expected: bool) -> None:
    assert bimodal(sorted_ints(values)) is expected


@given(st.integers(0, 2**32 - 1), st.floats(1, 1e4))
def test_a_normal_series_has_one_mode(seed: int, sd: float) -> None:
    assert not bimodal(sorted_ints(np.random.default_rng(seed).normal(1e6, sd, 400)))


def test_the_overheads_spread_is_carried_along() -> None:
    series, overhead = summary([0, *[97, 103] * 10]), summary([0, *[38, 42] * 10])
    assert net_sd(series, overhead) == pytest.approx(np.hypot(3, 2), abs=1e-6)
    assert net_sd(series, overhead, times=2) == 5
    assert net_sd(series, None) == 3


def test_a_million_samples_take_no_time() -> None:
    samples = [int(s) for s in np.random.default_rng(1).normal(9000, 50, 1_000_000)]
    began = time.process_time()
    assert summary(samples).n == 1_000_000
    assert summary([7] * 1_000_000).deterministic
    assert time.process_time() - began < 3
