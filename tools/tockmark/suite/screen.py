# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The rows that people ask for first: those of the first screen (show/summary.py), and what a run
of a further language is limited to by `--short`."""

from tockmark.suite.catalogue import OF_BOOT, Catalogue, RowKey, row_key
from tockmark.suite.select import Selection, only_one

Blocks = dict[str, dict[str, RowKey]]  # a heading; below it words, and the row that they stand for

SCREEN = {
    "System calls": {
        "command": "syscall.command",
        "command to no driver": "syscall.command_absent",
        "yield-no-wait": "syscall.yield_no_wait",
        "subscribe": "syscall.subscribe",
        "allow-ro 64 B": "syscall.allow_ro:size=64",
        "allow-rw 64 B": "syscall.allow_rw:size=64",
        "memop": "syscall.memop",
        "sbrk": "syscall.sbrk",
        "console write 64 B": "console.write:size=64",
    },
    "Upcalls, switching, latency": {
        "upcall": "upcall.yield_wait",
        "token hop, 2 processes": "ctx.ring:processes=2,kib=0",
        "token hop, 4 with 4 KiB": "ctx.ring:processes=4,kib=4",
        "irq to upcall, asleep": "irq.upcall:core=asleep",
        "irq to upcall, busy": "irq.upcall:core=busy",
        "reset to first app": "boot.per_process:apps=1",
    },
    "IPC": {
        "one way": "ipc.client_to_server",
        "round trip": "ipc.round_trip",
        "discover": "ipc.discover_hit:part=all",
        "share": "ipc.share",
        "message of 4 KiB": "ipc.bandwidth:size=4096",
    },
    "Processor and memory (no kernel)": {
        "procedure call": "call.void",
        "loop iteration": "loop.empty",
        "list node in RAM": "mem.latency:stride=64",
        "memcpy 4 KiB": "mem.copy_memcpy:size=4096",
        "flash load, chained": "flash.latency:to=next",
    },
}


def screen(catalogue: Catalogue) -> Blocks:
    """The rows that people ask for first."""
    return {
        title: {words: row_key(*only_one(catalogue, term)) for words, term in rows.items()}
        for title, rows in SCREEN.items()
    }


def short(catalogue: Catalogue) -> Selection:
    """What tells languages apart: the same rows, and those whose body a compiler makes."""
    first = [term for rows in SCREEN.values() for term in rows.values()]
    compiled = [
        one.id
        for one in catalogue.benchmarks.values()
        if not one.bodies and one.by != "mark" and one.id not in OF_BOOT
    ]
    return Selection(catalogue, (*first, *compiled))
