# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A history of runs: its file, and the change points of a row from run to run.

The file has one JSON line per run. A line is appended in one write, and is on the disk before the
verb ends; if that fails, the file is truncated to its old size. A killed run leaves at most an
incomplete last line: reading skips it, and the next run is appended on a new line.
"""

import errno
import fcntl
import hashlib
import math
import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import msgspec
import numpy as np
from msgspec import Meta, field

from tockmark import BASELINE
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
GIVE_ONE = "give a file that `tockmark-lab history --add` wrote, or make it again from the results"
HEAD = b'{"format":"tockmark-history"'  # of a line; an incomplete line may be a part of it
_LINE = re.compile(rb'\{\s*"format":\s*"tockmark-history"')
GROUPED = ("machine", "clock", "timing", "ABI")  # that each run has
NORMAL_MAD = 1.4826  # the sd of a normal distribution is this times its MAD
LEAST_RUNS = 2  # runs in a segment if there is noise: a single run may be an outlier

Net = Annotated[float, Meta(ge=-MAX_COUNT, le=MAX_COUNT)]  # negative for some rows near zero


class HistoryRow(RowName, Part, frozen=True):
    """One row of a run, with the net of a whole sample."""

    id: str
    cycles: Net
    params: SomeParams = field(default_factory=dict)
    icache: bool | None = None
    lang: Lang = "c"
    inner: Positive = 1
    span: tuple[float, float] | None = None  # the interval of the cycles; None: they are exact
    instret: Net | None = None

    @property
    def ends(self) -> tuple[float, float]:
        """The interval of the cycles."""
        return self.span or (self.cycles, self.cycles)


class HistoryRun(Part, frozen=True):
    """One line of the file: a run."""

    format: Literal["tockmark-history"]
    version: Literal[2]
    date: Date
    result_sha256: Sha256
    incomplete: Count  # reasons
    factors: dict[str, str]
    rows: tuple[HistoryRow, ...]

    def __post_init__(self) -> None:
        """Check what types cannot. Raise ValueError, which msgspec treats like its own errors."""
        if absent := [name for name in GROUPED if name not in self.factors]:
            raise ValueError(f"factors lack {absent[0]}")
        names = [row.name for row in self.rows]
        if len(set(names)) < len(names):
            raise ValueError(f"two rows are named {max(names, key=names.count)}")
        if crossed := [row.name for row in self.rows if row.span and row.span[0] > row.span[1]]:
            raise ValueError(f"the span of the row {crossed[0]} ends before it starts")


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
    changed: bool = False  # a change point: the level changes with this run


@dataclass(frozen=True)
class RowHistory:
    """One row over the runs that can be compared, oldest first."""

    label: str  # with the cache setting, and the operations in a sample if there are several
    setting: str  # common to all its runs
    points: list[Point]

    def causes(self, i: int) -> list[str]:
        """Return the factors that changed with a run, except for the row's own cache setting."""
        before, now = self.points[i - 1].factors, self.points[i].factors
        return [name for name in now if before.get(name) != now[name] and name != "i-cache"]


def history_run(result: Result) -> HistoryRun:
    """Return what the file stores of a run."""
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
    assert series is not None  # since the row is sound
    assert series.net is not None
    nets = (*interval(series, simulated), *series.nets)
    low, high = min(nets), max(nets)
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
    """Append a run. Return False if the file has it already."""
    run = history_run(result)

    def line(content: bytes) -> bytes | None:
        if any(r.result_sha256 == run.result_sha256 for r in _runs(content, path)[0]):
            return None
        return msgspec.json.encode(run)

    return append(path, line)


def append(path: Path, make_line: Callable[[bytes], bytes | None]) -> bool:
    """Append the line that `make_line` makes from a file's content, and flush it to the disk.
    Return False if it makes none. An incomplete last line gets a line end first."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "ab+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)  # so that two processes do not add the same run
            file.seek(0)
            content = file.read()
            new_line = make_line(content)
            if new_line is None:
                return False
            torn = content[-1:] not in (b"", b"\n")
            _append(file.fileno(), len(content), b"\n" * torn + new_line + b"\n")
    except OSError as error:
        raise TockmarkError(
            f"cannot write {shown(path)}: {error.strerror}; the file is unchanged",
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
    """Read a file. Return its runs, oldest first, and a message for each line that it skips."""
    with reading(path, "`tockmark-lab history --add RESULT.json` creates a history"):
        content = path.read_bytes()
    runs, problems = _runs(content, path)
    if not runs:
        raise TockmarkError(
            f"{shown(path)} has no runs", "`tockmark-lab history --add RESULT.json` adds one"
        )
    return sorted(runs, key=lambda run: run.date), problems


def _runs(content: bytes, path: Path) -> tuple[list[HistoryRun], list[str]]:
    """Return the complete runs in the content of a history, and a message for each incomplete line.
    TockmarkError for any other file."""
    if content and not (_LINE.search(content) or HEAD.startswith(content)):
        kind = format_of(content.decode(errors="replace"))
        what, todo = KINDS.get(kind or "", ("another file", GIVE_ONE))
        raise TockmarkError(f"{shown(path)} is {what}, not a history", todo)
    runs_by_line, problems = read_lines(content, path, _run)
    first: dict[str, int] = {}  # line number of each run
    for number, run in runs_by_line.items():
        if (line := first.setdefault(run.result_sha256, number)) != number:
            where = line_name(path, number)
            raise TockmarkError(f"{where} repeats the run of line {line}", "delete it")
    return [*runs_by_line.values()], problems


def read_lines(
    content: bytes, path: Path, read: Callable[[bytes, str], Held | None]
) -> tuple[dict[int, Held], list[str]]:
    """Decode each line of a content. `read` gets a line and its name, and returns None if the line
    is incomplete. Return what it returned, by line number from 1, and a message for each incomplete
    line."""
    decoded: dict[int, Held] = {}
    problems = []
    for number, raw in enumerate(content.split(b"\n"), 1):
        if not raw:
            continue
        line = read(raw, where := line_name(path, number))
        if line is None:
            problems.append(f"{where} is incomplete; skipped")
        else:
            decoded[number] = line
    return decoded, problems


def line_name(path: Path, number: int) -> str:
    """Return the name of a line of a file."""
    return f"{shown(path)}: line {number}"


def _run(raw: bytes, where: str) -> HistoryRun | None:
    """Decode a line; None if it is incomplete. TockmarkError if it is complete but not valid."""

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
    """Return the rows of all runs."""
    return [(row.id, row.params) for run in runs for row in run.rows]


def series(runs: Iterable[HistoryRun], selection: Selection) -> list[RowHistory]:
    """Return the selected rows, run by run, with their change points."""
    points_by_row: dict[tuple[str, str], list[Point]] = {}
    for run in runs:
        setting = f"{_family(run.factors['kernel'])}, {setting_of(run.factors)}"
        for row in run.rows:
            if selection.includes(row):
                name = row.name + (f", {row.inner} a sample" if row.inner > 1 else "")
                cycles, low, high = (count / row.inner for count in (row.cycles, *row.ends))
                instret = None if row.instret is None else row.instret / row.inner
                point = Point(run.date, cycles, low, high, instret, row.span is None, run.factors)
                points_by_row.setdefault((name, setting), []).append(point)
    for points in points_by_row.values():
        for at in change_points([point.cycles for point in points], _noise(points)):
            points[at] = replace(points[at], changed=True)
    return [RowHistory(name, setting, points) for (name, setting), points in points_by_row.items()]


def setting_of(factors: Mapping[str, str]) -> str:
    """Return the conditions that all points of a series share, in words."""
    simulated = "simulated " if factors.get("simulator", pairs.UNKNOWN) != pairs.UNKNOWN else ""
    machine = simulated + factors["machine"]
    words = [f"opt-level {factors.get('opt-level', pairs.UNKNOWN)}", machine, factors["clock"]]
    words += [factors["timing"], f"ABI {factors['ABI']}"]
    return ", ".join(
        words + [f"{name} {factors[name]}" for name in pairs.UNSAID if name in factors]
    )


def _family(kernel: str) -> str:
    """Return the family of a kernel: ours, Tock, or the kernel's own name."""
    families = {BASELINE: "baseline", "Tock": "Tock"}
    own = kernel.partition(" sha256 ")[0]
    return next((name for start, name in families.items() if kernel.startswith(start)), own)


def _noise(points: list[Point]) -> float | None:
    """Return the sd of one run's value from its level; None if all are exact.

    It is estimated from the differences between neighbours, because a change of level affects only
    one of them. It is at least what the intervals show, and at least half a count.
    """
    if all(point.exact for point in points):
        return None
    steps = np.abs([b.cycles - a.cycles for a, b in pairwise(points)] or [0.0])
    within = float(np.median([(point.high - point.low) / 4 for point in points]))
    return max(NORMAL_MAD * float(np.median(steps)) / math.sqrt(2), within, 0.5)


def change_points(values: list[float], noise: float | None) -> list[int]:
    """Return the first run of each new level.

    Exact values: each value that differs from the one before it. With noise: the segmentation with
    the least sum of squared distances in sds, plus 3 ln n for each change (optimal partitioning, as
    in PELT, but without its pruning, which only saves time).
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
    changes = []
    at = last[n]
    while at > 0:
        changes.append(at)
        at = last[at]
    return changes[::-1]
