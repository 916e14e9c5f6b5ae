# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What a kernel's debugging information (DWARF) tells of an address: the functions that the
compiler put into one another there, and the source file of each.

pyelftools reads it. It raises whatever the bytes of a damaged file lead it to, so whatever it
raises ends here.
"""

import bisect
import re
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

from elftools.elf.elffile import ELFFile

from tockmark.errors import TockmarkError
from tockmark.paths import shown
from tockmark.plain import quoted, showable
from tockmark.profile.frame import Frame, Scope, in_module
from tockmark.profile.names import path as path_of
from tockmark.profile.names import readable

SCOPES = ("DW_TAG_inlined_subroutine", "DW_TAG_lexical_block")
MOST_LINKS = 8  # from a function to where its name stands: more than any compiler makes
_SYMBOLS = ("DW_AT_linkage_name", "DW_AT_MIPS_linkage_name")
_NAMES = ("DW_AT_name",)
Die = Any  # pyelftools has no types
_TYPES = re.compile(r"<.*>$")  # what a generic function was made for


def scopes(path: Path, data: bytes, wanted: list[int]) -> dict[int, tuple[Scope, ...]]:
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
            path = path_of(known[symbol]) if symbol else in_module(frame)
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
