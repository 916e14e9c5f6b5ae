# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Straight lines through sweeps: rows that differ in one size only.

The slope is the cost of one more byte, argument or NOP, and the intercept is the fixed cost. One
size is left out of each fit; the error of the line there shows its accuracy.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tockmark.compare.pairs import tables
from tockmark.result.model import Result, Row
from tockmark.result.stats import StraightLine, fit_line, least_squares
from tockmark.suite.catalogue import Catalogue, label

LEAST_SIZES = 4  # of a sweep
# Bytes: a sweep over bytes moved is fitted from here up, where its ends no longer count.
FROM = 1024
BEND_SIDE = 3  # sizes before a bend, and after it
BEND_GAIN = 0.25  # a bend must leave no more than this of the squared residuals
BEND_CHANGE = 0.05  # and change the slope by at least this share


@dataclass(frozen=True)
class Sweep:
    """The rows of one id that differ in one parameter only, and their line."""

    section: str  # with the cache setting
    label: str
    icache: bool | None
    parameter: str
    sizes: int
    line: StraightLine
    bend: float | None  # the size at which the slope changes
    slopes: tuple[float, float] | None  # before and after the bend


def sweeps(result: Result, catalogue: Catalogue) -> list[Sweep]:
    """Return all sweeps of the sound rows of a result, in the catalogue's order."""
    all_sweeps = []
    sound = [row for row in result.table.values() if row.sound]
    for section, rows in tables(sound, catalogue, lambda row: row):
        for id_ in dict.fromkeys(row.id for row in rows):
            same_id = [row for row in rows if row.id == id_]
            if parameter := _swept(same_id):
                benchmark = catalogue.benchmarks.get(id_)
                moved = benchmark is not None and benchmark.bytes == parameter
                all_sweeps += _sweeps_of(section, same_id, parameter, FROM if moved else 0)
    return all_sweeps


def _swept(rows: Sequence[Row]) -> str | None:
    """Return the parameter with the most sizes, or None if they are too few for a sweep."""
    counts = {
        name: len({row.params[name] for row in rows if name in row.params})
        for name in rows[0].params
        if all(isinstance(row.params.get(name), int) for row in rows)
    }
    best = max(counts, key=lambda name: counts[name], default=None)
    return best if best is not None and counts[best] >= LEAST_SIZES else None


def _sweeps_of(section: str, rows: list[Row], parameter: str, least: int) -> list[Sweep]:
    """Return one sweep for each setting of the other parameters, over sizes from `least` up."""
    groups: dict[str, list[tuple[float, float]]] = {}
    for row in rows:
        others = {name: value for name, value in row.params.items() if name != parameter}
        size, cycles = row.params[parameter], row.per_op
        if isinstance(size, int) and size >= least and cycles is not None:
            groups.setdefault(label(row.id, others), []).append((size, cycles))
    lines = []
    for name, points in groups.items():
        points.sort()
        xs, ys = [x for x, _ in points], [y for _, y in points]
        if (through := fit_line(xs, ys)) is not None:
            bend, slopes = _bend(xs, ys)
            icache = rows[0].icache
            lines.append(Sweep(section, name, icache, parameter, len(xs), through, bend, slopes))
    return lines


def _bend(xs: list[float], ys: list[float]) -> tuple[float | None, tuple[float, float] | None]:
    """Return the size at which two lines that meet fit much better than one, and their slopes; None
    and None if there is no such size."""
    x = np.array(xs)
    whole = least_squares(ys, x).squares
    bent = {
        at: least_squares(ys, x, np.maximum(0, x - at)) for at in xs[BEND_SIDE - 1 : 1 - BEND_SIDE]
    }
    if not bent or whole < 1:
        return None, None
    at = min(bent, key=lambda at: bent[at].squares)
    before, more = bent[at].slopes
    if bent[at].squares > BEND_GAIN * whole:
        return None, None
    clear = abs(more) > BEND_CHANGE * max(abs(before), abs(before + more))
    return (at, (before, before + more)) if clear else (None, None)
