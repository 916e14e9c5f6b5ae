# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Gates: exit codes for what got worse by how much, and what noise may not do."""

import json
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import structs
from typer.testing import CliRunner

from tockmark.cli.app import app
from tockmark.compare import rule as spreads
from tockmark.compare.answer import answer, certain
from tockmark.compare.gate import Gated, gate
from tockmark.compare.limits import Level, Limits, load_limits
from tockmark.compare.pairs import Factor
from tockmark.compare.rule import Spread
from tockmark.errors import TockmarkError
from tockmark.result import file
from tockmark.show import comparison
from tockmark.suite.catalogue import Catalogue, Params
from tockmark.suite.selection import Selection
from tockmark.tests.of_samples import CALM, ON_BOARD, SIMULATED, made, steady, with_provenance
from tockmark.wire.rows import Absent

NOISE = np.random.default_rng(9)


def noisy(net: float, sd: float, n: int = 200) -> list[int]:
    return [int(net) + 200, *(int(s) for s in NOISE.normal(net + 169, sd, n))]


def rule(catalogue: Catalogue) -> tuple[Limits, Catalogue, Spread]:
    """The default limits, of rows that no layout moves."""
    return load_limits(None, catalogue), catalogue, CALM


def gated(catalogue: Catalogue, old: int, new: int, **instret: int) -> Gated:
    one = made(catalogue, {"a.x": steady(old)}, instret={"a.x": instret.get("before", 184)})
    two = made(catalogue, {"a.x": steady(new)}, instret={"a.x": instret.get("after", 184)})
    return gate([("base", one)], ("new", two), *rule(catalogue))


@pytest.mark.parametrize(
    ("old", "new", "code", "level"),
    [
        (1000, 1000, 0, Level.PASS),
        (1000, 1010, 0, Level.PASS),
        (1000, 1011, 0, Level.SOFT),
        (1000, 1020, 0, Level.SOFT),
        (1000, 1021, 3, Level.HARD),
        (1000, 990, 0, Level.PASS),
        (1000, 900, 0, Level.BETTER),
        (4, 6, 0, Level.PASS),  # within the slack
        (4, 7, 3, Level.HARD),
        (0, 2, 0, Level.PASS),
        (0, 4, 3, Level.HARD),
    ],
)
def test_default_limits(old: int, new: int, code: int, level: Level, catalogue: Catalogue) -> None:
    found = gated(catalogue, old, new)
    assert (found.exit_code, found.level) == (code, level)
    assert [finding.row.name for finding in found.findings] == ["a.x icache=on"] * (level > 0)


def test_instructions_have_limits_too(catalogue: Catalogue) -> None:
    found = gated(catalogue, 1000, 1000, before=184, after=284)
    assert found.exit_code == 3
    assert [(one.series, one.change.new) for one in found.moved] == [("instret", 200)]


LIMITS = """
[[limit]]
rows = ["*"]
cycles = { soft = ["5 %", 20], hard = "20 %", slack = 1 }

[[limit]]
rows = ["a.y", "a.z n=?"]
cycles = { hard = 100 }

[[limit]]
rows = ["* icache=off"]
cycles = {}
"""


@pytest.mark.parametrize(
    ("label", "old", "new", "icache", "level"),
    [
        ("a.x", 1000, 1020, True, Level.PASS),  # within 5 % and within 20
        ("a.x", 1000, 1021, True, Level.SOFT),
        ("a.x", 100, 106, True, Level.SOFT),
        ("a.x", 100, 121, True, Level.HARD),
        ("a.y", 1000, 1100, True, Level.PASS),  # the later rule counts
        ("a.y", 1000, 1101, True, Level.HARD),
        ("a.z n=1", 1000, 1101, True, Level.HARD),
        ("a.z n=11", 1000, 1101, True, Level.SOFT),
        ("a.x", 1000, 9000, False, Level.PASS),  # no limit at all
    ],
)
def test_limits_of_a_file(
    label: str, old: int, new: int, icache: bool, level: Level, catalogue: Catalogue, tmp_path: Path
) -> None:
    (tmp_path / "l.toml").write_text(LIMITS)
    one, two = (made(catalogue, {label: steady(n)}, icache=(icache,)) for n in (old, new))
    there: list[tuple[str, Params]] = [("a.x", {}), ("a.y", {}), ("a.z", {"n": 1})]
    rules = load_limits(tmp_path / "l.toml", catalogue, there)
    assert gate([("base", one)], ("new", two), rules, catalogue, CALM).level is level
    with pytest.raises(TockmarkError, match=r"l.toml holds no limits: 'a\.y' names no row"):
        load_limits(tmp_path / "l.toml", catalogue)


@pytest.mark.parametrize(
    "text",
    [
        "rows = 1",
        "[[limit]]\nrows = []",
        "[[limit]]\nrows = ['*']\ncycles = 5",
        "[[limit]]\nrows = ['*']\ncycle = { soft = 1 }",
        "[[limit]]\nrows = ['*']\ncycles = { firm = 1 }",
        "[[limit]]\nrows = ['*']\ncycles = { soft = '1' }",
        "[[limit]]\nrows = ['*']\ncycles = { soft = [1, 2] }",
        "[[limit]]\nrows = ['*']\ncycles = { soft = [] }",
        "[[limit]]\nrows = ['*']\ncycles = { soft = true }",
        "[[limit]]\nrows = ['*']\ncycles = { slack = -1 }",
        "[[limit]]\nrows = ['']",
        "[[limit]]\nrows = ['loop.emtpy']",
        "limit = 3",
        "limit = [3]",
        "[limit]\nrows = ['*']",
        "[[limit]]\nrows = ['*']",
        "[[limit]]\nrows = ['*']\ncycles = {}",
        "[[limit]]\nrows = ['*']\ncycles = { slack = 2 }",
        "[[limit]]\ncycles = { soft = 1 }",
        "limit = []",
        "",
        "[",
    ],
)
def test_bad_limits_are_refused(text: str, tmp_path: Path, catalogue: Catalogue) -> None:
    (tmp_path / "l.toml").write_text(text)
    with pytest.raises(TockmarkError, match=r"holds no limits: .*; docs/reading-res") as caught:
        load_limits(tmp_path / "l.toml", catalogue)
    assert "object" not in str(caught.value), "in our words, not in Python's"
    with pytest.raises(TockmarkError, match="cannot read"):
        load_limits(tmp_path / "none.toml", catalogue)


def test_a_row_of_another_part_of_its_group_does_not_pass(catalogue: Catalogue) -> None:
    whole, part = (
        with_provenance(made(catalogue, {"a.x": steady(50)}), said=said)
        for said in ({"lang": "c"}, {"lang": "c", "only": "2"})
    )
    found = gate([("base", whole)], ("new", part), *rule(catalogue))
    assert found.exit_code == 3
    assert [(one.row.name, "--only" in one.why) for one in found.findings] == [
        ("a.x icache=on", True)
    ]
    assert gate([("base", part)], ("new", part), *rule(catalogue)).exit_code == 0
    allowed = Selection(catalogue, ("a.x",))
    found = gate([("base", whole)], ("new", part), *rule(catalogue), allowed=allowed)
    assert found.exit_code == 0


def test_a_row_that_is_gone_does_not_pass(catalogue: Catalogue) -> None:
    rows = {"loop.empty": steady(3000), "a.x": steady(50)}
    whole = made(catalogue, rows)
    some = made(catalogue, {"a.x": steady(50)})
    found = gate([("base", whole)], ("new", some), *rule(catalogue))
    assert (found.exit_code, found.findings[0].why) == (3, "it is not there")
    allowed = Selection(catalogue, ("loop",))
    found = gate([("base", whole)], ("new", some), *rule(catalogue), allowed=allowed)
    assert (found.exit_code, found.findings) == (0, [])
    assert found.notes == ["missing, and allowed to be: 1 row (loop.empty icache=on)"]
    gone = (Absent("loop.empty", "time", {}, True, "memop returned NOMEM"),)
    failed = replace(some, missing=(), failed=gone)
    found = gate([("base", whole)], ("new", failed), *rule(catalogue))
    assert found.exit_code == 3
    assert found.findings[0].why == "failed: memop returned NOMEM"
    skipped = replace(some, missing=(), skipped=gone)
    found = gate([("base", whole)], ("new", skipped), *rule(catalogue))
    assert (found.exit_code, found.findings[0].level) == (3, Level.HARD)
    missing = replace(some, missing=(Absent("loop.empty", "time", {}, True),))
    found = gate([("base", whole)], ("new", missing), *rule(catalogue))
    assert (found.exit_code, found.findings[0].why) == (3, "missing")
    negative = made(catalogue, {**rows, "a.x": steady(-9)})
    found = gate(
        [("base", whole)], ("new", negative), load_limits(None, catalogue), catalogue, CALM
    )
    assert (found.exit_code, found.findings[0].why) == (3, "net cycles is -9, below zero")


def test_a_new_row_and_a_bad_base_only_show(catalogue: Catalogue) -> None:
    base = made(catalogue, {"a.x": steady(-9)})
    found = gate(
        [("base", base)],
        ("new", made(catalogue, {"a.x": steady(50)})),
        *rule(catalogue),
    )
    assert (found.exit_code, found.findings) == (1, [])
    assert found.warnings == ["a.x icache=on: no base is good: net cycles is -9, below zero"]
    more = made(catalogue, {"a.x": steady(50), "a.y": steady(99)})
    good = made(catalogue, {"a.x": steady(50)})
    assert (
        gate(
            [("base", good)], ("new", more), load_limits(None, catalogue), catalogue, CALM
        ).exit_code
        == 0
    )


@pytest.mark.parametrize("kind", ["failed", "missing"])
def test_a_row_that_no_base_has_must_be_there_too(kind: str, catalogue: Catalogue) -> None:
    """The new result is incomplete, whatever the bases are."""
    base = made(catalogue, {"a.x": steady(50)})
    gone = (Absent("b.new", "time", {}, True, "no" if kind == "failed" else None),)
    found = gate(
        [("base", base)],
        ("new", replace(base, **{kind: gone})),  # type: ignore[arg-type]
        *rule(catalogue),
    )
    assert (found.exit_code, found.findings) == (1, [])
    (warning,) = found.warnings
    assert f"the new result is incomplete: {kind}: time: b.new" in warning


def test_a_row_that_no_base_has_must_be_right(catalogue: Catalogue) -> None:
    base = made(catalogue, {"a.x": steady(50)})
    new = made(catalogue, {"a.x": steady(50), "b.new": steady(-9)})
    found = gate([("base", base)], ("new", new), *rule(catalogue))
    assert (found.exit_code, found.findings) == (1, [])
    assert found.warnings == [
        "the new result is incomplete: wrong: time: b.new: net cycles is -9, below zero"
    ]


def test_a_row_that_is_a_finding_is_named_once(catalogue: Catalogue) -> None:
    """It is not a reason of incompleteness besides; another boot's time.read is."""
    base = made(catalogue, {"a.x": steady(50)})
    lost = (Absent("a.x", "time", {}, True), Absent("time.read", "loop", {}, True))
    rows = tuple(row for row in base.rows if row.id != "a.x")
    new = ("new", replace(base, rows=rows, missing=lost))
    found = gate([("base", base)], new, *rule(catalogue))
    assert [(finding.row.name, finding.why) for finding in found.findings] == [
        ("a.x icache=on", "missing")
    ]
    assert found.warnings == ["the new result is incomplete: missing: loop: time.read"]


def test_a_row_with_other_samples_does_not_pass(catalogue: Catalogue) -> None:
    base = made(catalogue, {"a.x": steady(50)})
    new = made(catalogue, {"a.x": steady(800)}, inner=16)
    found = gate([("base", base)], ("new", new), *rule(catalogue))
    assert (found.exit_code, found.findings[0].why) == (3, "its inner is 16, not 1")
    allowed = Selection(catalogue, ("a.x",))
    assert gate([("base", base)], ("new", new), *rule(catalogue), allowed=allowed).exit_code == 0


def test_a_row_without_its_readings_does_not_pass(catalogue: Catalogue) -> None:
    """What the readings cost is not known, so nothing is known of the row."""
    base = made(catalogue, {"a.x": steady(50)})
    (row,) = (row for row in base.rows if row.id == "a.x")
    assert row.cycles is not None
    lost = structs.replace(row, readings=({},))
    found = gate([("base", base)], ("new", replace(base, rows=(lost,))), *rule(catalogue))
    assert found.exit_code == 3
    assert {one.why for one in found.findings} >= {"no net cycles", "it is not there"}
    found = gate([("base", replace(base, rows=(lost,)))], ("new", base), *rule(catalogue))
    assert (found.exit_code, found.findings) == (1, [])
    assert found.warnings == ["a.x icache=on: no base is good: no net cycles"]


def test_noise_does_not_fail(catalogue: Catalogue) -> None:
    base = made(catalogue, {"a.x": noisy(1000, 200, 12)}, board=ON_BOARD)
    rules = rule(catalogue)
    levels = [
        gate(
            [("base", base)],
            ("new", made(catalogue, {"a.x": noisy(1000, 200, 12)}, board=ON_BOARD)),
            *rules,
        ).level
        for _ in range(40)
    ]
    assert levels.count(Level.HARD) <= 4
    assert levels.count(Level.PASS) >= 36
    slower = made(catalogue, {"a.x": noisy(1300, 50)}, board=ON_BOARD)
    quiet = made(catalogue, {"a.x": noisy(1000, 50)}, board=ON_BOARD)
    assert gate([("base", quiet)], ("new", slower), *rules).exit_code == 3


def test_several_bases_tell_the_noise_between_runs(catalogue: Catalogue) -> None:
    runs = [made(catalogue, {"a.x": steady(net)}) for net in (1000, 1100, 1020)]
    new = ("new", made(catalogue, {"a.x": steady(1090)}))
    rules = rule(catalogue)
    assert gate([("one", runs[0])], new, *rules).exit_code == 3
    assert gate([(str(i), run) for i, run in enumerate(runs)], new, *rules).exit_code == 0
    worse = ("new", made(catalogue, {"a.x": steady(1101)}))
    found = gate([(str(i), run) for i, run in enumerate(runs)], worse, *rules)
    assert found.exit_code == 0
    far = ("new", made(catalogue, {"a.x": steady(4000)}))
    found = gate([(str(i), run) for i, run in enumerate(runs)], far, *rules)
    assert found.exit_code == 3
    assert found.moved[0].change.base == 1020


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(old=st.integers(0, 10**6), new=st.integers(0, 10**6), more=st.integers(0, 10**5))
def test_more_cycles_never_pass_better(old: int, new: int, more: int, catalogue: Catalogue) -> None:
    order = [Level.BETTER, Level.PASS, Level.SOFT, Level.HARD]
    levels = [order.index(gated(catalogue, old, cycles).level) for cycles in (new, new + more)]
    assert levels == sorted(levels)
    assert gated(catalogue, old, old).exit_code == 0
    assert gated(catalogue, old, new).exit_code in ((0,) if new <= old else (0, 1, 3))


def test_the_verb_and_its_exit_codes(
    tmp_path: Path, catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spreads, "known_spread", lambda base: CALM)
    for name, net in {"base": 1000, "same": 1000, "soft": 1015, "hard": 1200}.items():
        result = made(catalogue, {"a.x": steady(net)})
        (tmp_path / f"{name}.json").write_text(file.text(result))
    board = msgspec.structs.replace(SIMULATED, machine="nexysvideo")
    other = made(catalogue, {"a.x": steady(1000)}, board=board)
    (tmp_path / "other.json").write_text(file.text(other))

    def run(*arguments: str) -> tuple[int, str]:
        files = [str(tmp_path / a) if a.endswith((".json", ".md")) else a for a in arguments]
        done = CliRunner().invoke(app, ["ci", "gate", *files])
        error = done.exception
        return (error.code if isinstance(error, TockmarkError) else done.exit_code), done.output

    assert run("base.json", "same.json")[0] == 0
    assert run("base.json", "soft.json")[0] == 0
    code, text = run("base.json", "hard.json", "--markdown", "out.md")
    assert code == 3
    told = "Regression: cycles surely more on 1 row (+20.0 %); 2 rows, 1 link a side"
    assert text.startswith(f"{told}\n")
    assert "Figures beyond the hard limit: 1 of cycles." in text
    assert max(map(len, text.splitlines())) <= 100 + len(str(tmp_path))
    page = (tmp_path / "out.md").read_text()
    assert page.startswith(f"### ❌ tockmark: {told}\n")
    assert "| `a.x` | on | 1000 → 1200 | +20.0 % |  | sure &#33;&#33; | 0 |" in page
    assert run("base.json", "other.json")[0] == 2
    assert run("base.json", "other.json", "--force")[0] == 0
    assert run("base.json", "none.json")[0] == 2
    assert run("base.json")[0] == 2
    code, text = run("base.json", "soft.json", "--json")
    assert json.loads(text)["exit_code"] == code == 0
    assert json.loads(text)["verdict"] == "warning"
    _, text = run("hard.json", "base.json")
    assert text.startswith("Pass: cycles surely fewer on 1 row (-16.7 %)")
    assert "lower by more than the soft limit: 1 of cycles." in text


def test_no_name_becomes_markup(catalogue: Catalogue) -> None:
    """Whoever opens a pull request names kernels, rows and files."""
    hostile = "[click](http://evil.example) @octocat <img src=x>"
    one, two = (made(catalogue, {"a.x": steady(net), "a.y": steady(net)}) for net in (1000, 1200))
    names = {"a.y": f"a.{hostile}"}
    one, two = (
        replace(side, rows=tuple(structs.replace(r, id=names.get(r.id, r.id)) for r in side.rows))
        for side in (one, two)
    )
    found = gate([("base", one)], ("new", two), *rule(catalogue))
    found.comparison.factors.append(Factor("kernel", hostile, "`x`|#1"))
    found.warnings.append(hostile)
    found.notes.append(hostile)
    page = comparison.gate_markdown([hostile], f"{hostile}`", answer(found, certain(found)))
    assert not set(page.replace("### ", "")) & set("[]@!\\*~")
    assert "http:" not in page
    assert "<img" not in page
    assert page.count("&#60;img") == 7
    assert page.count("`") == 6  # of the row a.x
