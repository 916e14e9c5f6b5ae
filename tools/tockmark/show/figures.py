# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What `plot` and `site` draw: one function a picture, which returns nothing if its rows are not
there. Three of them are figures of the 2021 study, made from our data.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, MultipleLocator, NullLocator

from tockmark.compare import trends
from tockmark.result.model import Result, Row, microseconds
from tockmark.show import listing
from tockmark.show.comparison_plots import SPREAD, before_after, distributions, kernels, layouts
from tockmark.show.plot import DARK, GREY, STYLE, STYLES, Drawer, Sheet, in_legend
from tockmark.show.table import Named
from tockmark.suite import catalogue
from tockmark.suite.catalogue import ICACHE

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


@dataclass(frozen=True)
class Curve:
    """One line of a picture."""

    label: str
    x: list[float]
    y: list[float]


def procedure_calls(named: list[Named]) -> Sheet | None:
    """Draw the study's figure of procedure calls: cycles by the number of arguments."""
    curves = [curve for one in _settings(named) for curve in one.curve("call.args", "n")]
    if not curves:
        return None
    sheet = _sheet("Procedure calls by number of arguments", named, {"": curves})
    (axes,) = sheet.panels
    axes.set(xlabel="arguments (8 of them fit in registers)", ylabel="net cycles of one call")
    _from_zero(axes, named)
    axes.legend()
    return sheet


def memory_bandwidth(named: list[Named]) -> Sheet | None:
    """Draw the study's figure of RAM bandwidth by size, for all kinds of access."""
    drawn: dict[str, dict[str, list[Curve]]] = {}
    for one in _settings(named):
        for kind, ids in MEMORY.items():
            curves = [
                replace(curve, label=id_.partition("_")[2])
                for id_ in ids
                for curve in one.curve(id_, "size", _bytes_a_cycle)
            ]
            if curves:
                drawn.setdefault(one.label, {})[kind] = curves
    kinds = [kind for kind in MEMORY if any(kind in row for row in drawn.values())]
    if not drawn:
        return None
    panels = {(label, kind): row.get(kind, []) for label, row in drawn.items() for kind in kinds}
    labels = _labels(row.get(kind, []) for kind in kinds for row in drawn.values())
    sheet = _sheet("RAM bandwidth by size", named, panels, len(kinds), 2.4, labels)
    top = _top(panels.values()) * 1.08
    for axes, ((label, kind), curves) in zip(sheet.panels, panels.items(), strict=True):
        axes.set_ylim(0, top)
        _sizes(axes)
        if all(one.result.provenance.board.machine == LIMITED for one in named):
            _ram_limit(axes, kind, max((max(curve.x) for curve in curves), default=0))
        if kind == kinds[0]:
            axes.set_ylabel(f"{label}\nbytes a cycle, net")
        else:
            axes.tick_params(labelleft=False)
        if kind == kinds[-1]:
            _clock_scale(axes, named, "MB/s", lambda hz: hz / 1e6)
    for axes, kind in zip(sheet.grid[0], kinds, strict=True):
        axes.set_title(kind)
    for axes in sheet.grid[-1]:
        axes.set_xlabel("size")
    _one_legend(sheet)
    return sheet


def ram_limit(kind: str) -> float:
    """Return the bytes a cycle that no such access exceeds; a copy reads and writes each byte."""
    return RAM_LIMIT / 2 if kind == "copy" else RAM_LIMIT


def _ram_limit(axes: Axes, kind: str, most: float) -> None:
    """Draw what no row can exceed, and from which size on."""
    if most > trends.FROM:
        limit = ram_limit(kind)
        ends = [float(trends.FROM), most]
        axes.plot(ends, [limit, limit], color=GREY, linewidth=0.9, linestyle=":", label="_limit")
        words = f"a word in {4 / limit:.0f} cycles"
        axes.annotate(words, (most, limit), fontsize=6, va="bottom", ha="right", color=DARK)


def _bytes_a_cycle(row: Row) -> float | None:
    size, cycles = row.params["size"], row.per_op
    return size / cycles if isinstance(size, int) and cycles and cycles > 0 else None


def _sizes(axes: Axes) -> None:
    """Make the scale one of powers of two, written in bytes and KiB."""
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_locator(FixedLocator([2.0**power for power in range(5, 15, 3)]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(_size))


def _size(value: float, _place: int) -> str:
    return f"{value / WRITTEN:g} KiB" if value >= WRITTEN else f"{value:g} B"


def instruction_cache(named: list[Named]) -> Sheet | None:
    """Draw the study's figure of the instruction cache: cycles by the length of a run of NOPs."""
    panels = {
        width: [
            replace(curve, x=[x / 1024 for x in curve.x])
            for one in _settings(named)
            for curve in one.curve("icache.nops", "size", width=width)
        ]
        for width in (2, 4)
    }
    if not any(panels.values()):
        return None
    sheet = _sheet("One pass over a straight run of NOPs", named, panels, 2, 3.2)
    top = _top(panels.values()) * 1.05
    for axes, (width, curves) in zip(sheet.panels, panels.items(), strict=True):
        axes.set(title=f"{width}-byte NOPs", xlabel="length of the run, KiB", ylim=(0, top))
        axes.axvline(CACHE, color=GREY, linewidth=0.8, linestyle=":")
        axes.annotate(f" the cache holds {CACHE} KiB", (CACHE, top), fontsize=7, va="top")
        if curves:
            axes.legend(loc="lower right")
    sheet.panels[0].set_ylabel("net cycles of one pass")
    return sheet


def context_switch(named: list[Named]) -> Sheet | None:
    """Draw lmbench's figure of context switching: a hop by processes and working set."""
    panels: dict[str, list[Curve]] = {}
    for one in _settings(named):
        rings = [row.params.get("kib") for row in one.rows("ctx.ring")]
        for kib in sorted({kib for kib in rings if isinstance(kib, int)}):
            for curve in one.curve("ctx.ring", "processes", kib=kib):
                own = replace(curve, label=f"working set {kib} KiB")
                panels.setdefault(one.label, []).append(own)
    if not panels:
        return None
    sheet = _sheet("A token passed round by IPC", named, panels, min(2, len(panels)), 2.6)
    top = _top(panels.values()) * 1.08
    for axes, label in zip(sheet.panels, panels, strict=False):
        axes.set(title=label, xlabel="processes in the ring", ylabel="net cycles of one hop")
        _from_zero(axes, named)
        axes.set_ylim(0, top)
    _one_legend(sheet)
    return sheet


def sweeps(named: list[Named]) -> Sheet | None:
    """Draw the cost of an operation by its parameter, for every other benchmark that has one."""
    found: dict[tuple[str, str], list[Curve]] = {}
    fits: dict[tuple[str, str], trends.Sweep] = {}  # by benchmark and curve
    known = catalogue.load()
    for one in _settings(named):
        fitted = {(s.label, s.icache): s for s in trends.sweeps(one.result, known)}
        for id_, x in _swept(one.result):
            for curve in one.curve(id_, x):
                if len(curve.x) >= LEAST:
                    found.setdefault((id_, x), []).append(curve)
                    if (id_, one.icache) in fitted:
                        fits[id_, curve.label] = fitted[id_, one.icache]
    if not found:
        return None
    sheet = _sheet("Cost by parameter", named, found, min(3, len(found)), 2.5)
    for axes, ((id_, x), curves) in zip(sheet.panels, found.items(), strict=False):
        axes.set_title(id_)
        axes.set_ylim(0, _top([curves]) * 1.08)
        _fitted(axes, [(c, fits[id_, c.label]) for c in curves if (id_, c.label) in fits])
        most = max(max(curve.x) for curve in curves)
        if x == "size" and most >= WRITTEN:
            axes.xaxis.set_major_locator(MultipleLocator(2 ** math.ceil(math.log2(most / 4))))
            axes.xaxis.set_major_formatter(FuncFormatter(_size))
        else:
            axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_xlabel("size, bytes" if x == "size" and most < WRITTEN else x)
    for row in sheet.grid:
        row[0].set_ylabel("net cycles of\none operation")
    _one_legend(sheet)
    return sheet


def _swept(result: Result) -> list[tuple[str, str]]:
    """Return the benchmarks with one number as their only parameter, and what it is called."""
    found = [
        (row.id, next(iter(row.params)))
        for row in result.table.values()
        if len(row.params) == 1 and not row.id.startswith(OWN)
    ]
    return list(dict.fromkeys(found))


def _fitted(axes: Axes, curves: list[tuple[Curve, trends.Sweep]]) -> None:
    """Draw the lines of `tockmark fit`, each over the sizes that it was fitted to. There is
    none where a sweep bends, or the held-out size is off the line. In words, too, where few."""
    words = []
    for curve, sweep in curves:
        line = sweep.line
        held_out = line.intercept + line.slope * line.held_out
        if sweep.bend is None and abs(line.held_out_error) <= OFF * abs(held_out):
            ends = [curve.x[-sweep.sizes], curve.x[-1]]
            values = [line.intercept + line.slope * x for x in ends]
            axes.plot(ends, values, color=GREY, linewidth=0.7, zorder=1, label="_fit")
            words.append(f"{curve.label}: {listing.equation(sweep)}")
    if words and len(words) <= EQUATIONS:
        place: Any = {"xycoords": "axes fraction", "ha": "right", "fontsize": 6, "color": DARK}
        axes.annotate("\n".join(words), (0.98, 0.04), **place)


DRAWERS = (
    *(procedure_calls, memory_bandwidth, instruction_cache, context_switch, sweeps),
    *(distributions, before_after, kernels, layouts),
)
FIGURES: dict[str, Drawer] = {drawer.__name__.replace("_", "-"): drawer for drawer in DRAWERS}
SEVERAL = ("before-after", "kernels")  # hold whole results against each other


def of_benchmark(named: list[Named], id_: str) -> dict[str, Sheet]:
    """Draw what there is of one benchmark alone: its sweep, distribution, ranges over layouts."""
    there = []
    for one in named:
        if rows := tuple(row for row in one.result.rows if row.id == id_):
            there.append(Named(one.name, replace(one.result, rows=rows)))
    return draw(there, [name for name in FIGURES if name not in SEVERAL]) if there else {}


def draw(named: list[Named], only: list[str] | None = None) -> dict[str, Sheet]:
    """Draw the pictures that these results have rows for."""
    with mpl.rc_context(STYLE):
        drawn = {name: FIGURES[name](named) for name in only or FIGURES}
    return {name: sheet for name, sheet in drawn.items() if sheet is not None}


# What the pictures share.


@dataclass(frozen=True)
class Setting:
    """A result, which is of one language, with one of its cache settings."""

    label: str  # what a line or a row of panels of it is called: only what tells it from the others
    result: Result
    icache: bool | None

    def rows(self, id_: str) -> list[Row]:
        """Return the rows of a benchmark that can be drawn."""
        every = self.result.table.values()
        return [row for row in every if row.id == id_ and row.icache is self.icache and row.sound]

    def curve(
        self,
        id_: str,
        x: str,
        value: Callable[[Row], float | None] = lambda row: row.per_op,
        **fixed: object,
    ) -> list[Curve]:
        """Return a benchmark by one parameter, the others as given; nothing if it has no rows."""
        points = sorted(
            (float(at), y)
            for row in self.rows(id_)
            if row.params.keys() == {x, *fixed}
            and isinstance(at := row.params[x], int)
            and all(row.params[name] == wanted for name, wanted in fixed.items())
            and (y := value(row)) is not None
        )
        return [Curve(self.label, [at for at, _ in points], [y for _, y in points])] * bool(points)


def _settings(named: list[Named]) -> list[Setting]:
    """Return every result with every cache setting that it has rows of."""
    several = len({icache for one in named for icache in one.result.icaches}) > 1
    found = []
    for one in named:
        for icache in one.result.icaches:
            parts = [one.name] if len(named) > 1 else []
            parts += [f"i-cache {ICACHE[icache]}"] if several or not parts else []
            found.append(Setting(", ".join(parts), one.result, icache))
    return found


def _sheet(
    title: str,
    named: list[Named],
    panels: Mapping[Any, list[Curve]],
    across: int = 1,
    height: float = 3.2,
    labels: list[str] | None = None,
) -> Sheet:
    """Draw a panel for each group of curves. A label has the same style in each; where
    curves coincide, each marker shows."""
    sheet = Sheet(title, named, -(-len(panels) // across), across, height)
    labels = labels or _labels(panels.values())
    for axes, curves in zip(sheet.panels, panels.values(), strict=False):
        for curve in curves:
            index = labels.index(curve.label)
            hollow: Any = {"markerfacecolor": "none", "markersize": 5 + index} if index else {}
            style = STYLES[index % len(STYLES)]
            axes.plot(curve.x, curve.y, label=in_legend(curve.label), **style, **hollow)
    for axes in sheet.panels[len(panels) :]:
        axes.set_axis_off()
    return sheet


def _labels(panels: Iterable[list[Curve]]) -> list[str]:
    """Return every label once, in order."""
    return list(dict.fromkeys(curve.label for curves in panels for curve in curves))


def _top(panels: Iterable[list[Curve]]) -> float:
    """Return the greatest value that is drawn."""
    return max(max(curve.y) for curves in panels for curve in curves)


def _one_legend(sheet: Sheet) -> None:
    """Make one legend for all panels."""
    entries: dict[str, Any] = {}
    for axes in sheet.panels:
        labelled = {str(line.get_label()): line for line in axes.get_lines()}
        entries |= {name: line for name, line in labelled.items() if not name.startswith("_")}
    longest = max(map(len, entries))
    across = max(1, min(5, len(entries), LETTERS // (longest + HANDLE)))
    names, drawn = list(entries), list(entries.values())
    sheet.body.legend(drawn, names, loc="outside lower center", ncols=across)


def _from_zero(axes: Axes, named: list[Named]) -> None:
    """Show whole numbers below, cycles from 0 on the left, and time on the right."""
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_ylim(bottom=0)
    _clock_scale(axes, named, "µs", lambda hz: microseconds(1, hz))


def _clock_scale(
    axes: Axes, named: list[Named], unit: str, factor_at: Callable[[int], float]
) -> None:
    """Show the values in a unit of time on the right, if all results have the same clock."""
    boards = [one.result.provenance.board for one in named]
    if boards[0].clock_hz and len({board.clock_hz for board in boards}) == 1:
        factor = factor_at(boards[0].clock_hz)
        there_and_back: Any = (lambda value: value * factor, lambda value: value / factor)
        scale = axes.secondary_yaxis("right", functions=there_and_back)
        scale.set_ylabel(f"{unit} at {boards[0].clock}")
        scale.spines["right"].set_visible(True)
