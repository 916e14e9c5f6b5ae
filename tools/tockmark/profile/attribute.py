# SPDX-License-Identifier: Apache-2.0 OR MIT
"""This says where each cycle of a sample goes: to an instruction and a cause, and so to a function,
a phase of the system call and a stack. Nothing is estimated, and nothing is lost: the charges of a
sample add up to it. docs/profiling.md says what the phases mean.

An instruction is charged the cycle in which it leaves the decode stage, and what it waited for
before. Two waits are charged to the instruction before it, which caused them: for a load or store
in flight, and for the refill after a jump, a branch or a return from a trap.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import takewhile
from typing import Literal, get_args

from tockmark.profile.symbols import Frame
from tockmark.profile.trace import MRET, Sample, Step, calls

APP = "app"
ENTRY = "trap entry"
KERNEL = "kernel"
CAPSULE = "capsule"
SCHEDULER = "scheduler"
PMP = "PMP"
RETURN = "return"
PHASES = (APP, ENTRY, KERNEL, CAPSULE, SCHEDULER, PMP, RETURN)

# One table for the baseline kernel and for Tock. The first rule that fits decides: (phase, the
# function's name, its source file). Assembly has symbols but no file.
_RULES = tuple(
    (phase, re.compile(name), re.compile(file))
    for phase, name, file in (
        # the baseline kernel: kernel/src/arch/riscv/trap.S
        (ENTRY, r"^(trap_vector|exception|interrupt|fault)$", r"^$"),
        (RETURN, r"^(resume|restore|switch|enter|enter_user)$", r"^$"),
        # Tock: arch/rv32i and the chip's start-up code. What switch_to_process does after a trap
        # stands in one function with what it does before, so all of it counts as the return.
        (ENTRY, r"_start_trap|_start_app_trap|_return_to_kernel", r""),
        (RETURN, r"switch_to_process", r""),
        # both
        (PMP, r"", r"(^|/)e?pmp\.rs$"),
        (PMP, r"^(configure_mpu|setup_mpu|enable_app_mpu|protect)$", r""),
        (SCHEDULER, r"", r"/scheduler(/|\.rs$)"),
        (SCHEDULER, r"^(schedule|watch_slice)$", r"(^|/)kernel/src/kernel\.rs$"),
        (CAPSULE, r"", r"(^|/)capsules/|(^|/)kernel/src/drivers/"),
    )
)
# Pieces of code that several functions had in common, put apart by the compiler to save flash.
OUTLINED = re.compile(r"^OUTLINED_FUNCTION_")
# What these call counts as theirs where no rule knows it: a helper that writes a CSR belongs to
# the PMP that it configures. What the others call is the kernel proper.
_OF_CALLERS = (CAPSULE, SCHEDULER, PMP)

Cause = Literal["execute", "fetch", "load/store", "branch", "mul/div", "trap/CSR"]
CAUSES: tuple[Cause, ...] = get_args(Cause)
EXECUTE, FETCH, MEMORY, BRANCH, MULTIPLY, TRAP = CAUSES
SYSTEM = 0x73  # opcode of ecall, mret and the CSR instructions

_KINDS: dict[str, tuple[bool, Cause]] = {  # of waits: whether the instruction before is charged
    "f": (False, FETCH),
    "w": (True, MEMORY),
    "m": (False, MEMORY),
    "x": (False, MULTIPLY),
    "b": (False, BRANCH),
    "o": (False, TRAP),
}

Stack = tuple[Frame, ...]
Where = Callable[[Step], Stack]
Wait = tuple[bool, Cause, int]  # charged to the instruction before; cause; cycles


@dataclass(frozen=True, slots=True)
class Place:
    """What an instruction of the run was part of."""

    stack: Stack  # callers first
    phase: str
    in_body: bool  # under the benchmark's body, not in the readings


@dataclass(frozen=True, slots=True)
class Spent:
    """An instruction of a sample, and the cycles that it is charged, by cause."""

    step: Step
    place: Place
    charges: list[tuple[Cause, int]]

    @property
    def cycles(self) -> int:
        return sum(cycles for _, cycles in self.charges)


@dataclass(frozen=True, slots=True)
class _Site:
    """An instruction that called, or that a trap interrupted."""

    step: Step
    trap: bool


def attributed(sample: Sample, where: Where) -> list[Spent]:
    """Return the instructions of a sample with all of its cycles; `where` tells the functions that
    an instruction is in."""
    inside = slice(sample.first + 1, sample.last + 1)
    charges = charged(sample.steps[inside], sample.steps[sample.first])
    found = [
        Spent(step, place, own)
        for (step, own), place in zip(charges, places(sample.steps, where)[inside], strict=True)
    ]
    assert sum(one.cycles for one in found) == sample.cycles
    return found


def charged(
    steps: Iterable[Step], before: Step | None = None
) -> Iterator[tuple[Step, list[tuple[Cause, int]]]]:
    """Yield each instruction with the cycles that it is charged. At the first one nobody is there
    to be charged for its waits but itself; `before` tells what they are."""
    last, held = before, None
    for step in steps:
        own: list[tuple[Cause, int]] = [(EXECUTE, 1 if last else step.cycles)]
        for to_last, cause, cycles in _waits(last, step) if last else ():
            if cycles:
                (held if to_last and held else own).append((cause, cycles))
        if last and held:
            yield last, held
        last, held = step, own
    if last and held:
        yield last, held


def _waits(last: Step, step: Step) -> Iterator[Wait]:
    left = dict(step.waits)
    to_last, cause = True, BRANCH
    if step.handler:  # a trap: the flush and the first cycle of the fetch
        to_last, cause = False, TRAP
    elif last.opcode == SYSTEM and "o" in left:  # mret, or a CSR write that flushes
        cause = TRAP
    if cause == TRAP or step.pc != last.pc + last.size:
        # These cycles a redirection costs even where the next instruction is at hand.
        fetch = min(left.get("f", 0), 1)
        yield to_last, cause, left.pop("o", 0) + fetch
        left["f"] = left.get("f", 0) - fetch
    for kind, (to_last, cause) in _KINDS.items():
        yield to_last, cause, left.get(kind, 0)


def places(steps: list[Step], where: Where) -> list[Place]:
    """Follow calls, returns and traps through a run of tm_sample."""
    sites: list[_Site] = []
    found: list[Place] = []
    for step, after in zip(steps, [*steps[1:], None], strict=True):
        frames = where(step)
        stack = [frame for site in sites for frame in where(site.step)]
        in_body = bool(sites) and not sites[0].trap
        # What a trap interrupted is no caller of what handles it.
        callers = takewhile(lambda site: not site.trap, reversed(sites))
        phase = phase_of(frames, step.user, (where(site.step) for site in callers))
        found.append(Place((*stack, *frames), phase, in_body))
        if after is not None:
            _follow(sites, step, after)
    return found


def _follow(sites: list[_Site], step: Step, after: Step) -> None:
    if after.handler:
        sites.append(_Site(step, trap=True))
    elif step.insn == MRET:
        # One that does not go back to where a trap came from is a jump: Tock's way to its loop.
        depths = [i for i, s in enumerate(sites) if s.trap and s.step.user == after.user]
        del sites[depths[-1] if depths else len(sites) :]
    elif calls(step):
        sites.append(_Site(step, trap=False))
    elif after.pc != step.pc + step.size:
        for depth, site in reversed([*enumerate(sites)]):
            if site.trap:
                return
            if after.pc == site.step.pc + site.step.size:
                del sites[depth:]
                return


def phase_of(frames: Stack, user: bool, callers: Iterable[Stack]) -> str:
    """Return the phase of code in these functions, which those of `callers` called, the nearest
    first: the innermost that a rule knows decides."""
    if user:
        return APP
    if own := _known(frames):
        return own
    nearest = next(filter(None, map(_known, callers)), None)
    return nearest if nearest in _OF_CALLERS else KERNEL


@cache
def _known(frames: Stack) -> str | None:
    # Line tables say of a piece that the compiler outlined where one of its callers is from.
    if any(OUTLINED.search(frame.name) for frame in frames):
        return None
    for frame in reversed(frames):
        for phase, name, file in _RULES:
            if name.search(frame.name) and file.search(frame.file):
                return phase
    return None
