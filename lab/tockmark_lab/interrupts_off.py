# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Measures how long the baseline kernel keeps interrupts off.

It reads the simulator's instruction trace, cache off. The kernel never lets an interrupt in while
it runs: they are off from the trap to the `mret`. Where it sleeps (`wfi`) an interrupt ends the
sleep, so that a stretch ends there too.
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
from tockmark.target.kernel import with_words
from tockmark.target.protocol import Start
from tockmark.target.rv32 import MRET, WFI
from tockmark_lab import conformance
from tockmark_lab.conformance import AttackCase

BAUD_115200 = 2083  # cycles of a byte on the UART
SEARCHED = 2_000_000  # cycles of a boot that searches
MAX_PROCESSES = 4  # of the kernel
NAME_BYTES = 48  # of a name that fits into the headers that images leave room for
NO_END = 0xFFFF_FFFF  # of starting again after a fault
PANICKING = "on_system_call"  # without its first instruction the first call is a trap in the kernel

CALL, INTERRUPT, AFTER_SLEEP = "system call", "interrupt", "after sleep"
START, FAULT, PANIC = "start", "fault", "panic"
# A stretch ends within this many cycles. The longest that was found takes 5,100: a call that looks
# for an app by a name of 48 bytes, which three other apps' names equal but for the last letter.
MOST_CYCLES = 10_000
UNLIMITED = {  # kinds that MOST_CYCLES does not hold for, and why
    START: "lines about apps that are refused wait for the UART",
    FAULT: "its report waits for the UART, once in an app's life",
    PANIC: "its line waits for the UART, and nothing runs behind it",
}


@dataclass
class LongestStretch:
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
class Stretch:
    """What has run since interrupts went off."""

    since: int  # the last cycle before
    kind: str
    instructions: int = 0
    ended: bool = False
    asleep: bool = False


class StretchWatch:
    """Follows a kernel through traces of its boots, and keeps the worst stretch of each kind."""

    def __init__(self, program: Program, rom: Region) -> None:
        self.worst: dict[str, LongestStretch] = defaultdict(LongestStretch)
        self.rom = range(rom.base, rom.end)
        entries = {"exception": CALL, "interrupt": INTERRUPT, "fault": FAULT}
        self.kinds = {program.symbol(name)[0]: kind for name, kind in entries.items()}
        self.kinds[program.address_of("rust_begin_unwind")] = PANIC

    def follow(self, lines: Iterable[str], where: str) -> None:
        """Take the stretches of a trace with its heading into account."""
        lines = iter(lines)
        if next(lines, HEADING) != HEADING:
            raise TockmarkError(
                "the simulator's trace has another form", paths.make_command("sim-retire")
            )
        last, stretch = 0, Stretch(0, START)
        for line in lines:
            user, cycle = line[MODE] == "U", int(line[:10])
            if user and stretch.instructions and not stretch.ended:
                self._close(stretch, last, where)
            if user or stretch.ended:
                # A sleep is no part of what comes behind it, which begins with an instruction.
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


def scene_image(plan: conformance.Plan, scene: Scene, program: Program) -> Path:
    """Return the flash of a scene's boot."""
    if scene.panics:
        at, _ = program.symbol(PANICKING)
        kernel = replace(plan.kernel, words={**plan.kernel.words, PANICKING: at})
        plan = replace(plan, kernel=with_words(kernel, {PANICKING: 0}))
    trial = conformance.Trial(
        scene.boot, conformance.judge_attempts, scene.cycles, BAUD_115200, scene.case
    )
    return conformance.trial_image(plan, trial, scene.restarts).flash


def measure(plan: conformance.Plan, scenes: Iterable[Scene]) -> dict[str, LongestStretch]:
    """Return the worst stretches in which the baseline kernel was found to keep interrupts off, by
    kind."""
    program = Program(plan.kernel.path)
    watch = StretchWatch(program, plan.board.memory.rom)
    for scene in scenes:
        watch.follow(trace(plan, scene_image(plan, scene, program), scene), scene.boot.name)
    return dict(watch.worst)


def too_long(stretches: dict[str, LongestStretch]) -> list[str]:
    """Return a line on each kind of stretch that takes more cycles than it may."""
    return [
        f"{kind}: {worst.cycles} cycles in {worst.where}, more than {MOST_CYCLES}"
        for kind, worst in stretches.items()
        if kind not in UNLIMITED and worst.cycles > MOST_CYCLES
    ]


def longest(stretches: dict[str, LongestStretch]) -> str:
    """Return a line on the longest stretch of those that have a limit."""
    limited = {kind: worst for kind, worst in stretches.items() if kind not in UNLIMITED}
    kind = max(limited, key=lambda kind: limited[kind].cycles)
    return f"the longest: {kind}, {limited[kind].cycles} of at most {MOST_CYCLES} cycles"
