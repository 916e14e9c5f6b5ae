# SPDX-License-Identifier: Apache-2.0 OR MIT
"""How long interrupts are off at a stretch, and why: from the simulator's instruction trace.

The baseline kernel never lets an interrupt in while it runs: they are off from the trap to the
`mret`. Where it sleeps (`wfi`) an interrupt ends the sleep, so that a stretch ends there too.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from tockmark.errors import TockmarkError
from tockmark.profile.symbols import Program
from tockmark.profile.trace import HEADING, MODE, PC

INSN = slice(33, 41)  # where the instruction stands in a line of the trace
WFI = "10500073"
SWITCH = ", another process goes on"
# Labels of kernel/src/arch/riscv/trap.S that tell what a stretch is; the last one counts.
LABELS = {"exception": "system call", "interrupt": "interrupt", "fault": "fault"}


@dataclass(frozen=True)
class Stretch:
    """Interrupts off, for so many cycles (exact, from the core's own clock), up to this one."""

    cycles: int
    end: int


def longest(lines: Iterable[str], kernel: Program) -> dict[str, Stretch]:
    """The longest stretch of each cause, in a trace with its heading.

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
