# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Marks: what the simulator's own clock says of a run, and the samples that come of it.

The core's counters stand still while it sleeps, and an app cannot see when an interrupt rose. The
simulator can: it prints `#sim <cycle> <name> *<crc>` between the UART's lines when the core comes
by an address that has a name, or when an interrupt rises or is taken. docs/protocol.md says how a
row whose `bench` record has `clock=sim from=<name> to=<name>` gets its samples from them.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from tockmark.crc import crc16

SYMBOL = "tm_mark_"  # an app's symbol tm_mark_x is the address of the mark x
ARM = "arm"  # passed before each sample: what was marked before does not count
FULL = "full"  # the simulator's last mark: it prints no more
OWN = ("irq", "trap")  # marks that need no address

_MARK = re.compile(r"#sim (?P<cycle>\d{1,20}) (?P<name>[a-z0-9_]+) \*(?P<crc>[0-9a-f]{4})")


@dataclass(frozen=True)
class Mark:
    """One mark: its line in the log, the simulator's cycle, and what was passed."""

    line: int
    cycle: int
    name: str

    def encode(self) -> str:
        """As the simulator prints it, without its newline."""
        head = f"#sim {self.cycle} {self.name} "
        return f"{head}*{crc16(head.encode('ascii')):04x}"


def decode(raw: str, line: int) -> Mark | None:
    """The mark that a line of the log is, if it is one."""
    match = _MARK.fullmatch(raw.rstrip("\r\n"))
    mark = Mark(line, int(match["cycle"]), match["name"]) if match else None
    return mark if mark and mark.encode() == raw.rstrip("\r\n") else None


def between(marks: Iterable[Mark], first: int, last: int) -> list[Mark]:
    """The marks that stand behind line `first` and before line `last` of the log."""
    return [mark for mark in marks if first < mark.line < last]


def durations(marks: Sequence[Mark], start: str, end: str) -> list[int]:
    """The samples, in cycles: after each `arm` from the first `start` to the first `end` behind it.

    ValueError if a sample lacks one of the two: then none of the row can be believed.
    """
    samples: list[int] = []
    started: int | None = None
    armed = False
    for mark in marks:
        if mark.name == FULL:
            raise ValueError("the simulator stopped marking: the boot has too many marks")
        if mark.name == ARM:
            if armed:
                raise ValueError(
                    f"sample {len(samples) + 1} has no {_missing(start, end, started)}"
                )
            armed, started = True, mark.cycle if start == ARM else None
        elif armed and started is None and mark.name == start:
            started = mark.cycle
        elif armed and started is not None and mark.name == end:
            samples.append(mark.cycle - started)
            armed = False
    if armed:
        raise ValueError(f"the last sample has no {_missing(start, end, started)}")
    return samples


def _missing(start: str, end: str, started: int | None) -> str:
    return f"mark {start if started is None else end}"


def options(elves: Iterable[Path]) -> list[str]:
    """The simulator's options for the apps of a boot; none if they have nothing to mark."""
    found: list[str] = []
    for path in elves:
        with path.open("rb") as file:
            table = ELFFile(file).get_section_by_name(".symtab")
            if isinstance(table, SymbolTableSection):
                found += [
                    f"{symbol.name.removeprefix(SYMBOL)}={symbol['st_value']:#x}"
                    for symbol in table.iter_symbols()
                    if symbol.name.startswith(SYMBOL)
                ]
    return [word for mark in (*found, *OWN) for word in ("--mark", mark)] if found else []
