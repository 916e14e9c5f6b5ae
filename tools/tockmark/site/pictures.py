# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The pictures of a site: one function per picture, which returns None if its rows are missing.

The first functions draw results by a parameter; three of them are figures of the 2021 study, with
our data. The others compare results: ratios before and after, and the rows of the first screen over
kernels. All figures come from result/model.py, and plot.py
defines the style.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import matplotlib as mpl
import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.ticker import (
    FixedLocator,
    FuncFormatter,
    MaxNLocator,
    MultipleLocator,
    NullFormatter,
    NullLocator,
)

from tockmark.compare.sweeps import FROM
from tockmark.result.model import Result, Row, common_icaches, microseconds, ratio
from tockmark.show import text
from tockmark.show.table import Named
from tockmark.site.model import ColumnGroup, Site, SiteColumn
from tockmark.site.model import setting as conditions
from tockmark.site.pages import names_of_rows
from tockmark.site.plot import (
    DARK,
    GREY,
    STYLE,
    STYLES,
    Drawer,
    Sheet,
    in_legend,
    rendered,
)
from tockmark.suite import catalogue
from tockmark.suite.catalogue import ICACHE, LANGS
from tockmark.suite.selection import Selection

MEMORY = {
    "copy": ("mem.copy_asm", "mem.copy_memcpy", "mem.copy_loop"),
    "read": ("mem.read_asm", "mem.read_sum", "mem.read_byte"),
    "write": ("mem.write_asm", "mem.write_const", "mem.write_byte"),
}
OWN = ("call.args", "icache.nops", "ctx.ring", "mem.")  # drawn in their own pictures
CACHE = 4  # KiB, the size of Ibex's instruction cache
# On cw310, a word arrives 3 cycles after the request, and the core has one access in flight. Below
# FROM bytes, overlap with the counter reads distorts the figures.
RAM_LIMIT, LIMITED = 4 / 3, "cw310"  # bytes per cycle; the machine
LEAST = 3  # least number of points of a sweep
WRITTEN = 1024  # larger sizes are written in KiB
MOST = 90  # lines of a picture of ratios
LINE = 0.13  # inches per line
NEAR = 0.01  # benchmarks with ratios this near to 1 are not drawn
SHOWN = 3  # at most this many results in a picture of a group


@dataclass(frozen=True)
class Curve:
    """A line of a picture."""

    label: str
    x: list[float]
    y: list[float]


def procedure_calls(named: list[Named]) -> Sheet | None:
    """Draw the study's figure of procedure calls: cycles by the number of arguments."""
    curves = [curve for setting in _settings(named) for curve in setting.curve("call.args", "n")]
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
    for setting in _settings(named):
        for kind, ids in MEMORY.items():
            curves = [
                replace(curve, label=id_.partition("_")[2])
                for id_ in ids
                for curve in setting.curve(id_, "size", _bytes_a_cycle)
            ]
            if curves:
                drawn.setdefault(setting.label, {})[kind] = curves
    kinds = [kind for kind in MEMORY if any(kind in row for row in drawn.values())]
    if not drawn:
        return None
    panels = {(label, kind): row.get(kind, []) for kind in kinds for label, row in drawn.items()}
    labels = _labels(panels.values())
    across = min(2, len(panels))
    sheet = _sheet("RAM bandwidth by size", named, panels, across, 1.9, labels)
    top = max(_top(panels.values()), RAM_LIMIT) * 1.12
    for n, (axes, ((label, kind), curves)) in enumerate(
        zip(sheet.panels, panels.items(), strict=False)
    ):
        axes.set_ylim(0, top)
        axes.set_title(f"{kind}, {label}")
        _sizes(axes)
        if all(entry.result.provenance.board.machine == LIMITED for entry in named):
            _ram_limit(axes, kind, max((max(curve.x) for curve in curves), default=0))
        if n % across == 0:
            axes.set_ylabel("bytes per cycle")
        else:
            axes.tick_params(labelleft=False)
        if n % across == across - 1:
            _clock_scale(axes, named, "MB/s", lambda hz: hz / 1e6)
    for axes in sheet.grid[-1]:
        axes.set_xlabel("bytes moved")
    sheet.legend()
    return sheet


def ram_limit(kind: str) -> float:
    """Return the limit of an access in bytes per cycle. A copy reads and writes each byte."""
    return RAM_LIMIT / 2 if kind == "copy" else RAM_LIMIT


def _ram_limit(axes: Axes, kind: str, most: float) -> None:
    """Draw the limit of the RAM bandwidth, from FROM bytes on."""
    if most > FROM:
        limit = ram_limit(kind)
        ends = [float(FROM), most]
        axes.plot(ends, [limit, limit], color=GREY, linewidth=0.9, linestyle=":", label="_limit")
        words = f"a word in {4 / limit:.0f} cycles"
        axes.annotate(words, (most, limit), fontsize=7.5, va="bottom", ha="right", color=DARK)


def _bytes_a_cycle(row: Row) -> float | None:
    size, cycles = row.params["size"], row.per_op
    return size / cycles if isinstance(size, int) and cycles and cycles > 0 else None


def _sizes(axes: Axes) -> None:
    """Give the axis a scale of powers of two, in bytes and KiB."""
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
            for setting in _settings(named)
            for curve in setting.curve("icache.nops", "size", width=width)
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
        axes.annotate(f" the cache holds {CACHE} KiB", (CACHE, top), fontsize=7.5, va="top")
        if curves:
            axes.legend(loc="lower right")
    sheet.panels[0].set_ylabel("net cycles of one pass")
    return sheet


def context_switch(named: list[Named]) -> Sheet | None:
    """Draw lmbench's figure of context switches: the cost of a hop by processes and working set."""
    panels: dict[str, list[Curve]] = {}
    for setting in _settings(named):
        rings = [row.params.get("kib") for row in setting.rows("ctx.ring")]
        for kib in sorted({kib for kib in rings if isinstance(kib, int)}):
            for curve in setting.curve("ctx.ring", "processes", kib=kib):
                own = replace(curve, label=f"working set {kib} KiB")
                panels.setdefault(setting.label, []).append(own)
    if not panels:
        return None
    sheet = _sheet("A token passed around by IPC", named, panels, min(2, len(panels)), 2.6)
    top = _top(panels.values()) * 1.08
    for axes, label in zip(sheet.panels, panels, strict=False):
        axes.set(title=label, xlabel="processes in the ring", ylim=(0, top))
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    for row in sheet.grid:
        row[0].set_ylabel("net cycles of one hop")
    sheet.legend()
    return sheet


def sweeps(named: list[Named]) -> Sheet | None:
    """Draw the cost of an operation by its parameter, for all other benchmarks with one."""
    curves_by_sweep: dict[tuple[str, str], list[Curve]] = {}
    for setting in _settings(named):
        for id_, x in _swept(setting.result):
            for curve in setting.curve(id_, x):
                if len(curve.x) >= LEAST:
                    curves_by_sweep.setdefault((id_, x), []).append(curve)
    if not curves_by_sweep:
        return None
    sheet = _sheet("Cost by parameter", named, curves_by_sweep, min(2, len(curves_by_sweep)), 2.1)
    for axes, ((id_, x), curves) in zip(sheet.panels, curves_by_sweep.items(), strict=False):
        axes.set_title(id_)
        axes.set_ylim(0, _top([curves]) * 1.08)
        most = max(max(curve.x) for curve in curves)
        if x == "size" and most >= WRITTEN:
            axes.xaxis.set_major_locator(MultipleLocator(2 ** math.ceil(math.log2(most / 3))))
            axes.xaxis.set_major_formatter(FuncFormatter(_size))
        else:
            axes.xaxis.set_major_locator(MaxNLocator(4, integer=True))
        axes.set_xlabel("size, bytes" if x == "size" and most < WRITTEN else x)
    for row in sheet.grid:
        row[0].set_ylabel("net cycles of\none operation")
    sheet.legend()
    return sheet


def _swept(result: Result) -> list[tuple[str, str]]:
    """Return the benchmarks with exactly one parameter, and its name."""
    swept = [
        (row.id, next(iter(row.params)))
        for row in result.table.values()
        if len(row.params) == 1 and not row.id.startswith(OWN)
    ]
    return list(dict.fromkeys(swept))


# Pictures that compare results.


def _cache_setting(icache: bool | None) -> str:
    """Format the cache setting for the end of a title or label."""
    return "" if icache is None else f", i-cache {ICACHE[icache]}"


Ratios = dict[bool | None, list[float]]  # of one benchmark, by cache setting


def before_after(named: list[Named]) -> Sheet | None:
    """Draw the ratios of net cycles of all results to the first, the largest increase on top, for
    each cache setting and language. A benchmark with parameters is a line from its least to its
    largest ratio, with their geometric mean."""
    first = named[0].result.table
    several = any(len(entry.result.langs) > 1 for entry in named)
    blocks: dict[str, dict[tuple[int, str], Ratios]] = {}
    for index, entry in enumerate(named[1:]):
        for key, row in entry.result.table.items():
            if (times := ratio(first.get(key), row)) is not None:
                result_key = index, f"{entry.name}, {LANGS[row.lang]}" if several else entry.name
                cached = blocks.setdefault(row.id, {}).setdefault(result_key, {})
                cached.setdefault(row.icache, []).append(times)
    if not blocks:
        return None
    moved = {
        id_: by_result
        for id_, by_result in blocks.items()
        if _largest_log_ratio(by_result) > np.log(1 + NEAR)
    }
    subs = max(map(len, blocks.values()))
    kept = sorted(moved, key=lambda id_: -_largest_log_ratio(moved[id_]))[: max(1, MOST // subs)]
    # Axes count from below: the last is on top.
    shown = sorted(kept, key=lambda id_: _geometric_mean(_every_ratio(moved[id_])))
    left, nearer = len(blocks) - len(moved), len(moved) - len(kept)
    height = 1.8 + LINE * (subs + 0.6) * max(3, len(shown))
    sheet = Sheet(f"Net cycles of one operation, relative to {named[0].name}", named, height=height)
    (axes,) = sheet.panels
    names = list(dict.fromkeys(result_key for id_ in blocks for result_key in blocks[id_]))
    for at, id_ in enumerate(shown):
        for result_key, cached in moved[id_].items():
            _ratios(
                axes,
                at * (subs + 0.6) + subs - 1 - names.index(result_key) % subs,
                cached,
                result_key,
            )
    _name_ratios(axes, names, blocks)
    axes.axvline(1, color="black", linewidth=1.0, label="_one")
    axes.set_xscale("log")
    for set_formatter in (axes.xaxis.set_major_formatter, axes.xaxis.set_minor_formatter):
        set_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.tick_params(axis="x", which="both", labelsize=7.5)
    axes.xaxis.set_minor_locator(MaxNLocator(5))
    axes.set_yticks([at * (subs + 0.6) + (subs - 1) / 2 for at in range(len(shown))], shown)
    axes.set_ylim(-1, max(1, len(shown) * (subs + 0.6)))
    note = f"\n{left} benchmarks within 1 % of 1 are not drawn" if left else ""
    note += f"\n{nearer} with smaller changes are not drawn" if nearer else ""
    axes.set_xlabel(f"ratio (left of 1: fewer cycles)\na line spans a benchmark's parameters{note}")
    sheet.legend()
    return sheet


def _every_ratio(by_result: dict[tuple[int, str], Ratios]) -> list[float]:
    return [
        value for cached in by_result.values() for values in cached.values() for value in values
    ]


def _geometric_mean(values: list[float]) -> float:
    return float(np.exp(np.mean(np.log(values))))


def _largest_log_ratio(by_result: dict[tuple[int, str], Ratios]) -> float:
    """Return the largest absolute logarithm of the ratios."""
    return float(np.max(np.abs(np.log(_every_ratio(by_result)))))


def _ratios(axes: Axes, y: float, cached: Ratios, result_key: tuple[int, str]) -> None:
    """Draw one result's ratios of a benchmark: filled for cache on, hollow for cache off."""
    style = STYLES[result_key[0] % len(STYLES)]
    for icache, values in cached.items():
        lift = 0.0 if len(cached) < 2 else 0.2 if icache else -0.2
        ends = [min(values), max(values)]
        axes.plot(ends, [y + lift] * 2, color=style["color"], linewidth=1, label="_range")
        hollow: dict[str, Any] = {"markerfacecolor": "white"} if icache is False else {}
        mean, marker = [_geometric_mean(values)], style["marker"]
        axes.plot(mean, [y + lift], marker, color=style["color"], label="_mean", **hollow)


def _name_ratios(
    axes: Axes, names: list[tuple[int, str]], blocks: dict[str, dict[tuple[int, str], Ratios]]
) -> None:
    """Add an entry to the legend for each result and cache setting."""
    for result_key in names:
        style = STYLES[result_key[0] % len(STYLES)]
        settings = {
            icache for by_result in blocks.values() for icache in by_result.get(result_key, {})
        }
        for icache in [setting for setting in (True, False, None) if setting in settings]:
            look: dict[str, Any] = {"linestyle": "none"}
            look |= {"markerfacecolor": "white"} if icache is False else {}
            marker, color = style["marker"], style["color"]
            label = in_legend(f"{result_key[1]}{_cache_setting(icache)}")
            axes.plot([], [], marker=marker, color=color, label=label, **look)


def kernels(named: list[Named]) -> Sheet | None:
    """Draw the first screen of two or more kernels: net cycles of one operation, and the ratio to
    the first kernel."""
    common = common_icaches([entry.result for entry in named])
    if len(named) < 2 or not common:
        return None
    icache = common[0]
    columns = [entry.result.column(icache, entry.result.langs[0]) for entry in named]
    rows = {
        words: cells
        for key, words in names_of_rows(catalogue.load()).items()
        if any(cells := [_costly(column.get(key)) for column in columns])
    }
    if not rows:
        return None
    built = [
        f"opt-level {entry.result.provenance.kernel.opt_level or 'unknown'}" for entry in named
    ]
    spoken = " and ".join(dict.fromkeys(LANGS[entry.result.langs[0]] for entry in named))
    title = f"What kernels cost: i-cache {ICACHE[icache]}, apps in {spoken}"
    height = 1.8 + 0.23 * len(rows)
    sheet = Sheet(title, named, height=height, conditions=built)
    (axes,) = sheet.panels
    heights = {words: len(rows) - n for n, words in enumerate(rows)}
    for index, entry in enumerate(named):
        style = STYLES[index % len(STYLES)]
        shown = {words: row for words, cells in rows.items() if (row := cells[index]) is not None}
        x = [float(row.per_op or 0) for row in shown.values()]
        y = [heights[words] for words in shown]
        hollow: dict[str, Any] = {"markerfacecolor": "white", "markersize": 6} if index else {}
        axes.plot(
            x, y, style["marker"], color=style["color"], label=in_legend(entry.name), **hollow
        )
    position: Any = {"transform": axes.get_yaxis_transform(), "va": "center"}
    for words, cells in rows.items():
        ratios = " ".join(f"{text.ratio(ratio(cells[0], row)):>6}" for row in cells[1:])
        axes.text(1.01, heights[words], ratios, **position)
    axes.text(1.01, len(rows) + 1.0, "ratio" if len(named) == 2 else "ratios", **position)
    axes.set_xscale("log")
    left, right = map(math.log10, axes.get_xlim())
    axes.set_xlim(10 ** math.floor(left), 10 ** math.ceil(right))
    axes.xaxis.set_major_formatter(FuncFormatter(shortened))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_yticks(list(heights.values()), list(heights))
    axes.set_ylim(0.3, len(rows) + 0.7)
    axes.set_xlabel(f"net cycles of one operation\nright: ratio to {named[0].name}")
    sheet.legend()
    return sheet


def shortened(value: float, _place: int) -> str:
    """Format a number of an axis: 10k for 10,000."""
    for unit, size in (("M", 1e6), ("k", 1e3)):
        if value >= size:
            return f"{value / size:g}{unit}"
    return f"{value:g}"


def _costly(row: Row | None) -> Row | None:
    """Return the row if a logarithmic scale can show it."""
    return row if row is not None and row.sound and (row.per_op or 0) > 0 else None


DRAWERS = (
    *(procedure_calls, memory_bandwidth, instruction_cache, context_switch, sweeps),
    *(before_after, kernels),
)
FIGURES: dict[str, Drawer] = {drawer.__name__.replace("_", "-"): drawer for drawer in DRAWERS}
SEVERAL = ("before-after", "kernels")  # pictures that compare whole results


def draw(named: list[Named], only: list[str] | None = None) -> dict[str, Sheet]:
    """Draw the pictures that these results have rows for."""
    with mpl.rc_context(STYLE):
        drawn = {name: FIGURES[name](named) for name in only or FIGURES}
    return {name: sheet for name, sheet in drawn.items() if sheet is not None}


# Shared by the pictures.


@dataclass(frozen=True)
class Setting:
    """A result in one language, with one of its cache settings."""

    label: str  # of its line or row of panels: what distinguishes it from the others
    result: Result
    icache: bool | None

    def rows(self, id_: str) -> list[Row]:
        """Return the sound rows of a benchmark."""
        every = self.result.table.values()
        return [row for row in every if row.id == id_ and row.icache is self.icache and row.sound]

    def curve(
        self,
        id_: str,
        x: str,
        value: Callable[[Row], float | None] = lambda row: row.per_op,
        **fixed: object,
    ) -> list[Curve]:
        """Return the curve of a benchmark by parameter `x`, with the others fixed; an empty list if
        it has no rows."""
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
    """Return each result with each of its cache settings."""
    several = len({icache for entry in named for icache in entry.result.icaches}) > 1
    settings = []
    for entry in named:
        for icache in entry.result.icaches:
            parts = [entry.name] if len(named) > 1 else []
            parts += [f"i-cache {ICACHE[icache]}"] if several or not parts else []
            settings.append(Setting(", ".join(parts), entry.result, icache))
    return settings


def _sheet(
    title: str,
    named: list[Named],
    panels: Mapping[Any, list[Curve]],
    across: int = 1,
    height: float = 3.2,
    labels: list[str] | None = None,
) -> Sheet:
    """Draw a panel for each group of curves. A label has the same style in all panels, and the
    markers of coinciding curves remain visible."""
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
    """Return the distinct labels, in order."""
    return list(dict.fromkeys(curve.label for curves in panels for curve in curves))


def _top(panels: Iterable[list[Curve]]) -> float:
    """Return the largest y of all curves."""
    return max(max(curve.y) for curves in panels for curve in curves)


def _from_zero(axes: Axes, named: list[Named]) -> None:
    """Set the axes to whole numbers at the bottom, cycles from 0 on the left, and time on the
    right."""
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_ylim(bottom=0)
    _clock_scale(axes, named, "µs", lambda hz: microseconds(1, hz))


def _clock_scale(
    axes: Axes, named: list[Named], unit: str, factor_at: Callable[[int], float]
) -> None:
    """Add an axis in a unit of time on the right if all results have the same clock."""
    boards = [entry.result.provenance.board for entry in named]
    if boards[0].clock_hz and len({board.clock_hz for board in boards}) == 1:
        factor = factor_at(boards[0].clock_hz)
        there_and_back: Any = (lambda value: value * factor, lambda value: value / factor)
        scale = axes.secondary_yaxis("right", functions=there_and_back)
        scale.set_ylabel(f"{unit} at {boards[0].clock}")
        scale.spines["right"].set_visible(True)


# Pictures inside a page, with ids that are unique on it.


def first_picture(site: Site) -> tuple[str, Markup] | None:
    """Return the picture of the first page, with the conditions of its first table: a comparison of
    kernels if there are several results, else the first picture. All rows touch the kernel."""
    for group in site.groups[:1]:
        cache = Selection(site.catalogue, (f"* icache={ICACHE[group.icache]}",))
        kernel = Selection(site.catalogue, ("kernel",))
        columns = _fair(group)
        named = [
            Named(name, (*column.wider, column.result)[0].only(cache).only(kernel))
            for name, column in columns.items()
        ]
        for picture in _inline(draw(named, ["kernels"]) or draw(named)):
            return picture
    return None


def _fair(group: ColumnGroup) -> dict[str, SiteColumn]:
    """Return the columns whose kernels have the first one's opt-level, or all if it is alone."""
    every = dict(zip(group.names, group.columns, strict=True))
    levels = [column.result.provenance.kernel.opt_level for column in group.columns]
    same = {name: c for (name, c), at in zip(every.items(), levels, strict=True) if at == levels[0]}
    return same if len(same) > 1 else every


def group_pictures(site: Site, group: str, ids: list[str]) -> list[tuple[str, Markup, str]]:
    """Return the pictures of a group of benchmarks, with their conditions, from the first columns
    or from results with more links. Rows that run kernel code are drawn of several results, with
    one cache setting; others of one result."""
    defined = site.catalogue.benchmarks
    touching = any(defined[id_].touches == "kernel" for id_ in ids if id_ in defined)
    named = []
    for columns in site.groups[:1]:
        for name, column in _fair(columns).items():
            keys = [key for key, row in column.rows.items() if row.id in ids]
            results = [column.result_of(key) for key in keys[:1]]
            for result in results:
                settings = [columns.icache] if touching else result.icaches
                rows = tuple(r for r in result.rows if r.id in ids and r.icache in settings)
                named.append(Named(name, replace(result, rows=rows)))
    shown = named[: SHOWN if touching else 1]
    wanted = [name for name in FIGURES if name not in SEVERAL]
    drawn = _inline(draw(shown, wanted), group) if shown else []
    return [(*picture, conditions([entry.result for entry in shown])) for picture in drawn]


def _inline(sheets: dict[str, Sheet], suffix: str = "") -> list[tuple[str, Markup]]:
    """Return drawings with their names on a page; `suffix` makes them unique."""
    named_sheets = [
        (f"{name}-{suffix}" if suffix else name, sheet) for name, sheet in sheets.items()
    ]
    return [(name, inline(rendered(sheet.figure, "svg"), name)) for name, sheet in named_sheets]


def inline(picture: bytes, name: str) -> Markup:
    """Return an SVG of matplotlib, which has escaped its text, as an HTML element. Styles become
    attributes, since the page's policy forbids inline styles."""
    svg = picture.decode()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>", "", svg, flags=re.DOTALL)
    svg = re.sub(r' style="([^"]*)"', lambda match: _attributes(match[1]), svg)
    svg = re.sub(r' xmlns(:\w+)?="[^"]*"', "", svg).replace("xlink:href", "href")
    svg = re.sub(r'(id="|href="#|url\(#)', rf"\g<1>{name}-", svg)
    label = name.replace("-", " ")
    named = rf'\1 role="img" aria-label="{label}"'
    return Markup(re.sub(r'(<svg[^>]*?) width="[^"]*"', named, svg, count=1))


def _attributes(style: str) -> str:
    pairs = (declaration.split(":", 1) for declaration in style.split(";") if declaration.strip())
    return "".join(f' {name.strip()}="{value.strip()}"' for name, value in pairs)
