# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What code lies at an address of an ELF file: its symbol, and, with debugging information, the
functions that the compiler put into one another there."""

import bisect
import re
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from tockmark import paths
from tockmark.errors import TockmarkError

FILT = "riscv64-unknown-elf-c++filt"
LIBRARIES = ("/rustc/", "/.cargo/registry/", "/.rustup/")  # whose functions count as their caller's
SCOPES = ("DW_TAG_inlined_subroutine", "DW_TAG_lexical_block")
Die = Any  # pyelftools has no types
_TYPES = re.compile(r"<.*>$")  # what a generic function was made for


@dataclass(frozen=True)
class Frame:
    """One function at an address; `file` is empty where only the symbol is known."""

    name: str
    file: str = ""

    def __str__(self) -> str:
        return f"{self.name} ({short(self.file)})" if self.file else self.name


def short(file: str) -> str:
    """A source file's path: in this checkout from its top, elsewhere the last parts."""
    root = f"{paths.ROOT}/"
    return file.removeprefix(root) if file.startswith(root) else "/".join(file.split("/")[-4:])


class Program:
    """An ELF file."""

    def __init__(self, path: Path) -> None:
        try:
            with path.open("rb") as file:
                self._read(ELFFile(file))
        except OSError as error:
            raise TockmarkError(f"cannot read {paths.shown(path)}: {error.strerror}") from error
        self.path = path
        self._starts = [start for start, _, _ in self._symbols]
        self._inlined: dict[int, tuple[Frame, ...]] = {}
        self.lines = False  # whether debugging information told anything

    def _read(self, elf: ELFFile) -> None:
        self._segments = [
            (segment["p_vaddr"], segment.data())
            for segment in elf.iter_segments("PT_LOAD")
            if segment["p_filesz"]
        ]
        table = elf.get_section_by_name(".symtab")
        symbols = table.iter_symbols() if isinstance(table, SymbolTableSection) else ()
        kinds = ("STT_FUNC", "STT_NOTYPE")
        self._symbols = sorted(
            (symbol["st_value"], symbol["st_size"], symbol.name)
            for symbol in symbols
            if symbol["st_info"]["type"] in kinds
            and isinstance(symbol["st_shndx"], int)
            and symbol.name
            and not symbol.name.startswith((".L", "$"))
        )

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
                return int(start)
        raise TockmarkError(f"{paths.shown(self.path)} has no symbol with {part} in its name")

    def bytes_at(self, address: int, size: int) -> bytes:
        for start, data in self._segments:
            if start <= address and address + size <= start + len(data):
                return bytes(data[address - start : address - start + size])
        raise TockmarkError(f"{paths.shown(self.path)} has nothing at {address:#x}")

    def same_code(self, other: "Program") -> bool:
        return self._segments == other._segments

    def study(self, addresses: Iterable[int]) -> None:
        """Look these addresses up, so that frames() knows them."""
        wanted = sorted(set(addresses))
        with self.path.open("rb") as file:
            elf = ELFFile(file)
            if elf.has_dwarf_info():
                for unit in elf.get_dwarf_info().iter_CUs():
                    self._inlined.update(_Unit(unit).frames(wanted))
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
        return self._symbols[at][2] if at >= 0 else f"{address:#x}"


class _Unit:
    """One compilation unit's debugging information."""

    def __init__(self, unit: Any) -> None:
        self._unit = unit
        self._dwarf = unit.dwarfinfo
        self._program = self._dwarf.line_program_for_CU(unit)

    def frames(self, wanted: list[int]) -> dict[int, tuple[Frame, ...]]:
        top = self._unit.get_top_DIE()
        if not self._inside(top, wanted):
            return {}
        chains: dict[int, list[Die]] = {}
        for die in top.iter_children():
            self._walk(die, wanted, [], chains)
        files = self._files_at(sorted(chains))
        return {
            address: _without_libraries(self._named(chain, files.get(address, "")))
            for address, chain in chains.items()
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
        return [a for start, end in self._ranges(die) for a in wanted if start <= a < end]

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
        return str(Path(comp_dir) / folder / entry.name.decode())


def _name(die: Die) -> str:
    for link in ("DW_AT_abstract_origin", "DW_AT_specification"):
        if "DW_AT_name" not in die.attributes and link in die.attributes:
            die = die.get_DIE_from_attribute(link)
    name = die.attributes.get("DW_AT_name")
    return _TYPES.sub("", name.value.decode()) if name else "?"


def _without_libraries(frames: list[Frame]) -> tuple[Frame, ...]:
    """Functions of libraries count as the function of the program that called them."""
    own = [f for f in frames if not any(library in f.file for library in LIBRARIES)]
    return tuple(own or frames[:1])


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
