# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Puts the Perf capsule, and what IPC needs, into a checkout of Tock, or takes it out again.

kernel-patches/ has a folder for each version of Tock: a patch of the lines that are changed, and
how the version is known and which of our files go with it. All of it becomes one patch for
`git apply`, which applies it as a whole or not at all, in a git checkout or outside one.
"""

import os
import subprocess
import tomllib
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from tockmark import paths
from tockmark.errors import TockmarkError

ELF_FOLDER = Path("target", "riscv32imc-unknown-none-elf", "release")


@dataclass(frozen=True)
class Version:
    """A version of Tock that there is a patch for."""

    name: str
    commit: str
    marker: tuple[str, str]  # a file of the tree, and a line that only this version has in it
    board: str
    run: str  # what `tockmark run` needs beside --kernel
    changes: str  # the patch: changed lines, and our files as new ones
    files: tuple[str, ...]  # our files

    def is_in(self, tree: Path) -> bool:
        file, line = self.marker
        try:
            return line in (tree / file).read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError):
            return False


class State(StrEnum):
    """How a tree stands to a version's patch."""

    CLEAN = "not patched"
    PATCHED = "patched already"


def versions(folder: Path = paths.KERNEL_PATCHES, sources: Path = paths.PERF) -> list[Version]:
    """The versions that there are patches for, oldest first."""
    return [_version(path.parent, sources) for path in sorted(folder.glob("*/version.toml"))]


def recognise(tree: Path, known: list[Version]) -> Version:
    """The version of Tock that a tree holds."""
    for version in known:
        if version.is_in(tree):
            return version
    names = ", ".join(f"{version.name} ({version.commit[:9]})" for version in known)
    raise TockmarkError(
        f"{tree} holds no version of Tock that there is a patch for",
        f"give the top folder of a checkout of {names}, or of a branch near it",
    )


def state(tree: Path, version: Version) -> State:
    """Whether the patch is in a tree; an error if it neither applies nor is there as a whole."""
    refusal = _apply(tree, version, "--check")
    if refusal is None:
        return State.CLEAN
    entangled = _apply(tree, version, "--check", "--reverse")
    if entangled is None:
        return State.PATCHED
    if all((tree / file).exists() for file in version.files):
        raise TockmarkError(
            f"{tree} was patched and changed since then: {entangled}",
            "nothing was changed; undo that change first",
        )
    raise TockmarkError(
        f"the patch for {version.name} does not fit {tree}: {refusal}",
        "nothing was changed; wire the board by hand: kernel-patches/ shows what it takes",
    )


def change(tree: Path, version: Version, reverse: bool) -> None:
    """Put the patch in, or take it out: all of it, or an error and nothing."""
    refusal = _apply(tree, version, *(["--reverse"] if reverse else []))
    if refusal is not None:
        raise TockmarkError(f"{tree} could not be changed: {refusal}", "nothing was changed")


def head(tree: Path) -> str | None:
    """The commit that is checked out in a tree; None where git does not know."""
    done = _git(tree, "rev-parse", "HEAD") if (tree / ".git").exists() else None
    return done.stdout.strip() if done is not None and done.returncode == 0 else None


def elf(tree: Path, version: Version) -> Path:
    """Where Tock's makefile puts the kernel."""
    return tree / ELF_FOLDER / f"{Path(version.board).name}.elf"


def _version(folder: Path, sources: Path) -> Version:
    about = tomllib.loads((folder / "version.toml").read_text(encoding="utf-8"))
    changed = (folder / "tock.patch").read_text(encoding="utf-8")
    added = [_as_new(target, sources / source) for target, source in about["copies"].items()]
    return Version(
        name=about["name"],
        commit=about["commit"],
        marker=(about["marker"]["file"], about["marker"]["line"]),
        board=about["board"],
        run=about["run"],
        changes=changed + "".join(added),
        files=tuple(about["copies"]),
    )


def _as_new(target: str, source: Path) -> str:
    lines = source.read_text(encoding="utf-8").splitlines()
    head = [
        f"diff --git a/{target} b/{target}",
        "new file mode 100644",
        "--- /dev/null",
        f"+++ b/{target}",
        f"@@ -0,0 +1,{len(lines)} @@",
    ]
    return "".join(f"{line}\n" for line in [*head, *(f"+{line}" for line in lines)])


def _apply(tree: Path, version: Version, *options: str) -> str | None:
    """None, or what hinders it: the first thing that git says."""
    done = _git(tree, "apply", "--whitespace=nowarn", *options, "-", given=version.changes)
    if done.returncode == 0:
        return None
    said = [line.removeprefix("error: ") for line in done.stderr.splitlines() if line]
    return said[0] if said else f"git ended with {done.returncode}"


def _git(tree: Path, *command: str, given: str = "") -> subprocess.CompletedProcess[str]:
    # A repository above the tree, if the tree is none itself, is not the tree's: paths count from
    # the tree.
    alone = {"GIT_CEILING_DIRECTORIES": str(tree.resolve().parent), "LC_ALL": "C"}
    outer = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        return subprocess.run(
            ["git", "-c", "core.autocrlf=false", *command],
            cwd=tree,
            env=outer | alone,
            input=given,
            capture_output=True,
            text=True,
            check=False,
        )
    except FileNotFoundError as error:
        raise TockmarkError("git is not there", "install it") from error
