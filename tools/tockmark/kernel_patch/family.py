# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What is changed in which Tock: kernel-patches/ has a file for each family of versions.

A part, Perf or IPC, is made of edits and of our own files. An edit finds its place by an anchor, a
line that the board would hardly do without, so that it outlasts what else moves around it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tockmark import files, paths
from tockmark.errors import TockmarkError

ELF_FOLDER = Path("target", "riscv32imc-unknown-none-elf", "release")


class MisfitError(Exception):
    """Why an edit has no place in a text: words that follow the file's name."""


@dataclass(frozen=True)
class Edit:
    """One place of one file. Whole lines go `before` or `after` the only line that its anchor
    describes, a regular expression without the indentation; or text goes in `instead` of text."""

    file: str
    where: str
    anchor: str
    put: str

    def done(self, text: str) -> str:
        """The text with this edit; MisfitError if the anchor is not there exactly once."""
        whole = rf"^[ \t]*(?:{self.anchor})\n"
        pattern = re.escape(self.anchor) if self.where == "instead" else whole
        found = list(re.finditer(pattern, text, re.MULTILINE))
        if len(found) != 1:
            raise MisfitError(f"has {len(found) or 'no'} places like `{self.anchor}`")
        start, end = found[0].span()
        if self.where == "before":
            end = start
        elif self.where == "after":
            start = end
        return text[:start] + self.put + text[end:]

    def is_in(self, text: str) -> bool:
        """Whether what it puts is there, wherever that is."""
        return self.put in text

    def undone(self, text: str) -> str:
        """The text from which `done` made this one; MisfitError if there is none."""
        there = text.count(self.put)
        if there != 1:
            raise MisfitError(
                f"has {there or 'no'} places like `{self.put.strip().splitlines()[0]}`"
            )
        before = text.replace(self.put, self.anchor if self.where == "instead" else "")
        if self.done(before) != text:
            raise MisfitError(f"has `{self.put.strip().splitlines()[0]}` in another place")
        return before


@dataclass(frozen=True)
class Part:
    """What goes in as a whole, or not at all."""

    name: str
    edits: tuple[Edit, ...]
    copies: Mapping[str, str]  # our files, by their paths in the tree


@dataclass(frozen=True)
class Family:
    """Versions of Tock that take the same edits."""

    board: str
    run: tuple[str, ...]  # what `tockmark run` needs beside --kernel
    needs: tuple[str, ...]  # files that only its versions have
    perf: Part
    ipc: Part

    def elf(self, tree: Path) -> Path:
        """Where Tock's makefile puts the kernel."""
        return tree / ELF_FOLDER / f"{Path(self.board).name}.elf"


def families(folder: Path = paths.KERNEL_PATCHES, sources: Path = paths.PERF) -> list[Family]:
    """All families, oldest first."""
    return [_family(path, sources) for path in sorted(folder.glob("*.toml"))]


def recognise(tree: Path) -> Family:
    """The family of a tree; TockmarkError if it has none."""
    known = families()
    for family in known:
        if all((tree / name).is_file() for name in family.needs):
            return family
    boards = " or ".join(family.board for family in known)
    raise TockmarkError(
        f"{tree} holds {release(tree) or 'no Tock'}, without a board that the patch is for",
        f"give the top folder of Tock 1.x or from 2.2 on, with {boards}",
    )


def release(tree: Path) -> str | None:
    """What a tree says that it is, such as "Tock 2.2"; None if it does not look like Tock."""
    try:
        package = files.toml(_text(tree / "Cargo.toml")).get("workspace", {}).get("package", {})
        version = str(package.get("version", ""))
    except (ValueError, AttributeError):
        version = ""
    # Tock's crates were 0.1.0 for years; since then 0.2.2 stands for 2.2.
    if version.startswith("0.") and version != "0.1.0":
        return f"Tock {version.removeprefix('0.')}"
    library = _text(tree / "kernel" / "src" / "lib.rs")
    numbers = [
        re.search(rf"^pub const (?:KERNEL_)?{part}(?:_VERSION)?: u16 = (\d+);", library, re.M)
        for part in ("MAJOR", "MINOR")
    ]
    if all(numbers):
        return "Tock " + ".".join(found[1] for found in numbers if found)
    return "Tock 1.x" if (tree / "kernel" / "src" / "callback.rs").is_file() else None


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""


def _family(path: Path, sources: Path) -> Family:
    about = files.toml(path.read_text(encoding="utf-8"))
    return Family(
        board=about["board"],
        run=tuple(about["run"]),
        needs=tuple(about["needs"]),
        perf=_part("Perf", about["perf"], sources),
        ipc=_part("IPC", about["ipc"], sources),
    )


def _part(name: str, about: Mapping[str, Any], sources: Path) -> Part:
    return Part(
        name=name,
        edits=tuple(_edit(edit) for edit in about["edits"]),
        copies={
            target: (sources / source).read_text(encoding="utf-8")
            for target, source in about.get("copies", {}).items()
        },
    )


def _edit(about: Mapping[str, str]) -> Edit:
    where = next(key for key in about if key in ("before", "after", "instead"))
    return Edit(about["file"], where, about[where], about["put"])
