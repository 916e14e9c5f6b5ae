# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Bare programs: built with the cross-compiler, run on a simulated machine, heard by mailbox."""

import importlib.util
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tockmark import paths
from tockmark.errors import TockmarkError
from tockmark.rig.image import GCC

MAILBOX = 0x41130000  # a register block that both generations of the chip have
SRAM = 0x10000000
FLASH_START = 0x20000400  # the first instruction is 0x80 further on

BUILD = paths.ROOT / "build" / "validate"
LINK = ["-nostdlib", "-nostartfiles", "-Wl,--build-id=none,--no-warn-rwx-segments"]
IN_FLASH = ["-mno-relax", *LINK, "-Wl,-Ttext=0x20000000,--omagic"]


@dataclass(frozen=True)
class BareRun:
    """What a program sent, and how its run ended (0: it closed the mailbox with 0)."""

    code: int
    numbers: tuple[int, ...]
    last: str


def simulator(machine: str) -> Path:
    return paths.ROOT / "build" / "sim" / machine / "earlgrey-sim"


def ibex() -> Path:
    """The Ibex package's sources, where riscv-tests and the benchmarks are."""
    spec = importlib.util.find_spec("pythondata_cpu_ibex")
    if spec is None or not spec.submodule_search_locations:
        raise TockmarkError("the Ibex package is not installed", "run `make setup`")
    return Path(spec.submodule_search_locations[0]) / "system_verilog"


def compile_program(output: Path, sources: Sequence[Path], *options: str) -> Path:
    """One call of the compiler; the ELF is `output`, under build/validate."""
    elf = BUILD / output
    elf.parent.mkdir(parents=True, exist_ok=True)
    command = [GCC, "-mabi=ilp32", *options, *map(str, sources), "-o", str(elf)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise TockmarkError(f"building {output} failed: {done.stderr.strip()}")
    return elf


def run(
    machine: str,
    elf: Path,
    boot: int,
    *options: str,
    mailbox: int = MAILBOX,
    max_cycles: int = 20_000_000,
) -> BareRun:
    command = [str(simulator(machine)), "--elf", str(elf), "--boot", hex(boot)]
    command += ["--mailbox", hex(mailbox), "--max-cycles", str(max_cycles), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    said = done.stderr.strip().splitlines()
    return BareRun(done.returncode, tuple(map(int, done.stdout.split())), said[-1] if said else "")
