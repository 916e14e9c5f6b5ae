# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Reads the relocatable objects that a linker got, and writes them again with room behind sections.

A section is known by its name without what compilers number anew, and by its content: its bytes,
and what its relocations lead to. A written object is the one that was read, but that each section
that gets memory has a symbol at its start (its mark, by which the linker can be told where to put
it, and which says where it came to lie), that some sections have zeros behind them, and that equal
strings and constants are not merged.
"""

import hashlib
import re
import struct
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tockmark.rig.elf import ALLOCATED, NO_CONTENT, SECTION, SYMBOL, SYMBOLS, archived

MARK = ".tockmark."
EXECUTABLE, MERGED, STRINGS = 0x4, 0x10, 0x20  # sh_flags
RELOCATABLE, RELOCATIONS = 1, 4  # e_type; sh_type
GLOBAL_UNTYPED, HIDDEN = 1 << 4, 2  # st_info; st_other
UNWINDING = ".eh_frame"  # which linkers write anew
ROUNDS = 4  # in which what an unnamed section is becomes known to those that refer to it

_HEADER = struct.Struct("<16sHHIIIIIHHHHHH")
_RELOCATION = struct.Struct("<IIi")
_RESERVED = 0xFF00

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


def plain(name: str) -> str:
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
    kind: int
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
        if data[:4] != b"\x7fELF" or len(data) < _HEADER.size:
            raise ValueError("it is no ELF file, as with link-time optimisation by the linker")
        (ident, kind, machine, *_, shoff, _, _, _, _, size, count, _) = _HEADER.unpack_from(data)
        if (ident[4], kind, machine, size) != (1, RELOCATABLE, 243, SECTION.size) or not count:
            raise ValueError("it is no relocatable object for 32-bit RISC-V")
        self.data, self._shoff = data, shoff
        self.headers = [list(SECTION.unpack_from(data, shoff + n * size)) for n in range(count)]
        names = self._content(_HEADER.unpack_from(data)[-1])
        self.table = next((n for n, one in enumerate(self.headers) if one[1] == SYMBOLS), None)
        self.sections: dict[int, InputSection] = {}
        for n, (at, kind, flags, _, _, size, _, _, align, entry) in enumerate(self.headers):
            title = _text(names, at)
            name = plain(title)
            if flags & ALLOCATED and name != UNWINDING:
                held = b"" if kind in NO_CONTENT else self._content(n)
                mark = f"{MARK}{number}.{n}"
                self.sections[n] = InputSection(
                    mark, title, name, kind, flags, align, entry, held, size
                )
        if self.table is not None:
            self._read_references(self.table)

    def _content(self, number: int) -> bytes:
        start, size = self.headers[number][4:6]
        return self.data[start : start + size]

    def _read_references(self, table: int) -> None:
        strings = self._content(self.headers[table][6])
        symbols = list(SYMBOL.iter_unpack(self._content(table)))
        for n, header in enumerate(self.headers):
            if header[1] == RELOCATIONS and header[7] in self.sections:
                own = self.sections[header[7]]
                for place, info, addend in _RELOCATION.iter_unpack(self._content(n)):
                    at, value, _, _, _, index = symbols[info >> 8]
                    name = _text(strings, at)
                    target: str | tuple[InputSection, int] = plain(name)
                    if 0 < index < _RESERVED and index in self.sections:
                        section = self.sections[index]
                        temporary = not name or name.startswith((".L", "$")) or section is own
                        if temporary or section.unnamed:
                            target = section, value
                    own.references.append((place, info & 0xFF, addend, target))

    def written(self, room: Mapping[str, int]) -> bytes:
        """Return it with its marks, and with so many zeros behind the sections of these marks."""
        out, headers = bytearray(self.data), [list(header) for header in self.headers]

        def put(number: int, content: bytes) -> None:
            out.extend(bytes(-len(out) % max(headers[number][8], 4)))
            headers[number][4:6] = len(out), len(content)
            out.extend(content)

        symbols, strings = b"", b""
        names = self._content(self.headers[self.table][6]) if self.table is not None else b"\0"
        for n, section in self.sections.items():
            headers[n][2] &= ~(MERGED | STRINGS)
            if more := room.get(section.mark):
                if section.kind in NO_CONTENT:
                    headers[n][5] += more
                else:
                    put(n, section.data + bytes(more))
            at = len(names) + len(strings)
            strings += section.mark.encode() + b"\0"
            symbols += SYMBOL.pack(at, 0, 0, GLOBAL_UNTYPED, HIDDEN, n)
        if self.table is not None:
            put(self.table, self._content(self.table) + symbols)
            put(self.headers[self.table][6], names + strings)
        out.extend(bytes(-len(out) % 4))
        where = len(out)
        out.extend(b"".join(SECTION.pack(*header) for header in headers))
        struct.pack_into("<I", out, 32, where)  # e_shoff
        return bytes(out)


def members(archive: bytes) -> Iterator[bytes]:
    """Yield the objects of an archive, without what else is in it. ValueError if it is a thin
    one."""
    return (held for _, held in archived(archive) if held[:4] == b"\x7fELF")


def digest(sections: Sequence[InputSection]) -> None:
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


def _text(names: bytes, at: int) -> str:
    return names[at : names.index(b"\0", at)].decode("utf-8", "replace")
