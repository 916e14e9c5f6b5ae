# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Link two kernels so that every function and every object begins at the same address in both.

lld's --reproduce archives the inputs of a link. Both kernels are linked again from these inputs,
without the compiler, in a second. Their sections get one order, and each section gets a slot of the
larger of its two sizes, with zeros after the smaller one. A section that exists on only one side
leaves a hole on the other. The linker's relaxation changes sizes with distances, so both are linked
again until all addresses agree. The remaining differences come from the change; nothing moves by
chance.

The objects are read and rewritten for this. A section is identified by its content and its name,
without the numbers of compilers. In a rewritten object each section in memory has a symbol at its
start, its mark. Marks tell the linker the order of the sections, and show their addresses in the
result. Equal strings, constants and functions are not merged.

Further pairs have the functions in another order, and each function begins at another offset in the
flash word: over any four pairs, at all of 0, 2, 4 and 6 bytes from its offset in the first.
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
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from operator import ne
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
UNWINDING = ".eh_frame"  # linkers rewrite it
ROUNDS = 4  # digests of unnamed sections propagate one reference per round

_SECTIONS_AT = 32  # offset of e_shoff in the file header
_FLAGS, _START, _SIZE, _INFO = 8, 16, 20, 28  # offsets in a section header

# Hashes and numbers in names, which change with other code.
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
    """Return a name without the numbers and hashes of compilers."""
    for numbered, replacement in _NUMBERED:
        name = numbered.sub(replacement, name)
    return name


@dataclass
class InputSection:
    """A section of an object that is loaded to memory."""

    mark: str
    title: str  # full name
    name: str  # without numbers
    kind: str | int
    flags: int
    align: int
    entry: int  # size of a constant, if equal ones may be merged
    data: bytes
    size: int
    references: list[tuple[int, int, int, "str | tuple[InputSection, int]"]] = field(
        default_factory=list, repr=False
    )  # offset, type, addend; a name, or a section and an offset in it
    digest: bytes = b""  # of the content

    @property
    def executable(self) -> bool:
        return bool(self.flags & EXECUTABLE)

    @property
    def unnamed(self) -> bool:
        """Whether its name does not identify it."""
        return bool(_UNNAMED.search(self.name))


class ObjectFile:
    """An object file as the linker got it."""

    def __init__(self, data: bytes, number: int) -> None:
        """Read an object. Raise ValueError if it is not for 32-bit RISC-V."""
        if data[:4] != MAGIC:
            raise ValueError("it is not an ELF file; maybe the linker does LTO")
        try:
            self.elf = elf = parse_elf(data)
        except ValueError as error:
            raise ValueError(f"it {error}") from error
        if elf.kind != RELOCATABLE or elf.isa is not RISC_V or not elf.sections:
            raise ValueError("it is not a relocatable object for 32-bit RISC-V")
        self.table = next((n for n, s in enumerate(elf.sections) if s.kind == SYMBOLS), None)
        self.sections: dict[int, InputSection] = {}
        for n, section in enumerate(elf.sections):
            name = without_numbers(section.name)
            if section.flags & ALLOCATED and name != UNWINDING:
                self.sections[n] = InputSection(
                    *(f"{MARK}{number}.{n}", section.name, name, section.kind, section.flags),
                    *(section.align, section.entry, elf.section_bytes(section), section.size),
                )
        for section in elf.sections:
            if section.kind == RELOCATIONS and section.info in self.sections:
                self._read_references(section.info, elf.relocations(section))

    def _read_references(
        self, number: int, relocations: Iterator[tuple[int, int, Symbol, int]]
    ) -> None:
        own = self.sections[number]
        for offset, kind, symbol, addend in relocations:
            target: str | tuple[InputSection, int] = without_numbers(symbol.name)
            if symbol.in_section and (section := self.sections.get(symbol.section)):
                temporary = not symbol.name or symbol.name.startswith((".L", "$"))
                if temporary or section is own or section.unnamed:
                    target = section, symbol.address
            own.references.append((offset, kind, addend, target))

    def written(self, room: Mapping[str, int]) -> bytes:
        """Return the object with its marks, and with `room` zeros after the sections of these
        marks."""
        elf, out = self.elf, bytearray(self.elf.data)
        where = int.from_bytes(out[_SECTIONS_AT : _SECTIONS_AT + 4], "little")
        headers = out[where : where + SECTION * len(elf.sections)]

        def change(number: int, offset: int, value: int) -> None:
            struct.pack_into("<I", headers, SECTION * number + offset, value)

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
            if zeros := room.get(section.mark):
                if section.kind in NO_CONTENT:
                    change(n, _SIZE, section.size + zeros)
                else:
                    put(n, section.data + bytes(zeros))
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


def set_digests(sections: Sequence[InputSection]) -> None:
    """Set the digest of each section of a link."""
    for section in sections:
        section.digest = _hash(section, lambda other: b"")
    for _ in range(ROUNDS):
        digests = {id(section): section.digest for section in sections}
        for section in sections:
            section.digest = _hash(section, lambda other: digests.get(id(other), b""))  # noqa: B023


def _hash(section: InputSection, of_other: Callable[[InputSection], bytes]) -> bytes:
    content = hashlib.sha256(repr((section.kind, section.flags & ~(MERGED | STRINGS))).encode())
    content.update(section.data if section.data else str(section.size).encode())
    for at, kind, addend, target in section.references:
        if isinstance(target, str):
            content.update(repr((at, kind, addend, target)).encode())
            continue
        other, offset = target
        if other is section:
            content.update(repr((at, kind, addend, offset)).encode())
        elif other.flags & MERGED:
            start = offset + addend
            end = other.data.find(b"\0", start) if other.flags & STRINGS else start + other.entry
            content.update(repr((at, kind, other.data[start:end])).encode())
        elif other.unnamed:
            content.update(repr((at, kind, addend, offset)).encode() + of_other(other))
        else:
            content.update(repr((at, kind, addend, other.name, offset)).encode())
    return content.digest()


def match(
    base: Sequence[InputSection], head: Sequence[InputSection]
) -> list[tuple[InputSection, InputSection]]:
    """Pair the sections of two links by name. Sections with the same content are paired first, the
    others in their order; unnamed sections alike."""
    pairs: list[tuple[InputSection, InputSection]] = []
    by_name: dict[str, tuple[list[InputSection], list[InputSection]]] = {}
    for number, side in enumerate((base, head)):
        for section in side:
            by_name.setdefault(section.name, ([], []))[number].append(section)
    for olds, news in by_name.values():
        same = Counter(section.digest for section in olds) & Counter(
            section.digest for section in news
        )
        rest: tuple[list[InputSection], list[InputSection]] = ([], [])
        equal: tuple[dict[bytes, list[InputSection]], dict[bytes, list[InputSection]]] = ({}, {})
        for number, side in enumerate((olds, news)):
            left = Counter(same)
            for section in side:
                if left[section.digest]:
                    left[section.digest] -= 1
                    equal[number].setdefault(section.digest, []).append(section)
                else:
                    rest[number].append(section)
        for digest, base_sections in equal[0].items():
            pairs += zip(base_sections, equal[1][digest], strict=True)
        pairs += zip(*rest, strict=False)
    return pairs


LINKING = Bounds(seconds=120)  # of one link
RESPONSE, VERSION = "response.txt", "version.txt"
# Linker options that conflict with ours: followed by a value, or containing it.
_DROPPED_PAIRS = ("-o", "-output", "-reproduce", "-Map", "-symbol-ordering-file")
_DROPPED = (
    *("-reproduce=", "-Map=", "-symbol-ordering-file=", "-shuffle-sections=", "-output="),
    # Folding and names by content would cause differences outside the change.
    *("-icf=", "-build-id", "-strip-all", "-print-", "-call-graph-"),
)


class UnpairedError(TockmarkError):
    """The two kernels cannot be linked in pairs, only compared as two builds."""


@dataclass
class RelinkInputs:
    """One side: the inputs of its linker, and how to link them again."""

    folder: Path  # the unpacked archive of --reproduce
    linker: Path
    objects: dict[str, ObjectFile] = field(default_factory=dict)  # by the file's name in `folder`
    words: list[str] = field(default_factory=list)  # the linker's command line
    _written: dict[str, dict[str, int]] = field(default_factory=dict)  # the room, by object

    @staticmethod
    def unpacked(tar: Path, folder: Path, linkers: Sequence[Path]) -> "RelinkInputs":
        """Unpack and read an archive of --reproduce. Raise UnpairedError if it is missing or
        unusable."""
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        try:
            with tarfile.open(tar) as packed:
                # Python 3.11.2, which Debian 12 has, lacks filters.
                packed.extraction_filter = getattr(tarfile, "data_filter", None)
                packed.extractall(folder)
            (top,) = folder.iterdir()
            version = (top / VERSION).read_text(errors="replace").strip()
            response = (top / RESPONSE).read_text(errors="surrogateescape")
        except (OSError, ValueError, tarfile.TarError) as error:
            raise UnpairedError(
                f"{shown(tar)} is not lld's --reproduce archive: {error}"
            ) from error
        linker = next((path for path in linkers if _version(path) == version), None)
        if linker is None:
            raise UnpairedError(f"the linker '{quoted(version)}' is not installed")
        inputs = RelinkInputs(top, linker)
        inputs._read(shlex.split(response))
        return inputs

    def _read(self, words: list[str]) -> None:
        """Read the inputs and the options for the linker."""
        rest = iter(words)
        whole = False  # --whole-archive
        for word in rest:
            option = re.sub("^--?", "-", word)  # lld also accepts long options with one dash
            if option in _DROPPED_PAIRS:
                next(rest, None)
            elif option.startswith(_DROPPED) or option in ("-s", "-M"):
                continue
            elif word.startswith("-") or not (self.folder / word).is_file():
                whole = {"--whole-archive": True, "--no-whole-archive": False}.get(word, whole)
                self.words.append(word)
            else:
                self._add(word, whole)
        set_digests(self.sections)

    def _add(self, name: str, whole: bool) -> None:
        """Add an input: an object, an archive, or a script, which remains unchanged."""
        data = (self.folder / name).read_bytes()
        try:
            if data[:4] == MAGIC:
                self.words.append(self._own(ObjectFile(data, len(self.objects))))
            elif data.startswith(b"!<"):
                objects = [content for _, content in archive_members(data) if content[:4] == MAGIC]
                own = [
                    self._own(ObjectFile(member, len(self.objects) + n))
                    for n, member in enumerate(objects)
                ]
                self.words += own if whole else ["--start-lib", *own, "--end-lib"]
            elif data[:2] == b"BC":
                raise ValueError("it is LLVM bitcode for LTO by the linker")
            else:
                self.words.append(name)
        except ValueError as error:
            raise UnpairedError(f"{quoted(name)} cannot be linked again: {error}") from error

    def _own(self, object_file: ObjectFile) -> str:
        name = f"tockmark/{len(self.objects)}.o"
        self.objects[name] = object_file
        return name

    @cached_property
    def sections(self) -> list[InputSection]:
        """The sections in memory, in the order of the inputs."""
        return [section for file in self.objects.values() for section in file.sections.values()]

    def link(self, order: Sequence[str], room: Mapping[str, int]) -> Elf:
        """Link as Relinkable describes."""
        self._write(room)
        ordering, elf_path = self.folder / "tockmark/order", self.folder / "tockmark/kernel.elf"
        ordering.write_text("".join(f"{mark}\n" for mark in order))
        options = [f"--symbol-ordering-file={ordering.relative_to(self.folder)}"] if order else []
        options += ["--no-warn-symbol-ordering", "-o", str(elf_path.relative_to(self.folder))]
        _run(self.linker, [*self.words, *options], self.folder)
        return read_elf(elf_path)

    def link_again(self) -> Elf:
        """Link the original inputs again."""
        elf_path = self.folder / "tockmark/as-it-was.elf"
        elf_path.parent.mkdir(exist_ok=True)
        response = f"@{RESPONSE}"
        _run(self.linker, [response, "-o", str(elf_path.relative_to(self.folder))], self.folder)
        return read_elf(elf_path)

    def ordered_sections(self) -> list[InputSection]:
        """Return the sections as Relinkable describes."""
        elf = self.link([], {})
        position = {s.name: (s.section, s.address) for s in elf.symbols if s.in_section}
        linked = [section for section in self.sections if section.size and section.mark in position]
        return sorted(linked, key=lambda section: position[section.mark])

    def _write(self, room: Mapping[str, int]) -> None:
        """Write the objects whose room has changed."""
        folder = self.folder / "tockmark"
        folder.mkdir(exist_ok=True)
        for name, object_file in self.objects.items():
            own = {s.mark: room[s.mark] for s in object_file.sections.values() if s.mark in room}
            if self._written.get(name) != own:
                (self.folder / name).write_bytes(object_file.written(own))
                self._written[name] = own


def _run(linker: Path, words: Sequence[str], folder: Path) -> None:
    """Run the linker in a folder. Raise UnpairedError with its first error if it fails."""
    done = processes.run([linker, *_flavor(linker), *words], cwd=folder, bounds=LINKING)
    if done.code:
        errors = [line for line in done.error_text.splitlines() if "error:" in line]
        raise UnpairedError(f"the second link failed: {quoted(errors[0]) if errors else done.code}")


def find_linkers() -> list[Path]:
    """Return the linkers that may have made a kernel: from all Rust toolchains and from the
    PATH."""
    home = Path(os.environ.get("RUSTUP_HOME", Path.home() / ".rustup"))
    tops = [*home.glob("toolchains/*")]
    if shutil.which("rustc"):
        tops.append(Path(processes.run(["rustc", "--print", "sysroot"]).text.strip()))
    of_rust = [path for top in tops for path in top.glob("lib/rustlib/*/bin/rust-lld")]
    named = map(shutil.which, ("ld.lld", "rust-lld"))
    return [*dict.fromkeys(of_rust), *(Path(name) for name in named if name)]


def _version(linker: Path) -> str | None:
    """Return the version line of a linker, or None if it cannot run."""
    try:
        done = processes.run([linker, *_flavor(linker), "--version"])
    except TockmarkError:
        return None
    return done.text.partition(" (compatible with ")[0].strip()


def _flavor(linker: Path) -> Sequence[str]:
    return ("-flavor", "gnu") if linker.name in ("rust-lld", "lld") else ()


PASSES = 8  # attempts to make all addresses agree
WORD = 8  # bytes that flash reads at a time
OFFSETS = 4  # in a flash word at which a function may begin


@dataclass(frozen=True)
class LinkPair:
    """Two kernels with a common layout."""

    elves: tuple[Path, Path]
    moved: tuple[str, ...]  # on both sides, but still at different addresses
    retargeted: tuple[str, ...]  # unchanged, but still refers to different addresses


class Relinkable(Protocol):
    """A kernel that can be linked with a given order of sections and with room after them."""

    def ordered_sections(self) -> list[InputSection]:
        """Return the sections of the kernel in its own order."""

    def link(self, order: Sequence[str], room: Mapping[str, int]) -> Elf:
        """Link with the sections in an order of marks, and with `room` bytes after each. Raise
        UnpairedError if the linker fails."""


@dataclass(frozen=True)
class PairedSection:
    """A slot: a section of each side, or of one."""

    sides: tuple[InputSection | None, InputSection | None]

    @property
    def name(self) -> str:
        return next(side.name for side in self.sides if side)

    @property
    def title(self) -> str:
        """The symbol that names it."""
        full = next(side.title for side in self.sides if side)
        return re.sub(r"^\.(?:text|s?rodata|s?data|s?bss)\.(?:unlikely\.|hot\.)?\.?", "", full)

    @property
    def is_code(self) -> bool:
        return any(side.executable for side in self.sides if side)

    @property
    def is_shared(self) -> bool:
        """Whether both sides have it."""
        return None not in self.sides

    @property
    def changed(self) -> bool:
        """Whether its content differs, or only one side has it."""
        base, head = self.sides
        return base is None or head is None or base.digest != head.digest

    @property
    def is_free(self) -> bool:
        """Whether it is a function that may change its position among the others."""
        return self.name.startswith(".text.") and all(
            side is None or side.executable for side in self.sides
        )

    @property
    def align(self) -> int:
        return max(side.align for side in self.sides if side)


class SlotSpan(NamedTuple):
    """The part of a side from a shared slot to the next one, or to the end."""

    start: int
    content: bytes  # of the slot
    size: int  # bytes
    last: str  # the mark of the section that gets room after it
    next: int | None  # the number of the next shared slot


class PairedLinks:
    """The links of both sides in pairs."""

    def __init__(self, base: Relinkable, head: Relinkable) -> None:
        """Match the sections of both sides. Raise UnpairedError if one of them cannot be linked."""
        self.sides = base, head
        olds, news = (side.ordered_sections() for side in self.sides)
        twins = {old.mark: new for old, new in match(olds, news)}
        matched = {new.mark for new in twins.values()}
        self.slots = [PairedSection((old, twins.get(old.mark))) for old in olds]
        self.slots += [PairedSection((None, new)) for new in news if new.mark not in matched]
        self._first: dict[int, int] = {}  # the address of each slot in the first pair

    @property
    def changed(self) -> list[PairedSection]:
        """The slots that the change affects."""
        return [slot for slot in self.slots if slot.changed]

    def pair(self, number: int, paths: tuple[Path, Path]) -> LinkPair:
        """Link a pair: number 0 in the order of the base, further ones in other orders. Raise
        UnpairedError if that is impossible."""
        if number and not self._first:
            self.pair(0, paths)
        order = self._order(number)
        rooms: tuple[dict[str, int], dict[str, int]] = ({}, {})
        attempts: list[tuple[int, list[Elf], list[dict[int, SlotSpan]]]] = []
        for _ in range(PASSES):
            elves, spans = [], []
            for side, room in enumerate(rooms):
                marks = {section.mark: n for n in order if (section := self.slots[n].sides[side])}
                elf = self.sides[side].link(list(marks), room)
                elves.append(elf)
                spans.append(_spans(elf, marks, self.slots))
            base, head = spans
            moved_count = sum(n not in head or base[n].start != head[n].start for n in base)
            attempts.append((moved_count, elves, spans))
            if not self._make_room(number, base, head, rooms):
                break
        if not number:
            self._first = {n: span.start for n, span in base.items()}
        _, elves, (base, head) = min(reversed(attempts), key=lambda attempt: attempt[0])
        replace_whole({path: without_marks(elf) for path, elf in zip(paths, elves, strict=True)})
        both = {n: (span, head.get(n)) for n, span in base.items()}
        moved = [n for n, (span, other) in both.items() if not other or span.start != other.start]
        different = [
            n
            for n, (span, other) in both.items()
            # Zeros may follow one of them.
            if n not in moved and other and any(map(ne, span.content, other.content))
        ]
        retargeted = [n for n in different if not self.slots[n].changed]
        names = [tuple(self.slots[n].title for n in numbers) for numbers in (moved, retargeted)]
        return LinkPair(paths, *names)

    def _order(self, number: int) -> list[int]:
        """Return the numbers of the slots in the order of a pair."""
        order = list(range(len(self.slots)))
        free = [n for n in order if self.slots[n].is_free]
        if number:
            random.Random(number).shuffle(free)
        lead = next((n for n in free if self.slots[n].is_shared), None)
        if lead is not None:  # there is no section before the first that could get room
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
        """Make room after the shorter spans, so that the next slots begin at the same address;
        return whether any room changed."""
        changed, at, expected = False, 0, None
        for n, span in base.items():
            other = head.get(n)
            if other is None or other.next != span.next:
                expected = None  # another order: room does not help
                continue
            if n != expected:
                at = span.start
            size, expected = max(span.size, other.size), span.next
            if number and expected in self._first:
                slot = self.slots[expected]
                if slot.is_free and slot.align <= WORD // OFFSETS:  # at other offsets in each pair
                    address = self._first[expected] + WORD // OFFSETS * number
                    size += (address - at - size) % WORD
            at += size
            for room, side_span in zip(rooms, (span, other), strict=True):
                if zeros := size - side_span.size:
                    room[side_span.last] = room.get(side_span.last, 0) + zeros
                    changed = True
        return changed


def _spans(
    elf: Elf, marks: Mapping[str, int], slots: Sequence[PairedSection]
) -> dict[int, SlotSpan]:
    """Return the spans of a linked kernel, by the number of their first slot."""
    marked = sorted(
        (symbol.section, symbol.address, marks[symbol.name], symbol.name)
        for symbol in elf.symbols
        if symbol.name in marks
    )
    spans: dict[int, SlotSpan] = {}
    for number, inside in groupby(reversed(marked), key=lambda entry: entry[0]):
        section = elf.sections[number]
        content, stop = elf.section_bytes(section), section.address + section.size
        end, last, after = stop, "", None
        for _, start, n, mark in inside:
            last = last or mark
            if slots[n].is_shared:
                own = content[start - section.address : stop - section.address]
                spans[n] = SlotSpan(start, own, end - start, last, after)
                end, last, after = start, "", n
            stop = start
    return dict(reversed(spans.items()))


def without_marks(elf: Elf) -> bytes:
    """Return a file without the marks in its symbol table."""
    data = bytearray(elf.data)
    number, table = next(
        (n, section) for n, section in enumerate(elf.sections) if section.kind == SYMBOLS
    )
    entries = list(SYMBOL.iter_unpack(elf.section_bytes(table)))
    kept_entries = [
        entry
        for entry, symbol in zip(entries, elf.symbols, strict=True)
        if MARK not in symbol.name[: len(MARK)]
    ]
    local = sum(entry[3] >> 4 == 0 for entry in kept_entries)
    symbols = b"".join(SYMBOL.pack(*entry) for entry in kept_entries)
    data[table.start : table.start + len(symbols)] = symbols
    header = int.from_bytes(data[_SECTIONS_AT : _SECTIONS_AT + 4], "little") + SECTION * number
    struct.pack_into("<I", data, header + _SIZE, len(symbols))
    struct.pack_into("<I", data, header + _INFO, local)
    return bytes(data)
