# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Says in which functions and constants two ELF files of RV32 differ, whatever their layouts are.

A link gives each function and constant its address, and so changes the instructions that hold
addresses; a linker that relaxes also makes some of them shorter or drops them. So memory is cut
into units, a function or an object each, and what stands between. Each is brought to what it was
before the link: a pair of instructions that forms an address is one that names a unit and a place
in it, a call is the same in two, four and eight bytes, a branch names the instruction it goes to,
and a word that holds an address does as the pair. All other bytes stay.

Nothing tells an address from a number that looks like one, or the end of a unit from the beginning
of the next. So two places are also the same if one unit lies as far from both, and two words if
they are equal.

Fill is no unit. Data that no symbol names is cut where something refers to it, since a linker
merges equal constants and puts them into any order. What a linker's script writes into a section of
its own is one unit.

A unit is known by its name without the number that LLVM appends; what the compiler numbers,
outlined functions and constants without a name, by what it holds.
"""

import hashlib
import re
import struct
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import NamedTuple

from tockmark.target.elf import ALLOCATED, IS_FUNCTION, IS_OBJECT, IS_UNTYPED, Elf, Symbol
from tockmark.target.rv32 import CALLER_SAVED, GP, MASK, RA, RS1, UPPER, Kind, RvStep, steps

NEAR = 64  # bytes outside a unit that may be meant as a place of it: an end, a biased beginning
DEEPEST = 2  # so far outlined functions call each other
LEAST = 1 << 16  # of an address: a symbol may also stand for a mere number

_SUFFIX = re.compile(r"(?:\.llvm)?\.\d+$")
_WORD = struct.Struct("<I")

OUTLINED = "OUTLINED_FUNCTION_"  # LLVM's name for what several functions have in common
NUMBERED = re.compile(rf"{OUTLINED}|\.Lanon\.|\.L__unnamed_|\.L(?:switch|JTI|CPI)")
_FILL = re.compile(rb"(?:\0|\xff|\x13\0\0\0|\x01\0)*")  # of linkers, erased flash and assemblers
_TAIL = re.compile(rb"(?:\0\0|\x13\0\0\0|\x01\0)+\Z", re.DOTALL)

# What a register may hold: the upper part of an address, and the instructions that put it there.
State = dict[int, tuple[int, frozenset[int]]]


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


def masked_words(unit: Unit) -> tuple[int, ...]:
    """Return what is in data beside what may be an address in either file, wherever it lies."""
    words = (int.from_bytes(unit.held[at : at + 4], "little") for at in range(0, len(unit.held), 4))
    return (len(unit.held), *(word if word >> 28 not in (1, 2) else -1 for word in words))


def position(unit: Unit, address: int) -> int:
    """Return which instruction of a unit is at an address, or which byte of data."""
    if unit.is_code:
        return len(unit.tokens) if address == unit.end else unit.index.get(address, -1)
    return address - unit.start


def section_parts(elf: Elf) -> Iterator[tuple[str, int, bytes, list[Symbol]]]:
    """Yield the name, the address, the content and the symbols of each section in memory; of a file
    without them, of its segments."""
    found = False
    for number, one in enumerate(elf.sections):
        if one.flags & ALLOCATED and one.size:
            found = True
            symbols = [symbol for symbol in elf.symbols if symbol.section == number]
            yield one.name, one.address, elf.section_bytes(one) or bytes(one.size), symbols
    if not found:
        for start, held in elf.segments:
            yield "", start, held, list(elf.symbols)


def units(elf: Elf) -> Iterator[Unit]:
    """Cut all that an ELF file puts into memory into units; of fill there is none."""
    for section, start, held, symbols in section_parts(elf):
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


def differences(base: "LinkedCode", head: "LinkedCode") -> list[str]:
    """Return the names of the functions and objects that differ in more than their layout, or that
    one of two files has alone: functions first, and what has no name last, as its section."""
    comparison, found = _Comparison(base, head), []
    for key in base.by_key.keys() | head.by_key.keys():
        here, left = base.by_key.get(key, []), list(head.by_key.get(key, []))
        for unit in here:
            twin = next((twin for twin in left if comparison.same(unit, twin)), None)
            if twin is None:
                found.append(unit)
            elif unit.is_code or not unit.is_numbered:  # a linker merges equal constants
                left.remove(twin)
        found += [unit for unit in left if unit.is_code or not here]
    found.sort(key=lambda unit: (not unit.is_code, unit.is_numbered, unit.start))
    return list(dict.fromkeys(unit.name or f"data in {unit.section}" for unit in found))


class _Comparison:
    """Compares units of two files. What the units refer to that has no name is compared, too."""

    def __init__(self, one: "LinkedCode", other: "LinkedCode") -> None:
        self._one, self._other = one, other
        self._known: dict[tuple[Unit, Unit], bool] = {}

    def same(self, unit: Unit, twin: Unit) -> bool:
        """Return whether two units hold the same."""
        if (unit, twin) not in self._known:
            self._known[unit, twin] = True  # where they refer to themselves
            self._known[unit, twin] = self._equal(unit, twin)
        return self._known[unit, twin]

    def _equal(self, unit: Unit, twin: Unit) -> bool:
        if not unit.is_code and unit.held == twin.held:
            return True  # a number, at another place, may be taken for an address
        # What a linker's script writes into a section of its own may count from the image's start.
        moved = unit.start - twin.start if unit.name == unit.section else 0
        return len(unit.tokens) == len(twin.tokens) and all(
            (a.plain == b.plain or (moved and a.plain - moved == b.plain))
            and (
                a.to is b.to is None
                or (
                    a.to is not None
                    and b.to is not None
                    and ((a.to == b.to and self._is_number(a)) or self._meet(a.to, b.to))
                )
            )
            for a, b in zip(unit.tokens, twin.tokens, strict=True)
        )

    def _is_number(self, token: Token) -> bool:
        """Return whether what looks like an address may be a mere number: it is hardly one if a
        unit begins there in both files."""
        at = token.to or 0
        units = self._one.at(at), self._other.at(at)
        return not token.by_place and not all(unit and unit.start == at for unit in units)

    def _meet(self, here: int, there: int) -> bool:
        """Return whether an address of one file may mean what one of the other does."""
        one, other = self._one, self._other
        if one.labels(here) & other.labels(there):
            return True
        first, second = one.at(here), other.at(there)
        if first and second and self._alike(first, here, second, there):
            return True
        begin = first and second and first.start == here and second.start == there
        return any(
            self._alike(unit, here, twin, there)
            for unit in one.near(here)
            for twin in other.near(there)
            if not begin or (unit.end == here and twin.end == there)
        )

    def _alike(self, unit: Unit, here: int, twin: Unit, there: int) -> bool:
        """Return whether two addresses are the same place in units that are the same."""
        return (
            unit.key == twin.key
            and position(unit, here) == position(twin, there)
            and (not unit.is_numbered or self.same(unit, twin))
        )


class LinkedCode:
    """Holds what an ELF file puts into memory, by units."""

    def __init__(self, elf: Elf) -> None:
        self._labels: dict[int, set[str]] = defaultdict(set)
        for one in elf.symbols:
            if not one.size and one.kind == IS_OBJECT and NUMBERED.match(one.name):
                self._labels[one.address].add("")  # an empty constant: all of them are the same
            elif one.name and not one.name.startswith((".L", "$")):
                self._labels[one.address].add(_SUFFIX.sub("", one.name))
        self._ranges = [
            (start, start + len(held)) for _, start, held, _ in section_parts(elf) if start > LEAST
        ]
        self._gp = elf.addresses.get("__global_pointer$")
        self._pairs: dict[int, tuple[int, frozenset[int]] | None] = {}
        self._take(units(elf))
        code = [unit for unit in self.units if unit.is_code]
        words = {to for unit in self.units if not unit.is_code for _, to in self._words(unit)}
        self._tables: dict[Unit, set[int]] = defaultdict(set)  # where jump tables lead
        for word in words:
            if (unit := self.at(word)) and unit.is_code and word != unit.start:
                self._tables[unit].add(word)
        for unit in code:
            unit.steps = list(steps(unit.held, unit.start))
        for unit in code:
            self._follow(unit)
        formed = [pair for pair in self._pairs.values() if pair and self._holds(pair[0])]
        self._take(cut(self.units, sorted(words.union(to for to, _ in formed))))
        self._formers = frozenset[int]().union(*(by for _, by in formed))
        for unit in self.units:
            unit.tokens = list(self._code(unit) if unit.is_code else self._data(unit))
        self._name_units()

    def _take(self, units: Iterable[Unit]) -> None:
        self.units = sorted(units, key=lambda unit: unit.start)
        self._starts = [unit.start for unit in self.units]

    def at(self, address: int) -> Unit | None:
        """Return the unit that has this address."""
        n = bisect_right(self._starts, address) - 1
        return self.units[n] if n >= 0 and address < self.units[n].end else None

    def labels(self, address: int) -> set[str]:
        """Return the names of all symbols at an address."""
        return self._labels.get(address, set())

    def near(self, address: int) -> list[Unit]:
        """Return the units with a name that an address just outside of them may belong to."""
        first = bisect_right(self._starts, address - NEAR)
        around = self.units[max(first - 1, 0) : bisect_right(self._starts, address + NEAR)]
        return [one for one in around if one.name and (not one.is_code or address == one.end)]

    def _holds(self, address: int) -> bool:
        held = any(start <= address <= end for start, end in self._ranges)
        return held or (address > LEAST and address in self._labels)

    def _words(self, unit: Unit) -> Iterator[tuple[int, int]]:
        """Yield the words of data that may hold an address, and where in it they are."""
        first = -unit.start % 4
        if not first or not unit.name:
            for at in range(first, len(unit.held) - 3, 4):
                (word,) = _WORD.unpack_from(unit.held, at)
                if self._holds(word):
                    yield at, word

    def _data(self, unit: Unit) -> Iterator[Token]:
        """Yield the tokens of a unit of data: addresses, and bytes."""
        if unit.name == unit.section and not unit.start % 4 and not len(unit.held) % 4:
            yield from (Token(word) for (word,) in _WORD.iter_unpack(unit.held))
            return
        done = 0
        for at, word in [] if unit.start % 4 else self._words(unit):
            yield from map(Token, unit.held[done:at])
            yield Token(-1, word)
            done = at + 4
        yield from map(Token, unit.held[done:])

    def _code(self, unit: Unit) -> Iterator[Token]:
        """Yield the tokens of a unit of code."""
        count = 0
        for at, insn, to in unit.steps:
            unit.index[at] = count
            if at in self._formers:
                continue
            count += 1
            if insn.kind in (Kind.JUMP, Kind.BRANCH):
                yield Token(insn.plain, to, by_place=True)
            elif insn.kind == Kind.LO:
                pair = self._pairs.get(at)
                if pair and self._holds(pair[0]):
                    yield Token(insn.plain & ~RS1, pair[0])
                else:
                    yield Token(insn.plain | (insn.imm & 0xFFF) << 32)
            else:
                yield Token(insn.plain | insn.imm & UPPER)

    def _follow(self, unit: Unit) -> None:
        """Find what the lower parts of addresses in a unit belong to: follow what registers hold
        along all ways through it."""
        if unit.is_outlined:
            return  # followed from where it is called
        before: dict[int, State] = {}
        entry: State = {} if self._gp is None else {GP: (self._gp, frozenset())}
        targets = {to for _, insn, to in unit.steps if insn.kind in (Kind.BRANCH, Kind.JUMP)}
        targets = (targets | self._tables[unit]) & {at for at, _, _ in unit.steps}
        changed = True

        def meet(at: int, state: State) -> None:
            nonlocal changed
            if at not in before:
                before[at], changed = dict(state), True
                return
            known = before[at]
            for register in list(known):
                held, other = known[register], state.get(register)
                if other is None or other[0] != held[0]:
                    del known[register]
                    changed = True
                elif not other[1] <= held[1]:
                    known[register] = (held[0], held[1] | other[1])
                    changed = True

        def walk(record: bool) -> None:
            state: State | None = dict(entry)
            for step in unit.steps:
                at, insn, to = step
                if at in targets:
                    if state is not None:
                        meet(at, state)
                    state = dict(before[at]) if at in before else None
                if state is None:
                    if not record:
                        continue
                    state = dict(entry)
                ends = self._step(state, step, record)
                if insn.kind in (Kind.BRANCH, Kind.JUMP) and to in targets and not insn.rd:
                    meet(to, state)
                if insn.kind == Kind.INDIRECT and not insn.rd and insn.rs1 != RA:
                    for one in self._tables[unit]:
                        meet(one, state)
                if ends:
                    state = None

        while changed:
            changed = False
            walk(record=False)
        walk(record=True)

    def _step(self, state: State, step: RvStep, record: bool, deep: int = 0) -> bool:
        """Bring what registers hold over an instruction; return whether none follows it."""
        at, insn, to = step
        if insn.kind == Kind.LO and record:
            upper = state.get(insn.rs1)
            pair = upper and ((upper[0] + insn.imm) & MASK, upper[1])
            known = self._pairs.setdefault(at, pair)
            same = pair and known and pair[0] == known[0]
            self._pairs[at] = (pair[0], pair[1] | known[1]) if pair and known and same else None
        if insn.kind == Kind.HI or insn.kind == Kind.PC_HI:
            high = insn.imm + (at if insn.kind == Kind.PC_HI else 0)
            state[insn.rd] = (high & MASK, frozenset([at]))
        elif insn.kind == Kind.COPY and insn.rs1 in state:
            state[insn.rd] = state[insn.rs1]
        elif insn.kind == Kind.JUMP:
            called = self.at(to)
            if called and called.is_outlined and called.start == to and deep < DEEPEST:
                for inner in called.steps:
                    self._step(state, inner, record, deep + 1)
            elif insn.rd:
                for register in CALLER_SAVED:
                    state.pop(register, None)
        elif insn.kind == Kind.INDIRECT and insn.rd:
            for register in CALLER_SAVED:
                state.pop(register, None)
        elif insn.rd:
            state.pop(insn.rd, None)
        return not insn.rd and insn.kind in (Kind.JUMP, Kind.INDIRECT, Kind.RETURN)

    def _name_units(self) -> None:
        """Give each unit its key: its name, or what it holds beside addresses."""
        self.by_key: dict[str, list[Unit]] = defaultdict(list)
        for unit in self.units:
            unit.key = _SUFFIX.sub("", unit.name)
            if unit.is_numbered:
                seen = (
                    [token.plain for token in unit.tokens] if unit.is_code else masked_words(unit)
                )
                unit.key = hashlib.sha256(repr(seen).encode()).hexdigest()
            self.by_key[unit.key].append(unit)
