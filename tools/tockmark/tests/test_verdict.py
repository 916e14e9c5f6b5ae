# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The rule of compare and gate: what the layout may do, and what it may not be blamed for."""

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as reference

from tockmark.compare import rule
from tockmark.compare import rule as spreads
from tockmark.compare.gate import gate
from tockmark.compare.limits import Level, Margins, load_limits
from tockmark.compare.pairs import compare
from tockmark.compare.rule import (
    Deviation,
    Spread,
    Value,
    Verdict,
    change,
    change_of_count,
    over_links,
    pooled,
    student,
)
from tockmark.result.model import Result, Series
from tockmark.result.stats import Floats
from tockmark.show import answer, comparison
from tockmark.suite.catalogue import Catalogue
from tockmark.tests.of_samples import CALM, made, of_links, spread, steady

ONE_PERCENT = Deviation(0.01, 15)
MANY = 10**6  # degrees of freedom: as good as known


@pytest.mark.parametrize(("z", "free"), [(3.5, 7), (3.5, 15), (3.5, 100), (2, 4)])
def test_students_t_is_that_of_scipy(z: float, free: int) -> None:
    expected = reference.t.isf(reference.norm.sf(z), free)
    assert student(z, free) == pytest.approx(expected, rel=0.02)
    assert student(z, 0) == math.inf


@pytest.mark.parametrize("layouts", [1, 2, 8])
def test_no_number_of_app_layouts_stands_for_a_link(layouts: int) -> None:
    """3 % inside the spread of one link; the apps were laid out anew, the kernel was not."""
    base, new = (Value((net,) * layouts, links=1) for net in (1000, 1030))
    assert change(base, new, ONE_PERCENT).verdict(0.01) is Verdict.LAYOUT
    far = change(base, Value((1200,) * layouts, links=1), ONE_PERCENT)
    assert far.verdict(0.01) is Verdict.RELEVANT


def test_more_links_tell() -> None:
    widths = []
    for links in (1, 4, 16):
        base, new = (Value((net,) * links, links) for net in (1000, 1040))
        found = change(base, new, Deviation(0.01, MANY))
        widths.append(math.log(found.high / found.low))
    assert widths == pytest.approx(
        [2 * rule.Z * 0.01 * math.sqrt(2 / n) for n in (1, 4, 16)], rel=1e-3
    )
    assert found.verdict(0.01) is Verdict.RELEVANT
    assert found.verdict(0.04) is Verdict.INDETERMINATE
    assert found.verdict(0.06) is Verdict.TRIVIAL


def test_what_both_sides_show_counts_if_it_is_more() -> None:
    """Of four links each, that differ by far more than was known."""
    base, new = Value((900, 1000, 1100, 1000), 4), Value((1000, 1100, 1200, 1100), 4)
    assert change(base, new, ONE_PERCENT).verdict(0.01) is Verdict.INDETERMINATE
    calm = Value((1000,) * 4, 4), Value((1100,) * 4, 4)
    assert change(*calm, ONE_PERCENT).verdict(0.01) is Verdict.RELEVANT


def test_what_is_not_known_to_spread_says_nothing() -> None:
    assert change(Value((1000,)), Value((9000,)), None).verdict(0.01) is Verdict.LAYOUT
    assert change(Value((1000,)), Value((1000,)), None).verdict(0.01) is Verdict.EQUIVALENT


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        ((102, 102), Verdict.EQUIVALENT),
        ((100, 104), Verdict.EQUIVALENT),
        ((103, 103), Verdict.RELEVANT),
        ((97, 97), Verdict.RELEVANT),
    ],
)
def test_instructions_need_no_links(new: tuple[int, ...], expected: Verdict) -> None:
    """A stray one or two are none, whatever share of the row they are."""
    margin = 0.025
    assert change_of_count(Value((100,)), Value(new)).verdict(margin) is expected


nets = st.lists(st.integers(-5, 10**6), min_size=1, max_size=5).map(tuple)


@given(nets, nets, st.floats(0, 0.2), st.floats(0.001, 0.5), st.integers(0, 50))
def test_swapping_changes_no_verdict(
    one: tuple[int, ...], two: tuple[int, ...], s: float, margin: float, error: int
) -> None:
    a, b = Value(one, len(one), error), Value(two, len(two), error)
    there, back = change(a, b, Deviation(s, 15)), change(b, a, Deviation(s, 15))
    assert there.verdict(margin) is back.verdict(margin)
    assert change(a, a, None).verdict(margin) is Verdict.EQUIVALENT
    assert change_of_count(a, b).verdict(margin) is change_of_count(b, a).verdict(margin)


@given(nets, nets, st.floats(0, 0.2), st.floats(0.001, 0.5), st.floats(1, 3))
def test_a_wider_margin_never_makes_a_difference_relevant(
    one: tuple[int, ...], two: tuple[int, ...], s: float, margin: float, wider: float
) -> None:
    found = change(Value(one, len(one)), Value(two, len(two)), Deviation(s, 15))
    if found.verdict(margin) is not Verdict.RELEVANT:
        assert found.verdict(margin * wider) is not Verdict.RELEVANT


def judged(base: Result, new: Result, by: Spread, catalogue: Catalogue) -> tuple[Level, str]:
    """What gate and compare say: the level, and the first line, which is the same."""
    found = gate([("a", base)], ("b", new), load_limits(None, catalogue), catalogue, by)
    compared = compare(base, new, "b", catalogue, Margins(), by)
    text = comparison.compare_text([("a", base), ("b", new)], [compared]).replace("\n    ", " ")
    first = answer.headline(found.comparison, found.moved, len(found.gone))
    assert text.startswith(f"B: {first}\n")
    return found.level, first


def test_one_line_says_what_happened(catalogue: Catalogue) -> None:
    base = made(catalogue, {"a.x": steady(1000), "b.y": steady(500)})
    assert judged(base, base, CALM, catalogue) == (
        Level.PASS,
        "nothing moved beyond its layout spread (3 rows, 1 link a side)",
    )
    dearer = made(catalogue, {"a.x": steady(1030), "b.y": steady(500)}, instret={"a.x": 133})
    wide = spread(0.05)
    assert judged(base, dearer, wide, catalogue) == (
        Level.HARD,
        "+33 instructions (+206 %) on all of a; nothing else moved (3 rows, 1 link a side)",
    )
    level, told = judged(dearer, base, CALM, catalogue)
    assert level is Level.BETTER
    assert told.startswith(
        "-33 instructions (-67.3 %) on all of a; cycles with the cache on -2.91 %"
    )


def test_links_of_a_result_are_its_layouts(catalogue: Catalogue) -> None:
    """3.5 % of four links with a known spread of 1 % is found, of one link it is not."""
    many = [
        of_links([made(catalogue, {"a.x": steady(net + more)}) for more in (0, 4, 8, 4)])
        for net in (1000, 1035)
    ]
    assert judged(many[0], many[1], spread(0.01), catalogue)[0] is not Level.PASS
    single = [made(catalogue, {"a.x": steady(net)}) for net in (1000, 1035)]
    assert judged(single[0], single[1], spread(0.01), catalogue)[0] is Level.PASS


def test_pooled_bases_count_a_link_once() -> None:
    again = pooled([(Value((100,)), "k"), (Value((104,)), "k"), (Value((102,), error=3), "l")])
    assert (again.nets, again.links, again.error) == ((100, 104, 102), 2, 3)


def test_rows_of_the_apps_are_no_findings(catalogue: Catalogue) -> None:
    """However far they moved with the cache on; without it something else differs."""
    base = made(catalogue, {"loop.empty": steady(1000)}, icache=(False,))
    on = made(catalogue, {"loop.empty": steady(2000)}, icache=(True,))
    off = made(catalogue, {"loop.empty": steady(1010)}, icache=(False,))
    some = made(catalogue, {"loop.empty": steady(1000)}, icache=(True,))
    assert judged(some, on, CALM, catalogue)[0] is Level.PASS
    limits = load_limits(None, catalogue)
    found = gate([("a", base)], ("b", off), limits, catalogue, CALM)
    assert (found.exit_code, found.findings) == (1, [])
    assert "apps or machine differ" in found.warnings[0]
    assert "1 row (loop.empty icache=off)" in found.warnings[0]
    compared = compare(base, off, "b", catalogue, Margins(), CALM)
    assert "apps or machine differ" in comparison.compare_text(
        [("a", base), ("b", off)], [compared]
    )


def test_slopes_of_the_apps_set_the_noise(
    catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = made(catalogue, {"loop.empty": steady(1000), "a.x": steady(1000)})
    two = made(catalogue, {"loop.empty": steady(1009), "a.x": steady(1025)})
    assert judged(one, two, CALM, catalogue)[0] is Level.HARD
    monkeypatch.setattr(Series, "is_slope", True)
    assert judged(one, two, CALM, catalogue)[0] is Level.SOFT
    # More is no noise: it hides nothing, and does not pass.
    three = made(catalogue, {"loop.empty": steady(1300), "a.x": steady(1040)})
    found = gate([("a", one)], ("b", three), load_limits(None, catalogue), catalogue, CALM)
    assert found.exit_code == 3
    assert [one.row.id for one in found.findings] == ["loop.empty", "a.x"]


def test_what_a_null_control_shows_widens_cached_rows(
    catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = (made(catalogue, {"a.x": steady(net)}, icache=(True, False)) for net in (1000, 1060))
    monkeypatch.setattr(Result, "stated_error", lambda result, icache, lang: 40)
    found = gate([("a", one)], ("b", two), load_limits(None, catalogue), catalogue, CALM)
    assert [finding.row.name for finding in found.findings] == ["a.x icache=off"]


def test_the_spread_is_computed_from_several_links(catalogue: Catalogue) -> None:
    runs = [made(catalogue, {"a.x": steady(net)}) for net in (990, 1000, 1010, 1000)]
    found = over_links(of_links(runs), "here")
    (row,) = (row for row in runs[0].rows if row.id == "a.x")
    logs = [math.log(net / 1000) for net in (990, 1000, 1010, 1000)]
    deviation = found.of_row(row)
    assert deviation is not None
    assert deviation.value == pytest.approx(math.sqrt(sum(x * x for x in logs) / 3), rel=1e-3)
    assert (deviation.free, found.title) == (3, "here, 4 links")
    assert over_links(runs[0], "here").of_row(row) is None, "one link has no spread"


def test_without_committed_links_nothing_is_known(
    catalogue: Catalogue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spreads, "TOCK", [tmp_path / "none.json"])
    monkeypatch.setattr(spreads, "OWN", tmp_path)
    assert spreads.known_spread(made(catalogue, {})).title == "not known"


def test_more_instructions_are_no_finding_where_the_time_surely_fell(catalogue: Catalogue) -> None:
    base = made(catalogue, {"a.x": steady(1000)}, instret={"a.x": 100})
    for net, level in ((1000, Level.HARD), (950, Level.BETTER), (1010, Level.HARD)):
        new = made(catalogue, {"a.x": steady(net)}, instret={"a.x": 133})
        found = gate([("a", base)], ("b", new), load_limits(None, catalogue), catalogue, CALM)
        assert found.level is level
        (why,) = (one.why for one in found.moved if one.series == "instret")
        assert why.endswith(f"time {(net / 1000 - 1) * 100:+.1f} %")


def test_links_are_told_apart_as_seldom_as_is_said() -> None:
    """Of links of normal logarithms, which new links are judged by: about as the known ones."""
    draw = np.random.default_rng(7)
    rows: dict[rule.AnyKey, Floats] = {
        ("x", frozenset({("n", n)}), True): draw.normal(0, 0.01, 16) for n in range(60)
    }
    known = Spread("made", 16, rows)
    assert 2 <= known.deviations(True, 4) <= known.deviations(True, 1) < 4
    assert known.deviations(False, 1) == Spread("few", 8, rows).deviations(True, 1) == rule.Z
    wide = rule.student(known.deviations(True, 1), 15) * math.sqrt(2)
    s = np.array([logs.std(ddof=1) for logs in rows.values()])
    new = draw.normal(0, 0.01, (1000, 2, 60))
    beyond = np.abs(new[:, 0] - new[:, 1]) - math.log(1.01) > wide * s
    assert beyond.any(axis=1).mean() < 0.05
