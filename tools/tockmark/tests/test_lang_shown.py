# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Tables and pages show two languages side by side, or only one of them, and never mix them."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tockmark.cli.app import app
from tockmark.result import file
from tockmark.result.model import Result, ratio
from tockmark.result.provenance import Kernel
from tockmark.show import table
from tockmark.show.table import Named
from tockmark.site import pages
from tockmark.suite.catalogue import load
from tockmark.tests.of_samples import CC, of_both, steady
from tockmark.wire.rows import Absent

KNOWN = load()
COMMAND, MEMOP = "syscall.command", "syscall.memop"
BASELINE = Kernel("tockmark-baseline 0.1.0 abi2", "k", "a" * 64)


@pytest.fixture
def both() -> Result:
    """Return a result with command in both languages, memop only in C, and sbrk only in Rust."""
    c = {COMMAND: steady(1000), MEMOP: steady(70)}
    rust = {COMMAND: steady(1300), "syscall.sbrk": steady(80)}
    return replace(of_both(KNOWN, c, rust, kernel=BASELINE), missing=())


def screen(*named: tuple[str, Result], width: int = 100) -> str:
    return table.first_screen(list(named), KNOWN, width, langs=("c", "rust"))


def cells(text: str, words: str) -> list[str]:
    (line,) = (line for line in text.splitlines() if line.startswith(f"  {words}  "))
    return line.removeprefix(f"  {words}").split()


def test_the_first_screen_has_a_column_for_each_language(both: Result) -> None:
    text = screen(("x/both.json", both))
    heads = next(line for line in text.splitlines() if line.endswith("   Rust"))
    assert heads.split() == ["C", "Rust"]
    assert cells(text, "command") == ["1000", "41.7", "1300", "54.2", "1.30"]
    assert cells(text, "memop") == ["70", "2.92", "-", "-", "-"]
    assert cells(text, "sbrk") == ["-", "-", "80", "3.33", "-"]
    legend = " ".join(text.split())
    assert "Geometric mean 1.30" in legend
    assert "i-cache off" not in legend
    assert "--lang also shows Rust" not in legend
    alone = table.first_screen([("x/both.json", both)], KNOWN)
    assert "sbrk" not in alone
    assert "--lang also shows Rust" in " ".join(alone.split())
    assert f"sha256 {'a' * 12}; apps by" in legend
    assert f"apps by {CC['rust']}; time.read: 179" in legend
    assert f"apps by {CC['c']}; " in legend


def test_all_rows_have_tables_for_each_language(both: Result) -> None:
    gone = (Absent(MEMOP, "syscall", {}, True, "no need", "rust"),)
    text = table.every_row(replace(both, skipped=gone), KNOWN)
    c, rust = text.partition("\nRust\n")[::2]
    assert "\nC\n" in c
    rows = [[line.split()[1] for line in part.splitlines() if line.startswith(COMMAND)]
            for part in (c, rust)]  # fmt: skip
    assert rows == [["1000"], ["1300"]]
    assert (c.count(f"\n{MEMOP} "), rust.count(f"\n{MEMOP} ")) == (1, 0)
    assert f"skipped {MEMOP}, Rust: no need" in rust
    assert f"apps    {CC['c']}, {CC['rust']}" in text
    alone = table.every_row(both.of_lang("rust"), KNOWN)
    assert "\nRust\n" not in alone
    assert f"apps    {CC['rust']}\n" in alone


def test_a_table_in_json_names_the_language(both: Result, tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text(file.text(both))
    done = CliRunner().invoke(app, ["table", str(tmp_path / "r.json"), "--json"])
    rows = [row for row in json.loads(done.output) if row["id"] == COMMAND and row["icache"]]
    assert [(row["lang"], row["results"][0]["cycles"]) for row in rows] == [
        ("c", 1000),
        ("rust", 1300),
    ]
    events = table.event_counts(both, KNOWN)
    assert "events" in events


def test_a_page_compares_each_language_with_that_of_the_baseline(both: Result) -> None:
    named = Named("both", both)
    ratios_by_title = {
        (title.rpartition(", ")[2], ratio(base, row))
        for title, rows in pages.row_tables(named, KNOWN, Named("base", both.leading))
        for row, base in rows
        if row.id == COMMAND and row.icache
    }
    assert ratios_by_title == {("C", 1), ("Rust", None)}
