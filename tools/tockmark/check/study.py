# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Part study: what the study of 2021 measured on its FPGA, where no kernel takes part."""

import tomllib
from pathlib import Path
from typing import Any

from tockmark import paths
from tockmark.check import bare
from tockmark.check.validation import Job, ValidationRow

NAME = "study"
FOLDER = paths.VALIDATION / "study"
MACHINES = ("nexysvideo",)


def jobs() -> list[Job]:
    return [_run]


def build(offset: int) -> Path:
    """The program with its bodies so many bytes behind the start of a flash word."""
    return bare.compile_program(
        Path(NAME) / f"study-{offset}.elf",
        [FOLDER / "study.S"],
        *("-march=rv32imc_zicsr", f"-DOFFSET={offset}", *bare.IN_FLASH),
    )


def entries() -> dict[str, Any]:
    """study.toml."""
    with (FOLDER / "study.toml").open("rb") as file:
        return tomllib.load(file)


def measured(offset: int) -> tuple[dict[str, int], str]:
    """Run the program with its bodies at that offset: net cycles of each measurement by its name in
    study.toml, none if the run failed, and what the simulator said last."""
    names = [entry["name"] for entry in entries()["row"] if "same_as" not in entry]
    run = bare.run("nexysvideo", build(offset), bare.FLASH_START)
    good = run.code == 0 and len(run.numbers) == len(names)
    return dict(zip(names, run.numbers, strict=True)) if good else {}, run.last


def _run() -> list[ValidationRow]:
    data = entries()
    done = {offset: measured(offset) for offset in data["offsets"]}
    return [
        _row(entry, *done[entry["offset"]], data["bound"])
        for entry in data["row"]
        if "expected" in entry
    ]


def _row(
    entry: dict[str, Any], cycles: dict[str, int], last: str, bound: dict[str, float]
) -> ValidationRow:
    """Per operation; the bound is that of the whole sample."""
    count, operation = entry["of"]
    value = cycles.get(entry.get("same_as", entry["name"]), 0) - cycles.get(
        entry.get("less", ""), 0
    )
    allowed = max(entry["expected"] * bound["relative"], bound["cycles"])
    a = "an" if operation[0] in "aeiou" else "a"
    return ValidationRow(
        part=NAME,
        group=f"{entry['name']}: cycles {a} {operation}, at {entry['offset']} mod 8",
        name=entry["name"],
        machine="nexysvideo",
        unit=f"cycles {a} {operation}",
        expected=(round(entry["expected"] / count, 3),),
        measured=(round(value / count, 3),) if cycles else (),
        bound=round(allowed / count, 4) + 0.001,  # of rounding
        source=entry["source"],
        note="" if cycles else last,
    )
