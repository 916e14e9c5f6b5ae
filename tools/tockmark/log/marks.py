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

from tockmark.crc import sealed
from tockmark.target.marks import RESET

ARM = "arm"  # passed before each sample: what was marked before does not count
FULL = "full"  # the simulator's last mark: it prints no more

_MARK = re.compile(r"#sim (?P<cycle>\d{1,20}) (?P<name>[a-z0-9_]+) \*(?P<crc>[0-9a-f]{4})")


@dataclass(frozen=True)
class Mark:
    """One mark: its line in the log, the simulator's cycle, and what was passed."""

    line: int
    cycle: int
    name: str

    def encode(self) -> str:
        """As the simulator prints it, without its newline."""
        return sealed(f"#sim {self.cycle} {self.name} ")


def decode(raw: str, line: int) -> Mark | None:
    """The mark that a line of the log is, if it is one."""
    match = _MARK.fullmatch(raw.rstrip("\r\n"))
    mark = Mark(line, int(match["cycle"]), match["name"]) if match else None
    return mark if mark and mark.encode() == raw.rstrip("\r\n") else None


def of_row(marks: Iterable[Mark], start: str, before: int, line: int) -> list[Mark]:
    """The marks of a row: they stand between the app's record before, at line `before` of the log,
    and the row's own; those of a start from reset stand anywhere before the row."""
    first = 0 if start == RESET else before
    return [mark for mark in marks if first < mark.line < line]


def durations(marks: Sequence[Mark], start: str, end: str, count: int) -> list[int]:
    """`count` samples, in cycles: after each `arm` from the first `start` to the next `end`.

    From `reset` there is one, and no `arm`. ValueError if a sample lacks one of its marks, or there
    are too few: then none of the row can be believed.
    """
    samples: list[int] = []
    started: int | None = None
    armed = start == RESET
    for mark in marks:
        if len(samples) == count:
            break
        if mark.name == FULL:
            raise ValueError("the simulator stopped marking: the boot has too many marks")
        if mark.name == ARM and start != RESET:
            if armed:
                raise ValueError(
                    f"sample {len(samples) + 1} has no {_missing(start, end, started)}"
                )
            armed, started = True, None
        elif armed and started is None and mark.name == start:
            started = mark.cycle
        elif armed and started is not None and mark.name == end:
            samples.append(mark.cycle - started)
            armed = False
    if len(samples) < count:
        missing = f": no {_missing(start, end, started)}" if armed else ""
        raise ValueError(f"{len(samples)} of {count} samples have their marks{missing}")
    return samples


def _missing(start: str, end: str, started: int | None) -> str:
    return f"mark {start if started is None else end}"
