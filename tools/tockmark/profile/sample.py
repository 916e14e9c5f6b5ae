# SPDX-License-Identifier: Apache-2.0 OR MIT
"""This finds the samples in the simulator's instruction trace (--itrace), and says where each of
their cycles goes: to an instruction and a cause, and so to a function, a phase of the system call
and a stack.

A sample is what an app reports: the difference of two readings of mcycle, which the kernel makes
with a `csrr` each. The sample is every cycle of the core after the first of them, up to and with
the second. Where both stand:

- tm_sample (apps/asm/sample.S) has two ecalls; behind the first it copies the reading to s4, behind
  the second it puts the difference there. So the two `csrr mcycle` are those that read just these.
- A row that begins and ends at different places, such as IPC between two apps, tells differences
  alone. Its samples are taken alike, so that from one to the next there are as many readings: the
  ones that give all of the row's samples in their order are its own.

Nothing is estimated, and nothing is lost: the charges of a sample add up to it. An instruction is
charged the cycle in which it leaves the decode stage, and what it waited for before. Two waits are
charged to the instruction before it, which caused them: for a load or store in flight, and for the
refill after a jump, a branch or a return from a trap. docs/profiling.md says what the phases mean.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import takewhile
from typing import Literal, get_args

from tockmark.base.errors import TockmarkError
from tockmark.profile.symbols import Frame, Program
from tockmark.target.rv32 import ECALL, MRET, SYSTEM, Instruction, Kind, decode
from tockmark.target.rv32 import steps as steps_of

HEADING = "#    cycle     mcycle m pc       insn     cyc waits    effects"
MODE, PC = 22, slice(24, 32)  # where the mode and the address stand in a line
INSN = slice(33, 41)
FILLS = "fills="  # an effect of an instruction
S4 = 20
WORD = 1 << 32
_WAIT = re.compile(r"([a-z])(\d+)")  # of `f2w1`
MCYCLE = (0xB00, 0xC00)  # the CSR, and its alias in user mode
_READ = re.compile(r"[bc]0002")  # how a csrr of these begins, written as hexadecimal digits
MOST_READINGS = 64  # from one sample to the next


@dataclass(frozen=True, slots=True)
class Step:
    """One retired instruction."""

    mcycle: int  # the core's counter when it left the decode stage
    user: bool
    pc: int
    insn: int
    cycles: int  # since the instruction before it left
    waits: tuple[tuple[str, int], ...]  # what all but one of them went to (model/retirement.cc)
    trap: bool = False
    handler: bool = False
    rd: int = 0
    value: int = 0
    fills: int = 0  # lines that the instruction cache took in during its cycles

    @property
    def instruction(self) -> Instruction:
        return decode(self.insn)

    @property
    def size(self) -> int:
        return self.instruction.size

    @property
    def trapped(self) -> bool:
        """Whether it ended in an exception, such as a system call: it did not retire."""
        return self.trap or self.insn == ECALL

    def reads_mcycle(self) -> bool:
        insn = self.instruction
        return insn.kind == Kind.CSR and insn.imm in MCYCLE and not insn.writes_csr


def parse(line: str) -> Step:
    """Read one line."""
    _, mcycle, mode, pc, insn, cycles, waits, *effects = line.split()
    written = [effect[1:].split("=") for effect in effects if effect.startswith("x")]
    rd, value = written[-1] if written else ("0", "0")
    filled = next((effect for effect in effects if effect.startswith(FILLS)), FILLS + "0")
    return Step(
        mcycle=int(mcycle),
        user=mode == "U",
        pc=int(pc, 16),
        insn=int(insn, 16),
        cycles=int(cycles),
        waits=tuple((kind, int(count)) for kind, count in _WAIT.findall(waits)),
        trap="trap" in effects,
        handler="handler" in effects,
        rd=int(rd),
        value=int(value, 16),
        fills=int(filled.removeprefix(FILLS)),
    )


@dataclass(frozen=True)
class Sample:
    """One sample in its surroundings: its steps are those after `first`, up to `last`."""

    steps: list[Step]
    first: int
    last: int
    cycles: int  # as the app computed them
    body: range | None = None  # the steps of the body; None: those that tm_sample calls

    def __post_init__(self) -> None:
        spent = sum(step.cycles for step in self.steps[self.first + 1 : self.last + 1])
        counted = self.steps[self.last].mcycle - self.steps[self.first].mcycle
        if not spent == counted == self.cycles:
            raise TockmarkError(
                f"the trace does not add up: {spent} cycles of instructions, {counted} of mcycle,"
                f" {self.cycles} in the app"
            )


@dataclass(frozen=True)
class Sampler:
    """Where tm_sample is in an app, and the samples that it takes in a trace."""

    start: int
    ecalls: tuple[int, int]

    @staticmethod
    def in_app(app: Program) -> "Sampler":
        """Find it by its symbol, and its two calls by their code."""
        start, size = app.symbol("tm_sample")
        code = steps_of(app.bytes_at(start, size), start)
        ecalls = [at for at, insn, _ in code if insn.kind == Kind.CALL_KERNEL]
        if len(ecalls) != 2:
            raise TockmarkError("tm_sample in the app is not the one of apps/asm/sample.S")
        return Sampler(start, (ecalls[0], ecalls[1]))

    def windows(self, lines: Iterable[str]) -> Iterator[list[str]]:
        """Yield the lines of each run of tm_sample, from its start to the difference."""
        start, end = f"{self.start:08x}", f"{self.ecalls[1] + 4:08x}"
        window: list[str] | None = None
        for line in lines:
            pc = line[PC]
            if pc == start:
                window = []
            if window is not None:
                window.append(line)
                if pc == end:
                    yield window
                    window = None

    def sample(self, window: list[str]) -> Sample:
        """Find the two readings in a run of tm_sample."""
        steps = [parse(line) for line in window]
        difference = steps[-1].value
        between = range(self.ecalls[0] + 4, self.ecalls[1])
        copied = [i for i, step in enumerate(steps) if step.pc in between and step.rd == S4]
        if not copied or steps[-1].rd != S4:
            raise TockmarkError("tm_sample in the trace is not the one of apps/asm/sample.S")
        reading = steps[copied[0]].value
        first = _reading(steps[: copied[0]], reading)
        last = _reading(steps, (reading + difference) % WORD)
        return Sample(steps, first, last, difference)


def mcycle_read(line: str) -> int | None:
    """Return what a line reads from mcycle; None if it does not."""
    if not _READ.match(line, INSN.start):
        return None
    step = parse(line)
    return step.value if step.reads_mcycle() else None


def sample_readings(readings: Sequence[int], taken: Sequence[int]) -> list[tuple[int, int]]:
    """Return between which two of all readings each sample of a row lies: of each the same ones,
    so many readings after those of the one before. Of several such series the last is returned.
    TockmarkError if there is none."""

    def fits(start: int, span: int, cycles: int) -> bool:
        end = start + span
        return end < len(readings) and (readings[end] - readings[start]) % WORD == cycles

    for start in reversed(range(len(readings) - 1)):
        for span in range(1, MOST_READINGS):
            if not fits(start, span, taken[0]):
                continue
            for stride in range(span, MOST_READINGS):
                starts = range(start, start + stride * len(taken), stride)
                if all(fits(at, span, cycles) for at, cycles in zip(starts, taken, strict=True)):
                    return [(at, at + span) for at in starts]
    raise TockmarkError("the trace has no readings that give the row's samples", "report this")


def sample_between(lines: Iterable[str], first: int, last: int, cycles: int) -> Sample:
    """Return the sample between two readings, by their number in the trace, from the call of the
    first one on. Its body is what runs between the return of the first and the call of the last."""
    held: list[str] | None = None
    number, at = -1, 0
    for line in lines:
        if number < first and line[MODE] == "U" and int(line[INSN], 16) == ECALL:
            held = []
        if held is not None:
            held.append(line)
        if mcycle_read(line) is not None:
            number += 1
            if held is not None and number == first:
                at = len(held) - 1
            if number == last:
                break
    steps = [*map(parse, held or ())]
    returned = next((i for i, s in enumerate(steps) if i > at and s.insn == MRET), at)
    asked = next((i for i in reversed(range(len(steps))) if steps[i].insn == ECALL), at)
    return Sample(steps, at, len(steps) - 1, cycles, range(returned + 1, asked))


def _reading(steps: list[Step], value: int) -> int:
    found = [i for i, s in enumerate(steps) if s.reads_mcycle() and s.value == value]
    if not found:
        raise TockmarkError(
            f"no instruction read {value} from mcycle, though the app got it",
            "the kernel must hand out what it reads from mcycle",
        )
    return found[-1]


# Where the cycles go.


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
PMP_CSRS = range(0x3A0, 0x3F0)  # pmpcfg0 to pmpaddr63

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
Owner = Callable[[Step], int]  # whose stack an instruction is of: an app's number, or the kernel's
Wait = tuple[bool, Cause, int]  # charged to the instruction before; cause; cycles


def writes_pmp(word: int) -> bool:
    """Return whether an instruction writes a register of the PMP."""
    insn = decode(word)
    return insn.writes_csr and insn.imm in PMP_CSRS


@dataclass(frozen=True, slots=True)
class CodeContext:
    """What an instruction of the run was part of."""

    stack: Stack  # callers first
    phase: str
    in_body: bool  # under the benchmark's body, not in the readings


@dataclass(frozen=True, slots=True)
class ChargedStep:
    """An instruction of a sample, and the cycles that it is charged, by cause."""

    step: Step
    place: CodeContext
    charges: list[tuple[Cause, int]]

    @property
    def cycles(self) -> int:
        return sum(cycles for _, cycles in self.charges)


@dataclass(frozen=True, slots=True)
class _Site:
    """An instruction that called, or that a trap interrupted."""

    step: Step
    trap: bool


def single_app_owner(step: Step) -> int:
    """Tell an app, where it is alone, from the kernel."""
    return 0 if step.user else -1


def attribute_cycles(
    sample: Sample, where: Where, owner: Owner = single_app_owner
) -> list[ChargedStep]:
    """Return the instructions of a sample with all of its cycles; `where` tells the functions that
    an instruction is in, `owner` whose stack it is of."""
    inside = slice(sample.first + 1, sample.last + 1)
    charges = charge_cycles(sample.steps[inside], sample.steps[sample.first])
    there = find_contexts(sample.steps, where, owner, sample.body)[inside]
    found = [
        ChargedStep(step, place, own) for (step, own), place in zip(charges, there, strict=True)
    ]
    assert sum(one.cycles for one in found) == sample.cycles
    return found


def charge_cycles(
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
    elif last.instruction.kind in SYSTEM and "o" in left:  # mret, or a CSR write that flushes
        cause = TRAP
    if cause == TRAP or step.pc != last.pc + last.size:
        # These cycles a redirection costs even where the next instruction is at hand.
        fetch = min(left.get("f", 0), 1)
        yield to_last, cause, left.pop("o", 0) + fetch
        left["f"] = left.get("f", 0) - fetch
    for kind, (to_last, cause) in _KINDS.items():
        yield to_last, cause, left.get(kind, 0)


def find_contexts(
    steps: list[Step], where: Where, owner: Owner = single_app_owner, body: range | None = None
) -> list[CodeContext]:
    """Follow calls, returns and traps through a sample; each app has a stack of its own."""
    sites: list[_Site] = []
    app = next((owner(step) for step in steps if step.user), 0)  # whose stack that is
    away: dict[int, list[_Site]] = {}  # the others'
    found: list[CodeContext] = []
    for at, (step, after) in enumerate(zip(steps, [*steps[1:], None], strict=True)):
        frames = where(step)
        stack = [frame for site in sites for frame in where(site.step)]
        in_body = at in body if body is not None else bool(sites) and not sites[0].trap
        # What a trap interrupted is no caller of what handles it.
        callers = takewhile(lambda site: not site.trap, reversed(sites))
        phase = phase_of(frames, step.user, (where(site.step) for site in callers))
        found.append(CodeContext((*stack, *frames), phase, in_body))
        if after is not None:
            _follow(sites, step, after)
            if after.user and owner(after) != app:
                away[app], app = sites, owner(after)
                sites = away.pop(app, [])
    return found


def _follow(sites: list[_Site], step: Step, after: Step) -> None:
    if after.handler:
        sites.append(_Site(step, trap=True))
    elif step.insn == MRET:
        # One that does not go back to where a trap came from is a jump: Tock's way to its loop.
        depths = [i for i, s in enumerate(sites) if s.trap and s.step.user == after.user]
        del sites[depths[-1] if depths else len(sites) :]
    elif step.instruction.calls:
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
