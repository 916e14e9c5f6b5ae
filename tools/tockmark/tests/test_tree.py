# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Kernels of commits: the user's repository stays as it is, and each kernel is built once."""

import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import pytest

from tockmark import paths
from tockmark.errors import TockmarkError
from tockmark.tests.elves import BASE, FUNCTION, Segment, made
from tockmark.tree.building import Builder, BuildError, Patch, Recipe
from tockmark.tree.links import Built, sides
from tockmark.tree.repository import Commit, repository
from tockmark.tree.worktrees import worktree

ELF = PurePosixPath("out/kernel.elf")
# The kernel of a seed, 0 for the plain one. Every build leaves a line in a file outside.
COPY = (
    'n=${TOCKMARK_LINK_ARGS##*=}; echo "built ${n:-0}"; echo "${n:-0}" >>"$COUNT";'
    ' mkdir -p out; cp "k${n:-0}" out/kernel.elf'
)
AS = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")


@dataclass(frozen=True)
class User:
    """A repository of the user's, and where builds leave their lines."""

    tree: Path
    count: Path

    def git(self, *command: str) -> str:
        command = ("git", *AS, *command)
        done = subprocess.run(command, cwd=self.tree, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    def commit(self, subject: str, **files: bytes) -> str:
        for name, content in files.items():
            (self.tree / name).write_bytes(content)
        self.git("add", "--", *files)
        self.git("commit", "--quiet", "--allow-empty", "-m", subject)
        return self.git("rev-parse", "HEAD")

    @property
    def builds(self) -> list[str]:
        return self.count.read_text().split() if self.count.exists() else []

    def state(self) -> dict[str, tuple[int, bytes]]:
        """All that is there, to the byte, .git with it."""
        found = {}
        for path in sorted(self.tree.rglob("*")):
            kind = path.lstat().st_mode
            content = path.read_bytes() if stat.S_ISREG(kind) else b""
            found[str(path.relative_to(self.tree))] = kind, content
        return found


def elf(*addresses: int, more: int = 0) -> bytes:
    """A kernel with a function at each of these addresses, and some more."""
    functions = [(f"f{i}", BASE + address) for i, address in enumerate(addresses)]
    others = [(f"g{i}", BASE + 0x100 + 4 * i) for i in range(more)]
    return made([Segment(BASE, bytes(0x200))], functions + others, FUNCTION)


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> User:
    monkeypatch.setattr(paths, "COMMITS", tmp_path / "commits")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("COUNT", str(tmp_path / "count"))
    found = User(tmp_path / "tock", tmp_path / "count")
    found.tree.mkdir()
    found.git("init", "--quiet", "--initial-branch", "main")
    found.commit("first", k0=elf(0, 4, 8), **{".gitignore": b"/out/\n"})
    orders = {"k0": elf(0, 8, 4), "k1": elf(8, 4, 0), "k2": elf(8, 4, 0), "k3": elf(4, 8, 0)}
    found.commit("second", **orders)
    (found.tree / "notes").write_text("of the user's, in no commit")
    hook = found.tree / ".git" / "hooks" / "post-checkout"
    hook.write_text(f"#!/bin/sh\necho hook >>{found.tree}/notes\n")
    hook.chmod(0o755)
    return found


@pytest.fixture
def builder(user: User) -> Iterator[Builder]:
    with worktree(repository(user.tree)) as place:
        yield Builder(place, Recipe(COPY, ELF))


def head(user: User, revision: str = "HEAD") -> Commit:
    return repository(user.tree).commit(revision)


def refused(user: User, *revisions: str) -> str:
    with (
        pytest.raises(TockmarkError) as caught,
        sides(user.tree, revisions or ["HEAD"], Recipe(COPY, ELF)),
    ):
        pass
    assert "\n" not in str(caught.value)
    assert caught.value.code == 2
    return str(caught.value)


# The user's repository


def test_both_sides_are_built_and_the_users_repository_is_as_it_was(user: User) -> None:
    before = user.state()
    with sides(user.tree, ["HEAD~1", "main"], Recipe(COPY, ELF)) as (base, new):
        assert [path.read_bytes() for path in base.upto(1)] == [elf(0, 4, 8)]
        assert [path.read_bytes() for path in new.upto(1)] == [elf(0, 8, 4)]
        assert (base.commit.subject, new.commit.subject) == ("first", "second")
        assert "worktrees" in os.listdir(user.tree / ".git")  # or the test would see nothing
    assert user.state() == before
    assert not list(paths.worktrees().rglob("tree"))


@pytest.mark.parametrize("command", ["exit 7", "true", "kill -9 $$"])
def test_it_is_as_it_was_after_a_build_that_failed(user: User, command: str) -> None:
    before = user.state()
    with (
        pytest.raises(BuildError),
        sides(user.tree, ["HEAD"], Recipe(command, ELF)) as (side,),
    ):
        side.upto(1)
    assert user.state() == before
    assert user.git("worktree", "list").count("\n") == 0


def building(user: User) -> tuple[subprocess.Popen[bytes], int]:
    """A process in the midst of a build, and one that this build began."""
    begun = user.count.with_name("begun")
    command = f"sleep 1000 & echo $! >{begun}.new; mv {begun}.new {begun}; wait"
    script = (
        "from pathlib import Path; from tockmark import paths; "
        "from tockmark.commands.ending import ended_once; "
        "from tockmark.tree.links import sides; from tockmark.tree.building import Recipe\n"
        f"paths.COMMITS = Path({str(paths.COMMITS)!r})\n"
        f"with ended_once(), sides(Path({str(user.tree)!r}), ['HEAD'],"
        f" Recipe({command!r}, Path('k'))) as (side,): side.upto(1)"
    )
    environment = os.environ | {"PYTHONPATH": str(paths.ROOT / "tools")}
    process = subprocess.Popen(
        [sys.executable, "-c", script], env=environment, stderr=subprocess.DEVNULL
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
    assert process.wait() != 0
    assert user.state() == before
    assert not runs(child)


def test_what_a_killed_run_left_goes_with_the_next(user: User) -> None:
    before = user.state()
    process, child = building(user)
    process.kill()
    process.wait()
    os.kill(child, signal.SIGKILL)
    assert user.state() != before
    with sides(user.tree, ["HEAD"], Recipe(COPY, ELF)) as (side,):
        assert side.upto(1)
    assert user.state() == before


def test_two_at_a_time_are_told_so(user: User, builder: Builder) -> None:
    builder.build(head(user))
    assert "another tockmark builds commits of" in refused(user)
    assert builder.worktree.path.is_dir()


def runs(pid: int) -> bool:
    """Whether a process does anything yet; it may be dead and not yet taken note of."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_a_worktree_that_is_left_is_removed_whether_its_folder_is_there_or_not(user: User) -> None:
    before = user.state()
    for gone in (False, True):
        with worktree(repository(user.tree)) as place:
            path = place.path
        user.git("worktree", "add", "--quiet", "--detach", str(path))
        (user.tree / "notes").write_text("of the user's, in no commit")  # their hook ran
        if gone:
            path.rename(path.with_name("elsewhere"))
        with worktree(repository(user.tree)):
            pass
        assert user.state() == before


def test_another_worktree_of_the_users_stays(user: User, tmp_path: Path) -> None:
    user.git("worktree", "add", "--quiet", "--detach", str(tmp_path / "mine"))
    (tmp_path / "mine").rename(tmp_path / "unplugged")  # as on a disk that is not there now
    with sides(tmp_path / "tock", ["HEAD"], Recipe(COPY, ELF)) as (side,):
        side.upto(1)
    assert str(tmp_path / "mine") in user.git("worktree", "list")


def test_an_environment_of_a_hook_leads_to_no_other_repository(
    user: User, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    before = user.state()
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "other"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "index"))
    recipe = Recipe('test -z "$GIT_DIR$GIT_INDEX_FILE" && ' + COPY, ELF)
    with sides(user.tree, ["HEAD"], recipe) as (side,):
        assert side.upto(1)
    monkeypatch.undo()
    assert user.state() == before


# What is refused


def test_what_will_not_do_is_refused_in_one_line(user: User, tmp_path: Path) -> None:
    assert "'none' names no commit of" in refused(user, "none")
    assert "'--all' names no commit of" in refused(user, "--all")
    assert "names no commit" in refused(user, "HEAD:k0")
    (tmp_path / "bare").mkdir()
    assert "is no checkout of git's" in refused(User(tmp_path / "bare", tmp_path))
    assert "is not a folder" in refused(User(tmp_path / "none", tmp_path))
    (user.tree / "sub").mkdir()
    assert "within a checkout; give its top" in refused(User(user.tree / "sub", tmp_path))
    (user.tree / "k0").write_bytes(b"changed")
    before = user.state()
    assert "has changes in no commit: k0" in refused(user)
    assert user.state() == before


def test_a_submodule_is_refused(user: User) -> None:
    sha = user.git("rev-parse", "HEAD")
    user.git("update-index", "--add", "--cacheinfo", f"160000,{sha},lib")
    user.git("commit", "--quiet", "-m", "third")
    (user.tree / "lib").mkdir()
    assert "has a submodule, lib" in refused(user)


def test_of_a_shallow_clone_the_way_out_is_named(user: User, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    user.git("clone", "--quiet", "--depth", "1", f"file://{user.tree}", str(clone))
    shallow = User(clone, user.count)
    assert "git fetch --unshallow" in refused(shallow, "HEAD~1")
    with sides(clone, ["HEAD"], Recipe(COPY, ELF)) as (side,):
        assert side.upto(1)[0].read_bytes() == elf(0, 8, 4)


def test_a_bare_repository_will_do(user: User, tmp_path: Path) -> None:
    user.git("clone", "--quiet", "--bare", str(user.tree), str(tmp_path / "bare.git"))
    with sides(tmp_path / "bare.git", ["main"], Recipe(COPY, ELF)) as (side,):
        assert side.upto(1)[0].read_bytes() == elf(0, 8, 4)


@pytest.mark.parametrize("path", ["/etc/passwd", "../k", "a/../../k", "."])
def test_the_elf_lies_within_the_checkout(path: str) -> None:
    with pytest.raises(TockmarkError, match="not a file within the checkout"):
        Recipe("make", PurePosixPath(path))


def test_a_command_of_nothing_is_refused() -> None:
    with pytest.raises(TockmarkError, match="the build command is empty"):
        Recipe("  ", ELF)


# What is built


def test_a_kernel_is_built_once(user: User, builder: Builder) -> None:
    first = builder.build(head(user))
    assert builder.build(head(user)) == first
    assert user.builds == ["0"]
    Builder(builder.worktree, Recipe(COPY, ELF)).build(head(user))
    assert user.builds == ["0"]


def test_it_is_built_anew_for_another_command_patch_or_links_or_if_so_told(
    user: User, builder: Builder
) -> None:
    first = builder.build(head(user))
    place, recipe = builder.worktree, builder.recipe
    others = [
        Builder(place, Recipe(COPY + " ", ELF)).build(head(user)),
        Builder(place, Recipe(COPY, ELF, Patch("a", lambda tree: None))).build(head(user)),
        Builder(place, Recipe(COPY, ELF, Patch("b", lambda tree: None))).build(head(user)),
        builder.build(head(user), "--shuffle-sections=.text.*=1"),
        builder.build(head(user, "HEAD~1")),
    ]
    assert len({first, *others}) == 6
    fresh = Builder(place, recipe, fresh=True)
    assert {fresh.build(head(user)), fresh.build(head(user))} == {first}
    assert len(user.builds) == 7


def test_a_patch_is_in_what_is_built_and_in_no_other_commit(user: User) -> None:
    def put(tree: Path) -> None:
        (tree / "k0").write_bytes(elf(8, 0, 4))
        (tree / "added").write_bytes(b"")

    recipe = Recipe("test -e added && " + COPY, ELF, Patch("p", put))
    with sides(user.tree, ["HEAD~1", "HEAD"], recipe) as (base, new):
        assert base.upto(1)[0].read_bytes() == elf(8, 0, 4)
        place = new.builder.worktree
        place.at(new.commit)
        assert (place.path / "k0").read_bytes() == elf(0, 8, 4)
        assert not (place.path / "added").exists()
        assert (place.path / ELF).is_file()  # what git ignores stays: nothing is compiled twice


def test_a_patch_that_does_not_fit_is_said_of_its_commit(user: User) -> None:
    def put(tree: Path) -> None:
        raise TockmarkError("no arm to stand behind")

    sha = head(user).short
    with (
        pytest.raises(BuildError, match=f"{sha} cannot be built: no arm to stand behind"),
        sides(user.tree, ["HEAD"], Recipe(COPY, ELF, Patch("p", put))) as (side,),
    ):
        side.upto(1)
    assert user.builds == []


def test_a_failed_build_says_why_and_loses_nothing(user: User, builder: Builder) -> None:
    kept = builder.build(head(user))
    place = builder.worktree
    failing = Builder(place, Recipe("echo first; printf 'the \\033[1mlast\\n\\n'; exit 3", ELF))
    with pytest.raises(BuildError) as caught:
        failing.build(head(user))
    said = str(caught.value)
    assert f"the build of {head(user).short} failed with code 3: the  [1mlast; all" in said
    log = failing.kept(head(user)).with_name("build.log")
    assert log.read_bytes() == b"first\nthe \x1b[1mlast\n\n"
    assert paths.shown(log) in said
    assert kept.read_bytes() == elf(0, 8, 4)


def test_an_elf_that_another_commit_left_is_not_taken(user: User, builder: Builder) -> None:
    builder.build(head(user))
    idle = Builder(builder.worktree, Recipe("true", ELF))
    with pytest.raises(BuildError, match=r"ended well, but made no out/kernel\.elf"):
        idle.build(head(user, "HEAD~1"))


# Links


def side(user: User, builder: Builder, command: str = COPY) -> Built:
    return Built(head(user), Builder(builder.worktree, Recipe(command, ELF)))


def test_links_are_built_when_they_are_asked_for(user: User, builder: Builder) -> None:
    one = side(user, builder)
    assert len(one.upto(1)) == 1
    assert user.builds == ["0"]
    plain, shuffled = one.upto(2)
    assert (plain.read_bytes(), shuffled.read_bytes()) == (elf(0, 8, 4), elf(8, 4, 0))
    assert one.upto(1) == [plain]
    assert user.builds == ["0", "1"]


def test_a_seed_of_the_same_order_is_passed_over(user: User, builder: Builder) -> None:
    links = side(user, builder).upto(3)
    assert [path.read_bytes() for path in links] == [elf(0, 8, 4), elf(8, 4, 0), elf(4, 8, 0)]
    assert user.builds == ["0", "1", "2", "3"]


def test_a_command_that_takes_no_link_arguments_gives_one_link(
    user: User, builder: Builder
) -> None:
    one = side(user, builder, 'echo b >>"$COUNT"; mkdir -p out; cp k0 out/kernel.elf')
    assert len(one.upto(4)) == 1
    tried = len(user.builds)
    assert len(one.upto(8)) == 1
    assert len(user.builds) == tried  # it is not tried again


def test_a_link_that_is_another_kernel_is_refused(user: User, builder: Builder) -> None:
    user.commit("third", k1=elf(8, 4, 0, more=1))
    one = side(user, builder)
    assert len(one.upto(1)) == 1
    with pytest.raises(TockmarkError, match=r"differs in more than its layout: .* functions g0"):
        one.upto(2)
    assert len(one.upto(1)) == 1


def test_no_kernel_at_all_is_said(user: User, builder: Builder) -> None:
    user.commit("third", k0=b"no ELF")
    with pytest.raises(TockmarkError, match=r"kernel\.elf"):
        side(user, builder).upto(1)


# The line from one commit to another


def test_the_line_of_commits_goes_by_first_parents(user: User) -> None:
    first = user.git("rev-parse", "HEAD~1")
    user.git("checkout", "--quiet", "-b", "side", first)
    user.commit("aside", other=b"")
    user.git("checkout", "--quiet", "main")
    user.git("merge", "--quiet", "--no-ff", "-m", "merged", "side")
    found = repository(user.tree)
    good, bad, aside = (found.commit(name) for name in (first, "main", "side"))
    assert [one.subject for one in found.line(good, bad)] == ["first", "second", "merged"]
    for older, newer in ((bad, good), (good, good), (aside, bad)):
        with pytest.raises(TockmarkError, match="no way of first parents leads from"):
            found.line(older, newer)
