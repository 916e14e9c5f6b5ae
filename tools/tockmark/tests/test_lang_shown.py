# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Results of two languages where they are shown: beside each other, or one of them, never mixed."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tockmark.cli import draw
from tockmark.cli.app import app
from tockmark.result import file
from tockmark.result.model import Result, ratio
from tockmark.result.provenance import Kernel
from tockmark.show import table
from tockmark.show.table import Named
from tockmark.site import pages
from tockmark.suite.catalogue import OF_BOOT, load
from tockmark.suite.selection import SCREEN, only_one, short
from tockmark.tests.of_samples import CC, made, of_both, steady
from tockmark.wire.rows import Absent

KNOWN = load()
COMMAND, MEMOP = "syscall.command", "syscall.memop"
BASELINE = Kernel("tockmark-baseline 0.1.0 abi2", "k", "a" * 64)


@pytest.fixture
def both() -> Result:
    """The command in both; memop in C alone, and sbrk in Rust alone."""
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
    told = " ".join(text.split())
    assert "Geometric mean 1.30" in told
    assert "i-cache off" not in told
    assert "--lang: Rust, too." not in told
    alone = table.first_screen([("x/both.json", both)], KNOWN)
    assert "sbrk" not in alone
    assert "--lang: Rust, too." in alone
    assert f"C tockmark-baseline 0.1.0 abi2, opt-level unknown, sha256 {'a' * 12}; apps by" in told
    assert f"Rust the same kernel; apps by {CC['rust']}; time.read 179" in told
    assert f"apps by {CC['c']}; the baseline, our own kernel, not Tock; time.read 169" in told


@pytest.mark.parametrize("width", [80, 100])
def test_beside_other_kernels_it_has_two_columns(both: Result, width: int) -> None:
    names = ("Tock 2.2, patched", "Tock master, patched")
    others = [
        (f"{name}.json", made(KNOWN, {COMMAND: steady(5000)}, kernel=Kernel(name, "k", digit * 64)))
        for name, digit in zip(names, "bc", strict=True)
    ]
    text = screen(("both.json", both), *others, width=width)
    assert max(map(len, text.splitlines())) <= width
    for name in ("baseline C", "baseline Rust", "Tock 2.2", "Tock master"):
        assert f"\n{text}".count(f"\n{name} ") == 1  # in the heading
    if width == 100:
        assert cells(text, "command") == ["5000", "5000", "1.00", "1000", "0.20", "1300", "0.26"]
        assert "Tock 2.2     Tock master      baseline C   baseline Rust" in text


def test_results_of_one_language_each_are_told_apart_by_it(both: Result) -> None:
    c, rust = ((f"{lang}.json", both.of_lang(lang)) for lang in ("c", "rust"))
    assert screen(c, rust) == screen(("both.json", both))
    assert table.short_names([c, rust], 15) == ["C", "Rust"]
    text = screen(rust)
    assert "i-cache on" in text
    assert len(cells(text, "command")) == 5  # its cache settings, as of C alone


def test_two_kernels_in_two_languages_fit(both: Result) -> None:
    text = screen(("a.json", both), ("x/b.json", both))
    assert max(map(len, text.splitlines())) <= 100
    assert "a, Rust" in text


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


def test_side_by_side_each_language_is_a_result(both: Result) -> None:
    text = table.side_by_side([("both.json", both), ("c.json", both.of_lang("c"))], KNOWN)
    assert re.findall(r"^(\w) = (.*)$", text, re.MULTILINE) == [
        ("A", "both.json, C"),
        ("B", "both.json, Rust"),
        ("C", "c.json"),
    ]
    line = next(line for line in text.splitlines() if line.startswith(COMMAND))
    assert line.split()[1:] == ["1000", "1300", "1.30", "1000", "1.00"]


def test_a_table_for_other_programs_says_the_language(both: Result, tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text(file.text(both))
    done = CliRunner().invoke(app, ["table", str(tmp_path / "r.json"), "--json"])
    rows = [row for row in json.loads(done.output) if row["id"] == COMMAND and row["icache"]]
    assert [(row["lang"], row["results"][0]["cycles"]) for row in rows] == [
        ("c", 1000),
        ("rust", 1300),
    ]
    events = table.event_counts(both, KNOWN)
    assert "No row has events" in events


def test_pictures_show_the_leading_language(both: Result, tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text(file.text(both))
    for only, lang in ((None, "c"), ("* lang=rust", "rust")):
        (named,) = draw._named([tmp_path / "r.json"], only)
        assert {row.lang for row in named.result.table.values()} == {lang}


def test_a_page_holds_each_language_against_the_same_of_the_baseline(both: Result) -> None:
    named = Named("both", both)
    beside = {
        (title.rpartition(", ")[2], ratio(base, row))
        for title, rows in pages.tables(named, KNOWN, Named("base", both.leading))
        for row, base in rows
        if row.id == COMMAND and row.icache
    }
    assert beside == {("C", 1), ("Rust", None)}


def test_a_short_run_has_the_first_screen_and_what_compilers_make() -> None:
    wanted = short(KNOWN)
    first = [only_one(KNOWN, term) for block in SCREEN.values() for term in block.values()]
    assert all(wanted.fits(*row, lang="rust") for row in first)
    ids = set(wanted.ids(["rust"]))
    assert {"mem.copy_loop", "ctx.ring", "ipc.round_trip"} <= ids
    assert {"ipc2.round_trip"} == {id_ for id_ in ids if id_.startswith("ipc2")}
    assert not ids & {"icache.nops", "call.args", "irq.entry", "syscall.brk", *OF_BOOT}
    rows = wanted.rows(["rust"])
    assert ("syscall.allow_ro", {"size": 64}) in rows
    assert ("syscall.allow_ro", {"size": 0}) not in rows  # its body is in assembly
    assert len([id_ for id_, _ in rows if id_ == "mem.copy_loop"]) == len(
        KNOWN.benchmarks["mem.copy_loop"].variants()
    )
