# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Links two kernels so that every function and every object begins at the same address in both.

What each linker got is kept by lld's --reproduce. Both are linked again from that: their sections
in one order, each in a slot of the larger of its two sizes, with zeros behind the smaller one. A
section that only one side has is a hole in the other. The linker's relaxation changes sizes with
the distances, so both are linked again until all addresses agree. Then what differs between them
is what the change did, and nothing is where it was by chance.

Further pairs have the functions in another order, and each begins at another place of the flash
word: over any four of them, at all of 0, 2, 4 and 6 bytes from where it is in the first.
"""

import random
import re
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import NamedTuple, Protocol

from tockmark.files import replace_whole
from tockmark.rig.elf import SECTION, SYMBOL, SYMBOLS, Elf
from tockmark.trees.objects import MARK, InputSection, match

PASSES = 8  # in which all addresses agree, or some never will
WORD = 8  # bytes of flash that are read at a time
PLACES = 4  # where a function may begin in it


@dataclass(frozen=True)
class LinkPair:
    """Two kernels, linked alike."""

    elves: tuple[Path, Path]
    moved: tuple[str, ...]  # what both have and what begins at another address all the same
    elsewhere: tuple[str, ...]  # what is unchanged and leads to another address all the same


class Relinkable(Protocol):
    """What can be linked with its sections in an order, and with room behind them."""

    def in_order(self) -> list[InputSection]:
        """Return the sections that are in the kernel, in its own order."""
        ...

    def link(self, order: Sequence[str], room: Mapping[str, int]) -> Elf:
        """Link it with its sections in an order, by their marks, and with so many bytes of room
        behind each. UnpairedError if the linker fails."""
        ...


@dataclass(frozen=True)
class PairedSection:
    """What lies at one place: a section of each side, or of one."""

    sides: tuple[InputSection | None, InputSection | None]

    @property
    def name(self) -> str:
        return next(one.name for one in self.sides if one)

    @property
    def title(self) -> str:
        """The symbol that it is named by."""
        full = next(one.title for one in self.sides if one)
        return re.sub(r"^\.(?:text|s?rodata|s?data|s?bss)\.(?:unlikely\.|hot\.)?\.?", "", full)

    @property
    def is_code(self) -> bool:
        return any(one.executable for one in self.sides if one)

    @property
    def shared(self) -> bool:
        """Whether both sides have it."""
        return None not in self.sides

    @property
    def changed(self) -> bool:
        """Whether its content is another one, or one side alone has it."""
        base, head = self.sides
        return base is None or head is None or base.digest != head.digest

    @property
    def free(self) -> bool:
        """Whether it may lie elsewhere among the functions."""
        return self.name.startswith(".text.") and all(
            one is None or one.executable for one in self.sides
        )

    @property
    def align(self) -> int:
        return max(one.align for one in self.sides if one)


class SlotSpan(NamedTuple):
    """What lies in one side from a slot that both share to the next one, or to the end."""

    start: int
    content: bytes  # of the slot
    size: int  # bytes
    last: str  # the mark of the section behind which room is made
    next: int | None  # the number of that next slot


class PairedLinks:
    """Links both sides in pairs."""

    def __init__(self, base: Relinkable, head: Relinkable) -> None:
        """Match the sections of both. UnpairedError if one of them cannot be linked."""
        self.sides = base, head
        olds, news = (side.in_order() for side in self.sides)
        twins = {old.mark: new for old, new in match(olds, news)}
        found = {new.mark for new in twins.values()}
        self.slots = [PairedSection((old, twins.get(old.mark))) for old in olds]
        self.slots += [PairedSection((None, new)) for new in news if new.mark not in found]
        self._first: dict[int, int] = {}  # where each slot begins in the first pair

    @property
    def changed(self) -> list[PairedSection]:
        """The slots that hold what the change did."""
        return [slot for slot in self.slots if slot.changed]

    def pair(self, number: int, paths: tuple[Path, Path]) -> LinkPair:
        """Link a pair: number 0 in the order of the base, and each further one in another.
        UnpairedError if it cannot be linked."""
        if number and not self._first:
            self.pair(0, paths)
        order = self._order(number)
        rooms: tuple[dict[str, int], dict[str, int]] = ({}, {})
        best: list[tuple[int, list[Elf], list[dict[int, SlotSpan]]]] = []
        for _ in range(PASSES):
            elves, found = [], []
            for side, room in enumerate(rooms):
                marks = {one.mark: n for n in order if (one := self.slots[n].sides[side])}
                elf = self.sides[side].link(list(marks), room)
                elves.append(elf)
                found.append(_stretches(elf, marks, self.slots))
            base, head = found
            astray = sum(n not in head or base[n].start != head[n].start for n in base)
            best.append((astray, elves, found))
            if not self._make_room(number, base, head, rooms):
                break
        if not number:
            self._first = {n: one.start for n, one in base.items()}
        _, elves, (base, head) = min(reversed(best), key=lambda one: one[0])
        replace_whole({path: unmarked(elf) for path, elf in zip(paths, elves, strict=True)})
        there = {n: (one, head.get(n)) for n, one in base.items()}
        moved = [n for n, (one, other) in there.items() if not other or one.start != other.start]
        unlike = [
            n
            for n, (one, other) in there.items()
            if n not in moved and other and not _alike(one.content, other.content)
        ]
        elsewhere = [n for n in unlike if not self.slots[n].changed]
        names = [tuple(self.slots[n].title for n in some) for some in (moved, elsewhere)]
        return LinkPair(paths, *names)

    def _order(self, number: int) -> list[int]:
        """Return the numbers of the slots in the order of a pair."""
        order = list(range(len(self.slots)))
        free = [n for n in order if self.slots[n].free]
        if number:
            random.Random(number).shuffle(free)
        lead = next((n for n in free if self.slots[n].shared), None)
        if lead is not None:  # no room can be made before the first of all
            free.remove(lead)
            free.insert(0, lead)
        shuffled = iter(free)
        return [next(shuffled) if self.slots[n].free else n for n in order]

    def _make_room(
        self,
        number: int,
        base: Mapping[int, SlotSpan],
        head: Mapping[int, SlotSpan],
        rooms: tuple[dict[str, int], dict[str, int]],
    ) -> bool:
        """Make room behind the shorter stretches, so that what is behind them begins at one
        address; whether any was made."""
        changed, at, expected = False, 0, None
        for n, one in base.items():
            other = head.get(n)
            if other is None or other.next != one.next:
                expected = None  # not in the same order: no room helps
                continue
            if n != expected:
                at = one.start
            size, expected = max(one.size, other.size), one.next
            if number and expected in self._first and self._is_moved(expected):
                place = self._first[expected] + WORD // PLACES * number
                size += (place - at - size) % WORD
            at += size
            for room, stretch in zip(rooms, (one, other), strict=True):
                if more := size - stretch.size:
                    room[stretch.last] = room.get(stretch.last, 0) + more
                    changed = True
        return changed

    def _is_moved(self, number: int) -> bool:
        """Whether a slot begins at another place of the flash word in each pair."""
        slot = self.slots[number]
        return slot.free and slot.align <= WORD // PLACES


def _stretches(
    elf: Elf, marks: Mapping[str, int], slots: Sequence[PairedSection]
) -> dict[int, SlotSpan]:
    """Return the stretches of a linked kernel, by the number of the slot that each begins with."""
    lying = sorted(
        (one.section, one.address, marks[one.name], one.name)
        for one in elf.symbols
        if one.name in marks
    )
    found: dict[int, SlotSpan] = {}
    for number, inside in groupby(reversed(lying), key=lambda one: one[0]):
        section = elf.sections[number]
        held, stop = elf.held(section), section.address + section.size
        end, last, after = stop, "", None
        for _, start, n, mark in inside:
            last = last or mark
            if slots[n].shared:
                content = held[start - section.address : stop - section.address]
                found[n] = SlotSpan(start, content, end - start, last, after)
                end, last, after = start, "", n
            stop = start
    return dict(reversed(found.items()))


def _alike(base: bytes, head: bytes) -> bool:
    """Whether two slots have the same content; zeros may follow in one of them."""
    length = min(len(base), len(head))
    return base[:length] == head[:length]


def unmarked(elf: Elf) -> bytes:
    """Return a file without the marks among its symbols."""
    data = bytearray(elf.data)
    number, table = next((n, one) for n, one in enumerate(elf.sections) if one.kind == SYMBOLS)
    entries = list(SYMBOL.iter_unpack(elf.held(table)))
    kept = [
        entry
        for entry, one in zip(entries, elf.symbols, strict=True)
        if MARK not in one.name[: len(MARK)]
    ]
    local = sum(entry[3] >> 4 == 0 for entry in kept)
    held = b"".join(SYMBOL.pack(*entry) for entry in kept)
    data[table.start : table.start + len(held)] = held
    header = struct.unpack_from("<I", data, 32)[0] + number * SECTION.size
    struct.pack_into("<I", data, header + 20, len(held))  # sh_size
    struct.pack_into("<I", data, header + 28, local)  # sh_info
    return bytes(data)
