# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Measures how long the baseline kernel keeps interrupts off.

It reads the simulator's instruction trace, with the cache off. The kernel runs with interrupts off
from the trap to the `mret`. A stretch also ends where the kernel sleeps (`wfi`), because an
interrupt ends the sleep.
"""

import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from tockmark.base import paths
from tockmark.base.errors import TockmarkError
from tockmark.profile.run import simulators
from tockmark.profile.sample import HEADING, INSN, MODE, PC
from tockmark.profile.symbols import Program
from tockmark.suite.catalogue import Boot
from tockmark.target.board import Region
from tockmark.target.elf import read_elf
from tockmark.target.kernel import with_words
from tockmark.target.protocol import Start
from tockmark.target.rv32 import MRET, WFI
from tockmark_lab import conformance
from tockmark_lab.conformance import AttackCase

BAUD_115200 = 2083  # UART cycles per byte
SEARCHED = 2_000_000  # traced cycles of a boot that searches
MAX_PROCESSES = 4  # of the kernel
NAME_BYTES = 48  # length of a name that fits into the space that images leave for headers
NO_END = 0xFFFF_FFFF  # restarts after faults
PANICKING = "on_system_call"  # without its first instruction, the first call traps in the kernel

CALL, INTERRUPT, AFTER_SLEEP = "system call", "interrupt", "after sleep"
START, FAULT, PANIC = "start", "fault", "panic"
# A stretch ends within this many cycles. The longest one that we found takes 5,100: a call that
# looks up an app by a name of 48 bytes, from which three other apps' names differ in the last
# letter only.
MOST_CYCLES = 10_000
UNLIMITED = {  # stretches without this limit, and why
    START: "lines about refused apps wait for the UART",
    FAULT: "its report waits for the UART, once in an app's life",
    PANIC: "its line waits for the UART, and nothing runs after it",
}


@dataclass
class WorstStretch:
    """The longest stretches of one kind, by instructions and by cycles (exact, from the core's own
    counter), and the boot of the one with the most cycles."""

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
    """A boot. Its first `cycles` are traced."""

    boot: Boot
    cycles: int
    restarts: int = 0
    panics: bool = False
    case: AttackCase | None = None  # that the boot is from


class LongNames(Boot, frozen=True):
    """A boot whose processes have long names that differ in the last letter only."""

    def processes(self) -> list[str]:
        """Return the names."""
        return [f"{slot:-<{NAME_BYTES - 1}}{n}" for n, slot in enumerate(self.slots, 1)]


def search(seed: int) -> Scene:
    """Return a boot in which four apps search for operations that keep interrupts off for long."""
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
    # The first access stops the app, and the kernel reports its registers.
    Scene(conformance.short_boot("fault", ("csrs",), 0), 3_000_000),
    Scene(conformance.short_boot("faults", ("csrs",), 0), 1_000_000, restarts=99),
    Scene(conformance.short_boot("panic", ("victim",), 0), 2_000_000, panics=True),
)


@dataclass
class Stretch:
    """The instructions since interrupts were switched off."""

    since: int  # the last cycle before it
    kind: str
    instructions: int = 0
    ended: bool = False
    asleep: bool = False


class StretchWatch:
    """Follows the traces of a kernel's boots and keeps the longest stretch of each kind."""

    def __init__(self, program: Program, rom: Region) -> None:
        self.worst: dict[str, WorstStretch] = defaultdict(WorstStretch)
        self.rom = range(rom.base, rom.end)
        entries = {"exception": CALL, "interrupt": INTERRUPT, "fault": FAULT}
        self.kinds = {program.symbol(name)[0]: kind for name, kind in entries.items()}
        symbols = read_elf(program.path).addresses
        panic = next(at for name, at in symbols.items() if "rust_begin_unwind" in name)
        self.kinds[panic] = PANIC

    def follow(self, lines: Iterable[str], where: str) -> None:
        """Take the stretches of a trace, which starts with its heading, into account."""
        lines = iter(lines)
        if next(lines, HEADING) != HEADING:
            raise TockmarkError(
                "the simulator's trace has another format", paths.make_command("build")
            )
        last, stretch = 0, Stretch(0, START)
        for line in lines:
            user, cycle = line[MODE] == "U", int(line[:10])
            if user and stretch.instructions and not stretch.ended:
                self._close(stretch, last, where)
            if user or stretch.ended:
                # A sleep does not belong to the stretch after it, which starts with an instruction.
                woken = stretch.asleep and not user
                since = cycle if user else cycle - 1 if woken else last
                stretch = Stretch(since, AFTER_SLEEP if woken else CALL)
            last, pc = cycle, int(line[PC], 16)
            if user:
                continue
            if pc in self.rom:
                stretch.since = last
                continue
            if stretch.kind != PANIC:
                stretch.kind = self.kinds.get(pc, stretch.kind)
            stretch.instructions += 1
            if (insn := int(line[INSN], 16)) in (MRET, WFI):
                stretch.asleep = insn == WFI
                self._close(stretch, last, where)
                stretch.ended = True

    def _close(self, stretch: Stretch, last: int, where: str) -> None:
        self.worst[stretch.kind].add(stretch.instructions, last - stretch.since, where)


def trace(plan: conformance.Plan, flash: Path, scene: Scene) -> Iterator[str]:
    """Yield the traced instructions of a scene's boot, however the boot ends."""
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


def scene_image(plan: conformance.Plan, scene: Scene, program: Program) -> Path:
    """Build the flash image of a scene's boot."""
    if scene.panics:
        at, _ = program.symbol(PANICKING)
        kernel = replace(plan.kernel, words={**plan.kernel.words, PANICKING: at})
        plan = replace(plan, kernel=with_words(kernel, {PANICKING: 0}))
    trial = conformance.Trial(
        scene.boot, conformance.judge_attempts, scene.cycles, BAUD_115200, scene.case
    )
    return conformance.trial_image(plan, trial, scene.restarts).flash


def measure(plan: conformance.Plan, scenes: Iterable[Scene]) -> dict[str, WorstStretch]:
    """Return the longest stretches with interrupts off in these scenes, by kind."""
    program = Program(plan.kernel.path)
    watch = StretchWatch(program, plan.board.memory.rom)
    for scene in scenes:
        watch.follow(trace(plan, scene_image(plan, scene, program), scene), scene.boot.name)
    return dict(watch.worst)


def too_long(stretches: dict[str, WorstStretch]) -> list[str]:
    """Return a message for each kind with a stretch that is longer than allowed."""
    return [
        f"{kind}: {worst.cycles} cycles in {worst.where}, more than {MOST_CYCLES}"
        for kind, worst in stretches.items()
        if kind not in UNLIMITED and worst.cycles > MOST_CYCLES
    ]


def longest(stretches: dict[str, WorstStretch]) -> str:
    """Format the longest of the stretches that have a limit."""
    limited = {kind: worst for kind, worst in stretches.items() if kind not in UNLIMITED}
    kind = max(limited, key=lambda kind: limited[kind].cycles)
    return f"the longest: {kind}, {limited[kind].cycles} of at most {MOST_CYCLES} cycles"
