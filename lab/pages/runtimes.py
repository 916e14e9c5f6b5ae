# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The same operations on bare Rust, RTIC, Embassy and kernels (lab/studies/runtimes)."""

from functools import cache

import waits
from committed import CommittedResult, between, committed, number
from sample_parts import profiles, split_parts
from tables import markdown
from tockmark.latency.report import QUIET
from tockmark.show import text
from tockmark.show.table import layout_nets
from tockmark_lab.folders import STUDIES
from tockmark_lab.studies import stack

# The columns, by the names of the results in data/.
COLUMNS = {
    "bare": "bare Rust",
    "rtic": "RTIC",
    "embassy": "Embassy",
    "baseline": "baseline",
    "tock-2.2": "Tock 2.2",
    "tock-master": "Tock master",
}
KERNELS = ("baseline", "tock-2.2", "tock-master")
ROWS = {
    "cost.interrupt core=asleep": "interrupt to handler, asleep",
    "cost.interrupt core=busy": "… next to a computation",
    "cost.alarm core=asleep": "alarm to the waiting task, asleep",
    "cost.alarm core=busy": "… next to a task that computes",
    "cost.switch": "to another task and back",
    "cost.message size=4": "message of 4 bytes, and answer",
    "cost.message size=64": "message of 64 bytes, and answer",
    "cost.message size=1024": "message of 1024 bytes, and answer",
    "cost.timer": "set and cancel a timer",
    "cost.line": "a line of 64 bytes",
    "cost.start": "reset to the first task",
}
LEVELS = ("3", "z")
PROFILED = "tock-2.2-z"  # the folder of profiles
UNSHOWN = ("outlined", "copies")  # kinds of functions, which other parts contain
DATA = STUDIES / "runtimes" / "data"
TO_HANDLER = "cost.interrupt core=asleep"  # a kernel's: the stages of an alarm up to this one
DRIVER = "bottom half"

# By row: its title, what its price buys, and what shows where the cycles go: the last of the stages
# of an alarm, or a row of the suite with a profile.
PRICES = {
    TO_HANDLER: (
        "interrupt to handler",
        "The handler is the kernel's driver: no code of an app runs before its process does. In "
        "the other three a handler that hangs stops everything.",
        DRIVER,
    ),
    "cost.alarm core=asleep": (
        "alarm to the waiting task",
        "The task is a process in user mode, whose memory no other can touch, and which may "
        "fail alone. RTIC preempts, but protects no memory; Embassy does neither.",
        "upcall",
    ),
    "cost.switch": (
        "to another task and back",
        "Both are processes: registers and PMP regions are exchanged, and each may fail alone. "
        "The others share one stack or one executor.",
        "ctx.ring processes=2 kib=0",
    ),
    "cost.message size=1024": (
        "message of 1024 bytes",
        "The other process sees only the shared buffer, through a PMP region; the others hand "
        "over memory that both can write at any time.",
        "ctx.ring processes=2 kib=0",
    ),
    "cost.timer": (
        "set and cancel a timer",
        "Two system calls, each checked against the process's own grant; the others write to a "
        "queue that any task may damage.",
        "syscall.command",
    ),
    "cost.line": (
        "a line of 64 bytes",
        "The kernel checks the buffer, shares the UART between processes, and reports the end "
        "by an upcall; the others write to the device themselves.",
        "console.write size=64",
    ),
    "cost.start": (
        "reset to the first task",
        "The kernel checks the app's header, lays out its memory and opens it; the others have "
        "one image and check nothing.",
        None,
    ),
}


# Rows of the suite with the same meaning, and how many of a row's operations are one here: two hops
# of a token are a round.
IN_SUITE = {
    "cost.alarm core=asleep": ("irq.upcall core=asleep", 1),
    "cost.alarm core=busy": ("irq.upcall core=busy", 1),
    "cost.switch": ("ctx.ring processes=2 kib=0", 2),
    "cost.line": ("console.write size=64", 1),
    "cost.start": ("boot.per_process apps=1", 1),
}


@cache
def result(name: str, level: str) -> CommittedResult:
    """Return the study's result of a column at an opt-level."""
    return committed(f"runtimes/{name}-{level}")


def table(level: str, icache: bool) -> str:
    """Return the table of cycles by operation and column, with ranges over links."""
    rows = [
        [title, *(span(name, row, level, icache) for name in COLUMNS)]
        for row, title in ROWS.items()
    ]
    return markdown(["cycles", *COLUMNS.values()], rows, words=(0,))


def nets(name: str, row: str, level: str, icache: bool = True) -> list[float]:
    """Return the cycles of an operation in each link; empty if it has no equal there."""
    if name in KERNELS and row == TO_HANDLER:
        stages = _stages(name, level, icache, DRIVER)
        return [sum(stages.values())] if stages else []
    suite_row, count = IN_SUITE.get(row, (row, 1)) if name in KERNELS else (row, 1)
    source = result(name, level) if suite_row == row else committed(f"opt/{name}-{level}")
    stored = source.row(suite_row, icache)
    if stored is None or not stored.sound:
        return []
    return [net * count for net in layout_nets(stored)]


def links() -> str:
    """Format how many links the figures have."""
    return between(
        [
            len(found)
            for name in COLUMNS
            for row in ROWS
            for level in LEVELS
            if (found := nets(name, row, level)) and row != TO_HANDLER
        ],
        str,
    )


def span(name: str, row: str, level: str = "3", icache: bool = True) -> str:
    """Format the range over links of an operation's cycles."""
    return between(nets(name, row, level, icache))


def multiple(row: str, name: str, base: str, level: str = "3", icache: bool = True) -> str:
    """Format how many times the cycles of `base` an operation takes: the range over all links."""
    above, below = nets(name, row, level, icache), nets(base, row, level, icache)
    ends = (min(above) / max(below), max(above) / min(below))
    return between(ends, lambda times: f"{times:.1f}" if times < 10 else f"{times:.0f}")


def price(row: str, icache: bool = True) -> str:
    """Format what an operation costs on Tock 2.2 by what it costs at least without a kernel's
    protection, over both levels."""
    ends: list[float] = []
    for level in LEVELS:
        free = [net for name in ("rtic", "embassy") for net in nets(name, row, level, icache)]
        ends += [net / min(free) for net in nets("tock-2.2", row, level, icache) if free]
    return between(ends, lambda times: f"{times:.1f}" if times < 10 else f"{times:.0f}")


def prices() -> str:
    """Return the table of prices: what each buys, and where Tock 2.2 spends it."""
    rows = []
    for row, (title, sentence, profiled) in PRICES.items():
        has_price = bool(nets("tock-2.2", row, "z"))
        rows.append([title, price(row) if has_price else text.NONE, sentence, _where(profiled)])
    heads = [
        "operation",
        "times",
        "what the price buys",
        "where the cycles go: stages of an alarm, or parts of a profile",
    ]
    return markdown(heads, rows, words=(0, 2, 3))


def _where(shown_by: str | None) -> str:
    """Format where Tock 2.2 spends its cycles: shares of the stages of an alarm, or of the parts of
    a row's profile. Grants are within other parts."""
    if shown_by is None:
        return text.NONE
    if (shown_by, True) in profiles(PROFILED):
        profile = profiles(PROFILED)[shown_by, True]
        cycles_by_part, whole = split_parts(profile, "cycles"), profile.cycles
        for name in UNSHOWN:
            cycles_by_part.pop(name, None)
    else:
        cycles_by_part = _stages("tock-2.2", "z", True, shown_by)
        whole = sum(cycles_by_part.values())
    ordered = sorted(cycles_by_part.items(), key=lambda part: -part[1])
    shown = [f"{name} {100 * cycles / whole:.0f} %" for name, cycles in ordered]
    return ", ".join(share for share in shown if not share.endswith(" 0 %"))


def _stages(name: str, level: str, icache: bool, last: str) -> dict[str, int]:
    """Return the medians of the stages of an alarm without load, up to one; none if they were not
    measured at this opt-level."""
    latency = waits.load_latency(name, icache)
    if latency.kernel.opt_level != level:
        return {}
    (stages,) = (load.stages for load in latency.loads if load.name == QUIET)
    asked = [*stages][: [*stages].index(last) + 1]
    return {stage: stages[stage].median for stage in asked}


def sizes() -> str:
    """Return the table of flash, RAM and stack."""
    rows = []
    for level in LEVELS:
        kernels = [result(name, level).kernel for name in COLUMNS]
        rows.append([f"flash, {level}", *(number(kernel.flash_bytes) for kernel in kernels)])
        rows.append([f"RAM, {level}", *(number(kernel.ram_bytes) for kernel in kernels)])
        rows.append([f"deepest stack, {level}", *(_stack(name, level) for name in COLUMNS)])
    return markdown(["bytes", *COLUMNS.values()], rows, words=(0,))


def _stack(name: str, level: str) -> str:
    """Format the bytes of stack that a firmware used, or a kernel of those that it reserves."""
    if name in KERNELS:
        stored = stack.load(DATA / "stack" / f"{name}-{level}.json")
        return f"{number(max(stored.used.values()))} of {number(stored.reserved)}"
    used = [row.stack for row in result(name, level).rows.values() if row.stack is not None]
    return number(max(used, default=None))
