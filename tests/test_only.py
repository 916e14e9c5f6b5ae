# SPDX-License-Identifier: Apache-2.0 OR MIT
"""`--only` runs a benchmark, not its group, and what it gives is what the whole group gives."""

import re
from pathlib import Path

import pytest
import scratch

from tockmark import paths
from tockmark.result import file
from tockmark.result.model import Result

ROWS = "call.void,upcall.yield_wait"


def run(out: Path, only: str, *more: str) -> Result:
    scratch.run(
        paths.ROOT, "tockmark", "run", "--only", only, "--icache", "off", "-o", out, *more, code=0
    )
    return file.load(out)


@pytest.mark.parametrize("lang", ["c", "rust"])
def test_a_row_alone_is_as_it_is_in_its_group(tmp_path: Path, lang: str) -> None:
    alone = run(tmp_path / "alone.json", ROWS, "--lang", lang)
    whole = run(tmp_path / "whole.json", "call,upcall", "--lang", lang)
    for row in alone.rows:
        there = next(one for one in whole.rows if (one.key, one.boot) == (row.key, row.boot))
        assert (row.cycles, row.instret) == (there.cycles, there.instret), row.label
    said = re.findall(r"\bbench (\S+)", (tmp_path / "alone.log").read_text())
    own = {"time.read", "null.sample"}
    assert set(said) - own == set(ROWS.split(","))
    assert own <= set(said)
    again = tmp_path / "again.json"
    scratch.run(
        paths.ROOT, "tockmark", "board", "parse", tmp_path / "alone.log", "-o", again, code=0
    )
    of = {row.identity: row.cycles for row in file.load(again).rows}
    assert of == {row.identity: row.cycles for row in alone.rows}
    cycles = [sum(boot.cycles["off"] for boot in r.provenance.boots) for r in (alone, whole)]
    assert cycles[0] < cycles[1] / 2
