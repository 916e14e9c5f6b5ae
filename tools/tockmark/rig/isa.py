# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The architectures that apps are built for, by the names that board profiles and TABs have: what
links their objects, and how ELF files and TABs call them.
"""

from dataclasses import dataclass
from pathlib import Path

from tockmark import paths


@dataclass(frozen=True)
class Isa:
    """One architecture."""

    name: str
    machine: int  # of an ELF file
    linker: str
    emulation: str  # as the linker calls it
    libraries: Path  # the compiler's own, which all apps are linked with
    setup: str  # the target of the Makefile that installs its tools
    aliases: tuple[str, ...]  # under which a TAB has programs for it
    only_cycles: bool = False  # its apps read CycleCount, and nothing else
    powers: bool = False  # its MPU protects powers of two, at multiples of themselves

    @property
    def compilers(self) -> tuple[Path, Path]:
        """Return the compiler's libraries."""
        return self.libraries / "libgcc.a", self.libraries / "libc.a"


RISC_V = Isa(
    name="rv32imc",
    machine=243,
    linker=paths.LD,
    emulation="elf32lriscv",
    libraries=paths.LIBRARIES,
    setup="setup",
    aliases=("rv32imc", "riscv32imc"),
)
CORTEX_M4 = Isa(
    name="cortex-m4",
    machine=40,
    linker="arm-none-eabi-ld",
    emulation="armelf",
    libraries=paths.APPS / "lib-cortex-m4",
    setup="setup-qemu",
    aliases=("cortex-m4",),
    only_cycles=True,
    powers=True,
)
ISAS = {one.name: one for one in (RISC_V, CORTEX_M4)}
