# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What a page shows is what the tool prints: blocks are filled, and nothing else is run."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs

from tables import refreshed
from tockmark.result import file
from tockmark.result.model import Row
from tockmark.tests.rows import of_another_kernel

ROOT = Path(__file__).parents[1]


def test_a_block_shows_the_command_and_its_output() -> None:
    page = "a\n<!-- output: tockmark --version -->\nold\n<!-- end of output -->\nb\n"
    new = refreshed(page)
    assert new.startswith(
        "a\n<!-- output: tockmark --version -->\n```text\n$ .venv/bin/tockmark --version\n"
    )
    assert new.endswith("\n```\n<!-- end of output -->\nb\n")
    assert "old" not in new
    assert refreshed(new) == new


def test_a_list_shows_the_benchmarks_of_its_section() -> None:
    page = "a\n<!-- benchmarks: Memory latencies -->\nold\n<!-- end of benchmarks -->\nb\n"
    new = refreshed(page)
    assert "\n- `mem.latency` (stride 16, 32, 64): a walk along a linked list" in new
    assert "*Counted:* 2 instructions a node" in new
    assert new.endswith(".\n<!-- end of benchmarks -->\nb\n")
    assert "old" not in new
    assert refreshed(new) == new
    with pytest.raises(SystemExit, match="has no section 'Memories'"):
        refreshed(page.replace("Memory latencies", "Memories"))


def test_what_others_add_is_shown(tmp_path: Path) -> None:
    """A tenth more cycles of the calls in the file `more`, and one row that only the first has."""
    base = ROOT / "results" / "rust" / "assembly.json"
    result = file.load(base)
    rows = tuple(slower(row) for row in result.rows if row.id != "syscall.brk")
    (tmp_path / "more.json").write_text(file.text(replace(result, rows=rows)), encoding="utf-8")
    page = f"<!-- added: {base} {tmp_path / 'more.json'} -->\nold\n<!-- end of added -->\n"
    lines = refreshed(page).splitlines()
    assert lines[1].startswith("| | instructions: assembly | more | cycles, cache on: assembly |")
    command = next(line for line in lines if line.startswith("| `syscall.command` |"))
    _, _, instructions, same, cycles, more, *_ = command.split("|")
    whole = next(row for row in result.rows if row.id == "syscall.command" and row.icache)
    assert whole.cycles is not None
    assert whole.net is not None
    assert float(instructions) == whole.instructions
    assert float(same) == 0
    assert float(cycles) == whole.net
    assert float(more) > whole.net / 10  # the net is less the reading, which is as it was
    assert not any("syscall.brk" in line for line in lines)
    assert refreshed("\n".join(lines) + "\n") == "\n".join(lines) + "\n"


def slower(row: Row) -> Row:
    """With a tenth more cycles in each sample, unless it is what readings cost, or a control."""
    if row.cycles is None or row.is_overhead or row.is_control:
        return row
    cycles = tuple(sample * 11 // 10 for sample in row.cycles.samples)
    first, *further = row.samples
    return structs.replace(row, samples=({**first, "cycles": cycles}, *further))


def test_an_exit_code_is_shown(tmp_path: Path) -> None:
    """A made regression: every sample but those of time.read is a tenth more."""
    base = ROOT / "results" / "baseline-cw310.json"
    result = file.load(base)
    rows = tuple(map(slower, result.rows))
    worse = file.text(of_another_kernel(replace(result, rows=rows)))
    (tmp_path / "worse.json").write_text(worse, encoding="utf-8")
    command = f"tockmark ci gate {base} {tmp_path / 'worse.json'}"
    page = f"<!-- output: {command} -->\n<!-- end of output -->\n"
    assert "\nexit code 3\n```\n" in refreshed(page)


@pytest.mark.parametrize("command", ["ls", "tockmark table results/none.json"])
def test_other_commands_and_errors_are_refused(command: str) -> None:
    with pytest.raises(SystemExit, match=r"is not a command of tockmark|shows nothing"):
        refreshed(f"<!-- output: {command} -->\n<!-- end of output -->\n")


@pytest.mark.parametrize(
    ("ticks", "verdict"),
    [
        (100, "equal"),
        (101, "a tick apart"),
        (97, "within"),
        (111, "within"),
        (121, "outside by 9.0 %"),
    ],
)
def test_a_board_is_held_against_all_links(tmp_path: Path, ticks: int, verdict: str) -> None:
    """Ticks of 10 cycles, 10 iterations; links of 98 to 110 cycles, and a tick that is cut off."""
    row = {"name": "r", "iterations": 10, "board": ticks, "simulated": 100, "links": [98, 110]}
    held = tmp_path / "board.json"
    held.write_text(json.dumps({"said": {}, "tick": 10, "rows": [row]}), encoding="utf-8")
    page = f"<!-- board: {held} -->\nold\n<!-- end of board -->\n"
    line = refreshed(page).splitlines()[3]
    assert line == f"| r | {ticks} | 100 | 98 to 110 | {verdict} |"


def test_each_loop_that_lies_outside_of_its_links_is_named_as_not_explained() -> None:
    page = (ROOT / "docs" / "trust.md").read_text(encoding="utf-8")
    outside = re.findall(r"^\| ([^|]+) \|[^\n]*\| outside by [0-9.]+ % \|$", page, re.MULTILINE)
    assert outside
    assert re.findall(r"^- \*\*Not explained: \*?(.+?)\*?,\*\*", page, re.MULTILINE) == outside
