# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Part icache: where the cost of straight code changes its slope, which tells the cache's size."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from tockmark import paths
from tockmark.check import bare
from tockmark.check.validation import Job, ValidationRow
from tockmark.result.stats import fitted

NAME = "icache"
FOLDER = paths.VALIDATION / "icache"
MACHINES = ("cw310",)
SIZES = range(1, 9)  # KiB
CLEARLY = 0.1  # two slopes differ if they do by so much of the lower one
NONE = 0  # no change


def jobs() -> list[Job]:
    return [partial(_run, icache) for icache in ("off", "on")]


def _run(icache: str) -> list[ValidationRow]:
    elf = bare.compile_program(
        Path(NAME) / f"nops-{icache}.elf",
        [FOLDER / "nops.S"],
        "-march=rv32imc_zicsr_zifencei",
        f"-DICACHE={int(icache == 'on')}",
        *bare.IN_FLASH,
    )
    done = bare.run("cw310", elf, bare.FLASH_START)
    good = done.code == 0 and len(done.numbers) == 2 * len(SIZES)
    rows = []
    for width, first in ((2, 0), (4, len(SIZES))):
        expected = 4 if width == 4 and icache == "on" else NONE
        cycles = done.numbers[first : first + len(SIZES)]
        rows.append(
            ValidationRow(
                part=NAME,
                group=f"NOPs of {width} bytes, i-cache {icache}: KiB where the slope changes",
                name=f"NOPs of {width} bytes, i-cache {icache}",
                machine="cw310",
                unit="KiB",
                expected=(expected,),
                measured=(breaking_point(SIZES, cycles),) if good else (),
                source="the cache holds 4 KiB; flash delivers a 2-byte NOP a cycle without it",
                note="" if good else done.last,
            )
        )
    return rows


def breaking_point(x: Sequence[int], y: Sequence[int]) -> int:
    """The x behind which a second line fits best, if its slope differs clearly; else NONE."""
    both = {i: (fitted(y[:i], x[:i]), fitted(y[i:], x[i:])) for i in range(2, len(x) - 1)}
    best = min(both, key=lambda i: sum(line.squares for line in both[i]))
    low, high = sorted(line.slopes[0] for line in both[best])
    return x[best - 1] if high > low * (1 + CLEARLY) else NONE
