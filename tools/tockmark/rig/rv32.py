# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Says what an instruction of RV32IMC does with addresses: which it forms, and where it jumps.

A linker writes addresses into instructions, and may make these shorter or drop them. What it does
not touch is the same for all lengths that it chooses between.
"""

import functools
from collections.abc import Iterator
from typing import NamedTuple

RA, GP = 1, 3  # registers: of calls, of what lies near a place of the data
CALLER_SAVED = (1, 5, 6, 7, *range(10, 18), *range(28, 32))
RS1, UPPER = 31 << 15, 0xFFFF_F000  # bits of an instruction: a register, a number's upper part
MASK = 0xFFFF_FFFF
_MRET = 0x3020_0073


class Kind:
    """What an instruction does with addresses."""

    OTHER, HI, PC_HI, LO, JUMP, BRANCH, INDIRECT, COPY, RETURN = range(9)


class RvInsn(NamedTuple):
    """An instruction. `plain` is without its immediate if that may be of an address, and the same
    for all lengths that a linker chooses between."""

    size: int
    kind: int
    plain: int
    rd: int = 0  # the register that it writes; 0: none
    rs1: int = 0
    imm: int = 0


def _signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) & 1 else value


def _bits(word: int, *places: tuple[int, int, int]) -> int:
    """Put together parts of an instruction, each given by its lowest bit there, its length and its
    lowest bit in the number."""
    return sum((word >> low & (1 << length) - 1) << to for low, length, to in places)


class RvStep(NamedTuple):
    """An instruction at its address, and where it jumps; 0 if it does not."""

    at: int
    insn: RvInsn
    to: int = 0


def steps(code: bytes, start: int) -> Iterator[RvStep]:
    """Read the instructions of code that begins at an address: the two of a far call as one."""
    at, upper = 0, RvStep(0, RvInsn(0, Kind.OTHER, 0))
    while at < len(code):
        size = 4 if code[at] & 3 == 3 else 2
        insn = decode(int.from_bytes(code[at : at + size], "little"))
        far = size == 4 and insn.kind == Kind.INDIRECT
        if upper.insn.kind == Kind.PC_HI:
            if far and insn.rs1 == upper.insn.rd:
                to = (upper.at + upper.insn.imm + insn.imm) & MASK
                insn = RvInsn(8, Kind.JUMP, 0x6F | insn.rd << 7, insn.rd)
                upper = RvStep(upper.at, insn, to)
                at += size
                yield upper
                continue
            yield upper
        jumps = insn.kind in (Kind.JUMP, Kind.BRANCH)
        upper = RvStep(start + at, insn, (start + at + insn.imm) & MASK if jumps else 0)
        if insn.kind != Kind.PC_HI:
            yield upper
        at += size
    if upper.insn.kind == Kind.PC_HI:
        yield upper


@functools.cache
def decode(word: int) -> RvInsn:
    """Say what an instruction of RV32IMC, of 2 or 4 bytes, does with addresses."""
    return _whole(word) if word & 3 == 3 else _compressed(word)


def _whole(word: int) -> RvInsn:
    op, rd, three, rs1 = word & 0x7F, word >> 7 & 31, word >> 12 & 7, word >> 15 & 31
    upper = word & 0xFFFF_F000
    if op in (0x37, 0x17):
        return RvInsn(4, Kind.HI if op == 0x37 else Kind.PC_HI, word & 0xFFF, rd, imm=upper)
    if op == 0x6F:
        jump = _signed(_bits(word, (21, 10, 1), (20, 1, 11), (12, 8, 12), (31, 1, 20)), 21)
        return RvInsn(4, Kind.JUMP, word & 0xFFF, rd, imm=jump)
    if op == 0x63:
        jump = _signed(_bits(word, (8, 4, 1), (25, 6, 5), (7, 1, 11), (31, 1, 12)), 13)
        return RvInsn(4, Kind.BRANCH, word & 0x01FF_F07F, imm=jump)
    lower = _signed(word >> 20, 12)
    if op == 0x67 and three == 0:
        return RvInsn(4, Kind.INDIRECT, word, rd, rs1, lower)
    if op == 0x03 or (op == 0x13 and three == 0):
        return RvInsn(4, Kind.LO, word & 0xF_FFFF, rd, rs1, lower)
    if op == 0x23:
        lower = _signed(_bits(word, (7, 5, 0), (25, 7, 5)), 12)
        return RvInsn(4, Kind.LO, word & 0x01FF_F07F, 0, rs1, lower)
    if word == _MRET:
        return RvInsn(4, Kind.RETURN, word)
    return RvInsn(4, Kind.OTHER, word, rd)


def _compressed(word: int) -> RvInsn:
    form, rd, short = (word & 3, word >> 13), word >> 7 & 31, 8 + (word >> 2 & 7)
    if form in ((1, 1), (1, 5)):
        link = RA if form == (1, 1) else 0
        parts = (3, 3, 1), (11, 1, 4), (2, 1, 5), (7, 1, 6), (6, 1, 7), (9, 2, 8), (8, 1, 10)
        jump = _signed(_bits(word, *parts, (12, 1, 11)), 12)
        return RvInsn(2, Kind.JUMP, 0x6F | link << 7, link, imm=jump)
    if form in ((1, 6), (1, 7)):
        jump = _signed(_bits(word, (3, 2, 1), (10, 2, 3), (2, 1, 5), (5, 2, 6), (12, 1, 8)), 9)
        return RvInsn(2, Kind.BRANCH, word & 0xE383, imm=jump)
    if form == (1, 3) and rd not in (0, 2):
        upper = _signed(_bits(word, (2, 5, 12), (12, 1, 17)), 18) & MASK
        return RvInsn(2, Kind.HI, 0x37 | rd << 7, rd, imm=upper)
    if form == (2, 4):
        other, linking = word >> 2 & 31, word >> 12 & 1
        if other == 0:
            return RvInsn(2, Kind.INDIRECT, word, linking * RA, rd)
        return RvInsn(2, Kind.OTHER if linking else Kind.COPY, word, rd, other)
    if form[0] == 0:
        return RvInsn(2, Kind.OTHER, word, short if form[1] in (0, 2, 4) else 0)
    if form == (1, 4):
        return RvInsn(2, Kind.OTHER, word, 8 + (word >> 7 & 7))
    return RvInsn(2, Kind.OTHER, word, 0 if form == (2, 6) else rd)
