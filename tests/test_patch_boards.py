# SPDX-License-Identifier: Apache-2.0 OR MIT
"""`tockmark patch` on boards without Earl Grey: CycleCount is applied, and removed byte for byte.

If TOCKMARK_TOCK names a checkout of Tock 2.2 or later, copies of its boards are also tested."""

import os
import shutil
from pathlib import Path

import pytest
from test_patch import contents, refused, tockmark

from tockmark.tests.trees import OTHERS, make, make_other
from tockmark.trees.patch import Family, remove_patch

TOCK = os.environ.get("TOCKMARK_TOCK", "")


@pytest.fixture(params=OTHERS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def family(name: str) -> Family:
    return OTHERS[name]


def check_patch_and_removal(tree: Path, name: str, *counter: str) -> None:
    family, was = OTHERS[name], contents(tree)
    done = tockmark(tree, "--board", name, *counter)
    assert done.returncode == 0, done.stderr
    assert f"CycleCount wired into {family.board}.\n" in done.stdout
    assert family.cyclecount
    for edit in family.cyclecount.edits:
        assert (tree / edit.file).read_text(encoding="utf-8").count(edit.put) == 1
    assert "patched already" in tockmark(tree, "--board", name).stdout
    assert tockmark(tree, "--board", name, "--reverse").returncode == 0
    assert contents(tree) == was


@pytest.mark.parametrize("counter", [[], ["--counter", "cyclecount"]])
def test_cyclecount_can_be_applied_and_removed(
    name: str, counter: list[str], tmp_path: Path
) -> None:
    check_patch_and_removal(make_other(tmp_path, name), name, *counter)


@pytest.mark.skipif(not TOCK, reason="TOCKMARK_TOCK names no checkout of Tock")
def test_tocks_own_board_can_be_patched(name: str, family: Family, tmp_path: Path) -> None:
    for file in (*family.needs, f"{family.board}/src/main.rs"):
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(Path(TOCK) / file, tmp_path / file)
    remove_patch(tmp_path, board=name)
    check_patch_and_removal(tmp_path, name)


def test_earl_grey_is_patched_by_default(name: str, tmp_path: Path) -> None:
    tree = make_other(tmp_path / "tock", name)
    assert "is not a Tock checkout" in refused(tree)
    (other,) = OTHERS.keys() - {name}
    assert "folder" in refused(tree, "--board", other)
    error = refused(tree, "--board", "hail")
    assert f"earlgrey-cw310, earlgrey-nexysvideo, {', '.join(sorted(OTHERS))}" in error
    assert "--counter" in refused(tree, "--board", name, "--counter", "perf")
    # Both boards in one tree, each with its own counter.
    make(tree, "earlgrey-cw310")
    was = contents(tree)
    tockmark(tree)
    check_patch_and_removal(tree, name)
    remove_patch(tree)
    assert contents(tree) == was
