# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verb bisect, on a small repository whose build command copies ready variants of
the baseline kernel.

Needs the products of `make build`. The variant is built once: half a minute.
"""

import json
import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import variants
from typer.testing import CliRunner

from tockmark.base import paths
from tockmark.base.errors import TockmarkError
from tockmark.cli import app

# The shell command that makes the kernel of a commit.
PLAIN = f"cat {paths.ROOT / 'build' / 'cargo' / variants.IMAGE}"
BROKEN, NO_KERNEL = "false", "echo no ELF"
AUTHOR = {
    f"GIT_{who}_{what}": "a@b" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
}


BUILD = "echo b >>{}; . ./which >kernel.elf || {{ echo it is broken; false; }}"
ROW = "syscall.command"


@dataclass
class Output:
    """The outcome of a call of the tool."""

    code: int
    out: str
    error: str


@dataclass
class User:
    """A repository in which a file of each commit selects its kernel."""

    tree: Path
    count: Path  # one line per build
    commits: list[str] = field(default_factory=list)

    def commit(self, *ways: str) -> None:
        for way in ways:
            (self.tree / "which").write_text(way)
            self.git("add", "which")
            self.git("commit", "--quiet", "--allow-empty", "-m", f"change {len(self.commits)}")
            self.commits.append(self.git("rev-parse", "HEAD").strip())

    def git(self, *command: str) -> str:
        return subprocess.run(
            ["git", "-c", "commit.gpgsign=false", *command],
            cwd=self.tree,
            env=os.environ | AUTHOR,
            capture_output=True,
            text=True,
            check=True,
        ).stdout

    def bisect(self, *options: str, limit: str = "+2 %", row: str = ROW) -> Output:
        """Run bisect from the first commit to the last."""
        words = ["bisect", str(self.tree), self.commits[0], self.commits[-1], "--no-patch"]
        words += ["--row", row, "--limit", limit, "--elf", "kernel.elf"]
        words += ["--build", BUILD.format(self.count), *options]
        done = CliRunner().invoke(app.app, words)
        error = done.exception
        assert error is None or isinstance(error, TockmarkError | SystemExit), done.exc_info
        code = error.code if isinstance(error, TockmarkError) else done.exit_code
        return Output(code, done.stdout, str(error or ""))

    @property
    def builds(self) -> int:
        return len(self.count.read_text().splitlines())

    def files(self) -> dict[Path, bytes]:
        return {path: path.read_bytes() for path in self.tree.rglob("*") if path.is_file()}

    def named(self, number: int) -> str:
        return f"{self.commits[number][:9]} change {number}"


@pytest.fixture(scope="module")
def dear(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the path of a kernel whose system calls take more instructions."""
    return f"cat {variants.build(tmp_path_factory.mktemp('costly'), variants.COSTLY)}"


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> User:
    monkeypatch.setattr(paths, "COMMITS", tmp_path / "commits")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    user_ = User(tmp_path / "tock", tmp_path / "count")
    user_.tree.mkdir()
    user_.git("init", "--quiet")
    return user_


def test_the_commit_is_found_with_both_figures_and_nothing_is_built_twice(
    user: User, dear: str
) -> None:
    user.commit(PLAIN, PLAIN, dear, BROKEN, dear)
    files = user.files()
    done = user.bisect()
    assert done.code == 0, done
    commit, figures = done.out.splitlines()[-2:]
    assert commit == f"The first bad commit is {user.named(2)}"
    assert figures.startswith(f"  {ROW}: ")
    assert f"; {user.commits[1][:9]}, its parent, has " in figures
    assert f", +{variants.MORE} (+" in figures
    assert user.builds == 4  # one commit is after a bad one
    assert user.bisect().out == done.out
    assert user.builds == 4
    assert user.files() == files
    other = user.bisect("--fresh", "--json")
    document = json.loads(other.out)
    assert document["first_bad"] == [user.commits[2]]
    assert [entry["commit"] for entry in document["commits"]] == [
        user.commits[n] for n in (0, 1, 2, 4)
    ]
    assert user.builds == 8


def test_commits_without_figures_are_skipped_and_listed_as_suspects(user: User, dear: str) -> None:
    user.commit(PLAIN, PLAIN, BROKEN, NO_KERNEL, dear, dear)
    done = user.bisect()
    assert done.code == 1, done
    lines = done.out.splitlines()
    assert "failed" in lines[lines.index(f"skipped  {user.named(2)}") + 1]
    assert "kernel.elf" in lines[lines.index(f"skipped  {user.named(3)}") + 1]
    assert lines[-3:] == [f"  {user.named(number)}" for number in (2, 3, 4)]


def test_an_unusable_good_or_bad_commit_is_one_line(user: User, dear: str) -> None:
    user.commit(PLAIN, dear)
    done = user.bisect(limit=f"+{variants.MORE}")
    assert done.code == 2
    assert (
        f"{user.commits[1][:9]} is within +{variants.MORE} of {user.commits[0][:9]}" in done.error
    )
    user.commit(BROKEN)
    done = user.bisect()
    assert (done.code, "it is broken" in done.error) == (2, True)


@pytest.mark.parametrize(
    ("limit", "row", "error"),
    [
        ("2 %", ROW, "limit"),
        ("+nan", ROW, "is not a limit"),
        ("+2", "syscall", "'syscall' names "),
        ("+2", "syscal.command", "names no row"),
    ],
)
def test_nothing_is_built_for_a_bad_limit_or_row(
    user: User, limit: str, row: str, error: str
) -> None:
    user.commit(PLAIN, PLAIN)
    done = user.bisect(limit=limit, row=row)
    assert (done.code, error in done.error) == (2, True), done
    assert not user.count.exists()
