# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Comparisons: the four verdicts, and properties of every comparison."""

import json
import math
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from tockmark.base.errors import TockmarkError
from tockmark.cli import compare as verbs
from tockmark.cli.app import app
from tockmark.compare.limits import Margins, load_limits, load_margins, percent
from tockmark.compare.pairs import Comparison, compare
from tockmark.compare.rule import kernel_mean
from tockmark.compare.verdict import JUDGED, RowVerdict, Verdict, judge_comparison, verdict_of
from tockmark.result import file
from tockmark.result.model import Result
from tockmark.result.provenance import Board
from tockmark.show import comparison
from tockmark.show.judgement import headline
from tockmark.suite.catalogue import Catalogue, load
from tockmark.tests.of_samples import CALM, ON_BOARD, SIMULATED, made, with_provenance

NOISE = np.random.default_rng(8)


def noisy(median: float, sd: float, n: int = 200) -> list[int]:
    return [int(median) + 50, *(int(s) for s in NOISE.normal(median, sd, n))]


def steady(value: int) -> list[int]:
    return [value + 25, *[value] * 11]


def verdicts(comparison: Comparison) -> dict[str, Verdict]:
    return {row.row.name: row.verdict for row in judge_comparison(comparison).rows_with(*JUDGED)}


def row_verdict(comparison: Comparison, id_: str) -> RowVerdict:
    """Return the verdict on the row of this benchmark."""
    (row,) = (row for row in judge_comparison(comparison).rows if row.row.id == id_)
    return row


def shown(base: Result, new: Result, *compared: Comparison) -> str:
    """Return the text of comparisons of `new` with the base."""
    named = [("a", base), *(("b", new) for _ in compared)]
    return comparison.compare_text(
        named, [(result, judge_comparison(result)) for result in compared]
    )


def pair(base: list[int], new: list[int], catalogue: Catalogue, board: Board) -> Comparison:
    both = [made(catalogue, {"a.x": samples}, board=board) for samples in (base, new)]
    return compare(both[0], both[1], "b", catalogue, Margins(), CALM)


@pytest.mark.parametrize(
    ("new", "verdict"),
    [
        (10_169, Verdict.SAME),
        (10_171, Verdict.SAME),  # one or two stray cycles
        (10_172, Verdict.SAME),
        (10_269, Verdict.SAME),
        (10_270, Verdict.WORSE),
        (10_069, Verdict.BETTER),  # 10,000 is 1.01 % more than 9900
        (10_071, Verdict.SAME),
    ],
)
def test_rows_without_spread_are_compared_exactly(
    new: int, verdict: Verdict, catalogue: Catalogue
) -> None:
    """Compare 10,000 net cycles with other numbers, with a margin of 1 %."""
    pair_ = pair(steady(10_169), steady(new), catalogue, SIMULATED)
    row = row_verdict(pair_, "a.x")
    assert row.verdict is verdict
    assert row.estimate == pytest.approx((new - 169) / 10_000 - 1)


@pytest.mark.parametrize(
    ("base", "new", "verdict"),
    [
        pytest.param(noisy(9000, 20), noisy(9005, 20), Verdict.SAME, id="same"),
        pytest.param(noisy(9000, 5), noisy(9100, 5), Verdict.SAME, id="1.1 % of 5"),
        pytest.param(noisy(9000, 50), noisy(9900, 50), Verdict.WORSE, id="10 %"),
        pytest.param(noisy(9000, 900, 12), noisy(9300, 900, 12), Verdict.UNSURE, id="few"),
    ],
)
def test_noisy_rows_have_an_interval(
    base: list[int], new: list[int], verdict: Verdict, catalogue: Catalogue
) -> None:
    pair_ = pair(base, new, catalogue, ON_BOARD)
    row = row_verdict(pair_, "a.x")
    assert row.verdict is verdict
    assert row.estimate is not None
    assert row.range is not None
    assert row.range[0] < row.estimate < row.range[1]


series = st.one_of(
    st.integers(200, 10**6).map(steady),
    st.lists(st.integers(200, 10**6), min_size=2, max_size=30),
)
within = settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])


@within
@given(base=series, new=series, simulator=st.booleans())
def test_swapping_changes_no_verdict(
    base: list[int], new: list[int], simulator: bool, catalogue: Catalogue
) -> None:
    board = SIMULATED if simulator else ON_BOARD
    forward, backward = pair(base, new, catalogue, board), pair(new, base, catalogue, board)
    mirror = {Verdict.WORSE: Verdict.BETTER, Verdict.BETTER: Verdict.WORSE}
    assert {
        row: mirror.get(verdict, verdict) for row, verdict in verdicts(forward).items()
    } == verdicts(backward)
    for a, b in zip(forward.pairs, backward.pairs, strict=True):
        if a.cycles.ratio is not None and b.cycles.ratio is not None:
            assert a.cycles.ratio * b.cycles.ratio == pytest.approx(1)
            assert a.cycles.low == pytest.approx(1 / (b.cycles.high or math.nan))


@within
@given(samples=series, simulator=st.booleans())
def test_a_result_is_equivalent_to_itself(
    samples: list[int], simulator: bool, catalogue: Catalogue
) -> None:
    pair_ = pair(samples, samples, catalogue, SIMULATED if simulator else ON_BOARD)
    assert set(verdicts(pair_).values()) == {Verdict.SAME}
    assert not pair_.factors


ROWS = {  # two benchmarks that touch the kernel (one is a sweep), and two that do not
    "syscall.command": 1000,
    "syscall.allow_ro size=0": 1000,
    "syscall.allow_ro size=64": 2000,
    "syscall.allow_ro size=4096": 3000,
    "syscall.memop": 0,
    "loop.empty": 1000,
    "a.stranger": 1000,
}


def of_suite(times: dict[str, int], **more: Any) -> Result:
    """Return a result of these rows, some with more cycles."""
    return made(
        load(),
        {label: steady(round(net * times.get(label, 1)) + 169) for label, net in ROWS.items()},
        **more,
    )


def test_the_geometric_mean_is_over_rows_that_touch_the_kernel() -> None:
    """Each benchmark counts once, even a sweep."""
    more_cycles = {
        "syscall.command": 8,
        "syscall.allow_ro size=64": 2,
        "syscall.allow_ro size=4096": 4,
    }
    others = {"loop.empty": 100, "a.stranger": 100}
    base, new = (of_suite(times, icache=(False,)) for times in ({}, more_cycles | others))
    forward, backward = (
        compare(*both, "b", load(), Margins(), CALM) for both in ((base, new), (new, base))
    )
    assert forward.mean is not None
    assert forward.mean.ratio == pytest.approx(math.sqrt(8 * (1 * 2 * 4) ** (1 / 3)))
    assert forward.mean.benchmarks == 2  # memop takes 0 cycles on both sides: no ratio
    assert verdict_of(forward.mean.change, forward.margin) is Verdict.WORSE
    assert backward.mean is not None
    assert forward.mean.ratio * backward.mean.ratio == pytest.approx(1)
    assert verdicts(forward)["syscall.memop icache=off"] is Verdict.SAME
    text = shown(base, new, forward)
    assert "over 2 benchmarks" in text
    assert forward.mean.ratio == pytest.approx(
        kernel_mean(base.column(False, "c"), new.column(False, "c"), load())
    )


def test_rows_of_different_parts_of_a_group_are_compared_only_with_the_cache_off(
    catalogue: Catalogue,
) -> None:
    whole, two, other = (
        with_provenance(
            made(catalogue, {"a.x": steady(170)}, icache=(True, False)), said=provenance
        )
        for provenance in ({"lang": "c"}, {"lang": "c", "only": "2"}, {"lang": "c", "only": "3"})
    )
    for base, new in ((whole, two), (two, whole), (two, other)):
        pair_ = compare(base, new, "b", catalogue, Margins(), CALM)
        assert [lone.name for lone in pair_.gone] == ["a.x icache=on"]
        assert "--only" in pair_.gone[0].why
        assert "a.x icache=off" in verdicts(pair_)
        assert "time.read icache=on" in verdicts(pair_)
    for same in (whole, two):
        assert not compare(same, same, "b", catalogue, Margins(), CALM).gone


def test_rows_that_only_one_side_has_are_listed(catalogue: Catalogue) -> None:
    base = made(catalogue, {"a.x": steady(1169), "a.y": steady(2169)})
    two = made(catalogue, {"a.x": steady(1169), "a.z n=2": steady(2169)})
    pair_ = compare(base, two, "b", catalogue, Margins(), CALM)
    assert [lone.name for lone in pair_.gone] == ["a.y icache=off"]
    assert [row.name for row in pair_.added] == ["a.z n=2 icache=off"]
    text = shown(base, two, pair_)
    assert "gone, it is not there (1): a.y" in text
    assert "a.z n=2" in text
    judgement = judge_comparison(pair_, load_limits(None, catalogue))
    assert "only 2 of 4 rows in common (1 gone, 1 new); " in headline(judgement)
    assert any("a.z n=2 icache=off" in note for note in judgement.notes)


@pytest.mark.parametrize(
    ("name", "board"),
    [
        ("machine", {"machine": "nexysvideo"}),
        ("clock", {"clock_hz": 10_000_000}),
        ("timing", {"timing": "unchecked"}),
    ],
)
def test_other_machines_are_refused(
    name: str, board: dict[str, object], catalogue: Catalogue
) -> None:
    other = msgspec.structs.replace(SIMULATED, **board)
    base, two = made(catalogue, {}), made(catalogue, {}, board=other)
    with pytest.raises(
        TockmarkError, match=f"b cannot be compared: {name} is .* on one side, .*--force"
    ):
        compare(base, two, "b", catalogue, Margins(), CALM)
    forced = compare(base, two, "b", catalogue, Margins(), CALM, force=True)
    assert [factor.name for factor in forced.factors] == [name]


def test_margins_come_from_an_option_or_a_file(tmp_path: Path, catalogue: Catalogue) -> None:
    assert load_margins("2 %", catalogue) == Margins(0.02)
    path = tmp_path / "m.toml"
    path.write_text('default = "3 %"\n[rows]\n"a.*" = "50%"\n"a.y" = "0 %"\n')
    base = made(catalogue, {"a.x": steady(1169), "a.y": steady(1169)})
    two = made(catalogue, {"a.x": steady(1569), "a.y": steady(1172)})
    base_rows = [(row.id, row.params) for row in base.rows]
    pair_ = compare(base, two, "b", catalogue, load_margins(str(path), catalogue, base_rows), CALM)
    assert verdicts(pair_)["a.x icache=off"] is Verdict.SAME
    assert verdicts(pair_)["a.y icache=off"] is Verdict.WORSE
    assert pair_.margin == 0.03
    with pytest.raises(TockmarkError, match=r"m.toml .*'a\.\*'"):
        load_margins(str(path), catalogue)


@pytest.mark.parametrize("text", ["1", "-1 %", "%", "nan %", "inf%", "one %"])
def test_a_bad_margin_is_refused(text: str, tmp_path: Path, catalogue: Catalogue) -> None:
    with pytest.raises(TockmarkError, match="Give one like 1%"):
        load_margins(text, catalogue)
    with pytest.raises(ValueError, match=r"percentage|could not convert"):
        percent(text)
    path = tmp_path / "m.toml"
    path.write_text(f'default = "{text}"')
    with pytest.raises(TockmarkError, match="holds no margins"):
        load_margins(str(path), catalogue)
    with pytest.raises(TockmarkError, match="cannot read"):
        load_margins(str(tmp_path / "none.toml"), catalogue)


def saved(tmp_path: Path, **named: Result) -> list[str]:
    for name, result in named.items():
        (tmp_path / f"{name}.json").write_text(file.text(result))
    return [str(tmp_path / f"{name}.json") for name in named]


def test_the_table_fits_and_shows_the_verdict(catalogue: Catalogue) -> None:
    base = made(catalogue, {"a.y": noisy(9000, 50), "a.x": steady(1169)}, board=ON_BOARD)
    two = made(catalogue, {"a.y": noisy(9900, 50), "a.x": steady(1179)}, board=ON_BOARD)
    first = compare(base, two, "b", catalogue, Margins(), CALM)
    text = shown(base, two, first)
    assert max(map(len, text.splitlines())) <= 100
    (line,) = (line for line in text.splitlines() if line.startswith("a.y "))
    assert line.split()[-2] == "worse"
    second = compare(base, base, "c", catalogue, Margins(), CALM)
    text = shown(base, two, first, second)
    assert max(map(len, text.splitlines())) <= 100
    assert text.count(" worse ") == 1 + text.count("worse, better:")


def test_the_verb_compares_and_sets_the_exit_code(
    tmp_path: Path, catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verbs, "committed_spread", lambda base: CALM)
    base = made(catalogue, {"a.x": steady(1169)})
    a, b = saved(tmp_path, a=base, b=made(catalogue, {"a.x": steady(1269)}))
    run = CliRunner().invoke
    done = run(app, ["compare", a, b, "--json"])
    assert done.exit_code == 0, done.output
    (row,) = (r for r in json.loads(done.output)["comparisons"][0]["rows"] if r["id"] == "a.x")
    assert row["estimate"] == pytest.approx(0.1)
    for name in (b, "b.json", "b"):
        assert "better" in run(app, ["compare", a, b, "--baseline", name]).output
    for arguments in ([a], [a, b, "--baseline", "c.json"], [a, b, "--margin", "much"]):
        assert isinstance(run(app, ["compare", *arguments]).exception, TockmarkError)
