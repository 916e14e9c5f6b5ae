# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The timeline of a few instructions has slices of processes, system calls and interrupts."""

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


class FakeProgram(Program):
    """Code whose functions have 0x100 bytes each."""

    def __init__(self) -> None:
        pass

    def start_of(self, address: int) -> int:
        return address & ~0xFF

    def frames(self, address: int) -> tuple[Frame, ...]:
        return (FRAMES[address & ~0xFF],)


class TwoApps(Codes):
    """Two apps and a kernel."""

    def __init__(self) -> None:
        self._known = FakeProgram()

    def look_up(self, addresses: Iterable[tuple[bool, int]]) -> None:
        pass

    def code_of(self, step: Step) -> tuple[int, Program]:
        return (step.pc >= OTHER) if step.user else KERNELS, self._known


class Run:
    """A sequence of steps."""

    def __init__(self) -> None:
        self.steps: list[tuple[int, Step]] = []
        self._cycle = 100

    def add(
        self, pc: int, insn: int = NOP, cycles: int = 1, slept: int = 0, rd: int = 0, **flags: int
    ) -> "Run":
        self._cycle += slept + cycles
        value, fills, user = flags.pop("value", 0), flags.pop("fills", 0), pc >= APP
        marks = {name: bool(value) for name, value in flags.items()}
        step = Step(0, user, pc, insn, cycles, (), rd=rd, value=value, fills=fills, **marks)
        self.steps.append((self._cycle, step))
        return self

    def events(
        self, abi: int = 2, end: int = 0, raised: tuple[int, ...] = ()
    ) -> tuple[list[tuple[str, str, int, int]], list[tuple[str, str, int]], CounterEvents]:
        events = trace_events(self.steps, TwoApps(), ("one", "two"), abi, end, raised)
        shown = [(part.track, part.name, part.begin, part.end) for part in events.slices]
        return (
            shown,
            [(instant.track, instant.name, instant.at) for instant in events.instants],
            events.counted,
        )


def test_slices_show_which_process_runs() -> None:
    """Adjacent instructions of a phase are one slice; gaps are sleep."""
    run = (
        Run()
        .add(LOOP, fills=2)
        .add(LOOP + 4, cycles=3)
        .add(PMP, PMPADDR0)
        .add(PMP + 4, PMPCFG0_READ)
    )
    run.add(LOOP + 8, MRET).add(APP, cycles=2).add(OTHER).add(LOOP, WFI).add(LOOP + 4, slept=50)
    slices, _, counted = run.events()
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
    assert counted == {PMP_WRITES: [105], FILLS: [101, 101]}  # a csrr does not write


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
    _, instants, _ = run.add(APP + 4, ECALL).events(abi)
    assert instants == [("app one", name, 101 + len(registers))]


def test_interrupts_have_slices_for_raised_and_taken() -> None:
    """The first rise ends before the second; an exception is not an interrupt."""
    run = Run().add(APP, ECALL).add(TRAP, handler=1).add(LOOP, MRET).add(APP + 4)
    run.add(TRAP + 4 * 7, handler=1).add(LOOP, cycles=5).add(LOOP + 4, MRET).add(APP + 8)
    run.add(TRAP + 4 * 11, handler=1).add(LOOP, cycles=5)
    slices, _, _ = run.events(raised=(100, 102, 104, 112, 115, 150))
    assert [part for part in slices if part[0] in (RAISED, TAKEN)] == [
        (TAKEN, "timer", 105, 111),
        (TAKEN, "external", 113, 118),
        (RAISED, "not taken", 100, 102),
        (RAISED, "not taken", 102, 104),
        (RAISED, "timer", 104, 105),
        (RAISED, "external", 112, 113),
        (RAISED, "pending", 115, 118),
    ]
