# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Look up addresses in an ELF file: the symbol, and, with debugging information (DWARF), the chain
of inlined functions.

pyelftools reads the debugging information. On a damaged file it may raise any exception, so all
exceptions are caught here.
"""

import bisect
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from pathlib import Path
from typing import Any

from elftools.elf.elffile import ELFFile

from tockmark.base import paths, processes
from tockmark.base.errors import TockmarkError, printable_text, quoted
from tockmark.base.paths import shown
from tockmark.base.processes import Bounds
from tockmark.target.elf import ALLOCATED, IS_FUNCTION, IS_UNTYPED, read_elf

LIBRARIES = ("/rustc/", "/.cargo/registry/", "/.rustup/")  # their functions count as their caller's
NO_SYMBOL = "code without a symbol"  # for example, a boot ROM

LONGEST = 60  # seconds to demangle all names; a kernel's take less than one
# The hash of a crate's build, in v0 and legacy names.
_HASH = re.compile(r"\[[0-9a-f]{8,16}\]|::h[0-9a-f]{16}$")

_INNERMOST = re.compile(r"<([^<>]*)>")
_GENERIC = re.compile(r"[\w:})\]]$")  # before generic arguments; otherwise a type follows

MOST_LINKS = 8  # from a DIE to the one with the name; more than any compiler makes
_FUNCTION, _INLINED = "DW_TAG_subprogram", "DW_TAG_inlined_subroutine"
_SYMBOLS = ("DW_AT_linkage_name", "DW_AT_MIPS_linkage_name")
_TYPES = re.compile(r"<.*>$")  # generic arguments of a function
Die = Any  # pyelftools has no types


@dataclass(frozen=True)
class Frame:
    """A function at an address; `file` is empty if only the symbol is known."""

    name: str
    file: str = ""

    def __str__(self) -> str:
        return f"{self.name} ({short(self.file)})" if self.file else self.name


@dataclass(frozen=True)
class Scope:
    """A function at an address: a whole function, or one that is inlined."""

    frame: Frame
    path: str  # readable name with modules, without types
    site: int  # differs for each place where a function was inlined
    line: int = 0  # in the frame's file, or of the call of the next inner function; 0: unknown


class Program:
    """An ELF file whose addresses can be looked up."""

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
        self.lines = False  # whether debugging information had any looked-up address

    def symbol(self, name: str) -> tuple[int, int]:
        """Return a symbol's address and size. Raise TockmarkError if the file does not have it."""
        for start, size, symbol_name in self._symbols:
            if symbol_name == name:
                return start, size
        raise TockmarkError(f"{shown(self.path)} has no symbol {name}")

    def bytes_at(self, address: int, size: int) -> bytes:
        """Return the file's content at an address. Raise TockmarkError if it has no such
        address."""
        for section in self._elf.sections:
            at = address - section.address
            if section.flags & ALLOCATED and at >= 0 and at + size <= section.size:
                return self._elf.section_bytes(section)[at : at + size]
        raise TockmarkError(f"{shown(self.path)} has nothing at {address:#x}")

    def code_names(self) -> dict[int, str]:
        """Return the readable names of all code by address, without types, including assembly
        labels."""
        names = readable(name for _, _, name in self._symbols)
        return {address: without_types(names[name]) for address, _, name in self._symbols}

    def size(self, start: int) -> int:
        """Return the size in bytes of the code that begins at an address."""
        return max(size for address, size, _ in self._symbols if address == start)

    def same_code(self, other: "Program") -> bool:
        """Return whether both files load the same bytes."""
        return self._elf.segments == other._elf.segments

    def look_up(self, addresses: Iterable[int]) -> None:
        """Look up these addresses for frames() and scopes(). Raise TockmarkError if the debugging
        information cannot be read."""
        wanted = sorted(set(addresses) - self._scopes.keys())
        if not wanted:
            return
        scopes = self._dwarf_scopes(wanted)
        self.lines = self.lines or bool(scopes)
        self._scopes.update(scopes)
        nearest = {at: self._nearest(at) for at in wanted if at not in self._scopes}
        names = readable(name for _, name in nearest.values())
        for at, (start, name) in nearest.items():
            self._scopes[at] = (Scope(Frame(names[name]), without_types(names[name]), start),)
        for at in wanted:
            every = [scope.frame for scope in self._scopes[at]]
            own = [
                frame for frame in every if not any(folder in frame.file for folder in LIBRARIES)
            ]
            self._frames[at] = tuple(own or every[:1])

    def frames(self, address: int) -> tuple[Frame, ...]:
        """Return the functions at an address, outermost first. Library functions count as their
        caller in the program."""
        return self._frames[address]

    def scopes(self, address: int) -> tuple[Scope, ...]:
        """Return all functions at an address, outermost first."""
        return self._scopes[address]

    def start_of(self, address: int) -> int:
        """Return the start of the symbol at an address, which identifies the function."""
        return self._nearest(address)[0]

    @cached_property
    def _units(self) -> list[Any]:
        """The compilation units, cached because a look-up reads whole units."""
        elf = ELFFile(BytesIO(self._elf.data))
        return list(elf.get_dwarf_info().iter_CUs()) if elf.has_dwarf_info() else []

    def _dwarf_scopes(self, wanted: list[int]) -> dict[int, tuple[Scope, ...]]:
        """Return the functions at each of these ascending addresses that the debugging information
        covers, outermost first."""
        scopes: dict[int, tuple[Scope, ...]] = {}
        try:
            for unit in self._units:
                if list(_inside(unit.get_top_DIE(), wanted)):
                    scopes.update(_unit_scopes(unit, wanted))
        except Exception as error:
            raise TockmarkError(
                f"{shown(self.path)}: the debugging information cannot be read"
                f" ({type(error).__name__}: {quoted(error)})",
                "remove it with `riscv64-unknown-elf-strip -g -o stripped.elf`",
            ) from error
        return scopes

    def _nearest(self, address: int) -> tuple[int, str]:
        at = bisect.bisect_right(self._starts, address) - 1
        start, _, name = self._symbols[at] if at >= 0 else (0, 0, NO_SYMBOL)
        return start, name


def short(file: str) -> str:
    """Shorten a source file's path: relative to this checkout, otherwise to its last four parts."""
    root = f"{paths.ROOT}/"
    return file.removeprefix(root) if file.startswith(root) else "/".join(file.split("/")[-4:])


def readable(names: Iterable[str]) -> dict[str, str]:
    """Demangle Rust's and C++'s symbols if binutils is installed, and remove build hashes."""
    symbols = sorted(set(names))
    decoded = plain = [printable_text(name) for name in symbols]
    with suppress(TockmarkError):
        done = processes.run([paths.FILT], input="\n".join(plain).encode(), bounds=Bounds(LONGEST))
        lines = [printable_text(line) for line in done.text.split("\n")]
        decoded = lines if done.code == 0 and len(lines) == len(plain) else plain
    return {name: _HASH.sub("", text) for name, text in zip(symbols, decoded, strict=True)}


def without_types(name: str) -> str:
    """Remove the types from a readable name: `<Grant<T> as Entering>::enter::<U>` becomes
    `Grant::enter`."""
    name = name.replace("->", "-")
    while types := _INNERMOST.search(name):
        before = name[: types.start()]
        own = "" if _GENERIC.search(before) else types[1].partition(" as ")[0].lstrip("&*")
        name = before.removesuffix("" if own else "::") + own + name[types.end() :]
    closed = name.lstrip("<").partition("<")[0]  # up to a bracket that never closes
    return closed.replace(">", "")


def _unit_scopes(unit: Any, wanted: list[int]) -> dict[int, tuple[Scope, ...]]:
    """Return the scopes of the addresses in a compilation unit."""
    chains: dict[int, list[Die]] = {}
    for die in unit.iter_DIEs():  # outer functions precede inner ones
        if die.tag in (_FUNCTION, _INLINED):
            for at in _inside(die, wanted):
                chains[at] = [*chains.get(at, ()), die] if die.tag == _INLINED else [die]
    dies = {die.offset: die for chain in chains.values() for die in chain}
    symbols = {offset: _name(die, _SYMBOLS) for offset, die in dies.items()}
    names = readable(symbols.values())
    program = unit.dwarfinfo.line_program_for_CU(unit)
    lines = _lines_at(program, sorted(chains)) if program else {}

    def scope(die: Die, file: int | None, line: int) -> Scope:
        where = "" if file is None else _path(unit, program, file)
        frame = Frame(_TYPES.sub("", _name(die, ("DW_AT_name",))) or "?", where)
        symbol = symbols[die.offset]
        path = without_types(names[symbol]) if symbol else _in_module(frame)
        return Scope(frame, path, die.offset, line)

    scopes = {}
    for at, chain in chains.items():
        # A function's code is in the file of its call of the next inner function.
        files = [die.attributes["DW_AT_call_file"].value for die in chain[1:]]
        called = [die.attributes.get("DW_AT_call_line") for die in chain[1:]]
        file, line = lines.get(at, (None, 0))
        numbers = [*(call_line.value if call_line else 0 for call_line in called), line]
        scopes[at] = tuple(map(scope, chain, [*files, file], numbers))
    return scopes


def _inside(die: Die, wanted: list[int]) -> Iterator[int]:
    """Yield the ascending addresses in a unit or a function."""
    for start, end in _ranges(die):
        yield from wanted[bisect.bisect_left(wanted, start) : bisect.bisect_left(wanted, end)]


def _ranges(die: Die) -> Iterator[tuple[int, int]]:
    attributes, unit = die.attributes, die.cu
    if "DW_AT_ranges" in attributes:
        low = unit.get_top_DIE().attributes.get("DW_AT_low_pc")
        base = low.value if low else 0
        lists = unit.dwarfinfo.range_lists()
        for entry in lists.get_range_list_at_offset(attributes["DW_AT_ranges"].value, unit):
            if hasattr(entry, "base_address"):
                base = entry.base_address
            else:
                offset = 0 if getattr(entry, "is_absolute", False) else base
                yield offset + entry.begin_offset, offset + entry.end_offset
    elif "DW_AT_low_pc" in attributes and "DW_AT_high_pc" in attributes:
        start, high = attributes["DW_AT_low_pc"].value, attributes["DW_AT_high_pc"]
        yield start, high.value if high.form == "DW_FORM_addr" else start + high.value


def _lines_at(program: Any, addresses: list[int]) -> dict[int, tuple[int, int]]:
    """Return the number of the source file and the line of each address, from the line table."""
    lines: dict[int, tuple[int, int]] = {}
    before = None
    for state in (entry.state for entry in program.get_entries() if entry.state is not None):
        if before is not None and not before.end_sequence:
            low = bisect.bisect_left(addresses, before.address)
            high = bisect.bisect_left(addresses, state.address)
            lines.update(dict.fromkeys(addresses[low:high], (before.file, before.line)))
        before = state
    return lines


def _path(unit: Any, program: Any, number: int) -> str:
    """Return the path of a source file by its number in the unit."""
    header = program.header
    old = header["version"] < 5  # counts files and folders from 1
    entry = header["file_entry"][number - old]
    folder = ""
    if not old or entry.dir_index:
        folder = header["include_directory"][entry.dir_index - old].decode()
    compiled_in = unit.get_top_DIE().attributes["DW_AT_comp_dir"].value.decode()
    return printable_text(str(Path(compiled_in) / folder / entry.name.decode()))


def _name(die: Die, attributes: tuple[str, ...]) -> str:
    """Return the name of a function, which may be in its declaration; empty if it has none."""
    for _ in range(MOST_LINKS):
        for attribute in attributes:
            if attribute in die.attributes:
                return printable_text(die.attributes[attribute].value.decode())
        links = {"DW_AT_abstract_origin", "DW_AT_specification"}.intersection(die.attributes)
        if not links:
            break
        die = die.get_DIE_from_attribute(min(links))
    return ""


def _in_module(frame: Frame) -> str:
    """Return the path of a function without a symbol: in Rust, where a file is a module, prefixed
    by the file's name, as in `grant::enter`."""
    file = Path(frame.file)
    if file.suffix != ".rs":
        return frame.name
    module = file.parent.name if file.stem == "mod" else file.stem
    return f"{module}::{frame.name}"
