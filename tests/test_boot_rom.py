# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The board earlgrey-sim-2022 with its own boot ROM: its entry point, the state that it leaves, and
the cache keys of its boots.

Needs the products of `make build`.
"""

import subprocess
from pathlib import Path

import msgspec
import pytest

from tockmark.target import board as boards
from tockmark.target.protocol import Start
from tockmark.target.sim import SimTarget

CC = ["riscv64-unknown-elf-gcc", "-march=rv32imc_zicsr", "-mabi=ilp32", "-nostdlib"]
MAILBOX = 0x4114_0000
# Prints the settings of the ePMP and the i-cache; its entry differs from a manifest's.
PROGRAM = f"""
    .option norvc
    .word _start
    .org 0x10
    .globl _start
_start:
    li   gp, {MAILBOX}
    csrr t0, 0x747
    sw   t0, 0(gp)
    csrr t0, pmpcfg3
    sw   t0, 0(gp)
    csrr t0, 0x7c0
    andi t0, t0, 1
    sw   t0, 0(gp)
    sw   zero, 4(gp)
1:  j    1b
"""


@pytest.fixture
def target() -> SimTarget:
    chosen = boards.load("earlgrey-sim-2022").target
    assert isinstance(chosen, SimTarget)
    return chosen


@pytest.fixture
def flash(tmp_path: Path) -> Path:
    source, elf, made = (tmp_path / f"program.{end}" for end in ("S", "elf", "bin"))
    source.write_text(PROGRAM, encoding="utf-8")
    where = "-Wl,-Ttext=0x20000000,--omagic,--build-id=none"
    subprocess.run([*CC, where, source, "-o", elf], check=True)
    subprocess.run(["riscv64-unknown-elf-objcopy", "-O", "binary", elf, made], check=True)
    return made


@pytest.mark.parametrize("icache", [False, True])
def test_the_rom_enters_at_the_first_word_and_leaves_the_epmp_unset(
    target: SimTarget, flash: Path, icache: bool
) -> None:
    start = Start("test", flash, icache)
    session = target.start_here(start, "--mailbox", hex(MAILBOX), "--max-cycles", "10000")
    assert list(map(int, session.lines())) == [0, 0, icache]
    assert session.ending().why is None
    assert not [line for line in session.messages if "overlaps" in line]


def test_boots_with_different_roms_have_different_keys(
    target: SimTarget, flash: Path, tmp_path: Path
) -> None:
    start = Start("test", flash, False)
    other = tmp_path / "other.bin"
    other.write_bytes(b"\0" * 4)
    others = [msgspec.structs.replace(target, rom=rom) for rom in (None, other)]
    assert len({boot_target.key(start) for boot_target in (target, *others)}) == 3
