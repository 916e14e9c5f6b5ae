# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Tables: the numbers of a small made result, where a reader looks for them."""

import copy

from tockmark.log.protocol import BootMark, decode
from tockmark.log.rows import assemble
from tockmark.result import result as results
from tockmark.show import listing, table
from tockmark.suite.catalogue import Catalogue
from tockmark.tests.conftest import RECORDS, encoded

PROVENANCE = {
    "kernel": {
        "name": "tockmark-baseline 0.1.0",
        "file": "tockmark-kernel",
        "sha256": "a" * 64,
        "commit": None,
    },
    "board": {
        "name": "earlgrey-sim",
        "machine": "cw310",
        "clock_hz": 24_000_000,
        "timing": "checked-against-rtl",
        "simulator_sha256": "b" * 64,
        "uart_cycles_per_byte": 16,
    },
}


def made(log: list[str], catalogue: Catalogue, *icaches: bool) -> results.Json:
    """The log as of one boot with each of these cache settings; with none, as it is."""
    lines = [] if icaches else log
    for icache in icaches:
        for app, records in RECORDS.items():
            lines += [BootMark(app, icache, app).encode(), *encoded(app, records)]
    return results.build(assemble(decode(lines)), catalogue, PROVENANCE)


def cells(text: str, name: str) -> list[str]:
    (line,) = (line for line in text.splitlines() if line.startswith(f"{name} "))
    return line.removeprefix(name).split()


def test_one_result(log: list[str], catalogue: Catalogue) -> None:
    text = table.render(made(log, catalogue, True), catalogue)
    assert max(map(len, text.splitlines())) <= 100
    assert "the baseline kernel, not Tock" in text
    assert "24 MHz, i-cache on\ntiming  checked-against-rtl" in text
    assert cells(text, "time.read") == ["340", "100", "-", "14.17", "-", "=", "340", "100"]
    assert cells(text, "loop.empty") == [
        *("3001", "2003", "3.001", "125.04", "-", "p2", "3342", "2103")
    ]
    assert cells(text, "mem.copy_asm size=64") == [
        *("96", "34", "96", "4", "16", "=", "437", "134")
    ]
    assert "op: iteration (1000) in loop.empty" in text
    overhead = "340/100 (i-cache on): time; 341/100 (i-cache on): loop, mem"
    assert overhead in " ".join(text.split())
    headings = [text.index(section) for section in catalogue.sections()]
    assert headings == sorted(headings)


def test_both_cache_settings_side_by_side(log: list[str], catalogue: Catalogue) -> None:
    text = table.render(made(log, catalogue, True, False), catalogue)
    assert "i-cache on and off" in text
    assert cells(text, "loop.empty")[-2:] == ["3001", "1.00"]


def test_what_is_wrong_is_in_the_table(log: list[str], catalogue: Catalogue) -> None:
    torn = [line[:-1] if "loop.empty" in line else line for line in log]
    text = table.render(made(torn, catalogue), catalogue)
    assert "INCOMPLETE missing: loop: loop.empty" in text
    assert not any(line.startswith("loop.empty") for line in text.splitlines())


def test_side_by_side(log: list[str], catalogue: Catalogue) -> None:
    one = made(log, catalogue)
    two = copy.deepcopy(one)
    two["rows"] = [row for row in two["rows"] if row["id"] != "loop.empty"]
    two["rows"][-1]["cycles"]["net"] = -4
    text = table.render_side_by_side([("a.json", one), ("b.json", two)], catalogue)
    assert cells(text, "loop.empty") == ["3.001", "-", "-"]
    assert cells(text, "mem.copy_asm size=64") == ["96", "-4!", "-"]
    assert cells(text, "mem.copy_asm size=32") == ["49", "49", "1.00"]
    assert cells(text, "time.read") == ["340", "340", "1.00"]
    assert "A = a.json" in text


def test_json_has_the_same_rows(log: list[str], catalogue: Catalogue) -> None:
    rows = table.as_json([("a.json", made(log, catalogue))], catalogue)
    assert [(row["id"], row["params"]) for row in rows] == [
        ("time.read", {}),
        ("loop.empty", {}),
        ("mem.copy_asm", {"size": 32}),
        ("mem.copy_asm", {"size": 64}),
    ]


def test_the_list_tells_what_is_counted(catalogue: Catalogue) -> None:
    text = listing.render(catalogue)
    for benchmark in catalogue.benchmarks.values():
        assert benchmark.id in text
        assert f"Counted: {benchmark.counts}" in text
    assert "mem.copy_asm  (size = 32, 64)" in text
