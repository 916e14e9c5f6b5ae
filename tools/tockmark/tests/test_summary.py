# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The first screen fits, names the kernels, and shows the figures of the rows."""

from dataclasses import replace
from math import exp, log

import msgspec
import pytest

from tockmark.base import paths
from tockmark.compare.rule import kernel_mean
from tockmark.result import file
from tockmark.result.model import Result
from tockmark.show import table
from tockmark.suite import catalogue as catalogues
from tockmark.suite.selection import SCREEN, select, single_row
from tockmark.tests import made

KNOWN = catalogues.load()
COMMITTED = ["baseline-cw310", "tock-2.2-cw310", "tock-master-cw310"]


@pytest.fixture(scope="module")
def named() -> list[tuple[str, Result]]:
    results = [(f"{name}.json", file.load(paths.RESULTS / f"{name}.json")) for name in COMMITTED]
    return [(name, result.of_lang("c")) for name, result in results]


def cells(text: str, words: str) -> list[str]:
    (line,) = (line for line in text.splitlines() if line.startswith(f"  {words}  "))
    return line.removeprefix(f"  {words}").split()


@pytest.mark.parametrize("width", [80, 100])
@pytest.mark.parametrize("many", [1, 2, 3, 5])
def test_it_fits_and_its_columns_are_aligned(
    named: list[tuple[str, Result]], width: int, many: int
) -> None:
    lines = table.first_screen((named * 2)[:many], KNOWN, width).splitlines()
    assert max(map(len, lines)) <= width
    if many <= 3:
        assert len(lines) <= 51  # lines of a screen
    rows = [line for line in lines if line.startswith("  ") and line.strip()[0].islower()]
    points = [[at for at, c in enumerate(line) if c == "."] for line in rows]
    assert any(len(layout_points) > 1 for layout_points in points)


def test_the_figures_are_those_of_the_rows(named: list[tuple[str, Result]]) -> None:
    text = table.first_screen(named, KNOWN, 100)
    for words, term in [
        (words, term) for block in SCREEN.values() for words, term in block.items()
    ]:
        id_, params = single_row(KNOWN, term)
        figures = cells(text, words)
        rows = [result.table[id_, frozenset(params.items()), True, "c"] for _, result in named]
        rows = [rows[1], rows[2], rows[0]]  # our own kernel is last
        assert len(figures) == 7
        for row, at in zip(rows, (0, 2, 5), strict=True):
            assert row.per_op is not None
            assert row.us is not None
            assert float(figures[at]) == pytest.approx(row.per_op, rel=0.0051)
            assert float(figures[at + 1]) == pytest.approx(row.us, rel=0.0051)
            assert row.per_op < 100 or figures[at].isdigit()
        assert float(figures[4]) == pytest.approx(rows[1].per_op / rows[0].per_op, abs=0.0051)  # type: ignore[operator]


def test_a_rate_has_neither_time_nor_ratio(named: list[tuple[str, Result]]) -> None:
    row = named[1][1].table["mem.copy_memcpy", frozenset({("size", 4096)}), True, "c"]
    figures = cells(table.first_screen(named, KNOWN, 100), "copy by memcpy")
    assert row.net
    assert float(figures[0]) == pytest.approx(4096 * 24 / row.net, rel=0.0051)
    assert figures[1] == figures[3] == figures[4] == "-"


def test_provenance_can_be_omitted(named: list[tuple[str, Result]]) -> None:
    sha = named[1][1].provenance.kernel.sha256
    assert sha
    assert sha[:12] in table.first_screen(named, KNOWN, 100)
    short = table.first_screen(named, KNOWN, 100, provenance=False)
    assert sha[:12] not in short
    assert "command" in short


def test_the_heading_distinguishes_kernels_and_shows_how_they_were_built(
    named: list[tuple[str, Result]],
) -> None:
    text = " ".join(table.first_screen(named, KNOWN, 100).split())
    assert table.short_names(named, 15) == ["baseline", "Tock 2.2", "Tock master"]
    assert "opt-level 3" in text
    assert text.count("opt-level z") == 2
    assert "baseline" in text
    assert "baseline" in text
    twice = table.short_names([named[0], ("x/again.json", named[0][1])], 15)
    assert twice == ["baseline-cw310", "again"]
    here, study = (
        ("x.json", file.load(paths.RESULTS / f"{name}.json"))
        for name in ("tock-1.x-nexysvideo", "paper-2021")
    )
    titles = ["Tock 1.x, patched", "Tock 1.x (study 2021)"]
    assert table.short_names([here, study], 24) == titles
    board = msgspec.structs.replace(study[1].provenance.board, machine="cw310")
    moved = msgspec.structs.replace(study[1].provenance, board=board)
    there = ("y.json", replace(study[1], provenance=moved))
    assert table.short_names([there, here], 19) == ["Tock 1.x cw310", "Tock 1.x nexysvideo"]
    assert table.short_names([("a" * 30, named[0][1])] * 2, 24) == ["A", "B"]


def test_the_mean_is_over_kernel_rows_and_a_sweep_counts_once() -> None:
    base, new = made.result(KNOWN), made.result(KNOWN, 2)
    on, slower = base.column(True, "c"), new.column(True, "c")
    assert kernel_mean(on, on, KNOWN) == pytest.approx(1)
    mean = kernel_mean(on, slower, KNOWN)
    by_id: dict[str, list[float]] = {}
    for row in base.table.values():
        if row.icache and not row.is_overhead and KNOWN.benchmarks[row.id].touches == "kernel":
            other = new.table[row.key]
            assert row.net
            assert other.net
            by_id.setdefault(row.id, []).append(log(other.net / row.net))
    assert len(by_id["ipc.bandwidth"]) > len(by_id["syscall.command"]) == 1
    expected = exp(sum(sum(v) / len(v) for v in by_id.values()) / len(by_id))
    assert mean == pytest.approx(expected)
    apps = select(KNOWN, "app")
    assert kernel_mean(base.only(apps).column(True, "c"), slower, KNOWN) is None
