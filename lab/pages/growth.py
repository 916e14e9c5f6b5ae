# SPDX-License-Identifier: Apache-2.0 OR MIT
"""How cost grows with the number of processes, alarms, clients, grants and header entries: a line
through each sweep of lab/studies/growth/data."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tables import markdown
from tockmark.result import file
from tockmark.result.model import Result
from tockmark.result.stats import least_squares
from tockmark_lab.folders import STUDIES
from tockmark_lab.studies import growth as boots
from tockmark_lab.studies.programs import short

FOLDER = STUDIES / "growth" / "data"
EIGHT = FOLDER / "eight"  # on kernels built for eight apps
CLIENTS = FOLDER / "clients"  # Tock with more clients of the alarm's mux: N-M.json, M of N armed
BOOTS = FOLDER / "boots"  # by entries of the headers

# By operation of the rows: what it is, and what grows.
OPERATIONS = {
    "command": ("a minimal command", "processes"),
    "find": ("a failed look-up of a service", "processes"),
    "wake": ("an alarm's upcall, asleep", "processes"),
    "start": ("a boot", "apps"),
    "set": ("setting an alarm", "alarms of processes"),
    "rung": ("an alarm's upcall", "alarms of processes"),
    "subscribe": ("subscribing", "grants of the process"),
    "add last": ("one more alarm of libtock-c, the last", "alarms of one process"),
    "add first": ("one more alarm of libtock-c, the first", "alarms of one process"),
    "cancel last": ("cancelling the last", "alarms of one process"),
    "cancel first": ("cancelling the first", "alarms of one process"),
    "entries": ("a boot of four apps", "entries of each header"),
    "set, idle clients": ("setting an alarm", "clients without an alarm"),
    "set, armed clients": ("setting an alarm", "clients with an alarm"),
    "rung, idle clients": ("an alarm's upcall", "clients without an alarm"),
    "rung, armed clients": ("an alarm's upcall", "clients with an alarm"),
}
# The operations in the picture.
DRAWN = ("wake", "start", "set", "rung", "subscribe", "add last", "entries", "rung, armed clients")


class Line(NamedTuple):
    """A straight line: the cycles at 0, the cycles of one more, and the error at the number in the
    middle, which was not fitted."""

    intercept: float
    slope: float
    error: float


@dataclass(frozen=True)
class GrowthRow:
    """The net cycles of an operation by number, for a kernel and both cache settings."""

    operation: str  # a key of OPERATIONS
    kernel: str
    on: dict[int, float]
    off: dict[int, float]

    def points(self, icache: bool) -> dict[int, float]:
        """Return the cycles by number, in order."""
        return dict(sorted((self.on if icache else self.off).items()))

    def line(self, icache: bool) -> Line:
        """Return the line through all numbers but the middle one."""
        points = self.points(icache)
        numbers = [*points]
        middle = numbers.pop(len(numbers) // 2)
        fit = least_squares([points[number] for number in numbers], numbers)
        (slope,) = fit.slopes
        return Line(fit.intercept, slope, points[middle] - fit.intercept - slope * middle)


@cache
def sweeps() -> tuple[GrowthRow, ...]:
    """Return all sweeps, in the order of OPERATIONS."""
    order = list(OPERATIONS)
    every = [*_of_rows(), *_of_clients(), *_of_boots()]
    return tuple(sorted(every, key=lambda sweep: order.index(sweep.operation)))


def _name(result: Result, path: Path) -> str:
    name = short(result.provenance.kernel.title).partition(",")[0]
    return name + ", for eight" * (path.parent in (EIGHT, CLIENTS))


def _of_rows() -> Iterator[GrowthRow]:
    """Yield the sweeps whose number is a parameter of a row."""
    for path in [*sorted(FOLDER.glob("*.json")), *sorted(EIGHT.glob("*.json"))]:
        result = file.load(path)
        cycles: dict[str, dict[bool, dict[int, float]]] = {}
        for row in result.rows:
            *names, size = row.params.values() or [""]
            operation = " ".join([row.id.partition(".")[2], *map(str, names)])
            if operation in OPERATIONS and row.per_op is not None and isinstance(size, int):
                if operation == "rung" and size == 1:
                    continue  # alone, an alarm needs no next one: another step
                by_cache = cycles.setdefault(operation, {True: {}, False: {}})
                by_cache[bool(row.icache)][size] = row.per_op
        for operation, by_cache in cycles.items():
            yield GrowthRow(operation, _name(result, path), by_cache[True], by_cache[False])


def _of_clients() -> Iterator[GrowthRow]:
    """Yield the sweeps whose number is in the board."""
    by_count: dict[tuple[int, int], Result] = {}
    kernel = ""
    for path in CLIENTS.glob("*.json"):
        clients, with_alarm = map(int, path.stem.split("-"))
        result = by_count[clients, with_alarm] = file.load(path)
        kernel = _name(result, path)
    for row_name in ("set", "rung"):
        for kind in ("idle", "armed"):
            cycles: dict[bool, dict[int, float]] = {True: {}, False: {}}
            for (count, armed), result in by_count.items():
                if armed == (count if kind == "armed" else 0) and (count or kind == "idle"):
                    for row in result.rows:
                        if row.id == f"growth.{row_name}" and row.per_op is not None:
                            cycles[bool(row.icache)][count] = row.per_op
            yield GrowthRow(f"{row_name}, {kind} clients", kernel, cycles[True], cycles[False])


def _of_boots() -> Iterator[GrowthRow]:
    """Yield the sweeps over header entries, of the boots with the most apps."""
    for path in sorted(BOOTS.glob("*.json")):
        stored = boots.load(path)
        some = [boot for boot in stored.boots if boot.apps == max(boots.APPS)]
        by_cache = {
            icache: {boot.entries: float(boot.cycles) for boot in some if boot.icache is icache}
            for icache in (True, False)
        }
        yield GrowthRow("entries", short(stored.kernel.title), by_cache[True], by_cache[False])


def table() -> str:
    """Return the table of lines: fixed cost and cost of one more, with both cache settings, and the
    error at the number that the fit did not use."""
    rows = []
    for sweep in sweeps():
        what, grows = OPERATIONS[sweep.operation]
        points, off = sweep.points(False), sweep.line(False)
        rows.append(
            [
                what,
                grows,
                sweep.kernel,
                f"{min(points)} to {max(points)}",
                f"{off.intercept:,.0f}",
                _slope(off),
                f"{round(off.error) + 0:+,}",
                f"{sweep.line(True).intercept:,.0f}",
                _slope(sweep.line(True)),
            ]
        )
    heads = ["cost of", "by", "kernel", "from", "off: a", "b", "off by", "on: a", "b"]
    return markdown(heads, rows, words=(0, 1, 2, 3))


def _slope(line: Line) -> str:
    return f"{round(line.slope, 1) + 0.0:,.1f}"


def first_other(kernel: str, icache: bool = False) -> str:
    """Format the cycles that the first alarm of another process adds to an alarm's upcall."""
    (path,) = (p for p in FOLDER.glob("*.json") if _name(file.load(p), p) == kernel)
    rows = {
        row.params["armed"]: row.per_op or 0.0
        for row in file.load(path).rows
        if row.id == "growth.rung" and row.icache is icache
    }
    return f"{rows[2] - rows[1]:,.0f}"


def slope(operation: str, kernel: str, icache: bool = False) -> str:
    """Format the cycles of one more."""
    (sweep,) = (s for s in sweeps() if (s.operation, s.kernel) == (operation, kernel))
    return f"{sweep.line(icache).slope + 0.0:,.0f}"
