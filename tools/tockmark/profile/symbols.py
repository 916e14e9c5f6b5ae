# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What code lies at an address of an ELF file: its symbol, and, with debugging information, the
functions that the compiler put into one another there."""

import bisect
from collections.abc import Iterable
from pathlib import Path

from tockmark import paths
from tockmark.errors import TockmarkError
from tockmark.profile import dwarf, names
from tockmark.profile.frame import Frame, Scope
from tockmark.target.elf import ALLOCATED, IS_FUNCTION, IS_UNTYPED, read_elf

LIBRARIES = ("/rustc/", "/.cargo/registry/", "/.rustup/")  # whose functions count as their caller's

NO_SYMBOL = "code without a symbol"  # such as a boot ROM's


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
        self._scopes: dict[int, tuple[Scope, ...]] = {}
        self._frames: dict[int, tuple[Frame, ...]] = {}
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
        self._scopes.update(dwarf.scopes(self.path, self._elf.data, wanted))
        self.lines = bool(self._scopes)
        found = {at: self._nearest(at) for at in wanted if at not in self._scopes}
        known = names.readable(name for _, name in found.values())
        for at, (start, name) in found.items():
            frame = Frame(known[name])
            self._scopes[at] = (Scope(frame, names.path(frame.name), start),)
        for at in wanted:
            self._frames[at] = _without_libraries([scope.frame for scope in self._scopes[at]])

    def frames(self, address: int) -> tuple[Frame, ...]:
        """The functions at an address, the outermost first; those of libraries left out."""
        return self._frames[address]

    def scopes(self, address: int) -> tuple[Scope, ...]:
        """All functions at an address, the outermost first."""
        return self._scopes[address]

    def start_of(self, address: int) -> int:
        """Where the symbol begins that an address belongs to: two addresses with one start are in
        one function."""
        return self._nearest(address)[0]

    def _nearest(self, address: int) -> tuple[int, str]:
        at = bisect.bisect_right(self._starts, address) - 1
        start, _, name = self._symbols[at] if at >= 0 else (0, 0, NO_SYMBOL)
        return start, name


def _without_libraries(frames: list[Frame]) -> tuple[Frame, ...]:
    """Functions of libraries count as the function of the program that called them."""
    own = [f for f in frames if not any(library in f.file for library in LIBRARIES)]
    return tuple(own or frames[:1])
