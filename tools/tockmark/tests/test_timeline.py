# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A timeline of a few instructions: who ran when, what was called, what was raised."""

from collections.abc import Iterable

import pytest

from tockmark.profile.follow import KERNEL as KERNELS
from tockmark.profile.run import Codes
from tockmark.profile.sample import Step
from tockmark.profile.symbols import Frame, Program
from tockmark.profile.timeline import (
    ASLEEP,
    FILLS,
    KERNEL,
    PMP_WRITES,
    RAISED,
    TAKEN,
    CounterEvents,
    trace_events,
)
from tockmark.target.rv32 import ECALL, MRET, WFI

APP, OTHER, TRAP, LOOP, PMP = 0x3000, 0x4000, 0x1000, 0x1100, 0x1200
NOP = 0x13
PMPADDR0, PMPCFG0_READ = 0x3B0_29_073, 0x3A0_02_573  # csrw pmpaddr0, t0; csrr a0, pmpcfg0
FRAMES = {
    TRAP: Frame("trap_vector"),
    LOOP: Frame("main", "kernel/src/main.rs"),
    PMP: Frame("protect", "kernel/src/arch/riscv/pmp.rs"),
    APP: Frame("body"),
    OTHER: Frame("spin"),
}


class Known(Program):
    """Code of which each function has 0x100 bytes."""

    def __init__(self) -> None:
        pass

    def start_of(self, address: int) -> int:
        return address & ~0xFF

    def frames(self, address: int) -> tuple[Frame, ...]:
        return (FRAMES[address & ~0xFF],)


class Two(Codes):
    """Two apps and a kernel."""

    def __init__(self) -> None:
        self._known = Known()

    def look_up(self, addresses: Iterable[tuple[bool, int]]) -> None:
        pass

    def code_of(self, step: Step) -> tuple[int, Program]:
        return (step.pc >= OTHER) if step.user else KERNELS, self._known


class Run:
    """Steps one after the other."""

    def __init__(self) -> None:
        self.steps: list[tuple[int, Step]] = []
        self._cycle = 100

    def add(
        self, pc: int, insn: int = NOP, cycles: int = 1, slept: int = 0, rd: int = 0, **told: int
    ) -> "Run":
        self._cycle += slept + cycles
        value, fills, user = told.pop("value", 0), told.pop("fills", 0), pc >= APP
        marks = {name: bool(one) for name, one in told.items()}
        step = Step(0, user, pc, insn, cycles, (), rd=rd, value=value, fills=fills, **marks)
        self.steps.append((self._cycle, step))
        return self

    def told(
        self, abi: int = 2, end: int = 0, raised: tuple[int, ...] = ()
    ) -> tuple[list[tuple[str, str, int, int]], list[tuple[str, str, int]], CounterEvents]:
        found = trace_events(self.steps, Two(), ("one", "two"), abi, end, raised)
        shown = [(one.track, one.name, one.begin, one.end) for one in found.slices]
        return shown, [(one.track, one.name, one.at) for one in found.instants], found.counted


def test_who_runs_when() -> None:
    """Slices of one phase are one, and sleep stands between the instructions around it."""
    run = (
        Run()
        .add(LOOP, fills=2)
        .add(LOOP + 4, cycles=3)
        .add(PMP, PMPADDR0)
        .add(PMP + 4, PMPCFG0_READ)
    )
    run.add(LOOP + 8, MRET).add(APP, cycles=2).add(OTHER).add(LOOP, WFI).add(LOOP + 4, slept=50)
    slices, _, counted = run.told()
    assert slices == [
        (KERNEL, "kernel", 100, 104),
        (KERNEL, "PMP", 104, 106),
        (KERNEL, "kernel", 106, 107),
        ("app one", "one", 107, 109),
        ("app two", "two", 109, 110),
        (KERNEL, "kernel", 110, 111),
        (KERNEL, ASLEEP, 111, 161),
        (KERNEL, "kernel", 161, 162),
    ]
    assert counted == {PMP_WRITES: [105], FILLS: [101, 101]}  # what reads a register writes none


@pytest.mark.parametrize(
    ("abi", "registers", "name"),
    [
        (2, {14: 2, 10: 0, 11: 5}, "command alarm 5"),
        (2, {14: 2, 10: 0x1_0000, 11: 3}, "command IPC 3"),
        (2, {14: 4, 10: 0x77, 11: 1}, "allow-ro 0x77 1"),
        (2, {14: 0, 10: 1}, "yield-wait"),
        (2, {14: 5, 10: 1}, "memop 1"),
        (2, {14: 6}, "exit"),
        (2, {14: 99}, "system call"),
        (2, {}, "system call"),
        (1, {10: 2, 11: 1, 12: 7}, "command console 7"),
        (1, {10: 0}, "yield"),
        (1, {10: 3, 11: 8, 12: 0}, "allow debug 0"),
    ],
)
def test_system_calls_have_names(abi: int, registers: dict[int, int], name: str) -> None:
    run = Run()
    for number, value in registers.items():
        run.add(APP, rd=number, value=value)
    _, instants, _ = run.add(APP + 4, ECALL).told(abi)
    assert instants == [("app one", name, 101 + len(registers))]


def test_interrupts_are_raised_taken_and_served() -> None:
    """The first rise is over before the second; an exception is no interrupt."""
    run = Run().add(APP, ECALL).add(TRAP, handler=1).add(LOOP, MRET).add(APP + 4)
    run.add(TRAP + 4 * 7, handler=1).add(LOOP, cycles=5).add(LOOP + 4, MRET).add(APP + 8)
    run.add(TRAP + 4 * 11, handler=1).add(LOOP, cycles=5)
    slices, _, _ = run.told(raised=(100, 102, 104, 112, 115, 150))
    assert [one for one in slices if one[0] in (RAISED, TAKEN)] == [
        (TAKEN, "timer", 105, 111),
        (TAKEN, "external", 113, 118),
        (RAISED, "not taken", 100, 102),
        (RAISED, "not taken", 102, 104),
        (RAISED, "timer", 104, 105),
        (RAISED, "external", 112, 113),
        (RAISED, "pending", 115, 118),
    ]
