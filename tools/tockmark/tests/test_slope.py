# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Slopes over passes: what one more costs, whatever a sample has besides."""

from hypothesis import given
from hypothesis import strategies as st

from tockmark.result.build import Context, build
from tockmark.result.model import Reading, Result, Row, Series, ratio
from tockmark.result.stats import Slope
from tockmark.suite.catalogue import load
from tockmark.tests.rows import app_of, stored
from tockmark.wire.boots import Measured, MeasuredBoot
from tockmark.wire.rows import StoredRow

small = st.integers(0, 10_000)


def repeated(count: int) -> tuple[int, ...]:
    return (count + 99, *[count] * 8)


@given(st.integers(1, 64), small, small, small, small, small)
def test_all_that_is_in_both_lengths_drops_out(
    passes: int, body: int, loop: int, once: int, other: int, cold: int
) -> None:
    """Readings, the first pass, what another kernel costs; and the loop, by the empty body's."""
    short, long = 1 + passes, 1 + 2 * passes
    own = Slope(
        repeated(once + cold + short * (body + loop)),
        repeated(once + cold + long * (body + loop)),
        passes,
    )
    empty = Slope(repeated(other + 3 * loop), repeated(other + 5 * loop), 2)
    reading = Reading(repeated(other), other, empty)
    series = Series(repeated(once + cold + body), 1, 1, reading, slope=own)
    assert series.own_net == body
    assert series.single_pass_net == once + cold + body - other


def made(passes: bool = True, factor: int = 1) -> Result:
    def row(id_: str, cycles: int, step: int, inner: int = 1) -> StoredRow:
        taken = {"cycles": [cycles] * 9, "instret": [9] * 9}
        for length, calls in (("short", 5), ("long", 9)) if passes else ():
            taken[f"{length}_cycles"] = [250 + step * calls] * 9
            taken[f"{length}_instret"] = [9] * 9
        return stored(id_, taken, inner=inner, passes=4 if passes else 0)

    rows = [row("time.read", 200, 10), row("call.void", 301, 10 + 80 * factor, 16)]
    boot = MeasuredBoot("call", True, "call", {"call": app_of("call", rows)})
    return build(Measured([boot]), load(), Context(), expected=())


def body(result: Result) -> Row:
    return result.rows[1]


def test_like_is_compared_with_like() -> None:
    """The slope of 80 cycles is 2 by one of 40; by a result without slopes a pass of 101 is 1."""
    assert ratio(body(made()), body(made(factor=2))) == 2
    assert ratio(body(made()), body(made(passes=False))) == 1
    assert ratio(body(made(passes=False)), body(made(factor=2))) == 1
