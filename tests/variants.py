# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Builds variants of the baseline kernel from a copy of its source with replaced text."""

import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path

import products
import scratch

IMAGE = Path("riscv32imc-unknown-none-elf/release/tockmark-kernel")
MORE = 33  # extra instructions in every system call
COSTLY = {
    "arch/riscv/trap.S": (
        "    call  on_system_call",
        f"    .rept {MORE}\n    nop\n    .endr\n    call  on_system_call",
    )
}


def build(folder: Path, changes: Mapping[str, tuple[str, str]], profile: str = "release") -> Path:
    """Build the kernel with a replacement of text in each file, and return its ELF. The old text
    must occur once. This takes a few seconds."""
    return build_many(folder, [(name, *change) for name, change in changes.items()], profile)


def build_many(
    folder: Path, changes: Iterable[tuple[str, str, str]], profile: str = "release"
) -> Path:
    """Build the kernel in the same way, with several replacements per file."""
    scratch.copy_to(folder)
    for name, now, then in changes:
        source = folder / "kernel" / "src" / name
        text = source.read_text()
        assert text.count(now) == 1
        source.write_text(text.replace(now, then))
    target = folder / "target"
    products.copy_dependencies(target)
    options = ["--profile", profile, "--offline", "-p", "tockmark-kernel"]
    options += ["--target-dir", str(target), "--target", IMAGE.parts[0]]
    subprocess.run(["cargo", "build", "-q", *options], cwd=folder, check=True)
    return target / IMAGE.parts[0] / profile / IMAGE.name
