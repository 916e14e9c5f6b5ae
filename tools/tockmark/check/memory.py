# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Part memory: 337 programs against OpenTitan's own RTL, cycles and instructions exactly."""

import csv
import subprocess
from functools import partial
from pathlib import Path

from tockmark import paths
from tockmark.check import bare
from tockmark.check.validation import Job, ValidationRow

NAME = "memory"
FOLDER = paths.VALIDATION / "rtl-cw310"
MACHINES = ("cw310",)
MAILBOX = 0x41140000  # where these programs have it
ROM_BLOCK = 0x8100  # where programs2 wants its block


def jobs() -> list[Job]:
    return [partial(_run, "programs1"), partial(_run, "programs2")]


def _run(program: str) -> list[ValidationRow]:
    elf = bare.compile_program(
        Path(NAME) / f"{program}.elf",
        [FOLDER / f"{program}.S"],
        "-march=rv32imc_zicsr_zifencei",
        "-mno-relax",
        f"-Wa,-I{FOLDER}",
        *bare.LINK,
        "-T",
        str(FOLDER / "programs.ld"),
    )
    block = _block(elf)
    options = ["--load", f"{block}@{ROM_BLOCK:#x}"] if block else []
    done = bare.run("cw310", elf, bare.FLASH_START, *options, mailbox=MAILBOX)
    measured = list(zip(done.numbers[::2], done.numbers[1::2], strict=False))
    rows = []
    for place, expected in enumerate(_expected(program)):
        rows.append(
            ValidationRow(
                part=NAME,
                group=f"{program}, cw310, i-cache {expected['icache']}: cycles and instructions",
                name=f"{program} {expected['index']} {expected['icache']}: {expected['test']}",
                machine="cw310",
                unit="cycles, instr",
                expected=(int(expected["cycles"]), int(expected["instret"])),
                measured=measured[place] if place < len(measured) else (),
                source="OpenTitan's RTL at edf5e35f5d",
                note="" if place < len(measured) else done.last,
            )
        )
    return rows


def _expected(program: str) -> list[dict[str, str]]:
    with (FOLDER / "expected.csv").open(encoding="utf-8", newline="") as file:
        return [row for row in csv.DictReader(file) if row["program"] == program]


def _block(elf: Path) -> Path | None:
    """The bytes from blk0 to blkend, cut out of the program, where it has such a block."""
    said = subprocess.run(
        ["riscv64-unknown-elf-nm", str(elf)], capture_output=True, text=True, check=True
    ).stdout
    symbols = {name: int(address, 16) for address, _, name in map(str.split, said.splitlines())}
    if "blk0" not in symbols:
        return None
    image = elf.with_suffix(".bin")
    command = ["riscv64-unknown-elf-objcopy", "-O", "binary", str(elf), str(image)]
    subprocess.run(command, check=True)
    start, end = (symbols[name] - 0x20000000 for name in ("blk0", "blkend"))
    block = elf.with_suffix(".block")
    block.write_bytes(image.read_bytes()[start:end])
    return block
