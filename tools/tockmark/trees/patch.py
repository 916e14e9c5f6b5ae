# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Puts what counts and IPC into a tree of Tock or takes them out: all that was asked for, or an
error and nothing.

kernel-patches/ has a file for each family of versions, which is read as a `Family`. A part (Perf,
CycleCount, IPC) is made of edits and of our own files. An edit finds its place by an anchor, a line
that the board would hardly do without, so that it outlasts what else moves around it. A tree is
first brought, in memory, to what it is without the patch, and from there to what is asked for; only
then files are written.
"""

import contextlib
import os
import re
import shlex
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from tockmark.base import files, paths
from tockmark.base.documents import Part
from tockmark.base.errors import TockmarkError

LIBRARY = Path("kernel", "src", "lib.rs")
EARL_GREY = "riscv32imc-unknown-none-elf"


class MisfitError(Exception):
    """Says why an edit has no place in a text, in words that follow the file's name."""


class Edit(Part, frozen=True):
    """One place of one file. Whole lines go `before` or `after` the only line that its anchor
    describes, a regular expression without the indentation; or text goes in `instead` of text."""

    file: str
    put: str
    before: str | None = None
    after: str | None = None
    instead: str | None = None

    @property
    def anchor(self) -> str:
        return self.before or self.after or self.instead or ""

    def done(self, text: str) -> str:
        """Return the text with this edit; MisfitError if the anchor is not there exactly once."""
        whole = rf"^[ \t]*(?:{self.anchor})\n"
        pattern = whole if self.instead is None else re.escape(self.instead)
        found = list(re.finditer(pattern, text, re.MULTILINE))
        if len(found) != 1:
            raise MisfitError(f"has {len(found) or 'no'} places like `{self.anchor}`")
        start, end = found[0].span()
        if self.before is not None:
            end = start
        elif self.after is not None:
            start = end
        return text[:start] + self.put + text[end:]

    def undone(self, text: str) -> str:
        """Return the text from which `done` made this one; MisfitError if there is none."""
        first, there = self.put.strip().splitlines()[0], text.count(self.put)
        if there != 1:
            raise MisfitError(f"has {there or 'no'} places like `{first}`")
        before = text.replace(self.put, self.instead or "")
        if self.done(before) != text:
            raise MisfitError(f"has `{first}` in another place")
        return before


class PatchPart(Part, frozen=True):
    """Goes in as a whole, or not at all."""

    edits: tuple[Edit, ...]
    # Our files, by their paths in the tree.
    copies: dict[str, str] = msgspec.field(default_factory=dict)
    # A file without which a tree has nothing that this part could wire.
    needs: str = ""

    @property
    def texts(self) -> dict[str, str]:
        """Return what our files hold, by their paths in the tree."""
        return {
            target: (paths.PERF / source).read_text(encoding="utf-8")
            for target, source in self.copies.items()
        }


class Family(Part, frozen=True):
    """Versions of Tock that take the same edits."""

    versions: str  # of Tock, in words
    board: str
    run: tuple[str, ...]  # what `tockmark run` needs beside --kernel
    needs: tuple[str, ...]  # files that only its versions have
    target: str = EARL_GREY  # as compilers name it; of another, the board has to be named
    perf: PatchPart | None = None
    ipc: PatchPart | None = None
    ipc2: PatchPart | None = None
    cyclecount: PatchPart | None = None  # only where asked for, or where there is no Perf
    # Files, and a text in each that only its versions have.
    holds: dict[str, str] = msgspec.field(default_factory=dict)

    @property
    def name(self) -> str:
        """Return what --board calls its board."""
        return Path(self.board).name.replace("_", "-")

    @property
    def counters(self) -> dict[str, PatchPart]:
        """Return the parts by which apps read cycles, by their names."""
        named = {"Perf": self.perf, "CycleCount": self.cyclecount}
        return {name: part for name, part in named.items() if part is not None}

    @property
    def default_counter(self) -> str:
        """Return the counter that goes in if none is named."""
        return next(iter(self.counters))

    @property
    def required_part(self) -> PatchPart:
        """Return the part without which a tree is not patched."""
        return self.counters[self.default_counter]

    @property
    def parts(self) -> dict[str, PatchPart]:
        """Return the parts by their names, in the order in which they stand at one anchor."""
        named = {**self.counters, "IPC": self.ipc, "the new IPC": self.ipc2}
        return {name: part for name, part in named.items() if part is not None}

    def elf(self, tree: Path) -> Path:
        """Return where Tock's makefile puts the kernel."""
        return tree / "target" / self.target / "release" / f"{Path(self.board).name}.elf"


@dataclass(frozen=True)
class PatchResult:
    """Says what became of a tree, or with `check` would have."""

    family: Family
    changed: bool
    wired: tuple[str, ...] = ()  # names of the parts that are in a patched tree
    left_out: dict[str, str] = field(default_factory=dict)  # names of the others, and why


def apply_patch(
    tree: Path, check: bool = False, counters: Sequence[str] = (), board: str | None = None
) -> PatchResult:
    """Put these counters into a tree's board, by default the family's first, and the parts that fit
    there. With `check` nothing is written.

    TockmarkError, with nothing changed, if the tree is of no family, a counter does not fit, what
    is in the tree is a part of the patch only, or a file cannot be written."""
    family = find_family(tree, board)
    counters = counters or [family.default_counter]
    now, _ = _stripped(TreeFiles(tree), family)
    if lacking := [name for name in counters if name not in family.counters]:
        raise TockmarkError(
            f"{family.board} of {family.versions} takes no {lacking[0]}",
            f"--counter {family.default_counter.lower()} fits",
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
                    "nothing was changed; wire the board by hand: kernel-patches/ shows what it"
                    " takes",
                ) from None
            left_out[name] = str(misfit)
    if not check:
        now.write()
    wired = tuple(name for name in parts if name not in left_out)
    return PatchResult(family, bool(now.changes()), wired, left_out)


def remove_patch(tree: Path, check: bool = False, board: str | None = None) -> PatchResult:
    """Take out what `put_in` put in: every file is again, byte for byte, what it was.

    TockmarkError, with nothing changed, if what is there was changed since then."""
    family = find_family(tree, board)
    now, found = _stripped(TreeFiles(tree), family)
    if family.required_part in found:
        for part in family.parts.values():
            if part not in found:
                _check_absent(now, part)
    if not check:
        now.write()
    return PatchResult(family, bool(now.changes()))


def load_families() -> list[Family]:
    """Return all families, oldest first."""
    return [
        msgspec.convert(files.toml(path.read_text(encoding="utf-8")), Family)
        for path in sorted(paths.KERNEL_PATCHES.glob("*.toml"))
    ]


def board_names() -> list[str]:
    """Return the boards that the patch knows, as --board calls them."""
    return sorted({family.name for family in load_families()})


def find_family(tree: Path, board: str | None = None) -> Family:
    """Return the family of a tree, of this board or of any with Earl Grey; TockmarkError if it has
    none."""
    known = [one for one in load_families() if (one.name == board if board else one.perf)]
    for family in known:
        held = all(text in _text(tree / name) for name, text in family.holds.items())
        if held and all((tree / name).is_file() for name in family.needs):
            return family
    what = tock_release(tree)
    fits = " or ".join(f"{family.versions} with {family.board}" for family in known)
    if what is None:
        raise TockmarkError(
            f"{tree} is no Tock checkout: {LIBRARY} is not there or not Tock's",
            f"give the top folder of {fits}",
        )
    boards = " and ".join(_earl_grey_boards(tree))
    why = f"the patch does not know this version's {boards}" if boards else "no Earl Grey board"
    if board:
        why = f"it has no {board} as the patch knows it"
    raise TockmarkError(
        f"{tree} holds {what}, which is not supported: {why}",
        f"it fits {fits}; kernel-patches/ shows what to put in by hand",
    )


def _earl_grey_boards(tree: Path) -> list[str]:
    """Return the folders of boards with Earl Grey, from the top folder of a tree."""
    found = sorted(path.parent for path in (tree / "boards").glob("**/Cargo.toml"))
    names = [str(path.relative_to(tree)) for path in found]
    return [name for name in names if re.search(r"/(opentitan|earlgrey-[^/]*)$", name)]


def tock_release(tree: Path) -> str | None:
    """Return what a tree says that it is, such as "Tock 2.2"; None if it does not look like
    Tock."""
    try:
        package = files.toml(_text(tree / "Cargo.toml")).get("workspace", {}).get("package", {})
        version = str(package.get("version", ""))
    except (ValueError, AttributeError):
        version = ""
    # Tock's crates were 0.1.0 for years; since then 0.2.2 stands for 2.2.
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
    # Neither says its version: what passes messages to apps is a callback until 2021-03.
    sources = (tree / LIBRARY).parent
    if (sources / "callback.rs").is_file():
        return "Tock 1.x"
    return "Tock on its way from 1.x to 2.0" if (sources / "upcall.rs").is_file() else None


def _text(path: Path) -> str:
    """Read a text file; nothing of one that cannot be read."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""


class TreeFiles:
    """Text files of a tree as they shall be, changes that are not written yet; None is a file that
    is not there."""

    def __init__(self, tree: Path) -> None:
        self.tree = tree
        self._was: dict[Path, str | None] = {}
        self._now: dict[Path, str | None] = {}

    def get(self, name: str) -> str | None:
        """Return a file's text; MisfitError if it is beyond reach or no text."""
        path = self._path(name)
        if path not in self._now:
            try:
                found = path.read_bytes().decode() if path.exists() else None
            except OSError as error:
                raise MisfitError(f"{name} cannot be read: {error.strerror}") from error
            except UnicodeDecodeError as error:
                raise MisfitError(f"{name} is not UTF-8") from error
            self._was[path] = self._now[path] = found
        return self._now[path]

    def patched(self, part: PatchPart, reverse: bool = False) -> "TreeFiles":
        """Return the files with a part in them, or in reverse without it; MisfitError if it does
        not fit, or is not there as a whole."""
        now = TreeFiles(self.tree)
        now._was, now._now = dict(self._was), dict(self._now)
        for edit in reversed(part.edits) if reverse else part.edits:
            text = now.get(edit.file)
            if text is None:
                raise MisfitError(f"{edit.file} is not there")
            try:
                now._set(edit.file, edit.undone(text) if reverse else edit.done(text))
            except MisfitError as misfit:
                raise MisfitError(f"{edit.file} {misfit}") from None
        for name, content in part.texts.items():
            if reverse and now.get(name) != content:
                raise MisfitError(f"{name} is not what was put there")
            now._set(name, None if reverse else content)
        return now

    def changes(self) -> dict[Path, str | None]:
        """Return the files that are to be other than they are."""
        return {path: now for path, now in self._now.items() if now != self._was[path]}

    def write(self) -> None:
        """Write the changes. TockmarkError, or Ctrl-C, and all is as it was."""
        changes = self.changes()
        try:
            _write(changes)
        except BaseException as error:
            _write({path: self._was[path] for path in changes})
            if isinstance(error, OSError):
                raise TockmarkError(
                    f"{self.tree} could not be changed: {error.strerror}", "nothing was changed"
                ) from error
            raise

    def _set(self, name: str, text: str | None) -> None:
        """Have a file, or have it no more."""
        self.get(name)  # what it was is kept
        self._now[self._path(name)] = text

    def _path(self, name: str) -> Path:
        # The board's folder of sources was a symbolic link to another one of the tree until 2025.
        path = (self.tree / name).resolve()
        if not path.is_relative_to(self.tree.resolve()):
            raise MisfitError(f"{name} leaves {self.tree} by a symbolic link")
        return path


def _write(contents: Mapping[Path, str | None]) -> None:
    """Write files: first all that needs room, and then what hardly fails."""
    beside = {path: path.with_name(f".{path.name}.tockmark") for path in contents}
    try:
        for path, content in contents.items():
            if content is not None:
                path.parent.mkdir(parents=True, exist_ok=True)
                beside[path].write_bytes(content.encode())
                if path.exists():
                    shutil.copymode(path, beside[path])
        for path, content in contents.items():
            if content is not None:
                os.replace(beside[path], path)
            else:
                path.unlink(missing_ok=True)
                with contextlib.suppress(OSError):  # it holds more, or is not there
                    path.parent.rmdir()
    finally:
        for path in beside.values():
            path.unlink(missing_ok=True)


def _stripped(sources: TreeFiles, family: Family) -> tuple[TreeFiles, list[PatchPart]]:
    """Return the tree without the patch, and which parts were in it as a whole."""
    found = []
    for part in family.parts.values():
        try:
            sources = sources.patched(part, reverse=True)
            found.append(part)
        except MisfitError:
            if part is family.required_part:
                _check_absent(sources, part)
    return sources, found


def _check_absent(sources: TreeFiles, part: PatchPart) -> None:
    """TockmarkError if a part that is not there as a whole is there in pieces."""
    files = [name for name in part.copies if sources.get(name) is not None]
    ours = [name for name in files if sources.get(name) == part.texts[name]]
    if files and not ours and len(files) < len(part.copies):
        raise TockmarkError(
            f"{sources.tree} has a capsule of its own in {', '.join(files)}, where the patch has"
            " Perf",
            "nothing was changed; if it answers Perf's commands, measure it as it is",
        )
    edits = [edit for edit in part.edits if edit.put in (sources.get(edit.file) or "")]
    if edits:
        try:
            sources.patched(part, reverse=True)
        except MisfitError as misfit:
            raise TockmarkError(
                f"{sources.tree} was patched and changed since then: {misfit}",
                "nothing was changed; undo that change first",
            ) from None
    if files:
        remove = shlex.join(["rm", *(str(sources.tree / name) for name in files)])
        if ours == files:
            raise TockmarkError(
                f"{sources.tree} has the files of the patch and nothing else of it,"
                " as after `git stash`",
                f"delete them: {remove}",
            )
        raise TockmarkError(
            f"{sources.tree} already has {', '.join(files)}, which this patch would add",
            f"nothing was changed; if you do not need them: {remove}",
        )
