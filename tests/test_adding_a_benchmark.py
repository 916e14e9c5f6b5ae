# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Adding a benchmark to a copy of the checkout, with the edits and commands of
docs/contributing.md: it is measured, listed, and leaves `make check` green.

Needs the products of `make build`.
"""

import re
import shutil
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest
import scratch

from tockmark.base import paths
from tockmark.result.file import load
from tockmark.result.model import Row
from tockmark.suite.catalogue import LANGS

PAGE = paths.ROOT / "docs" / "contributing.md"
SECTION = PAGE.read_text().partition("\n## Add a benchmark\n")[2].partition("\n## ")[0]
# Files that `make check` and `make tables` also read.
CHECKED = ("conftest.py", "lab", "pyproject.toml", "results", "tests", "README.md", "CHANGELOG.md")


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the checkout after the page's edits, with its apps built and its pages made."""
    root = tmp_path_factory.mktemp("scratch")
    scratch.copy_to(root)
    for name in CHECKED:
        source = paths.ROOT / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, root / name)
    edits = scratch.EDIT.findall(SECTION)
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
    assert "\nmake tables\n" in SECTION
    own_python(root, "tools/pages")
    return root


def own_python(root: Path, *arguments: str) -> None:
    """Run Python with the modules of a copy."""
    environment = scratch.environment(root)
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=root,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


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


def test_the_new_benchmark_appears_in_the_files_that_the_page_names(copy: Path) -> None:
    assert "\n| `loop.divide` | 1000 iterations of a loop that divides" in (
        copy / "docs" / "benchmarks.md"
    ).read_text(encoding="utf-8")
    assert "tm_loop_divide" in (copy / "tools/tockmark/site/bodies.txt").read_text(encoding="utf-8")


def test_checks_that_read_the_catalogue_pass_without_a_result_of_the_new_row(copy: Path) -> None:
    """Without linters and tests that cannot see the new benchmark."""
    tests = (copy / "tools" / "tockmark" / "tests").glob("test_*.py")
    reading = [path for path in tests if re.search(r"\bload\(\)|catalogues?\.", path.read_text())]
    assert len(reading) > 20
    own_python(
        copy,
        *("-m", "pytest", "-n0", "-m", "not whole", "--hypothesis-profile=quick"),
        *("tests/test_definitions.py", "tests/test_goldens.py", *map(str, reading)),
    )


def test_the_page_names_files_that_exist() -> None:
    """Also the files of bodies for Cortex-M, libtock-c and libtock-rs."""
    named = [paths.ROOT / name for name in re.findall(r"`((?:apps|tests)/[^` ]+)`", SECTION)]
    assert {"thumb", "libtock_bodies.c", "libtock_rs.rs"} <= {path.name for path in named}
    assert [path for path in named if not path.exists()] == []
