# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What lies in flash where apps lie: the headers of Tock's binary format (TBF), one behind another.

The format is of Tock's documentation (`tock/doc/TockBinaryFormat.md`): a base header of 16 bytes,
then elements of a type, a length and a value, each at a word."""

import functools
import operator
import struct
from dataclasses import dataclass

VERSION = 2
BASE = 16  # bytes of the base header
MAIN, NAME, FIXED, PROGRAM = 1, 3, 5, 9  # types of elements
ANYWHERE = 0xFFFFFFFF  # in the place of a fixed address


@dataclass(frozen=True)
class Tbf:
    """One TBF in flash; addresses and bytes."""

    start: int
    length: int  # with its header
    name: str | None  # None: it is padding
    ram: int | None = None  # where its RAM has to be; None: it does not say

    @property
    def end(self) -> int:
        return self.start + self.length


def tbfs(flash: bytes, base: int, start: int) -> list[Tbf]:
    """The TBFs from the address `start` on, in flash that begins at `base`, up to what is none."""
    found: list[Tbf] = []
    at = start - base
    while (tbf := _read(flash, at, base + at)) is not None:
        found.append(tbf)
        at += tbf.length
    return found


def _read(flash: bytes, at: int, address: int) -> Tbf | None:
    if len(flash) - at < BASE:
        return None
    version, header, total, _flags, checksum = struct.unpack_from("<HHIII", flash, at)
    if version != VERSION or not BASE <= header <= total or header > len(flash) - at:
        return None
    words = struct.unpack_from(f"<{header // 4}I", flash, at)
    if functools.reduce(operator.xor, words, checksum) != checksum:
        return None
    elements = _elements(flash[at + BASE : at + header])
    if not {MAIN, PROGRAM} & elements.keys():
        return Tbf(address, total, None)
    name = elements.get(NAME, b"").decode("utf-8", "replace")
    ram = int.from_bytes(elements.get(FIXED, b"")[:4], "little") if FIXED in elements else ANYWHERE
    return Tbf(address, total, name, None if ram == ANYWHERE else ram)


def _elements(data: bytes) -> dict[int, bytes]:
    """By type; of a type that comes again the last."""
    found: dict[int, bytes] = {}
    at = 0
    while len(data) - at >= 4:
        kind, length = struct.unpack_from("<HH", data, at)
        found[kind] = data[at + 4 : at + 4 + length]
        at += 4 + -(-length // 4) * 4
    return found
