# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Logs with the line forms of the 2021 study's, in numbers of our own, and what stands in them.

The study's own logs are others' data and not kept here. test_study_logs.py compares the forms with
theirs, line by line, where TOCKMARK_STUDY_LOGS says where those are.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import count

from tockmark.suite import catalogue
from tockmark.suite.catalogue import OVERHEAD
from tockmark.tests.rows import samples
from tockmark_lab import study_log

Rows = dict[str, dict[str, list[int]]]  # by the label of a row: its series

RESULTS = "### RESULTS ###"
SERIES = {"cycles": "cycles", "instructions": "instret"}  # what the logs call it, and what we do
SIZES = (32, 64, 128, 256, 512, *range(1024, 16385, 1024))
COPIES = {
    "memcpy": "mem.copy_memcpy",
    "manual_copy": "mem.copy_loop",
    "read": "mem.read_sum",
    "write": "mem.write_const",
}


@dataclass
class Made:
    """A log that is being written. Each table has numbers of its own, so that a mix-up shows."""

    lines: list[str] = field(default_factory=list)
    rows: Rows = field(default_factory=dict)
    bases: Iterable[int] = field(default_factory=lambda: count(3000, 10))

    @property
    def text(self) -> str:
        return "".join(f"{line}\n" for line in self.lines)

    def say(self, *lines: str) -> None:
        self.lines += lines

    def samples(self, label: str, series: str, number: int) -> list[int]:
        """That many new ones, the first a cold one, put down under the row."""
        base = next(iter(self.bases))
        made = [base + 7, *(base + run % 3 for run in range(1, number))]
        self.rows.setdefault(label, {})[series] = made
        return made

    def table(self, label: str, series: str, number: int, between: str = ", ") -> None:
        """Two columns, the run and what was counted; led by a tab where tabs are between."""
        lead = "\t" if "\t" in between else ""
        for run, value in enumerate(self.samples(label, series, number)):
            self.say(f"{lead}{run}{between}{value}")

    def both(self, title: str, label: str, number: int, more: str = "") -> None:
        """A table of cycles and one of instructions, each with its title and its heading."""
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
    """A title over two lines, tests under it, tabs, and no heading."""
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
    """Title and description over two lines each, and nothing that says what is counted."""
    for stride in (16, 32, 64):
        made.say(RESULTS, "benchmark: back-to-back memory access as described by lmbench and")
        made.say(f"           confirms there is no data cache, distance {stride}")
        made.say("description: back-to-back attempts to blow out the data cache")
        made.say("             by accessing at the start of each possible block")
        made.table(f"mem.latency stride={stride}", "cycles", 1000)


def flash_access(made: Made) -> None:
    """A fact above the table, columns that measure nothing, a remark with a number behind it."""
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
    """No line of RESULTS anywhere."""
    for kind in kinds:
        for size in sizes:
            made.both(f"{kind}_bandwidth", f"{COPIES[kind]} size={size}", 100, f", size {size}")


def syscall(made: Made) -> None:
    made.say(RESULTS)
    made.both("system_call", "syscall.command", 1000)


def setbrk(made: Made) -> None:
    """A column of addresses, and the same in decimal."""
    made.say(RESULTS, "benchmark: setbrk_overhead")
    made.say("description: changes the heap break which requires an MPU update")
    made.say("run, cycles, break, break_decimal")
    for run, value in enumerate(made.samples("syscall.sbrk", "cycles", 1000)):
        at = 0x10004000 + 8 * run
        made.say(f"{run}, {value}, {at:#x}, {at}")


def icache(made: Made) -> None:
    """What the rows are of stands before the number of the sample."""
    made.say(RESULTS, "benchmark: icache-test")
    made.say("description: measure instruction cache performance by increasing number of"
             " instructions in loop", "nop_bytes, run, cycles")  # fmt: skip
    for size in range(0, 16385, 1024):
        label = f"icache.nops width=2 size={size}"
        for run, value in enumerate(made.samples(label, "cycles", 10)):
            made.say(f"{size}, {run}, {value}")


def ipc_threading(made: Made) -> None:
    """A comma behind the colons."""
    for way, label in {
        "server to client": "ipc.server_to_client_late",
        "client to server": "ipc.client_to_server",
    }.items():
        made.say(RESULTS, f"benchmark:, measures ipc call overhead from {way}")
        made.say("description:, Measures cycles taken for one process to notify the other")
        made.say("run, cycles")
        made.table(label, "cycles", 1000)


def ipc_connection_overhead(made: Made) -> None:
    """Say one title twice: the heading says what is counted."""
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
    """These logs one behind the other, as if they were one."""
    made = Made()
    for part in parts:
        part(made)
    return made


def read(text: str) -> tuple[Rows, list[str], list[str]]:
    """What the parser makes of a log: its rows, the problems, and the faults of rows. A time.read
    that the log does not have, and the parser adds, is none of them."""
    measured = study_log.measured(text, "made", own=True)
    (app,) = (app for _, app in measured.each())
    lent = "overhead" in (app.begin or {})
    own = [row for row in app.rows if row.id != OVERHEAD or not lent]
    rows = {catalogue.label(row.id, row.params): samples(row) for row in own}
    return rows, list(map(str, measured.problems)), [fault for row in own for fault in row.faults]
