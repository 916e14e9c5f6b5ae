# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Variants of the baseline kernel, from a copy of its source in which some text is another."""

import subprocess
from collections.abc import Mapping
from pathlib import Path

import scratch

IMAGE = Path("riscv32imc-unknown-none-elf/release/tockmark-kernel")
MORE = 33  # instructions more in every system call
COSTLY = {
    "arch/riscv/trap.S": (
        "    call  on_system_call",
        f"    .rept {MORE}\n    nop\n    .endr\n    call  on_system_call",
    )
}


def build(folder: Path, changes: Mapping[str, tuple[str, str]]) -> Path:
    """The ELF of the kernel with these changes: by file of its source, text that is there once, and
    what takes its place. Half a minute, in an empty folder."""
    scratch.copy_to(folder)
    for name, (now, then) in changes.items():
        source = folder / "kernel" / "src" / name
        text = source.read_text()
        assert text.count(now) == 1
        source.write_text(text.replace(now, then))
    target = folder / "target"
    options = ["--release", "--offline", "-p", "tockmark-kernel", "--target-dir", str(target)]
    command = ["cargo", "build", "-q", *options, "--target", IMAGE.parts[0]]
    subprocess.run(command, cwd=folder, check=True)
    return target / IMAGE
