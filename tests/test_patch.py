# SPDX-License-Identifier: Apache-2.0 OR MIT
"""`tockmark patch` on small trees (tools/tockmark/tests/trees.py)."""

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from unittest import mock

import pytest

from tockmark.base.errors import TockmarkError
from tockmark.cli import app, checkout
from tockmark.tests.trees import KNOWN, NO_IPC, change, make, write
from tockmark.trees.patch import Edit, Family, apply_patch, remove_patch

ROOT = Path(__file__).parents[1]
PERF = ROOT / "capsules" / "perf"


def tockmark(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Call the tool in this process, since most of a call would be its imports."""
    command = ["tockmark", "patch", *map(str, arguments)]
    out, err, code = io.StringIO(), io.StringIO(), 0
    with (
        mock.patch.object(sys, "argv", command),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            app.main()
        except SystemExit as ended:
            code = int(ended.code or 0)
    return subprocess.CompletedProcess(command, code, out.getvalue(), err.getvalue())


def contents(tree: Path) -> dict[str, tuple[bytes, int]]:
    """Return every file's content and mode."""
    return {
        str(path.relative_to(tree)): (path.read_bytes(), path.stat().st_mode)
        for path in sorted(tree.rglob("*"))
        if path.is_file() and ".git" not in path.relative_to(tree).parts
    }


@pytest.fixture(params=KNOWN)
def board_name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def family(board_name: str) -> Family:
    return KNOWN[board_name]


@pytest.fixture
def tree(board_name: str, tmp_path: Path) -> Path:
    return make(tmp_path / "my tock", board_name)


def whole(tree: Path, board: str) -> Path:
    """Return a tree with all parts that the board's family supports."""
    make(tree, board)
    if KNOWN[board].cyclecount:
        write(tree / "chips/earlgrey/src/lib.rs", "pub mod chip;\n")
    if part := KNOWN[board].ipc2:
        write(tree / part.needs, "// it is there\n")
    return tree


@pytest.fixture
def main(family: Family, tree: Path) -> Path:
    return tree / family.board / "src" / "main.rs"


def refused(tree: Path, *options: str) -> str:
    """Return the one-line error; check that nothing changed."""
    was = contents(tree)
    done = tockmark(tree, *options)
    assert done.returncode == 2, done.stdout
    assert contents(tree) == was
    assert done.stderr.startswith("tockmark: ")
    assert done.stderr.count("\n") == 1
    return done.stderr


def test_a_patch_can_be_applied_and_removed(family: Family, tree: Path, main: Path) -> None:
    main.chmod(0o750)
    was = contents(tree)
    done = tockmark(tree)
    assert done.returncode == 0, done.stderr
    assert f"Perf and IPC wired into {family.board}" in done.stdout
    now = contents(tree)
    assert set(now) - set(was) == set(family.required_part.copies)
    for name, text in family.required_part.texts.items():
        assert now[name][0] == text.encode()
        assert f"  {name}\n" in done.stdout
    edits = (*family.required_part.edits, *family.parts["IPC"].edits)
    assert {name for name in was if now[name] != was[name]} == {edit.file for edit in edits}
    for edit in edits:
        assert now[edit.file][0].decode().count(edit.put) == 1
    assert NO_IPC[Path(family.board).name] not in main.read_text()
    assert main.stat().st_mode & 0o777 == 0o750

    done = tockmark(tree, "--reverse")
    assert done.returncode == 0, done.stderr
    assert contents(tree) == was
    assert not (tree / next(iter(family.required_part.copies))).with_suffix("").exists()


def test_cyclecount_is_applied_on_request_with_or_without_perf(tmp_path: Path) -> None:
    """A patch without the option removes it. A family that has no CycleCount reports an error."""
    family = KNOWN["earlgrey-cw310"]
    tree = make(tmp_path / "tock", "earlgrey-cw310")
    (tree / "chips/earlgrey/src/lib.rs").write_text("pub mod chip;\n")
    was = contents(tree)
    assert family.cyclecount is not None
    for given in ("cyclecount", "perf,cyclecount", "perf", "cyclecount"):
        done = tockmark(tree, "--counter", given)
        assert done.returncode == 0, done.stderr
        now = contents(tree)
        for name, part in family.counters.items():
            there = name.lower() in given.split(",")
            for edit in part.edits:
                assert now[edit.file][0].decode().count(edit.put) == there
            assert all((copy in now) == there for copy in part.copies)
        assert (
            family.parts["IPC"].edits[0].put.encode() in now[family.parts["IPC"].edits[0].file][0]
        )
    assert "CycleCount and IPC" in done.stdout
    assert tockmark(tree, "--reverse").returncode == 0
    assert contents(tree) == was
    old = make(tmp_path / "old", "earlgrey-nexysvideo")
    assert "does not support CycleCount" in refused(old, "--counter", "cyclecount")
    assert "'clock'" in refused(tree, "--counter", "clock")


def test_the_patch_copies_our_capsules(family: Family) -> None:
    sources = {path.read_text() for path in PERF.rglob("*.rs")}
    assert set(family.required_part.texts.values()) <= sources


def test_patch_prints_the_next_steps(family: Family, tree: Path) -> None:
    output = tockmark(tree).stdout
    assert f"build {family.board}" in output.lower()
    assert "make" not in output
    words = shlex.split(output.splitlines()[-1])
    name = f"{Path(family.board).name}.elf"
    elf = tree / "target" / "riscv32imc-unknown-none-elf" / "release" / name
    assert words == ["tockmark", "run", *family.run, "--kernel", str(elf)]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("pub mod io;", "mod io;"),
        ("    led: Led,", "    /// A light.\n    led: Led,\n    more: More,"),
        ("            _ => ", "            a::NUM => f(Some(self.a)),\n            _ => "),
        ("            _ => f(None),", "                _ => f(None), // no such driver"),
        ("            led,\n", "            more,\n"),
        ("struct ", "pub struct "),
    ],
)
def test_changes_around_an_anchor_do_not_matter(tree: Path, main: Path, old: str, new: str) -> None:
    change(main, old, new)
    was = contents(tree)
    assert "Perf and IPC" in tockmark(tree).stdout
    assert tockmark(tree, "--reverse").returncode == 0
    assert contents(tree) == was


EDITS = [
    pytest.param(board, edit, id=f"{board}-{name}-{number}")
    for board, family in KNOWN.items()
    for name, part in family.parts.items()
    for number, edit in enumerate(part.edits)
]


def place(edit: Edit) -> str:
    """Return an anchor without its negative look-ahead."""
    return edit.anchor.partition("(?!")[0]


@pytest.mark.parametrize(("board", "edit"), EDITS)
def test_a_missing_anchor_excludes_the_part_or_refuses_the_patch(
    board: str, edit: Edit, tmp_path: Path
) -> None:
    tree = whole(tmp_path / "tock", board)
    path = tree / edit.file
    pattern = re.escape(edit.instead) if edit.instead else place(edit)
    path.write_text(re.sub(pattern, "// gone", path.read_text()), encoding="utf-8")
    was = contents(tree)
    counters = KNOWN[board].counters
    if place(edit) in (place(other) for part in counters.values() for other in part.edits):
        with pytest.raises(TockmarkError, match=f"does not fit .* {edit.file} has no places like"):
            apply_patch(tree, counters=list(counters))
    else:
        done = apply_patch(tree, counters=list(counters))
        assert done.changed
        assert f"{edit.file} has no places like" in done.left_out["IPC"]
        assert all(
            put.put not in (tree / put.file).read_text() for put in KNOWN[board].parts["IPC"].edits
        )
        remove_patch(tree)
    assert contents(tree) == was


def test_ipc_can_be_applied_after_perf(family: Family, tree: Path, main: Path) -> None:
    none = NO_IPC[Path(family.board).name]
    whole = contents(tree)
    change(main, none, "None")
    was = contents(tree)
    output = tockmark(tree).stdout
    assert "Perf wired" in output
    assert none in output
    assert checkout.NEED_IPC in output
    assert "patched already" in tockmark(tree).stdout
    change(main, "None, &main_loop_cap", f"{none}, &main_loop_cap")
    assert "Perf and IPC" in tockmark(tree).stdout
    tockmark(tree, "--reverse")
    assert contents(tree) == whole != was


def test_the_new_ipc_is_wired_if_its_capsules_exist(tmp_path: Path) -> None:
    board, family = next(item for item in KNOWN.items() if item[1].ipc2)
    tree = make(tmp_path / "tock", board)
    bare = contents(tree)
    assert "new IPC" not in tockmark(tree).stdout
    first = contents(tree)

    assert family.ipc2
    write(tree / family.ipc2.needs, "// it is there\n")
    output = tockmark(tree, "--check").stdout
    assert "Perf, IPC and the new IPC" in output
    assert "Perf, IPC and the new IPC" in tockmark(tree).stdout
    for edit in (*family.required_part.edits, *family.parts["IPC"].edits, *family.ipc2.edits):
        assert (tree / edit.file).read_text(encoding="utf-8").count(edit.put) == 1
    assert "patched already" in tockmark(tree).stdout

    # A later checkout of a commit without the capsules.
    (tree / family.ipc2.needs).unlink()
    for folder in (tree / family.ipc2.needs).parents[:3]:
        folder.rmdir()
    assert "Perf and IPC" in tockmark(tree).stdout
    assert contents(tree) == first
    tockmark(tree, "--reverse")
    assert contents(tree) == bare


def test_a_changed_capsule_is_not_removed(family: Family, tree: Path) -> None:
    tockmark(tree)
    name = next(iter(family.required_part.copies))
    with (tree / name).open("a", encoding="utf-8") as file:
        file.write("// changed\n")
    assert f"then changed: {name}" in refused(tree, "--reverse")
    assert f"then changed: {name}" in refused(tree)


@pytest.mark.parametrize(("board", "edit"), EDITS)
def test_a_changed_line_is_not_removed(board: str, edit: Edit, tmp_path: Path) -> None:
    tree = whole(tmp_path / "tock", board)
    apply_patch(tree, counters=list(KNOWN[board].counters))
    change(tree / edit.file, edit.put, edit.put.replace(edit.put.split()[0], "/**/", 1))
    was = contents(tree)
    with pytest.raises(TockmarkError, match="patched and then changed"):
        remove_patch(tree)
    assert contents(tree) == was


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("reverse", [False, True])
def test_an_interrupted_patch_leaves_the_tree_unchanged(
    tree: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException, reverse: bool
) -> None:
    if reverse:
        apply_patch(tree)
    was = contents(tree)
    real: Callable[[Path, Path], None] = os.replace
    calls = []

    def failing(source: Path, target: Path) -> None:
        calls.append(target)
        if len(calls) == 2:
            raise error
        real(source, target)

    monkeypatch.setattr(os, "replace", failing)
    with pytest.raises(TockmarkError if isinstance(error, OSError) else KeyboardInterrupt):
        (remove_patch if reverse else apply_patch)(tree)
    assert contents(tree) == was


@pytest.mark.parametrize("board", ["opentitan", "earlgrey-nexysvideo", "opentitan/earlgrey-cw310"])
def test_an_unknown_board_is_named(board: str, tmp_path: Path) -> None:
    write(tmp_path / "kernel" / "src" / "callback.rs", "")
    write(tmp_path / "chips" / "nano" / "Cargo.toml", "")
    write(tmp_path / "boards" / "nano" / "Cargo.toml", "")
    write(tmp_path / "boards" / board / "Cargo.toml", "")
    if board == "earlgrey-nexysvideo":
        (tmp_path / "kernel" / "src" / "callback.rs").rename(tmp_path / "kernel/src/upcall.rs")
    assert f"boards/{board} is unknown" in refused(tmp_path)
