# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The rule that separates effects of layout from other differences."""

import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as reference

from tockmark.compare.limits import Limit, load_limits
from tockmark.compare.pairs import DEFAULT_MARGINS, compare
from tockmark.compare.rule import Value, change_of_count, change_of_cycles
from tockmark.compare.spread import Deviation, Z, spread_over_links, student
from tockmark.compare.verdict import MOVED, Judgement, Verdict, judge_comparison, verdict_of
from tockmark.result.model import Series
from tockmark.suite.catalogue import Catalogue, load
from tockmark.tests.of_samples import CALM, judged, made, of_links, spread, steady

ONE_PERCENT = Deviation(0.01, 15)
MANY = 10**6  # degrees of freedom, enough to know the deviation almost exactly


@pytest.mark.parametrize(("z", "free"), [(3.5, 7), (3.5, 15), (3.5, 100), (2, 4)])
def test_students_t_agrees_with_scipy(z: float, free: int) -> None:
    expected = reference.t.isf(reference.norm.sf(z), free)
    assert student(z, free) == pytest.approx(expected, rel=0.02)
    assert student(z, 0) == math.inf


def test_more_links_narrow_the_interval() -> None:
    widths = []
    for links in (1, 4, 16):
        base, new = (Value((net,) * links, links) for net in (1000, 1040))
        change_ = change_of_cycles(base, new, Deviation(0.01, MANY))
        widths.append(math.log(change_.high / change_.low))
    assert widths == pytest.approx([2 * Z * 0.01 * math.sqrt(2 / n) for n in (1, 4, 16)], rel=1e-3)
    assert verdict_of(change_, 0.01) is Verdict.WORSE
    assert verdict_of(change_, 0.04) is Verdict.UNSURE
    assert verdict_of(change_, 0.06) is Verdict.SAME


def test_the_shown_spread_counts_if_it_is_wider() -> None:
    """Four links per side differ by far more than the known spread."""
    base, new = Value((900, 1000, 1100, 1000), 4), Value((1000, 1100, 1200, 1100), 4)
    assert verdict_of(change_of_cycles(base, new, ONE_PERCENT), 0.01) is Verdict.UNSURE
    calm = Value((1000,) * 4, 4), Value((1100,) * 4, 4)
    assert verdict_of(change_of_cycles(*calm, ONE_PERCENT), 0.01) is Verdict.WORSE


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        ((102, 102), Verdict.SAME),
        ((100, 104), Verdict.SAME),
        ((103, 103), Verdict.WORSE),
        ((97, 97), Verdict.BETTER),
    ],
)
def test_instructions_need_no_links(new: tuple[int, ...], expected: Verdict) -> None:
    """One or two instructions never count, even in a short row."""
    margin = 0.025
    assert verdict_of(change_of_count(Value((100,)), Value(new)), margin) is expected


MIRROR = {verdict: verdict for verdict in Verdict} | {
    Verdict.WORSE: Verdict.BETTER,
    Verdict.BETTER: Verdict.WORSE,
}
nets = st.lists(st.integers(-5, 10**6), min_size=1, max_size=5).map(tuple)


@given(nets, nets, st.floats(0, 0.2), st.floats(0.001, 0.5), st.integers(0, 50))
def test_swapping_changes_no_verdict(
    first: tuple[int, ...], second: tuple[int, ...], s: float, margin: float, error: int
) -> None:
    a, b = Value(first, len(first), error), Value(second, len(second), error)
    forward, backward = (
        change_of_cycles(a, b, Deviation(s, 15)),
        change_of_cycles(b, a, Deviation(s, 15)),
    )
    assert MIRROR[verdict_of(forward, margin)] is verdict_of(backward, margin)
    assert verdict_of(change_of_cycles(a, a, None), margin) is Verdict.SAME
    counts = change_of_count(a, b), change_of_count(b, a)
    assert MIRROR[verdict_of(counts[0], margin)] is verdict_of(counts[1], margin)


@given(nets, nets, st.floats(0, 0.2), st.floats(0.001, 0.5), st.floats(1, 3))
def test_a_wider_margin_adds_no_change(
    first: tuple[int, ...], second: tuple[int, ...], s: float, margin: float, wider: float
) -> None:
    change_ = change_of_cycles(
        Value(first, len(first)), Value(second, len(second)), Deviation(s, 15)
    )
    if verdict_of(change_, margin) not in MOVED:
        assert verdict_of(change_, margin * wider) not in MOVED


def ids(judgement: Judgement) -> list[str]:
    """Return the rows whose cycles are beyond a limit, or that are gone."""
    return [row.row.id for row in judgement.rows if row.limit]


def test_slopes_of_the_apps_set_the_noise(
    catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    base, two, three = (
        of_links(
            [made(catalogue, {"loop.empty": steady(own), "a.x": steady(net)}, icache=(True,))] * 4
        )
        for own, net in ((1000, 1000), (1009, 1025), (1300, 1040))
    )
    assert judged(base, two, catalogue).limit is Limit.HARD
    monkeypatch.setattr(Series, "is_slope", True)
    assert judged(base, two, catalogue).limit is Limit.SOFT
    # A larger difference is not noise: it widens no interval, and does not pass.
    judgement = judged(base, three, catalogue)
    assert judgement.exit_code == 3
    assert ids(judgement) == ["loop.empty", "a.x"]


def test_the_spread_is_computed_from_several_links(catalogue: Catalogue) -> None:
    runs = [made(catalogue, {"a.x": steady(net)}) for net in (990, 1000, 1010, 1000)]
    shown = spread_over_links(of_links(runs), "here")
    (row,) = (row for row in runs[0].rows if row.id == "a.x")
    logs = [math.log(net / 1000) for net in (990, 1000, 1010, 1000)]
    deviation = shown.row_deviation(row)
    assert deviation is not None
    assert deviation.value == pytest.approx(math.sqrt(sum(x * x for x in logs) / 3), rel=1e-3)
    assert (deviation.dof, shown.title) == (3, "here, 4 links")
    assert spread_over_links(runs[0], "here").row_deviation(row) is None, "one link has no spread"


def test_more_instructions_are_not_reported_if_cycles_certainly_fell(catalogue: Catalogue) -> None:
    base = made(catalogue, {"a.x": steady(1000)}, instret={"a.x": 100})
    for net, limit in ((1000, Limit.HARD), (950, Limit.NONE), (1010, Limit.HARD)):
        new = made(catalogue, {"a.x": steady(net)}, instret={"a.x": 133})
        judgement = judged(base, new, catalogue)
        assert judgement.limit is limit
        assert [row.moved for row in judgement.moved] == [33]


@pytest.mark.parametrize(
    ("icache", "control", "moved", "limit"),
    [
        (False, 0, 1, Limit.SOFT),  # 0.85 %
        (False, 1, 0, Limit.NONE),  # a control of the same boot is off by one, too
        (True, 0, 0, Limit.NONE),
    ],
)
def test_one_instruction_counts_with_the_cache_off(
    icache: bool, control: int, moved: int, limit: Limit, catalogue: Catalogue
) -> None:
    rows = {"a.x": steady(300), "null.sample": steady(0)}
    base, new = (
        made(catalogue, rows, instret={"a.x": 84 + net, "null.sample": null}, icache=(icache,))
        for net, null in ((118, 84), (119, 84 + control))
    )
    (row,) = (row for row in judged(base, new, catalogue).rows if row.row.id == "a.x")
    assert row.instructions is not None
    assert (row.moved, row.instructions.limit) == (moved, limit)


@pytest.mark.parametrize(
    ("icache", "links", "verdict", "limit"),
    [
        (True, 1, Verdict.UNSURE, Limit.NONE),
        (True, 3, Verdict.UNSURE, Limit.NONE),
        (True, 4, Verdict.WORSE, Limit.HARD),
        (False, 1, Verdict.WORSE, Limit.HARD),
    ],
)
def test_few_unpaired_links_leave_cached_cycles_unsure(
    icache: bool, links: int, verdict: Verdict, limit: Limit
) -> None:
    catalogue = load()
    base, new = (
        of_links([made(catalogue, {"syscall.command": steady(net)}, icache=(icache,))] * links)
        for net in (1000, 1200)
    )
    compared = compare(base, new, "new", catalogue, DEFAULT_MARGINS, CALM, strict=True)
    (row,) = judge_comparison(compared, load_limits(None, catalogue)).groups["syscall"]
    assert (row.verdict, row.limit, row.in_doubt) == (verdict, limit, verdict is Verdict.UNSURE)
    assert compared.mean is not None
    assert verdict_of(compared.mean.change, 0.01) is verdict


@pytest.mark.parametrize(("links", "verdict"), [(1, Verdict.UNSURE), (4, Verdict.WORSE)])
def test_a_row_that_the_spread_lacks_is_certain_by_its_own_links_only(
    links: int, verdict: Verdict, catalogue: Catalogue
) -> None:
    """The spread of other rows does not count for it."""
    runs = [made(catalogue, {"a.x": steady(net)}) for net in (990, 1000, 1010, 1000)]
    calm = spread_over_links(of_links(runs), "here")
    rows = [{"a.x": steady(1000), "a.y": steady(net)} for net in (1000, 1300)]
    base, new = (of_links([made(catalogue, row)] * links) for row in rows)
    judgement = judged(base, new, catalogue, calm)
    (row,) = (row for row in judgement.rows if row.row.id == "a.y")
    assert (row.verdict, row.in_doubt) == (verdict, verdict is Verdict.UNSURE)


def test_a_row_is_the_same_only_if_its_range_is_within_the_limits(
    catalogue: Catalogue, tmp_path: Path
) -> None:
    """A range from -19 to +26 % is never the same; a narrow one may still reach beyond a limit."""
    (tmp_path / "l.toml").write_text('[[limit]]\nrows = ["*"]\ncycles = { hard = "0.5 %" }\n')
    base, new = (made(catalogue, {"a.x": steady(net)}) for net in (10_000, 10_030))
    for deviation, file, verdict in (
        (0.0008, None, Verdict.SAME),
        (0.0008, tmp_path / "l.toml", Verdict.UNSURE),
        (0.04, None, Verdict.UNSURE),
    ):
        limits = load_limits(file, catalogue)
        judgement = judged(base, new, catalogue, spread(deviation), limits)
        (row,) = (row for row in judgement.rows if row.row.id == "a.x")
        assert (row.verdict, row.limit) == (verdict, Limit.NONE), row.range
