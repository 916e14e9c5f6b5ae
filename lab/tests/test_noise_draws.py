# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Samples that vary as on a board: the rule's verdict on drawn samples, on logs, and on results
with too few. docs/method.md has the figures of more draws."""

import noise_draws as drawn
import numpy as np
import pytest
from noise_draws import CALM, LIMIT, NOISES

from tockmark.compare.rule import OF_ALL, OF_ONE, Value, change_of_cycles
from tockmark.result.stats import steady, steady_median
from tockmark.wire.records import expand
from tockmark_lab.folders import VALIDATION

LONG = VALIDATION / "samples" / "long-series.txt"
JUDGEMENTS = 28
every_noise = pytest.mark.parametrize("name", NOISES)


@every_noise
def test_unchanged_rows_raise_no_alarm(name: str) -> None:
    alarm_pairs = [drawn.alarms(changes) for changes in drawn.draws(NOISES[name], 100, JUDGEMENTS)]
    assert not any(beyond for _, beyond in alarm_pairs)
    assert sum(other for other, _ in alarm_pairs) <= 1


def test_the_draws_detect_a_rule_that_is_too_certain() -> None:
    """With a single row's error probability, some of 55 rows often differ."""
    rng = np.random.default_rng(1)
    noise = NOISES["levels, as in the logs"]
    judgements = [
        drawn.judged(drawn.side(rng, noise, 100), drawn.side(rng, noise, 100), OF_ONE)
        for _ in range(10)
    ]
    assert sum(drawn.alarms(changes)[0] for changes in judgements) > 1


def test_three_percent_are_detected() -> None:
    noise = NOISES["levels, as in the logs"]
    assert drawn.share_found(drawn.draws(noise, 100, 4, 0.03)) > 0.6
    assert drawn.share_found(drawn.draws(noise, 1000, 2, 0.03)) == 1
    alone = list(drawn.draws(noise, 100, 60, 0.03, rows=1))
    assert drawn.share_found(alone) > 0.75
    assert drawn.share_found(alone, limit=0) == 1


def test_a_side_without_variation_keeps_the_interval_of_the_other() -> None:
    """The sides are a simulator and a board."""
    rng = np.random.default_rng(3)
    noise = NOISES["levels, as in the logs"]
    still = drawn.side(rng, noise, 100, still=True)
    same, dearer = (drawn.side(rng, noise, 100, planted=share) for share in (0, 0.03))
    assert drawn.alarms(drawn.judged(still, same)) == (False, False)
    (both,) = drawn.judged(same[:1], dearer[:1])
    (interval,) = drawn.judged(still[:1], dearer[:1])
    assert 0 < interval.high - interval.low < both.high - both.low
    assert drawn.share_found([drawn.judged(still, dearer)]) > 0.9


def test_a_step_in_both_directions_is_no_difference() -> None:
    """Values are 12 apart. Each median is one step off, and its interval ends at the next: at
    6000."""
    steps = (5976, 5988, 6000, 6012, 6024)
    rng = np.random.default_rng(4)
    base, new = (
        tuple(int(step) for step in rng.permutation(np.repeat(steps, shares)))
        for shares in ((10, 14, 25, 31, 20), (20, 31, 25, 14, 10))
    )
    assert (steady_median(base), steady_median(new)) == (6012, 5988)
    before, after = (
        Value((steady_median(samples),), medians_by_layout=(((1, samples),),))
        for samples in (base, new)
    )
    assert change_of_cycles(before, after, CALM, error_probability=OF_ALL / drawn.ROWS).contains_one


def halves(samples: tuple[int, ...]) -> tuple[Value, Value]:
    half = len(samples) // 2
    first_half, second_half = (
        Value((steady_median(part),), medians_by_layout=(((1, part),),))
        for part in (samples[:half], samples[half : 2 * half])
    )
    return first_half, second_half


def test_halves_of_long_series_do_not_differ() -> None:
    """The series are of Tock on the simulator, cache on. They vary, drift and have plateaus."""
    lines = [line for line in LONG.read_text(encoding="utf-8").splitlines() if line[0] != "#"]
    every = [tuple(steady(expand(line.split(" | ")[-1]))) for line in lines]
    chance = 0.01 / len(every)
    changes = [
        change_of_cycles(*halves(samples), CALM, error_probability=chance) for samples in every
    ]
    assert len(changes) > 200
    assert (
        sum(interval.low > 1 + LIMIT or interval.high < 1 / (1 + LIMIT) for interval in changes)
        == 0
    )
