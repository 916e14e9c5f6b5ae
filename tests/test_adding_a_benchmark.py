# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Adding a benchmark to a copy of the checkout, with the edits of docs/contributing.md.

Needs the products of `make build`.
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
    """A copy of the checkout after the page's edits, with its apps built."""
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


def test_the_new_benchmark_retires_the_instructions_of_the_page(copy: Path) -> None:
    out = copy / "result.json"
    options = ["--only", "loop.divide", "-o", str(out)]
    output = scratch.run(copy, "tockmark", "run", "--lang", "c,rust", *options).stdout
    assert "loop.divide" in output
    measured = rows(out)
    assert {(row.icache, row.lang) for row in measured} == set(product((True, False), LANGS))
    for row in measured:
        if not row.icache:  # with it on, a count may be off by one (docs/method.md)
            assert row.instructions == 3000
        assert row.net is not None
        assert row.net > 37 * 1000, "a division takes 37 cycles"


def test_the_new_benchmark_appears_in_the_list_of_benchmarks(copy: Path) -> None:
    """Run only the part of `make tables` that needs no results: the copy has none."""
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
    assert "\n| `loop.divide` | 1000 iterations of a loop that divides" in new
