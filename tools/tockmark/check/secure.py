# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Part secure: the core in lockstep (SecureIbex) gives the same cycles as the core alone."""

from tockmark.check import bare, study
from tockmark.check.validation import Job, ValidationRow

NAME = "secure"
MACHINES = ("cw310", "cw310_secure")


def jobs() -> list[Job]:
    return [_run]


def _run() -> list[ValidationRow]:
    """One small program on both: that of the part study, here as well as any other."""
    elf = study.build(0)
    alone, lockstep = (bare.run(machine, elf, bare.FLASH_START) for machine in MACHINES)
    good = alone.code == 0 and lockstep.code == 0
    return [
        ValidationRow(
            part=NAME,
            group="the study's program with SecureIbex=1 against 0: cycles",
            name=f"SecureIbex=1 against 0, count {place}",
            machine="cw310_secure",
            unit="cycles",
            expected=(expected,),
            measured=(measured,) if good else (),
            source="the same program on cw310",
            note="" if good else lockstep.last,
        )
        for place, (expected, measured) in enumerate(
            zip(alone.numbers, lockstep.numbers or alone.numbers, strict=True)
        )
    ]
