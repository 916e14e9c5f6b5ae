# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Tables show the numbers of a small result in the expected columns."""

from pathlib import Path

import pytest
from markupsafe import Markup

from tockmark.base import paths
from tockmark.result import file
from tockmark.result.build import Context, build
from tockmark.result.model import Result
from tockmark.result.provenance import Board, Kernel
from tockmark.show import table, text
from tockmark.suite.catalogue import Catalogue, load
from tockmark.tests.conftest import RECORDS, committed, encoded
from tockmark.wire.boots import assemble
from tockmark.wire.records import BootMark, decode

CONTEXT = Context(
    Kernel("tockmark-baseline 0.1.0", "tockmark-kernel", "a" * 64, opt_level="3"),
    Board("earlgrey-sim", "cw310", 24_000_000, "checked-against-rtl", "b" * 64, 16),
    2,
)


def made(log: list[str], catalogue: Catalogue, *icaches: bool) -> Result:
    """Return the result of the log, booted once with each of these cache settings; by default
    unchanged."""
    lines = [] if icaches else log
    for icache in icaches:
        for app, records in RECORDS.items():
            lines += [BootMark(app, icache, app).encode(), *encoded(app, records)]
    return build(assemble(decode(lines)), catalogue, CONTEXT)


def cells(text: str, name: str) -> list[str]:
    (line,) = (line for line in text.splitlines() if line.startswith(f"{name} "))
    return line.removeprefix(name).split()


def test_one_result(log: list[str], catalogue: Catalogue) -> None:
    text = table.every_row(made(log, catalogue, True), catalogue)
    assert max(map(len, text.splitlines())) <= 100
    assert "kernel  tockmark-baseline 0.1.0, opt-level 3 sha256 aaaaaaaaaaaa" in text
    assert "not Tock" in text
    assert "24 MHz, i-cache on\n        one layout\ntiming  checked-against-rtl" in text
    assert cells(text, "time.read") == ["340", "100", "340", "14.17", "-", "=", "340", "100"]
    assert cells(text, "loop.empty") == [
        *("3001", "2003", "3.001", "0.13", "-", "p2", "3342", "2103")
    ]
    assert cells(text, "mem.copy_asm size=64") == [
        *("96", "34", "96", "4", "16", "=", "437", "134")
    ]
    assert "op: iteration (1000) in loop.empty" in text
    overhead = "340/100 (i-cache on): time; 341/100 (i-cache on): loop, mem"
    assert overhead in " ".join(text.split())
    headings = [text.index(section) for section in catalogue.sections()]
    assert headings == sorted(headings)


def test_side_by_side(log: list[str], catalogue: Catalogue) -> None:
    base = made(log, catalogue)
    log[:] = [line for line in log if "loop.empty" not in line]
    lines = [line for app, r in RECORDS.items() for line in encoded(app, [*map(below, r)])]
    slower = made([line for line in lines if "loop.empty" not in line], catalogue)
    text = table.side_by_side([("a.json", base), ("b.json", slower)], catalogue)
    assert cells(text, "loop.empty") == ["3.001", "-", "-"]
    assert cells(text, "mem.copy_asm size=64") == ["96", "-40!", "-"]
    assert cells(text, "mem.copy_asm size=32") == ["49", "49", "1.00"]
    assert cells(text, "time.read") == ["340", "340", "1.00"]
    assert "A = a.json" in text


def below(record: str) -> str:
    """Return the record. For one row, return cycles that make its net -40."""
    return "data cycles 600 301*9" if record == "data cycles 600 437*9" else record


def test_json_has_the_same_rows(log: list[str], catalogue: Catalogue) -> None:
    rows = table.as_json([made(log, catalogue)], catalogue)
    assert [(row["id"], row["params"]) for row in rows] == [
        ("time.read", {}),
        ("loop.empty", {}),
        ("mem.copy_asm", {"size": 32}),
        ("mem.copy_asm", {"size": 64}),
    ]


@pytest.mark.parametrize(
    "path",
    [path for path in committed(".json") if "-" in path.stem and path.parent == paths.RESULTS],
    ids=lambda path: path.stem,
)
def test_every_committed_result_fits(path: Path) -> None:
    catalogue = load()
    result = file.load(path)
    for shown in (table.every_row(result, catalogue), table.event_counts(result, catalogue)):
        assert max(map(len, shown.splitlines())) <= 100


def test_every_function_that_writes_a_table_escapes_text() -> None:
    made = text.Table(
        [text.TableColumn("row", 6, 0, left=True, names=True), text.TableColumn("n\nB", 3)]
    )
    made.add("a_b", "1")
    made.add("<b>|`", "\x1b[31m2 @x\x1b[0m")
    made.add(Markup("<i>c</i>"), Markup("[d](e)"))
    made.add("all of it")
    assert made.text("title")[:5] == [
        "title",
        "row           n",
        "              B",
        "-" * 15,
        "a_b           1",
    ]
    assert made.text()[-1] == "all of it"
    assert made.markdown()[2:] == [
        "| `a_b` | 1 |",
        "| <code>&#60;b&#62;&#124;&#96;</code> | 2 &#64;x |",
        "| <i>c</i> | [d](e) |",
        "| all of it |",
        "",
    ]
    assert text.Table(made.columns).markdown() == []
