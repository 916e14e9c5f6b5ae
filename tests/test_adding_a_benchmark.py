# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Adds a benchmark to a copy of the checkout by doing what docs/contributing.md says.

Needs what `make build` makes.
"""

from itertools import product
from pathlib import Path

import pytest
import scratch

from tockmark.base import paths
from tockmark.result.file import load
from tockmark.result.model import Row
from tockmark.suite.catalogue import LANGS

PAGE = paths.ROOT / "docs" / "contributing.md"


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the checkout after the page's edits, its apps built."""
    root = tmp_path_factory.mktemp("scratch")
    scratch.copy_to(root)
    edits = scratch.EDIT.findall(PAGE.read_text())
    assert {file for file, _, _ in edits} == {
        "apps/asm/loops.S",
        "apps/c/loop.c",
        "apps/rust/suite/src/bin/loop.rs",
        "apps/catalogue.toml",
    }
    for file, before, text in edits:
        scratch.edit(root, file, before, text)
    for abi in (1, 2):
        scratch.build(root, abi)
    return root


def rows(path: Path) -> list[Row]:
    """Return the rows of the new benchmark."""
    return [row for row in load(path).rows if row.id == "loop.divide"]


def test_the_new_benchmark_retires_what_the_page_says(copy: Path) -> None:
    out = copy / "result.json"
    asked = ["--only", "loop.divide", "-o", str(out)]
    said = scratch.run(copy, "tockmark", "run", "--lang", "c,rust", *asked).stdout
    assert "loop.divide" in said
    measured = rows(out)
    assert {(row.icache, row.lang) for row in measured} == set(product((True, False), LANGS))
    for row in measured:
        assert row.instructions == 3000
        assert row.net is not None
        assert row.net > 37 * 1000, "a division takes 37 cycles"


def test_the_new_benchmark_comes_onto_the_page(copy: Path) -> None:
    """By the part of `make tables` that needs no results, which are not in the copy."""
    page = copy / "docs" / "benchmarks.md"
    assert "loop.divide" not in page.read_text()
    program = (
        "import pathlib, sys\n"
        "sys.path.append('tools/pages')\n"
        "import tables\n"
        "print(tables.refreshed(pathlib.Path('docs/benchmarks.md').read_text()))\n"
    )
    (copy / "tools" / "refreshed.py").write_text(program)
    new = scratch.run(copy, "refreshed").stdout
    assert "\n- `loop.divide`: 1000 iterations of a loop that divides" in new
