# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The user's repository is read here for its commits, which are built in worktrees of ours.

Nothing of the user's changes. git does what is asked and nothing beside. A worktree has its own
files, index and HEAD, and no branch; it goes at the end. Its folder is one of the tool's, in none
of our checkouts, whose settings for Cargo would count in it, too. It is called the same each time:
paths get into a kernel.
"""

import fcntl
import hashlib
import os
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tockmark.base import processes
from tockmark.base.errors import TockmarkError, file_name, printable_text, quoted
from tockmark.base.paths import shown, worktrees
from tockmark.base.processes import Bounds, Output, process_holding
from tockmark.base.watcher import GRACE

WAIT = 4 * GRACE  # seconds
SHORT = 9  # characters of a commit's name, where people read it

# No hook of the user's runs, and no daemon is started that outlives us.
QUIET = ("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false")

# By these a hook or `git bisect run` leads to a repository, or an index, that is not the folder's.
LEADING = [
    *("DIR", "WORK_TREE", "INDEX_FILE", "COMMON_DIR", "PREFIX", "NAMESPACE", "SHALLOW_FILE"),
    *("OBJECT_DIRECTORY", "ALTERNATE_OBJECT_DIRECTORIES"),
]
# These may start other programs: filters, or ssh where a clone has not all that they need.
FETCHING = ("worktree", "checkout")
_FORM = "--format=%H %s"


def environment_without_git() -> dict[str, str]:
    """Return the environment, as if no git had called us."""
    leading = {f"GIT_{name}" for name in LEADING}
    return {name: value for name, value in os.environ.items() if name not in leading}


def run_git(tree: Path, *command: str, hold: Sequence[int] = ()) -> Output:
    """Run git in a folder, whatever comes of it. TockmarkError if there is no git."""
    # Else git writes the user's index, if only to note what it looked at.
    environment = environment_without_git() | {"GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
    return processes.run(
        ["git", *QUIET, *command],
        todo="install git",
        cwd=tree,
        env=environment,
        family=command[0] in FETCHING,
        hold=hold,
        bounds=Bounds(seconds=3600),
    )


def git(tree: Path, *command: str, hold: Sequence[int] = ()) -> str:
    """Return what git says, without the newline at its end. TockmarkError with its own reason if it
    fails."""
    done = run_git(tree, *command, hold=hold)
    if done.code:
        raise TockmarkError(f"git {command[0]}: {git_error(done)}")
    return done.text.removesuffix("\n")


def git_error(done: Output) -> str:
    """Say why git failed, in its own words: the first line that says so, else the first."""
    lines = [line for line in done.error_text.splitlines() if line.strip()]
    said = [line for line in lines if line.startswith(("fatal: ", "error: "))] or lines
    return quoted(said[0].partition(": ")[2] or said[0]) if said else f"code {done.code}"


@dataclass(frozen=True)
class Commit:
    """A commit by its whole name, and the first line of its message."""

    sha: str
    subject: str

    @property
    def short(self) -> str:
        return self.sha[:SHORT]

    def __str__(self) -> str:
        return f"{self.short} {self.subject}"


@dataclass(frozen=True)
class Repository:
    """A checkout, or a bare repository."""

    tree: Path
    common: Path  # the folder that all its worktrees share: .git

    @property
    def shallow(self) -> bool:
        """Whether its history is cut off somewhere."""
        return git(self.tree, "rev-parse", "--is-shallow-repository") == "true"

    def commit(self, revision: str) -> Commit:
        """Return the commit that a revision names. TockmarkError if it names none, or one that a
        worktree does not hold whole."""
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
                    "a worktree has none: build its kernels by hand, and give their ELFs",
                )
        return _commit(git(self.tree, "log", "-1", "--no-show-signature", _FORM, sha))

    def commits_between(self, good: Commit, bad: Commit) -> list[Commit]:
        """Return the commits from one to another by way of first parents, both with them.
        TockmarkError if no such way leads from one to the other."""
        walk = ["log", "--first-parent", "--no-show-signature", "--reverse", _FORM]
        lines = git(self.tree, *walk, f"{good.sha}..{bad.sha}").splitlines()
        between = [_commit(line) for line in lines]
        parent = git(self.tree, "rev-list", "--parents", "-1", between[0].sha) if between else ""
        if parent.split()[1:2] != [good.sha]:
            raise TockmarkError(
                f"no way of first parents leads from {good.short} to {bad.short}",
                self._missing() if self.shallow else "give two commits of one branch, older first",
            )
        return [good, *between]

    def first_parents(self, span: str) -> list[Commit]:
        """Return the commits of a range A..B by way of first parents, the oldest first: of B's
        those that A has not. TockmarkError if it is no range, or there are none."""
        old, dots, new = span.partition("..")
        if not (old and dots and new) or new.startswith("."):
            raise TockmarkError(f"'{quoted(span)}' is no range", "give one as v1..main")
        ends = self.commit(old), self.commit(new)
        walk = ["log", "--first-parent", "--no-show-signature", "--reverse", _FORM]
        lines = git(self.tree, *walk, f"{ends[0].sha}..{ends[1].sha}").splitlines()
        if not lines:
            raise TockmarkError(f"{quoted(span)} holds no commit", "give the older one first")
        return [_commit(line) for line in lines]

    def positions(self, tip: Commit) -> dict[str, int]:
        """Return how many first parents are before each commit of the line to a tip, by sha."""
        line = git(self.tree, "rev-list", "--first-parent", "--reverse", tip.sha).splitlines()
        return {sha: place for place, sha in enumerate(line)}

    def date(self, commit: Commit) -> str:
        """Return when the commit was made."""
        return git(self.tree, "log", "-1", "--no-show-signature", "--format=%cI", commit.sha)

    def file(self, commit: Commit, path: str) -> str | None:
        """Return the text of a commit's file; None if it has none there."""
        done = run_git(self.tree, "show", f"{commit.sha}:{path}")
        return None if done.code else done.text

    def _missing(self) -> str:
        """Say what to do where a commit is not there."""
        if self.shallow:
            return "it is a shallow clone: `git fetch --unshallow` gets the rest"
        return "give a branch, a tag or a commit; `git fetch` may bring it"


def repository(tree: Path) -> Repository:
    """Find the repository in a folder. TockmarkError if there is none, or if it holds changes that
    no commit has: they would be left out of what is built without a word."""
    if not tree.is_dir():
        raise TockmarkError(f"{shown(tree)} is not a folder", "give the top folder of a checkout")
    done = run_git(tree, "rev-parse", "--path-format=absolute", "--git-common-dir", "--show-cdup")
    if done.code:
        raise TockmarkError(
            f"{shown(tree)} is no checkout of git's: {git_error(done)}",
            "give the top folder of a clone",
        )
    common, *up = done.text.splitlines()
    if any(up):
        raise TockmarkError(
            f"{shown(tree)} is a folder within a checkout", f"give its top: {shown(tree / up[0])}"
        )
    found = Repository(tree, Path(common))
    if git(tree, "rev-parse", "--is-inside-work-tree") == "true":
        changed = git(tree, "status", "--porcelain", "--untracked-files=no").splitlines()
        if changed:
            others = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
            raise TockmarkError(
                f"{shown(tree)} has changes in no commit: {quoted(changed[0][3:])}{others}",
                "only commits are built: commit them, or put them away with `git stash`",
            )
    return found


def _commit(line: str) -> Commit:
    """Read a line of `git log`, as _FORM has it."""
    sha, _, subject = line.partition(" ")
    return Commit(sha, printable_text(subject))


@dataclass(frozen=True)
class Worktree:
    """A worktree, made when a first commit is wanted in it."""

    repository: Repository
    path: Path
    lock: int  # the descriptor that holds it

    def check_out(self, commit: Commit) -> None:
        """Put a commit there. What was built stays, as far as the tree has git ignore it; all else
        is as in the commit."""
        if not self.path.exists():
            add = ["worktree", "add", "--quiet", "--force", "--detach"]
            git(self.repository.tree, *add, str(self.path), commit.sha, hold=[self.lock])
            return
        git(self.path, "checkout", "--quiet", "--force", "--detach", commit.sha, hold=[self.lock])
        git(self.path, "clean", "--quiet", "--force", "-d", hold=[self.lock])

    def remove(self) -> None:
        """Take it away, also if it is half made, its folder is gone, or it never was there."""
        shutil.rmtree(self.path, ignore_errors=True)
        tree = self.repository.tree
        listed = git(tree, "worktree", "list", "--porcelain").splitlines()
        if f"worktree {self.path.resolve()}" in listed:
            run_git(tree, "worktree", "remove", "--force", "--force", str(self.path))


def _lock(handle: int) -> None:
    """Lock a folder, once what a killed process began there has ended. BlockingIOError if it goes
    on."""
    until = time.monotonic() + WAIT
    while True:
        try:
            return fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > until:
                raise
            time.sleep(0.05)


@contextmanager
def worktree(repository: Repository, side: int = 0) -> Iterator[Worktree]:
    """Give a worktree for as long as it is needed, for each side another one. TockmarkError if
    another process has it."""
    common = repository.common
    name = file_name((common.parent if common.name == ".git" else common).name)
    digest = hashlib.sha256(os.fsencode(common.resolve())).hexdigest()
    folder = worktrees() / f"{name}-{digest[:8]}" / str(side)
    folder.mkdir(parents=True, exist_ok=True)
    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            _lock(handle)
        except BlockingIOError:
            who = process_holding(folder) or "another tockmark"
            raise TockmarkError(
                f"{who} builds commits of {shown(repository.tree)}",
                "wait until it has ended",
            ) from None
        found = Worktree(repository, folder / "tree", handle)
        found.remove()  # what a killed process left
        try:
            yield found
        finally:
            found.remove()
    finally:
        os.close(handle)
