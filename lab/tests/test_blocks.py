# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The pages' blocks about measurements by others on boards, and about the cost of libraries."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from test_refresh import slower

import blocks
import languages
from tables import refreshed
from tockmark.result import file

ROOT = Path(__file__).parents[2]


def test_the_cost_of_a_library_is_shown(tmp_path: Path) -> None:
    """File `more` has a tenth more cycles per call, and one row less than the first file."""
    base = ROOT / "results" / "rust" / "assembly.json"
    result = file.load(base)
    rows = tuple(slower(row) for row in result.rows if row.id != "syscall.brk")
    (tmp_path / "more.json").write_text(file.text(replace(result, rows=rows)), encoding="utf-8")
    lines = languages.added_cost(f"{base} {tmp_path / 'more.json'}").splitlines()
    assert lines[0].startswith("| | instructions: assembly | more | cycles, cache on: assembly |")
    command = next(line for line in lines if line.startswith("| `syscall.command` |"))
    _, _, instructions, same, cycles, more, *_ = command.split("|")
    whole = next(row for row in result.rows if row.id == "syscall.command" and row.icache)
    assert whole.cycles is not None
    assert whole.net is not None
    assert float(instructions) == whole.instructions
    assert float(same) == 0
    assert float(cycles) == whole.net
    assert float(more) > whole.net / 10  # the net excludes the overhead, which did not change
    assert not any("syscall.brk" in line for line in lines)


@pytest.mark.parametrize(
    ("ticks", "verdict"),
    [
        (100, "equal"),
        (101, "one tick off"),
        (97, "within"),
        (111, "within"),
        (121, "outside by 9.0 %"),
    ],
)
def test_a_board_is_compared_with_all_links(tmp_path: Path, ticks: int, verdict: str) -> None:
    """Ticks of 10 cycles, 10 iterations, links of 98 to 110 cycles, and a last tick that is cut
    off."""
    row = {"name": "r", "iterations": 10, "board": ticks, "simulated": 100, "links": [98, 110]}
    board_file = tmp_path / "board.json"
    board_file.write_text(json.dumps({"said": {}, "tick": 10, "rows": [row]}), encoding="utf-8")
    page = f"<!-- board: {board_file} -->\nold\n<!-- end of board -->\n"
    line = refreshed(page, blocks.BLOCKS).splitlines()[3]
    assert line == f"| r | {ticks} | 100 | 98 to 110 | {verdict} |"


def test_each_loop_outside_its_links_is_named_as_unexplained() -> None:
    page = (ROOT / "docs" / "trust.md").read_text(encoding="utf-8")
    outside = re.findall(r"^\| ([^|]+) \|[^\n]*\| outside by [0-9.]+ % \|$", page, re.MULTILINE)
    assert outside
    assert re.findall(r"^- \*\*Not explained: \*?(.+?)\*?,\*\*", page, re.MULTILINE) == outside
