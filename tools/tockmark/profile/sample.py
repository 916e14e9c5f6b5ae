# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Find the samples in the simulator's instruction trace (--itrace), and charge each of their cycles
to an instruction and a cause. The instruction's stack then gives the function and the phase.

A sample is the difference of two values of mcycle, each read with a `csrr`. It covers every cycle
of the core after the first read, up to and including the second. The two reads are found in one of
two ways:

- tm_sample (apps/asm/sample.S) has two ecalls. After the first it copies the value to s4, after the
  second it writes the difference to s4. The two `csrr mcycle` read these values.
- A row that begins and ends at different positions, such as IPC between two apps, reports only
  differences. All its samples take the same path, so the number of reads from one to the next is
  constant. The reads whose differences are the samples of the row, in order, are its own.

The cycles in a sample must add up to the app's figure, or it is refused. A run of tm_sample that
the trace cuts off is skipped. An instruction is charged its cycle in the decode stage, and its
waits before that. Two waits are charged to the previous instruction, which caused them: a load or
store in flight, and the refill after a jump, a branch or a return from a trap. docs/profiling.md
explains the phases.
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
MODE, PC = 22, slice(24, 32)  # columns of the mode and the address in a line
INSN = slice(33, 41)
FILLS = "fills="  # an effect of an instruction
S4 = 20
WORD = 1 << 32
_WAIT = re.compile(r"([a-z])(\d+)")  # of `f2w1`
MCYCLE = (0xB00, 0xC00)  # the CSR, and its alias in user mode
_READ = re.compile(r"[bc]0002")  # the first hexadecimal digits of a csrr of MCYCLE
MOST_READS = 64  # at most this many reads from one sample to the next


@dataclass(frozen=True, slots=True)
class Step:
    """A retired instruction."""

    mcycle: int  # when it left the decode stage
    user: bool
    pc: int
    insn: int
    cycles: int  # since the previous instruction left the decode stage
    waits: tuple[tuple[str, int], ...]  # causes of all but one cycle (model/retirement.cc)
    trap: bool = False
    handler: bool = False
    rd: int = 0
    value: int = 0
    fills: int = 0  # lines filled in the instruction cache during its cycles

    @property
    def instruction(self) -> Instruction:
        return decode(self.insn)

    @property
    def size(self) -> int:
        return self.instruction.size

    @property
    def trapped(self) -> bool:
        """Whether it ended in an exception, such as a system call, and did not retire."""
        return self.trap or self.insn == ECALL

    def reads_mcycle(self) -> bool:
        insn = self.instruction
        return insn.kind == Kind.CSR and insn.imm in MCYCLE and not insn.writes_csr


def parse(line: str) -> Step:
    """Parse a line of the trace."""
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
    """A sample and its surroundings. Its steps are those after index `first`, up to and including
    `last`."""

    steps: list[Step]
    first: int
    last: int
    cycles: int  # as computed by the app
    body: range | None = None  # the steps of the body; None: the calls of tm_sample

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
    """The position of tm_sample in an app, to find its samples in a trace."""

    start: int
    ecalls: tuple[int, int]

    @staticmethod
    def in_app(app: Program) -> "Sampler":
        """Find tm_sample by its symbol and its two ecalls by their code. Raise TockmarkError if
        there are not two."""
        start, size = app.symbol("tm_sample")
        code = steps_of(app.bytes_at(start, size), start)
        ecalls = [at for at, insn, _ in code if insn.kind == Kind.CALL_KERNEL]
        if len(ecalls) != 2:
            raise TockmarkError("tm_sample in the app is not that of apps/asm/sample.S")
        return Sampler(start, (ecalls[0], ecalls[1]))

    def windows(self, lines: Iterable[str]) -> Iterator[list[str]]:
        """Yield the lines of each complete run of tm_sample, from its start to the difference."""
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
        """Find the two reads of mcycle in a run of tm_sample."""
        steps = [parse(line) for line in window]
        difference = steps[-1].value
        between = range(self.ecalls[0] + 4, self.ecalls[1])
        copied = [i for i, step in enumerate(steps) if step.pc in between and step.rd == S4]
        if not copied or steps[-1].rd != S4:
            raise TockmarkError("tm_sample in the trace is not that of apps/asm/sample.S")
        begin = steps[copied[0]].value
        first = _find_read(steps[: copied[0]], begin)
        last = _find_read(steps, (begin + difference) % WORD)
        return Sample(steps, first, last, difference)


def mcycle_read(line: str) -> int | None:
    """Return the value that an instruction reads from mcycle; None if it reads something else."""
    if not _READ.match(line, INSN.start):
        return None
    step = parse(line)
    return step.value if step.reads_mcycle() else None


def pair_reads(reads: Sequence[int], samples: Sequence[int]) -> list[tuple[int, int]]:
    """Return the first and last read of each sample of a row, as indices into `reads`.

    The distance within a sample and that to the next sample are the same for all samples. If
    several such series exist, return the last. Raise TockmarkError if none exists."""

    def fits(start: int, span: int, cycles: int) -> bool:
        end = start + span
        return end < len(reads) and (reads[end] - reads[start]) % WORD == cycles

    for start in reversed(range(len(reads) - 1)):
        for span in range(1, MOST_READS):
            if not fits(start, span, samples[0]):
                continue
            for stride in range(span, MOST_READS):
                starts = range(start, start + stride * len(samples), stride)
                if all(fits(at, span, cycles) for at, cycles in zip(starts, samples, strict=True)):
                    return [(at, at + span) for at in starts]
    raise TockmarkError("no reads of mcycle in the trace give the row's samples", "report this")


def sample_between(lines: Iterable[str], first: int, last: int, cycles: int) -> Sample:
    """Return the sample between two reads of mcycle, given by their number in the trace.

    Its steps begin with the ecall of the first read. Its body runs from the return of the first
    ecall to the second one."""
    window: list[str] | None = None
    number, at = -1, 0
    for line in lines:
        if number < first and line[MODE] == "U" and int(line[INSN], 16) == ECALL:
            window = []
        if window is not None:
            window.append(line)
        if mcycle_read(line) is not None:
            number += 1
            if window is not None and number == first:
                at = len(window) - 1
            if number == last:
                break
    steps = [*map(parse, window or ())]
    body_start = next((i for i, s in enumerate(steps) if i > at and s.insn == MRET), at)
    body_end = next((i for i in reversed(range(len(steps))) if steps[i].insn == ECALL), at)
    return Sample(steps, at, len(steps) - 1, cycles, range(body_start + 1, body_end))


def _find_read(steps: list[Step], value: int) -> int:
    reads = [i for i, s in enumerate(steps) if s.reads_mcycle() and s.value == value]
    if not reads:
        raise TockmarkError(
            f"no instruction read {value} from mcycle, but the app got this value",
            "the kernel must return the value that it reads from mcycle",
        )
    return reads[-1]


APP = "app"
ENTRY = "trap entry"
KERNEL = "kernel"
CAPSULE = "capsule"
SCHEDULER = "scheduler"
PMP = "PMP"
RETURN = "return"
PHASES = (APP, ENTRY, KERNEL, CAPSULE, SCHEDULER, PMP, RETURN)

# Rules for the baseline kernel and for Tock; the first match decides: (phase, the function's name,
# its source file). Assembly has symbols but no file.
_RULES = tuple(
    (phase, re.compile(name), re.compile(file))
    for phase, name, file in (
        # the baseline kernel: kernel/src/arch/riscv/trap.S
        (ENTRY, r"^(trap_vector|exception|interrupt|fault)$", r"^$"),
        (RETURN, r"^(resume|restore|switch|enter|enter_user)$", r"^$"),
        # Tock: arch/rv32i and the chip's start-up code. switch_to_process has the code before and
        # after the app in one function; all of it counts as the return.
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
# Code common to several functions, outlined by the compiler to save flash.
OUTLINED = re.compile(r"^OUTLINED_FUNCTION_")
# Functions without a rule take the phase of their nearest caller with a rule if it is one of these:
# a helper that writes a CSR belongs to the PMP. All others belong to the kernel.
_INHERITED_PHASES = (CAPSULE, SCHEDULER, PMP)

Cause = Literal["execute", "fetch", "load/store", "branch", "mul/div", "trap/CSR"]
CAUSES: tuple[Cause, ...] = get_args(Cause)
EXECUTE, FETCH, MEMORY, BRANCH, MULTIPLY, TRAP = CAUSES
PMP_CSRS = range(0x3A0, 0x3F0)  # pmpcfg0 to pmpaddr63

# By wait: whether it is charged to the previous instruction, and its cause.
_KINDS: dict[str, tuple[bool, Cause]] = {
    "f": (False, FETCH),
    "w": (True, MEMORY),
    "m": (False, MEMORY),
    "x": (False, MULTIPLY),
    "b": (False, BRANCH),
    "o": (False, TRAP),
}

Stack = tuple[Frame, ...]
Where = Callable[[Step], Stack]
Owner = Callable[[Step], int]  # the owner of the stack: an app's number, or the kernel's
Wait = tuple[bool, Cause, int]  # whether charged to the previous instruction; cause; cycles


def writes_pmp(word: int) -> bool:
    """Return whether an instruction writes a PMP register."""
    insn = decode(word)
    return insn.writes_csr and insn.imm in PMP_CSRS


@dataclass(frozen=True, slots=True)
class CodeContext:
    """The stack, phase and part of the sample of an instruction."""

    stack: Stack  # callers first
    phase: str
    in_body: bool  # in the benchmark's body, not in a counter read


@dataclass(frozen=True, slots=True)
class ChargedStep:
    """An instruction of a sample and the cycles that it is charged, by cause."""

    step: Step
    context: CodeContext
    charges: list[tuple[Cause, int]]

    @property
    def cycles(self) -> int:
        return sum(cycles for _, cycles in self.charges)


@dataclass(frozen=True, slots=True)
class _Site:
    """An instruction that called, or that a trap interrupted."""

    step: Step
    trap: bool


def attribute_cycles(sample: Sample, where: Where, owner: Owner) -> list[ChargedStep]:
    """Return the instructions of a sample, charged with all its cycles. `where` returns the
    functions of an instruction, `owner` the owner of its stack."""
    inside = slice(sample.first + 1, sample.last + 1)
    charges = charge_cycles(sample.steps[inside], sample.steps[sample.first])
    contexts = find_contexts(sample.steps, where, owner, sample.body)[inside]
    both = zip(charges, contexts, strict=True)
    charged_steps = [ChargedStep(step, context, own) for (step, own), context in both]
    assert sum(step.cycles for step in charged_steps) == sample.cycles
    return charged_steps


def charge_cycles(
    steps: Iterable[Step], before: Step | None = None
) -> Iterator[tuple[Step, list[tuple[Cause, int]]]]:
    """Yield each instruction with the cycles that it is charged. Without `before`, the first
    instruction is charged all its waits."""
    last, last_charges = before, None
    for step in steps:
        own: list[tuple[Cause, int]] = [(EXECUTE, 1 if last else step.cycles)]
        for to_last, cause, cycles in _waits(last, step) if last else ():
            if cycles:
                (last_charges if to_last and last_charges else own).append((cause, cycles))
        if last and last_charges:
            yield last, last_charges
        last, last_charges = step, own
    if last and last_charges:
        yield last, last_charges


def _waits(last: Step, step: Step) -> Iterator[Wait]:
    left = dict(step.waits)
    to_last, cause = True, BRANCH
    if step.handler:  # a trap: the flush and the first cycle of the fetch
        to_last, cause = False, TRAP
    elif last.instruction.kind in SYSTEM and "o" in left:  # mret, or a CSR write that flushes
        cause = TRAP
    if cause == TRAP or step.pc != last.pc + last.size:
        # The cycles of a redirection, even if the next instruction is already available.
        fetch = min(left.get("f", 0), 1)
        yield to_last, cause, left.pop("o", 0) + fetch
        left["f"] = left.get("f", 0) - fetch
    for kind, (to_last, cause) in _KINDS.items():
        yield to_last, cause, left.get(kind, 0)


def find_contexts(
    steps: list[Step], where: Where, owner: Owner, body: range | None = None
) -> list[CodeContext]:
    """Return the context of each step: follow calls, returns and traps; each app has a stack of its
    own."""
    sites: list[_Site] = []
    app = next((owner(step) for step in steps if step.user), 0)  # the owner of `sites`
    other_sites: dict[int, list[_Site]] = {}  # by app
    contexts: list[CodeContext] = []
    for at, (step, after) in enumerate(zip(steps, [*steps[1:], None], strict=True)):
        frames = where(step)
        stack = [frame for site in sites for frame in where(site.step)]
        in_body = at in body if body is not None else bool(sites) and not sites[0].trap
        # The interrupted function did not call the trap handler.
        callers = takewhile(lambda site: not site.trap, reversed(sites))
        phase = phase_of(frames, step.user, (where(site.step) for site in callers))
        contexts.append(CodeContext((*stack, *frames), phase, in_body))
        if after is not None:
            _follow(sites, step, after)
            if after.user and owner(after) != app:
                other_sites[app], app = sites, owner(after)
                sites = other_sites.pop(app, [])
    return contexts


def _follow(sites: list[_Site], step: Step, after: Step) -> None:
    if after.handler:
        sites.append(_Site(step, trap=True))
    elif step.insn == MRET:
        # An mret without an interrupted instruction is a jump: Tock enters its loop like this.
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
    """Return the phase of code: app in user mode, else that of its innermost function with a rule,
    else that of the nearest caller with a rule if it is in _INHERITED_PHASES, else kernel.
    `frames` are outermost first, `callers` nearest first."""
    if user:
        return APP
    if own := _rule_phase(frames):
        return own
    nearest = next(filter(None, map(_rule_phase, callers)), None)
    return nearest if nearest in _INHERITED_PHASES else KERNEL


@cache
def _rule_phase(frames: Stack) -> str | None:
    # Line tables give outlined code the file of one of its callers.
    if any(OUTLINED.search(frame.name) for frame in frames):
        return None
    for frame in reversed(frames):
        for phase, name, file in _RULES:
            if name.search(frame.name) and file.search(frame.file):
                return phase
    return None
