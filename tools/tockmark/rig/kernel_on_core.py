# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Whether a kernel can run on a core: by its PMP, its cache and its bit manipulation.

A kernel that holds bit manipulation runs only where the core has it. What its functions hold is
read from their instructions; of what lies between functions, where data may be, an instruction
counts only if the ELF says that it was built for that extension, or says nothing.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

from tockmark.errors import TockmarkError
from tockmark.paths import shown
from tockmark.rig.core import BitManip, Core
from tockmark.rig.elf import ALLOCATED, IS_FUNCTION, Elf, Section, read_elf
from tockmark.rig.kernel import KernelElf

EXECUTABLE = 0x4  # of a section's flags
BASELINE_REGIONS = {True: 8, False: 16}  # that the baseline needs, by whether it is built for eight
OTHER = "drafts"  # of bit manipulation, which were never ratified, and Zbkb
HAS: dict[BitManip, frozenset[str]] = {  # of Ibex's sets: docs of RV32B in Ibex's package
    "none": frozenset(),
    "balanced": frozenset({"zba", "zbb", "zbs"}),
    "otearlgrey": frozenset({"zba", "zbb", "zbs", "zbc", OTHER}),
    "full": frozenset({"zba", "zbb", "zbs", "zbc", OTHER}),
}
_ARCH = re.compile(rb"rv32[a-z0-9_]+")
_NAMED = re.compile(r"_(zb[a-z]+)\d")
_OP, _OP_IMM = 0x33, 0x13
_BASE = {0: range(8), 1: range(8), 0x20: (0, 5)}  # of RV32IM, by funct7: the funct3
_BASE_SHIFTS = {(1, 0), (5, 0), (5, 0x20)}  # by a constant: funct3, funct7
_RATIFIED = {  # by funct7 and funct3, of two registers
    **{(0x10, f): "zba" for f in (2, 4, 6)},  # sh1add, sh2add, sh3add
    **{(0x20, f): "zbb" for f in (4, 6, 7)},  # xnor, orn, andn
    **{(0x05, f): "zbc" for f in (1, 2, 3)},  # clmul, clmulr, clmulh
    **{(0x05, f): "zbb" for f in (4, 5, 6, 7)},  # min, minu, max, maxu
    **{(0x30, f): "zbb" for f in (1, 5)},  # rol, ror
    **{(0x24, f): "zbs" for f in (1, 5)},  # bclr, bext
    **{(f, 1): "zbs" for f in (0x14, 0x34)},  # bset, binv
}
_SHIFTS = {  # by funct7 and funct3, of a register and a constant
    **{(0x24, f): "zbs" for f in (1, 5)},
    **{(f, 1): "zbs" for f in (0x14, 0x34)},
    (0x30, 5): "zbb",  # rori
}
_ONE_REGISTER = {(0x30, 1, two) for two in (0, 1, 2, 4, 5)}  # clz, ctz, cpop, sext.b, sext.h
_ONE_REGISTER |= {(0x14, 5, 7), (0x34, 5, 24)}  # orc.b, rev8


def check_core(kernel: KernelElf, core: Core, icache: bool) -> None:
    """TockmarkError if this kernel cannot run on this core, or not with the cache on if that is
    asked for."""
    if icache and not core.icache:
        raise TockmarkError(f"the core {core.name} has no i-cache", "leave out --icache on")
    if not core.pmp_regions:
        raise TockmarkError(
            f"the core {core.name} has no PMP: no kernel boots there, only bare programs run",
            "give a core with PMP, such as maxperf-pmp",
        )
    needed = BASELINE_REGIONS["pmp-8" in (kernel.name or "").split()]
    if kernel.is_baseline and core.pmp_regions < needed:
        raise TockmarkError(
            f"the core {core.name} has {core.pmp_regions} PMP regions, and this baseline kernel"
            f" needs {needed}",
            "build the one for eight: `make kernel-pmp-8`"
            if core.pmp_regions >= min(BASELINE_REGIONS.values())
            else "give a core with eight regions or more",
        )
    held = bit_manipulation(read_elf(kernel.path))
    lacking = {name: at for name, at in held.items() if name not in HAS[core.bitmanip]}
    if lacking:
        name, at = min(lacking.items(), key=lambda one: one[1])
        raise TockmarkError(
            f"{shown(kernel.path)} holds {' and '.join(map(str.capitalize, sorted(lacking)))}"
            f" instructions ({name} at {at:#x}), which the core {core.name} lacks",
            "give a core that has them, or the kernel built without them (rv32imc)",
        )


def bit_manipulation(elf: Elf) -> dict[str, int]:
    """Return the extensions of bit manipulation of which an ELF holds instructions, each with the
    address of the first."""
    arch = _ARCH.search(elf.content(".riscv.attributes"))
    named = None if arch is None else set(_NAMED.findall(arch[0].decode()))
    found: dict[str, int] = {}
    for number, section in enumerate(elf.sections):
        if section.flags & ALLOCATED and section.flags & EXECUTABLE and section.in_file:
            for extension, at, in_function in _held_in(elf, section, number):
                if in_function or named is None or extension in named:
                    found.setdefault(extension, at)
    return found


def _held_in(elf: Elf, section: Section, number: int) -> Iterator[tuple[str, int, bool]]:
    """Yield the instructions of bit manipulation in a section: extension, address, and whether a
    function holds it. Where a function begins so does an instruction."""
    held, end = elf.held(section), section.address + section.size
    functions = {
        one.address: one.size
        for one in sorted(elf.symbols, key=lambda one: one.size)
        if one.kind == IS_FUNCTION and one.section == number and one.size
    }
    stops = {at + size for at, size in functions.items()}
    covered = at = section.address
    for start, stop in pairwise(sorted({section.address, *functions, *stops, end})):
        covered = max(covered, start + functions.get(start, 0))
        at = start
        while at + 2 <= min(stop, end):
            word = int.from_bytes(held[at - section.address :][:4], "little")
            if word & 3 == 3 and (extension := extension_of(word)):
                yield extension, at, start < covered
            at += 4 if word & 3 == 3 else 2


def extension_of(word: int) -> str | None:
    """Return the extension of bit manipulation that an instruction of four bytes is of, if any."""
    opcode, three, seven, two = word & 0x7F, word >> 12 & 7, word >> 25, word >> 20 & 31
    if opcode == _OP and three not in _BASE.get(seven, ()):
        if (seven, three, two) == (0x04, 4, 0):  # zext.h
            return "zbb"
        return _RATIFIED.get((seven, three), OTHER)
    if opcode == _OP_IMM and three in (1, 5) and (three, seven) not in _BASE_SHIFTS:
        return "zbb" if (seven, three, two) in _ONE_REGISTER else _SHIFTS.get((seven, three), OTHER)
    return None
