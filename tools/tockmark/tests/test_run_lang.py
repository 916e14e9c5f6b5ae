# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Run the suite in both languages, on the stand-in for the simulator."""

import dataclasses
from pathlib import Path

import pytest
from msgspec import structs
from typer.testing import CliRunner

from tockmark.base.errors import UNUSABLE
from tockmark.cli import profile, run_options
from tockmark.cli.app import app
from tockmark.result import file
from tockmark.suite.selection import Selection
from tockmark.target import parse, run
from tockmark.target.image import AppBuild
from tockmark.target.kernel import KernelElf
from tockmark.target.results import build_result
from tockmark.tests import stand_in
from tockmark.tests.conftest import RECORDS, encoded
from tockmark.tests.of_samples import exit_code
from tockmark.tests.stand_in import NAME, end

options = pytest.fixture(stand_in.options)


@pytest.fixture
def bilingual(options: run.RunOptions, tmp_path: Path) -> run.RunOptions:
    """Add the suite in Rust without one boot, with the cache on and off."""
    (c,) = options.suites
    rust = run.Suite(AppBuild(tmp_path / "rust", 2, "rust"), c.boots[1:], [])
    rust.apps.folder.mkdir()
    for name, records in RECORDS.items():
        end(rust.apps.folder, name, "0", encoded(name, in_rust(records)))
    return dataclasses.replace(options, suites=(c, rust), icaches=[True, False])


def in_rust(records: list[str]) -> list[str]:
    """Return the records as an app in Rust prints them."""
    records_ = [record.replace("lang=c ", "lang=rust ") for record in records]
    return [record.replace("cycles 4000", "cycles 4711") for record in records_]


def within(options: run.RunOptions) -> Selection:
    """Return the selection of the boots that run."""
    selected = Selection(options.catalogue, ("loop", "mem"))
    return Selection(options.catalogue, within={"rust": selected})


def test_a_run_of_both_languages(bilingual: run.RunOptions, tmp_path: Path) -> None:
    result, log = build_result(run.run(bilingual), bilingual, within(bilingual))
    assert result.incomplete == ()
    assert {lang: len(result.of_lang(lang).rows) for lang in result.langs} == {"c": 12, "rust": 10}
    loop = {row.lang: row.cycles for row in result.rows if row.id == "loop.empty" and row.icache}
    assert {lang: series and series.samples[0] for lang, series in loop.items()} == {
        "c": 4000,
        "rust": 4711,
    }
    boots = [(boot.boot, boot.lang, set(boot.cycles)) for boot in result.provenance.boots]
    assert boots[2:] == [("mem", "c", {"on", "off"}), *((name, "rust", {"on", "off"})
                          for name in ("loop", "mem"))]  # fmt: skip
    marks = [line for line in log.splitlines() if line.startswith(("#boot", "#end"))]
    assert [line.partition(" lang=")[2].split(" ")[0] for line in marks] == ["c"] * 12 + [
        "rust"
    ] * 8
    (tmp_path / "r.log").write_text(log)
    parsed = parse.parse(tmp_path / "r.log", bilingual.catalogue)
    hertz = result.provenance.board.clock_hz
    rows = tuple(structs.replace(row, clock_hz=hertz) for row in parsed.rows)
    assert rows == result.rows
    assert parsed.incomplete == ()
    (tmp_path / "r.json").write_text(file.text(result))
    assert file.load(tmp_path / "r.json") == result


def test_a_boot_that_fails_is_missing_in_its_language(bilingual: run.RunOptions) -> None:
    folder = bilingual.suites[1].apps.folder
    end(folder, "loop", "4", encoded("loop", in_rust(RECORDS["loop"])[:5]))
    result, _ = build_result(run.run(bilingual), bilingual, within(bilingual))
    missing = ["loop.empty icache=on lang=rust", "loop.empty icache=off lang=rust"]
    assert [gone.name for gone in result.missing] == missing
    assert any(why.startswith("loop, i-cache on, Rust") for why in result.incomplete)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("run --lang zig", "'zig'"),
        ("run --lang ,", "--lang ',' names nothing"),
        ("run --lang c,rust --apps x", "--apps"),
        ("run --short rust", "--short"),
        ("run --only loop:lang=rust", r"--only 'loop:lang=rust' selects no row in --lang c"),
        ("profile loop.empty --lang c,rust", "--lang"),
    ],
)
def test_invalid_languages_are_refused_in_one_line(
    words: str, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (run_options, profile):
        monkeypatch.setattr(
            module, "read_kernel", lambda path: KernelElf(path, NAME, "d" * 64, None, ())
        )
    done = CliRunner().invoke(app, words.split())
    assert exit_code(done) == UNUSABLE
    assert says in str(done.exception)
    assert done.output == ""
