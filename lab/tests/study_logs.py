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
SERIES = {"cycles": "cycles", "instructions": "instret"}  # the log's word, and the series
SIZES = (32, 64, 128, 256, 512, *range(1024, 16385, 1024))
COPIES = {
    "memcpy": "mem.copy_memcpy",
    "manual_copy": "mem.copy_loop",
    "read": "mem.read_sum",
    "write": "mem.write_const",
}


@dataclass
class LogBuilder:
    """A log that is being written. Each table has its own numbers, so that a mix-up is visible."""

    lines: list[str] = field(default_factory=list)
    rows: Rows = field(default_factory=dict)
    bases: Iterable[int] = field(default_factory=lambda: count(3000, 10))

    @property
    def text(self) -> str:
        return "".join(f"{line}\n" for line in self.lines)

    def write(self, *lines: str) -> None:
        self.lines += lines

    def samples(self, label: str, series: str, number: int) -> list[int]:
        """Return `number` new samples, the first one cold, and record them under the row."""
        base = next(iter(self.bases))
        values = [base + 7, *(base + run % 3 for run in range(1, number))]
        self.rows.setdefault(label, {})[series] = values
        return values

    def table(self, label: str, series: str, number: int, between: str = ", ") -> None:
        """Write two columns: the run and the count. If tabs separate the columns, lines start with
        a tab."""
        lead = "\t" if "\t" in between else ""
        for run, value in enumerate(self.samples(label, series, number)):
            self.write(f"{lead}{run}{between}{value}")

    def both(self, title: str, label: str, number: int, more: str = "") -> None:
        """Write a table of cycles and one of instructions, each with its title and heading."""
        for counted, series in SERIES.items():
            self.write(f"benchmark: {title}_{counted}{more}", f"run, {counted}")
            self.table(label, series, number)


def time(builder: LogBuilder) -> None:
    builder.write(RESULTS)
    builder.both("timing_overhead", "time.read", 1000)


def proc(builder: LogBuilder) -> None:
    rows = {"plain_proc": "call.void", "ret_proc": "call.return"}
    rows |= {f"arg{n}_proc": f"call.args n={n}" for n in range(1, 11)}
    for title, label in rows.items():
        builder.write(RESULTS)
        builder.both(title, label, 1000)


def loop(builder: LogBuilder) -> None:
    """Write a title of two lines, its tests, tabs between columns, and no heading."""
    builder.write(RESULTS, "benchmark: measures loop overhead and")
    builder.write("           confirms a branch not taken predictor")
    builder.write("description: measures cycles for 1000 loops")
    tests = {
        "empty loop": "loop.empty",
        "loop with always not taken inside": "loop.not_taken",
        "alternating loop": "loop.alternating",
        "Always taken": "loop.taken",
    }
    for number, (test, label) in enumerate(tests.items(), 1):
        builder.write(f"Test {number}: {test}")
        builder.table(label, "cycles", 32, ",\t")


def back_to_back(builder: LogBuilder) -> None:
    """Write a title and a description of two lines each. Neither names the counter."""
    for stride in (16, 32, 64):
        builder.write(RESULTS, "benchmark: back-to-back memory access as described by lmbench and")
        builder.write(f"           confirms there is no data cache, distance {stride}")
        builder.write("description: back-to-back attempts to blow out the data cache")
        builder.write("             by accessing at the start of each possible block")
        builder.table(f"mem.latency stride={stride}", "cycles", 1000)


def flash_access(builder: LogBuilder) -> None:
    """Write a remark above the table, columns that measure nothing, and a remark with a number at
    its end."""
    builder.write(
        RESULTS, "benchmark: flash_bandwidth", "description: measures flash bandwidth reading"
    )
    builder.write("Run length: 7936", "run, cycles, cycles / byte")
    for run, value in enumerate(builder.samples("flash.read_seq", "cycles", 100)):
        builder.write(f"{run}, {value}, {value // 7936}")
    builder.write("Got sum 0", "", RESULTS, "benchmark: flash_random_bandwidth")
    builder.write("description: measures flash bandwidth reading width random offsets")
    builder.write("Max Offset: 128", "run, cycles, bytes_read, cycles / byte")
    for run, value in enumerate(builder.samples("flash.read_sporadic", "cycles", 100)):
        read = 4 * (212 + run % 12)
        builder.write(f"{run}, {value}, {read}, {value // read}")
    builder.write("Got sum 271828182", "")


def memory_bandwidth(
    builder: LogBuilder, sizes: Iterable[int] = SIZES, kinds: Iterable[str] = tuple(COPIES)
) -> None:
    """Write tables without any line RESULTS."""
    for kind in kinds:
        for size in sizes:
            builder.both(f"{kind}_bandwidth", f"{COPIES[kind]} size={size}", 100, f", size {size}")


def syscall(builder: LogBuilder) -> None:
    builder.write(RESULTS)
    builder.both("system_call", "syscall.command", 1000)


def setbrk(builder: LogBuilder) -> None:
    """Write a column of addresses, and the same in decimal."""
    builder.write(RESULTS, "benchmark: setbrk_overhead")
    builder.write("description: changes the heap break which requires an MPU update")
    builder.write("run, cycles, break, break_decimal")
    for run, value in enumerate(builder.samples("syscall.sbrk", "cycles", 1000)):
        at = 0x10004000 + 8 * run
        builder.write(f"{run}, {value}, {at:#x}, {at}")


def icache(builder: LogBuilder) -> None:
    """Write the parameter before the sample number."""
    builder.write(RESULTS, "benchmark: icache-test")
    builder.write("description: measure instruction cache performance by increasing number of"
             " instructions in loop", "nop_bytes, run, cycles")  # fmt: skip
    for size in range(0, 16385, 1024):
        label = f"icache.nops width=2 size={size}"
        for run, value in enumerate(builder.samples(label, "cycles", 10)):
            builder.write(f"{size}, {run}, {value}")


def ipc_threading(builder: LogBuilder) -> None:
    """Write a comma after the colons."""
    for way, label in {
        "server to client": "ipc.server_to_client_late",
        "client to server": "ipc.client_to_server",
    }.items():
        builder.write(RESULTS, f"benchmark:, measures ipc call overhead from {way}")
        builder.write("description:, Measures cycles taken for one process to notify the other")
        builder.write("run, cycles")
        builder.table(label, "cycles", 1000)


def ipc_connection_overhead(builder: LogBuilder) -> None:
    """Write each title twice. Only the heading names the counter."""
    builder.write(RESULTS)
    words = {"": ("find", "hit"), "failure ": ("fail to find", "miss")}
    for failure, (does, how) in words.items():
        for counted, series in SERIES.items():
            builder.write(f"benchmark: measures IPC service finding {failure}overhead")
            builder.write(
                f"description: measures {counted} taken for one process to {does} a service"
            )
            builder.write(f"run, {counted}")
            builder.table(f"ipc.discover_{how} part=all", series, 100)


def ipcbandwidth(builder: LogBuilder) -> None:
    builder.write(RESULTS, "benchmark: measures IPC call and memory copying over IPC overhead")
    builder.write("description: measures cycles taken for one process to copy data received from"
             " another", "run, cycles")  # fmt: skip
    builder.table("ipc.bandwidth size=10240", "cycles", 100)


def ping(builder: LogBuilder) -> None:
    builder.write(RESULTS, "benchmark: measures ping time")
    builder.write("description: Measures cycles taken for one process to notify")
    builder.write("             the other and for the other to notify back.", "run, cycles")
    builder.table("ipc.round_trip", "cycles", 100)
    builder.write("")


Part = Callable[[LogBuilder], None]
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


def log(*parts: Part) -> LogBuilder:
    """Return these logs, concatenated."""
    builder = LogBuilder()
    for part in parts:
        part(builder)
    return builder


def read(text: str) -> tuple[Rows, list[str], list[str]]:
    """Return the rows, the problems and the rows' errors that the parser finds in a log. Skip a
    time.read that the parser added."""
    measured = study_log.measured(text, "made", own=True)
    (app,) = (app for _, app in measured.each())
    lent = "overhead" in (app.begin or {})
    own = [row for row in app.rows if row.id != OVERHEAD or not lent]
    rows = {catalogue.label(row.id, row.params): samples(row) for row in own}
    return rows, list(map(str, measured.problems)), [fault for row in own for fault in row.faults]
