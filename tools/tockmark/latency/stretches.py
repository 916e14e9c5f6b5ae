# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The longest stretches of a trace of retired instructions in which something does not come to its
turn, on any kernel: interrupts are off, the kernel does not ask what is pending, a deferred call
waits, one process keeps the core. And whose the cycles of a stretch are, as stacks.

A sleep (`wfi`) ends a stretch: an interrupt ends the sleep, be they off or on.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field

from tockmark.documents import Count, Part
from tockmark.errors import TockmarkError
from tockmark.latency.points import KernelFamily, addresses
from tockmark.paths import by_make
from tockmark.profile.sample import HEADING, INSN, MODE, MRET, PC, Step, charged, parse, places
from tockmark.profile.symbols import Frame, Program

OFF, LOOK, CALL, CORE = (
    "interrupts off",
    "kernel asks for no interrupt",
    "a deferred call waits",
    "one process has the core",
)
KINDS = {
    OFF: "interrupts are off",
    LOOK: "the kernel runs and does not ask what is pending",
    CALL: "a deferred call waits until it is served",
    CORE: "one process runs, the kernel for it, and nobody else",
}
WFI = 0x10500073
MSTATUS, MIE = 0x300, 1 << 3
SYSTEM = 0x73
WRITES, CLEARS = 1, 3  # funct3 of CSR instructions, less its bit for an immediate
EFFECTS = HEADING.index("effects") - 1  # the space before them
MOST_STACKS = 6
ELSEWHERE = ("elsewhere",)  # the stack of all that is left
SHOWN_FRAMES = 6
_ENTRY = re.compile(r"^(exception|interrupt|fault|_start_trap|_earlgrey_start_trap_vectored)$")
_WRAPS = re.compile(
    r"^(\{|map(_or)?$|find$|(try_)?fold$|process_map_or$|with_driver|access_grant|kernel_loop)"
)
_WRITTEN = re.compile(r" x(\d+)=([0-9a-f]{8})")

Where = Callable[[Step], tuple[Frame, ...]]
Owner = Callable[[Step], int]


class StackPart(Part, frozen=True):
    """Part of a stretch: its innermost functions, callers first, and their cycles."""

    stack: tuple[str, ...]
    cycles: Count


class LongestStretch(Part, frozen=True):
    """The longest of a kind: in cycles, beside which load, and where they went, most first."""

    kind: str
    cycles: Count
    load: str
    parts: tuple[StackPart, ...]


@dataclass(frozen=True)
class Span:
    """Lines of a trace, from the first to the one behind the last, and how long they took."""

    start: int
    end: int
    cycles: int


@dataclass
class Longest:
    """The longest span so far of a kind, and the one that is open."""

    best: Span = Span(0, 0, 0)
    since: tuple[int, int] | None = None  # line, cycle

    def open(self, line: int, cycle: int) -> None:
        if self.since is None:
            self.since = line, cycle

    def close(self, line: int, cycle: int) -> None:
        """End what is open; lines up to this one, which is not in it."""
        if self.since is not None:
            start, since = self.since
            if cycle - since > self.best.cycles:
                self.best = Span(start, line, cycle - since)
            self.since = None


@dataclass
class Follower:
    """Follows the lines of a trace."""

    looks: Set[int]
    asks: Set[int]  # addresses that ask for a deferred call
    serves: Set[int]
    owner: Callable[[int], int]  # of an address in user mode
    longest: dict[str, Longest] = field(default_factory=lambda: {kind: Longest() for kind in KINDS})
    _registers: list[int] = field(default_factory=lambda: [0] * 32)

    def follow(self, lines: Sequence[str]) -> dict[str, Span]:
        """Return the longest span of each kind. What is under way at the end is not counted."""
        off, look, call, core = (self.longest[kind] for kind in (OFF, LOOK, CALL, CORE))
        user, running, asleep = False, None, False
        last = int(lines[0][:10]) if lines else 0
        for number, line in enumerate(lines):
            was_user, user = user, line[MODE] == "U"
            cycle = int(line[:10])
            if asleep:
                last = cycle - 1
                look.open(number, last)
            pc = int(line[PC], 16)
            if user:
                asleep = False
                if not was_user:
                    off.close(number, last)
                    look.close(number, last)
                    if running != (running := self.owner(pc)):
                        core.close(number, last)
                core.open(number, last)
            else:
                if was_user:
                    look.open(number, last)
                if line.endswith("handler"):
                    off.open(number, last)
                if pc in self.looks:
                    look.close(number, last)
                    look.open(number, last)
                if pc in self.asks:
                    call.open(number, last)
                if pc in self.serves:
                    call.close(number, last)
                insn = int(line[INSN], 16)
                asleep = insn == WFI
                self._system(insn, number + 1, cycle)
                for register, value in _WRITTEN.findall(line, EFFECTS):
                    self._registers[int(register)] = int(value, 16)
            last = cycle
        return {kind: one.best for kind, one in self.longest.items()}

    def _system(self, insn: int, line: int, cycle: int) -> None:
        """Follow what an instruction of the kernel does to interrupts, behind it."""
        if insn & 0x7F != SYSTEM:
            return
        off, look, core = (self.longest[kind] for kind in (OFF, LOOK, CORE))
        if insn == WFI:
            for one in (off, look, core):
                one.close(line, cycle)
        elif insn == MRET:
            off.close(line, cycle)
        elif insn >> 20 == MSTATUS and insn >> 12 & 7:
            source = insn >> 15 & 31
            value = source if insn >> 14 & 1 else self._registers[source]
            how = insn >> 12 & 3
            if (how == CLEARS and value & MIE) or (how == WRITES and not value & MIE):
                off.open(line, cycle)
            elif how != CLEARS and value & MIE:
                off.close(line, cycle)


def traced(lines: Iterable[str]) -> Iterator[str]:
    """Yield a trace without its heading. TockmarkError if it is of another form."""
    lines = iter(lines)
    if next(lines, HEADING) != HEADING:
        raise TockmarkError("the simulator's trace has another form", by_make("profile"))
    yield from lines


def longest(
    family: KernelFamily, kernel: Program, owner: Callable[[int], int], lines: Sequence[str]
) -> dict[str, Span]:
    """Return the longest span of each kind in a trace without its heading; `owner` tells whose an
    address in user mode is."""
    looks = {*addresses(kernel, family.asks)}
    asks, serves = set[int](), set[int]()
    if (deferred := family.deferred) is not None:
        ran = {int(line[PC], 16) for line in lines if line[MODE] != "U"}
        kernel.study(ran)
        for at in ran:
            paths = [scope.path for scope in kernel.scopes(at)]
            if deferred.set in paths:
                asks.add(at)
            if deferred.served in paths:
                serves.add(at)
    return Follower(looks, asks, serves, owner).follow(lines)


def _shown(stack: Sequence[Frame]) -> tuple[str, ...]:
    """Return the outer functions since the last trap, without those that only wrap others. Apps and
    assembly have no files."""
    bare = [at for at, frame in enumerate(stack) if not frame.file]
    own = stack
    if bare:
        own = stack[bare[-1] + (not _ENTRY.search(stack[bare[-1]].name)) :] or stack[-1:]
    return tuple(frame.name for frame in own if not _WRAPS.search(frame.name))[:SHOWN_FRAMES]


def stacks(lines: Sequence[str], where: Where, owner: Owner) -> tuple[StackPart, ...]:
    """Return where the cycles of some lines went, the stacks with most first; what is left of them
    is under one name. They add up to the cycles of the lines."""
    steps = [parse(line) for line in lines]
    found: Counter[tuple[str, ...]] = Counter()
    there = places(steps, where, owner)
    for (_, charges), place in zip(charged(steps), there, strict=True):
        found[_shown(place.stack)] += sum(cycles for _, cycles in charges)
    most = found.most_common(MOST_STACKS)
    rest = found.total() - sum(cycles for _, cycles in most)
    parts = [StackPart(stack, cycles) for stack, cycles in most]
    return (*parts, *([StackPart(ELSEWHERE, rest)] if rest else []))
