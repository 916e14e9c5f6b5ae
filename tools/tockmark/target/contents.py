# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What a kernel really holds: its memory by function and object, without what only fills up.

A linker pads: up to the next multiple for a function or an object, and Tock's linker script up to
the next 512 bytes of flash. So kernels of different size may load as many bytes. What is counted
instead: each function and each object as long as its symbol says, each byte once; and of a
stretch that no symbol covers (assembly, string constants) what is from its first byte to its last
that is no fill: no 0x00, no 0xff, no part of a nop.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tockmark.target.elf import (
    ALLOCATED,
    IS_FUNCTION,
    IS_OBJECT,
    WRITABLE,
    Elf,
    Section,
    Symbol,
)

FILL = b"\0\xff"  # what LLVM's linker pads with, and what erased flash holds
NOPS = (b"\x13\0\0\0", b"\1\0")  # what GNU's linker and assemblers pad code with


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of memory: one function or object, or a stretch that no symbol covers."""

    name: str  # of its symbol, as it stands in the file; empty if it has none
    section: str
    size: int  # bytes
    in_flash: bool
    in_ram: bool  # initial data is in both


def pieces(elf: Elf) -> Iterator[Piece]:
    """All of a file's memory, in the order of its sections; of one without a table of sections
    its segments, each a stretch."""
    symbols = defaultdict(list)
    for symbol in elf.symbols:
        if symbol.kind in (IS_FUNCTION, IS_OBJECT) and symbol.size:
            symbols[symbol.section].append(symbol)
    allocated = [
        (number, section)
        for number, section in enumerate(elf.sections)
        if section.flags & ALLOCATED and section.size
    ]
    for number, section in allocated:
        yield from _of_section(section, elf.held(section), symbols[number])
    if not allocated:
        for _, data in elf.segments:
            yield from _stretch("", data, in_ram=False)


def flash_bytes(elf: Elf) -> int:
    """Bytes of code, constants and initial data, without what only fills up."""
    return sum(piece.size for piece in pieces(elf) if piece.in_flash)


def _of_section(section: Section, content: bytes, symbols: Iterable[Symbol]) -> Iterator[Piece]:
    in_flash, in_ram = section.in_file, bool(section.flags & WRITABLE)
    end = section.address + section.size
    done = section.address

    def between(start: int, stop: int) -> Iterator[Piece]:
        if in_flash:
            held = content[start - section.address : stop - section.address]
            yield from _stretch(section.name, held, in_ram)
        elif stop > start:
            yield Piece("", section.name, stop - start, in_flash, in_ram)

    # Of symbols that overlap the first, and of those the longest, has the bytes.
    for symbol in sorted(symbols, key=lambda one: (one.address, -one.size, one.name)):
        start, stop = max(symbol.address, done), min(symbol.address + symbol.size, end)
        if start < stop:
            yield from between(done, start)
            yield Piece(symbol.name, section.name, stop - start, in_flash, in_ram)
            done = stop
    yield from between(done, end)


def _stretch(section: str, held: bytes, in_ram: bool) -> Iterator[Piece]:
    blank = held
    for nop in NOPS:
        blank = blank.replace(nop, bytes(len(nop)))
    if size := len(blank.strip(FILL)):
        yield Piece("", section, size, True, in_ram)
