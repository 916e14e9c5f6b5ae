# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What `plot` and `site` draw: one function a picture, which returns nothing if its rows are not
there. Three of them are figures of the 2021 study, made from our data.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, MultipleLocator, NullLocator

from tockmark.compare import fit
from tockmark.result.model import Result, Row, microseconds
from tockmark.show import listing
from tockmark.show.comparison_plots import SPREAD, before_after, distributions, kernels, layouts
from tockmark.show.plot import (
    STYLE,
    Curve,
    Drawer,
    Named,
    Sheet,
    common_clock,
    lines,
    second_scale,
    series_name,
    settings,
)
from tockmark.suite import catalogue

MEMORY = {
    "copy": ("mem.copy_asm", "mem.copy_memcpy", "mem.copy_loop"),
    "read": ("mem.read_asm", "mem.read_sum", "mem.read_byte"),
    "write": ("mem.write_asm", "mem.write_const", "mem.write_byte"),
}
OWN = ("call.args", "icache.nops", "ctx.ring", "mem.", *SPREAD)  # have a picture of their own
CACHE = 4  # KiB, what Ibex's instruction cache holds
# The memory system of cw310 (docs/simulator.md): a word's data come 3 cycles after the request, and
# the core has one access at a time. Below FROM bytes what the readings overlap with counts, too.
RAM_LIMIT, LIMITED = 4 / 3, "cw310"  # bytes a cycle; the machine
EQUATIONS = 4  # lines of text in a panel
OFF = 0.02  # of its value; a held-out size that is further off shows that a sweep is no line
LEAST = 3  # points make a sweep
LETTERS, HANDLE = 118, 9  # of a legend's line; of what stands before a label
WRITTEN = 1024  # bytes: from here on sizes are written in KiB


def procedure_calls(named: list[Named]) -> Sheet | None:
    """The study's figure of procedure calls: cycles by the number of arguments."""
    curves = [
        Curve(series_name(one, icache, named), *points)
        for one, icache in settings(named)
        if (points := _sweep(one.result, "call.args", "n", icache))
    ]
    if not curves:
        return None
    sheet = Sheet("Procedure calls by number of arguments", named)
    (axes,) = sheet.panels
    lines(axes, curves)
    axes.set(xlabel="arguments (8 of them fit in registers)", ylabel="net cycles of one call")
    _from_zero(axes, named)
    axes.legend()
    return sheet


def memory_bandwidth(named: list[Named]) -> Sheet | None:
    """The study's figure of RAM bandwidth by size, for all kinds of access."""
    drawn: dict[str, dict[str, list[Curve]]] = {}
    for one, icache in settings(named):
        for kind, ids in MEMORY.items():
            curves = [
                Curve(id_.partition("_")[2], *points)
                for id_ in ids
                if (points := _sweep(one.result, id_, "size", icache, _bytes_a_cycle))
            ]
            if curves:
                drawn.setdefault(series_name(one, icache, named), {})[kind] = curves
    kinds = [kind for kind in MEMORY if any(kind in row for row in drawn.values())]
    if not drawn:
        return None
    sheet = Sheet("RAM bandwidth by size", named, len(drawn), len(kinds), 2.4)
    top = max(max(c.y) for row in drawn.values() for curves in row.values() for c in curves)
    clock = common_clock(named)
    labels = _labels(row.get(kind, []) for kind in kinds for row in drawn.values())
    for down, (label, row) in enumerate(drawn.items()):
        grid = sheet.grid[down]
        for axes, kind in zip(grid, kinds, strict=True):
            lines(axes, row.get(kind, []), labels)
            axes.set_ylim(0, top * 1.08)
            _sizes(axes)
            if all(one.result.provenance.board.machine == LIMITED for one in named):
                _ram_limit(axes, kind, max((max(c.x) for c in row.get(kind, [])), default=0))
            if down == 0:
                axes.set_title(kind)
            if down == len(drawn) - 1:
                axes.set_xlabel("size")
            if axes is not grid[0]:
                axes.tick_params(labelleft=False)
        grid[0].set_ylabel(f"{label}\nbytes a cycle, net")
        if clock:
            second_scale(grid[-1], f"MB/s at {_clock(named)}", clock / 1e6)
    _one_legend(sheet)
    return sheet


def ram_limit(kind: str) -> float:
    """Bytes a cycle that no access of this kind exceeds; a copy reads and writes each byte."""
    return RAM_LIMIT / 2 if kind == "copy" else RAM_LIMIT


def _ram_limit(axes: Axes, kind: str, most: float) -> None:
    """What no row can exceed, and from which size on."""
    if most > fit.FROM:
        limit = ram_limit(kind)
        ends = [float(fit.FROM), most]
        axes.plot(
            ends, [limit, limit], color="#777777", linewidth=0.9, linestyle=":", label="_limit"
        )
        words = f"a word in {4 / limit:.0f} cycles"
        axes.annotate(words, (most, limit), fontsize=6, va="bottom", ha="right", color="#444444")


def instruction_cache(named: list[Named]) -> Sheet | None:
    """The study's figure of the instruction cache: cycles by the length of a run of NOPs."""
    panels = {
        width: [
            Curve(series_name(one, icache, named), [x / 1024 for x in points[0]], points[1])
            for one, icache in settings(named)
            if (points := _sweep(one.result, "icache.nops", "size", icache, width=width))
        ]
        for width in (2, 4)
    }
    if not any(panels.values()):
        return None
    sheet = Sheet("One pass over a straight run of NOPs", named, 1, 2)
    top = max(max(curve.y) for curves in panels.values() for curve in curves) * 1.05
    labels = _labels(panels.values())
    for axes, (width, curves) in zip(sheet.panels, panels.items(), strict=True):
        lines(axes, curves, labels)
        axes.set(title=f"{width}-byte NOPs", xlabel="length of the run, KiB", ylim=(0, top))
        axes.axvline(CACHE, color="#777777", linewidth=0.8, linestyle=":")
        axes.annotate(f" the cache holds {CACHE} KiB", (CACHE, top), fontsize=7, va="top")
        if curves:
            axes.legend(loc="lower right")
    sheet.panels[0].set_ylabel("net cycles of one pass")
    return sheet


def context_switch(named: list[Named]) -> Sheet | None:
    """lmbench's figure of context switching: a hop by processes and working set."""
    panels: dict[str, list[Curve]] = {}
    for one, icache in settings(named):
        rings = _rows(one.result, "ctx.ring", icache)
        for kib in sorted({k for row in rings if isinstance(k := row.params.get("kib"), int)}):
            points = _sweep(one.result, "ctx.ring", "processes", icache, kib=kib)
            if points:
                curve = Curve(f"working set {kib} KiB", *points)
                panels.setdefault(series_name(one, icache, named), []).append(curve)
    if not panels:
        return None
    across = min(2, len(panels))
    sheet = Sheet("A token passed round by IPC", named, -(-len(panels) // across), across, 2.6)
    top = max(max(curve.y) for curves in panels.values() for curve in curves) * 1.08
    labels = _labels(panels.values())
    for axes, (label, curves) in zip(sheet.panels, panels.items(), strict=False):
        lines(axes, curves, labels)
        axes.set(title=label, xlabel="processes in the ring", ylabel="net cycles of one hop")
        _from_zero(axes, named)
        axes.set_ylim(0, top)
    sheet.unused(len(panels))
    _one_legend(sheet)
    return sheet


def sweeps(named: list[Named]) -> Sheet | None:
    """Every other benchmark with one number as its parameter: the cost of an operation by that."""
    found: dict[tuple[str, str], list[Curve]] = {}
    fits: dict[tuple[str, str], fit.Sweep] = {}  # by benchmark and curve
    known = catalogue.load()
    for one, icache in settings(named):
        fitted = {(s.label, s.icache): s for s in fit.sweeps(one.result, known)}
        for id_, x in _swept(one.result):
            points = _sweep(one.result, id_, x, icache)
            if points and len(points[0]) >= LEAST:
                curve = Curve(series_name(one, icache, named), *points)
                found.setdefault((id_, x), []).append(curve)
                if (id_, icache) in fitted:
                    fits[id_, curve.label] = fitted[id_, icache]
    if not found:
        return None
    across = min(3, len(found))
    sheet = Sheet("Cost by parameter", named, -(-len(found) // across), across, 2.5)
    labels = _labels(found.values())
    for axes, ((id_, x), curves) in zip(sheet.panels, found.items(), strict=False):
        lines(axes, curves, labels)
        axes.set_title(id_)
        axes.set_ylim(0, max(max(curve.y) for curve in curves) * 1.08)
        _fitted(axes, [(c, fits[id_, c.label]) for c in curves if (id_, c.label) in fits])
        most = max(max(curve.x) for curve in curves)
        if x == "size" and most >= WRITTEN:
            axes.xaxis.set_major_locator(MultipleLocator(2 ** math.ceil(math.log2(most / 4))))
            axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: _size(value)))
        else:
            axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_xlabel("size, bytes" if x == "size" and most < WRITTEN else x)
    for row in sheet.grid:
        row[0].set_ylabel("net cycles of\none operation")
    sheet.unused(len(found))
    _one_legend(sheet)
    return sheet


def _fitted(axes: Axes, curves: list[tuple[Curve, fit.Sweep]]) -> None:
    """The straight lines of `tockmark fit`, each over the sizes that it was fitted to. There is
    none where a sweep bends, or the held-out size is off the line. In words, too, where few."""
    straight = [(curve, sweep) for curve, sweep in curves if _straight(sweep)]
    for curve, sweep in straight:
        ends = [curve.x[-sweep.sizes], curve.x[-1]]
        values = [sweep.line.intercept + sweep.line.slope * x for x in ends]
        axes.plot(ends, values, color="#777777", linewidth=0.7, zorder=1, label="_fit")
    words = [f"{curve.label}: {listing.equation(sweep)}" for curve, sweep in straight]
    if words and len(words) <= EQUATIONS:
        place: Any = {"xycoords": "axes fraction", "ha": "right", "fontsize": 6, "color": "#444444"}
        axes.annotate("\n".join(words), (0.98, 0.04), **place)


def _straight(sweep: fit.Sweep) -> bool:
    there = sweep.line.intercept + sweep.line.slope * sweep.line.held_out
    return sweep.bend is None and abs(sweep.line.held_out_error) <= OFF * abs(there)


FIGURES: dict[str, Drawer] = {
    "procedure-calls": procedure_calls,
    "memory-bandwidth": memory_bandwidth,
    "instruction-cache": instruction_cache,
    "context-switch": context_switch,
    "sweeps": sweeps,
    "distributions": distributions,
    "before-after": before_after,
    "kernels": kernels,
    "layouts": layouts,
}
SEVERAL = ("before-after", "kernels")  # hold whole results against each other


def of_benchmark(named: list[Named], id_: str) -> dict[str, Sheet]:
    """What can be drawn of one benchmark alone: its sweep, distribution, ranges over layouts."""
    own = [
        Named(
            one.name,
            replace(one.result, rows=tuple(row for row in one.result.rows if row.id == id_)),
        )
        for one in named
    ]
    there = [one for one in own if one.result.rows]
    return draw(there, [name for name in FIGURES if name not in SEVERAL]) if there else {}


def draw(named: list[Named], only: list[str] | None = None) -> dict[str, Sheet]:
    """The pictures that these results have rows for."""
    with mpl.rc_context(STYLE):
        drawn = {name: FIGURES[name](named) for name in only or FIGURES}
    return {name: sheet for name, sheet in drawn.items() if sheet is not None}


def _rows(result: Result, id_: str, icache: bool | None) -> list[Row]:
    """The rows of a benchmark that can be drawn."""
    rows = result.table.values()
    return [row for row in rows if row.id == id_ and row.icache is icache and row.sound]


def _bytes_a_cycle(row: Row) -> float | None:
    size, cycles = row.params["size"], row.per_op
    return size / cycles if isinstance(size, int) and cycles and cycles > 0 else None


def _sweep(
    result: Result,
    id_: str,
    x: str,
    icache: bool | None,
    value: Callable[[Row], float | None] = lambda row: row.per_op,
    **fixed: object,
) -> tuple[list[float], list[float]] | None:
    """A benchmark by one parameter, the others as given."""
    points = sorted(
        (float(at), y)
        for row in _rows(result, id_, icache)
        if row.params.keys() == {x, *fixed}
        and isinstance(at := row.params[x], int)
        and all(row.params[name] == wanted for name, wanted in fixed.items())
        and (y := value(row)) is not None
    )
    return ([at for at, _ in points], [y for _, y in points]) if points else None


def _swept(result: Result) -> list[tuple[str, str]]:
    """The benchmarks with one number as their only parameter, and what it is called."""
    found = [
        (row.id, next(iter(row.params)))
        for row in result.table.values()
        if len(row.params) == 1 and not row.id.startswith(OWN)
    ]
    return list(dict.fromkeys(found))


def _labels(panels: Iterable[list[Curve]]) -> list[str]:
    """Every label once, in order."""
    return list(dict.fromkeys(curve.label for curves in panels for curve in curves))


def _one_legend(sheet: Sheet) -> None:
    """One for all panels."""
    entries: dict[str, Any] = {}
    for axes in sheet.panels:
        labelled = {str(line.get_label()): line for line in axes.get_lines()}
        entries |= {name: line for name, line in labelled.items() if not name.startswith("_")}
    longest = max(map(len, entries))
    across = max(1, min(5, len(entries), LETTERS // (longest + HANDLE)))
    names, drawn = list(entries), list(entries.values())
    sheet.body.legend(drawn, names, loc="outside lower center", ncols=across)


def _from_zero(axes: Axes, named: list[Named]) -> None:
    """Whole numbers below, cycles from 0 on the left, and time on the right."""
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_ylim(bottom=0)
    clock = common_clock(named)
    if clock:
        second_scale(axes, f"µs at {_clock(named)}", microseconds(1, clock))


def _clock(named: list[Named]) -> str:
    """In words, where all results have the same."""
    return named[0].result.provenance.board.clock


def _sizes(axes: Axes) -> None:
    """A scale of powers of two, written in bytes and KiB."""
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_locator(FixedLocator([2.0**power for power in range(5, 15, 3)]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: _size(value)))


def _size(value: float) -> str:
    return f"{value / WRITTEN:g} KiB" if value >= WRITTEN else f"{value:g} B"
