# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What a function is called, where it is written, and where it lies."""

import bisect
import re
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

from elftools.elf.elffile import ELFFile

from tockmark import paths
from tockmark.errors import TockmarkError
from tockmark.paths import shown
from tockmark.plain import quoted, showable
from tockmark.rig.elf import ALLOCATED, IS_FUNCTION, IS_UNTYPED, read_elf


@dataclass(frozen=True)
class Frame:
    """One function at an address; `file` is empty where only the symbol is known."""

    name: str
    file: str = ""

    def __str__(self) -> str:
        return f"{self.name} ({short(self.file)})" if self.file else self.name


@dataclass(frozen=True)
class Scope:
    """A function at an address as the compiler laid it there: a whole one, or one that was put
    into another at one place."""

    frame: Frame
    path: str  # its readable name with modules, without types
    place: int  # tells the places apart that one function was put into


def short(file: str) -> str:
    """A source file's path: in this checkout from its top, elsewhere the last parts."""
    root = f"{paths.ROOT}/"
    return file.removeprefix(root) if file.startswith(root) else "/".join(file.split("/")[-4:])


def in_module(frame: Frame) -> str:
    """The path of a function whose symbol nobody tells: in Rust, where a file is a module, behind
    the file's name; `grant::enter`."""
    file = Path(frame.file)
    if file.suffix != ".rs":
        return frame.name
    module = file.parent.name if file.stem == "mod" else file.stem
    return f"{module}::{frame.name}"


# Names of functions as a person writes them: `kernel::grant::Grant::enter`.


FILT = "riscv64-unknown-elf-c++filt"
LONGEST = 60  # seconds for all names, of which a kernel's take less than one
MOST_TYPES = 100  # in one name; what has more was made to be read by nobody
# What a Rust compiler adds to tell two builds of a crate apart, in its new names and in its old.
_HASH = re.compile(r"\[[0-9a-f]{8,16}\]|::h[0-9a-f]{16}$")


def readable(names: Iterable[str]) -> dict[str, str]:
    """Rust's and C++'s symbols without their encoding, if binutils is there to tell, and without
    the hashes that another build changes."""
    known = sorted(set(names))
    plain = [showable(name) for name in known]
    told = plain
    try:
        done = subprocess.run(
            [FILT],
            input="\n".join(plain),
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=True,
            timeout=LONGEST,
        )
        lines = [showable(line) for line in done.stdout.split("\n")]
        told = lines if len(lines) == len(plain) else plain
    except (OSError, subprocess.SubprocessError):
        pass
    return {name: _HASH.sub("", text) for name, text in zip(known, told, strict=True)}


def without_types(name: str) -> str:
    """A readable name without types: `<Grant<T> as Entering>::enter::<U>` as `Grant::enter`."""
    if name.count("<") > MOST_TYPES:
        return name
    if name.startswith("<"):
        end = _closing(name, 0)
        own = name[1:end]
        of = next((at for at in _outside(own) if own.startswith(" as ", at)), len(own))
        return without_types(own[:of].lstrip("&*")) + without_types(name[end + 1 :])
    kept = "".join(name[at] for at in _outside(name) if name[at] != ">")
    return kept.replace("::<", "").replace("<", "")


def _outside(name: str) -> Iterable[int]:
    """The places of the characters that no pair of angle brackets holds, the brackets too."""
    at = 0
    while at < len(name):
        yield at
        at = _closing(name, at) if name[at] == "<" else at + 1


def _closing(name: str, opening: int) -> int:
    """Where the bracket closes; the end if it never does."""
    depth = 0
    for at in range(opening, len(name)):
        if name[at] == "<":
            depth += 1
        elif name[at] == ">" and name[at - 1] != "-":
            depth -= 1
            if not depth:
                return at
    return len(name)


# What a kernel's debugging information (DWARF) tells of an address: the functions that the
# compiler put into one another there, and the source file of each.
#
# pyelftools reads it. It raises whatever the bytes of a damaged file lead it to, so whatever it
# raises ends here.


SCOPES = ("DW_TAG_inlined_subroutine", "DW_TAG_lexical_block")
MOST_LINKS = 8  # from a function to where its name stands: more than any compiler makes
_SYMBOLS = ("DW_AT_linkage_name", "DW_AT_MIPS_linkage_name")
_NAMES = ("DW_AT_name",)
Die = Any  # pyelftools has no types
_TYPES = re.compile(r"<.*>$")  # what a generic function was made for


def dwarf_scopes(path: Path, data: bytes, wanted: list[int]) -> dict[int, tuple[Scope, ...]]:
    """The functions at each of these addresses, ascending, that a file tells of: the outermost
    first. TockmarkError if its debugging information cannot be read."""
    found: dict[int, tuple[Scope, ...]] = {}
    try:
        elf = ELFFile(BytesIO(data))
        if elf.has_dwarf_info():
            for unit in elf.get_dwarf_info().iter_CUs():
                found.update(_Unit(unit).scopes(wanted))
    except Exception as error:
        raise TockmarkError(
            f"the debugging information of {shown(path)} cannot be read"
            f" ({type(error).__name__}: {quoted(error)})",
            "profile the kernel without it: `riscv64-unknown-elf-strip -g -o stripped.elf` on it",
        ) from error
    return found


class _Unit:
    """One compilation unit's debugging information."""

    def __init__(self, unit: Any) -> None:
        self._unit = unit
        self._dwarf = unit.dwarfinfo
        self._program = self._dwarf.line_program_for_CU(unit)

    def scopes(self, wanted: list[int]) -> dict[int, tuple[Scope, ...]]:
        """Those of the addresses that lie in this unit."""
        top = self._unit.get_top_DIE()
        if not self._inside(top, wanted):
            return {}
        chains: dict[int, list[Die]] = {}
        for die in top.iter_children():
            self._walk(die, wanted, [], chains)
        files = self._files_at(sorted(chains))
        dies = {die.offset: die for chain in chains.values() for die in chain}
        symbols = {offset: _said(die, _SYMBOLS) for offset, die in dies.items()}
        known = readable(symbols.values())

        def scope(die: Die, frame: Frame) -> Scope:
            symbol = symbols[die.offset]
            path = without_types(known[symbol]) if symbol else in_module(frame)
            return Scope(frame, path, die.offset)

        return {
            at: tuple(map(scope, chain, self._named(chain, files.get(at, ""))))
            for at, chain in chains.items()
        }

    def _walk(
        self, die: Die, wanted: list[int], above: list[Die], chains: dict[int, list[Die]]
    ) -> None:
        """Note for each address the functions around it, the outermost first."""
        if die.tag == "DW_TAG_namespace":
            inside, chain = wanted, above
        elif die.tag == "DW_TAG_subprogram" or die.tag in SCOPES:
            inside = self._inside(die, wanted)
            chain = above if die.tag == "DW_TAG_lexical_block" else [*above, die]
            chains.update((address, chain) for address in inside)
        else:
            return
        if inside:
            for child in die.iter_children():
                self._walk(child, inside, chain, chains)

    def _inside(self, die: Die, wanted: list[int]) -> list[int]:
        """Those of the addresses, ascending, that lie in it."""
        found: list[int] = []
        for start, end in self._ranges(die):
            found += wanted[bisect.bisect_left(wanted, start) : bisect.bisect_left(wanted, end)]
        return sorted(found)

    def _ranges(self, die: Die) -> Iterator[tuple[int, int]]:
        attributes = die.attributes
        if "DW_AT_ranges" in attributes:
            base = self._base(self._unit.get_top_DIE())
            lists = self._dwarf.range_lists()
            for entry in lists.get_range_list_at_offset(
                attributes["DW_AT_ranges"].value, self._unit
            ):
                if hasattr(entry, "base_address"):
                    base = entry.base_address
                else:
                    offset = 0 if getattr(entry, "is_absolute", False) else base
                    yield offset + entry.begin_offset, offset + entry.end_offset
        elif "DW_AT_low_pc" in attributes and "DW_AT_high_pc" in attributes:
            start, high = attributes["DW_AT_low_pc"].value, attributes["DW_AT_high_pc"]
            yield start, high.value if high.form == "DW_FORM_addr" else start + high.value

    @staticmethod
    def _base(top: Die) -> int:
        low = top.attributes.get("DW_AT_low_pc")
        return int(low.value) if low else 0

    def _named(self, chain: list[Die], file: str) -> list[Frame]:
        """A function's code lies in the file that the next inner one was called from."""
        inner = [self._file(die.attributes["DW_AT_call_file"].value) for die in chain[1:]]
        return [Frame(_name(die), where) for die, where in zip(chain, [*inner, file], strict=True)]

    def _files_at(self, addresses: list[int]) -> dict[int, str]:
        """The source file of each address, from the line table."""
        if self._program is None:
            return {}
        found: dict[int, str] = {}
        before = None
        for entry in self._program.get_entries():
            state = entry.state
            if state is None:
                continue
            if before is not None and not before.end_sequence:
                low = bisect.bisect_left(addresses, before.address)
                high = bisect.bisect_left(addresses, state.address)
                for address in addresses[low:high]:
                    found[address] = self._file(before.file)
            before = state
        return found

    def _file(self, number: int) -> str:
        header = self._program.header
        old = header["version"] < 5  # which counts files and folders from 1
        entry = header["file_entry"][number - old]
        folders = header["include_directory"]
        comp_dir = self._unit.get_top_DIE().attributes["DW_AT_comp_dir"].value.decode()
        folder = ""
        if not old or entry.dir_index:
            folder = folders[entry.dir_index - old].decode()
        return showable(str(Path(comp_dir) / folder / entry.name.decode()))


def _name(die: Die) -> str:
    return _TYPES.sub("", _said(die, _NAMES)) or "?"


def _said(die: Die, attributes: tuple[str, ...]) -> str:
    """The name of a function, which may stand where it is declared; empty if it has none."""
    for _ in range(MOST_LINKS):
        for attribute in attributes:
            if attribute in die.attributes:
                return showable(die.attributes[attribute].value.decode())
        links = {"DW_AT_abstract_origin", "DW_AT_specification"}.intersection(die.attributes)
        if not links:
            break
        die = die.get_DIE_from_attribute(min(links))
    return ""


# What code lies at an address of an ELF file: its symbol, and, with debugging information, the
# functions that the compiler put into one another there.


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
        self._scopes.update(dwarf_scopes(self.path, self._elf.data, wanted))
        self.lines = bool(self._scopes)
        found = {at: self._nearest(at) for at in wanted if at not in self._scopes}
        known = readable(name for _, name in found.values())
        for at, (start, name) in found.items():
            frame = Frame(known[name])
            self._scopes[at] = (Scope(frame, without_types(frame.name), start),)
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
