# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Cuts what an ELF file puts into memory into units: a function or an object each, and what stands
between two of them. Fill is none.

Data that no symbol names is cut where something refers to it, since a linker merges equal constants
and puts them into any order. What a linker's script writes into a section of its own is one unit.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import NamedTuple

from tockmark.rig.elf import ALLOCATED, IS_FUNCTION, IS_OBJECT, IS_UNTYPED, Elf, Symbol
from tockmark.rig.rv32 import RvStep

OUTLINED = "OUTLINED_FUNCTION_"  # LLVM's name for what several functions have in common

NUMBERED = re.compile(rf"{OUTLINED}|\.Lanon\.|\.L__unnamed_|\.L(?:switch|JTI|CPI)")
_FILL = re.compile(rb"(?:\0|\xff|\x13\0\0\0|\x01\0)*")  # of linkers, erased flash and assemblers
_TAIL = re.compile(rb"(?:\0\0|\x13\0\0\0|\x01\0)+\Z", re.DOTALL)


class Token(NamedTuple):
    """A part of a unit: what it is beside an address, and the address if it has one."""

    plain: int
    to: int | None = None
    by_place: bool = False  # the number `to` says nothing: bytes counted from here made it


@dataclass(eq=False)
class Unit:
    """A function, an object, or what stands between two of them."""

    name: str  # empty: it has none
    section: str
    start: int
    held: bytes
    is_code: bool
    key: str = ""  # that it may have in common with others
    tokens: list[Token] = field(default_factory=list)
    steps: list[RvStep] = field(default_factory=list)
    index: dict[int, int] = field(default_factory=dict)  # of the instruction at an address

    @property
    def end(self) -> int:
        return self.start + len(self.held)

    @property
    def is_numbered(self) -> bool:
        """Whether it has no name by which another file may know it."""
        return not self.name or NUMBERED.match(self.name) is not None

    @property
    def is_outlined(self) -> bool:
        """Whether it is a piece of several functions."""
        return self.name.startswith(OUTLINED)


def rough(unit: Unit) -> tuple[int, ...]:
    """Return what is in data beside what may be an address in either file, wherever it lies."""
    words = (int.from_bytes(unit.held[at : at + 4], "little") for at in range(0, len(unit.held), 4))
    return (len(unit.held), *(word if word >> 28 not in (1, 2) else -1 for word in words))


def place(unit: Unit, address: int) -> int:
    """Return which instruction of a unit is at an address, or which byte of data."""
    if unit.is_code:
        return len(unit.tokens) if address == unit.end else unit.index.get(address, -1)
    return address - unit.start


def parts(elf: Elf) -> Iterator[tuple[str, int, bytes, list[Symbol]]]:
    """Yield the name, the address, the content and the symbols of each section in memory; of a file
    without them, of its segments."""
    found = False
    for number, one in enumerate(elf.sections):
        if one.flags & ALLOCATED and one.size:
            found = True
            symbols = [symbol for symbol in elf.symbols if symbol.section == number]
            yield one.name, one.address, elf.held(one) or bytes(one.size), symbols
    if not found:
        for start, held in elf.segments:
            yield "", start, held, list(elf.symbols)


def units(elf: Elf) -> Iterator[Unit]:
    """Cut all that an ELF file puts into memory into units; of fill there is none."""
    for section, start, held, symbols in parts(elf):
        end = start + len(held)
        inside = [one for one in symbols if one.name and start <= one.address < end]
        sized = sorted(
            (one.address, -one.size, one.kind, one.name)
            for one in inside
            if one.kind in (IS_FUNCTION, IS_OBJECT) and one.size
        )
        labels = sorted(
            (one.address, one.name)
            for one in inside
            if not one.size and not one.name.startswith((".L", "$"))
        )
        # Behind the last function there is no code, and a linker may move what has no name.
        last = max((at for at, _, kind, _ in sized if kind == IS_FUNCTION), default=0)
        moves = last > 0 or any(NUMBERED.match(name) for *_, name in sized)
        done = start
        for at, minus, kind, name in [*sized, (end, 0, IS_UNTYPED, "")]:
            if at < done:
                continue  # another name of the same
            cuts = [(done, ""), *(label for label in labels if done <= label[0] < at), (at, "")]
            for (first, label), (stop, _) in pairwise(cuts):
                between = held[first - start : stop - start]
                if _FILL.fullmatch(between):
                    continue
                if stop <= last:
                    yield Unit(label, section, first, _TAIL.sub(b"", between), is_code=True)
                else:
                    yield Unit("" if moves else section, section, first, between, is_code=False)
            done = min(at - minus, end)
            if done > at:
                yield Unit(name, section, at, held[at - start : done - start], kind == IS_FUNCTION)


def cut(units: Iterable[Unit], places: Sequence[int]) -> Iterator[Unit]:
    """Cut data without a name where it is referred to: a linker merges constants, in any order."""
    for unit in units:
        inside = places[bisect_left(places, unit.start) : bisect_left(places, unit.end)]
        if unit.name or unit.is_code:
            yield unit
        else:
            for start, stop in pairwise([*inside, unit.end]):
                held = unit.held[start - unit.start : stop - unit.start].rstrip(b"\0")
                yield Unit("", unit.section, start, held or b"\0", is_code=False)
            rest = unit.held[: (inside or [unit.end])[0] - unit.start].rstrip(b"\0")
            if rest:
                yield replace(unit, held=rest)
