# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Judge results of two languages: each language is compared with itself, unless the comparison is
between languages.
"""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tockmark.base.errors import OK, REGRESSION, UNUSABLE
from tockmark.cli import compare as verbs
from tockmark.cli.app import app
from tockmark.compare import pairs
from tockmark.compare.limits import Margins
from tockmark.compare.pairs import Comparison, compare
from tockmark.compare.rule import kernel_mean
from tockmark.compare.verdict import Verdict, judge_comparison
from tockmark.result import file
from tockmark.result.model import Result
from tockmark.show import comparison, export
from tockmark.suite.catalogue import load
from tockmark.tests.of_samples import CALM, CC, judged, of_both, steady

KNOWN = load()
COMMAND = "syscall.command"
SWEEP = [f"mem.copy_memcpy size={size}" for size in (1024, 2048, 4096, 8192, 16384)]


def costing(times: float) -> dict[str, list[int]]:
    """Return rows of the suite: kernel, a body in assembly, and a compiled body."""
    rows = {
        COMMAND: steady(round(1000 * times)),
        "call.void": steady(500),
        "mem.read_sum size=64": steady(round(90 * times)),
    }
    return rows | {row: steady(round(times * (n + 1) * 1000)) for n, row in enumerate(SWEEP)}


def languages(c: float, rust: float) -> Result:
    """Return a complete result of both languages, with these factors on the cycles."""
    return replace(of_both(KNOWN, costing(c), costing(rust)), missing=())


@pytest.fixture
def both() -> Result:
    return languages(1, 1.3)


def compared(base: Result, new: Result) -> Comparison:
    return compare(base, new, "b", KNOWN, Margins(), CALM)


def pairs_of(
    comparison: Comparison, id_: str
) -> list[tuple[str, float | None, float | None, Verdict]]:
    return [
        (row.row.name, row.before, row.after, row.verdict)
        for row in sorted(judge_comparison(comparison).rows, key=lambda row: row.row.lang)
        if row.row.id == id_
    ]


def test_each_language_is_compared_with_its_own(both: Result) -> None:
    new = languages(1, 1.95)
    pairs_ = compared(both, new)
    assert pairs_of(pairs_, COMMAND) == [
        *((f"{COMMAND} icache={on}", 1000, 1000, Verdict.SAME) for on in ("on", "off")),
        (f"{COMMAND} icache=off lang=rust", 1300, 1950, Verdict.WORSE),
        (f"{COMMAND} icache=on lang=rust", 1300, 1950, Verdict.UNSURE),
    ]
    assert {lang: mean.ratio for lang, mean in pairs_.means.items()} == {
        "c": pytest.approx(1),
        "rust": pytest.approx(1.5),
    }
    assert pairs_.mean is pairs_.means["c"]
    text = comparison.compare_text([("a", both), ("b", new)], [(pairs_, judge_comparison(pairs_))])
    assert f"{COMMAND} Rust" in text
    assert "1.5000" in " ".join(text.split())
    made_json = comparison.compare_json("a", [(pairs_, judge_comparison(pairs_))])
    (document,) = json.loads(json.dumps(made_json))["comparisons"]
    assert document["geometric_mean"]["c"]["ratio"] == pytest.approx(1)
    assert document["geometric_mean"]["rust"]["ratio"] == pytest.approx(1.5)


def test_two_languages_of_one_result_pair(both: Result) -> None:
    c, rust = both.of_lang("c"), both.of_lang("rust")
    pairs_ = compared(c, rust)
    assert pairs_of(pairs_, COMMAND)[0] == (f"{COMMAND} icache=off", 1000, 1300, Verdict.WORSE)
    assert (pairs_.gone, pairs_.added) == ([], [])
    assert [(f.name, f.base, f.new) for f in pairs_.factors] == [
        ("compiler", CC["c"], CC["rust"]),
        ("language", "c", "rust"),
    ]
    assert pairs_.mean is not None
    ratio = kernel_mean(c.column(True, "c"), rust.column(True, "rust"), KNOWN)
    assert pairs_.mean.ratio == pytest.approx(ratio)
    assert pairs.factors_of(both)["language"] == "c, rust"


def test_limits_find_the_language_that_got_worse(both: Result) -> None:
    worse = languages(1, 1.95)
    judgement = judged(both, worse, KNOWN)
    assert judgement.exit_code == REGRESSION
    rows = {row.row.name for row in judgement.rows if row.limit}
    assert rows == {f"{COMMAND} icache=off lang=rust"}
    text = comparison.judged_text("a", [(compared(both, worse), judgement)], every=False)
    assert f"{COMMAND} Rust" in text
    assert judged(both, both, KNOWN).exit_code == OK


@pytest.mark.parametrize("form", export.FORMS)
def test_exports_distinguish_the_languages(form: str, both: Result) -> None:
    text = export.export(both, KNOWN, form)
    names = {
        "csv": [f"{COMMAND},,on,{lang}," for lang in ("c", "rust")],
        "lmbench": [f"{COMMAND} icache=on{lang}: " for lang in ("", " lang=rust")],
    }
    others = [f'"{COMMAND} icache=on{lang}"' for lang in ("", " lang=rust")]
    assert [text.count(name) for name in names.get(form, others)] == [1, 1]


def test_the_verb_compares_by_language(
    tmp_path: Path, both: Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verbs, "committed_spread", lambda base: CALM)
    path, alone = tmp_path / "both.json", tmp_path / "c.json"
    path.write_text(file.text(both))
    alone.write_text(file.text(both.of_lang("c")))
    run = CliRunner().invoke
    done = run(app, ["compare", "--by", "lang", str(path)])
    assert done.exit_code == OK, done.output
    words = " ".join(done.output.split())
    assert f"base {path}, C " in words
    assert f"new {path}, Rust " in words
    assert "differs: language  c -> rust" in done.output
    document = json.loads(run(app, ["compare", "--by", "lang", str(path), "--json"]).output)
    rows = [row for row in document["comparisons"][0]["rows"] if row["id"] == COMMAND]
    assert [row["estimate"] for row in rows] == [pytest.approx(0.3)] * 2
    for arguments, says in (
        (["--by", "abi", str(path)], "there is no 'abi'"),
        (["--by", "lang", str(path), str(alone)], "but 2 are given"),
        (["--by", "lang", str(alone)], "only in C"),
        ([str(path)], "or --by lang"),
    ):
        failed = run(app, ["compare", *arguments])
        assert getattr(failed.exception, "code", None) == UNUSABLE, arguments
        assert says in str(failed.exception)
