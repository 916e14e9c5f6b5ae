# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Blocks of pages contain the output of the tool."""

from dataclasses import replace
from pathlib import Path

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


def slower(row: Row) -> Row:
    """Return the row with a tenth more cycles per sample, unless it is an overhead or a control."""
    if row.cycles is None or row.is_overhead or row.is_control:
        return row
    cycles = tuple(sample * 11 // 10 for sample in row.cycles.samples)
    first, *further = row.samples
    return structs.replace(row, samples=({**first, "cycles": cycles}, *further))


def test_an_exit_code_is_shown(tmp_path: Path) -> None:
    """The results show a regression: a tenth more cycles in all rows except time.read."""
    base = ROOT / "results" / "baseline-cw310.json"
    result = file.load(base)
    rows = tuple(map(slower, result.rows))
    worse = file.text(of_another_kernel(replace(result, rows=rows)))
    (tmp_path / "worse.json").write_text(worse, encoding="utf-8")
    command = f"tockmark compare {base} {tmp_path / 'worse.json'} --limits"
    page = f"<!-- output: {command} -->\n<!-- end of output -->\n"
    assert "\nexit code 3\n```\n" in refreshed(page)
