# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Starts the baseline kernel by its boot manifest on the simulated chip. The simulator's own ROM
ignores manifests, so small ROMs of this test read it, each with the ePMP that an OpenTitan ROM
leaves behind (docs/boards-and-simulator.md)."""

import subprocess
from pathlib import Path

from tockmark.base import paths
from tockmark.target import board
from tockmark.target.image import write_flash
from tockmark.target.kernel import read_kernel

SIMULATOR = paths.ROOT / "build" / "sim" / "cw310" / "earlgrey-sim"
CC = ["riscv64-unknown-elf-gcc", "-march=rv32imc_zicsr", "-mabi=ilp32", "-mno-relax"]
LINK = [
    "-nostdlib",
    "-nostartfiles",
    "-Wl,-Ttext=0x8000,--omagic,--build-id=none,--no-warn-rwx-segments",
]
ASLEEP, LOCKED_UP = 3, 5  # the simulator's end: a kernel without apps sleeps
ROM = """
    .option norelax
trap:
    unimp
    .org 0x80
    .globl _start
_start:
    la   t0, trap
    csrw mtvec, t0
    csrwi 0x747, 4                    # mseccfg: rule locking bypass, to write what is locked
{epmp}
    csrwi 0x747, 6                    # and machine-mode whitelist policy
    li   t0, 0x20000000
    lw   t1, 816(t0)                  # address_translation
    li   t2, 0x739                    # "true": this ROM has no other addresses to offer
    beq  t1, t2, trap
    lw   t1, 900(t0)                  # entry_point
    add  t0, t0, t1
    jr   t0
"""
# One locked entry allows everything.
TEST_ROM = """
    li   t0, 0x7fffffff
    csrw pmpaddr15, t0
    li   t0, 0x9f000000
    csrw pmpcfg3, t0
"""
# Each memory has its own locked entry; in flash, only the image's code is executable.
ROM_OF_THE_PRODUCT = """
    .macro address number, value
    li   t0, \\value
    csrw pmpaddr\\number, t0
    .endm
    address 0, 0x8000 >> 2
    address 1, 0xa000 >> 2            # 1: ROM's code
    address 2, 0x8000 >> 2 | 0xfff    # 2: all of ROM
    li   t1, 0x20000000
    lw   t0, 892(t1)                  # code_start
    add  t0, t0, t1
    srli t0, t0, 2
    csrw pmpaddr3, t0
    lw   t0, 896(t1)                  # code_end
    add  t0, t0, t1
    srli t0, t0, 2
    csrw pmpaddr4, t0                 # 4: the image's code
    address 5, 0x20000000 >> 2 | 0x1ffff
    address 10, 0x40000000 >> 2
    address 11, 0x50000000 >> 2       # 11: devices
    address 15, 0x10000000 >> 2 | 0x3fff
    li   t0, 0x00998d00
    csrw pmpcfg0, t0
    li   t0, 0x0000998d
    csrw pmpcfg1, t0
    li   t0, 0x8b000000
    csrw pmpcfg2, t0
    li   t0, 0x9b000000
    csrw pmpcfg3, t0
"""


def boot(folder: Path, epmp: str, machine: str = "cw310") -> tuple[int, str, str]:
    """Start the built baseline as laid out for a board; return exit code, UART text, and the
    simulator's last line."""
    profile = board.load(machine)
    write_flash(read_kernel(profile.kernels[2]), profile, folder / "flash")
    (folder / "rom.S").write_text(ROM.format(epmp=epmp))
    assemble = [*CC, *LINK, "-o", str(folder / "rom"), str(folder / "rom.S")]
    subprocess.run(assemble, check=True)
    where = ["--flash", str(folder / "flash"), "--elf", str(folder / "rom")]
    done = subprocess.run(
        [str(SIMULATOR), *where, "--boot", "0x8000", "--max-cycles", "200000"],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def test_the_test_rom_reaches_the_kernel_by_the_manifest(tmp_path: Path) -> None:
    code, output, end = boot(tmp_path, TEST_ROM)
    assert code == ASLEEP, end
    assert output.startswith("tockmark-kernel: ")
    assert "panic" not in output


def test_without_a_manifest_nothing_starts(tmp_path: Path) -> None:
    """The test above can fail: the simulator's image has no manifest."""
    assert boot(tmp_path, TEST_ROM, "earlgrey-sim")[:2] == (LOCKED_UP, "")


def test_the_kernel_does_not_start_behind_the_product_rom(tmp_path: Path) -> None:
    """The first PMP writes of the kernel remove its own permission to execute. So it boots only
    from the test ROM, as docs/boards-and-simulator.md states."""
    code, output, end = boot(tmp_path, ROM_OF_THE_PRODUCT)
    assert (code, output) == (LOCKED_UP, "")
    assert "at pc=0x2000" in end
