# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The simulator's instruction trace (--itrace): its lines, and the samples in it.

A sample is what an app reports: the difference of two readings of mcycle, which the kernel makes
with a `csrr` each and hands to tm_sample (apps/asm/sample.S). tm_sample has two ecalls; behind the
first it copies the reading to s4, behind the second it puts the difference there. So the two
`csrr mcycle` are those that read these very values, and the sample is every cycle of the core after
the first of them, up to and with the second.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tockmark.errors import TockmarkError
from tockmark.profile.symbols import Program

HEADING = "#    cycle     mcycle m pc       insn     cyc waits    effects"
MODE, PC = 22, slice(24, 32)  # where the mode and the address stand in a line
ECALL = 0x73
S4 = 20
WORD = 1 << 32
MCYCLE_READS = (0xB0002073, 0xC0002073)  # csrr of mcycle, or of its user alias, less its register


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

    @property
    def size(self) -> int:
        return 4 if self.insn & 3 == 3 else 2

    @property
    def opcode(self) -> int:
        return self.insn & 0x7F if self.size == 4 else 0

    @property
    def trapped(self) -> bool:
        """Whether it ended in an exception, a system call among them: it did not retire."""
        return self.trap or self.insn == ECALL

    def reads_mcycle(self) -> bool:
        return self.insn & ~(0x1F << 7) in MCYCLE_READS


def parse(line: str) -> Step:
    """Read one line."""
    _, mcycle, mode, pc, insn, cycles, waits, *effects = line.split()
    rd = value = 0
    for effect in effects:
        if effect.startswith("x"):
            name, _, digits = effect[1:].partition("=")
            rd, value = int(name), int(digits, 16)
    return Step(
        mcycle=int(mcycle),
        user=mode == "U",
        pc=int(pc, 16),
        insn=int(insn, 16),
        cycles=int(cycles),
        waits=_waits(waits),
        trap="trap" in effects,
        handler="handler" in effects,
        rd=rd,
        value=value,
    )


def _waits(text: str) -> tuple[tuple[str, int], ...]:
    """`f2w1` as (("f", 2), ("w", 1))."""
    found: list[tuple[str, int]] = []
    for char in text.strip("-"):
        if char.isdigit():
            kind, count = found.pop()
            found.append((kind, count * 10 + int(char)))
        else:
            found.append((char, 0))
    return tuple(found)


@dataclass(frozen=True)
class Sampler:
    """Where tm_sample is in an app."""

    start: int
    ecalls: tuple[int, int]

    @staticmethod
    def of(app: Program) -> "Sampler":
        start, size = app.symbol("tm_sample")
        code = app.bytes_at(start, size)
        ecalls, at = [], 0
        while at < len(code):
            word = int.from_bytes(code[at : at + 4], "little")
            if word == ECALL:
                ecalls.append(start + at)
            at += 4 if word & 3 == 3 else 2
        if len(ecalls) != 2:
            raise TockmarkError("tm_sample in the app is not the one of apps/asm/sample.S")
        return Sampler(start, (ecalls[0], ecalls[1]))


def windows(lines: Iterable[str], sampler: Sampler) -> Iterator[list[str]]:
    """The lines of each run of tm_sample, from its start to the difference."""
    start, end = f"{sampler.start:08x}", f"{sampler.ecalls[1] + 4:08x}"
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


@dataclass(frozen=True)
class Sample:
    """One run of tm_sample. The steps of the sample are those after `first`, up to `last`."""

    steps: list[Step]
    first: int
    last: int
    cycles: int  # as the app computed them

    def __post_init__(self) -> None:
        spent = sum(step.cycles for step in self.steps[self.first + 1 : self.last + 1])
        counted = self.steps[self.last].mcycle - self.steps[self.first].mcycle
        if not spent == counted == self.cycles:
            raise TockmarkError(
                f"the trace does not add up: {spent} cycles of instructions, {counted} of mcycle,"
                f" {self.cycles} in the app"
            )


def difference(window: list[str]) -> int:
    """What the app took for the cycles of this run."""
    return parse(window[-1]).value


def sample(window: list[str], sampler: Sampler) -> Sample:
    """Find the two readings in a run of tm_sample."""
    steps = [parse(line) for line in window]
    difference = steps[-1].value
    between = range(sampler.ecalls[0] + 4, sampler.ecalls[1])
    copied = [i for i, step in enumerate(steps) if step.pc in between and step.rd == S4]
    if not copied or steps[-1].rd != S4:
        raise TockmarkError("tm_sample in the trace is not the one of apps/asm/sample.S")
    reading = steps[copied[0]].value
    first = _reading(steps[: copied[0]], reading)
    last = _reading(steps, (reading + difference) % WORD)
    return Sample(steps, first, last, difference)


def _reading(steps: list[Step], value: int) -> int:
    found = [i for i, s in enumerate(steps) if s.reads_mcycle() and s.value == value]
    if not found:
        raise TockmarkError(
            f"no instruction read {value} from mcycle, though the app got it",
            "the kernel must hand out what it reads from mcycle",
        )
    return found[-1]


# What an instruction does to the flow of control: whether it calls, returns or jumps, by the
# RISC-V calling convention (RV32IMC).


MRET = 0x30200073
LINKS = (1, 5)  # registers that hold return addresses
_JAL, _JALR = 0x6F, 0x67  # opcodes


def calls(step: Step) -> bool:
    """Is it a jump that leaves its return address behind?"""
    if step.opcode in (_JAL, _JALR):
        return step.insn >> 7 & 0x1F in LINKS
    jal = step.insn & 0xE003 == 0x2001
    jalr = step.insn & 0xF07F == 0x9002 and step.insn >> 7 & 0x1F != 0
    return step.size == 2 and (jal or jalr)


def jumps_by_register(step: Step) -> bool:
    """Is it a jump to an address in a register that leaves none behind: a return, a tail call
    through a pointer, or a jump by a table?"""
    if step.size == 4:
        return step.opcode == _JALR and step.insn >> 7 & 0x1F == 0
    return step.insn & 0xF07F == 0x8002 and step.insn >> 7 & 0x1F != 0
