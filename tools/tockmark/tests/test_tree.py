# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Worktrees of the user's repository, which every build leaves unchanged."""

import errno
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


def test_building_both_sides_leaves_the_repository_unchanged(user: User) -> None:
    before = user.state()
    with build_sides(user.tree, ["HEAD~1", "main"], Recipe(COPY, ELF)) as (base, new):
        assert [path.read_bytes() for path in base.up_to(1)] == [elf(0, 4, 8)]
        assert [path.read_bytes() for path in new.up_to(1)] == [elf(0, 8, 4)]
        assert (base.commit.subject, new.commit.subject) == ("first", "second")
        assert "worktrees" in os.listdir(user.tree / ".git")  # otherwise the test proves nothing
    assert user.state() == before
    assert not list(paths.user_folder("cache").rglob("tree"))


def building(user: User) -> tuple[subprocess.Popen[bytes], int]:
    """A process that is building, and its child process."""
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


def test_ctrl_c_leaves_the_repository_unchanged_and_no_process(user: User) -> None:
    before = user.state()
    process, child = building(user)
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGINT)  # a second Ctrl-C must not interrupt the clean-up
    _, error = process.communicate()
    last = error.decode().splitlines()[-1]
    assert process.returncode == 130, error
    assert last.startswith("tockmark: interrupted while "), error
    assert user.state() == before
    assert not runs(child)


def test_the_next_run_removes_what_a_killed_run_left(user: User) -> None:
    before = user.state()
    process, child = building(user)
    process.kill()
    process.communicate()
    assert user.state() != before
    with build_sides(user.tree, ["HEAD"], Recipe(COPY, ELF)) as (side,):
        assert not runs(child)  # it could write to the same path
        assert side.up_to(1)
    assert user.state() == before


def runs(pid: int) -> bool:
    """Return whether a process is running, not just a zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


# What is refused


def test_unusable_repositories_are_refused_in_one_line(user: User, tmp_path: Path) -> None:
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


# The commits between two commits


@pytest.mark.parametrize("name", ["x", "a=b.c"])
def test_filter_drivers_of_the_checkout_do_not_run(name: str, user: User, tmp_path: Path) -> None:
    """They are in a file that the configuration includes for worktrees only, or in both."""
    user.commit("attributes", **{".gitattributes": f"* filter={name}\n".encode()})
    for config in (user.tree / ".git" / "config", tmp_path / "included"):
        for key in ("clean", "smudge", "process"):
            words = [f"filter.{name}.{key}", f"tee -a {tmp_path}/ran"]
            subprocess.run(["git", "config", "--file", config, *words], check=True)
    user.git("config", "includeIf.gitdir:**/worktrees/**.path", str(tmp_path / "included"))
    os.utime(user.tree / "k0", (0, 0))
    user.git("config", "--remove-section", f"filter.{name}")
    with build_sides(user.tree, ["HEAD"], Recipe(COPY, ELF)) as (head,):
        assert [path.read_bytes() for path in head.up_to(1)] == [elf(0, 8, 4)]
    assert not (tmp_path / "ran").exists()


def test_a_full_disk_is_named(user: User, tmp_path: Path) -> None:
    """The cache folder is on a disk that is smaller than the commit."""
    user.commit("large", large=os.urandom(1 << 20))
    user.commit("after")
    disk = tmp_path / "disk"
    disk.mkdir()
    private = ["unshare", "--map-root-user", "--mount", "sh", "-c"]
    mounted = f"mount -t tmpfs -o size=400k tmpfs {disk}"
    if subprocess.run([*private, mounted], capture_output=True, check=False).returncode:
        pytest.skip("a small disk cannot be mounted here")
    words = [sys.executable, "-m", "tockmark", "bisect", str(user.tree), "HEAD~1", "HEAD"]
    words += ["--build", "true", "--no-patch", "--row", "time.read", "--limit", "+1"]
    own = {"PYTHONPATH": str(paths.ROOT / "tools"), "XDG_CACHE_HOME": str(disk)}
    done = subprocess.run(
        [*private, f'{mounted} && exec "$@"', "sh", *words],
        env=os.environ | own,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert os.strerror(errno.ENOSPC) in done.stderr.splitlines()[-1]
    assert user.git("worktree", "list").count("\n") == 0
