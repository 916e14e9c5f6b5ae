# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A result with two languages keeps their rows separate, and row names have the language."""

import json
from pathlib import Path

import pytest

from tockmark.result import file
from tockmark.result.model import Result
from tockmark.suite.catalogue import LANGS, Catalogue
from tockmark.suite.selection import select
from tockmark.tests.of_samples import CC, made, of_both, steady

ROWS = {"loop.empty": steady(1000), "a.x n=1": steady(50)}
RUST_ROWS = {"loop.empty": steady(1200), "a.x n=1": steady(60)}


@pytest.fixture
def both(catalogue: Catalogue) -> Result:
    return of_both(catalogue, ROWS, RUST_ROWS)


def names(result: Result) -> list[str]:
    return [row.name for row in result.table.values()]


def test_rows_of_both_languages_are_separate(both: Result) -> None:
    every = ["time.read", "loop.empty", "a.x n=1"]
    assert names(both) == [
        f"{row} icache={icache}{lang}"
        for lang in ("", " lang=rust")
        for icache in ("on", "off")
        for row in every
    ]
    assert both.langs == ["c", "rust"]


def reloaded(result: Result, folder: Path) -> Result:
    (folder / "r.json").write_text(file.text(result), encoding="utf-8")
    return file.load(folder / "r.json")


def test_a_result_of_one_language_has_nothing_of_the_other(
    both: Result, catalogue: Catalogue
) -> None:
    alone = {
        "c": made(catalogue, ROWS, icache=(True, False)),
        "rust": of_both(catalogue, {}, RUST_ROWS).of_lang("rust"),
    }
    for lang in LANGS:
        single = both.of_lang(lang)
        assert single.rows == alone[lang].rows
        assert single.langs == [lang]
        assert single.provenance.app_values("cc") == [CC[lang]]
    assert both.leading == both.of_lang("c")
    assert alone["rust"].leading is alone["rust"]
    assert both.provenance.app_values("cc") == sorted(CC.values())


def test_a_file_round_trips_and_names_only_languages_other_than_c(
    both: Result, catalogue: Catalogue, tmp_path: Path
) -> None:
    assert reloaded(both, tmp_path) == both
    document = json.loads(file.text(both))
    assert document["version"] == 5
    assert [row.get("lang") for row in document["rows"]] == [None] * 6 + ["rust"] * 6
    plain = json.loads(file.text(made(catalogue, ROWS)))
    assert plain["version"] == 4
    assert not any("lang" in row for row in plain["rows"])


@pytest.mark.parametrize(
    ("term", "langs"),
    [
        ("*", ["c", "rust"]),
        ("* lang=rust", ["rust"]),
        ("loop:lang=rust", ["rust"]),
        ("loop.empty lang=c", ["c"]),
        ("loop icache=off lang=?", ["c"]),
    ],
)
def test_a_selection_can_name_the_language(
    term: str, langs: list[str], catalogue: Catalogue
) -> None:
    control = {"null.sample": steady(0)}  # every selection keeps controls
    both = of_both(catalogue, ROWS | control, RUST_ROWS | control)
    wanted = select(catalogue, term)
    assert [lang for lang in LANGS if wanted.matches("loop.empty", {}, False, lang)] == langs
    some = both.only(wanted)
    assert some.langs == langs
    assert some.provenance.app_values("lang") == langs
