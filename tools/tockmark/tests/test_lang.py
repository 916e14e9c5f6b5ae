# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The language of the apps as a factor: what one log holds in two languages stays apart, from the
log to the file, and whatever stands for itself says which it is.
"""

import json
from pathlib import Path

import pytest

from tockmark.result import file
from tockmark.result.build import Expected, build
from tockmark.result.model import Result
from tockmark.suite.catalogue import LANGS, Catalogue, Lang
from tockmark.suite.selection import Selection, select
from tockmark.tests.conftest import RECORDS, encoded
from tockmark.tests.of_samples import CC, made, of_both, steady
from tockmark.wire.boots import assemble
from tockmark.wire.records import BootMark, decode

ROWS = {"loop.empty": steady(1000), "a.x n=1": steady(50)}
DEARER = {"loop.empty": steady(1200), "a.x n=1": steady(60)}


@pytest.fixture
def both(catalogue: Catalogue) -> Result:
    return of_both(catalogue, ROWS, DEARER)


def names(result: Result) -> list[str]:
    return [row.name for row in result.table.values()]


def test_rows_of_both_languages_stand_apart(both: Result) -> None:
    every = ["time.read", "loop.empty", "a.x n=1"]
    assert names(both) == [
        f"{row} icache={icache}{lang}"
        for lang in ("", " lang=rust")
        for icache in ("on", "off")
        for row in every
    ]
    assert both.langs == ["c", "rust"]


def test_each_is_net_of_the_readings_of_its_own_language(both: Result, tmp_path: Path) -> None:
    """Both languages boot under the same name."""
    for result in (both, again(both, tmp_path)):
        nets = {lang: result.column(True, lang)["loop.empty", frozenset()].net for lang in LANGS}
        assert nets == {"c": 1000, "rust": 1200}
        assert {row.boot for row in result.rows} == {"time"}


def again(result: Result, folder: Path) -> Result:
    (folder / "r.json").write_text(file.text(result), encoding="utf-8")
    return file.load(folder / "r.json")


def test_a_result_of_one_language_is_as_if_the_other_had_not_been(
    both: Result, catalogue: Catalogue
) -> None:
    alone = {
        "c": made(catalogue, ROWS, icache=(True, False)),
        "rust": of_both(catalogue, {}, DEARER).of_lang("rust"),
    }
    for lang in LANGS:
        one = both.of_lang(lang)
        assert one.rows == alone[lang].rows
        assert one.langs == [lang]
        assert one.provenance.said("cc") == [CC[lang]]
    assert both.leading == both.of_lang("c")
    assert alone["rust"].leading is alone["rust"]
    assert both.provenance.said("cc") == sorted(CC.values())


def test_a_file_comes_back_as_it_was_and_says_only_what_is_not_c(
    both: Result, catalogue: Catalogue, tmp_path: Path
) -> None:
    assert again(both, tmp_path) == both
    told = json.loads(file.text(both))
    assert told["version"] == 5
    assert [row.get("lang") for row in told["rows"]] == [None] * 6 + ["rust"] * 6
    plain = json.loads(file.text(made(catalogue, ROWS)))
    assert plain["version"] == 4
    assert not any("lang" in row for row in plain["rows"])


def lines(lang: Lang, lost: tuple[str, ...] = (), skip: tuple[str, ...] = ()) -> list[str]:
    """A log of every app, less the records that begin so; those of `skip` are skipped."""
    found: list[str] = []
    for app, records in RECORDS.items():
        own = [r.replace("lang=c", f"lang={lang}") for r in records if not r.startswith(lost)]
        own = [f'skip {r.split(" ")[1]} reason="no"' if r.startswith(skip) else r for r in own]
        marks = [BootMark(app, True, app, ends, lang).encode() for ends in (False, True)]
        found += [marks[0], *encoded(app, own), marks[1]]
    return found


def built(
    log: list[str], catalogue: Catalogue, *langs: Lang, wanted: Selection | None = None
) -> Result:
    expected = [Expected(boot, True, lang=lang) for lang in langs for boot in catalogue.boots()]
    return build(assemble(decode(log)), catalogue, expected=expected or None, wanted=wanted)


def test_each_language_is_asked_for_what_its_boots_should_give(catalogue: Catalogue) -> None:
    loop = ("bench loop.empty", "data cycles 4000", "data instret 2103")
    log = [*lines("c"), *lines("rust", lost=loop)]
    for result in (built(log, catalogue, "c", "rust"), built(log, catalogue)):
        assert [gone.name for gone in result.missing] == ["loop.empty icache=on lang=rust"]
        assert result.incomplete == ("missing: loop (Rust): loop.empty",)
        assert len(result.rows) == 11
    result = built(lines("c"), catalogue, "c", "rust")
    assert {gone.lang for gone in result.missing} == {"rust"}
    assert len(result.missing) == len(result.rows) == 6


@pytest.mark.parametrize(
    ("term", "meant"),
    [
        ("*", ["c", "rust"]),
        ("* lang=rust", ["rust"]),
        ("loop:lang=rust", ["rust"]),
        ("loop.empty lang=c", ["c"]),
        ("loop icache=off lang=?", ["c"]),
    ],
)
def test_the_language_is_a_parameter_too(term: str, meant: list[str], catalogue: Catalogue) -> None:
    control = {"null.sample": steady(0)}  # which stay, whatever is asked for
    both = of_both(catalogue, ROWS | control, DEARER | control)
    wanted = select(catalogue, term)
    assert [lang for lang in LANGS if wanted.fits("loop.empty", {}, False, lang)] == meant
    some = both.only(wanted)
    assert some.langs == meant
    assert some.provenance.said("lang") == meant
