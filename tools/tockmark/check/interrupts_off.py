# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Measures how long the baseline kernel keeps interrupts off, and holds it to its bounds.

It reads the simulator's instruction trace, cache off. The kernel never lets an interrupt in while
it runs: they are off from the trap to the `mret`. Where it sleeps (`wfi`) an interrupt ends the
sleep, so that a stretch ends there too. The same traces check what the bounds rest on: that loops
run no oftener than kernel/bounds.toml says, that no other ways are gone than those that were found,
and that no stretch costs more cycles than its path is charged.
"""

import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from tockmark import paths
from tockmark.check import conformance
from tockmark.check.bounds import (
    AFTER_SLEEP,
    FAULT,
    INTERRUPTS,
    JUMP,
    MOST_CYCLES,
    OTHERS,
    PANIC,
    SCHEDULE,
    START,
    SWITCH,
    TIMER,
    TRAP,
    UART,
    BoundedKernel,
    LoopNote,
    Model,
    PathBound,
    across,
)
from tockmark.check.conformance import AttackCase
from tockmark.check.paths import Insn
from tockmark.errors import TockmarkError
from tockmark.profile.run import kernel_of, simulators
from tockmark.profile.sample import HEADING, MODE, PC
from tockmark.profile.symbols import Program
from tockmark.rig.kernel import with_words
from tockmark.rig.protocol import Start
from tockmark.suite.catalogue import Boot

BAUD_115200 = 2083  # cycles of a byte on the UART
SEARCHED = 2_000_000  # cycles of a boot that searches
MAX_PROCESSES = 4  # of the kernel
NAME_BYTES = 48  # of a name that fits into the headers that images leave room for
NO_END = 0xFFFF_FFFF  # of starting again after a fault
PANICKING = "on_system_call"  # without its first instruction the first call is a trap in the kernel

TOLD = {" x10=": "a0", " x11=": "a1", " x12=": "a2", " x14=": "a4"}  # what tells system calls apart
CALL, INTERRUPT = "call", "interrupt"


@dataclass
class Worst:
    """The longest stretches of a kind, by instructions and by cycles, exact by the core's own
    clock; and in which boot the one of most cycles was."""

    instructions: int = 0
    cycles: int = 0
    where: str = ""

    def add(self, instructions: int, cycles: int, where: str) -> None:
        """Take a stretch into account."""
        if cycles > self.cycles:
            self.cycles, self.where = cycles, where
        self.instructions = max(self.instructions, instructions)


@dataclass(frozen=True)
class Scene:
    """A boot whose first `cycles` are traced."""

    boot: Boot
    cycles: int
    restarts: int = 0
    panics: bool = False
    case: AttackCase | None = None  # that it is of


class LongNames(Boot, frozen=True):
    """A boot whose processes have long names that are alike but for the last letter."""

    def processes(self) -> list[str]:
        """Return the names."""
        return [f"{slot:-<{NAME_BYTES - 1}}{n}" for n, slot in enumerate(self.slots, 1)]


def search(seed: int) -> Scene:
    """Return a boot in which four apps look for what keeps interrupts off for long."""
    slots = ("seeker",) * MAX_PROCESSES
    slice_us = conformance.SLICE_US
    boot = LongNames(f"search-{seed}", slots[0], slots, (), scene=seed, slice_us=slice_us)
    return Scene(boot, SEARCHED, restarts=NO_END)


ATTACKED = (
    AttackCase("lines", ("write", "write-print")),
    AttackCase("prints", ("print", "restarts")),
    AttackCase("answers", ("notify", "discover")),
    AttackCase("upcalls", ("subscribe-all", "notify")),
)
SCENES = (
    *(Scene(case.boot, 1_000_000, restarts=99, case=case) for case in ATTACKED),
    # Its first access stops it: registers are told.
    Scene(conformance.short_boot("fault", ("csrs",), 0), 3_000_000),
    Scene(conformance.short_boot("faults", ("csrs",), 0), 1_000_000, restarts=99),
    Scene(conformance.short_boot("panic", ("victim",), 0), 2_000_000, panics=True),
)


@dataclass
class OpenCall:
    """A function that is under way: its last instruction, and how often loops in it have run."""

    last: int = 0
    runs: dict[int, int] = field(default_factory=dict)


@dataclass
class Stretch:
    """What has run since interrupts went off."""

    since: int  # the last cycle before
    why: str
    last: int = 0
    ended: bool = False
    asleep: bool = False
    instructions: int = 0
    charged: int = TRAP
    sequence: int = 0  # where the next instruction stands if nothing jumps
    chosen: tuple[int, int] | None = None  # cycle and instructions before the next was chosen
    pcs: set[int] = field(default_factory=set)
    runs: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    counts: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    frames: list[OpenCall] = field(default_factory=lambda: [OpenCall()])


@dataclass
class WatchedLoop:
    """A loop as traces are held to it."""

    note: LoopNote
    most: int = 0
    body: set[int] = field(default_factory=set)  # addresses
    doors: set[int] = field(default_factory=set)


class StretchWatch:
    """Follows a kernel through traces of its boots."""

    def __init__(self, kernel: BoundedKernel) -> None:
        self.kernel = kernel
        self.worst: dict[str, Worst] = defaultdict(Worst)
        self.lost: dict[str, None] = {}  # lines, each once
        self.loops: dict[int, WatchedLoop] = {}
        self.charges: dict[int, int] = {}
        facts = kernel.notes.fact
        self.counted = kernel.entries({name for fact in facts for name in (*fact.runs, *fact.per)})
        program, code = kernel.program, kernel.walker.code
        at = {name: program.symbol(name)[0] for name in ("exception", "interrupt", "fault")}
        self.why = {at["exception"]: CALL, at["interrupt"]: INTERRUPT, at["fault"]: FAULT}
        self.why[program.address_of("rust_begin_unwind")] = PANIC
        self.switch = program.symbol("switch")[0]
        (self.schedule,) = kernel.walker.entries(SCHEDULE)
        self.timer, self.uart = (
            {pc for pc in code if scope in kernel.scopes(pc)} for scope in (TIMER, UART)
        )
        self.calls = [(root.name, dict(root.known)) for root in kernel.roots if root.known]
        self.models = {root.name: Model(kernel, root) for root in kernel.roots}
        self.ways = {kind: self._study(model) for kind, model in self.models.items()}

    def _study(self, model: Model) -> set[int]:
        """Take what a model knows of loops and charges; return the addresses that it comes to."""
        kernel, ways = self.kernel, set()
        for block in model.reached.values():
            for insn, charge in zip(block.insns, kernel.cycles(block), strict=True):
                ways.add(insn.pc)
                self.charges[insn.pc] = min(charge, self.charges.get(insn.pc, charge))
        for walked in model.walks:
            for loop in walked.loops:
                body = {insn.pc for at in loop.blocks for insn in walked.blocks[at].insns}
                note = kernel.note_of(walked, loop)
                for door in loop.doors:
                    watched = self.loops.setdefault(door, WatchedLoop(note))
                    watched.body |= body
                    watched.doors |= loop.doors
                    watched.most = max(watched.most, kernel.most(walked, note))
        return ways

    def follow(self, lines: Iterable[str], where: str) -> None:
        """Take the stretches of a trace with its heading into account."""
        lines = iter(lines)
        if next(lines, HEADING) != HEADING:
            raise TockmarkError(
                "the simulator's trace has another form", paths.by_make("sim-retire")
            )
        code = self.kernel.walker.code
        registers = dict.fromkeys(TOLD.values(), 0)
        told, last, stretch = registers, 0, Stretch(0, START)
        for line in lines:
            user, cycle = line[MODE] == "U", int(line[:10])
            if user and stretch.instructions and not stretch.ended:
                self._close(stretch, last, told, where)
            if user or stretch.ended:
                # A sleep is no part of what comes behind it, which begins with an instruction.
                since = cycle - 1 if stretch.asleep and not user else last
                why = AFTER_SLEEP if stretch.asleep and not user else ""
                stretch, told = Stretch(cycle if user else since, why), dict(registers)
            for name in TOLD:
                if name in line:
                    registers[TOLD[name]] = int(line.split(name)[1][:8], 16)
            last = cycle
            if user:
                told = dict(registers)
                continue
            pc = int(line[PC], 16)
            if pc not in code:  # the boot ROM
                stretch.since = last
                continue
            self._step(stretch, code[pc], last)
            if code[pc].op in ("mret", "wfi"):
                stretch.asleep = code[pc].op == "wfi"
                self._close(stretch, last, told, where)
                stretch.ended = True

    def _step(self, stretch: Stretch, insn: Insn, cycle: int) -> None:
        """Add one instruction to a stretch."""
        pc = insn.pc
        if pc in self.why and stretch.why != PANIC:
            stretch.why = self.why[pc]
        elif pc == self.schedule:
            stretch.chosen = stretch.last, stretch.instructions
        jumps = stretch.instructions and pc != stretch.sequence
        stretch.charged += self.charges.get(pc, 1) + (JUMP + across(insn) if jumps else 0)
        stretch.instructions += 1
        stretch.last, stretch.sequence = cycle, insn.next
        stretch.pcs.add(pc)
        frame = stretch.frames[-1]
        if loop := self.loops.get(pc):
            if frame.last not in loop.body:
                frame.runs |= dict.fromkeys(loop.doors, 0)
            frame.runs[pc] = frame.runs.get(pc, 0) + 1
            if frame.runs[pc] > loop.most:
                self._lose(f"the loop of {loop.note.at} at {pc:#x} runs oftener than {loop.most}")
            stretch.runs[loop.note.name] += 1
        if pc in self.counted:
            stretch.counts[pc] += 1
        frame.last = pc
        if insn.op in ("jal", "jalr"):
            if insn.rd:
                stretch.frames.append(OpenCall())
            elif insn.at == ("ra", 0) and len(stretch.frames) > 1:
                stretch.frames.pop()

    def _lose(self, what: str) -> None:
        self.lost[what] = None

    def _close(self, stretch: Stretch, last: int, told: Mapping[str, int], where: str) -> None:
        """Take a stretch into account, and hold it to what is known of its kind."""
        kind = self._kind(stretch, told)
        cycles = last - stretch.since
        self.worst[kind].add(stretch.instructions, cycles, where)
        if stretch.chosen and self.switch in stretch.pcs:
            before, instructions = stretch.chosen
            self.worst[SWITCH].add(stretch.instructions - instructions, last - before, where)
        if cycles > stretch.charged:
            self._lose(f"{kind}: a stretch of {cycles} cycles is charged {stretch.charged}")
        if kind != PANIC and (stray := stretch.pcs - self.ways[kind]):
            self._lose(f"{kind}: runs at {min(stray):#x}, which was not found")
        for fact in self.kernel.facts(kind):
            runs, per = (
                sum(stretch.counts[entry] for entry in self.kernel.entries(names))
                + sum(stretch.runs[name] for name in names)
                for names in (fact.runs, fact.per)
            )
            if runs > self.kernel.constants.value(fact.most) * (per if fact.per else 1):
                self._lose(f"{kind}: {fact.name} runs {runs} times, not {fact.most}")

    def _kind(self, stretch: Stretch, told: Mapping[str, int]) -> str:
        if stretch.why == "call":
            for name, known in self.calls:
                if all(told[register] == value for register, value in known.items()):
                    return name
            return OTHERS
        if stretch.why == "interrupt":
            timer, uart = (not stretch.pcs.isdisjoint(one) for one in (self.timer, self.uart))
            return INTERRUPTS[timer, uart and not timer]
        return stretch.why


def trace(plan: conformance.Plan, flash: Path, scene: Scene) -> Iterator[str]:
    """Yield the instructions of a boot as far as the scene goes, however the boot ends."""
    limits = {"max-cycles": scene.cycles, "uart-cycles": BAUD_115200}
    target = simulators(plan.board)[1].configured(limits)
    with tempfile.NamedTemporaryFile() as uart:
        start = Start(scene.boot.name, flash, icache=False, panics=plan.kernel.panics)
        tracing = target.start_here(start, "--uart", uart.name, "--itrace", "-")
        try:
            yield from tracing.lines()
        finally:
            tracing.stop()
            tracing.ending()


def image_of(plan: conformance.Plan, scene: Scene, program: Program) -> Path:
    """Return the flash of a scene's boot."""
    if scene.panics:
        at, _ = program.symbol(PANICKING)
        kernel = replace(plan.kernel, words={**plan.kernel.words, PANICKING: at})
        plan = replace(plan, kernel=with_words(kernel, {PANICKING: 0}))
    trial = conformance.Trial(
        scene.boot, conformance.judge_attempts, scene.cycles, BAUD_115200, scene.case
    )
    return conformance.image_of(plan, trial, scene.restarts).flash


@dataclass(frozen=True)
class Held:
    """A kind of stretch with its bound, beside the worst that was found."""

    kind: str
    bound: PathBound
    worst: Worst
    why: str  # its bound is so high, where that has to be explained


@dataclass(frozen=True)
class Stretches:
    """All kinds of stretches of a kernel, and what does not hold."""

    held: list[Held]
    lost: list[str]


def measure(plan: conformance.Plan, scenes: Iterable[Scene]) -> Stretches:
    """Return what the baseline kernel was found to do with interrupts off, beside its bounds."""
    kernel = BoundedKernel(kernel_of(plan.kernel), plan.abi)
    watch = StretchWatch(kernel)
    for scene in scenes:
        flash = image_of(plan, scene, kernel.program)
        watch.follow(trace(plan, flash, scene), scene.boot.name)
    return judged(watch)


def judged(watch: StretchWatch) -> Stretches:
    """Hold what was found to the bounds."""
    notes, lost = watch.kernel.notes, list(watch.lost)
    held: list[Held] = []
    for kind, model in watch.models.items():
        bound, worst = model.bound(), watch.worst.get(kind, Worst())
        if kind == PANIC:  # what came before it was in one of the others
            before = [one.bound for one in held if one.kind not in notes.own]
            bound = PathBound(
                bound.instructions + max(one.instructions for one in before),
                bound.cycles + max(one.cycles for one in before),
            )
        for what in ("instructions", "cycles"):
            most, found = getattr(bound, what), getattr(worst, what)
            if found > most:
                lost.append(f"{kind}: {found} {what} in {worst.where}, above the bound of {most}")
        if bound.cycles > MOST_CYCLES and kind not in notes.own:
            lost.append(f"{kind}: bounded by {bound.cycles} cycles, above {MOST_CYCLES}")
        held.append(Held(kind, bound, worst, notes.own.get(kind) or notes.explained.get(kind, "")))
    return Stretches(held, lost)


def longest(stretches: Stretches) -> str:
    """Return a line on all kinds of stretches: the longest of those that have no bound of their
    own, beside what was found of it."""
    one = max(
        (held for held in stretches.held if held.bound.cycles <= MOST_CYCLES),
        key=lambda held: held.bound.cycles,
    )
    cycles = f"{one.worst.cycles} of at most {one.bound.cycles} cycles"
    return f"{len(stretches.held)} kinds of stretches, bounded; the longest: {one.kind}, {cycles}"
