# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Judging by limits: exit codes by the size of the growth, and noise that must not fail."""

import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import structs
from typer.testing import CliRunner

from tockmark.base.errors import TockmarkError
from tockmark.cli import compare as verbs
from tockmark.cli.app import app
from tockmark.compare.limits import Limit, load_limits
from tockmark.compare.pairs import DEFAULT_MARGINS, Factor, compare
from tockmark.compare.verdict import Judgement, Verdict, judge_comparison
from tockmark.result import file
from tockmark.show import comparison
from tockmark.suite.catalogue import Catalogue, Params
from tockmark.suite.selection import Selection
from tockmark.tests.of_samples import (
    CALM,
    ON_BOARD,
    SIMULATED,
    judged,
    made,
    steady,
    with_provenance,
)
from tockmark.wire.rows import Absent

NOISE = np.random.default_rng(9)


def noisy(net: float, sd: float, n: int = 200) -> list[int]:
    return [int(net) + 200, *(int(s) for s in NOISE.normal(net + 169, sd, n))]


def grown(catalogue: Catalogue, old: int, new: int) -> Judgement:
    base, two = (made(catalogue, {"a.x": steady(net)}) for net in (old, new))
    return judged(base, two, catalogue)


def findings(judgement: Judgement) -> list[tuple[str, str]]:
    """Return the rows that are beyond a limit, each with the reason if it is gone."""
    beyond = [
        row for row in judgement.rows if row.limit or (row.instructions and row.instructions.limit)
    ]
    return [(row.row.name, row.why) for row in beyond]


@pytest.mark.parametrize(
    ("old", "new", "verdict", "limit"),
    [
        (1000, 1000, Verdict.SAME, Limit.NONE),
        (1000, 1010, Verdict.SAME, Limit.NONE),
        (1000, 1011, Verdict.WORSE, Limit.SOFT),
        (1000, 1020, Verdict.WORSE, Limit.SOFT),
        (1000, 1021, Verdict.WORSE, Limit.HARD),
        (1000, 991, Verdict.SAME, Limit.NONE),
        (1000, 900, Verdict.BETTER, Limit.NONE),
        (4, 6, Verdict.UNSURE, Limit.NONE),  # within the slack
        (4, 7, Verdict.WORSE, Limit.HARD),
        (0, 2, Verdict.UNSURE, Limit.NONE),
        (0, 4, Verdict.WORSE, Limit.HARD),
    ],
)
def test_the_default_limits(
    old: int, new: int, verdict: Verdict, limit: Limit, catalogue: Catalogue
) -> None:
    judgement = grown(catalogue, old, new)
    assert (judgement.limit, judgement.exit_code) == (limit, 3 * (limit is Limit.HARD))
    (row,) = (row for row in judgement.rows if row.row.id == "a.x")
    assert (row.verdict, row.limit) == (verdict, limit)
    assert findings(judgement) == [("a.x icache=off", "")] * bool(limit)


LIMITS = """
[[limit]]
rows = ["*"]
cycles = { soft = ["5 %", 20], hard = "20 %", slack = 1 }

[[limit]]
rows = ["a.y", "a.z n=?"]
cycles = { hard = 100 }

[[limit]]
rows = ["* icache=on"]
cycles = {}
"""


@pytest.mark.parametrize(
    ("label", "old", "new", "icache", "limit"),
    [
        ("a.x", 1000, 1020, False, Limit.NONE),  # within 5 % and within 20
        ("a.x", 1000, 1021, False, Limit.SOFT),
        ("a.x", 100, 106, False, Limit.SOFT),
        ("a.x", 100, 121, False, Limit.HARD),
        ("a.y", 1000, 1100, False, Limit.NONE),  # the later rule counts
        ("a.y", 1000, 1101, False, Limit.HARD),
        ("a.z n=1", 1000, 1101, False, Limit.HARD),
        ("a.z n=11", 1000, 1101, False, Limit.SOFT),
        ("a.x", 1000, 9000, True, Limit.NONE),  # no limit at all
    ],
)
def test_limits_come_from_a_file(
    label: str, old: int, new: int, icache: bool, limit: Limit, catalogue: Catalogue, tmp_path: Path
) -> None:
    (tmp_path / "l.toml").write_text(LIMITS)
    base, two = (made(catalogue, {label: steady(n)}, icache=(icache,)) for n in (old, new))
    known_rows: list[tuple[str, Params]] = [("a.x", {}), ("a.y", {}), ("a.z", {"n": 1})]
    rules = load_limits(tmp_path / "l.toml", catalogue, known_rows)
    assert judged(base, two, catalogue, limits=rules).limit is limit
    with pytest.raises(TockmarkError, match=r"l.toml .*'a\.y'"):
        load_limits(tmp_path / "l.toml", catalogue)


@pytest.mark.parametrize(
    "text",
    [
        "rows = 1",
        "[[limit]]\nrows = ['*']\ncycle = { soft = 1 }",
        "[[limit]]\nrows = ['*']\ncycles = { firm = 1 }",
        "[[limit]]\nrows = ['*']\ncycles = { soft = '1' }",
        "[[limit]]\nrows = ['*']\ncycles = { soft = [1, 2] }",
        "[[limit]]\nrows = ['*']\ncycles = { slack = -1 }",
        "[[limit]]\nrows = ['loop.emtpy']",
        "[[limit]]\nrows = ['*']",
        "",
        "[",
    ],
)
def test_bad_limits_are_refused(text: str, tmp_path: Path, catalogue: Catalogue) -> None:
    (tmp_path / "l.toml").write_text(text)
    with pytest.raises(TockmarkError, match=r"docs/reading-res") as caught:
        load_limits(tmp_path / "l.toml", catalogue)
    assert "object" not in str(caught.value), "in our words, not in Python's"
    with pytest.raises(TockmarkError, match="cannot read"):
        load_limits(tmp_path / "none.toml", catalogue)


def test_a_row_whose_boot_ran_other_rows_does_not_pass(catalogue: Catalogue) -> None:
    whole, part = (
        with_provenance(made(catalogue, {"a.x": steady(50)}, icache=(True,)), said=provenance)
        for provenance in ({"lang": "c"}, {"lang": "c", "only": "2"})
    )
    judgement = judged(whole, part, catalogue)
    assert judgement.exit_code == 3
    ((name, why),) = findings(judgement)
    assert (name, "--only" in why) == ("a.x icache=on", True)
    assert judged(part, part, catalogue).exit_code == 0
    allowed = Selection(catalogue, ("a.x",))
    judgement = judged(whole, part, catalogue, allowed=allowed)
    assert judgement.exit_code == 0


def test_a_row_that_is_gone_does_not_pass(catalogue: Catalogue) -> None:
    rows = {"loop.empty": steady(3000), "a.x": steady(50)}
    whole = made(catalogue, rows)
    some = made(catalogue, {"a.x": steady(50)})
    judgement = judged(whole, some, catalogue)
    assert (judgement.exit_code, findings(judgement)[0][1]) == (3, "it is not there")
    allowed = Selection(catalogue, ("loop",))
    judgement = judged(whole, some, catalogue, allowed=allowed)
    assert (judgement.exit_code, findings(judgement)) == (0, [])
    assert [row.row.id for row in judgement.rows_with(Verdict.GONE)] == ["loop.empty"]
    gone = (Absent("loop.empty", "time", {}, False, "memop returned NOMEM"),)
    failed = replace(some, missing=(), failed=gone)
    judgement = judged(whole, failed, catalogue)
    assert judgement.exit_code == 3
    assert findings(judgement)[0][1] == "failed: memop returned NOMEM"
    skipped = replace(some, missing=(), skipped=gone)
    judgement = judged(whole, skipped, catalogue)
    assert (judgement.exit_code, judgement.limit) == (3, Limit.HARD)
    missing = replace(some, missing=(Absent("loop.empty", "time", {}, False),))
    judgement = judged(whole, missing, catalogue)
    assert (judgement.exit_code, findings(judgement)[0][1]) == (3, "missing")
    negative = made(catalogue, {**rows, "a.x": steady(-9)})
    judgement = judged(whole, negative, catalogue)
    assert (judgement.exit_code, findings(judgement)[0][1]) == (3, "net cycles is -9, below zero")


@pytest.mark.parametrize("kind", ["failed", "missing"])
def test_a_missing_row_that_the_base_lacks_makes_the_result_incomplete(
    kind: str, catalogue: Catalogue
) -> None:
    """The new result is incomplete, regardless of the base."""
    base = made(catalogue, {"a.x": steady(50)})
    gone = (Absent("b.new", "time", {}, False, "no" if kind == "failed" else None),)
    judgement = judged(base, replace(base, **{kind: gone}), catalogue)  # type: ignore[arg-type]
    assert (judgement.exit_code, findings(judgement)) == (1, [])
    (warning,) = judgement.warnings
    assert f"the new result is incomplete: {kind}: time (i-cache off): b.new" in warning


def test_noise_does_not_fail(catalogue: Catalogue) -> None:
    base = made(catalogue, {"a.x": noisy(1000, 200, 12)}, board=ON_BOARD)
    limits = [
        judged(
            base, made(catalogue, {"a.x": noisy(1000, 200, 12)}, board=ON_BOARD), catalogue
        ).limit
        for _ in range(40)
    ]
    assert limits.count(Limit.HARD) <= 4
    assert limits.count(Limit.NONE) >= 36
    slower = made(catalogue, {"a.x": noisy(1300, 50)}, board=ON_BOARD)
    quiet = made(catalogue, {"a.x": noisy(1000, 50)}, board=ON_BOARD)
    assert judged(quiet, slower, catalogue).exit_code == 3


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(old=st.integers(0, 10**6), new=st.integers(0, 10**6), more=st.integers(0, 10**5))
def test_more_cycles_never_get_a_better_verdict(
    old: int, new: int, more: int, catalogue: Catalogue
) -> None:
    limits = [grown(catalogue, old, cycles).limit for cycles in (new, new + more)]
    assert limits == sorted(limits)
    assert grown(catalogue, old, old).exit_code == 0
    assert grown(catalogue, old, new).exit_code in ((0,) if new <= old else (0, 1, 3))


def test_the_verb_and_its_exit_codes(
    tmp_path: Path, catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verbs, "committed_spread", lambda base: CALM)
    for name, net in {"base": 1000, "same": 1000, "soft": 1015, "hard": 1200}.items():
        result = made(catalogue, {"a.x": steady(net)})
        (tmp_path / f"{name}.json").write_text(file.text(result))
    board = msgspec.structs.replace(SIMULATED, machine="nexysvideo")
    other = made(catalogue, {"a.x": steady(1000)}, board=board)
    (tmp_path / "other.json").write_text(file.text(other))

    def compared(*arguments: str) -> tuple[int, str]:
        files = [str(tmp_path / a) if a.endswith((".json", ".md")) else a for a in arguments]
        done = CliRunner().invoke(app, ["compare", *files])
        error = done.exception
        return (error.code if isinstance(error, TockmarkError) else done.exit_code), done.output

    (tmp_path / "wide.toml").write_text('[[limit]]\nrows = ["*"]\ncycles = { hard = "30 %" }\n')
    wide = str(tmp_path / "wide.toml")
    for before, behind, code in (
        ([], [], 0),  # no limits
        (["--limits"], [], 3),
        ([], ["--limits"], 3),
        (["--limits", wide], [], 0),
        ([], ["--limits", wide], 0),
        ([], [f"--limits={wide}"], 0),
    ):
        assert compared(*before, "base.json", "hard.json", *behind)[0] == code
    files = ("base.json", "same.json", "hard.json")
    code, text = compared(*files, "--limits")
    assert (code, text.count("Pass: "), text.count("Regression: ")) == (3, 1, 1)
    run = partial(compared, "--limits")
    assert run("base.json", "same.json")[0] == 0
    assert run("base.json", "soft.json")[0] == 0
    code, text = run("base.json", "hard.json", "--markdown", "out.md")
    assert code == 3
    same = "both sides are the same kernel; "
    first = f"Regression: {same}cycles worse on 1 row (+20.0 %); 2 rows, 1 link a side"
    assert text.startswith(f"{first}\n")
    assert "eyond the hard limit: 1 row in cycles" in text
    assert max(map(len, text.splitlines())) <= 100 + len(str(tmp_path))
    page = (tmp_path / "out.md").read_text()
    assert page.startswith(f"### ❌ tockmark: {first}\n")
    assert "| `a.x` | off | 1000 → 1200 | +20.0 % |  | worse &#33;&#33; | 0 |" in page
    assert run("base.json", "other.json")[0] == 2
    assert run("base.json", "other.json", "--force")[0] == 0
    assert run("base.json", "none.json")[0] == 2
    assert run("base.json")[0] == 2
    code, text = run("base.json", "soft.json", "--json")
    (first,) = json.loads(text)["comparisons"]
    assert first["exit_code"] == code == 0
    assert first["limit"] == "soft"
    _, text = run("hard.json", "base.json")
    assert text.startswith(f"Pass: {same}cycles better on 1 row (-16.7 %)")


def test_names_are_escaped_in_markdown(catalogue: Catalogue) -> None:
    """The author of a pull request chooses the names of kernels, rows and files."""
    hostile = "[click](http://evil.example) @octocat <img src=x>"
    base, new = (made(catalogue, {"a.x": steady(net), "a.y": steady(net)}) for net in (1000, 1200))
    names = {"a.y": f"a.{hostile}"}
    base, new = (
        replace(side, rows=tuple(structs.replace(r, id=names.get(r.id, r.id)) for r in side.rows))
        for side in (base, new)
    )
    compared = compare(base, new, f"{hostile}`", catalogue, DEFAULT_MARGINS, CALM, strict=True)
    compared.factors.append(Factor("kernel", hostile, "`x`|#1"))
    judgement = judge_comparison(compared, load_limits(None, catalogue))
    judgement = replace(judgement, warnings=(hostile,), notes=(hostile,))
    page = comparison.judged_markdown(hostile, [(compared, judgement)])
    assert not set(page.replace("### ", "")) & set("[]@!\\*~")
    assert "http:" not in page
    assert "<img" not in page
    assert page.count("&#60;img") == 7
    assert page.count("`") == 6  # around the row a.x
