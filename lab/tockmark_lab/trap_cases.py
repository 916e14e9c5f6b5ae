# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Trap cases for the paths of the study floor, and the judge of their outcomes.

A case is a trap from user mode with the values of all registers. lab/studies/floor/rules.S runs the
cases on a path and prints each outcome, and `wrong_cases` compares it with the system-call
interface. Only a path that passes may be compared with the floor. This module shares nothing with
the paths but the numbers of Tock's interface.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from tockmark.base import paths

CASES = 1500  # per path
SEED = 104
WORD = 1 << 32

SP, A0, A1, A2, A3, A4 = 2, 10, 11, 12, 13, 14
RESULTS = range(A0, A4)
# Registers that a procedure, and so a yield, preserves: sp, gp, tp, s0 to s11.
KEPT = (2, 3, 4, 8, 9, *range(18, 28))

YIELD, COMMAND, EXIT = 0, 2, 6
PERF, BOTH, UPCALL = 0x90010, 3, 8
FAILURE, SUCCESS, SUCCESS_U32_U32 = 0, 128, 130
NOSUPPORT, NODEVICE = 10, 11
YIELD_WAIT = 1

CAUSES = {"fetches": 1, "illegal": 2, "breaks": 3, "loads": 5, "stores": 7}
CALL = 8  # mcause of a system call from user mode
CALLS = tuple(f"call_{offset}" for offset in (0, 2, 4, 6))  # labels, by their place in a flash word
PRINTED = 41  # words that rules.S prints per case

# The options below make the compilers let a driver's procedure change a0 to a3 only.
OTHERS = (1, *range(5, 10), *range(14, 32))  # without sp, gp and tp, which no procedure may change
TEMPORARY = ("ra", "t0", "t1", "t2", "a4", "a5", "a6", "a7", "t3", "t4", "t5", "t6")
COMPILED = {
    "driver.c": (
        *(paths.GCC, "-mabi=ilp32", "-march=rv32imc_zicsr", "-O1", "-ffreestanding", "-DTM_ABI=2"),
        *("-Wall", "-Wextra", "-Werror", "-falign-functions=8", "-falign-labels=8", "-c"),
        *(f"-fcall-saved-{name}" for name in TEMPORARY),
    ),
    "driver.rs": (
        *("rustc", "--edition=2024", "--crate-type=lib", "--emit=obj", "-Awarnings"),
        *("--target=riscv32imc-unknown-none-elf", "-Copt-level=3", "-Cpanic=abort"),
        "-Cllvm-args=-align-all-functions=3",
        "-Ctarget-feature=" + ",".join(f"+reserve-x{number}" for number in OTHERS),
    ),
}


@dataclass(frozen=True)
class CheckedCase:
    """A trap: what user mode does, all its registers, and whether an upcall is pending."""

    does: str  # a label of rules.S, or "fetches"
    registers: tuple[int, ...]  # x0 to x31
    pending: int
    arguments: tuple[int, ...]  # of the pending upcall
    userdata: int
    noise: tuple[int, int]  # mscratch and mtval before the trap

    def text(self) -> str:
        """Return the case in the form that rules.S includes."""
        pc = "0x20" if self.does == "fetches" else self.does
        words = [pc, *self.registers[1:], self.pending, *self.arguments, "upcalled"]
        return f"    .word {', '.join(map(str, [*words, self.userdata, *self.noise]))}\n"


def cases(seed: int = SEED) -> tuple[CheckedCase, ...]:
    """Return traps with random registers. Many are calls that a path serves, or differ from one in
    one or two registers. Each fault is also combined with the a0, a1 and a4 of such calls."""
    draw = random.Random(seed)
    near = product(sorted(CAUSES), range(12), (BOTH - COMMAND, UPCALL - COMMAND), (PERF, 1))
    faults = [_fault(draw, *each) for each in near]
    return (*faults, *(_case(draw) for _ in range(CASES - len(faults))))


def _fault(draw: random.Random, does: str, class_: int, more: int, first: int) -> CheckedCase:
    registers = [0, *(_word(draw) for _ in range(31))]
    registers[A0], registers[A1], registers[A4] = first, class_ + more, class_
    return CheckedCase(does, tuple(registers), 1, (1, 2, 3), 4, (5, 6))


def _case(draw: random.Random) -> CheckedCase:
    registers = [0, *(_word(draw) for _ in range(31))]
    call = draw.choice([(PERF, BOTH, COMMAND), (PERF, UPCALL, COMMAND), (YIELD_WAIT, None, YIELD)])
    for register, value in zip((A0, A1, A4), call, strict=True):
        if value is not None and draw.random() < 0.85:
            registers[register] = value
    if draw.random() < 0.4:
        changed = draw.choice((A0, A1, A4))
        registers[changed] = _near(draw, registers[changed])
    does = draw.choice(CALLS) if draw.random() < 0.65 else draw.choice(sorted(CAUSES))
    if does in CALLS:
        registers[A4] %= 256  # a class is a byte
    arguments = tuple(_word(draw) for _ in range(3))
    noise = (_word(draw), _word(draw))
    return CheckedCase(does, tuple(registers), draw.choice((0, 1)), arguments, _word(draw), noise)


def _word(draw: random.Random) -> int:
    few = (0, 1, 2, 3, 8, 10, 11, 128, 130, PERF, 0x90000, 0x10000000, 0x20001000, WORD - 1)
    return draw.choice(few) if draw.random() < 0.3 else draw.randrange(WORD)


def _near(draw: random.Random, value: int) -> int:
    return (
        draw.choice(
            (value + 1, value - 1, value ^ 1 << draw.randrange(32), value << 1, draw.randrange(256))
        )
        % WORD
    )


def wrong_cases(
    tested: Sequence[CheckedCase], printed: Sequence[int], addresses: dict[str, int]
) -> Iterator[str]:
    """Yield a line for each fault of a path. `printed` has the words that rules.S sent, `addresses`
    the program's labels."""
    if len(printed) != PRINTED * len(tested):
        yield f"the program ended after {len(printed) // PRINTED} of {len(tested)} cases"
    for number, case in enumerate(tested[: len(printed) // PRINTED]):
        words = [word % WORD for word in printed[PRINTED * number :][:PRINTED]]
        for fault in _wrong(case, words, addresses):
            yield f"case {number}, {case.does}, {_named(case.registers)}: {fault}"


def _wrong(case: CheckedCase, words: list[int], addresses: dict[str, int]) -> Iterator[str]:
    (cause, pc), after = words[:2], [0, *words[2:33]]
    waiting, counters = words[33:37], (words[37:39], words[39:41])
    before = case.registers
    start = 0x20 if case.does == "fetches" else addresses[case.does]
    kept, upcall = tuple(range(32)), [case.pending, *case.arguments]
    values = dict[int, int]()  # of registers whose value the interface defines
    read = dict[str, int]()  # the value of each counter that the call returned
    ends = (CAUSES.get(case.does, CALL), start)
    class_, variant = before[A4], before[A0]
    if case.does in CALLS and class_ == COMMAND:
        kept = tuple(n for n in range(32) if n not in RESULTS)
        ends = (CAUSES["breaks"], start + 4)
        if before[A0] != PERF:
            values = {A0: FAILURE, A1: NODEVICE}
        elif before[A1] == BOTH:
            values = {A0: SUCCESS_U32_U32}
            read = {"mcycle": after[A1], "minstret": after[A2]}
        elif before[A1] == UPCALL:
            values = {A0: SUCCESS}
            read = {"mcycle": waiting[1], "minstret": waiting[2]}
            upcall = [waiting[0] or 1, *waiting[1:3], before[A2]]
        else:
            values = {A0: FAILURE, A1: NOSUPPORT}
    elif case.does in CALLS and class_ == YIELD:
        kept = KEPT
        if variant == YIELD_WAIT and case.pending:
            ends = (CAUSES["breaks"], addresses["upcalled"])
            values = dict(zip(RESULTS, (*case.arguments, case.userdata), strict=True))
            values[1] = start + 4
            upcall = [0, *case.arguments]
        else:
            values = {n: before[n] for n in RESULTS}
    if (cause, pc) != ends:
        yield f"mcause {cause} at {pc:#x}, not {ends[0]} at {ends[1]:#x}"
    changed = [n for n in kept if after[n] != before[n]]
    if changed:
        yield f"changed {', '.join(f'x{n}' for n in changed)}"
    for n, value in values.items():
        if after[n] != value:
            yield f"x{n} is {after[n]:#x}, not {value:#x}"
    if waiting != upcall:
        yield f"the waiting upcall is {waiting}, not {upcall}"
    for (name, value), (first, last) in zip(read.items(), counters, strict=False):
        if not 0 < (value - first) % WORD < (last - first) % WORD:
            yield f"{name} is {value}, not between {first} and {last}"


def _named(registers: Sequence[int]) -> str:
    return ", ".join(f"a{n - A0} {registers[n]:#x}" for n in (A0, A1, A4))
