# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verb patch, on trees that are made of the patches' own lines: nothing of Tock is needed."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PERF = ROOT / "capsules" / "perf"
FOLDERS = sorted(path.parent for path in (ROOT / "kernel-patches").glob("*/version.toml"))
NAMES = [folder.name for folder in FOLDERS]


def tockmark(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tockmark", "patch", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def files(tree: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(tree)): path.read_bytes()
        for path in sorted(tree.rglob("*"))
        if path.is_file() and ".git" not in path.relative_to(tree).parts
    }


def about(folder: Path) -> dict[str, dict[str, str]]:
    return tomllib.loads((folder / "version.toml").read_text(encoding="utf-8"))


def before(folder: Path) -> dict[str, str]:
    """Files in which the patch finds its lines, among lines that mean nothing."""
    made: dict[str, str] = {}
    name = ""
    for line in (folder / "tock.patch").read_text(encoding="utf-8").splitlines():
        if start := re.match(r"--- a/(.*)", line):
            name = start[1]
            made[name] = "// the top\n" * 7
        elif line.startswith("@@"):
            made[name] += "// between\n" * 5
        elif line.startswith((" ", "-")) and name and not line.startswith("---"):
            made[name] += line[1:] + "\n"
    return {name: text + "// the end\n" * 3 for name, text in made.items()}


@pytest.fixture(params=FOLDERS, ids=NAMES)
def folder(request: pytest.FixtureRequest) -> Path:
    found = request.param
    assert isinstance(found, Path)
    return found


@pytest.fixture
def tree(folder: Path, tmp_path: Path) -> Path:
    marker = about(folder)["marker"]
    made = before(folder)
    made[marker["file"]] = f"[package]\n{marker['line']}\n"
    for name, text in made.items():
        (tmp_path / "tock" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "tock" / name).write_text(text, encoding="utf-8")
    return tmp_path / "tock"


def refused(tree: Path, *options: str) -> str:
    """The one line that refuses, after which nothing is other than before."""
    was = files(tree)
    done = tockmark(tree, *options)
    assert done.returncode == 2
    assert files(tree) == was
    assert done.stderr.startswith("tockmark: ")
    assert done.stderr.count("\n") == 1
    return done.stderr


def test_there_are_patches_for_three_versions() -> None:
    assert NAMES == ["tock-1.x-88168754d", "tock-2.2", "tock-master-65608d717"]


def test_patch_goes_in_and_out(folder: Path, tree: Path) -> None:
    was = files(tree)
    done = tockmark(tree)
    assert done.returncode == 0, done.stderr
    now = files(tree)
    copies = about(folder)["copies"]
    assert set(now) - set(was) == set(copies)
    for name, source in copies.items():
        assert now[name] == (PERF / source).read_bytes()
        assert f"  {name}\n" in done.stdout
    changed = {name for name in was if now[name] != was[name]}
    assert changed == set(before(folder))
    board = next(now[name].decode() for name in changed if name.endswith("src/main.rs"))
    for wired in (
        "perf::DRIVER_NUM => f(Some(self.perf))",
        "ipc::DRIVER_NUM => f(Some(&self.ipc))",
    ):
        assert wired in board
    assert "None::<&kernel::ipc::IPC" not in board

    done = tockmark(tree, "--reverse")
    assert done.returncode == 0, done.stderr
    assert files(tree) == was


def test_patch_says_what_to_build_next(folder: Path, tree: Path) -> None:
    board = about(folder)["board"]
    name = str(board).rpartition("/")[2]
    said = tockmark(tree).stdout
    assert f"build {board} as Tock's own documentation says" in said
    assert "make" not in said
    assert f"--kernel {tree}/target/riscv32imc-unknown-none-elf/release/{name}.elf" in said


def test_check_changes_nothing(tree: Path) -> None:
    was = files(tree)
    assert "can be put in" in tockmark(tree, "--check").stdout
    assert "It is not patched" in tockmark(tree, "--reverse").stdout
    assert files(tree) == was
    tockmark(tree)
    now = files(tree)
    assert "can be taken out" in tockmark(tree, "--check", "--reverse").stdout
    assert files(tree) == now


def test_patched_tree_says_so(tree: Path) -> None:
    tockmark(tree)
    was = files(tree)
    done = tockmark(tree)
    assert done.returncode == 0
    assert "patched already" in done.stdout
    assert files(tree) == was


def test_tree_of_another_commit_is_taken_if_the_lines_fit(folder: Path, tree: Path) -> None:
    git = ["git", "-C", str(tree), "-c", "user.name=t", "-c", "user.email=t@example.org"]
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "a branch"]):
        subprocess.run([*git, *command], check=True)
    done = tockmark(tree)
    assert done.returncode == 0
    assert f"the patch was made for {str(about(folder)['commit'])[:9]}" in done.stdout


def test_tree_inside_another_repository_is_patched_itself(tree: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tree.parent)], check=True)
    was = files(tree)
    assert tockmark(tree).returncode == 0
    assert files(tree) != was


@pytest.mark.parametrize("which", [0, -1], ids=["first", "last"])
def test_one_hunk_that_does_not_fit_leaves_all_as_it_was(
    folder: Path, tree: Path, which: int
) -> None:
    name = list(before(folder))[which]
    text = (tree / name).read_text(encoding="utf-8")
    hunk = (folder / "tock.patch").read_text(encoding="utf-8").split(f"+++ b/{name}\n")[1]
    line = next(line[1:] for line in hunk.splitlines() if line[0] == " " and line.strip())
    (tree / name).write_text(text.replace(f"{line}\n", "other\n", 1), encoding="utf-8")
    assert f"does not fit {tree}: patch failed: {name}:" in refused(tree)


def test_capsule_of_that_name_is_not_overwritten(folder: Path, tree: Path) -> None:
    name = next(iter(about(folder)["copies"]))
    (tree / name).write_text("// someone's own\n", encoding="utf-8")
    assert "already exists" in refused(tree)


def test_capsule_that_was_changed_is_not_removed(folder: Path, tree: Path) -> None:
    tockmark(tree)
    name = next(iter(about(folder)["copies"]))
    with (tree / name).open("a", encoding="utf-8") as file:
        file.write("// changed\n")
    assert "changed since then" in refused(tree, "--reverse")


def test_other_trees_are_refused(tmp_path: Path) -> None:
    (tmp_path / "Cargo.toml").write_text('version = "0.2.0"\n', encoding="utf-8")
    said = refused(tmp_path)
    assert "no version of Tock" in said
    for version in ("88168754d", "9554639b1", "65608d717"):
        assert version in said
    assert "is not a folder" in tockmark(tmp_path / "nothing").stderr
