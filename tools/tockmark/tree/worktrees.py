# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A worktree of the user's repository in a folder of the tool's, which goes at the end.

Nothing of the user's changes: a worktree has its own files, index and HEAD, and no branch. Its
folder is in none of our checkouts, whose settings for Cargo would count in it, too. It is called
the same each time: paths get into a kernel.
"""

import fcntl
import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tockmark import paths
from tockmark.errors import TockmarkError
from tockmark.plain import file_name
from tockmark.tree.git import git, tried
from tockmark.tree.repository import Commit, Repository


@dataclass
class Worktree:
    """A worktree, made when a first commit is wanted in it."""

    repository: Repository
    path: Path
    made: bool = False

    def at(self, commit: Commit) -> None:
        """Put a commit there. What was built stays, as far as the tree has git ignore it; all else
        is as in the commit."""
        if not self.made:
            # Before git begins: also half a worktree is to be removed.
            self.made = True
            add = ["worktree", "add", "--quiet", "--force", "--detach"]
            git(self.repository.tree, *add, str(self.path), commit.sha)
            return
        git(self.path, "checkout", "--quiet", "--force", "--detach", commit.sha)
        git(self.path, "clean", "--quiet", "--force", "-d")


@contextmanager
def worktree(repository: Repository, side: int = 0) -> Iterator[Worktree]:
    """A worktree for as long as it is needed, for each side another one. TockmarkError if another
    process has it."""
    name = repository.common.parent if repository.common.name == ".git" else repository.common
    digest = hashlib.sha256(os.fsencode(repository.common.resolve())).hexdigest()
    folder = paths.worktrees() / f"{file_name(name.name)}-{digest[:8]}" / str(side)
    folder.mkdir(parents=True, exist_ok=True)
    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise TockmarkError(
                f"another tockmark builds commits of {paths.shown(repository.tree)}",
                "wait until it has ended",
            ) from None
        found = Worktree(repository, folder / "tree")
        _remove(found)  # what a killed process left
        try:
            yield found
        finally:
            if found.made:
                _remove(found)
    finally:
        os.close(handle)


def _remove(worktree: Worktree) -> None:
    """Take a worktree away, also one that is half made or whose folder is gone."""
    path, tree = worktree.path, worktree.repository.tree
    shutil.rmtree(path, ignore_errors=True)
    listed = git(tree, "worktree", "list", "--porcelain").splitlines()
    if f"worktree {path.resolve()}" in listed:
        tried(tree, "worktree", "remove", "--force", "--force", str(path))
