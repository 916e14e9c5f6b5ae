# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Small ELF files of kernels, valid ones and impossible ones."""

import struct
from collections.abc import Sequence
from typing import NamedTuple

BASE = 0x2000_0000
HEADER, ENTRY, SECTION = 52, 32, 40  # bytes


class Segment(NamedTuple):
    """A segment to load. `size` and `start` may contradict its content in the file."""

    address: int
    content: bytes = b""
    size: int | None = None
    start: int | None = None


OBJECT, FUNCTION = 1, 2  # types of symbols


def make_elf(
    segments: Sequence[Segment], symbols: Sequence[tuple[str, int]] = (), kind: int = OBJECT
) -> bytes:
    """Return an ELF file for 32-bit RISC-V. All symbols have the same type and 4 bytes."""
    start = HEADER + ENTRY * len(segments)
    table, body = b"", b""
    for segment in segments:
        at = start + len(body) if segment.start is None else segment.start
        size = len(segment.content) if segment.size is None else segment.size
        table += struct.pack("<8I", 1, at, segment.address, segment.address, size, size, 5, 4)
        body += segment.content
    names, entries = b"\0", bytes(16)
    for name in dict.fromkeys(name for name, _ in symbols):  # equal names share an entry
        names += name.encode() + b"\0"
    for name, address in symbols:
        entries += struct.pack(
            "<IIIBBH", names.index(name.encode() + b"\0"), address, 4, kind, 0, 1
        )
    titles = b"\0.symtab\0.strtab\0"
    at = start + len(body)
    headers = bytes(SECTION)
    for title, kind, content, link in ((1, 2, entries, 2), (9, 3, names, 0), (9, 3, titles, 0)):
        entry = 16 if content is entries else 0
        headers += struct.pack("<10I", title, kind, 0, 0, at, len(content), link, 0, 1, entry)
        at += len(content)
    ident = b"\x7fELF\x01\x01\x01" + bytes(9)
    fields = (2, 243, 1, BASE, HEADER, at, 0, HEADER, ENTRY, len(segments), SECTION, 4, 3)
    head = struct.pack("<16sHHIIIIIHHHHHH", ident, *fields)
    return b"".join([head, table, body, entries, names, titles, headers])
