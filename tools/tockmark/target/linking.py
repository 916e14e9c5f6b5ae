# SPDX-License-Identifier: Apache-2.0 OR MIT
"""From an app's objects to its ELF, by gcc, and to its TAB, by elf2tab."""

import struct
from collections.abc import Mapping, Sequence
from pathlib import Path

from tockmark import paths
from tockmark.target import shuffle
from tockmark.target.tool import call

HEADER = 0x80  # bytes that the TBF header takes at the start of a slot
GRANTS = 0x800  # bytes at the end of an app's RAM that are left to the kernel's grants
# Where tockloader expects an app to begin; it would fill gaps with apps of its own.
FLASH_ALIGN = 0x400
GCC = "riscv64-unknown-elf-gcc"
AR = "riscv64-unknown-elf-ar"


def link(app: str, parts: Sequence[Path], elf: Path, symbols: Mapping[str, int], seed: int) -> None:
    """Link an app of its object, the runtime's library and the linker script, in this order, with
    words given by name; by a seed other than 0 in another order of objects."""
    *objects, script = parts
    defsyms = [f"-Wl,--defsym={name}={value:#x}" for name, value in symbols.items()]
    machine = ["-march=rv32imc", "-mabi=ilp32", "-nostartfiles", "--specs=picolibc.specs"]
    command = [GCC, *machine, "-T", str(script), *defsyms, "-o", str(elf)]
    used = call([*command, "-Wl,-t,-t", *map(str, objects)], f"linking {app}")
    if seed:
        others = shuffle.shuffled([objects[0], *_members(objects[1], used, elf)], seed)
        call([*command, *map(str, others)], f"linking {app} in another order")


def _members(library: Path, used: str, elf: Path) -> list[Path]:
    """The object files that a link took from a library, by what it said: in another order it shall
    take the very same."""
    folder = elf.with_suffix(".members")
    folder.mkdir(exist_ok=True)
    names = [line.removeprefix(f"({library})") for line in used.splitlines()]
    members = [name for name, line in zip(names, used.splitlines(), strict=True) if name != line]
    call(
        [AR, "x", "--output", str(folder), str(library.resolve()), *members],
        f"unpacking {library.name}",
    )
    return [folder / name for name in members]


def pack(name: str, elf: Path, tab: Path, abi: int, heap: int) -> int:
    """Make the TAB of an app for a version of the interface, with so many bytes of heap; the bytes
    that it takes in flash, a multiple of FLASH_ALIGN."""
    sizes = ["--protected-region-size", str(HEADER), "--kernel-heap", str(GRANTS)]
    version = ["--kernel-major", str(abi), "--kernel-minor", "0", "--deterministic"]
    command = [str(paths.ELF2TAB), "-n", name, "-o", str(tab), *sizes, "--app-heap", str(heap)]
    footer = 0
    while True:
        more = ["--minimum-footer-size", str(footer)]
        call([*command, *version, *more, f"{elf},rv32imc"], f"packing {name}")
        total = struct.unpack_from("<I", elf.with_suffix(".tbf").read_bytes(), 4)[0]
        if total % FLASH_ALIGN == 0:
            return int(total)
        footer += FLASH_ALIGN - total % FLASH_ALIGN
