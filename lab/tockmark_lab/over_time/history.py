# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A history of runs: its file, and the change points of a row from run to run.

The file has one JSON line a run. A line is appended in one write, and it is on the disk before the
verb ends; if that fails the file is cut back. A run that was killed half way leaves at most a torn
last line, which is skipped on reading and set apart by the next append.
"""

import errno
import fcntl
import hashlib
import math
import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import msgspec
import numpy as np
from msgspec import Meta, field

from tockmark.base.documents import (
    KINDS,
    MAX_COUNT,
    Count,
    Date,
    Part,
    Positive,
    Sha256,
    SomeParams,
    check_version,
    convert,
    decode_strictly,
    format_of,
)
from tockmark.base.errors import TockmarkError
from tockmark.base.files import reading
from tockmark.base.paths import shown
from tockmark.compare import pairs
from tockmark.compare.rule import interval
from tockmark.result import file
from tockmark.result.model import Result, Row
from tockmark.result.stats import plain_number
from tockmark.suite.catalogue import Lang, Params, RowName
from tockmark.suite.selection import Selection

Held = TypeVar("Held")

FORMAT: Literal["tockmark-history"] = "tockmark-history"
VERSION: Literal[2] = 2
GIVE_ONE = "give a file that `tockmark-lab history --add` wrote, or make it anew from the results"
HEAD = b'{"format":"tockmark-history"'  # of a line; of a torn one perhaps no more than a part
_LINE = re.compile(rb'\{\s*"format":\s*"tockmark-history"')
GROUPED = ("machine", "clock", "timing", "ABI")  # runs that differ in these are no one series
NORMAL_MAD = 1.4826  # times the MAD is the sd, of a normal distribution
LEAST_RUNS = 2  # runs in a segment, where there is noise: one alone may be an outlier

Net = Annotated[float, Meta(ge=-MAX_COUNT, le=MAX_COUNT)]  # as a row that is near zero may be


class HistoryRow(RowName, Part, frozen=True):
    """One row of a run: its net of a whole sample."""

    id: str
    cycles: Net
    params: SomeParams = field(default_factory=dict)
    icache: bool | None = None
    lang: Lang = "c"
    inner: Positive = 1
    span: tuple[float, float] | None = None  # where the cycles may lie; None: they are exact
    instret: Net | None = None


class HistoryRun(Part, frozen=True):
    """One line of the file."""

    format: Literal["tockmark-history"]
    version: Literal[2]
    date: Date
    result_sha256: Sha256
    incomplete: Count  # reasons
    factors: dict[str, str]
    rows: tuple[HistoryRow, ...]

    def __post_init__(self) -> None:
        """Refuse what types cannot: ValueError, which msgspec takes for its own."""
        if absent := [name for name in GROUPED if name not in self.factors]:
            raise ValueError(f"factors lack {absent[0]}")
        names = [row.name for row in self.rows]
        if len(set(names)) < len(names):
            raise ValueError(f"the row {max(names, key=names.count)} stands twice")
        if crossed := [row.name for row in self.rows if row.span and row.span[0] > row.span[1]]:
            raise ValueError(f"the span of the row {crossed[0]} ends before it begins")


@dataclass(frozen=True)
class Point:
    """One row in one run."""

    date: str
    cycles: float
    low: float
    high: float
    instret: float | None
    exact: bool
    factors: dict[str, str]
    changed: bool = False  # a change point: from this run on the level is another


@dataclass(frozen=True)
class RowHistory:
    """One row over the runs that can be compared, the oldest first."""

    label: str  # with the cache setting, and how many operations are in a sample, if not one
    setting: str  # what all its runs have in common
    points: list[Point]

    def causes(self, i: int) -> list[str]:
        """Return the factors that changed with a run; the cache setting is the row's own."""
        before, now = self.points[i - 1].factors, self.points[i].factors
        return [name for name in now if before.get(name) != now[name] and name != "i-cache"]


def history_run(result: Result) -> HistoryRun:
    """Return what the file keeps of a run."""
    return HistoryRun(
        format=FORMAT,
        version=VERSION,
        date=result.provenance.date,
        result_sha256=hashlib.sha256(file.text(result).encode()).hexdigest(),
        incomplete=len(result.incomplete),
        factors=pairs.factors_of(result),
        rows=tuple(_kept(row, result.simulated) for row in result.table.values() if row.sound),
    )


def _kept(row: Row, simulated: bool) -> HistoryRow:
    series = row.cycles
    assert series is not None  # or it would not be sound
    assert series.net is not None
    own = interval(series, simulated)
    low, high = min((own.low, *series.nets)), max((own.high, *series.nets))
    return HistoryRow(
        id=row.id,
        cycles=series.net,
        params=row.params,
        icache=row.icache,
        lang=row.lang,
        inner=row.inner,
        span=None if low == high else (plain_number(low), plain_number(high)),
        instret=row.instructions,
    )


def add(path: Path, result: Result) -> bool:
    """Append a run; False if the file has it already."""
    run = history_run(result)

    def line(held: bytes) -> bytes | None:
        if any(r.result_sha256 == run.result_sha256 for r in _runs(held, path)[0]):
            return None
        return msgspec.json.encode(run)

    return append(path, line)


def append(path: Path, line: Callable[[bytes], bytes | None]) -> bool:
    """Append the line that `line` makes of what a file holds, on the disk before this returns;
    False if it makes none. Behind a torn line it stands apart."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "ab+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)  # so that two at once do not both add the same
            file.seek(0)
            held = file.read()
            made = line(held)
            if made is None:
                return False
            torn = held[-1:] not in (b"", b"\n")
            _append(file.fileno(), len(held), b"\n" * torn + made + b"\n")
    except OSError as error:
        raise TockmarkError(
            f"cannot write {shown(path)}: {error.strerror}; it holds what it held before",
            "make room or choose another file with -f",
        ) from error
    return True


def _append(handle: int, size: int, data: bytes) -> None:
    try:
        if os.write(handle, data) != len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.fsync(handle)
    except OSError:
        os.ftruncate(handle, size)
        raise


def load(path: Path) -> tuple[list[HistoryRun], list[str]]:
    """Return the runs of a file, the oldest first, and what could not be read."""
    with reading(path, "`tockmark-lab history --add RESULT.json` begins a history"):
        held = path.read_bytes()
    runs, problems = _runs(held, path)
    if not runs:
        raise TockmarkError(
            f"{shown(path)} holds no run", "`tockmark-lab history --add RESULT.json` adds one"
        )
    return sorted(runs, key=lambda run: run.date), problems


def _runs(held: bytes, path: Path) -> tuple[list[HistoryRun], list[str]]:
    """Return all that is whole in what a history holds, and what is not; anything but a history is
    refused by name."""
    if held and not (_LINE.search(held) or HEAD.startswith(held)):
        kind = format_of(held.decode(errors="replace"))
        what, todo = KINDS.get(kind or "", ("another file", GIVE_ONE))
        raise TockmarkError(f"{shown(path)} is {what}, not a history", todo)
    found, problems = read_lines(held, path, _run)
    first: dict[str, int] = {}  # the lines of the runs
    for number, run in found.items():
        if (line := first.setdefault(run.result_sha256, number)) != number:
            where = line_name(path, number)
            raise TockmarkError(f"{where} is the run of line {line} again", "take it out")
    return [*found.values()], problems


def read_lines(
    held: bytes, path: Path, read: Callable[[bytes, str], Held | None]
) -> tuple[dict[int, Held], list[str]]:
    """Return what `read` makes of each line, by its number from 1, and which lines are torn: it
    takes a line and what to call it, and returns None of a torn one."""
    found: dict[int, Held] = {}
    problems = []
    for number, raw in enumerate(held.split(b"\n"), 1):
        if not raw:
            continue
        made = read(raw, where := line_name(path, number))
        if made is None:
            problems.append(f"{where} is torn; skipped")
        else:
            found[number] = made
    return found, problems


def line_name(path: Path, number: int) -> str:
    """Name a line of a file."""
    return f"{shown(path)}: line {number}"


def _run(raw: bytes, where: str) -> HistoryRun | None:
    """Return what one line holds; None if it is torn. What is whole, but not as it should be, is
    refused."""

    def make(data: Any) -> HistoryRun | None:
        if not isinstance(data, dict):
            return None
        check_version(data, FORMAT, VERSION, where, GIVE_ONE)
        return convert(data, HistoryRun)

    try:
        return decode_strictly(raw.decode(), make, where, GIVE_ONE)
    except ValueError:
        return None


def rows_in(runs: Iterable[HistoryRun]) -> list[tuple[str, Params]]:
    """Return the rows that any of the runs has."""
    return [(row.id, row.params) for run in runs for row in run.rows]


def series(runs: Iterable[HistoryRun], meant: Selection) -> list[RowHistory]:
    """Return the rows that are meant, run by run, with their change points."""
    found: dict[tuple[str, str], list[Point]] = {}
    for run in runs:
        grouped = [name for name in (*GROUPED, *pairs.UNSAID) if name in run.factors]
        setting = ", ".join(f"{name} {run.factors[name]}" for name in grouped)
        for row in run.rows:
            if meant.includes(row):
                name = row.name + (f", {row.inner} a sample" if row.inner > 1 else "")
                ends, exact = row.span or (row.cycles, row.cycles), row.span is None
                point = Point(run.date, row.cycles, *ends, row.instret, exact, run.factors)
                found.setdefault((name, setting), []).append(point)
    for points in found.values():
        for at in change_points([point.cycles for point in points], _noise(points)):
            points[at] = replace(points[at], changed=True)
    return [RowHistory(name, setting, points) for (name, setting), points in found.items()]


def _noise(points: list[Point]) -> float | None:
    """Return the sd of one run's value from its level; None if all are exact.

    Taken from how much neighbours differ, since a change of level shows there only once; but no
    less than what the intervals say, or half a count.
    """
    if all(point.exact for point in points):
        return None
    steps = np.abs([b.cycles - a.cycles for a, b in pairwise(points)] or [0.0])
    within = float(np.median([(point.high - point.low) / 4 for point in points]))
    return max(NORMAL_MAD * float(np.median(steps)) / math.sqrt(2), within, 0.5)


def change_points(values: list[float], noise: float | None) -> list[int]:
    """Return where the level changes: the first run of each new level.

    Exact values: wherever one is not the one before. With noise: the cut into levels that has the
    least sum of squared distances in sds, each change costing 3 ln n (optimal partitioning, as PELT
    finds it; here without the pruning, which only makes it quicker).
    """
    n = len(values)
    if noise is None:
        return [i for i in range(1, n) if values[i] != values[i - 1]]
    if n < 2 * LEAST_RUNS:
        return []
    scaled = (np.array(values) - values[0]) / noise
    sums = np.concatenate([[0.0], np.cumsum(scaled)])
    squares = np.concatenate([[0.0], np.cumsum(scaled**2)])
    penalty = 3 * math.log(n)
    best = np.full(n + 1, np.inf)
    best[0] = -penalty
    last = [0] * (n + 1)
    for end in range(LEAST_RUNS, n + 1):
        starts = np.arange(0, end - LEAST_RUNS + 1)
        cost = squares[end] - squares[starts] - (sums[end] - sums[starts]) ** 2 / (end - starts)
        total = best[starts] + cost + penalty
        last[end] = int(np.argmin(total))
        best[end] = total[last[end]]
    found = []
    at = last[n]
    while at > 0:
        found.append(at)
        at = last[at]
    return found[::-1]
