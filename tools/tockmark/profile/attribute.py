# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Which phase of a system call a function belongs to: one table, for the baseline kernel and for
Tock. docs/profiling.md says what the phases mean.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import takewhile

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

# The first rule that fits decides: (phase, the function's name, its source file). Assembly has
# symbols but no file.
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


def phase_of(frames: tuple[Frame, ...], user: bool, callers: Iterable[tuple[Frame, ...]]) -> str:
    """The phase of code in these functions, which those of `callers` called, the nearest first:
    the innermost that a rule knows decides."""
    if user:
        return APP
    own = _known(frames)
    if own is not None:
        return own
    nearest = next(filter(None, map(_known, callers)), None)
    return nearest if nearest in _OF_CALLERS else KERNEL


@cache
def _known(frames: tuple[Frame, ...]) -> str | None:
    # Line tables say of a piece that the compiler outlined where one of its callers is from.
    if any(OUTLINED.search(frame.name) for frame in frames):
        return None
    for frame in reversed(frames):
        for phase, name, file in _RULES:
            if name.search(frame.name) and file.search(frame.file):
                return phase
    return None


# Where each cycle of a sample goes: to an instruction and a cause, and so to a function, a phase
# and a stack. Nothing is estimated, and nothing is lost: the charges of a sample add up to it.
#
# An instruction is charged the cycle in which it leaves the decode stage, and what it waited for
# before. Two waits are charged to the instruction before it, which caused them: for a load or store
# in flight, and for the refill after a jump, a branch or a return from a trap.


EXECUTE = "execute"
FETCH = "fetch"
MEMORY = "load/store"
BRANCH = "branch"
MULTIPLY = "mul/div"
TRAP = "trap/CSR"
CAUSES = (EXECUTE, FETCH, MEMORY, BRANCH, MULTIPLY, TRAP)

SYSTEM = 0x73  # opcode of ecall, mret and the CSR instructions

Where = Callable[[Step], tuple[Frame, ...]]
Stack = tuple[Frame, ...]


@dataclass(frozen=True, slots=True)
class Charge:
    """Cycles of one cause, at one instruction."""

    step: int  # its number in the run of tm_sample
    cause: str
    cycles: int


def charges(sample: Sample) -> list[Charge]:
    """All cycles of the sample."""
    found: list[Charge] = []
    for i in range(sample.first + 1, sample.last + 1):
        # At the first instruction there is nobody before it in the sample.
        before = i - 1 if i - 1 > sample.first else i
        found.append(Charge(i, EXECUTE, 1))
        for to_last, cause, cycles in _waits(sample.steps[i - 1], sample.steps[i]):
            found.append(Charge(before if to_last else i, cause, cycles))
    return found


def charged(steps: Iterable[Step]) -> Iterator[tuple[Step, int]]:
    """Each instruction with the cycles that it is charged, all causes together: those of a whole
    trace, one after the other."""
    last: Step | None = None
    cycles = 0
    for step in steps:
        own = step.cycles
        if last is not None:
            moved = sum(waited for to_last, _, waited in _waits(last, step) if to_last)
            own -= moved
            yield last, cycles + moved
        last, cycles = step, own
    if last is not None:
        yield last, cycles


Wait = tuple[bool, str, int]  # charged to the instruction before; cause; cycles


def _waits(last: Step, step: Step) -> Iterator[Wait]:
    left = dict(step.waits)
    if step.handler:  # a trap: the flush and the first cycle of the fetch
        yield from _refill(left, False, TRAP)
    elif last.opcode == SYSTEM and "o" in left:  # mret, or a CSR write that flushes
        yield from _refill(left, True, TRAP)
    elif step.pc != last.pc + last.size:
        yield from _refill(left, True, BRANCH)
    for kind, to_last, cause in (
        ("f", False, FETCH),
        ("w", True, MEMORY),
        ("m", False, MEMORY),
        ("x", False, MULTIPLY),
        ("b", False, BRANCH),
        ("o", False, TRAP),
    ):
        if left.get(kind):
            yield to_last, cause, left[kind]


def _refill(left: dict[str, int], to_last: bool, cause: str) -> Iterator[Wait]:
    """Take out the cycles that a redirection costs even where the next instruction is at hand."""
    cycles = left.pop("o", 0)
    if left.get("f"):
        left["f"] -= 1
        cycles += 1
    if cycles:
        yield to_last, cause, cycles


@dataclass(frozen=True, slots=True)
class Place:
    """What an instruction of the run was part of."""

    stack: Stack  # callers first
    phase: str
    in_body: bool  # under the benchmark's body, not in the readings


@dataclass(frozen=True, slots=True)
class _Site:
    """An instruction that called, or that a trap interrupted."""

    step: Step
    trap: bool


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
        for depth in range(len(sites) - 1, -1, -1):
            site = sites[depth]
            if site.trap:
                return
            if after.pc == site.step.pc + site.step.size:
                del sites[depth:]
                return


@dataclass
class ProfileLine:
    """One line of a table: what its cycles went to."""

    causes: Counter[str]
    instructions: int = 0
    in_body: int = 0

    @property
    def cycles(self) -> int:
        return self.causes.total()


@dataclass(frozen=True)
class Profile:
    """A whole sample."""

    sample: Sample
    charges: list[Charge]
    places: list[Place]

    @property
    def instructions(self) -> int:
        """How many minstret counted: an instruction that traps does not retire."""
        steps = range(self.sample.first + 1, self.sample.last + 1)
        return sum(not self.traps(step) for step in steps)

    def traps(self, step: int) -> bool:
        return self.sample.steps[step].trapped

    def by(self, key: Callable[[Place], str]) -> dict[str, ProfileLine]:
        """The cycles by phase or function, in the order of their first appearance."""
        lines: dict[str, ProfileLine] = {}
        for charge in self.charges:
            place = self.places[charge.step]
            line = lines.setdefault(key(place), ProfileLine(Counter()))
            line.causes[charge.cause] += charge.cycles
            line.instructions += charge.cause == EXECUTE and not self.traps(charge.step)
            line.in_body += charge.cycles if place.in_body else 0
        return lines

    def stacks(self) -> dict[Stack, int]:
        """The cycles by stack, in the order of their first appearance."""
        found: dict[Stack, int] = {}
        for charge in sorted(self.charges, key=lambda charge: charge.step):
            stack = self.places[charge.step].stack
            found[stack] = found.get(stack, 0) + charge.cycles
        return found


def profile(sample: Sample, where: Where) -> Profile:
    """Attribute a sample."""
    made = Profile(sample, charges(sample), places(sample.steps, where))
    assert sum(charge.cycles for charge in made.charges) == sample.cycles
    return made


def folded(stacks: dict[Stack, int]) -> str:
    """Stacks as flamegraph.pl and its relatives read them: `a;b;c 12`."""
    return "".join(
        f"{';'.join(frame.name.replace(';', ':') for frame in stack)} {cycles}\n"
        for stack, cycles in stacks.items()
    )
