# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A slope over passes is the cost of one more pass, without the constant costs of a sample."""

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
def test_costs_that_both_lengths_have_cancel(
    passes: int, body: int, loop: int, once: int, other: int, cold: int
) -> None:
    """These are counter reads and the first pass. The slope of an empty body removes the loop."""
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
        series = {"cycles": [cycles] * 9, "instret": [9] * 9}
        for length, calls in (("short", 5), ("long", 9)) if passes else ():
            series[f"{length}_cycles"] = [250 + step * calls] * 9
            series[f"{length}_instret"] = [9] * 9
        return stored(id_, series, inner=inner, passes=4 if passes else 0)

    rows = [row("time.read", 200, 10), row("call.void", 301, 10 + 80 * factor, 16)]
    boot = MeasuredBoot("call", True, "call", {"call": app_of("call", rows)})
    return build(Measured([boot]), load(), Context(), expected=())


def body(result: Result) -> Row:
    return result.rows[1]


def test_slopes_are_compared_only_with_slopes() -> None:
    """If a side has no slopes, the nets of single passes are compared, which are equal here."""
    assert ratio(body(made()), body(made(factor=2))) == 2
    assert ratio(body(made()), body(made(passes=False))) == 1
    assert ratio(body(made(passes=False)), body(made(factor=2))) == 1
