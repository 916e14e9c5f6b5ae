# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What code lies at an address of an ELF file: its symbol, and, with debugging information, the
functions that the compiler put into one another there."""

import bisect
import subprocess
from collections.abc import Iterable
from pathlib import Path

from tockmark import paths
from tockmark.errors import TockmarkError
from tockmark.plain import showable
from tockmark.profile import dwarf
from tockmark.profile.frame import Frame
from tockmark.target.elf import ALLOCATED, IS_FUNCTION, IS_UNTYPED, read_elf

FILT = "riscv64-unknown-elf-c++filt"


class Program:
    """An ELF file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._elf = read_elf(path)
        self._symbols = sorted(
            (symbol.address, symbol.size, symbol.name)
            for symbol in self._elf.symbols
            if symbol.kind in (IS_FUNCTION, IS_UNTYPED)
            and symbol.in_section
            and symbol.name
            and not symbol.name.startswith((".L", "$"))
        )
        self._starts = [start for start, _, _ in self._symbols]
        self._inlined: dict[int, tuple[Frame, ...]] = {}
        self.lines = False  # whether debugging information told anything

    def symbol(self, name: str) -> tuple[int, int]:
        """A symbol's address and size."""
        for start, size, known in self._symbols:
            if known == name:
                return start, size
        raise TockmarkError(f"{paths.shown(self.path)} has no symbol {name}")

    def address_of(self, part: str) -> int:
        """The address of the symbol whose name holds this: a mangled name has more around it."""
        for start, _, known in self._symbols:
            if part in known:
                return start
        raise TockmarkError(f"{paths.shown(self.path)} has no symbol with {part} in its name")

    def bytes_at(self, address: int, size: int) -> bytes:
        """The content of the file for this place in memory."""
        for section in self._elf.sections:
            at = address - section.address
            if section.flags & ALLOCATED and at >= 0 and at + size <= section.size:
                return self._elf.held(section)[at : at + size]
        raise TockmarkError(f"{paths.shown(self.path)} has nothing at {address:#x}")

    def same_code(self, other: "Program") -> bool:
        return self._elf.segments == other._elf.segments

    def study(self, addresses: Iterable[int]) -> None:
        """Look these addresses up, so that frames() knows them. TockmarkError if the debugging
        information cannot be read."""
        wanted = sorted(set(addresses))
        self._inlined.update(dwarf.frames(self.path, self._elf.data, wanted))
        self.lines = bool(self._inlined)
        plain = [address for address in wanted if address not in self._inlined]
        names = {address: self._nearest(address) for address in plain}
        readable = demangled(sorted(set(names.values())))
        for address, name in names.items():
            self._inlined[address] = (Frame(readable[name]),)

    def frames(self, address: int) -> tuple[Frame, ...]:
        """The functions at an address, the outermost first."""
        return self._inlined[address]

    def _nearest(self, address: int) -> str:
        at = bisect.bisect_right(self._starts, address) - 1
        return showable(self._symbols[at][2]) if at >= 0 else f"{address:#x}"


def demangled(names: list[str]) -> dict[str, str]:
    """Rust's and C++'s names as a person writes them, if binutils is there to tell."""
    if not names:
        return {}
    try:
        done = subprocess.run(
            [FILT], input="\n".join(names), capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return {name: name for name in names}
    return dict(zip(names, done.stdout.splitlines(), strict=True))
