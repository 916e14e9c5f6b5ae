# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Part conformance: the riscv-tests that ship inside the Ibex package, in our own environment."""

import tomllib
from functools import partial
from itertools import product
from pathlib import Path

from tockmark import paths
from tockmark.check import bare
from tockmark.check.validation import Job, ValidationRow

NAME = "conformance"
FOLDER = paths.VALIDATION / "conformance"
SUITES = ("rv32ui", "rv32um", "rv32uc", "rv32mi")
MACHINES = ("cw310", "nexysvideo")


def jobs(suites: tuple[str, ...] = SUITES, machines: tuple[str, ...] = MACHINES) -> list[Job]:
    """A job a test, with the cache on and off on each machine."""
    with (FOLDER / "not_applicable.toml").open("rb") as file:
        skipped: dict[str, dict[str, str]] = tomllib.load(file)
    tests = bare.ibex() / "vendor" / "riscv-tests" / "isa"
    return [
        partial(_run, suite, source, machines, skipped)
        for suite in suites
        for source in sorted((tests / suite).glob("*.S"))
    ]


def _run(
    suite: str, source: Path, machines: tuple[str, ...], skipped: dict[str, dict[str, str]]
) -> list[ValidationRow]:
    rows = []
    for machine, icache in product(machines, ("on", "off")):
        name = f"{suite}-{source.stem}"
        if name in skipped["all"] or name in skipped.get(machine, {}):
            continue
        elf = _build(name, source, icache)
        done = bare.run(machine, elf, bare.SRAM, max_cycles=200_000)
        passed = done.code == 0
        rows.append(
            ValidationRow(
                part=NAME,
                group=f"{suite}, {machine}, i-cache {icache}: programs passed",
                name=f"{name}, {machine}, i-cache {icache}",
                machine=machine,
                unit="passed",
                expected=(1,),
                measured=(int(passed),),
                source="riscv-tests in the Ibex package",
                note="" if passed else done.last,
            )
        )
    return rows


def _build(name: str, source: Path, icache: str) -> Path:
    vendor = bare.ibex() / "vendor"
    return bare.compile_program(
        Path(NAME) / f"{name}-{icache}.elf",
        [source],
        "-march=rv32imc_zicsr_zifencei",
        f"-DICACHE={int(icache == 'on')}",
        *(f"-I{path}" for path in (FOLDER, vendor / "riscv-test-env")),
        f"-I{vendor / 'riscv-tests' / 'isa' / 'macros' / 'scalar'}",
        *bare.LINK,
        "-T",
        str(FOLDER / "test.ld"),
    )
