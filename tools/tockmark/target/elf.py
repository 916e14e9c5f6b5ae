# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Read the 32-bit ELF files of kernels and apps, and list what occupies a kernel's memory.

A kernel may come from anywhere. So a size in the file is believed only if the file has that many
bytes, and a damaged file is refused with one line.

`pieces` measures a kernel without its padding. Linkers align functions and objects, and Tock's
linker script aligns flash to 512 bytes, so kernels of different size may load as many bytes.
`pieces` counts each function and object with the size of its symbol, and each byte once. Bytes
without a symbol (assembly, string constants) count from the first to the last that is not fill:
not 0x00, 0xff, or part of a nop.
"""

import functools
import hashlib
import re
import struct
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from itertools import pairwise
from pathlib import Path

from elftools.elf.elffile import ELFFile
from elftools.elf.enums import ENUM_E_MACHINE

from tockmark.base import paths
from tockmark.base.errors import TockmarkError
from tockmark.base.files import check_ends
from tockmark.base.paths import shown

LONGEST_SYMBOL = 4096  # characters; Rust makes some of hundreds
MEMORY_END = 1 << 32

WRITABLE, ALLOCATED = 0x1, 0x2  # bits of sh_flags
IS_UNTYPED, IS_OBJECT, IS_FUNCTION = 0, 1, 2  # types of symbols

SECTION, SEGMENT = 40, 32  # bytes of a header
# Unpacked here, since pyelftools takes 60 µs per entry, and there are thousands.
SYMBOL, RELOCATION = struct.Struct("<IIIBBH"), struct.Struct("<IIi")
EXECUTABLE, RELOCATABLE = "ET_EXEC", "ET_REL"
SYMBOLS, RELOCATIONS = "SHT_SYMTAB", "SHT_RELA"
NO_CONTENT = ("SHT_NULL", "SHT_NOBITS")  # sections without bytes in the file
_RESERVED = 0xFF00  # from here on, st_shndx is not the number of a section
MAGIC = b"\x7fELF"
_ARCHIVE, _MEMBER = b"!<arch>\n", 60  # magic of an archive; bytes of the header of a member
_FILL = b"\0\xff"  # padding of LLVM's linker, and erased flash
_NOPS = (b"\x13\0\0\0", b"\1\0")  # padding of GNU's linker and of assemblers in code


@dataclass(frozen=True)
class Isa:
    """An architecture that apps are built for."""

    name: str  # in board profiles
    machine: int  # e_machine of its ELF files
    linker: str
    emulation: str  # option -m of the linker
    libraries: Path  # folder of the compiler's libraries, which all apps are linked with
    setup: str  # the make target that installs its tools
    aliases: tuple[str, ...]  # its names in TABs
    counts_cycles_only: bool = False  # its apps read CycleCount only
    has_power_of_two_mpu: bool = False  # a region is a power of two, aligned to its size

    @property
    def compiler_libraries(self) -> tuple[Path, Path]:
        """The compiler's libraries."""
        return self.libraries / "libgcc.a", self.libraries / "libc.a"


RISC_V = Isa(
    name="rv32imc",
    machine=243,
    linker=paths.LD,
    emulation="elf32lriscv",
    libraries=paths.LIBRARIES,
    setup="setup",
    aliases=("rv32imc", "riscv32imc"),
)
CORTEX_M4 = Isa(
    name="cortex-m4",
    machine=40,
    linker="arm-none-eabi-ld",
    emulation="armelf",
    libraries=paths.APPS / "lib-cortex-m4",
    setup="setup-qemu",
    aliases=("cortex-m4",),
    counts_cycles_only=True,
    has_power_of_two_mpu=True,
)
ISAS = {isa.name: isa for isa in (RISC_V, CORTEX_M4)}


@dataclass(frozen=True)
class Section:
    """A section of an ELF file, with sizes in bytes."""

    name: str
    kind: str | int  # sh_type; a number if pyelftools has no name for it
    flags: int
    address: int  # in memory
    start: int  # offset in the file
    size: int
    link: int = 0  # sh_link: of a symbol table, the number of the section with the names
    info: int = 0  # sh_info: of relocations, the number of the section that they apply to
    align: int = 1
    entry: int = 0  # sh_entsize: bytes of a constant, if equal ones may be merged

    @property
    def in_file(self) -> bool:
        """Whether its content is in the file."""
        return self.kind not in NO_CONTENT


@dataclass(frozen=True)
class Symbol:
    """A symbol, with its address and its size in bytes."""

    name: str
    address: int
    size: int
    kind: int
    section: int  # number of its section

    @property
    def in_section(self) -> bool:
        """Whether it is an address: it is neither undefined nor an absolute number."""
        return 0 < self.section < _RESERVED


@dataclass(frozen=True)
class Elf:
    """The content of an ELF file."""

    data: bytes
    entry: int  # address of the first instruction
    segments: tuple[tuple[int, bytes], ...]  # physical address and content, if not empty
    sections: tuple[Section, ...]
    symbols: tuple[Symbol, ...]
    isa: Isa = RISC_V
    kind: str | int = EXECUTABLE

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.data).hexdigest()

    @property
    def addresses(self) -> dict[str, int]:
        """The addresses of symbols by name; the last one of each name counts."""
        return {symbol.name: symbol.address for symbol in self.symbols}

    def content(self, name: str) -> bytes:
        """Return the content of the first section with this name, or nothing."""
        named = (section for section in self.sections if section.name == name and section.in_file)
        return next(map(self.section_bytes, named), b"")

    def section_bytes(self, section: Section) -> bytes:
        """Return the content of a section in the file."""
        return _slice(self.data, section.start, section.size) if section.in_file else b""

    def relocations(self, section: Section) -> Iterator[tuple[int, int, Symbol, int]]:
        """Yield the offset, the type, the symbol and the addend of each relocation in a table."""
        for offset, info, addend in RELOCATION.iter_unpack(self.section_bytes(section)):
            yield offset, info & 0xFF, self.symbols[info >> 8], addend


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of memory: a function, an object, or bytes without a symbol."""

    name: str  # of its symbol; empty if it has none
    section: str
    size: int  # bytes
    in_flash: bool
    in_ram: bool  # initialised data is in both


def read_elf(path: Path) -> Elf:
    """Read and check a kernel. TockmarkError if the file cannot be read or is damaged."""
    todo = "give the kernel's .elf"
    check_ends(path, todo)
    try:
        data = path.read_bytes()
    except OSError as error:
        if isinstance(error, FileNotFoundError):
            todo = _build_command(path) or todo
            raise TockmarkError(f"there is no {shown(path)}", todo) from error
        todo = "give another with --kernel"
        raise TockmarkError(f"cannot read {shown(path)}: {error.strerror}", todo) from error
    if data[:4] != MAGIC:
        raise TockmarkError(f"{shown(path)} is not an ELF file", f"{todo}, not a .bin")
    try:
        elf = parse_elf(data)
        if not elf.segments:
            raise ValueError("has nothing to load: none of its segments has content")
        return elf
    except ValueError as error:
        raise TockmarkError(f"{shown(path)} {error}", "give another kernel") from None


def archive_members(archive: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the names and contents of an archive's members in GNU's format; the symbol table has
    the name "". ValueError if the archive is thin or damaged."""
    if not archive.startswith(_ARCHIVE):
        raise ValueError("it is neither an object nor an archive that contains its members")
    at, long_names = len(_ARCHIVE), b""
    while at + _MEMBER <= len(archive):
        name, size = archive[at : at + 16].rstrip(b" "), int(archive[at + 48 : at + 58])
        content = archive[at + _MEMBER :][:size]
        if name == b"//":  # the long names of other members
            long_names = content
        else:
            if name[:1] == b"/" and name[1:].isdigit():
                name = long_names[int(name[1:]) :].partition(b"\n")[0]
            yield name.removesuffix(b"/").decode("utf-8", "replace"), content
        at += _MEMBER + size + size % 2


def _build_command(path: Path) -> str:
    """Return the command that builds one of our kernels, or nothing for another kernel. Each board
    has its folder, and `make build` does not build all of them."""
    match = re.search(r"(?:^|/)build/cargo([-\w]*)/", str(path))
    if match is None:
        return ""
    board = re.fullmatch(r"(?:-v1)?-(?:nexysvideo|earlgrey-2021|qemu(?:-cortex-m4)?)", match[1])
    command = paths.make_command(f"kernel{match[1]}" if board else "build")
    return f"{command}, or give another with --kernel"


def pieces(elf: Elf) -> Iterator[Piece]:
    """Yield the pieces of a file's memory in the order of its sections. Without sections, each
    segment is a piece."""
    symbols = defaultdict(list)
    for symbol in elf.symbols:
        if symbol.kind in (IS_FUNCTION, IS_OBJECT) and symbol.size:
            symbols[symbol.section].append((symbol.address, -symbol.size, symbol.name))
    allocated = [
        (number, section)
        for number, section in enumerate(elf.sections)
        if section.flags & ALLOCATED and section.size
    ]
    for number, section in allocated:
        yield from _section_pieces(section, elf.section_bytes(section), symbols[number])
    if not allocated:
        for _, data in elf.segments:
            yield from _gap_piece("", data, in_ram=False)


def encode_elf(content: bytes, address: int, isa: Isa = RISC_V) -> bytes:
    """Return a minimal ELF file that loads bytes at an address, and starts there."""
    start = 52 + SEGMENT
    header = (2, isa.machine, 1, address, 52, 0, 0, 52, SEGMENT, 1, 0, 0, 0)
    segment = (1, start, address, address, len(content), len(content), 4, 4)
    ident = MAGIC + bytes([1, 1, 1])
    return struct.pack("<16sHHIIIIIHHHHHH8I", ident, *header, *segment) + content


def _section_pieces(
    section: Section, content: bytes, symbols: list[tuple[int, int, str]]
) -> Iterator[Piece]:
    """Yield the pieces of a section. Its symbols are given as (address, -size, name)."""
    name, in_flash, in_ram = section.name, section.in_file, bool(section.flags & WRITABLE)
    done, end = section.address, section.address + section.size
    # If symbols overlap, the bytes belong to the first, and of those to the longest.
    within = sorted(symbol for symbol in symbols if symbol[0] < end)
    for address, minus_size, symbol in [*within, (end, 0, "")]:
        start, stop = max(address, done), min(address - minus_size, end)
        if start >= stop and address < end:
            continue
        if in_flash:
            gap = content[done - section.address : start - section.address]
            yield from _gap_piece(name, gap, in_ram)
        elif start > done:
            yield Piece("", name, start - done, in_flash, in_ram)
        if start < stop:
            yield Piece(symbol, name, stop - start, in_flash, in_ram)
        done = stop


def _gap_piece(section: str, content: bytes, in_ram: bool) -> Iterator[Piece]:
    """Yield bytes without a symbol as one piece, without the fill at both ends, if any is left."""
    without_nops = content
    for nop in _NOPS:
        without_nops = without_nops.replace(nop, bytes(len(nop)))
    if size := len(without_nops.strip(_FILL)):
        yield Piece("", section, size, True, in_ram)


@functools.lru_cache(4)  # a kernel is read several times in a row
def parse_elf(data: bytes) -> Elf:
    """Parse an executable or an object. ValueError, whose text continues the file's name, if it is
    damaged or of another kind."""
    try:
        file = ELFFile(BytesIO(data))
        machine = ENUM_E_MACHINE.get(file["e_machine"])
        isa = next((candidate for candidate in ISAS.values() if candidate.machine == machine), None)
        if file.elfclass != 32 or not file.little_endian or isa is None:
            raise ValueError("is not a 32-bit ELF file for RISC-V or Cortex-M")
        for table, size in (("ph", SEGMENT), ("sh", SECTION)):
            count, entry_size = file[f"e_{table}num"], file[f"e_{table}entsize"]
            if count and entry_size != size:
                raise ValueError(f"is damaged: a header of {entry_size} bytes, not {size}")
            _check_within(data, file[f"e_{table}off"], count * size)
        segments = _read_segments(data, file)
        sections = _read_sections(data, file) if file["e_shnum"] else ()
    except ValueError:
        raise
    except Exception as error:  # pyelftools raises many kinds of errors on damaged bytes
        raise ValueError("is damaged: its headers cannot be read") from error
    symbols = tuple(_read_symbols(data, sections))
    return Elf(data, file["e_entry"], segments, sections, symbols, isa, file["e_type"])


def _read_segments(data: bytes, file: ELFFile) -> tuple[tuple[int, bytes], ...]:
    """Return the segments to load. ValueError if two overlap, in memory or in the file."""
    loads = [
        (segment["p_paddr"], segment["p_filesz"], segment["p_offset"])
        for segment in file.iter_segments("PT_LOAD")
        if segment["p_filesz"]
    ]
    ends = [(address, address + size) for address, size, _ in sorted(loads)]
    for (first, end), (second, _) in pairwise([*ends, (MEMORY_END, MEMORY_END)]):
        if end > second:
            other = "the end of all memory" if second == MEMORY_END else f"the one at {second:#x}"
            raise ValueError(f"has a segment at {first:#x} that overlaps {other}")
    return tuple((address, _slice(data, start, size)) for address, size, start in loads)


def _read_sections(data: bytes, file: ELFFile) -> tuple[Section, ...]:
    """Read the sections."""
    fields = ("type", "flags", "addr", "offset", "size", "link", "info", "addralign", "entsize")
    sections = tuple(
        Section(section.name[:LONGEST_SYMBOL], *(section[f"sh_{field}"] for field in fields))
        for section in file.iter_sections()
    )
    for section in sections:
        if section.in_file:
            _check_within(data, section.start, section.size)
    return sections


def _read_symbols(data: bytes, sections: tuple[Section, ...]) -> Iterator[Symbol]:
    """Yield the symbols of the first symbol table, if there is one."""
    table = next((section for section in sections if section.kind == SYMBOLS), None)
    if table is None:
        return
    if table.link >= len(sections) or table.size % SYMBOL.size:
        raise ValueError("is damaged: its symbols have no names")
    strings = sections[table.link]
    names = _slice(data, strings.start, strings.size)
    entries = _slice(data, table.start, table.size)
    for at, address, size, info, _, section in SYMBOL.iter_unpack(entries):
        name = names[at : at + LONGEST_SYMBOL].partition(b"\0")[0].decode("utf-8", "replace")
        yield Symbol(name, address, size, info & 0xF, section)


def _slice(data: bytes, start: int, size: int) -> bytes:
    _check_within(data, start, size)
    return data[start : start + size]


def _check_within(data: bytes, start: int, size: int) -> None:
    if start + size > len(data):
        raise ValueError(f"is damaged: it ends before byte {start + size:#x}, which it refers to")
