# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The sample of commits that take the patch: it is reproducible, and the page has its figures."""

import subprocess
import sys
from pathlib import Path

import pytest

from tockmark.base import paths
from tockmark.tests.trees import change, make
from tockmark_lab.folders import DATA

RESULT = DATA / "patch-sample.tsv"


def git(tree: Path, *command: str) -> str:
    who = ("-c", "user.name=t", "-c", "user.email=t@example.org")
    return subprocess.check_output(["git", "-C", str(tree), *who, *command], text=True)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Make three commits: the patch fits one; one has no IPC; one has no driver table."""
    tree = make(tmp_path / "tock", "earlgrey-cw310")
    main = tree / "boards" / "opentitan" / "earlgrey-cw310" / "src" / "main.rs"
    make(tree, "earlgrey-nexysvideo")  # its folders, as the script expects them
    (tree / "boards" / "earlgrey-nexysvideo" / "Cargo.toml").unlink()
    (tree / "Cargo.toml").write_text("[workspace]\n", encoding="utf-8")
    git(tree, "init", "-q")
    for old, new in (("", ""), ("None::<&kernel::ipc::IPC<0>>, ", ""), ("_ => f(None)", "")):
        change(main, old, new)
        git(tree, "add", "-A")
        git(tree, "commit", "-q", "--allow-empty", "-m", "one")
    return tree


def sample(tree: Path, *options: str) -> str:
    command = [
        sys.executable,
        str(Path(__file__).with_name("patch_sample.py")),
        str(tree),
        *options,
    ]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_the_share_is_reported_by_cause(tree: Path, tmp_path: Path) -> None:
    was = git(tree, "status", "--porcelain")
    output = tmp_path / "sample.tsv"
    lines = sample(tree, "--count", "3", "-o", str(output)).splitlines()
    assert lines[0].startswith("3 of 3 commits, ")
    main = "boards/opentitan/earlgrey-cw310/src/main.rs"
    assert sorted(line.split(": ", 1)[0].strip() for line in lines[1:]) == [
        "1 take Perf",
        "1 take Perf, IPC",
        "1 take nothing",
    ]
    assert f"1 take Perf: {main} has no places like" in "\n".join(lines)
    assert f"the patch does not fit TREE: {main} has no places like" in "\n".join(lines)
    commits = git(tree, "log", "--format=%h").split()
    rows = [line.split("\t") for line in output.read_text(encoding="utf-8").splitlines()[1:]]
    assert [row[2] for row in rows] == ["nothing", "Perf", "Perf, IPC"]
    assert all(row[0].startswith(commit) for row, commit in zip(rows, commits, strict=True))
    assert git(tree, "status", "--porcelain") == was


def test_a_seed_draws_the_same_sample_again(tree: Path) -> None:
    drawn = {seed: sample(tree, "--count", "1", "--seed", str(seed)) for seed in range(8)}
    assert sample(tree, "--count", "1", "--seed", "7") == drawn[7]
    assert len(set(drawn.values())) > 1


def test_the_page_has_the_figures_of_the_sample() -> None:
    rows = [line.split("\t") for line in RESULT.read_text(encoding="utf-8").splitlines()[1:]]
    page = (paths.ROOT / "docs" / "measure-your-change.md").read_text(encoding="utf-8")
    prose = " ".join(page.split())
    whole = sum(row[2] == "Perf, IPC" for row in rows)
    assert whole == len(rows)
    assert f"**The patch applies to all {whole}** mainline commits that we drew" in prose
    assert f"from {rows[-1][1]} to {rows[0][1]}" in prose
