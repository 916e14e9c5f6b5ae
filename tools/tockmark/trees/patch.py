# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Put the counters and IPC into a Tock tree, or take them out: everything requested, or an error
and no change.

kernel-patches/ has a file for each family of versions, which is read as a `Family`. A part (Perf,
CycleCount, IPC) consists of edits and of our own files. An edit finds its position by an anchor, a
line that a board can hardly do without, so it survives changes around it. In memory, a tree is
first restored to its state without the patch and then brought to the requested state; files are
written last.
"""

import contextlib
import os
import re
import shlex
import shutil
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from tockmark.base import paths
from tockmark.base.documents import Part
from tockmark.base.errors import TockmarkError

LIBRARY = Path("kernel", "src", "lib.rs")
EARL_GREY_BOARD = re.compile(r"/(opentitan|earlgrey-[^/]*)$")
EARL_GREY = "riscv32imc-unknown-none-elf"


class MisfitError(Exception):
    """The reason why an edit does not fit a text, as words that follow the file's name."""


class Edit(Part, frozen=True):
    """A change at one position of a file.

    Whole lines go `before` or `after` the only line that matches the anchor, a regular expression
    without the indentation; or text replaces the text in `instead`."""

    file: str
    put: str
    before: str | None = None
    after: str | None = None
    instead: str | None = None

    @property
    def anchor(self) -> str:
        return self.before or self.after or self.instead or ""

    def applied(self, text: str) -> str:
        """Return the text with this edit. Raise MisfitError unless the anchor matches exactly
        once."""
        whole = rf"^[ \t]*(?:{self.anchor})\n"
        pattern = whole if self.instead is None else re.escape(self.instead)
        matches = list(re.finditer(pattern, text, re.MULTILINE))
        if len(matches) != 1:
            raise MisfitError(f"has {len(matches) or 'no'} places like `{self.anchor}`")
        start, end = matches[0].span()
        if self.before is not None:
            end = start
        elif self.after is not None:
            start = end
        return text[:start] + self.put + text[end:]

    def reverted(self, text: str) -> str:
        """Return the text before `applied`. Raise MisfitError if this edit is not in it."""
        first, count = self.put.strip().splitlines()[0], text.count(self.put)
        if count != 1:
            raise MisfitError(f"has {count or 'no'} places like `{first}`")
        before = text.replace(self.put, self.instead or "")
        if self.applied(before) != text:
            raise MisfitError(f"has `{first}` in another place")
        return before


class PatchPart(Part, frozen=True):
    """A part of the patch, which goes in as a whole or not at all."""

    edits: tuple[Edit, ...]
    # Our files, by path in the tree.
    copies: dict[str, str] = msgspec.field(default_factory=dict)
    # A file that a tree must have for this part to fit.
    needs: str = ""

    @property
    def texts(self) -> dict[str, str]:
        """The contents of our files, by path in the tree."""
        return {
            target: (paths.PERF / source).read_text(encoding="utf-8")
            for target, source in self.copies.items()
        }


class Family(Part, frozen=True):
    """Versions of Tock that take the same edits."""

    versions: str  # of Tock, in words
    board: str
    run: tuple[str, ...]  # options of `tockmark run` in addition to --kernel
    needs: tuple[str, ...]  # files that only its versions have
    target: str = EARL_GREY  # the compiler's target; for others, the user names the board
    perf: PatchPart | None = None
    ipc: PatchPart | None = None
    ipc2: PatchPart | None = None
    cyclecount: PatchPart | None = None  # only on request or without Perf
    # Files, and a text in each that only its versions have.
    holds: dict[str, str] = msgspec.field(default_factory=dict)

    @property
    def name(self) -> str:
        """The board's name for --board."""
        return Path(self.board).name.replace("_", "-")

    @property
    def counters(self) -> dict[str, PatchPart]:
        """The parts through which apps read cycles, by name."""
        named = {"Perf": self.perf, "CycleCount": self.cyclecount}
        return {name: part for name, part in named.items() if part is not None}

    @property
    def default_counter(self) -> str:
        """The counter that is used unless the user names one."""
        return next(iter(self.counters))

    @property
    def required_part(self) -> PatchPart:
        """The part that makes a tree a patched one."""
        return self.counters[self.default_counter]

    @property
    def parts(self) -> dict[str, PatchPart]:
        """The parts by name, in their order at a common anchor."""
        named = {**self.counters, "IPC": self.ipc, "the new IPC": self.ipc2}
        return {name: part for name, part in named.items() if part is not None}

    def elf(self, tree: Path) -> Path:
        """Return the path of the kernel that Tock's makefile builds."""
        return tree / "target" / self.target / "release" / f"{Path(self.board).name}.elf"


@dataclass(frozen=True)
class PatchResult:
    """The changes to a tree; with `check`, the changes that would be made."""

    family: Family
    changed: bool
    wired: tuple[str, ...] = ()  # the parts in the patched tree
    left_out: dict[str, str] = field(default_factory=dict)  # the other parts, and the reasons


def apply_patch(
    tree: Path, check: bool = False, counters: Sequence[str] = (), board: str | None = None
) -> PatchResult:
    """Put these counters, by default the family's first one, and all other parts that fit into a
    tree's board. With `check`, write nothing.

    Raise TockmarkError, with nothing changed, if the tree belongs to no family, a counter does not
    fit, the tree contains only a piece of the patch, or a file cannot be written."""
    family = find_family(tree, board)
    counters = counters or [family.default_counter]
    now, _ = _stripped(TreeFiles(tree), family)
    if missing := [name for name in counters if name not in family.counters]:
        raise TockmarkError(
            f"{family.board} of {family.versions} does not support {missing[0]}",
            f"use --counter {family.default_counter.lower()}",
        )
    left_out = {}
    parts = {
        name: part
        for name, part in family.parts.items()
        if (tree / part.needs).exists() and (name in counters or name not in family.counters)
    }
    for name, part in reversed(parts.items()):
        try:
            if name in counters:
                _check_absent(now, part)
            now = now.patched(part)
        except MisfitError as misfit:
            if name in counters:
                raise TockmarkError(
                    f"the patch does not fit {tree}: {misfit}",
                    "nothing was changed; wire the board by hand as in kernel-patches/",
                ) from None
            left_out[name] = str(misfit)
    if not check:
        now.write()
    wired = tuple(name for name in parts if name not in left_out)
    return PatchResult(family, bool(now.changes()), wired, left_out)


def remove_patch(tree: Path, check: bool = False, board: str | None = None) -> PatchResult:
    """Take the patch out of a tree, so that every file is, byte for byte, as before `apply_patch`.

    Raise TockmarkError, with nothing changed, if the patched parts have been changed since."""
    family = find_family(tree, board)
    now, present = _stripped(TreeFiles(tree), family)
    if family.required_part in present:
        for part in family.parts.values():
            if part not in present:
                _check_absent(now, part)
    if not check:
        now.write()
    return PatchResult(family, bool(now.changes()))


def load_families() -> list[Family]:
    """Return all families, oldest first."""
    return [
        msgspec.toml.decode(path.read_bytes(), type=Family)
        for path in sorted(paths.KERNEL_PATCHES.glob("*.toml"))
    ]


def board_names() -> list[str]:
    """Return the boards that the patch supports, as --board names them."""
    return sorted({family.name for family in load_families()})


def find_family(tree: Path, board: str | None = None) -> Family:
    """Return the family of a tree: of this board, or by default of any with Earl Grey. Raise
    TockmarkError if no family matches."""
    families = [
        family for family in load_families() if (family.name == board if board else family.perf)
    ]
    for family in families:
        has_texts = all(text in _text(tree / name) for name, text in family.holds.items())
        if has_texts and all((tree / name).is_file() for name in family.needs):
            return family
    version = tock_release(tree)
    fits = " or ".join(f"{family.versions} with {family.board}" for family in families)
    if version is None:
        raise TockmarkError(
            f"{tree} is not a Tock checkout: {LIBRARY} is missing or not Tock's",
            f"give the top folder of {fits}",
        )
    folders = sorted(path.parent for path in (tree / "boards").glob("**/Cargo.toml"))
    names = [str(path.relative_to(tree)) for path in folders]
    boards = " and ".join(name for name in names if EARL_GREY_BOARD.search(name))
    why = f"this version's {boards} is unknown" if boards else "it has no Earl Grey board"
    if board:
        why = f"it has no {board} that the patch supports"
    raise TockmarkError(
        f"{tree} is {version}, which is not supported: {why}",
        f"the patch fits {fits}; wire other boards by hand as in kernel-patches/",
    )


def tock_release(tree: Path) -> str | None:
    """Return a tree's version, such as "Tock 2.2"; None if it does not look like Tock."""
    try:
        package = tomllib.loads(_text(tree / "Cargo.toml")).get("workspace", {}).get("package", {})
        version = str(package.get("version", ""))
    except (ValueError, AttributeError):
        version = ""
    # Tock's crates were 0.1.0 for years; later, 0.2.2 means 2.2.
    if version.startswith("0.") and version != "0.1.0":
        return f"Tock {version.removeprefix('0.')}"
    library = _text(tree / LIBRARY)
    numbers = [
        number
        for part in ("MAJOR", "MINOR")
        for number in re.findall(
            rf"^pub const (?:KERNEL_)?{part}(?:_VERSION)?: u16 = (\d+);", library, re.M
        )[:1]
    ]
    if len(numbers) == 2:
        return f"Tock {'.'.join(numbers)}"
    # Without a version: until 2021-03 upcalls were called callbacks.
    sources = (tree / LIBRARY).parent
    if not (tree / "chips").is_dir():  # not Tock, such as our own kernel
        return None
    if (sources / "callback.rs").is_file():
        return "Tock 1.x"
    return "Tock between 1.x and 2.0" if (sources / "upcall.rs").is_file() else None


def _text(path: Path) -> str:
    """Return a text file's content; empty if it cannot be read."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""


class TreeFiles:
    """Text files of a tree with changes that are not written yet; None is a missing file."""

    def __init__(self, tree: Path) -> None:
        self.tree = tree
        self._before: dict[Path, str | None] = {}
        self._now: dict[Path, str | None] = {}

    def get(self, name: str) -> str | None:
        """Return a file's text. Raise MisfitError if it cannot be read or is not text."""
        path = self._path(name)
        if path not in self._now:
            try:
                text = path.read_bytes().decode() if path.exists() else None
            except OSError as error:
                raise MisfitError(f"{name} cannot be read: {error.strerror}") from error
            except UnicodeDecodeError as error:
                raise MisfitError(f"{name} is not UTF-8") from error
            self._before[path] = self._now[path] = text
        return self._now[path]

    def patched(self, part: PatchPart, reverse: bool = False) -> "TreeFiles":
        """Return the files with a part applied, or with `reverse` removed. Raise MisfitError if it
        does not fit, or is not completely there."""
        now = TreeFiles(self.tree)
        now._before, now._now = dict(self._before), dict(self._now)
        for edit in reversed(part.edits) if reverse else part.edits:
            text = now.get(edit.file)
            if text is None:
                raise MisfitError(f"{edit.file} is missing")
            try:
                now._set(edit.file, edit.reverted(text) if reverse else edit.applied(text))
            except MisfitError as misfit:
                raise MisfitError(f"{edit.file} {misfit}") from None
        for name, content in part.texts.items():
            if reverse and now.get(name) != content:
                raise MisfitError(f"{name} has been changed")
            now._set(name, None if reverse else content)
        return now

    def changes(self) -> dict[Path, str | None]:
        """Return the new contents of the files that change."""
        return {path: now for path, now in self._now.items() if now != self._before[path]}

    def write(self) -> None:
        """Write the changes. After an error or Ctrl-C, all files are as before."""
        changes = self.changes()
        try:
            _write(changes)
        except BaseException as error:
            _write({path: self._before[path] for path in changes})
            if isinstance(error, OSError):
                raise TockmarkError(
                    f"{self.tree} could not be changed: {error.strerror}", "nothing was changed"
                ) from error
            raise

    def _set(self, name: str, text: str | None) -> None:
        """Set a file's text, or remove it."""
        self.get(name)  # remembers the text before
        self._now[self._path(name)] = text

    def _path(self, name: str) -> Path:
        # Until 2025 the board's source folder was a symbolic link to another one in the tree.
        path = (self.tree / name).resolve()
        if not path.is_relative_to(self.tree.resolve()):
            raise MisfitError(f"{name} is a symbolic link out of {self.tree}")
        return path


def _write(contents: Mapping[Path, str | None]) -> None:
    """Write files: first those steps that need space, then those that hardly fail."""
    temporary = {path: path.with_name(f".{path.name}.tockmark") for path in contents}
    try:
        for path, content in contents.items():
            if content is not None:
                path.parent.mkdir(parents=True, exist_ok=True)
                temporary[path].write_bytes(content.encode())
                if path.exists():
                    shutil.copymode(path, temporary[path])
        for path, content in contents.items():
            if content is not None:
                os.replace(temporary[path], path)
            else:
                path.unlink(missing_ok=True)
                with contextlib.suppress(OSError):  # it is not empty, or missing
                    path.parent.rmdir()
    finally:
        for path in temporary.values():
            path.unlink(missing_ok=True)


def _stripped(sources: TreeFiles, family: Family) -> tuple[TreeFiles, list[PatchPart]]:
    """Return the tree without the patch, and the parts that were completely in it."""
    present = []
    for part in family.parts.values():
        try:
            sources = sources.patched(part, reverse=True)
            present.append(part)
        except MisfitError:
            if part is family.required_part:
                _check_absent(sources, part)
    return sources, present


def _check_absent(sources: TreeFiles, part: PatchPart) -> None:
    """Raise TockmarkError if pieces of a part are there."""
    files = [name for name in part.copies if sources.get(name) is not None]
    ours = [name for name in files if sources.get(name) == part.texts[name]]
    if files and not ours and len(files) < len(part.copies):
        raise TockmarkError(
            f"{sources.tree} has its own capsule in {', '.join(files)}, where the patch puts Perf",
            "nothing was changed; if it implements Perf's commands, measure without the patch",
        )
    edits = [edit for edit in part.edits if edit.put in (sources.get(edit.file) or "")]
    if edits:
        try:
            sources.patched(part, reverse=True)
        except MisfitError as misfit:
            raise TockmarkError(
                f"{sources.tree} was patched and then changed: {misfit}",
                "nothing was changed; revert that change first",
            ) from None
    if files:
        remove = shlex.join(["rm", *(str(sources.tree / name) for name in files)])
        if ours == files:
            raise TockmarkError(
                f"{sources.tree} has only the files of the patch, as after `git stash`",
                f"delete them: {remove}",
            )
        raise TockmarkError(
            f"{sources.tree} already has {', '.join(files)}, which this patch would add",
            f"nothing was changed; if you do not need them, {remove}",
        )
