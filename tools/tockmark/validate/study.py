# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Part study: what the study of 2021 measured on its FPGA, where no kernel takes part."""

import tomllib
from pathlib import Path
from typing import Any

from tockmark import paths
from tockmark.validate import bare
from tockmark.validate.parts import Job
from tockmark.validate.row import Row

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


def _run() -> list[Row]:
    with (FOLDER / "study.toml").open("rb") as file:
        data = tomllib.load(file)
    done = {
        offset: bare.run("nexysvideo", build(offset), bare.FLASH_START)
        for offset in data["offsets"]
    }
    entries: list[dict[str, Any]] = data["row"]
    measurements = [entry["name"] for entry in entries if "same_as" not in entry]
    rows = []
    for entry in entries:
        if "expected" not in entry:
            continue
        run = done[entry["offset"]]
        good = run.code == 0 and len(run.numbers) == len(measurements)
        cycles = dict(zip(measurements, run.numbers, strict=False)) if good else {}
        rows.append(_row(entry, cycles, data["bound"], run.last))
    return rows


def _row(entry: dict[str, Any], cycles: dict[str, int], bound: dict[str, float], last: str) -> Row:
    """Per operation; the bound is that of the whole sample."""
    count, operation = entry["of"]
    value = cycles.get(entry.get("same_as", entry["name"]), 0) - cycles.get(
        entry.get("less", ""), 0
    )
    allowed = max(entry["expected"] * bound["relative"], bound["cycles"])
    a = "an" if operation[0] in "aeiou" else "a"
    return Row(
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
