# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Links a kernel again from all that its linker got, which lld keeps by --reproduce: without any
step of the compiler, in a second.

The inputs are the same, but that sections have marks and room behind them (objects.py), and equal
functions are not folded into one. So functions can be put in another order, and at addresses that
are wanted.
"""

import os
import re
import shlex
import shutil
import tarfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from tockmark import processes
from tockmark.errors import TockmarkError, quoted
from tockmark.paths import shown
from tockmark.processes import Bounds
from tockmark.rig.elf import Elf, read_elf
from tockmark.trees.objects import InputSection, ObjectFile, digest, members

LINKING = Bounds(seconds=120)  # of one link
RESPONSE, VERSION = "response.txt", "version.txt"
# Of what the linker was told, that which would undo what is done here: those with a value behind
# them, and those that hold it.
_DROPPED_PAIRS = ("-o", "-output", "-reproduce", "-Map", "-symbol-ordering-file")
_DROPPED = (
    *("-reproduce=", "-Map=", "-symbol-ordering-file=", "-shuffle-sections=", "-output="),
    # What is folded or named by content would differ where the change is not.
    *("-icf=", "-build-id", "-strip-all", "-print-", "-call-graph-"),
)


class UnpairedError(TockmarkError):
    """The two cannot be linked in pairs; they can be judged as they are."""


@dataclass
class Linked:
    """One side: what its linker got, and how it is linked again."""

    folder: Path  # with what --reproduce kept, unpacked
    linker: Path
    objects: dict[str, ObjectFile] = field(default_factory=dict)  # by the file's name in `folder`
    words: list[str] = field(default_factory=list)  # for the linker
    _written: dict[str, dict[str, int]] = field(default_factory=dict)  # the room, by object

    @staticmethod
    def unpacked(tar: Path, folder: Path, linkers: Sequence[Path]) -> "Linked":
        """Unpack and read what --reproduce kept. UnpairedError if it is not there or cannot be
        used."""
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        try:
            with tarfile.open(tar) as packed:
                packed.extractall(folder, filter="data")
            (top,) = folder.iterdir()
            version = (top / VERSION).read_text(errors="replace").strip()
            response = (top / RESPONSE).read_text(errors="surrogateescape")
        except (OSError, ValueError, tarfile.TarError) as error:
            raise UnpairedError(f"{shown(tar)} is nothing that lld keeps: {error}") from error
        linker = next((one for one in linkers if _version(one) == version), None)
        if linker is None:
            raise UnpairedError(f"there is no linker that says '{quoted(version)}'")
        found = Linked(top, linker)
        found._read(shlex.split(response))
        return found

    def _read(self, words: list[str]) -> None:
        """Read the inputs, and note what to tell the linker."""
        kept = iter(words)
        whole = False  # --whole-archive
        for word in kept:
            option = re.sub("^--?", "-", word)  # lld takes long ones with one dash, too
            if option in _DROPPED_PAIRS:
                next(kept, None)
            elif option.startswith(_DROPPED) or option in ("-s", "-M"):
                continue
            elif word.startswith("-") or not (self.folder / word).is_file():
                whole = {"--whole-archive": True, "--no-whole-archive": False}.get(word, whole)
                self.words.append(word)
            else:
                self._add(word, whole)
        digest([one for of_file in self.objects.values() for one in of_file.sections.values()])

    def _add(self, name: str, whole: bool) -> None:
        """Add an input: an object, an archive, or a script, which stays as it is."""
        data = (self.folder / name).read_bytes()
        try:
            if data[:4] == b"\x7fELF":
                self.words.append(self._own(ObjectFile(data, len(self.objects))))
            elif data.startswith(b"!<"):
                own = [
                    self._own(ObjectFile(one, len(self.objects) + n))
                    for n, one in enumerate(members(data))
                ]
                self.words += own if whole else ["--start-lib", *own, "--end-lib"]
            elif data[:2] == b"BC":
                raise ValueError("it is LLVM's, for link-time optimisation by the linker")
            else:
                self.words.append(name)
        except ValueError as error:
            raise UnpairedError(f"{quoted(name)} cannot be linked again: {error}") from error

    def _own(self, one: ObjectFile) -> str:
        name = f"tockmark/{len(self.objects)}.o"
        self.objects[name] = one
        return name

    @cached_property
    def sections(self) -> list[InputSection]:
        """The sections that get memory, in the order of the inputs."""
        return [one for of_file in self.objects.values() for one in of_file.sections.values()]

    def link(self, order: Sequence[str], room: Mapping[str, int]) -> Elf:
        """Link it as Relinkable says."""
        self._write(room)
        ordering, made = self.folder / "tockmark/order", self.folder / "tockmark/kernel.elf"
        ordering.write_text("".join(f"{mark}\n" for mark in order))
        more = [f"--symbol-ordering-file={ordering.relative_to(self.folder)}"] if order else []
        more += ["--no-warn-symbol-ordering", "-o", str(made.relative_to(self.folder))]
        _run(self.linker, [*self.words, *more], self.folder)
        return read_elf(made)

    def again(self) -> Elf:
        """Link the very inputs again."""
        made = self.folder / "tockmark/as-it-was.elf"
        made.parent.mkdir(exist_ok=True)
        response = f"@{RESPONSE}"
        _run(self.linker, [response, "-o", str(made.relative_to(self.folder))], self.folder)
        return read_elf(made)

    def in_order(self) -> list[InputSection]:
        """Return its sections as Relinkable says."""
        elf = self.link([], {})
        place = {one.name: (one.section, one.address) for one in elf.symbols if one.in_section}
        there = [one for one in self.sections if one.size and one.mark in place]
        return sorted(there, key=lambda one: place[one.mark])

    def _write(self, room: Mapping[str, int]) -> None:
        """Write the objects anew that have other room than before."""
        folder = self.folder / "tockmark"
        folder.mkdir(exist_ok=True)
        for name, one in self.objects.items():
            own = {s.mark: room[s.mark] for s in one.sections.values() if s.mark in room}
            if self._written.get(name) != own:
                (self.folder / name).write_bytes(one.written(own))
                self._written[name] = own


def _run(linker: Path, words: Sequence[str], folder: Path) -> None:
    """Run the linker in a folder. UnpairedError, with its own reason, if it fails."""
    done = processes.run([linker, *_flavor(linker), *words], cwd=folder, bounds=LINKING)
    if done.code:
        said = [line for line in done.complaint.splitlines() if "error:" in line]
        raise UnpairedError(f"linking again fails: {quoted(said[0]) if said else done.code}")


def linkers() -> list[Path]:
    """Return the linkers that may have made a kernel: those of all toolchains, and of the PATH."""
    home = Path(os.environ.get("RUSTUP_HOME", Path.home() / ".rustup"))
    tops = [*home.glob("toolchains/*")]
    if shutil.which("rustc"):
        tops.append(Path(processes.run(["rustc", "--print", "sysroot"]).text.strip()))
    there = [path for top in tops for path in top.glob("lib/rustlib/*/bin/rust-lld")]
    named = map(shutil.which, ("ld.lld", "rust-lld"))
    return [*dict.fromkeys(there), *(Path(name) for name in named if name)]


def _version(linker: Path) -> str | None:
    """Return what a linker says that it is; None if it says nothing."""
    try:
        done = processes.run([linker, *_flavor(linker), "--version"])
    except TockmarkError:
        return None
    return done.text.partition(" (compatible with ")[0].strip()


def _flavor(linker: Path) -> Sequence[str]:
    return ("-flavor", "gnu") if linker.name in ("rust-lld", "lld") else ()
