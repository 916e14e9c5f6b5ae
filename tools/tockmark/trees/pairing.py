# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Links two kernels so that every function and every object begins at the same address in both.

lld's --reproduce keeps what each linker got. Both kernels are linked again from it, without the
compiler, in a second: their sections in one order, each in a slot of the larger of its two sizes,
with zeros behind the smaller section. A section that only one side has is a hole in the other.
The linker's relaxation changes sizes with the distances, so both are linked again until all
addresses agree. What differs between them then is what the change did, and nothing moved by
chance.

The objects are read and written again for this. A section is known by its content and its name,
without what compilers number anew. In a written object each section that gets memory has a symbol
at its start, its mark: the linker is told by marks where to put sections, and marks show where they
came to lie. Equal strings, constants and functions are not merged.

Further pairs have the functions in another order, and each begins at another place of the flash
word: over any four pairs, at all of 0, 2, 4 and 6 bytes from where it is in the first.
"""

import hashlib
import os
import random
import re
import shlex
import shutil
import struct
import tarfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import NamedTuple, Protocol

from tockmark.base import processes
from tockmark.base.errors import TockmarkError, quoted
from tockmark.base.files import replace_whole
from tockmark.base.paths import shown
from tockmark.base.processes import Bounds
from tockmark.target.elf import (
    ALLOCATED,
    MAGIC,
    NO_CONTENT,
    RELOCATABLE,
    RELOCATIONS,
    RISC_V,
    SECTION,
    SYMBOL,
    SYMBOLS,
    Elf,
    Symbol,
    archive_members,
    parse_elf,
    read_elf,
)

MARK = ".tockmark."
EXECUTABLE, MERGED, STRINGS = 0x4, 0x10, 0x20  # sh_flags
GLOBAL_UNTYPED, HIDDEN = 1 << 4, 2  # st_info; st_other
UNWINDING = ".eh_frame"  # which linkers write anew
ROUNDS = 4  # in which what an unnamed section is becomes known to those that refer to it

_SECTIONS_AT = 32  # where the header of a file says where the headers of its sections are
_FLAGS, _START, _SIZE, _INFO = 8, 16, 20, 28  # places in the header of a section

# What names hold that other code of the same compiler may change: hashes and numbers.
_NUMBERED = (
    (re.compile(r"17h[0-9a-f]{16}E"), "E"),
    (re.compile(r"\.llvm\.\d+"), ""),
    (re.compile(r"(OUTLINED_FUNCTION)_\d+"), r"\1"),
    (re.compile(r"(anon)\.[0-9a-f]+\.\d+|(L__unnamed)_\d+"), r"\1\2"),
    (re.compile(r"(?<=C)s[0-9A-Za-z]*_(?=\d)"), ""),  # a crate's hash, in a v0 name
    (re.compile(r"(?:\.\d+)+$"), ""),
)
_UNNAMED = re.compile(r"OUTLINED_FUNCTION|anon$|L__unnamed|\.rodata\.(?:str|cst)\d*|^\.[a-z]+$")


def without_numbers(name: str) -> str:
    """Return a name without what compilers number anew."""
    for numbered, kept in _NUMBERED:
        name = numbered.sub(kept, name)
    return name


@dataclass
class InputSection:
    """A section of an object that gets memory."""

    mark: str
    title: str  # its name
    name: str  # without numbers
    kind: str | int
    flags: int
    align: int
    entry: int  # bytes of one constant, where equal ones may be merged
    data: bytes
    size: int
    references: list[tuple[int, int, int, "str | tuple[InputSection, int]"]] = field(
        default_factory=list, repr=False
    )  # place, kind, addend; a name, or a section and an offset or name in it
    digest: bytes = b""  # of its content

    @property
    def executable(self) -> bool:
        return bool(self.flags & EXECUTABLE)

    @property
    def unnamed(self) -> bool:
        """Whether its name says nothing of what it is."""
        return bool(_UNNAMED.search(self.name))


class ObjectFile:
    """An object, as the linker got it."""

    def __init__(self, data: bytes, number: int) -> None:
        """Read it. ValueError if it is none of 32 bits for RISC-V."""
        if data[:4] != MAGIC:
            raise ValueError("it is no ELF file, as with link-time optimisation by the linker")
        try:
            self.elf = elf = parse_elf(data)
        except ValueError as error:
            raise ValueError(f"it {error}") from error
        if elf.kind != RELOCATABLE or elf.isa is not RISC_V or not elf.sections:
            raise ValueError("it is no relocatable object for 32-bit RISC-V")
        self.table = next((n for n, one in enumerate(elf.sections) if one.kind == SYMBOLS), None)
        self.sections: dict[int, InputSection] = {}
        for n, one in enumerate(elf.sections):
            name = without_numbers(one.name)
            if one.flags & ALLOCATED and name != UNWINDING:
                self.sections[n] = InputSection(
                    *(f"{MARK}{number}.{n}", one.name, name, one.kind, one.flags),
                    *(one.align, one.entry, elf.section_bytes(one), one.size),
                )
        for one in elf.sections:
            if one.kind == RELOCATIONS and one.info in self.sections:
                self._read_references(one.info, elf.relocations(one))

    def _read_references(
        self, number: int, relocations: Iterator[tuple[int, int, Symbol, int]]
    ) -> None:
        own = self.sections[number]
        for place, kind, symbol, addend in relocations:
            target: str | tuple[InputSection, int] = without_numbers(symbol.name)
            if symbol.in_section and (section := self.sections.get(symbol.section)):
                temporary = not symbol.name or symbol.name.startswith((".L", "$"))
                if temporary or section is own or section.unnamed:
                    target = section, symbol.address
            own.references.append((place, kind, addend, target))

    def written(self, room: Mapping[str, int]) -> bytes:
        """Return it with its marks, and with so many zeros behind the sections of these marks."""
        elf, out = self.elf, bytearray(self.elf.data)
        where = int.from_bytes(out[_SECTIONS_AT : _SECTIONS_AT + 4], "little")
        headers = out[where : where + SECTION * len(elf.sections)]

        def change(number: int, place: int, value: int) -> None:
            struct.pack_into("<I", headers, SECTION * number + place, value)

        def put(number: int, content: bytes) -> None:
            out.extend(bytes(-len(out) % max(elf.sections[number].align, 4)))
            change(number, _START, len(out))
            change(number, _SIZE, len(content))
            out.extend(content)

        table = None if self.table is None else elf.sections[self.table]
        names = elf.section_bytes(elf.sections[table.link]) if table else b"\0"
        symbols, strings = b"", b""
        for n, section in self.sections.items():
            change(n, _FLAGS, section.flags & ~(MERGED | STRINGS))
            if more := room.get(section.mark):
                if section.kind in NO_CONTENT:
                    change(n, _SIZE, section.size + more)
                else:
                    put(n, section.data + bytes(more))
            at = len(names) + len(strings)
            strings += section.mark.encode() + b"\0"
            symbols += SYMBOL.pack(at, 0, 0, GLOBAL_UNTYPED, HIDDEN, n)
        if self.table is not None and table:
            put(self.table, elf.section_bytes(table) + symbols)
            put(table.link, names + strings)
        out.extend(bytes(-len(out) % 4))
        struct.pack_into("<I", out, _SECTIONS_AT, len(out))
        out.extend(headers)
        return bytes(out)


def members(archive: bytes) -> Iterator[bytes]:
    """Yield the objects of an archive, without what else is in it. ValueError if it is a thin
    one."""
    return (held for _, held in archive_members(archive) if held[:4] == MAGIC)


def set_digests(sections: Sequence[InputSection]) -> None:
    """Set the digest of each section, of all objects of a link."""
    for section in sections:
        section.digest = _hash(section, lambda other: b"")
    for _ in range(ROUNDS):
        known = {id(one): one.digest for one in sections}
        for section in sections:
            section.digest = _hash(section, lambda other: known.get(id(other), b""))  # noqa: B023


def _hash(section: InputSection, of_other: "object") -> bytes:
    assert callable(of_other)
    found = hashlib.sha256(repr((section.kind, section.flags & ~(MERGED | STRINGS))).encode())
    found.update(section.data if section.data else str(section.size).encode())
    for place, kind, addend, target in section.references:
        if isinstance(target, str):
            found.update(repr((place, kind, addend, target)).encode())
            continue
        other, offset = target
        if other is section:
            found.update(repr((place, kind, addend, offset)).encode())
        elif other.flags & MERGED:
            start = offset + addend
            end = other.data.find(b"\0", start) if other.flags & STRINGS else start + other.entry
            found.update(repr((place, kind, other.data[start:end])).encode())
        elif other.unnamed:
            found.update(repr((place, kind, addend, offset)).encode() + of_other(other))
        else:
            found.update(repr((place, kind, addend, other.name, offset)).encode())
    return found.digest()


def match(
    base: Sequence[InputSection], head: Sequence[InputSection]
) -> list[tuple[InputSection, InputSection]]:
    """Pair the sections of two links: of those with one name the ones with the same content first,
    and then one after the other; of unnamed ones, too."""
    pairs: list[tuple[InputSection, InputSection]] = []
    by_name: dict[str, tuple[list[InputSection], list[InputSection]]] = {}
    for place, side in enumerate((base, head)):
        for section in side:
            by_name.setdefault(section.name, ([], []))[place].append(section)
    for olds, news in by_name.values():
        same = Counter(one.digest for one in olds) & Counter(one.digest for one in news)
        rest: tuple[list[InputSection], list[InputSection]] = ([], [])
        equal: tuple[dict[bytes, list[InputSection]], dict[bytes, list[InputSection]]] = ({}, {})
        for place, side in enumerate((olds, news)):
            left = Counter(same)
            for section in side:
                if left[section.digest]:
                    left[section.digest] -= 1
                    equal[place].setdefault(section.digest, []).append(section)
                else:
                    rest[place].append(section)
        for found, some in equal[0].items():
            pairs += zip(some, equal[1][found], strict=True)
        pairs += zip(*rest, strict=False)
    return pairs


LINKING = Bounds(seconds=120)  # of one link
RESPONSE, VERSION = "response.txt", "version.txt"
# Of what the linker was told, that which would undo what is done here: those with a value behind
# them, and those that hold it.
_DROPPED_PAIRS = ("-o", "-output", "-reproduce", "-Map", "-symbol-ordering-file")
_DROPPED = (
    *("-reproduce=", "-Map=", "-symbol-ordering-file=", "-shuffle-sections=", "-output="),
    # What is folded or named by content would differ where the change is not.
    *("-icf=", "-build-id", "-strip-all", "-print-", "-call-graph-"),
)


class UnpairedError(TockmarkError):
    """The two cannot be linked in pairs; they can be judged as they are."""


@dataclass
class RelinkInputs:
    """One side: what its linker got, and how it is linked again."""

    folder: Path  # with what --reproduce kept, unpacked
    linker: Path
    objects: dict[str, ObjectFile] = field(default_factory=dict)  # by the file's name in `folder`
    words: list[str] = field(default_factory=list)  # for the linker
    _written: dict[str, dict[str, int]] = field(default_factory=dict)  # the room, by object

    @staticmethod
    def unpacked(tar: Path, folder: Path, linkers: Sequence[Path]) -> "RelinkInputs":
        """Unpack and read what --reproduce kept. UnpairedError if it is not there or cannot be
        used."""
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        try:
            with tarfile.open(tar) as packed:
                packed.extractall(folder, filter="data")
            (top,) = folder.iterdir()
            version = (top / VERSION).read_text(errors="replace").strip()
            response = (top / RESPONSE).read_text(errors="surrogateescape")
        except (OSError, ValueError, tarfile.TarError) as error:
            raise UnpairedError(f"{shown(tar)} is nothing that lld keeps: {error}") from error
        linker = next((one for one in linkers if _version(one) == version), None)
        if linker is None:
            raise UnpairedError(f"there is no linker that says '{quoted(version)}'")
        found = RelinkInputs(top, linker)
        found._read(shlex.split(response))
        return found

    def _read(self, words: list[str]) -> None:
        """Read the inputs, and note what to tell the linker."""
        kept = iter(words)
        whole = False  # --whole-archive
        for word in kept:
            option = re.sub("^--?", "-", word)  # lld takes long ones with one dash, too
            if option in _DROPPED_PAIRS:
                next(kept, None)
            elif option.startswith(_DROPPED) or option in ("-s", "-M"):
                continue
            elif word.startswith("-") or not (self.folder / word).is_file():
                whole = {"--whole-archive": True, "--no-whole-archive": False}.get(word, whole)
                self.words.append(word)
            else:
                self._add(word, whole)
        set_digests([one for of_file in self.objects.values() for one in of_file.sections.values()])

    def _add(self, name: str, whole: bool) -> None:
        """Add an input: an object, an archive, or a script, which stays as it is."""
        data = (self.folder / name).read_bytes()
        try:
            if data[:4] == MAGIC:
                self.words.append(self._own(ObjectFile(data, len(self.objects))))
            elif data.startswith(b"!<"):
                own = [
                    self._own(ObjectFile(one, len(self.objects) + n))
                    for n, one in enumerate(members(data))
                ]
                self.words += own if whole else ["--start-lib", *own, "--end-lib"]
            elif data[:2] == b"BC":
                raise ValueError("it is LLVM's, for link-time optimisation by the linker")
            else:
                self.words.append(name)
        except ValueError as error:
            raise UnpairedError(f"{quoted(name)} cannot be linked again: {error}") from error

    def _own(self, one: ObjectFile) -> str:
        name = f"tockmark/{len(self.objects)}.o"
        self.objects[name] = one
        return name

    @cached_property
    def sections(self) -> list[InputSection]:
        """The sections that get memory, in the order of the inputs."""
        return [one for of_file in self.objects.values() for one in of_file.sections.values()]

    def link(self, order: Sequence[str], room: Mapping[str, int]) -> Elf:
        """Link it as Relinkable says."""
        self._write(room)
        ordering, made = self.folder / "tockmark/order", self.folder / "tockmark/kernel.elf"
        ordering.write_text("".join(f"{mark}\n" for mark in order))
        more = [f"--symbol-ordering-file={ordering.relative_to(self.folder)}"] if order else []
        more += ["--no-warn-symbol-ordering", "-o", str(made.relative_to(self.folder))]
        _run(self.linker, [*self.words, *more], self.folder)
        return read_elf(made)

    def link_again(self) -> Elf:
        """Link the very inputs again."""
        made = self.folder / "tockmark/as-it-was.elf"
        made.parent.mkdir(exist_ok=True)
        response = f"@{RESPONSE}"
        _run(self.linker, [response, "-o", str(made.relative_to(self.folder))], self.folder)
        return read_elf(made)

    def ordered_sections(self) -> list[InputSection]:
        """Return its sections as Relinkable says."""
        elf = self.link([], {})
        place = {one.name: (one.section, one.address) for one in elf.symbols if one.in_section}
        there = [one for one in self.sections if one.size and one.mark in place]
        return sorted(there, key=lambda one: place[one.mark])

    def _write(self, room: Mapping[str, int]) -> None:
        """Write the objects anew that have other room than before."""
        folder = self.folder / "tockmark"
        folder.mkdir(exist_ok=True)
        for name, one in self.objects.items():
            own = {s.mark: room[s.mark] for s in one.sections.values() if s.mark in room}
            if self._written.get(name) != own:
                (self.folder / name).write_bytes(one.written(own))
                self._written[name] = own


def _run(linker: Path, words: Sequence[str], folder: Path) -> None:
    """Run the linker in a folder. UnpairedError, with its own reason, if it fails."""
    done = processes.run([linker, *_flavor(linker), *words], cwd=folder, bounds=LINKING)
    if done.code:
        said = [line for line in done.error_text.splitlines() if "error:" in line]
        raise UnpairedError(f"linking again fails: {quoted(said[0]) if said else done.code}")


def find_linkers() -> list[Path]:
    """Return the linkers that may have made a kernel: those of all toolchains, and of the PATH."""
    home = Path(os.environ.get("RUSTUP_HOME", Path.home() / ".rustup"))
    tops = [*home.glob("toolchains/*")]
    if shutil.which("rustc"):
        tops.append(Path(processes.run(["rustc", "--print", "sysroot"]).text.strip()))
    there = [path for top in tops for path in top.glob("lib/rustlib/*/bin/rust-lld")]
    named = map(shutil.which, ("ld.lld", "rust-lld"))
    return [*dict.fromkeys(there), *(Path(name) for name in named if name)]


def _version(linker: Path) -> str | None:
    """Return what a linker says that it is; None if it says nothing."""
    try:
        done = processes.run([linker, *_flavor(linker), "--version"])
    except TockmarkError:
        return None
    return done.text.partition(" (compatible with ")[0].strip()


def _flavor(linker: Path) -> Sequence[str]:
    return ("-flavor", "gnu") if linker.name in ("rust-lld", "lld") else ()


PASSES = 8  # in which all addresses agree, or some never will
WORD = 8  # bytes of flash that are read at a time
PLACES = 4  # where a function may begin in it


@dataclass(frozen=True)
class LinkPair:
    """Two kernels, linked alike."""

    elves: tuple[Path, Path]
    moved: tuple[str, ...]  # what both have and what begins at another address all the same
    retargeted: tuple[str, ...]  # what is unchanged and leads to another address all the same


class Relinkable(Protocol):
    """What can be linked with its sections in an order, and with room behind them."""

    def ordered_sections(self) -> list[InputSection]:
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
    def is_shared(self) -> bool:
        """Whether both sides have it."""
        return None not in self.sides

    @property
    def changed(self) -> bool:
        """Whether its content is another one, or one side alone has it."""
        base, head = self.sides
        return base is None or head is None or base.digest != head.digest

    @property
    def is_free(self) -> bool:
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
        olds, news = (side.ordered_sections() for side in self.sides)
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
        replace_whole({path: without_marks(elf) for path, elf in zip(paths, elves, strict=True)})
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
        free = [n for n in order if self.slots[n].is_free]
        if number:
            random.Random(number).shuffle(free)
        lead = next((n for n in free if self.slots[n].is_shared), None)
        if lead is not None:  # no room can be made before the first of all
            free.remove(lead)
            free.insert(0, lead)
        shuffled = iter(free)
        return [next(shuffled) if self.slots[n].is_free else n for n in order]

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
        return slot.is_free and slot.align <= WORD // PLACES


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
        held, stop = elf.section_bytes(section), section.address + section.size
        end, last, after = stop, "", None
        for _, start, n, mark in inside:
            last = last or mark
            if slots[n].is_shared:
                content = held[start - section.address : stop - section.address]
                found[n] = SlotSpan(start, content, end - start, last, after)
                end, last, after = start, "", n
            stop = start
    return dict(reversed(found.items()))


def _alike(base: bytes, head: bytes) -> bool:
    """Whether two slots have the same content; zeros may follow in one of them."""
    length = min(len(base), len(head))
    return base[:length] == head[:length]


def without_marks(elf: Elf) -> bytes:
    """Return a file without the marks among its symbols."""
    data = bytearray(elf.data)
    number, table = next((n, one) for n, one in enumerate(elf.sections) if one.kind == SYMBOLS)
    entries = list(SYMBOL.iter_unpack(elf.section_bytes(table)))
    kept = [
        entry
        for entry, one in zip(entries, elf.symbols, strict=True)
        if MARK not in one.name[: len(MARK)]
    ]
    local = sum(entry[3] >> 4 == 0 for entry in kept)
    held = b"".join(SYMBOL.pack(*entry) for entry in kept)
    data[table.start : table.start + len(held)] = held
    header = int.from_bytes(data[_SECTIONS_AT : _SECTIONS_AT + 4], "little") + SECTION * number
    struct.pack_into("<I", data, header + _SIZE, len(held))
    struct.pack_into("<I", data, header + _INFO, local)
    return bytes(data)
