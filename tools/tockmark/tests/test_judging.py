# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The files of margins and limits in docs/reading-results.md work."""

import re
from pathlib import Path

from tockmark.base.paths import ROOT
from tockmark.compare.limits import load_limits, load_margins
from tockmark.suite.catalogue import load
from tockmark.tests.of_samples import made, steady

PAGE = (ROOT / "docs" / "reading-results.md").read_text(encoding="utf-8")
FILES = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)


def test_the_margins_in_the_page_work(tmp_path: Path) -> None:
    (tmp_path / "m.toml").write_text(FILES[0])
    chosen = load_margins(str(tmp_path / "m.toml"), load())
    rows = {"mem.copy_asm size=64": steady(9), "call.args n=1": steady(9), "a.x": steady(9)}
    every = made(load(), rows, icache=(True,)).rows
    rows_made = [row for row in every if not row.is_overhead]
    assert [chosen.of_row(row, True) for row in rows_made] == [0.02, 0.25, 0.01]


def test_the_limits_in_the_page_extend_the_defaults(tmp_path: Path) -> None:
    (tmp_path / "l.toml").write_text(FILES[1])
    limits, default = load_limits(tmp_path / "l.toml", load()), load_limits(None, load())
    more = {series: limits[1:] for series, limits in limits.items()}
    assert {series: limits[:1] for series, limits in limits.items()} == default
    terms = {meant.terms for limits in more.values() for meant, _ in limits}
    assert terms == {("ipc",), ("syscall.sbrk icache=off",)}
