# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Logs in the line forms of the 2021 study, with numbers of our own, and the rows that they
contain.

The study's own logs are not ours to publish. If TOCKMARK_STUDY_LOGS names their folder,
test_study_logs.py compares the forms with them line by line."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import count

from tockmark.suite import catalogue
from tockmark.suite.catalogue import OVERHEAD
from tockmark.tests.rows import samples
from tockmark_lab import study_log

Rows = dict[str, dict[str, list[int]]]  # the series of each row, by label

RESULTS = "### RESULTS ###"
SERIES = {"cycles": "cycles", "instructions": "instret"}  # the logs' name, and ours
SIZES = (32, 64, 128, 256, 512, *range(1024, 16385, 1024))
COPIES = {
    "memcpy": "mem.copy_memcpy",
    "manual_copy": "mem.copy_loop",
    "read": "mem.read_sum",
    "write": "mem.write_const",
}


@dataclass
class Made:
    """A log that is being written. Each table has its own numbers, so that a mix-up shows."""

    lines: list[str] = field(default_factory=list)
    rows: Rows = field(default_factory=dict)
    bases: Iterable[int] = field(default_factory=lambda: count(3000, 10))

    @property
    def text(self) -> str:
        return "".join(f"{line}\n" for line in self.lines)

    def say(self, *lines: str) -> None:
        self.lines += lines

    def samples(self, label: str, series: str, number: int) -> list[int]:
        """Return `count` new samples, the first one cold, and record them under the row."""
        base = next(iter(self.bases))
        made = [base + 7, *(base + run % 3 for run in range(1, number))]
        self.rows.setdefault(label, {})[series] = made
        return made

    def table(self, label: str, series: str, number: int, between: str = ", ") -> None:
        """Write two columns, the run and the count; lines start with a tab if columns are separated
        by tabs."""
        lead = "\t" if "\t" in between else ""
        for run, value in enumerate(self.samples(label, series, number)):
            self.say(f"{lead}{run}{between}{value}")

    def both(self, title: str, label: str, number: int, more: str = "") -> None:
        """Write a table of cycles and one of instructions, each with its title and heading."""
        for counted, series in SERIES.items():
            self.say(f"benchmark: {title}_{counted}{more}", f"run, {counted}")
            self.table(label, series, number)


def time(made: Made) -> None:
    made.say(RESULTS)
    made.both("timing_overhead", "time.read", 1000)


def proc(made: Made) -> None:
    rows = {"plain_proc": "call.void", "ret_proc": "call.return"}
    rows |= {f"arg{n}_proc": f"call.args n={n}" for n in range(1, 11)}
    for title, label in rows.items():
        made.say(RESULTS)
        made.both(title, label, 1000)


def loop(made: Made) -> None:
    """Write a title over two lines, tests below it, tabs, and no heading."""
    made.say(RESULTS, "benchmark: measures loop overhead and")
    made.say("           confirms a branch not taken predictor")
    made.say("description: measures cycles for 1000 loops")
    tests = {
        "empty loop": "loop.empty",
        "loop with always not taken inside": "loop.not_taken",
        "alternating loop": "loop.alternating",
        "Always taken": "loop.taken",
    }
    for number, (test, label) in enumerate(tests.items(), 1):
        made.say(f"Test {number}: {test}")
        made.table(label, "cycles", 32, ",\t")


def back_to_back(made: Made) -> None:
    """Write title and description over two lines each, without saying what is counted."""
    for stride in (16, 32, 64):
        made.say(RESULTS, "benchmark: back-to-back memory access as described by lmbench and")
        made.say(f"           confirms there is no data cache, distance {stride}")
        made.say("description: back-to-back attempts to blow out the data cache")
        made.say("             by accessing at the start of each possible block")
        made.table(f"mem.latency stride={stride}", "cycles", 1000)


def flash_access(made: Made) -> None:
    """Write a remark above the table, columns that measure nothing, and a remark that ends in a
    number."""
    made.say(RESULTS, "benchmark: flash_bandwidth", "description: measures flash bandwidth reading")
    made.say("Run length: 7936", "run, cycles, cycles / byte")
    for run, value in enumerate(made.samples("flash.read_seq", "cycles", 100)):
        made.say(f"{run}, {value}, {value // 7936}")
    made.say("Got sum 0", "", RESULTS, "benchmark: flash_random_bandwidth")
    made.say("description: measures flash bandwidth reading width random offsets")
    made.say("Max Offset: 128", "run, cycles, bytes_read, cycles / byte")
    for run, value in enumerate(made.samples("flash.read_sporadic", "cycles", 100)):
        read = 4 * (212 + run % 12)
        made.say(f"{run}, {value}, {read}, {value // read}")
    made.say("Got sum 271828182", "")


def memory_bandwidth(
    made: Made, sizes: Iterable[int] = SIZES, kinds: Iterable[str] = tuple(COPIES)
) -> None:
    """Write tables without any line RESULTS."""
    for kind in kinds:
        for size in sizes:
            made.both(f"{kind}_bandwidth", f"{COPIES[kind]} size={size}", 100, f", size {size}")


def syscall(made: Made) -> None:
    made.say(RESULTS)
    made.both("system_call", "syscall.command", 1000)


def setbrk(made: Made) -> None:
    """Write a column of addresses, and the same in decimal."""
    made.say(RESULTS, "benchmark: setbrk_overhead")
    made.say("description: changes the heap break which requires an MPU update")
    made.say("run, cycles, break, break_decimal")
    for run, value in enumerate(made.samples("syscall.sbrk", "cycles", 1000)):
        at = 0x10004000 + 8 * run
        made.say(f"{run}, {value}, {at:#x}, {at}")


def icache(made: Made) -> None:
    """Write the parameter before the number of the sample."""
    made.say(RESULTS, "benchmark: icache-test")
    made.say("description: measure instruction cache performance by increasing number of"
             " instructions in loop", "nop_bytes, run, cycles")  # fmt: skip
    for size in range(0, 16385, 1024):
        label = f"icache.nops width=2 size={size}"
        for run, value in enumerate(made.samples(label, "cycles", 10)):
            made.say(f"{size}, {run}, {value}")


def ipc_threading(made: Made) -> None:
    """Write a comma after the colons."""
    for way, label in {
        "server to client": "ipc.server_to_client_late",
        "client to server": "ipc.client_to_server",
    }.items():
        made.say(RESULTS, f"benchmark:, measures ipc call overhead from {way}")
        made.say("description:, Measures cycles taken for one process to notify the other")
        made.say("run, cycles")
        made.table(label, "cycles", 1000)


def ipc_connection_overhead(made: Made) -> None:
    """Write one title twice: the heading names the counter."""
    made.say(RESULTS)
    words = {"": ("find", "hit"), "failure ": ("fail to find", "miss")}
    for failure, (does, how) in words.items():
        for counted, series in SERIES.items():
            made.say(f"benchmark: measures IPC service finding {failure}overhead")
            made.say(f"description: measures {counted} taken for one process to {does} a service")
            made.say(f"run, {counted}")
            made.table(f"ipc.discover_{how} part=all", series, 100)


def ipcbandwidth(made: Made) -> None:
    made.say(RESULTS, "benchmark: measures IPC call and memory copying over IPC overhead")
    made.say("description: measures cycles taken for one process to copy data received from"
             " another", "run, cycles")  # fmt: skip
    made.table("ipc.bandwidth size=10240", "cycles", 100)


def ping(made: Made) -> None:
    made.say(RESULTS, "benchmark: measures ping time")
    made.say("description: Measures cycles taken for one process to notify")
    made.say("             the other and for the other to notify back.", "run, cycles")
    made.table("ipc.round_trip", "cycles", 100)
    made.say("")


Part = Callable[[Made], None]
LOGS: dict[str, Part] = {
    "time": time,
    "proc": proc,
    "loop": loop,
    "back_to_back": back_to_back,
    "flash-access": flash_access,
    "memory_bandwidth": memory_bandwidth,
    "syscall": syscall,
    "setbrk": setbrk,
    "icache": icache,
    "ipc_threading": ipc_threading,
    "ipc_connection_overhead": ipc_connection_overhead,
    "ipcbandwidth": ipcbandwidth,
    "ping": ping,
}


def log(*parts: Part) -> Made:
    """Return these logs, concatenated."""
    made = Made()
    for part in parts:
        part(made)
    return made


def read(text: str) -> tuple[Rows, list[str], list[str]]:
    """Return the rows, the problems and the rows' errors that the parser finds in a log, without a
    time.read that the parser adds."""
    measured = study_log.measured(text, "made", own=True)
    (app,) = (app for _, app in measured.each())
    lent = "overhead" in (app.begin or {})
    own = [row for row in app.rows if row.id != OVERHEAD or not lent]
    rows = {catalogue.label(row.id, row.params): samples(row) for row in own}
    return rows, list(map(str, measured.problems)), [fault for row in own for fault in row.faults]
