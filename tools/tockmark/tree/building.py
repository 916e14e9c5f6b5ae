# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Building kernels of commits by a command of the user's, each once.

What was built is kept in build/commits/, a folder each with its log, by all that is known to decide
it: the commit, the command, the patch and what the linker was told. The toolchain is not known, so
who changes it has to say that nothing kept is to be taken.
"""

import hashlib
import os
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from tockmark import paths
from tockmark.errors import INTERRUPTED, TockmarkError
from tockmark.files import replace_whole
from tockmark.paths import shown
from tockmark.plain import one_line, quoted
from tockmark.target.progress import Line
from tockmark.tree.git import outside_git
from tockmark.tree.repository import Commit
from tockmark.tree.worktrees import Worktree

LINK_ARGS = "TOCKMARK_LINK_ARGS"  # in the environment of the user's command
KEPT_NAME = "kernel.elf"
PATIENCE = 5.0  # seconds that a command has to end when it is told to
TAIL = 4096  # bytes at the end of a log that hold its last line


class BuildError(TockmarkError):
    """No kernel comes of this commit; others may be well."""


@dataclass(frozen=True)
class Patch:
    """What is changed in a commit's files before they are built."""

    digest: str  # of all that decides what is changed
    put: Callable[[Path], object]  # TockmarkError, and nothing changed, if it does not fit


@dataclass(frozen=True)
class Recipe:
    """How the user makes a kernel of a commit."""

    command: str  # for the shell, in the top folder of the worktree
    elf: PurePosixPath  # what it makes, from there
    patch: Patch | None = None

    def __post_init__(self) -> None:
        if not self.command.strip():
            raise TockmarkError("the build command is empty", "give one with --build")
        if self.elf.is_absolute() or ".." in self.elf.parts or not self.elf.name:
            raise TockmarkError(
                f"'{quoted(self.elf)}' is not a file within the checkout",
                "give with --elf where the build puts the kernel, from the checkout's top folder",
            )


@dataclass
class Builder:
    """Builds commits, and keeps what it built."""

    worktree: Worktree
    recipe: Recipe
    fresh: bool = False  # build also what is kept
    built: set[Path] = field(default_factory=set)  # by this one
    seconds: float = 0.0  # that building took

    def build(self, commit: Commit, link_args: str = "") -> Path:
        """The ELF of a commit's kernel, linked with these arguments besides. BuildError if the
        patch does not fit, the command fails, or makes no ELF; TockmarkError after Ctrl-C."""
        kept = self.kept(commit, link_args)
        if kept.is_file() and (kept in self.built or not self.fresh):
            return kept
        start = time.monotonic()
        try:
            self._make(commit, link_args, kept)
        except KeyboardInterrupt:
            raise TockmarkError(
                f"interrupted while {commit.short} was built: what was built before it is kept",
                "the same command goes on from there",
                INTERRUPTED,
            ) from None
        finally:
            self.seconds += time.monotonic() - start
        self.built.add(kept)
        return kept

    def kept(self, commit: Commit, link_args: str = "") -> Path:
        """Where it is, or will be."""
        recipe = self.recipe
        patch = recipe.patch.digest if recipe.patch else ""
        said = (commit.sha, recipe.command, str(recipe.elf), patch, link_args)
        digest = hashlib.sha256("\0".join(said).encode(errors="surrogateescape")).hexdigest()
        return paths.COMMITS / f"{commit.short}-{digest[:16]}" / KEPT_NAME

    def _make(self, commit: Commit, link_args: str, kept: Path) -> None:
        log, made = kept.with_name("build.log"), self.worktree.path / self.recipe.elf
        self.worktree.at(commit)
        if self.recipe.patch is not None:
            try:
                self.recipe.patch.put(self.worktree.path)
            except TockmarkError as error:
                raise BuildError(f"{commit.short} cannot be built: {error}") from error
        made.unlink(missing_ok=True)  # or that of another commit might be taken for this one's
        kept.parent.mkdir(parents=True, exist_ok=True)
        what = f"building {commit.short}" + f", {link_args}" * bool(link_args)
        code = _run(self.recipe.command, self.worktree.path, link_args, log, what)
        if code:
            last = quoted(_last_line(log)) or "without a word"
            raise BuildError(
                f"the build of {commit.short} failed with code {code}: {last}",
                f"all that it said is in {shown(log)}",
            )
        if not made.is_file():
            raise BuildError(
                f"the build of {commit.short} ended well, but made no {self.recipe.elf}",
                f"give with --elf what it makes; all that it said is in {shown(log)}",
            )
        replace_whole({kept: made.read_bytes()})


def _run(command: str, folder: Path, link_args: str, log: Path, what: str) -> int:
    """Run a command of the user's to its end, while its last line is shown; its exit code. Whatever
    ends us ends it, with all that it began."""
    environment = outside_git() | {LINK_ARGS: link_args}
    with log.open("wb") as out, Line(what) as line:
        process = subprocess.Popen(
            command,
            shell=True,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # so that its children end with it
        )
        try:
            while True:
                with suppress(subprocess.TimeoutExpired):
                    return process.wait(0.2)
                line.show(_last_line(log))
        except BaseException:
            _end(process)
            raise


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a command and all that it began: until they are gone they may write to the worktree."""
    with suppress(ProcessLookupError):  # all are gone
        for number in (signal.SIGTERM, signal.SIGKILL):
            os.killpg(process.pid, number)
            until = time.monotonic() + PATIENCE
            while time.monotonic() < until:
                process.poll()  # one whose end nobody takes note of is not gone
                os.killpg(process.pid, 0)
                time.sleep(0.02)


def _last_line(log: Path) -> str:
    """The last line of a log that says anything."""
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - TAIL))
        lines = file.read().decode(errors="replace").splitlines()
    return next((one_line(line).strip() for line in reversed(lines) if line.strip()), "")
