# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The suite on QEMU: compare its instructions with the simulator's. Needs `make setup-qemu`."""

import shutil
import subprocess
import sys
from io import BytesIO
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from tockmark.base import paths
from tockmark.base.errors import TockmarkError
from tockmark.result import file
from tockmark.result.model import Result
from tockmark.target import board as boards
from tockmark.target import qemu
from tockmark.target.elf import encode_elf
from tockmark.target.protocol import Start

BOARD = boards.load("qemu")
THERE = shutil.which("qemu-system-riscv32") and BOARD.kernels[2].exists()
needs_qemu = pytest.mark.skipif(not THERE, reason="`make setup-qemu` has not been run")
ONLY = "time,syscall,loop.empty,call.void,call.return,call.indirect,call.object,console"
ECALLS = 2  # at most in one sample of a system call: allow and subscribe take two


def run(out: Path, board: str, only: str = ONLY) -> Result:
    command = [sys.executable, "-m", "tockmark", "run", "--board", board, "--only", only]
    command += ["--icache", "off"] * (board != "qemu") + ["-o", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=paths.ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    return file.load(out)


def test_an_image_is_an_elf_file_of_one_segment() -> None:
    flash = bytes(range(256))
    read = ELFFile(BytesIO(encode_elf(flash, 0x2000_0000)))
    (segment,) = read.iter_segments()
    assert read.get_machine_arch() == "RISC-V"
    assert read.elfclass == 32
    assert segment["p_paddr"] == 0x2000_0000
    assert segment.data() == flash


def test_a_missing_qemu_is_an_error() -> None:
    target = qemu.QemuTarget("no-such-qemu", False, 0x2000_0000, 1)
    with pytest.raises(TockmarkError, match="no-such-qemu"):
        target.check_ready()


@needs_qemu
def test_instructions_are_the_simulators_plus_the_ecalls(tmp_path: Path) -> None:
    there, here = run(tmp_path / "qemu.json", "qemu"), run(tmp_path / "sim.json", "earlgrey-sim")
    assert there.provenance.board.timing == "functional-only"
    simulated = {row.key: row for row in here.table.values()}
    rows = [row for row in there.table.values() if not row.is_overhead]
    assert len(rows) > 24
    for row in rows:
        assert row.instructions is not None
        assert row.cycles is None
        more = row.instructions - (simulated[row.key].instructions or 0)
        assert more in (range(1, ECALLS + 1) if row.id.startswith("syscall.") else [0]), row.name


@needs_qemu
def test_the_same_image_prints_the_same_text(tmp_path: Path) -> None:
    for name in ("one", "two"):
        run(tmp_path / f"{name}.json", "qemu", "loop.empty")
    assert (tmp_path / "one.log").read_bytes() == (tmp_path / "two.log").read_bytes()


@needs_qemu
def test_a_boot_that_hangs_ends_at_the_limit(tmp_path: Path) -> None:
    flash = tmp_path / "loops.flash"
    flash.write_bytes(bytes(0x400) + b"\x01\xa0" * 2)  # c.j 0, at QEMU's entry point
    target = qemu.QemuTarget("qemu-system-riscv32", False, 0x2000_0000, 1, timer_hz=1_000_000)
    session = target.start(Start("loops", flash, icache=False))
    assert list(session.lines()) == []
    ending = session.ending()
    assert "1 s" in str(ending.why)
    assert not ending.panicked
