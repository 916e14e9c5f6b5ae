# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Decode the instructions of RV32IMC with bit manipulation, as far as the tool needs it.

It decodes their jumps, the addresses that they form, the CSRs that they access, and their
extensions. A linker writes addresses into instructions, and may shorten or remove them.
The field `plain` keeps only what the linker does not change.
"""

import functools
from collections.abc import Iterator
from typing import NamedTuple

RA, GP, T0 = 1, 3, 5  # return address, global pointer, return address of outlined code
CALLER_SAVED = (1, 5, 6, 7, *range(10, 18), *range(28, 32))
RS1, UPPER = 31 << 15, 0xFFFF_F000  # bits of an instruction: a register, an upper immediate
MASK = 0xFFFF_FFFF
ECALL, MRET, WFI = 0x73, 0x3020_0073, 0x1050_0073

DRAFT = "drafts"  # bit manipulation that was never ratified, and Zbkb
_OP, _OP_IMM = 0x33, 0x13
_BASE = {0: range(8), 1: range(8), 0x20: (0, 5)}  # of RV32IM: funct7 to its funct3
_BASE_SHIFTS = {(1, 0), (5, 0), (5, 0x20)}  # by a constant: (funct3, funct7)
_RATIFIED = {  # of two registers, by (funct7, funct3)
    **{(0x10, f): "zba" for f in (2, 4, 6)},  # sh1add, sh2add, sh3add
    **{(0x20, f): "zbb" for f in (4, 6, 7)},  # xnor, orn, andn
    **{(0x05, f): "zbc" for f in (1, 2, 3)},  # clmul, clmulr, clmulh
    **{(0x05, f): "zbb" for f in (4, 5, 6, 7)},  # min, minu, max, maxu
    **{(0x30, f): "zbb" for f in (1, 5)},  # rol, ror
    **{(0x24, f): "zbs" for f in (1, 5)},  # bclr, bext
    **{(f, 1): "zbs" for f in (0x14, 0x34)},  # bset, binv
}
_SHIFTS = {  # of a register and a constant, by (funct7, funct3)
    **{(0x24, f): "zbs" for f in (1, 5)},
    **{(f, 1): "zbs" for f in (0x14, 0x34)},
    (0x30, 5): "zbb",  # rori
}
_ONE_REGISTER = {(0x30, 1, rs2) for rs2 in (0, 1, 2, 4, 5)}  # clz, ctz, cpop, sext.b, sext.h
_ONE_REGISTER |= {(0x14, 5, 7), (0x34, 5, 24)}  # orc.b, rev8


class Kind:
    """The kinds of instructions. RETURN is a return from a trap."""

    OTHER, HI, PC_HI, LO, JUMP, BRANCH, INDIRECT, COPY, RETURN, CSR, CALL_KERNEL, WAIT = range(12)


SYSTEM = (Kind.RETURN, Kind.CSR, Kind.CALL_KERNEL, Kind.WAIT)


class Instruction(NamedTuple):
    """An instruction. `plain` is the same for all lengths that a linker may choose, without an
    immediate that may be part of an address."""

    size: int
    kind: int
    plain: int
    rd: int = 0  # destination register; 0: none
    rs1: int = 0  # source register, or the immediate of a CSR instruction
    imm: int = 0  # immediate, or the number of a CSR
    function: int = 0  # of a CSR instruction: 1 writes, 2 sets, 3 clears; + 4: by an immediate
    extension: str | None = None  # of bit manipulation

    @property
    def calls(self) -> bool:
        """Whether it jumps and saves a return address."""
        return self.kind in (Kind.JUMP, Kind.INDIRECT) and self.rd in (RA, T0)

    @property
    def jumps_by_register(self) -> bool:
        """Whether it jumps to an address in a register and saves no return address: a return, a
        tail call through a pointer, or a jump table."""
        return self.kind == Kind.INDIRECT and not self.rd

    @property
    def writes_csr(self) -> bool:
        """Whether it writes a CSR: csrrs and csrrc of x0 only read."""
        return self.kind == Kind.CSR and (self.function & 3 == 1 or self.rs1 != 0)


def _signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) & 1 else value


def _bits(word: int, *fields: tuple[int, int, int]) -> int:
    """Assemble a number from fields of an instruction, each given by its lowest bit there, its
    length and its lowest bit in the number."""
    return sum((word >> low & (1 << length) - 1) << to for low, length, to in fields)


class RvStep(NamedTuple):
    """An instruction at its address, and the target of its jump (0: none)."""

    at: int
    insn: Instruction
    to: int = 0


def steps(code: bytes, start: int) -> Iterator[RvStep]:
    """Yield the instructions of code at an address; the pair of a far call counts as one."""
    at, upper = 0, RvStep(0, Instruction(0, Kind.OTHER, 0))
    while at < len(code):
        size = 4 if code[at] & 3 == 3 else 2
        insn = decode(int.from_bytes(code[at : at + size], "little"))
        far = size == 4 and insn.kind == Kind.INDIRECT
        if upper.insn.kind == Kind.PC_HI:
            if far and insn.rs1 == upper.insn.rd:
                to = (upper.at + upper.insn.imm + insn.imm) & MASK
                insn = Instruction(8, Kind.JUMP, 0x6F | insn.rd << 7, insn.rd)
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
def decode(word: int) -> Instruction:
    """Decode an instruction of 2 or 4 bytes."""
    return _whole(word) if word & 3 == 3 else _compressed(word)


def _whole(word: int) -> Instruction:
    op, rd, funct3, rs1 = word & 0x7F, word >> 7 & 31, word >> 12 & 7, word >> 15 & 31
    upper = word & 0xFFFF_F000
    if op in (0x37, 0x17):
        return Instruction(4, Kind.HI if op == 0x37 else Kind.PC_HI, word & 0xFFF, rd, imm=upper)
    if op == 0x6F:
        jump = _signed(_bits(word, (21, 10, 1), (20, 1, 11), (12, 8, 12), (31, 1, 20)), 21)
        return Instruction(4, Kind.JUMP, word & 0xFFF, rd, imm=jump)
    if op == 0x63:
        jump = _signed(_bits(word, (8, 4, 1), (25, 6, 5), (7, 1, 11), (31, 1, 12)), 13)
        return Instruction(4, Kind.BRANCH, word & 0x01FF_F07F, imm=jump)
    lower = _signed(word >> 20, 12)
    if op == 0x67 and funct3 == 0:
        return Instruction(4, Kind.INDIRECT, word, rd, rs1, lower)
    if op == 0x03 or (op == 0x13 and funct3 == 0):
        return Instruction(4, Kind.LO, word & 0xF_FFFF, rd, rs1, lower)
    if op == 0x23:
        lower = _signed(_bits(word, (7, 5, 0), (25, 7, 5)), 12)
        return Instruction(4, Kind.LO, word & 0x01FF_F07F, 0, rs1, lower)
    if op == ECALL and funct3 & 3:
        return Instruction(4, Kind.CSR, word, rd, rs1, word >> 20, funct3)
    kind = _KINDS.get(word, Kind.OTHER)
    return Instruction(4, kind, word, rd, extension=_extension(word, op, funct3))


_KINDS = {MRET: Kind.RETURN, ECALL: Kind.CALL_KERNEL, WFI: Kind.WAIT}


def _extension(word: int, op: int, funct3: int) -> str | None:
    """Return the extension of bit manipulation of a 4-byte instruction, or None."""
    funct7, rs2 = word >> 25, word >> 20 & 31
    if op == _OP and funct3 not in _BASE.get(funct7, ()):
        if (funct7, funct3, rs2) == (0x04, 4, 0):  # zext.h
            return "zbb"
        return _RATIFIED.get((funct7, funct3), DRAFT)
    if op == _OP_IMM and funct3 in (1, 5) and (funct3, funct7) not in _BASE_SHIFTS:
        is_unary = (funct7, funct3, rs2) in _ONE_REGISTER
        return "zbb" if is_unary else _SHIFTS.get((funct7, funct3), DRAFT)
    return None


def _compressed(word: int) -> Instruction:
    form, rd, short = (word & 3, word >> 13), word >> 7 & 31, 8 + (word >> 2 & 7)
    if form in ((1, 1), (1, 5)):
        link = RA if form == (1, 1) else 0
        parts = (3, 3, 1), (11, 1, 4), (2, 1, 5), (7, 1, 6), (6, 1, 7), (9, 2, 8), (8, 1, 10)
        jump = _signed(_bits(word, *parts, (12, 1, 11)), 12)
        return Instruction(2, Kind.JUMP, 0x6F | link << 7, link, imm=jump)
    if form in ((1, 6), (1, 7)):
        jump = _signed(_bits(word, (3, 2, 1), (10, 2, 3), (2, 1, 5), (5, 2, 6), (12, 1, 8)), 9)
        return Instruction(2, Kind.BRANCH, word & 0xE383, imm=jump)
    if form == (1, 3) and rd not in (0, 2):
        upper = _signed(_bits(word, (2, 5, 12), (12, 1, 17)), 18) & MASK
        return Instruction(2, Kind.HI, 0x37 | rd << 7, rd, imm=upper)
    if form == (2, 4):
        other, linking = word >> 2 & 31, word >> 12 & 1
        if other == 0 and rd:
            return Instruction(2, Kind.INDIRECT, word, linking * RA, rd)
        return Instruction(2, Kind.OTHER if linking else Kind.COPY, word, rd, other)
    if form[0] == 0:
        return Instruction(2, Kind.OTHER, word, short if form[1] in (0, 2, 4) else 0)
    if form == (1, 4):
        return Instruction(2, Kind.OTHER, word, 8 + (word >> 7 & 7))
    return Instruction(2, Kind.OTHER, word, 0 if form == (2, 6) else rd)
