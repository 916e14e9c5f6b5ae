# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verb `history`: a file with one JSON line a run, and how a row went from run to run.

A line is appended in one write, on the disk before the verb ends; if that fails the file is cut
back. A run that was killed half way leaves at most a torn last line, which is skipped on reading
and set apart by the next append.
"""

import errno
import fcntl
import hashlib
import json
import math
import os
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from tockmark.errors import TockmarkError
from tockmark.judge import factors
from tockmark.judge.estimate import interval
from tockmark.judge.values import CACHE, Value, entries
from tockmark.paths import shown
from tockmark.result.result import Json, incomplete
from tockmark.suite.catalogue import label

FORMAT, VERSION = "tockmark-history", 1
GROUPED = (*factors.REFUSED, "ABI")  # runs that differ in these are no one series
NORMAL_MAD = 1.4826  # times the MAD is the sd, of a normal distribution
LEAST = 2  # runs in a segment, where there is noise: one alone may be an outlier


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
class Series:
    """One row over the runs that can be compared, the oldest first."""

    label: str  # with the cache setting, and how many operations are in a sample, if not one
    setting: str  # what all its runs have in common
    points: list[Point]

    def causes(self, i: int) -> list[str]:
        """The factors that changed with this run; the cache setting is the row's own."""
        before, now = self.points[i - 1].factors, self.points[i].factors
        return [name for name in now if before.get(name) != now[name] and name != "i-cache"]


def line_of(result: Json) -> Json:
    """What the file keeps of a run."""
    rows = [
        {
            "id": entry.id,
            "params": entry.params,
            "icache": entry.icache,
            "inner": entry.inner,
            **_ends(entry.cycles),
            "instret": entry.instret.net if entry.instret else None,
        }
        for entry in entries(result).values()
        if entry.cycles and not entry.errors
    ]
    canonical = json.dumps(result, sort_keys=True).encode()
    return {
        "format": FORMAT,
        "version": VERSION,
        "date": result["provenance"]["date"],
        "result_sha256": hashlib.sha256(canonical).hexdigest(),
        "incomplete": len(incomplete(result)),
        "factors": factors.of(result),
        "rows": rows,
    }


def _ends(value: Value) -> Json:
    span = interval(value.draws)
    return {"cycles": value.net, "low": span.low, "high": span.high, "exact": value.exact}


def add(path: Path, result: Json) -> bool:
    """Append a run; False if the file has it already."""
    line = line_of(result)
    if path.exists() and any(r["result_sha256"] == line["result_sha256"] for r in load(path)[0]):
        return False
    data = (json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n").encode()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "ab+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            size = file.seek(0, os.SEEK_END)
            if size:
                file.seek(size - 1)
                data = data if file.read(1) == b"\n" else b"\n" + data
            _append(file.fileno(), size, data)
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


def load(path: Path) -> tuple[list[Json], list[str]]:
    """The runs of a file, the oldest first, and what could not be read."""
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise TockmarkError(
            f"cannot read {shown(path)}: {error.strerror}",
            "`tockmark history --add RESULT.json` begins a history",
        ) from error
    runs, problems = [], []
    for number, raw in enumerate(lines, 1):
        if not raw:
            continue
        run = _read(raw)
        if run is None:
            problems.append(f"{shown(path)}: line {number} is torn; skipped")
        elif not _follows(run):
            raise TockmarkError(
                f"{shown(path)}: line {number} is no {FORMAT} of version {VERSION}",
                "give a file that `tockmark history --add` wrote",
            )
        else:
            runs.append(run)
    if not runs:
        raise TockmarkError(
            f"{shown(path)} holds no run", "`tockmark history --add RESULT.json` adds one"
        )
    return sorted(runs, key=lambda run: str(run["date"])), problems


def _read(raw: bytes) -> dict[str, Any] | None:
    try:
        run = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return run if isinstance(run, dict) else None


def _follows(run: Json) -> bool:
    """Whether a line has the form that `line_of` gives it."""
    numbers = ("cycles", "low", "high")
    return (
        (run.get("format"), run.get("version")) == (FORMAT, VERSION)
        and all(isinstance(run.get(key), str) for key in ("date", "result_sha256"))
        and isinstance(told := run.get("factors"), dict)
        and all(isinstance(told.get(name), str) for name in GROUPED)
        and isinstance(rows := run.get("rows"), list)
        and all(
            isinstance(row, dict)
            and isinstance(row.get("id"), str)
            and isinstance(row.get("params"), dict)
            and row.get("icache", 0) in (True, False, None)
            and all(isinstance(row.get(name), int | float) for name in numbers)
            and isinstance(row.get("inner"), int)
            and isinstance(row.get("exact"), bool)
            and isinstance(row.get("instret", 0), int | float | None)
            for row in rows
        )
    )


def series(runs: Iterable[Json], pattern: str) -> list[Series]:
    """The rows that the pattern names, run by run."""
    found: dict[tuple[str, str], list[Point]] = {}
    for run in runs:
        told = run["factors"]
        setting = ", ".join(f"{name} {told[name]}" for name in GROUPED)
        for row in run["rows"]:
            name = label(row["id"], row["params"])
            full = f"{name}{CACHE[row['icache']]}"
            several = f", {row['inner']} a sample" if row["inner"] > 1 else ""
            if any(fnmatchcase(text, pattern) for text in (row["id"], name, full)):
                values = {key: row[key] for key in ("cycles", "low", "high", "instret", "exact")}
                point = Point(run["date"], **values, factors=told)
                found.setdefault((full + several, setting), []).append(point)
    return [Series(name, setting, _marked(points)) for (name, setting), points in found.items()]


def _marked(points: list[Point]) -> list[Point]:
    at = set(change_points([p.cycles for p in points], _noise(points)))
    return [replace(point, changed=i in at) for i, point in enumerate(points)]


def _noise(points: list[Point]) -> float | None:
    """The sd of one run's value from its level; None if all are exact.

    Taken from how much neighbours differ, since a change of level shows there only once; but no
    less than what the intervals say, or half a count.
    """
    if all(point.exact for point in points):
        return None
    steps = np.abs([b.cycles - a.cycles for a, b in pairwise(points)] or [0.0])
    within = float(np.median([(point.high - point.low) / 4 for point in points]))
    return max(NORMAL_MAD * float(np.median(steps)) / math.sqrt(2), within, 0.5)


def change_points(values: list[float], noise: float | None) -> list[int]:
    """Where the level changes: the first run of each new level.

    Exact values: wherever one is not the one before. With noise: the cut into levels that has the
    least sum of squared distances in sds, each change costing 3 ln n (optimal partitioning, as PELT
    finds it; here without the pruning, which only makes it quicker).
    """
    n = len(values)
    if noise is None:
        return [i for i in range(1, n) if values[i] != values[i - 1]]
    if n < 2 * LEAST:
        return []
    scaled = (np.array(values) - values[0]) / noise
    sums = np.concatenate([[0.0], np.cumsum(scaled)])
    squares = np.concatenate([[0.0], np.cumsum(scaled**2)])
    penalty = 3 * math.log(n)
    best = np.full(n + 1, np.inf)
    best[0] = -penalty
    last = [0] * (n + 1)
    for end in range(LEAST, n + 1):
        starts = np.arange(0, end - LEAST + 1)
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
