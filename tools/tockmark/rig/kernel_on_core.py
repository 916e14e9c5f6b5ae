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
from tockmark.rig.rv32 import DRAFT, decode

EXECUTABLE = 0x4  # of a section's flags
BASELINE_REGIONS = {True: 8, False: 16}  # that the baseline needs, by whether it is built for eight
HAS: dict[BitManip, frozenset[str]] = {  # of Ibex's sets: docs of RV32B in Ibex's package
    "none": frozenset(),
    "balanced": frozenset({"zba", "zbb", "zbs"}),
    "otearlgrey": frozenset({"zba", "zbb", "zbs", "zbc", DRAFT}),
    "full": frozenset({"zba", "zbb", "zbs", "zbc", DRAFT}),
}
_ARCH = re.compile(rb"rv32[a-z0-9_]+")
_NAMED = re.compile(r"_(zb[a-z]+)\d")


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
            insn = decode(int.from_bytes(held[at - section.address :][:4], "little"))
            if insn.extension:
                yield insn.extension, at, start < covered
            at += insn.size
