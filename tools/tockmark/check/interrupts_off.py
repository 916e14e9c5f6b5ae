# SPDX-License-Identifier: Apache-2.0 OR MIT
"""This measures how long the baseline kernel keeps interrupts off at a stretch, and why.

It reads the simulator's instruction trace. The kernel never lets an interrupt in while it runs:
they are off from the trap to the `mret`. Where it sleeps (`wfi`) an interrupt ends the sleep, so
that a stretch ends there too.
"""

import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from tockmark.check import conformance
from tockmark.check.availability import Case
from tockmark.errors import TockmarkError
from tockmark.profile.run import simulators
from tockmark.profile.symbols import Program
from tockmark.profile.trace import HEADING, MODE, PC
from tockmark.rig import board as boards
from tockmark.rig.kernel import read_kernel, with_words
from tockmark.rig.protocol import Start
from tockmark.suite.catalogue import Boot

BAUD_115200 = 2083  # cycles of a byte on the UART
PANICKING = "on_system_call"  # without its first instruction the first call is a trap in the kernel

INSN = slice(33, 41)  # where the instruction stands in a line of the trace
WFI = "10500073"
SWITCH = ", another process goes on"
# Labels of kernel/src/arch/riscv/trap.S that tell what a stretch is; the last one counts.
LABELS = {"exception": "system call", "interrupt": "interrupt", "fault": "fault"}


@dataclass(frozen=True)
class Stretch:
    """Interrupts were off for so many cycles (exact, by the core's own clock), up to `end`."""

    cycles: int
    end: int


@dataclass(frozen=True)
class Scene:
    """A boot whose first `cycles` are traced."""

    boot: Boot
    cycles: int
    restarts: int = 0
    panics: bool = False
    case: Case | None = None  # that it is of


ATTACKED = (
    Case("lines", ("write", "write-print")),
    Case("prints", ("print", "restarts")),
    Case("answers", ("notify", "discover")),
    Case("upcalls", ("subscribe-all", "notify")),
)
SCENES = (
    *(Scene(case.boot, 1_000_000, restarts=99, case=case) for case in ATTACKED),
    # Its first access stops it: registers are told.
    Scene(conformance.short_boot("fault", ("csrs",), 0), 3_000_000),
    Scene(conformance.short_boot("faults", ("csrs",), 0), 1_000_000, restarts=99),
    Scene(conformance.short_boot("panic", ("victim",), 0), 2_000_000, panics=True),
)


def measure(abi: int) -> dict[str, Stretch]:
    """Return the longest stretch of each cause in all scenes, in cycles of the simulated CW310."""
    board = boards.load(boards.simulated("cw310"))
    kernel = read_kernel(board.kernels[abi])
    program = Program(kernel.path)
    found: dict[str, Stretch] = {}
    for scene in SCENES:
        patched = kernel
        if scene.panics:
            at, _ = program.symbol(PANICKING)
            words = {**kernel.words, PANICKING: at}
            patched = with_words(replace(kernel, words=words), {PANICKING: 0})
        plan = conformance.Plan(patched, board, abi, (), 0, 1)
        trial = conformance.Trial(
            scene.boot, conformance.judge_attempts, scene.cycles, BAUD_115200, scene.case
        )
        image = conformance.image_of(plan, trial, scene.restarts)
        for cause, stretch in longest(_trace(plan, image.flash, scene), program).items():
            if cause not in found or stretch.cycles > found[cause].cycles:
                found[cause] = stretch
    return found


def _trace(plan: conformance.Plan, flash: Path, scene: Scene) -> Iterator[str]:
    """Yield the instructions of a boot as far as the scene goes, however the boot ends."""
    limits = {"max-cycles": scene.cycles, "uart-cycles": BAUD_115200}
    target = simulators(plan.board)[1].configured(limits)
    with tempfile.NamedTemporaryFile() as uart:
        start = Start(scene.boot.name, flash, True, panics=plan.kernel.panics)
        tracing = target.start_here(start, "--uart", uart.name, "--itrace", "-")
        try:
            yield from tracing.lines()
        finally:
            tracing.stop()
            tracing.ending()


def longest(lines: Iterable[str], kernel: Program) -> dict[str, Stretch]:
    """Return the longest stretch of each cause in a trace with its heading.

    A stretch is counted from the last instruction before it, in user mode or a `wfi`, to its own
    last one. After a `wfi` it begins with the first instruction, not with the sleep."""
    labels = {f"{kernel.symbol(label)[0]:08x}": cause for label, cause in LABELS.items()}
    switch = f"{kernel.symbol('switch')[0]:08x}"
    panic = f"{kernel.address_of('rust_begin_unwind'):08x}"
    found: dict[str, Stretch] = {}
    why, switched, since, last, asleep = "start", False, 0, 0, False

    def close() -> None:
        name = f"{why}{SWITCH}" if switched and why != "panic" else why
        if last - since > found.get(name, Stretch(0, 0)).cycles:
            found[name] = Stretch(last - since, last)

    lines = iter(lines)
    if next(lines, HEADING) != HEADING:
        raise TockmarkError("the simulator's trace has another form", "run `make sim-retire`")
    for line in lines:
        if line[MODE] == "U":
            if last > since:
                close()
            since = last = int(line[:10])
            why, switched = "system call", False
            continue
        pc = line[PC]
        last = int(line[:10])
        if asleep:
            since, asleep = last - 1, False
        if pc in labels and why != "panic":
            why = labels[pc]
        elif pc == switch:
            switched = True
        elif pc == panic:
            why = "panic"
        if line[INSN].strip() == WFI:
            close()
            why, switched, since, asleep = "after sleep", False, last, True
    return found
