# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Worktrees of the user's repository, which stays as it is whatever comes of a build."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tockmark.base import paths
from tockmark.base.errors import TockmarkError
from tockmark.tests.checkout import COPY, ELF, User, elf, user_in
from tockmark.trees.builds import Recipe, build_sides


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> User:
    return user_in(tmp_path, monkeypatch)


def refused(user: User, *revisions: str) -> str:
    with (
        pytest.raises(TockmarkError) as caught,
        build_sides(user.tree, revisions or ["HEAD"], Recipe(COPY, ELF)),
    ):
        pass
    assert "\n" not in str(caught.value)
    assert caught.value.code == 2
    return str(caught.value)


# The user's repository


def test_both_sides_are_built_and_the_users_repository_is_as_it_was(user: User) -> None:
    before = user.state()
    with build_sides(user.tree, ["HEAD~1", "main"], Recipe(COPY, ELF)) as (base, new):
        assert [path.read_bytes() for path in base.up_to(1)] == [elf(0, 4, 8)]
        assert [path.read_bytes() for path in new.up_to(1)] == [elf(0, 8, 4)]
        assert (base.commit.subject, new.commit.subject) == ("first", "second")
        assert "worktrees" in os.listdir(user.tree / ".git")  # or the test would see nothing
    assert user.state() == before
    assert not list(paths.worktrees().rglob("tree"))


def building(user: User) -> tuple[subprocess.Popen[bytes], int]:
    """A process in the midst of a build, and one that this build began."""
    begun = user.count.with_name("begun")
    command = f"sleep 1000 & echo $! >{begun}.new; mv {begun}.new {begun}; wait"
    words = ["bisect", str(user.tree), "HEAD~1", "HEAD", "--build", command, "--elf", "kernel.elf"]
    words += ["--no-patch", "--row", "time.read", "--limit", "+1"]
    script = (
        "import sys; from pathlib import Path;"
        "from tockmark.base import paths; from tockmark.cli import app;"
        f"paths.COMMITS = Path({str(paths.COMMITS)!r});"
        f"sys.argv = ['tockmark', *{words}]; app.main()"
    )
    environment = os.environ | {"PYTHONPATH": str(paths.ROOT / "tools")}
    process = subprocess.Popen(
        [sys.executable, "-c", script], env=environment, stderr=subprocess.PIPE
    )
    while not begun.exists():
        assert process.poll() is None
        time.sleep(0.05)
    return process, int(begun.read_text())


def test_it_is_as_it_was_after_control_c_and_nothing_goes_on(user: User) -> None:
    before = user.state()
    process, child = building(user)
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGINT)  # nor does a second one break off what the first began
    _, said = process.communicate()
    last = said.decode().splitlines()[-1]
    assert process.returncode == 130, said
    assert last.startswith("tockmark: interrupted while "), said
    assert user.state() == before
    assert not runs(child)


def test_what_a_killed_run_left_goes_with_the_next(user: User) -> None:
    before = user.state()
    process, child = building(user)
    process.kill()
    process.communicate()
    assert user.state() != before
    with build_sides(user.tree, ["HEAD"], Recipe(COPY, ELF)) as (side,):
        assert not runs(child)  # or it would write to the same path
        assert side.up_to(1)
    assert user.state() == before


def runs(pid: int) -> bool:
    """Whether a process does anything yet; it may be dead and not yet taken note of."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


# What is refused


def test_what_will_not_do_is_refused_in_one_line(user: User, tmp_path: Path) -> None:
    assert "'none'" in refused(user, "none")
    assert "'--all'" in refused(user, "--all")
    assert "names no commit" in refused(user, "HEAD:k0")
    (tmp_path / "bare").mkdir()
    assert "checkout" in refused(User(tmp_path / "bare", tmp_path))
    assert "is not a folder" in refused(User(tmp_path / "none", tmp_path))
    (user.tree / "sub").mkdir()
    assert "checkout" in refused(User(user.tree / "sub", tmp_path))
    (user.tree / "k0").write_bytes(b"changed")
    before = user.state()
    assert "changes" in refused(user)
    assert user.state() == before


# The line from one commit to another
