# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Marks: what the simulator's own clock says of a run, and the samples that come of it.

The core's counters stand still while it sleeps, and an app cannot see when an interrupt rose. The
simulator can: a log has `#sim <cycle> <name> *<crc>` between the UART's lines where the core came
by an address that has a name, or where an interrupt rose or was taken. docs/contributing.md says
how a row whose `bench` record has `clock=sim from=<name> to=<name>` gets its samples from them.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import attrgetter

from tockmark.rig.boot_watcher import BY_SIMULATOR, RESET, sealed

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
        """Return it as a log has it, without its newline."""
        return sealed(f"{BY_SIMULATOR}{self.cycle} {self.name} ")


def decode(raw: str, line: int) -> Mark | None:
    """Return the mark that a line of the log is, if it is one."""
    match = _MARK.fullmatch(raw.rstrip("\r\n"))
    mark = Mark(line, int(match["cycle"]), match["name"]) if match else None
    return mark if mark and mark.encode() == raw.rstrip("\r\n") else None


@dataclass
class Marks:
    """The marks of a boot in the order of the log. A row takes a look at its own only."""

    every: list[Mark] = field(default_factory=list)
    since_reset: dict[str, Mark] = field(default_factory=dict)  # the first of each name

    def __len__(self) -> int:
        return len(self.every)

    def append(self, mark: Mark) -> None:
        self.every.append(mark)
        if mark.name == RESET or RESET in self.since_reset:
            self.since_reset.setdefault(mark.name, mark)

    def of_row(self, start: str, end: str, before: int, line: int) -> list[Mark]:
        """Return the marks of a row: they stand between the record before it, at line `before` of
        the log, and its own; those of a start from reset stand anywhere before the row."""
        if start == RESET:
            found = [
                self.since_reset[name] for name in (RESET, end, FULL) if name in self.since_reset
            ]
            return sorted((mark for mark in found if mark.line < line), key=attrgetter("line"))
        first = bisect_right(self.every, before, key=attrgetter("line"))
        return self.every[first : bisect_left(self.every, line, key=attrgetter("line"))]


def durations(marks: Sequence[Mark], start: str, end: str, count: int) -> list[int]:
    """Return `count` samples, in cycles. ValueError as of `intervals`."""
    return [stop - begin for begin, stop in intervals(marks, start, end, count)]


def intervals(marks: Sequence[Mark], start: str, end: str, count: int) -> list[tuple[int, int]]:
    """Return the first and the last cycle of `count` samples: after each `arm` from the first
    `start` to the next `end`.

    From `reset` there is one, and no `arm`. ValueError if a sample lacks one of its marks, or there
    are too few: then none of the row can be believed.
    """
    samples: list[tuple[int, int]] = []
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
            samples.append((started, mark.cycle))
            if not 0 <= mark.cycle - started < 2**32:
                raise ValueError(f"sample {len(samples)} has {mark.cycle - started} cycles")
            armed = False
    if len(samples) < count:
        missing = f": no {_missing(start, end, started)}" if armed else ""
        raise ValueError(f"{len(samples)} of {count} samples have their marks{missing}")
    return samples


def _missing(start: str, end: str, started: int | None) -> str:
    return f"mark {start if started is None else end}"
