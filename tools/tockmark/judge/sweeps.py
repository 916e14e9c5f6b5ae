# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verb `fit`: straight lines through the rows that differ in one size, and where they bend.

The slope is what one more byte, argument or NOP costs, the intercept what comes with any number of
them. One size is held out of each fit; what the line says of it is checked there.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from tockmark.judge.estimate import Floats, Line, fit
from tockmark.judge.values import Entry, entries, in_sections
from tockmark.result.result import Json
from tockmark.suite.catalogue import Catalogue, label

LEAST = 4  # sizes make a sweep
BEND_SIDE = 3  # sizes on either side of a bend
BEND_GAIN = 0.25  # a bend must leave no more than this of the squared residuals
BEND_CHANGE = 0.05  # and change the slope by at least this share
LINE = 100


@dataclass(frozen=True)
class Sweep:
    """The rows of one id that differ in one parameter only, and their line."""

    section: str  # with the cache setting
    label: str
    icache: bool | None
    parameter: str
    sizes: int
    line: Line
    bend: float | None  # the size from which on the slope is another
    slopes: tuple[float, float] | None  # before and behind it


def sweeps(result: Json, catalogue: Catalogue, only: tuple[str, ...] = ()) -> list[Sweep]:
    """All sweeps of a result, or of the rows that a pattern names, in the catalogue's order."""
    found = []
    for section, rows in in_sections(entries(result, only).values(), catalogue):
        ids: dict[str, list[Entry]] = {}
        for row in rows:
            if row.cycles and not row.errors:
                ids.setdefault(row.id, []).append(row.per_operation())
        for same in ids.values():
            parameter = _swept(same)
            if parameter:
                found += _of_id(section, same, parameter)
    return found


def _swept(rows: Sequence[Entry]) -> str | None:
    """The parameter with the most sizes."""
    counts = {
        name: len({row.params[name] for row in rows if name in row.params})
        for name in rows[0].params
        if all(isinstance(row.params.get(name), int) for row in rows)
    }
    best = max(counts, key=lambda name: counts[name], default=None)
    return best if best is not None and counts[best] >= LEAST else None


def _of_id(section: str, rows: list[Entry], parameter: str) -> list[Sweep]:
    """One sweep for each setting of the other parameters."""
    groups: dict[str, list[tuple[float, float]]] = {}
    for row in rows:
        others = {name: value for name, value in row.params.items() if name != parameter}
        size, cycles = row.params[parameter], row.cycles
        if isinstance(size, int) and cycles:
            name = label(row.id, others)
            groups.setdefault(name, []).append((size, cycles.net))
    found = []
    for name, points in groups.items():
        points.sort()
        xs, ys = [x for x, _ in points], [y for _, y in points]
        line = fit(xs, ys)
        if line:
            bend, slopes = _bend(xs, ys)
            found.append(
                Sweep(section, name, rows[0].icache, parameter, len(xs), line, bend, slopes)
            )
    return found


def _bend(xs: list[float], ys: list[float]) -> tuple[float | None, tuple[float, float] | None]:
    """The size at which two lines that meet there fit much better than one, if there is one."""
    x, y = np.array(xs), np.array(ys)
    flat = np.stack([np.ones_like(x), x], axis=1)
    whole = _residual(flat, y)[1]
    best: tuple[float, float, tuple[float, float]] | None = None
    for at in range(BEND_SIDE - 1, len(xs) - BEND_SIDE + 1):
        terms = np.column_stack([flat, np.maximum(0, x - x[at])])
        (_, slope, more), rest = _residual(terms, y)
        if best is None or rest < best[0]:
            best = rest, float(x[at]), (float(slope), float(slope + more))
    if best is None or best[0] > BEND_GAIN * whole or whole < 1:
        return None, None
    before, behind = best[2]
    bent = abs(behind - before) > BEND_CHANGE * max(abs(before), abs(behind))
    return (best[1], best[2]) if bent else (None, None)


def _residual(terms: Floats, y: Floats) -> tuple[Floats, float]:
    found: Floats = np.linalg.lstsq(terms, y, rcond=None)[0].astype(np.float64)
    rest = y - terms @ found
    return found, float(rest @ rest)


def render(found: list[Sweep]) -> str:
    """The lines as a table."""
    lines = [
        "net cycles of one operation = intercept + slope x size. One size is held out of the fit:",
        "off is what was measured there less what the line says. sd: of the residuals. bend: the",
        "size from which on another slope fits much better, and the slopes before and behind it.",
    ]
    widths = (9, 10, 8, 6, 9)
    heads = ("slope", "intercept", "sd", "held", "off")
    head = "".join(f" {text:>{width}}" for text, width in zip(heads, widths, strict=True))
    section = ""
    for sweep in found:
        if sweep.section != section:
            section = sweep.section
            lines += ["", section, f"{'':34}{head}  bend", "-" * LINE]
        fitted = sweep.line
        numbers = (fitted.slope, fitted.intercept, fitted.residual_sd)
        texts = [f"{numbers[0]:.4g}", f"{numbers[1]:.1f}", f"{numbers[2]:.2g}"]
        texts += [f"{fitted.held_out:g}", f"{fitted.held_out_error:+.1f}"]
        cells = "".join(f" {text:>{width}}" for text, width in zip(texts, widths, strict=True))
        bend = "-"
        if sweep.slopes:
            bend = f"{sweep.bend:g}: {sweep.slopes[0]:.3g}, {sweep.slopes[1]:.3g}"
        lines.append(f"{f'{sweep.label} by {sweep.parameter}':34}{cells}  {bend}")
    return "\n".join(lines) + "\n"


def as_json(found: list[Sweep]) -> list[Json]:
    """The same for other programs."""
    return [asdict(sweep) for sweep in found]
