# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A user's repository whose kernels are built by copying files."""

import os
import stat
import subprocess
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import pytest

from tockmark.base import paths
from tockmark.tests.elves import BASE, FUNCTION, Segment, make_elf
from tockmark.trees.repository import Commit, repository

ELF = PurePosixPath("out/kernel.elf")
# Copies the kernel of a seed; seed 0 is the default. Every build adds a line to a file outside.
COPY = (
    'n=${TOCKMARK_LINK_ARGS##*=}; echo "built ${n:-0}"; echo "${n:-0}" >>"$COUNT";'
    ' mkdir -p out; cp "k${n:-0}" out/kernel.elf'
)
AS = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")


@dataclass(frozen=True)
class User:
    """A user's repository, and the file to which each build adds a line."""

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
        """Return the mode and content of all files, including .git."""
        contents = {}
        for path in sorted(self.tree.rglob("*")):
            kind = path.lstat().st_mode
            content = path.read_bytes() if stat.S_ISREG(kind) else b""
            contents[str(path.relative_to(self.tree))] = kind, content
        return contents


def elf(*addresses: int, more: int = 0) -> bytes:
    """Return a kernel with a function at each of these addresses, and `more` other functions."""
    functions = [(f"f{i}", BASE + address) for i, address in enumerate(addresses)]
    others = [(f"g{i}", BASE + 0x100 + 4 * i) for i in range(more)]
    return make_elf([Segment(BASE, bytes(0x200))], functions + others, FUNCTION)


def user_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> User:
    """Make a repository of two commits in a test's folder, which also has the cached builds."""
    monkeypatch.setattr(paths, "COMMITS", tmp_path / "commits")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("COUNT", str(tmp_path / "count"))
    user = User(tmp_path / "tock", tmp_path / "count")
    user.tree.mkdir()
    user.git("init", "--quiet", "--initial-branch", "main")
    user.commit("first", k0=elf(0, 4, 8), **{".gitignore": b"/out/\n"})
    orders = {"k0": elf(0, 8, 4), "k1": elf(8, 4, 0), "k2": elf(8, 4, 0), "k3": elf(4, 8, 0)}
    user.commit("second", **orders)
    os.utime(user.tree / "k0", (0, 0))  # otherwise git would update the index
    (user.tree / "notes").write_text("of the user's, in no commit")
    hook = user.tree / ".git" / "hooks" / "post-checkout"
    hook.write_text(f"#!/bin/sh\necho hook >>{user.tree}/notes\n")
    hook.chmod(0o755)
    return user


def head(user: User, revision: str = "HEAD") -> Commit:
    return repository(user.tree).commit(revision)
