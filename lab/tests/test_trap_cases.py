# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The bare kernels of the floor (lab/studies/floor): their paths do what Tock's interface requires
for every trap, and the page has a rule for each of their cycles in the core's trace.
test_validation.py checks that the stored measurements still hold."""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tockmark.base import paths
from tockmark.profile.sample import Step, parse
from tockmark.target.elf import read_elf
from tockmark.target.rv32 import ECALL, MRET
from tockmark_lab import trap_cases
from tockmark_lab import validation_parts as programs

SIMULATOR = paths.ROOT / "build" / "sim" / "cw310" / "earlgrey-sim"
KERNELS = [program for program in programs.data_of("limit")["program"] if "kernel" in program]
PATHS = [program for program in KERNELS if program.get("path")]
READING, UPCALLS, IN_C = (
    next(program for program in PATHS if program["kernel"] == kernel)
    for kernel in ("nothing saved", "nothing saved, upcalls", "driver in C")
)
# Opcodes of instructions of 4 bytes (mask 0x7f) and of 2 bytes (mask 0xe003).
LOADS = {True: (0x03,), False: (0x4000, 0x4002)}
STORES = {True: (0x23,), False: (0xC000, 0xC002)}
FLUSHING = (0x300, *range(0x3A0, 0x3C0))  # mstatus, the PMP
SP, A0, A4 = 2, 10, 14
OTHER_SP = 0x1000C000  # the end of the other process's RAM (processes.inc)
YIELD, EXIT = 0, 6
YIELDING = ("yield", "there and back")
TIMES = 8  # how often each body runs (kernel.inc)
# After three jumps within 6 cycles, or four within 11, all buffers may be in use.
CLOSE = {2: 6, 3: 11}
RESULTS = range(A0, A0 + 4)
KEPT = (2, 3, 4, 8, 9, *range(18, 28))  # registers that a procedure keeps: sp, gp, tp, s0 to s11


def steps(elf: Path) -> Iterator[Step]:
    command = [str(SIMULATOR), "--elf", str(elf), "--boot", hex(programs.FLASH_START)]
    command += ["--mailbox", hex(programs.MAILBOX), "--itrace", "-"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    for line in done.stdout.splitlines():
        if len(line.split()) > 1 and not line.startswith("#"):
            yield parse(line)


def calls(elf: Path) -> Iterator[tuple[list[int], list[int]]]:
    """Yield the registers at each ecall of user mode, and at the next instruction there."""
    registers = [0] * 32
    before: list[int] | None = None
    for step in steps(elf):
        if step.user and before is not None:
            yield before, list(registers)
            before = None
        if step.user and step.insn == ECALL:
            before = list(registers)
        registers[step.rd] = step.value if step.rd else 0


@pytest.mark.parametrize("program", KERNELS, ids=lambda program: program["kernel"])
def test_a_call_keeps_the_registers_that_it_must(program: dict[str, Any]) -> None:
    other = [0] * 32  # the process that waits when a program starts
    other[SP] = OTHER_SP
    waiting = [other, other] if "-DSWITCHES" in program["options"] else [other]
    running, commands, yields = 0, 0, 0
    for before, after in calls(programs.build_limit(program, 1)):
        if before[A4] == EXIT:
            continue
        if before[A4] == YIELD:
            waiting[running] = before
            running = (running + 1) % len(waiting)
            kept = waiting[running]
            yields += 1
            assert [kept[r] for r in KEPT] == [after[r] for r in KEPT]
        else:
            commands += 1
            assert [r for r in range(32) if before[r] != after[r] and r not in RESULTS] == []
    assert commands >= 30
    assert yields >= TIMES or not any(
        by in row["name"] for row in program["row"] for by in YIELDING
    )


def accesses(step: Step) -> bool:
    """Return whether a step is a load or a store."""
    whole = step.size == 4
    return step.insn & (0x7F if whole else 0xE003) in (*LOADS[whole], *STORES[whole])


def flushes(step: Step) -> bool:
    """Return whether a step writes a CSR that makes the core fetch the next instruction again."""
    insn = step.instruction
    return insn.writes_csr and insn.imm in FLUSHING and insn.function != 3  # csrrc does not flush


def samples(elf: Path) -> Iterator[list[Step]]:
    """Yield the last run of each body, from the first read of mcycle to the last."""
    ends, trace, a4 = [], list(steps(elf)), -1
    for index, step in enumerate(trace):
        a4 = step.value if step.rd == A4 else a4
        if step.user and step.insn == ECALL and a4 == EXIT:
            ends.append(index)
    for last in range(TIMES - 1, len(ends), TIMES):
        body = trace[ends[last - 1] : ends[last] + 1]
        read = [index for index, step in enumerate(body) if step.reads_mcycle()]
        yield body[read[0] : read[-1] + 1]


@pytest.mark.parametrize("program", KERNELS, ids=lambda program: program["kernel"])
def test_every_cycle_has_a_rule(program: dict[str, Any]) -> None:
    steps = list(samples(programs.build_limit(program, 1)))
    assert len(steps) == len(program["row"])
    for sample in steps:
        jumps: list[int] = []  # cycles of the jumps, the latest last
        for above, before, step in zip(sample, sample[1:], sample[2:], strict=False):
            waits = dict(step.waits)
            leaves = before.insn in (ECALL, MRET)
            jumped = leaves or step.pc != before.pc + before.size
            hidden = jumped and not leaves and accesses(above)
            fetch = (jumped or flushes(before)) and not hidden
            least = fetch + (fetch and jumped and step.size == 4 and step.pc % 4 == 2)
            most = least
            if jumped:
                jumps.append(before.mcycle)
                most += any(
                    len(jumps) > back and jumps[-1] - jumps[-1 - back] <= within
                    for back, within in CLOSE.items()
                )
            at = f"{step.pc:#x}: {waits}"
            assert waits.pop("w", 0) in ((2, 3) if accesses(before) else (0,)), at
            assert least <= waits.pop("f", 0) <= most, at
            assert waits.pop("o", 0) == (leaves or flushes(before)), at
            assert not waits, at


def test_a_missing_row_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that stops early has no valid rows."""
    monkeypatch.setattr(programs, "run", lambda *_: programs.BareRun(2, (31, 25), "stopped"))
    (job, *_) = programs.PARTS["limit"].jobs()
    rows = list(job)
    assert rows
    assert not [row for row in rows if row.measured or "stopped" not in row.note]


# Paths that do too little: the replaced text and its replacement.
BROKEN = {
    "treats a fault as a call": (READING, "slli a0, a4, 2", "addi a0, a4, 6"),
    "does not check the cause": (READING, "csrr a1, mcause", "slli a1, a4, 2"),
    "treats each driver as Perf": (READING, "beq  a0, a1, 3f", "beqz zero, 3f"),
    "treats each number as a counter read": (READING, "bne  a1, a4, 1f", "bnez zero, 1f"),
    "passes on another number": (READING, "1:  addi a1, a1, TM_PERF_BOTH - TOCK_COMMAND", "1:"),
    "passes on another driver": (READING, "4:  li   a0, TM_PERF", "4:"),
    "passes on another address": (READING, "addi a1, a1, -4", "nop"),
    "changes t0": (READING, "li   a0, TOCK_SUCCESS_U32_U32", "li a0, 130; li t0, 0"),
    "changes a4": (READING, "slli a0, a4, 2", "slli a4, a4, 2; mv a0, a4"),
    "gives the wrong counter": (READING, "csrr a2, minstret", "csrr a2, mcycle"),
    "gives a counter's last value": (READING, "csrr a1, mcycle", "csrr a1, mscratch"),
    "returns to the ecall": (UPCALLS, "csrw mepc, a7", "csrw mepc, ra"),
    "keeps the upcall": (UPCALLS, "sw   zero, PENDING(a5)", "nop"),
    "treats any yield as yield-wait": (UPCALLS, "addi a4, a0, -TOCK_YIELD_WAIT", "li a4, 0"),
    "delivers an upcall that does not wait": (UPCALLS, "beqz a6, 2b", "nop"),
    "does not save ra": (IN_C, "csrw mscratch, ra", "nop"),
    "treats each class as a command": (IN_C, "addi ra, a4, -TOCK_COMMAND", "li ra, 0"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_path_that_does_too_little_is_detected(name: str, tmp_path: Path) -> None:
    program, right, wrong = BROKEN[name]
    for source in programs.LIMIT.iterdir():
        (tmp_path / source.name).write_bytes(source.read_bytes())
    paths_inc = tmp_path / "paths.inc"
    text = paths_inc.read_text(encoding="utf-8")
    macro = text.index(f".macro {program['options'][0].removeprefix('-DPATH=')}_PATH")
    assert right in text[macro:]
    changed = text[:macro] + text[macro:].replace(right, wrong, 1)
    paths_inc.write_text(changed, encoding="utf-8")
    cases = trap_cases.cases()
    assert programs.wrong_cases(programs.build_rules(program, cases, tmp_path), cases)


def test_a_path_never_runs_into_the_interrupt_words() -> None:
    for program in PATHS:
        elf = programs.build_limit(program, 1)
        kernel = read_elf(elf).addresses["kernel"]
        assert kernel % 256 == 0
        ran = {step.pc - kernel for step in steps(elf)}
        assert 0 in ran
        assert not ran & set(range(28, 128))
