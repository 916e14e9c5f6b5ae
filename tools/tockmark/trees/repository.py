# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Read the commits of the user's repository, and make worktrees of our own to build them in.

The user's checkout does not change, and git runs without hooks, filters and daemons. A worktree
has its own files, index and HEAD, and no branch; it is removed at the end. Its folder is in the
tool's own folder, not inside a tockmark checkout, whose Cargo settings would apply to it. It has
the same name each time, since paths get into a kernel.
"""

import fcntl
import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from tockmark.base import processes
from tockmark.base.errors import TockmarkError, file_name, printable_text, quoted
from tockmark.base.paths import shown, user_folder
from tockmark.base.processes import Bounds, Output
from tockmark.base.watcher import GRACE

WAIT = 4 * GRACE  # seconds
SHORT = 9  # characters of an abbreviated commit hash

# Run no hooks of the user, and start no daemon that outlives us.
QUIET = ("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false")

# Variables with which a hook or `git bisect run` selects another repository or index.
LEADING = [
    *("DIR", "WORK_TREE", "INDEX_FILE", "COMMON_DIR", "PREFIX", "NAMESPACE", "SHALLOW_FILE"),
    *("OBJECT_DIRECTORY", "ALTERNATE_OBJECT_DIRECTORIES"),
]
FETCHING = ("worktree", "checkout")  # they may start ssh, for missing objects of a partial clone
FILTERING = ("checkout", "status")  # they would run the filter drivers of the user's configuration
NO_FILTER = (("clean", ""), ("smudge", ""), ("process", ""), ("required", "false"))
SPACE = 64 << 20  # bytes that a disk should have left
_FORM = "--format=%H %s"


def environment_without_git() -> dict[str, str]:
    """Return the environment without the variables of a calling git."""
    leading = {f"GIT_{name}" for name in LEADING}
    return {name: value for name, value in os.environ.items() if name not in leading}


def run_git(tree: Path, *command: str, hold: Sequence[int] = ()) -> Output:
    """Run git in a folder and return its result, also if it failed. Raise TockmarkError if git is
    not installed."""
    # Otherwise even reading commands write the user's index.
    environment = environment_without_git() | {"GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
    if command[0] in FILTERING:
        environment |= _without_filters(tree)
    return processes.run(
        ["git", *QUIET, *command],
        todo="install git",
        cwd=tree,
        env=environment,
        family=command[0] in FETCHING,
        hold=hold,
        bounds=Bounds(seconds=3600),
    )


def _without_filters(tree: Path) -> dict[str, str]:
    """Return variables that disable every filter driver that is configured for a folder."""
    listed = run_git(tree, "config", "--null", "--name-only", "--get-regexp", r"^filter\.")
    drivers = {name.rpartition(".")[0] for name in os.fsdecode(listed.out).split("\0")[:-1]}
    settings = list(product(sorted(drivers), NO_FILTER))
    first = int(os.environ.get("GIT_CONFIG_COUNT") or 0)
    variables = {"GIT_CONFIG_COUNT": str(first + len(settings))}
    for number, (driver, (key, value)) in enumerate(settings, first):
        variables[f"GIT_CONFIG_KEY_{number}"] = f"{driver}.{key}"
        variables[f"GIT_CONFIG_VALUE_{number}"] = value
    return variables


def git(tree: Path, *command: str, hold: Sequence[int] = ()) -> str:
    """Return git's output without the final newline. Raise TockmarkError with git's message if it
    fails."""
    done = run_git(tree, *command, hold=hold)
    if done.code:
        raise TockmarkError(f"git {command[0]}: {git_error(done)}")
    return done.text.removesuffix("\n")


def git_error(done: Output) -> str:
    """Return the first error line of git's output, else its first line."""
    lines = [line for line in done.error_text.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith(("fatal: ", "error: "))] or lines
    return quoted(errors[0].partition(": ")[2] or errors[0]) if errors else f"code {done.code}"


@dataclass(frozen=True)
class Commit:
    """A commit: its full hash and the first line of its message."""

    sha: str
    subject: str

    @property
    def short(self) -> str:
        return self.sha[:SHORT]

    def __str__(self) -> str:
        return f"{self.short} {self.subject}"


@dataclass(frozen=True)
class Repository:
    """A checkout or a bare repository."""

    tree: Path
    common: Path  # the folder shared by all its worktrees: .git

    @property
    def shallow(self) -> bool:
        """Whether its history is incomplete."""
        return git(self.tree, "rev-parse", "--is-shallow-repository") == "true"

    def commit(self, revision: str) -> Commit:
        """Return the commit that a revision names. Raise TockmarkError if it names none, or if a
        worktree would not contain all of it."""
        name = f"{revision}^{{commit}}"
        done = run_git(self.tree, "rev-parse", "--verify", "--quiet", "--end-of-options", name)
        if done.code or revision.startswith("-"):
            raise TockmarkError(
                f"'{quoted(revision)}' names no commit of {shown(self.tree)}", self._missing()
            )
        sha = done.text.split()[-1]
        for line in git(self.tree, "ls-tree", "-r", "--full-tree", sha).splitlines():
            if line.startswith("160000 "):
                raise TockmarkError(
                    f"{sha[:SHORT]} of {shown(self.tree)} has a submodule,"
                    f" {quoted(line.partition(chr(9))[2])}",
                    "a worktree would lack it: build the kernels by hand and give their ELFs",
                )
        return _commit(git(self.tree, "log", "-1", "--no-show-signature", _FORM, sha))

    def commits_between(self, good: Commit, bad: Commit) -> list[Commit]:
        """Return the commits from one to another by first parents, both included. Raise
        TockmarkError if they are not connected that way."""
        walk = ["log", "--first-parent", "--no-show-signature", "--reverse", _FORM]
        lines = git(self.tree, *walk, f"{good.sha}..{bad.sha}").splitlines()
        between = [_commit(line) for line in lines]
        parent = git(self.tree, "rev-list", "--parents", "-1", between[0].sha) if between else ""
        if parent.split()[1:2] != [good.sha]:
            raise TockmarkError(
                f"no line of first parents leads from {good.short} to {bad.short}",
                self._missing() if self.shallow else "give two commits of one branch, older first",
            )
        return [good, *between]

    def file(self, commit: Commit, path: str) -> str | None:
        """Return the text of a commit's file; None if the commit does not have it."""
        done = run_git(self.tree, "show", f"{commit.sha}:{path}")
        return None if done.code else done.text

    def _missing(self) -> str:
        """Return what to do about a missing commit."""
        if self.shallow:
            return "it is a shallow clone: run `git fetch --unshallow`"
        return "give a branch, a tag or a commit, or run `git fetch`"


def repository(tree: Path) -> Repository:
    """Return the repository in a folder. Raise TockmarkError if the folder is not a checkout, or if
    it has uncommitted changes, which would not be built."""
    if not tree.is_dir():
        raise TockmarkError(f"{shown(tree)} is not a folder", "give the top folder of a checkout")
    done = run_git(tree, "rev-parse", "--path-format=absolute", "--git-common-dir", "--show-cdup")
    if done.code:
        raise TockmarkError(
            f"{shown(tree)} is not a git checkout: {git_error(done)}",
            "give the top folder of a clone",
        )
    common, *up = done.text.splitlines()
    if any(up):
        raise TockmarkError(
            f"{shown(tree)} is a folder inside a checkout",
            f"give its top folder: {shown(tree / up[0])}",
        )
    checkout = Repository(tree, Path(common))
    if git(tree, "rev-parse", "--is-inside-work-tree") == "true":
        status = ["status", "--porcelain", "--untracked-files=no", "--ignore-submodules"]
        changed = git(tree, *status).splitlines()
        if changed:
            others = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
            raise TockmarkError(
                f"{shown(tree)} has uncommitted changes: {quoted(changed[0][3:])}{others}",
                "only commits are built: commit the changes, or run `git stash`",
            )
    return checkout


def _commit(line: str) -> Commit:
    """Parse a line of `git log` in the format _FORM."""
    sha, _, subject = line.partition(" ")
    return Commit(sha, printable_text(subject))


@dataclass(frozen=True)
class Worktree:
    """A worktree, which is made for its first commit."""

    repository: Repository
    path: Path
    lock: int  # the descriptor that locks it

    def check_out(self, commit: Commit) -> None:
        """Check out a commit. Ignored files, such as build products, stay; everything else is as in
        the commit."""
        if not self.path.exists():
            add = ["worktree", "add", "--quiet", "--force", "--detach", "--no-checkout"]
            git(self.repository.tree, *add, str(self.path), commit.sha, hold=[self.lock])
        check_out = ["checkout", "--quiet", "--force", "--detach", commit.sha]
        try:
            git(self.path, *check_out, hold=[self.lock])
        except TockmarkError as error:
            _check_space(self.path)
            raise error from None
        git(self.path, "clean", "--quiet", "--force", "-d", hold=[self.lock])

    def remove(self) -> None:
        """Remove the worktree, even if it is incomplete, its folder is gone, or it never
        existed."""
        shutil.rmtree(self.path, ignore_errors=True)
        tree = self.repository.tree
        listed = git(tree, "worktree", "list", "--porcelain").splitlines()
        if f"worktree {self.path.resolve()}" in listed:
            run_git(tree, "worktree", "remove", "--force", "--force", str(self.path))


def _check_space(folder: Path) -> None:
    """Raise TockmarkError if a folder's disk is full, or another limit of space is reached: git
    names only the file that it could not write."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            os.posix_fallocate(file.fileno(), 0, SPACE)
    except OSError as error:
        problem = f"cannot check out a commit in {shown(folder)}: {error.strerror}"
        raise TockmarkError(problem, "free some space, or set XDG_CACHE_HOME") from error


def _lock(handle: int) -> bool:
    """Lock a folder and return whether it is free; wait for the children of a killed process."""
    until = time.monotonic() + WAIT
    while time.monotonic() < until:
        with suppress(BlockingIOError):
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        time.sleep(0.05)
    return False


@contextmanager
def worktree(repository: Repository, side: int = 0) -> Iterator[Worktree]:
    """Yield a worktree, another one for each side. Raise TockmarkError if another process uses
    it."""
    common = repository.common
    name = file_name((common.parent if common.name == ".git" else common).name)
    digest = hashlib.sha256(os.fsencode(common.resolve())).hexdigest()
    folder = user_folder("cache") / f"{name}-{digest[:8]}" / str(side)
    folder.mkdir(parents=True, exist_ok=True)
    handle = os.open(folder, os.O_RDONLY)
    try:
        if not _lock(handle):
            raise TockmarkError(
                f"another tockmark is building commits of {shown(repository.tree)}",
                f"wait until it has finished: `fuser {shown(folder)}` names it",
            )
        new_worktree = Worktree(repository, folder / "tree", handle)
        new_worktree.remove()  # what a killed process left
        try:
            yield new_worktree
        finally:
            new_worktree.remove()
    finally:
        os.close(handle)
