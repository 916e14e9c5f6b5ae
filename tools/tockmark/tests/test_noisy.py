# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Samples that vary by themselves, as a board's do: what the rule makes of drawn ones, of logs, and
of results that have too few. docs/method.md has the figures of more draws."""

import numpy as np
import pytest

from tockmark import paths
from tockmark.compare.limits import Margins
from tockmark.compare.pairs import compare
from tockmark.compare.rule import OF_ALL, OF_ONE, Value, change
from tockmark.compare.spread import known_spread
from tockmark.compare.verdict import Verdict
from tockmark.errors import INCOMPLETE, OK, REGRESSION, TockmarkError
from tockmark.result.model import Result
from tockmark.result.provenance import Board, Kernel
from tockmark.result.stats import middle, steady
from tockmark.suite.catalogue import Catalogue
from tockmark.tests import noise_draws as drawn
from tockmark.tests.noise_draws import CALM, LIMIT, NOISES
from tockmark.tests.of_samples import CALM as CALM_LINKS
from tockmark.tests.of_samples import ON_BOARD, SIMULATED, judged, made, of_links
from tockmark.tests.of_samples import steady as equal
from tockmark.wire.records import expand

LONG = paths.ROOT / "lab" / "validation" / "samples" / "long-series.txt"
JUDGEMENTS = 28
every_noise = pytest.mark.parametrize("name", NOISES)


@every_noise
def test_where_nothing_got_dearer_nothing_is_found(name: str) -> None:
    said = [drawn.alarms(found) for found in drawn.draws(NOISES[name], 100, JUDGEMENTS)]
    assert not any(beyond for _, beyond in said)
    assert sum(other for other, _ in said) <= 1


def test_the_draws_would_show_a_rule_that_is_too_sure() -> None:
    """As if each row stood by itself: then some of 55 are often off."""
    rng = np.random.default_rng(1)
    noise = NOISES["levels, as in the logs"]
    found = [
        drawn.judged(drawn.side(rng, noise, 100), drawn.side(rng, noise, 100), OF_ONE)
        for _ in range(10)
    ]
    assert sum(drawn.alarms(one)[0] for one in found) > 1


def test_three_percent_are_found() -> None:
    noise = NOISES["levels, as in the logs"]
    assert drawn.share_found(drawn.draws(noise, 100, 4, 0.03)) > 0.6
    assert drawn.share_found(drawn.draws(noise, 1000, 2, 0.03)) == 1
    alone = list(drawn.draws(noise, 100, 60, 0.03, rows=1))
    assert drawn.share_found(alone) > 0.75
    assert drawn.share_found(alone, limit=0) == 1


def test_a_side_that_does_not_vary_leaves_the_doubt_of_the_other() -> None:
    """A simulator's beside a board's."""
    rng = np.random.default_rng(3)
    noise = NOISES["levels, as in the logs"]
    still = drawn.side(rng, noise, 100, still=True)
    same, dearer = (drawn.side(rng, noise, 100, planted=share) for share in (0, 0.03))
    assert drawn.alarms(drawn.judged(still, same)) == (False, False)
    (both,) = drawn.judged(same[:1], dearer[:1])
    (one,) = drawn.judged(still[:1], dearer[:1])
    assert 0 < one.high - one.low < both.high - both.low
    assert drawn.share_found([drawn.judged(still, dearer)]) > 0.9


def test_a_step_on_either_side_is_no_difference() -> None:
    """Values stand 12 apart. Each median is one off, and its interval ends at the next: at 6000."""
    steps = (5976, 5988, 6000, 6012, 6024)
    rng = np.random.default_rng(4)
    base, new = (
        tuple(int(one) for one in rng.permutation(np.repeat(steps, shares)))
        for shares in ((10, 14, 25, 31, 20), (20, 31, 25, 14, 10))
    )
    assert (middle(base), middle(new)) == (6012, 5988)
    before, after = (Value((middle(one),), sampled=(((1, one),),)) for one in (base, new))
    assert change(before, after, CALM, z=0, chance=OF_ALL / drawn.ROWS).unmoved


def halves(samples: tuple[int, ...]) -> tuple[Value, Value]:
    half = len(samples) // 2
    one, two = (
        Value((middle(part),), sampled=(((1, part),),))
        for part in (samples[:half], samples[half : 2 * half])
    )
    return one, two


def test_halves_of_long_series_do_not_differ() -> None:
    """Of Tock on the simulator, with the cache on: these vary, wander and have plateaus."""
    lines = [line for line in LONG.read_text(encoding="utf-8").splitlines() if line[0] != "#"]
    every = [tuple(steady(expand(line.split(" | ")[-1]))) for line in lines]
    chance = 0.01 / len(every)
    found = [change(*halves(one), CALM, z=0, chance=chance) for one in every]
    assert len(found) > 200
    assert sum(one.low > 1 + LIMIT or one.high < 1 / (1 + LIMIT) for one in found) == 0


# Whole results

NOISE = np.random.default_rng(5)


def noisy(net: int, n: int) -> list[int]:
    return [net + 250, *(net + 169 + int(one) for one in NOISE.normal(0, 30, n - 1))]


def on_board(catalogue: Catalogue, n: int, net: int = 3000) -> Result:
    return made(catalogue, {"a.x": noisy(net, n), "b.y": equal(900)}, board=ON_BOARD)


def test_samples_that_are_too_few_have_no_verdict(catalogue: Catalogue) -> None:
    """And it is said in one line how many would do."""
    for n, few in ((8, True), (9, False)):
        one, two = on_board(catalogue, n), on_board(catalogue, n, 6000)
        found = judged(one, two, catalogue, CALM_LINKS)
        rows = {row.row.id: row for row in found.rows}
        if few:
            why = (
                "its samples vary, and are too few for a verdict, or hang together: 9 that do not"
                " would do"
            )
            assert (rows["a.x"].verdict, rows["a.x"].why) == (Verdict.NOT_JUDGED, why)
            assert found.warnings == (f"not judged: 1 row (a.x icache=on): {why}",)
            assert found.exit_code == INCOMPLETE
        else:
            assert rows["a.x"].verdict is Verdict.WORSE
            assert found.exit_code == REGRESSION


def test_where_no_row_has_enough_the_result_is_refused(catalogue: Catalogue) -> None:
    read = noisy(0, 5)
    one, two = (made(catalogue, {"a.x": equal(900)}, board=ON_BOARD, read=read) for _ in range(2))
    with pytest.raises(TockmarkError, match=r"b has no row with a verdict: its samples vary, .*; "):
        compare(one, two, "b", catalogue, Margins(), CALM_LINKS)


def test_the_more_rows_vary_the_surer_each_has_to_be(catalogue: Catalogue) -> None:
    samples = {f"a.x n={number}": noisy(3000, 60) for number in range(40)}
    widths = []
    for rows in (dict([next(iter(samples.items()))]), samples):
        one, two = (
            made(catalogue, {label: part[way:31 + way] for label, part in rows.items()},
                 board=ON_BOARD)
            for way in (0, 29)
        )  # fmt: skip
        found = compare(one, two, "b", catalogue, Margins(), CALM_LINKS)
        first = next(pair.cycles for pair in found.pairs if pair.row.id == "a.x")
        widths.append(first.high - first.low)
    assert widths[0] < widths[1]


def test_a_simulators_result_stands_beside_a_boards(catalogue: Catalogue) -> None:
    """Of which the samples vary; limits want --force, as ever."""
    sim = made(catalogue, {"a.x": equal(3000)}, board=SIMULATED)
    for net, code in ((3000, OK), (3300, REGRESSION)):
        board = made(catalogue, {"a.x": noisy(net, 60)}, board=ON_BOARD)
        with pytest.raises(TockmarkError, match="--force"):
            judged(sim, board, catalogue, CALM_LINKS)
        found = judged(sim, board, catalogue, CALM_LINKS, force=True)
        assert found.exit_code == code


@pytest.mark.parametrize("links", [4, 5])
def test_on_a_board_of_which_no_spread_is_known_five_links_of_the_base_are_the_least(
    links: int, catalogue: Catalogue
) -> None:
    """They show how a row spreads over links, beside one link of what is new."""
    kit = Board("nrf52840dk", "nrf52840", 64_000_000, "hardware")

    def result(name: str, net: int) -> Result:
        kernel = Kernel(name, f"{name}.elf", name * 64)
        return made(catalogue, {"a.x": noisy(net, 100)}, board=kit, kernel=kernel, icache=(False,))

    base = of_links([result(str(one), 3000 + 10 * one) for one in range(links)])
    known = known_spread(base)
    assert "is of the machine cw310" in known.title
    for net, code in ((3020, OK), (4200, REGRESSION if links == 5 else OK)):
        found = judged(base, result("b", net), catalogue, known)
        assert found.exit_code == code
        assert not found.warnings
