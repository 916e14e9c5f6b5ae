# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The user's repository, and commits of it: nothing in it is changed here."""

from dataclasses import dataclass
from pathlib import Path

from tockmark.errors import TockmarkError
from tockmark.paths import shown
from tockmark.plain import quoted, showable
from tockmark.tree.git import git, reason, tried

SHORT = 9  # characters of a commit's name, where people read it


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
        """The commit that a revision names. TockmarkError if it names none, or one that a worktree
        does not hold whole."""
        name = f"{revision}^{{commit}}"
        done = tried(self.tree, "rev-parse", "--verify", "--quiet", "--end-of-options", name)
        if done.returncode or revision.startswith("-"):
            raise TockmarkError(
                f"'{quoted(revision)}' names no commit of {shown(self.tree)}", self._missing()
            )
        sha = done.stdout.split()[-1]
        for line in git(self.tree, "ls-tree", "-r", "--full-tree", sha).splitlines():
            if line.startswith("160000 "):
                raise TockmarkError(
                    f"{sha[:SHORT]} of {shown(self.tree)} has a submodule,"
                    f" {quoted(line.partition(chr(9))[2])}",
                    "a worktree has none: build its kernels by hand, and give their ELFs",
                )
        return self._known(git(self.tree, "log", "-1", "--no-show-signature", _FORM, sha))

    def line(self, good: Commit, bad: Commit) -> list[Commit]:
        """From one commit to another by way of first parents, both with it. TockmarkError if no
        such way leads from one to the other."""
        walk = ["log", "--first-parent", "--no-show-signature", "--reverse", _FORM]
        told = git(self.tree, *walk, f"{good.sha}..{bad.sha}")
        between = [self._known(line) for line in told.splitlines()]
        parent = git(self.tree, "rev-list", "--parents", "-1", between[0].sha) if between else ""
        if parent.split()[1:2] != [good.sha]:
            raise TockmarkError(
                f"no way of first parents leads from {good.short} to {bad.short}",
                self._missing() if self.shallow else "give two commits of one branch, older first",
            )
        return [good, *between]

    def _known(self, line: str) -> Commit:
        sha, _, subject = line.partition(" ")
        return Commit(sha, showable(subject))

    def _missing(self) -> str:
        if self.shallow:
            return "it is a shallow clone: `git fetch --unshallow` gets the rest"
        return "give a branch, a tag or a commit; `git fetch` may bring it"


_FORM = "--format=%H %s"


def repository(tree: Path) -> Repository:
    """The repository in a folder. TockmarkError if there is none, or if it holds changes that no
    commit has: they would be left out of what is built without a word."""
    if not tree.is_dir():
        raise TockmarkError(f"{shown(tree)} is not a folder", "give the top folder of a checkout")
    done = tried(tree, "rev-parse", "--path-format=absolute", "--git-common-dir", "--show-cdup")
    if done.returncode:
        raise TockmarkError(
            f"{shown(tree)} is no checkout of git's: {reason(done)}",
            "give the top folder of a clone",
        )
    common, *up = done.stdout.splitlines()
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
