# SPDX-License-Identifier: Apache-2.0 OR MIT
"""This reads the simulator's instruction trace (--itrace): its lines, what an instruction does to
the flow of control, and the samples in it.

A sample is what an app reports: the difference of two readings of mcycle, which the kernel makes
with a `csrr` each and hands to tm_sample (apps/asm/sample.S). tm_sample has two ecalls; behind the
first it copies the reading to s4, behind the second it puts the difference there. So the two
`csrr mcycle` are those that read these very values, and the sample is every cycle of the core after
the first of them, up to and with the second.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tockmark.errors import TockmarkError
from tockmark.profile.symbols import Program

HEADING = "#    cycle     mcycle m pc       insn     cyc waits    effects"
MODE, PC = 22, slice(24, 32)  # where the mode and the address stand in a line
ECALL, MRET = 0x73, 0x30200073
S4 = 20
LINKS = (1, 5)  # registers that hold return addresses, by the calling convention
_JAL, _JALR = 0x6F, 0x67  # opcodes
WORD = 1 << 32
_WAIT = re.compile(r"([a-z])(\d+)")  # of `f2w1`
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
        """Whether it ended in an exception, such as a system call: it did not retire."""
        return self.trap or self.insn == ECALL

    def reads_mcycle(self) -> bool:
        return self.insn & ~(0x1F << 7) in MCYCLE_READS


def parse(line: str) -> Step:
    """Read one line."""
    _, mcycle, mode, pc, insn, cycles, waits, *effects = line.split()
    written = [effect[1:].split("=") for effect in effects if effect.startswith("x")]
    rd, value = written[-1] if written else ("0", "0")
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
    )


def calls(step: Step) -> bool:
    """Return whether it is a jump that leaves its return address behind."""
    if step.opcode in (_JAL, _JALR):
        return step.insn >> 7 & 0x1F in LINKS
    jal = step.insn & 0xE003 == 0x2001
    jalr = step.insn & 0xF07F == 0x9002 and step.insn >> 7 & 0x1F != 0
    return step.size == 2 and (jal or jalr)


def jumps_by_register(step: Step) -> bool:
    """Return whether it is a jump to an address in a register that leaves none behind: a return, a
    tail call through a pointer, or a jump by a table."""
    if step.size == 4:
        return step.opcode == _JALR and step.insn >> 7 & 0x1F == 0
    return step.insn & 0xF07F == 0x8002 and step.insn >> 7 & 0x1F != 0


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


@dataclass(frozen=True)
class Sampler:
    """Where tm_sample is in an app, and the samples that it takes in a trace."""

    start: int
    ecalls: tuple[int, int]

    @staticmethod
    def in_app(app: Program) -> "Sampler":
        """Find it by its symbol, and its two calls by their code."""
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


def _reading(steps: list[Step], value: int) -> int:
    found = [i for i, s in enumerate(steps) if s.reads_mcycle() and s.value == value]
    if not found:
        raise TockmarkError(
            f"no instruction read {value} from mcycle, though the app got it",
            "the kernel must hand out what it reads from mcycle",
        )
    return found[-1]
