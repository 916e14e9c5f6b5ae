# SPDX-License-Identifier: Apache-2.0 OR MIT
"""How long an alarm or a sent line waits, and for what (lab/data/latency/). Waits that only the
watchdog ends were measured apart (lab/data/past-bark/).

Kernel `unchanged` is Tock master before the three changes, with the same number of alarms.
"""

from collections.abc import Collection, Iterator, Mapping
from functools import cache

from committed import between, share_left
from tables import markdown
from tockmark.latency import report
from tockmark.latency.chain import WaitSpread
from tockmark.latency.report import KINDS, OTHER_STACKS, LoadWaits, StackPart, StoredLatency
from tockmark.result.model import microseconds
from tockmark_lab import past_bark
from tockmark_lab.folders import DATA
from tockmark_lab.past_bark import LongWait

CHANGES = {
    "priorities": "write the PLIC's priorities once, not after each round of interrupts",
    "words": "keep one word that shows which of the six words of pending interrupts are nonzero",
    "chunks": "send 8 bytes per turn in the UART's driver instead of all that fit",
}
CHANGED = {
    "irq.upcall core=asleep": "alarm to upcall, asleep",
    "irq.upcall core=busy": "busy",
    "console.write size=64": "a line of 64 bytes",
    "ctx.ring processes=2 kib=0": "a hop",
    "syscall.command": "a command",
}
KERNELS = {"tock-2.2": "Tock 2.2", "tock-master": "Tock master", "baseline": "our baseline"}
LEVELS = {"Tock 2.2, z": "tock-2.2", "2.2, 2": "tock-2.2-2"}
LEVELS |= {"Tock master, z": "tock-master", "master, 2": "tock-master-2"}
DRAWN = {
    f"Tock {title.removeprefix('Tock ')}": name for title, name in LEVELS.items()
}  # of the picture
LINES = "uart-"  # before a kernel's name: its lines
SIDES = ("base", "head")


@cache
def load_latency(kernel: str, icache: bool = True) -> StoredLatency:
    """Return the committed latencies of a kernel, with one cache setting."""
    return report.load(DATA / "latency" / f"{kernel}-{'on' if icache else 'off'}.json")


def is_measured(icache: bool) -> bool:
    """Return whether all kernels were measured with this cache setting."""
    name = "on" if icache else "off"
    return all((DATA / "latency" / f"{kernel}-{name}.json").exists() for kernel in KERNELS)


def wait_spread(kernel: str, load: str, icache: bool = True) -> WaitSpread:
    """Return the spread of the alarms' waits under a load."""
    return _load(load_latency(kernel, icache), load).whole


def counts(*kernels: str) -> str:
    """Format the number of alarms per load, with the kernels' names if they differ."""
    by_count: dict[int, list[str]] = {}
    for kernel in kernels or KERNELS:
        by_count.setdefault(load_latency(kernel).loads[0].whole.count, []).append(KERNELS[kernel])
    if len(by_count) == 1:
        return f"{next(iter(by_count)):,}"
    return ", ".join(f"{count:,} ({', '.join(names)})" for count, names in by_count.items())


def past_bark_cycles(kernel: str, load: str) -> str:
    """Format how long an alarm waited for the bark of the watchdog, or was awaited past it."""
    wait = _past_bark(load_latency(kernel), load)
    assert wait is not None
    return f"{wait.cycles:,}"


def past_bark_seconds(kernel: str, load: str) -> str:
    """Format the same in seconds."""
    latency = load_latency(kernel)
    wait = _past_bark(latency, load)
    assert wait is not None
    return _seconds(wait.cycles, latency)


def _seconds(cycles: int, latency: StoredLatency) -> str:
    return f"{cycles / latency.clock_hz:.1f} s"


def _past_bark(latency: StoredLatency, load: str) -> LongWait | None:
    """Return the longest wait of the same kernel past the bark, or None if it was not measured."""
    for path in sorted((DATA / "past-bark").glob("*.json")):
        measured = past_bark.load_waits(path)
        if latency.icache and measured.kernel.sha256 == latency.kernel.sha256:
            for wait in measured.waits:
                if (wait.load, wait.chain) == (load, latency.chain):
                    return wait
    return None


def worst(kernel: str, icache: bool = True) -> str:
    """Format the worst wait of a kernel, in cycles and microseconds."""
    latency = load_latency(kernel, icache)
    cycles = latency.worst.cycles
    return f"{cycles:,} cycles ({microseconds(cycles, latency.clock_hz):,.0f} µs)"


def worst_load(kernel: str, icache: bool = True) -> str:
    """Return the load of the worst wait, in words."""
    latency = load_latency(kernel, icache)
    return _load(latency, latency.worst.load).what


def longest(kernel: str, kind: str) -> str:
    """Format the length of a kernel's longest stretch of this kind, in cycles, i-cache on."""
    all_stretches = load_latency(kernel).stretches
    return f"{next(stretch.cycles for stretch in all_stretches if stretch.kind == kind):,}"


def cycles_within(kernel: str, function: str) -> str:
    """Format the cycles of the worst alarm within a function, counting its largest parts only."""
    parts = load_latency(kernel).worst.parts
    return f"{sum(part.cycles for part in parts if function in part.stack):,}"


def loads(icache: bool = True, only: Collection[str] | None = None) -> str:
    """Return a table of the median and the worst wait by load and kernel. `only`: these loads."""
    of = {title: load_latency(name, icache) for name, title in KERNELS.items()}
    return _by_load(of, only)


def lines() -> str:
    """Return a table of the waits for the end of a sent line, by load and kernel."""
    return _by_load({title: load_latency(f"{LINES}{name}") for name, title in KERNELS.items()})


def levels() -> str:
    """Return a table of the alarms' waits at two opt-levels, for the loads measured at both."""
    both = {title: load_latency(name) for title, name in LEVELS.items()}
    at_2 = load_latency("tock-2.2-2")
    names = {load.name for load in at_2.loads} | {lost.name for lost in at_2.never}
    return _by_load(both, names)


def worst_at_2(kernel: str, icache: bool = True) -> str:
    """Format the worst wait at opt-level 2 relative to z (range over loads)."""
    at_2 = load_latency(f"{kernel}-2", icache).loads
    shares = [load.whole.worst / wait_spread(kernel, load.name, icache).worst for load in at_2]
    return between(shares, "{:.2f}".format)


def stages(kernel: str) -> str:
    """Return a table of the stages: without load, under the load of the worst alarm, and of that
    alarm."""
    latency = load_latency(kernel)
    alone, with_load = (_load(latency, name) for name in (report.QUIET, latency.worst.load))
    heads = [
        "stage",
        "what happens",
        "alone, median",
        "with load, median",
        "with load, worst",
        "worst alarm",
    ]
    rows = [
        [
            name,
            what,
            f"{alone.stages[name].median:,}",
            f"{with_load.stages[name].median:,}",
            f"{with_load.stages[name].worst:,}",
            f"{latency.worst.stages[name]:,}",
        ]
        for name, what in latency.stages.items()
    ]
    whole = with_load.whole
    last = (
        f"{alone.whole.median:,}",
        f"{whole.median:,}",
        f"{whole.worst:,}",
        f"{latency.worst.cycles:,}",
    )
    return markdown(heads, [*rows, ["whole", "", *last]], (0, 1))


def spent(kernel: str) -> str:
    """Return a table of the worst alarm's cycles by function."""
    parts = load_latency(kernel).worst.parts
    return markdown(["functions, callers first", "cycles"], ([*_part(part)] for part in parts))


def stretches() -> str:
    """Return a table of the longest periods by kernel, with the function that takes most cycles."""
    rows = []
    for kind, what in KINDS.items():
        for kernel, title in KERNELS.items():
            for stretch in load_latency(kernel).stretches:
                if stretch.kind == kind:
                    most, cycles = _part(stretch.parts[0])
                    rows.append(
                        [what, title, f"{stretch.cycles:,}", stretch.load, f"{most} ({cycles})"]
                    )
    heads = ["period in which", "kernel", "cycles", "load", "mostly in"]
    return markdown(heads, rows, (0, 1, 3, 4))


def left_by(change: str) -> str:
    """Format what a change leaves of an alarm's cycles, core asleep."""
    return share_left(f"waits/{change}", "irq.upcall core=asleep")


def changes() -> str:
    """Return a table of the three changes: ratios of some rows' cycles, and alarms under load."""
    rows = []
    for name, what in CHANGES.items():
        for icache in (True, False):
            cells = [share_left(f"waits/{name}", row, icache) for row in CHANGED]
            worst = _cell(load_latency(name), "console") if icache else "-"
            rows.append([what if icache else "", "on" if icache else "off", *cells, worst])
    heads = ["change", "i-cache", *CHANGED.values(), "alarm, console load"]
    return markdown(heads, rows, (0, 1))


def _by_load(of: Mapping[str, StoredLatency], only: Collection[str] | None = None) -> str:
    names = {load.name: load.what for latency in of.values() for load in latency.loads}
    names |= {lost.name: lost.what for latency in of.values() for lost in latency.never}
    rows = (
        [what, *(_cell(latency, name) for latency in of.values())]
        for name, what in names.items()
        if only is None or name in only
    )
    return markdown(["load", *of], rows)


def _part(part: StackPart) -> Iterator[str]:
    yield "all others" if part.stack == OTHER_STACKS else " → ".join(part.stack)
    yield f"{part.cycles:,}"


def _load(latency: StoredLatency, name: str) -> LoadWaits:
    return next(load for load in latency.loads if load.name == name)


def _cell(latency: StoredLatency, name: str) -> str:
    for lost in latency.never:
        if lost.name == name:
            wait = _past_bark(latency, name)
            cycles = lost.cycles if wait is None else wait.cycles
            over = "" if wait is not None and wait.stages else "over "
            return f"{over}{cycles:,} ({_seconds(cycles, latency)})"
    if name not in {load.name for load in latency.loads}:
        return "-"
    whole = _load(latency, name).whole
    return f"{whole.median:,}; {whole.worst:,}"
