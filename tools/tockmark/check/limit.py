# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Part limit: the least that a system call can cost on this core (docs/limit.md), counted and
measured.
"""

import tomllib
from functools import partial
from pathlib import Path
from typing import Any

from tockmark import paths
from tockmark.check import bare
from tockmark.check.validation import Job, ValidationRow

NAME = "limit"
FOLDER = paths.VALIDATION / "limit"
ASM = paths.ROOT / "apps" / "asm"
MACHINES = ("cw310",)
PARTS = "the least of a part of a system call: instructions, cycles on, cycles off"
CALLS = "the least of a whole system call: instructions, cycles on, cycles off"
BODIES = tuple(ASM / f"{name}.S" for name in ("sample", "empty", "syscalls", "upcalls"))


def programs() -> list[dict[str, Any]]:
    """The programs of limit.toml, each with its rows."""
    with (FOLDER / "limit.toml").open("rb") as file:
        found: list[dict[str, Any]] = tomllib.load(file)["program"]
    return found


def build(program: dict[str, Any], icache: int) -> Path:
    """The program, with the instruction cache on (1) or off (0)."""
    name = "".join(c for c in program.get("kernel", "parts") if c.isalpha())
    return bare.compile_program(
        Path(NAME) / f"{name}-{icache}.elf",
        [FOLDER / program["source"], *(BODIES if "kernel" in program else ())],
        *("-march=rv32imc_zicsr", "-DTM_ABI=2", f"-DICACHE={icache}", *program["options"]),
        *(f"-I{ASM}", *bare.IN_FLASH),
    )


def jobs() -> list[Job]:
    return [partial(_run, program) for program in programs()]


def _run(program: dict[str, Any]) -> list[ValidationRow]:
    """A row each: instructions, cycles with the cache on, cycles with it off. The instructions are
    those with the cache on: without it a reading can be one too high."""
    off, on = (bare.run("cw310", build(program, i), bare.FLASH_START) for i in (0, 1))
    good = off.code == 0 and on.code == 0
    counts = zip(on.numbers[1::2], on.numbers[::2], off.numbers[::2], strict=False)
    measured = dict(enumerate(counts if good else ()))
    return [
        ValidationRow(
            part=NAME,
            group=CALLS if "kernel" in program else PARTS,
            name=entry["name"],
            machine="cw310",
            unit="instr, cycles on, cycles off",
            expected=(entry["instructions"], entry["on"], entry["off"]),
            measured=measured.get(place, ()),
            source=entry["source"],
            note="" if place in measured else f"{off.last}; {on.last}",
        )
        for place, entry in enumerate(program["row"])
    ]
