# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Counts in the trace of a program's run; test_programs.py uses real traces."""

import pytest

from tockmark.profile.sample import Sampler, writes_pmp
from tockmark.target.rv32 import ECALL, MRET
from tockmark_lab.studies.isolation import Watcher

PROGRAM, OTHER, KERNEL, PMP = 0x1000, 0x2000, 0x8000, 0x3A0A1073  # csrw pmpcfg0, s4
FIRST, LAST = PROGRAM + 0x10, PROGRAM + 0x20  # the ecalls of the two counter reads
NOP = 0x13


def line(mcycle: int, mode: str, pc: int, insn: int = NOP, effects: str = "") -> str:
    return f"{mcycle:10} {mcycle:10} {mode} {pc:08x} {insn:08x}   1 -       {effects}"


@pytest.mark.parametrize(
    ("insn", "writes"),
    [
        (PMP, True),
        (0x3B001073, True),  # csrw pmpaddr0, zero
        (0x3A002573, False),  # csrr a0, pmpcfg0
        (0x3A00A073, True),  # csrs pmpcfg0, ra
        (0x3EF0F073, True),  # csrci pmpaddr63, 1
        (0x30001073, False),  # csrw mstatus, zero
        (MRET, False),
        (ECALL, False),
    ],
)
def test_pmp_writes_are_recognized(insn: int, writes: bool) -> None:
    assert writes_pmp(insn) == writes


def test_events_between_the_counter_reads_are_counted() -> None:
    """While the other app is in a yield, an interrupt runs its upcall. It yields again, and the
    program continues."""
    lines = [
        line(1, "U", OTHER, ECALL, " trap"),
        line(3, "M", KERNEL, NOP, " handler"),
        line(4, "M", KERNEL + 4, MRET),
        line(6, "U", FIRST + 4),
        line(7, "U", PROGRAM + 0x40),
        line(10, "M", KERNEL, NOP, " handler"),
        line(14, "M", KERNEL + 8, PMP),
        line(15, "M", KERNEL + 12, MRET),
        line(17, "U", OTHER + 0x40),
        line(18, "U", OTHER + 0x44, ECALL, " trap"),
        line(21, "M", KERNEL, NOP, " handler"),
        line(22, "M", KERNEL + 4, MRET),
        line(25, "U", PROGRAM + 0x44),
        line(26, "U", LAST, ECALL, " trap"),
        line(28, "M", KERNEL, NOP, " handler"),
        line(29, "M", KERNEL + 4, MRET),
        line(31, "U", LAST + 4, NOP, " x20=0000001e"),
    ]
    watcher = Watcher(Sampler(PROGRAM, (FIRST, LAST)), lambda user, pc: int(pc >= OTHER))
    watcher.watch(lines)
    (run,) = watcher.runs
    assert run.cycles == 30
    assert run.counted == {
        "traps": 2, "interrupts": 1, "switches": 2, "upcalls": 1, "pmp_writes": 1
    }  # fmt: skip
    assert run.spent == {"program": 2 + 1 + 3, "others": 2 + 1, "kernel": 3 + 4 + 1 + 3 + 1}
