# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Compare the functions and constants of two RV32 ELF files, ignoring their layout.

A link gives each function and constant an address, and writes it into instructions. A linker that
relaxes also shortens or removes some of these. So memory is cut into units: functions, objects, and
the bytes between them. The instructions of a unit become tokens that do not depend on the link:

- a pair of instructions that forms an address names a unit and a position in it;
- a call is the same in two, four and eight bytes;
- a branch names the instruction that it jumps to;
- a word that holds an address names a unit and a position;
- all other bytes stay unchanged.

A number may look like an address, and the end of a unit has the address of the next one. So two
addresses also match if their distance from the same unit is equal, and two words if they are equal.

Padding belongs to no unit. Data without symbols is cut where code or data refers to it, since a
linker merges equal constants and orders them as it likes. A section that the linker script fills is
one unit. Units are matched by name, without the number that LLVM appends. Units without a stable
name, such as outlined functions and anonymous constants, are matched by content.
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

MARGIN = 64  # bytes outside a unit within which an address may refer to it
MAX_OUTLINED_DEPTH = 2  # of calls between outlined functions
MIN_ADDRESS = 1 << 16  # smaller values are numbers, even if a symbol has them

_SUFFIX = re.compile(r"(?:\.llvm)?\.\d+$")
_WORD = struct.Struct("<I")

OUTLINED = "OUTLINED_FUNCTION_"  # LLVM's name for code that several functions share
NUMBERED = re.compile(rf"{OUTLINED}|\.Lanon\.|\.L__unnamed_|\.L(?:switch|JTI|CPI)")
_FILL = re.compile(rb"(?:\0|\xff|\x13\0\0\0|\x01\0)*")  # padding, and erased flash
_TAIL = re.compile(rb"(?:\0\0|\x13\0\0\0|\x01\0)+\Z", re.DOTALL)

# Registers that hold the upper part of an address, with the addresses of the instructions that
# loaded it.
State = dict[int, tuple[int, frozenset[int]]]


class Token(NamedTuple):
    """A part of a unit: its bits outside an address, and the address, if it has one."""

    plain: int
    to: int | None = None
    is_relative: bool = False  # `to` is an offset from here, so it cannot be a mere number


@dataclass(eq=False)
class Unit:
    """A function, an object, or the bytes between two of them."""

    name: str  # empty: none
    section: str
    start: int
    content: bytes
    is_code: bool
    key: str = ""  # to match it with units of another file; several units may share it
    tokens: list[Token] = field(default_factory=list)
    steps: list[RvStep] = field(default_factory=list)
    index: dict[int, int] = field(default_factory=dict)  # instruction number by address

    @property
    def end(self) -> int:
        return self.start + len(self.content)

    @property
    def is_numbered(self) -> bool:
        """Whether its name may differ in another file."""
        return not self.name or NUMBERED.match(self.name) is not None

    @property
    def is_outlined(self) -> bool:
        """Whether it is code that several functions share."""
        return self.name.startswith(OUTLINED)


def masked_words(unit: Unit) -> tuple[int, ...]:
    """Return the words of data, with -1 for those that may be addresses."""
    data = unit.content
    words = (int.from_bytes(data[at : at + 4], "little") for at in range(0, len(data), 4))
    return (len(data), *(word if word >> 28 not in (1, 2) else -1 for word in words))


def position(unit: Unit, address: int) -> int:
    """Return the number of the instruction, or of the byte of data, at an address of a unit."""
    if unit.is_code:
        return len(unit.tokens) if address == unit.end else unit.index.get(address, -1)
    return address - unit.start


def section_parts(elf: Elf) -> Iterator[tuple[str, int, bytes, list[Symbol]]]:
    """Yield the name, address, content and symbols of each section in memory, or of each segment of
    a file without sections."""
    has_sections = False
    for number, section in enumerate(elf.sections):
        if section.flags & ALLOCATED and section.size:
            has_sections = True
            symbols = [symbol for symbol in elf.symbols if symbol.section == number]
            content = elf.section_bytes(section) or bytes(section.size)
            yield section.name, section.address, content, symbols
    if not has_sections:
        for start, content in elf.segments:
            yield "", start, content, list(elf.symbols)


def units(elf: Elf) -> Iterator[Unit]:
    """Cut the memory of an ELF file into units, without the padding."""
    for section, start, data, symbols in section_parts(elf):
        end = start + len(data)
        named = [symbol for symbol in symbols if symbol.name and start <= symbol.address < end]
        sized = sorted(
            (symbol.address, -symbol.size, symbol.kind, symbol.name)
            for symbol in named
            if symbol.kind in (IS_FUNCTION, IS_OBJECT) and symbol.size
        )
        labels = sorted(
            (symbol.address, symbol.name)
            for symbol in named
            if not symbol.size and not symbol.name.startswith((".L", "$"))
        )
        # After the last function there is only data, and a linker may reorder anonymous data.
        code_end = max((at for at, _, kind, _ in sized if kind == IS_FUNCTION), default=0)
        reordered = code_end > 0 or any(NUMBERED.match(name) for *_, name in sized)
        done = start
        for at, minus_size, kind, name in [*sized, (end, 0, IS_UNTYPED, "")]:
            if at < done:
                continue  # another name for the same bytes
            cuts = [(done, ""), *(label for label in labels if done <= label[0] < at), (at, "")]
            for (first, label), (stop, _) in pairwise(cuts):
                between = data[first - start : stop - start]
                if _FILL.fullmatch(between):
                    continue
                if stop <= code_end:
                    yield Unit(label, section, first, _TAIL.sub(b"", between), is_code=True)
                else:
                    yield Unit("" if reordered else section, section, first, between, is_code=False)
            done = min(at - minus_size, end)
            if done > at:
                yield Unit(name, section, at, data[at - start : done - start], kind == IS_FUNCTION)


def cut(units: Iterable[Unit], places: Sequence[int]) -> Iterator[Unit]:
    """Cut data without a name where something refers to it."""
    for unit in units:
        referred = places[bisect_left(places, unit.start) : bisect_left(places, unit.end)]
        if unit.name or unit.is_code:
            yield unit
        else:
            for start, stop in pairwise([*referred, unit.end]):
                content = unit.content[start - unit.start : stop - unit.start].rstrip(b"\0")
                yield Unit("", unit.section, start, content or b"\0", is_code=False)
            head = unit.content[: (referred or [unit.end])[0] - unit.start].rstrip(b"\0")
            if head:
                yield replace(unit, content=head)


def differences(base: "LinkedCode", head: "LinkedCode") -> list[str]:
    """Return the names of functions and objects that differ in more than layout, or that only one
    file has: functions first; data without a name comes last, under the name of its section."""
    comparison, different = _Comparison(base, head), []
    for key in base.by_key.keys() | head.by_key.keys():
        base_units, head_units = base.by_key.get(key, []), list(head.by_key.get(key, []))
        for unit in base_units:
            twin = next((twin for twin in head_units if comparison.same(unit, twin)), None)
            if twin is None:
                different.append(unit)
            elif unit.is_code or not unit.is_numbered:  # a linker merges equal constants
                head_units.remove(twin)
        different += [unit for unit in head_units if unit.is_code or not base_units]
    different.sort(key=lambda unit: (not unit.is_code, unit.is_numbered, unit.start))
    return list(dict.fromkeys(unit.name or f"data in {unit.section}" for unit in different))


class _Comparison:
    """Compares units of two files, together with the unnamed units that they refer to."""

    def __init__(self, base: "LinkedCode", head: "LinkedCode") -> None:
        self._base, self._head = base, head
        self._results: dict[tuple[Unit, Unit], bool] = {}

    def same(self, unit: Unit, twin: Unit) -> bool:
        """Return whether two units are the same."""
        if (unit, twin) not in self._results:
            self._results[unit, twin] = True  # in case they refer to themselves
            self._results[unit, twin] = self._compare(unit, twin)
        return self._results[unit, twin]

    def _compare(self, unit: Unit, twin: Unit) -> bool:
        if not unit.is_code and unit.content == twin.content:
            return True  # even if one of its numbers looks like an address
        # Words that a linker script writes may be relative to the start of the image.
        moved = unit.start - twin.start if unit.name == unit.section else 0
        return len(unit.tokens) == len(twin.tokens) and all(
            (a.plain == b.plain or (moved and a.plain - moved == b.plain))
            and (
                a.to is b.to is None
                or (
                    a.to is not None
                    and b.to is not None
                    and ((a.to == b.to and self._is_number(a)) or self._may_match(a.to, b.to))
                )
            )
            for a, b in zip(unit.tokens, twin.tokens, strict=True)
        )

    def _is_number(self, token: Token) -> bool:
        """Return whether an apparent address may be a mere number. It is hardly one if a unit
        begins there in both files."""
        at = token.to or 0
        units = self._base.at(at), self._head.at(at)
        return not token.is_relative and not all(unit and unit.start == at for unit in units)

    def _may_match(self, base_at: int, head_at: int) -> bool:
        """Return whether two addresses may refer to the same thing."""
        base, head = self._base, self._head
        if base.labels(base_at) & head.labels(head_at):
            return True
        first, second = base.at(base_at), head.at(head_at)
        if first and second and self._same_position(first, base_at, second, head_at):
            return True
        both_start = first and second and first.start == base_at and second.start == head_at
        return any(
            self._same_position(unit, base_at, twin, head_at)
            for unit in base.near(base_at)
            for twin in head.near(head_at)
            if not both_start or (unit.end == base_at and twin.end == head_at)
        )

    def _same_position(self, unit: Unit, address: int, twin: Unit, twin_address: int) -> bool:
        """Return whether two addresses are the same position in two equal units."""
        return (
            unit.key == twin.key
            and position(unit, address) == position(twin, twin_address)
            and (not unit.is_numbered or self.same(unit, twin))
        )


class LinkedCode:
    """The units of an ELF file, with their tokens."""

    def __init__(self, elf: Elf) -> None:
        self._labels: dict[int, set[str]] = defaultdict(set)
        for symbol in elf.symbols:
            if not symbol.size and symbol.kind == IS_OBJECT and NUMBERED.match(symbol.name):
                self._labels[symbol.address].add("")  # all empty constants are the same
            elif symbol.name and not symbol.name.startswith((".L", "$")):
                self._labels[symbol.address].add(_SUFFIX.sub("", symbol.name))
        parts = ((start, start + len(content)) for _, start, content, _ in section_parts(elf))
        self._ranges = [part for part in parts if part[0] > MIN_ADDRESS]
        self._gp = elf.addresses.get("__global_pointer$")
        self._pairs: dict[int, tuple[int, frozenset[int]] | None] = {}
        self._set_units(units(elf))
        code = [unit for unit in self.units if unit.is_code]
        entries = [dict(self._address_words(unit)) for unit in self.units if not unit.is_code]
        words = {to for table in entries for to in table.values()}
        self._tables: dict[Unit, set[int]] = defaultdict(set)  # targets of jump tables
        for table in entries:
            targets = {at: self.at(to) for at, to in table.items()}
            for at, unit in targets.items():
                # One entry alone is a mere number, such as text.
                beside = unit in (targets.get(at - 4), targets.get(at + 4))
                if unit and unit.is_code and beside and table[at] != unit.start:
                    self._tables[unit].add(table[at])
        for unit in code:
            unit.steps = list(steps(unit.content, unit.start))
        for unit in code:
            self._trace_registers(unit)
        formed = [pair for pair in self._pairs.values() if pair and self._is_in_memory(pair[0])]
        self._set_units(cut(self.units, sorted(words.union(to for to, _ in formed))))
        self._formers = frozenset[int]().union(*(by for _, by in formed))
        for unit in self.units:
            unit.tokens = list(self._code_tokens(unit) if unit.is_code else self._data_tokens(unit))
        self._name_units()

    def _set_units(self, units: Iterable[Unit]) -> None:
        self.units = sorted(units, key=lambda unit: unit.start)
        self._starts = [unit.start for unit in self.units]

    def at(self, address: int) -> Unit | None:
        """Return the unit that contains an address."""
        n = bisect_right(self._starts, address) - 1
        return self.units[n] if n >= 0 and address < self.units[n].end else None

    def labels(self, address: int) -> set[str]:
        """Return the names of all symbols at an address."""
        return self._labels.get(address, set())

    def near(self, address: int) -> list[Unit]:
        """Return the named units that an address just outside of them may refer to."""
        first = bisect_right(self._starts, address - MARGIN)
        nearby = self.units[max(first - 1, 0) : bisect_right(self._starts, address + MARGIN)]
        return [unit for unit in nearby if unit.name and (not unit.is_code or address == unit.end)]

    def _is_in_memory(self, address: int) -> bool:
        in_range = any(start <= address <= end for start, end in self._ranges)
        return in_range or (address > MIN_ADDRESS and address in self._labels)

    def _address_words(self, unit: Unit) -> Iterator[tuple[int, int]]:
        """Yield the offset and the value of each word of data that may be an address."""
        misaligned = -unit.start % 4
        if not misaligned or not unit.name:
            for at in range(misaligned, len(unit.content) - 3, 4):
                (word,) = _WORD.unpack_from(unit.content, at)
                if self._is_in_memory(word):
                    yield at, word

    def _data_tokens(self, unit: Unit) -> Iterator[Token]:
        """Yield the tokens of a unit of data."""
        if unit.name == unit.section and not unit.start % 4 and not len(unit.content) % 4:
            yield from (Token(word) for (word,) in _WORD.iter_unpack(unit.content))
            return
        bytes_end = 0
        for at, word in [] if unit.start % 4 else self._address_words(unit):
            yield from map(Token, unit.content[bytes_end:at])
            yield Token(-1, word)
            bytes_end = at + 4
        yield from map(Token, unit.content[bytes_end:])

    def _code_tokens(self, unit: Unit) -> Iterator[Token]:
        """Yield the tokens of a unit of code."""
        count = 0
        for at, insn, to in unit.steps:
            unit.index[at] = count
            if at in self._formers:
                continue
            count += 1
            if insn.kind in (Kind.JUMP, Kind.BRANCH):
                yield Token(insn.plain, to, is_relative=True)
            elif insn.kind == Kind.LO:
                pair = self._pairs.get(at)
                if pair and self._is_in_memory(pair[0]):
                    yield Token(insn.plain & ~RS1, pair[0])
                else:
                    yield Token(insn.plain | (insn.imm & 0xFFF) << 32)
            else:
                yield Token(insn.plain | insn.imm & UPPER)

    def _trace_registers(self, unit: Unit) -> None:
        """Find the upper part for each lower part of an address in a unit: trace the registers
        along all paths through it."""
        if unit.is_outlined:
            return  # traced at its calls
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
            merged = before[at]
            for register in list(merged):
                value, other_value = merged[register], state.get(register)
                if other_value is None or other_value[0] != value[0]:
                    del merged[register]
                    changed = True
                elif not other_value[1] <= value[1]:
                    merged[register] = (value[0], value[1] | other_value[1])
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
                ends = self._update_state(state, step, record)
                if insn.kind in (Kind.BRANCH, Kind.JUMP) and to in targets and not insn.rd:
                    meet(to, state)
                if insn.kind == Kind.INDIRECT and not insn.rd and insn.rs1 != RA:
                    for target in self._tables[unit]:
                        meet(target, state)
                if ends:
                    state = None

        while changed:
            changed = False
            walk(record=False)
        walk(record=True)

    def _update_state(self, state: State, step: RvStep, record: bool, deep: int = 0) -> bool:
        """Update the registers for an instruction; return whether execution ends here."""
        at, insn, to = step
        if insn.kind == Kind.LO and record:
            upper = state.get(insn.rs1)
            pair = upper and ((upper[0] + insn.imm) & MASK, upper[1])
            earlier = self._pairs.setdefault(at, pair)
            same = pair and earlier and pair[0] == earlier[0]
            self._pairs[at] = (pair[0], pair[1] | earlier[1]) if pair and earlier and same else None
        if insn.kind == Kind.HI or insn.kind == Kind.PC_HI:
            high = insn.imm + (at if insn.kind == Kind.PC_HI else 0)
            state[insn.rd] = (high & MASK, frozenset([at]))
        elif insn.kind == Kind.COPY and insn.rs1 in state:
            state[insn.rd] = state[insn.rs1]
        elif insn.kind == Kind.JUMP:
            callee = self.at(to)
            if callee and callee.is_outlined and callee.start == to and deep < MAX_OUTLINED_DEPTH:
                for inner in callee.steps:
                    self._update_state(state, inner, record, deep + 1)
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
        """Give each unit its key: its name, or a hash of its content without addresses."""
        self.by_key: dict[str, list[Unit]] = defaultdict(list)
        for unit in self.units:
            unit.key = _SUFFIX.sub("", unit.name)
            if unit.is_numbered:
                plain = [token.plain for token in unit.tokens]
                content = repr(plain if unit.is_code else masked_words(unit))
                unit.key = hashlib.sha256(content.encode()).hexdigest()
            self.by_key[unit.key].append(unit)
