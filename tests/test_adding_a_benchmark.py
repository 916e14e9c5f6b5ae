# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Adds a benchmark to a copy of the checkout by doing what docs/adding-a-benchmark.md says.

Needs what `make build` makes.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tockmark import paths
from tockmark.result.file import load

PAGE = paths.ROOT / "docs" / "adding-a-benchmark.md"
EDIT = re.compile(
    r"^(?:Append to|In) `([^`]+)`(?:, before `([^\n]+)`)?:\n\n```\w+\n(.*?)^```$", re.M | re.S
)
COPIED = ("apps", "boards", "docs", "tools")
BUILT = (".tools", "build/sim", "build/cargo")


def edit(root: Path, file: str, before: str, text: str) -> None:
    """Put text at the end of a file, or before the one line that is `before`."""
    path = root / file
    lines = path.read_text().splitlines(keepends=True)
    at = lines.index(f"{before}\n") if before else len(lines)
    assert not before or lines.count(f"{before}\n") == 1, f"{file} has more lines '{before}'"
    path.write_text("".join([*lines[:at], text, *lines[at:]]))


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the checkout after the page's edits, its apps built."""
    root = tmp_path_factory.mktemp("scratch")
    ignored = shutil.ignore_patterns("__pycache__", "model", "rtl")
    for name in COPIED:
        shutil.copytree(paths.ROOT / name, root / name, ignore=ignored)
    (root / "build").mkdir()
    for name in BUILT:
        (root / name).symlink_to(paths.ROOT / name)
    edits = EDIT.findall(PAGE.read_text())
    assert {file for file, _, _ in edits} == {
        "apps/asm/loops.S",
        "apps/c/loop.c",
        "apps/catalogue.toml",
    }
    for file, before, text in edits:
        edit(root, file, before, text)
    for abi in (1, 2):  # as `make apps` does
        make = ["make", "-s", "-f", "apps/build.mk", f"OUT=build/apps/c-abi{abi}", f"ABI={abi}"]
        subprocess.run(make, cwd=root, check=True)
    return root


def run(root: Path, *command: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(root / "tools")}
    done = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=root,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def figures(path: Path) -> list[tuple[bool | None, float | None, float | None]]:
    """Of each row of the new benchmark: whether the cache is on, net instructions, net cycles."""
    rows = [row for row in load(path).rows if row.id == "loop.divide"]
    return [(row.icache, row.instructions, row.net) for row in rows]


def test_the_new_benchmark_retires_what_the_page_says(scratch: Path) -> None:
    out = scratch / "result.json"
    said = run(scratch, "tockmark", "run", "--only", "loop.divide", "-o", str(out)).stdout
    assert "loop.divide" in said
    measured = figures(out)
    assert [icache for icache, _, _ in measured] == [True, False]
    for _, instructions, cycles in measured:
        assert instructions == 3000
        assert cycles is not None
        assert cycles > 37 * 1000, "a division takes 37 cycles"


def test_the_new_benchmark_comes_onto_the_page(scratch: Path) -> None:
    """By the part of `make tables` that needs no results, which are not in the copy."""
    page = scratch / "docs" / "benchmarks.md"
    assert "loop.divide" not in page.read_text()
    program = (
        "import pathlib, runpy\n"
        "tables = runpy.run_path('tools/refresh_tables.py')\n"
        "print(tables['refreshed'](pathlib.Path('docs/benchmarks.md').read_text()))\n"
    )
    (scratch / "tools" / "refreshed.py").write_text(program)
    new = run(scratch, "refreshed").stdout
    assert "\n- `loop.divide`: 1000 iterations of a loop that divides" in new
