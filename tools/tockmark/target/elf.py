# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Reads the 32-bit ELF files of kernels and apps, and says what fills a kernel's memory. ISAS has
the architectures that apps are built for, by the names that board profiles and TABs have.

A kernel may come from anywhere. So no size that stands in it is believed before the file turns out
to hold as much, and whatever is torn is refused in one line.

A linker pads: up to the next multiple for a function or an object, and Tock's linker script up to
the next 512 bytes of flash. So kernels of different size may load as many bytes. `pieces` counts
instead each function and each object as long as its symbol says, each byte once; and of a stretch
that no symbol covers (assembly, string constants) what is from its first byte to its last that is
no fill: no 0x00, no 0xff, no part of a nop.
"""

import hashlib
import re
import stat
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
from tockmark.base.paths import shown

MOST_BYTES = 1 << 28  # of a file: ten times a kernel with all that a debugger wants
LONGEST_SYMBOL = 4096  # characters; Rust makes some of hundreds
MEMORY_END = 1 << 32

WRITABLE, ALLOCATED = 0x1, 0x2  # sh_flags: what is in RAM, what is in memory at all
IS_UNTYPED, IS_OBJECT, IS_FUNCTION = 0, 1, 2  # kinds of symbols

SECTION, SEGMENT = 40, 32  # bytes of a header
# The tables of thousands of entries, for each of which pyelftools needs 60 µs.
SYMBOL, RELOCATION = struct.Struct("<IIIBBH"), struct.Struct("<IIi")
EXECUTABLE, RELOCATABLE = "ET_EXEC", "ET_REL"
SYMBOLS, RELOCATIONS = "SHT_SYMTAB", "SHT_RELA"
NO_CONTENT = ("SHT_NULL", "SHT_NOBITS")  # an unused header, and what only takes room in memory
_RESERVED = 0xFF00  # st_shndx: from here on it is no section
MAGIC = b"\x7fELF"
_ARCHIVE, _MEMBER = b"!<arch>\n", 60  # how an archive begins; bytes before each of its members
_FILL = b"\0\xff"  # what LLVM's linker pads with, and what erased flash holds
_NOPS = (b"\x13\0\0\0", b"\1\0")  # what GNU's linker and assemblers pad code with


@dataclass(frozen=True)
class Isa:
    """One architecture."""

    name: str
    machine: int  # of an ELF file
    linker: str
    emulation: str  # as the linker calls it
    libraries: Path  # the compiler's own, which all apps are linked with
    setup: str  # the target of the Makefile that installs its tools
    aliases: tuple[str, ...]  # under which a TAB has programs for it
    counts_cycles_only: bool = False  # its apps read CycleCount, and nothing else
    has_power_of_two_mpu: bool = False  # its MPU protects powers of two, at multiples of themselves

    @property
    def compilers(self) -> tuple[Path, Path]:
        """Return the compiler's libraries."""
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
ISAS = {one.name: one for one in (RISC_V, CORTEX_M4)}


@dataclass(frozen=True)
class Section:
    """A section: sizes in bytes."""

    name: str
    kind: str | int  # a number where pyelftools has no name for it
    flags: int
    address: int  # where the program finds it
    start: int  # in the file
    size: int
    link: int = 0  # of a table of symbols: the number of the section that has their names
    info: int = 0  # of relocations: the number of the section that they are for
    align: int = 1
    entry: int = 0  # bytes of one constant, where equal ones may be merged

    @property
    def in_file(self) -> bool:
        """Whether the file has its content."""
        return self.kind not in NO_CONTENT


@dataclass(frozen=True)
class Symbol:
    """A symbol: its address, and its size in bytes."""

    name: str
    address: int
    size: int
    kind: int
    section: int  # the number of the section that it lies in

    @property
    def in_section(self) -> bool:
        """Whether it is a place: not absent, nor a mere number."""
        return 0 < self.section < _RESERVED


@dataclass(frozen=True)
class Elf:
    """What a file holds."""

    data: bytes
    entry: int  # address of the first instruction
    segments: tuple[tuple[int, bytes], ...]  # physical address and content, where there is any
    sections: tuple[Section, ...]
    symbols: tuple[Symbol, ...]
    isa: Isa = RISC_V
    kind: str | int = EXECUTABLE

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.data).hexdigest()

    @property
    def addresses(self) -> dict[str, int]:
        """The symbols by name; the last of a name counts."""
        return {symbol.name: symbol.address for symbol in self.symbols}

    def content(self, name: str) -> bytes:
        """Return what the section of this name holds; nothing if there is none."""
        found = (
            self.section_bytes(one) for one in self.sections if one.name == name and one.in_file
        )
        return next(found, b"")

    def section_bytes(self, section: Section) -> bytes:
        """Return what a section holds in the file."""
        return _slice(self.data, section.start, section.size) if section.in_file else b""

    def relocations(self, section: Section) -> Iterator[tuple[int, int, Symbol, int]]:
        """Yield the place, the kind, the symbol and the addend of each relocation in a table."""
        for place, info, addend in RELOCATION.iter_unpack(self.section_bytes(section)):
            yield place, info & 0xFF, self.symbols[info >> 8], addend


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of memory: one function or object, or a stretch that no symbol covers."""

    name: str  # of its symbol, as it stands in the file; empty if it has none
    section: str
    size: int  # bytes
    in_flash: bool
    in_ram: bool  # initial data is in both


def read_elf(path: Path) -> Elf:
    """Read and check a file. TockmarkError if it cannot be read, is none of these, or is torn."""
    todo = "give the kernel's .elf"
    try:
        about = path.stat()
        if not stat.S_ISREG(about.st_mode):  # a pipe would be waited for
            raise TockmarkError(f"{shown(path)} is not a file", todo)
        if about.st_size > MOST_BYTES:
            raise TockmarkError(f"{shown(path)} has more than {MOST_BYTES >> 20} MiB", todo)
        data = path.read_bytes()
    except OSError as error:
        if isinstance(error, FileNotFoundError):
            raise TockmarkError(f"there is no {shown(path)}", _made_by(path) or todo) from error
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
        raise TockmarkError(f"{shown(path)} {error}", "give a kernel as a linker made it") from None


def archive_members(archive: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield what is in an archive with its name, as GNU or BSD have it; also the table of symbols,
    "". ValueError if it is a thin one, or torn."""
    if not archive.startswith(_ARCHIVE):
        raise ValueError("it is neither an object nor an archive with its members in it")
    at, long_names = len(_ARCHIVE), b""
    while at + _MEMBER <= len(archive):
        name, size = archive[at : at + 16].rstrip(b" "), int(archive[at + 48 : at + 58])
        held = archive[at + _MEMBER :][:size]
        if name == b"//":  # which has the long names of the others
            long_names = held
        elif name.startswith(b"#1/"):  # as on BSD: the name stands before the content
            own = int(name[3:])
            yield held[:own].rstrip(b"\0").decode("utf-8", "replace"), held[own:]
        else:
            if name[:1] == b"/" and name[1:].isdigit():
                name = long_names[int(name[1:]) :].partition(b"\n")[0]
            yield name.removesuffix(b"/").decode("utf-8", "replace"), held
        at += _MEMBER + size + size % 2


def _made_by(path: Path) -> str:
    """Say what builds a kernel of ours; nothing of any other. The kernels of each board have a
    folder, and `make build` does not build all of them."""
    found = re.search(r"(?:^|/)build/cargo([-\w]*)/", str(path))
    if found is None:
        return ""
    board = re.fullmatch(r"(?:-v1)?-(?:nexysvideo|earlgrey-2021|qemu(?:-cortex-m4)?)", found[1])
    command = paths.make_command(f"kernel{found[1]}" if board else "build")
    return f"{command}, or give another with --kernel"


def pieces(elf: Elf) -> Iterator[Piece]:
    """Yield all of a file's memory, in the order of its sections; of a file without a table of
    sections its segments, each a stretch."""
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
            yield from _stretch("", data, in_ram=False)


def encode_elf(content: bytes, address: int, isa: Isa = RISC_V) -> bytes:
    """Make an ELF file that loads bytes at an address, which is its entry, too; readable alone."""
    start = 52 + SEGMENT
    header = (2, isa.machine, 1, address, 52, 0, 0, 52, SEGMENT, 1, 0, 0, 0)
    segment = (1, start, address, address, len(content), len(content), 4, 4)
    ident = MAGIC + bytes([1, 1, 1])
    return struct.pack("<16sHHIIIIIHHHHHH8I", ident, *header, *segment) + content


def _section_pieces(
    section: Section, content: bytes, symbols: list[tuple[int, int, str]]
) -> Iterator[Piece]:
    """Yield the pieces of a section, whose symbols are given as address, -size and name."""
    name, in_flash, in_ram = section.name, section.in_file, bool(section.flags & WRITABLE)
    done, end = section.address, section.address + section.size
    # Of symbols that overlap the first, and of those the longest, has the bytes.
    within = sorted(symbol for symbol in symbols if symbol[0] < end)
    for address, minus_size, symbol in [*within, (end, 0, "")]:
        start, stop = max(address, done), min(address - minus_size, end)
        if start >= stop and address < end:
            continue
        if in_flash:
            held = content[done - section.address : start - section.address]
            yield from _stretch(name, held, in_ram)
        elif start > done:
            yield Piece("", name, start - done, in_flash, in_ram)
        if start < stop:
            yield Piece(symbol, name, stop - start, in_flash, in_ram)
        done = stop


def _stretch(section: str, held: bytes, in_ram: bool) -> Iterator[Piece]:
    """Yield what no symbol covers as one piece, without the fill at both ends; nothing if it is
    fill alone."""
    blank = held
    for nop in _NOPS:
        blank = blank.replace(nop, bytes(len(nop)))
    if size := len(blank.strip(_FILL)):
        yield Piece("", section, size, True, in_ram)


def parse_elf(data: bytes) -> Elf:
    """Read an executable or an object. ValueError, in words that follow the file's name, if it is
    none of ours, or torn."""
    try:
        file = ELFFile(BytesIO(data))
        machine = ENUM_E_MACHINE.get(file["e_machine"])
        isa = next((one for one in ISAS.values() if one.machine == machine), None)
        if file.elfclass != 32 or not file.little_endian or isa is None:
            raise ValueError("is not a 32-bit RISC-V ELF file, nor one for Cortex-M")
        for table, size in (("ph", SEGMENT), ("sh", SECTION)):
            count, own = file[f"e_{table}num"], file[f"e_{table}entsize"]
            if count and own != size:
                raise ValueError(f"is torn: a header of {own} bytes, not {size}")
            _within(data, file[f"e_{table}off"], count * size)
        segments = _segments(data, file)
        sections = _sections(data, file) if file["e_shnum"] else ()
    except ValueError:
        raise
    except Exception as error:  # pyelftools raises whatever damaged bytes lead it to
        raise ValueError("is torn: its headers cannot be read") from error
    symbols = tuple(_symbols(data, sections))
    return Elf(data, file["e_entry"], segments, sections, symbols, isa, file["e_type"])


def _segments(data: bytes, file: ELFFile) -> tuple[tuple[int, bytes], ...]:
    """Read what is to be loaded. ValueError if two have a place in common, in memory or in the
    file."""
    places = [
        (one["p_paddr"], one["p_filesz"], one["p_offset"])
        for one in file.iter_segments("PT_LOAD")
        if one["p_filesz"]
    ]
    ends = [(address, address + size) for address, size, _ in sorted(places)]
    for (first, end), (second, _) in pairwise([*ends, (MEMORY_END, MEMORY_END)]):
        if end > second:
            what = "the end of all memory" if second == MEMORY_END else f"the one at {second:#x}"
            raise ValueError(f"has a segment at {first:#x} that overlaps {what}")
    if sum(size for _, size, _ in places) > len(data):
        raise ValueError("is torn: its segments have more than the whole file")
    return tuple((address, _slice(data, start, size)) for address, size, start in places)


def _sections(data: bytes, file: ELFFile) -> tuple[Section, ...]:
    """Read the sections."""
    fields = ("type", "flags", "addr", "offset", "size", "link", "info", "addralign", "entsize")
    sections = tuple(
        Section(one.name[:LONGEST_SYMBOL], *(one[f"sh_{field}"] for field in fields))
        for one in file.iter_sections()
    )
    held = [section for section in sections if section.in_file]
    for section in held:
        _within(data, section.start, section.size)
    if sum(section.size for section in held if section.flags & ALLOCATED) > len(data):
        raise ValueError("is torn: its sections have more than the whole file")
    return sections


def _symbols(data: bytes, sections: tuple[Section, ...]) -> Iterator[Symbol]:
    """Read the first table of symbols, if there is one."""
    table = next((section for section in sections if section.kind == SYMBOLS), None)
    if table is None:
        return
    if table.link >= len(sections) or table.size % SYMBOL.size:
        raise ValueError("is torn: its symbols have no names")
    strings = sections[table.link]
    names, letters = _slice(data, strings.start, strings.size), 0
    entries = _slice(data, table.start, table.size)
    for at, address, size, info, _, section in SYMBOL.iter_unpack(entries):
        name = _text(names, at)
        letters += len(name)
        if letters > MOST_BYTES:  # all of them may point to one long name
            raise ValueError(f"has symbols with more than {MOST_BYTES >> 20} MiB of names")
        yield Symbol(name, address, size, info & 0xF, section)


def _text(names: bytes, at: int) -> str:
    return names[at : at + LONGEST_SYMBOL].partition(b"\0")[0].decode("utf-8", "replace")


def _slice(data: bytes, start: int, size: int) -> bytes:
    _within(data, start, size)
    return data[start : start + size]


def _within(data: bytes, start: int, size: int) -> None:
    if start + size > len(data):
        raise ValueError(f"is torn: it ends before the byte {start + size:#x}, which it tells of")
