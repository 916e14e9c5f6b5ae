# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Samples that vary, like those of a board: verdicts on random samples, logs, and results with too
few samples. docs/method.md has the figures of more random draws."""

import numpy as np
import pytest

from tockmark.base.errors import INCOMPLETE, OK, REGRESSION, TockmarkError
from tockmark.compare.limits import Margins
from tockmark.compare.pairs import compare
from tockmark.compare.spread import committed_spread
from tockmark.compare.verdict import Verdict
from tockmark.result.model import Result
from tockmark.result.provenance import Board, Kernel
from tockmark.suite.catalogue import Catalogue
from tockmark.tests.of_samples import CALM as CALM_LINKS
from tockmark.tests.of_samples import ON_BOARD, SIMULATED, judged, made, of_links
from tockmark.tests.of_samples import steady as equal

# Whole results

NOISE = np.random.default_rng(5)


def noisy(net: int, n: int) -> list[int]:
    return [net + 250, *(net + 169 + int(noise) for noise in NOISE.normal(0, 30, n - 1))]


def on_board(catalogue: Catalogue, n: int, net: int = 3000) -> Result:
    return made(catalogue, {"a.x": noisy(net, n), "b.y": equal(900)}, board=ON_BOARD)


def test_rows_with_too_few_samples_have_no_verdict(catalogue: Catalogue) -> None:
    """The reason names the number of samples that is enough."""
    for n, few in ((8, True), (9, False)):
        base, new = on_board(catalogue, n), on_board(catalogue, n, 6000)
        judgement = judged(base, new, catalogue, CALM_LINKS)
        rows = {row.row.id: row for row in judgement.rows}
        if few:
            assert rows["a.x"].verdict is Verdict.NOT_JUDGED
            assert "at least 9" in rows["a.x"].why
            assert judgement.warnings == (f"not judged: 1 row (a.x icache=off): {rows['a.x'].why}",)
            assert judgement.exit_code == INCOMPLETE
        else:
            assert rows["a.x"].verdict is Verdict.WORSE
            assert judgement.exit_code == REGRESSION


def test_a_result_without_enough_samples_in_any_row_is_refused(catalogue: Catalogue) -> None:
    read = noisy(0, 5)
    base, new = (made(catalogue, {"a.x": equal(900)}, board=ON_BOARD, read=read) for _ in range(2))
    with pytest.raises(TockmarkError, match=r"too few"):
        compare(base, new, "b", catalogue, Margins(), CALM_LINKS)


def test_intervals_widen_with_the_number_of_rows_that_vary(catalogue: Catalogue) -> None:
    samples = {f"a.x n={number}": noisy(3000, 60) for number in range(40)}
    widths = []
    for rows in (dict([next(iter(samples.items()))]), samples):
        base, new = (
            made(catalogue, {label: part[way:31 + way] for label, part in rows.items()},
                 board=ON_BOARD)
            for way in (0, 29)
        )  # fmt: skip
        comparison = compare(base, new, "b", catalogue, Margins(), CALM_LINKS)
        first = next(pair.cycles for pair in comparison.pairs if pair.row.id == "a.x")
        widths.append(first.high - first.low)
    assert widths[0] < widths[1]


def test_a_simulated_result_can_be_compared_with_that_of_a_board(catalogue: Catalogue) -> None:
    """The board's samples vary. Limits need --force."""
    sim = made(catalogue, {"a.x": equal(3000)}, board=SIMULATED)
    for net, code in ((3000, OK), (3300, REGRESSION)):
        board = made(catalogue, {"a.x": noisy(net, 60)}, board=ON_BOARD)
        with pytest.raises(TockmarkError, match="--force"):
            judged(sim, board, catalogue, CALM_LINKS)
        judgement = judged(sim, board, catalogue, CALM_LINKS, force=True)
        assert judgement.exit_code == code


@pytest.mark.parametrize("links", [4, 5])
def test_a_board_without_known_spread_needs_five_links_of_the_base(
    links: int, catalogue: Catalogue
) -> None:
    """They show the spread of a row over links; the new side has one link."""
    kit = Board("nrf52840dk", "nrf52840", 64_000_000, "hardware")

    def result(name: str, net: int) -> Result:
        kernel = Kernel(name, f"{name}.elf", name * 64)
        return made(catalogue, {"a.x": noisy(net, 100)}, board=kit, kernel=kernel, icache=(False,))

    base = of_links([result(str(link), 3000 + 10 * link) for link in range(links)])
    spread = committed_spread(base)
    assert "cw310" in spread.title
    for net, code in ((3020, OK), (4200, REGRESSION if links == 5 else OK)):
        judgement = judged(base, result("b", net), catalogue, spread)
        assert judgement.exit_code == code
        assert not judgement.warnings
