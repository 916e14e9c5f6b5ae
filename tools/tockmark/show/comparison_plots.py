# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Pictures that hold results against each other: distributions in one panel, ratios before and
after, the rows of the first screen over kernels, ranges over layouts. Every figure is the table's:
result/model.py computes it.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator

from tockmark.result.model import Row, microseconds, ratio
from tockmark.show import text
from tockmark.show.plot import STYLES, Sheet, in_legend
from tockmark.show.table import Named, layout_nets
from tockmark.suite.catalogue import ICACHE, LANGS, RowKey, load
from tockmark.suite.selection import screen

SPREAD = ("sched.", "irq.")
HATCHES = ("", "////", "....", "\\\\\\\\", "xxxx", "----", "++++", "oooo")
MOST = 90  # lines of a picture of ratios
LINE = 0.13  # inches of one of them
NEAR = 0.01  # ratios so near to 1 are named, and not drawn
ROWS = 30  # of ranges, where none of the first screen is there


def _cache(icache: bool | None) -> str:
    """Write the cache setting as a title or a label ends with it."""
    return "" if icache is None else f", i-cache {ICACHE[icache]}"


@dataclass(frozen=True)
class SampleSpread:
    """Holds the samples of one row of one result, in order."""

    place: int  # of the result
    case: str  # its parameters
    row: Row
    values: list[float]
    unit: str

    @property
    def middle(self) -> float:
        """Return the median that the table has."""
        return (self.row.us if self.unit == "µs" else self.row.per_op) or 0


def distributions(named: list[Named]) -> Sheet | None:
    """Draw rows of sched.* and irq.* that vary: what share of samples is not above a value. All
    results stand in one panel; the mark at the half is the table's median."""
    panels: dict[tuple[str, bool | None], list[SampleSpread]] = {}
    for place, one in enumerate(named):
        for row in one.result.table.values():
            if row.id.startswith(SPREAD) and (found := _spread(place, row)):
                panels.setdefault((row.id, row.icache), []).append(found)
    varied = {
        where: shown
        for where, shown in sorted(panels.items(), key=lambda item: item[0][0])
        if any(spread.values[0] != spread.values[-1] for spread in shown)
    }
    if not varied:
        return None
    most = max(map(len, varied.values()))
    sheet = Sheet("Distributions", named, len(varied), 1, max(2.2, 0.8 + 0.2 * most))
    for axes, ((id_, icache), shown) in zip(sheet.panels, varied.items(), strict=True):
        cases = list(dict.fromkeys(spread.case for spread in shown))
        for spread in shown:
            case = cases.index(spread.case)
            # Of several results each has its colour and marker, each case its dashes.
            style = dict(STYLES[(spread.place if len(named) > 1 else case) % len(STYLES)])
            style["linestyle"] = STYLES[case % len(STYLES)]["linestyle"]
            name = named[spread.place].name if len(named) > 1 else ""
            _steps(axes, spread, ", ".join(filter(None, [name, spread.case])), style)
        axes.set(title=f"{id_}{_cache(icache)}", xlabel=shown[0].unit)
        axes.set(ylabel="% of samples\nat or below")
        axes.set(xlim=(0, max(spread.values[-1] for spread in shown) * 1.05), ylim=(0, 104))
        outside: Any = {"loc": "center left", "bbox_to_anchor": (1.01, 0.5)}
        axes.legend(**outside, title="median, worst", fontsize=7, handlelength=3)
    return sheet


def _spread(place: int, row: Row) -> SampleSpread | None:
    if not row.sound or row.cycles is None or not row.cycles.samples:
        return None
    costs = (row.cycles.per_op_of(sample) for sample in sorted(row.cycles.steady))
    values, unit = [cost for cost in costs if cost is not None], "cycles"
    if row.clock_hz:
        values, unit = [microseconds(cost, row.clock_hz) for cost in values], "µs"
    case = " ".join(f"{key}={value}" for key, value in row.params.items())
    return SampleSpread(place, case, row, values, unit)


def _steps(axes: Axes, one: SampleSpread, name: str, style: dict[str, Any]) -> None:
    """Draw one line, and name it with the median and the worst."""
    shown = ", ".join(text.trimmed(text.rounded(v) or 0) for v in (one.middle, one.values[-1]))
    share = [100 * place / len(one.values) for place in range(len(one.values) + 1)]
    marker = style.pop("marker")
    steps = [one.values[0], *one.values]
    axes.plot(steps, share, drawstyle="steps-post", label="_line", **style)
    label = in_legend(f"{name}: {shown}" if name else shown)
    axes.plot([one.middle], [50], marker=marker, label=label, **{**style, "markersize": 6})


Ratios = dict[bool | None, list[float]]  # of one benchmark, by the cache setting


def before_after(named: list[Named]) -> Sheet | None:
    """Draw the benchmarks of the first result against the others, the dearest first: ratios of net
    cycles with the cache on and off, of C and Rust, below each other. A benchmark with parameters
    is a line from its least to its greatest ratio, with their geometric mean."""
    first = named[0].result.table
    several = any(len(one.result.langs) > 1 for one in named)
    blocks: dict[str, dict[tuple[int, str], Ratios]] = {}
    for place, one in enumerate(named[1:]):
        for key, row in one.result.table.items():
            if (times := ratio(first.get(key), row)) is not None:
                which = place, f"{one.name}, {LANGS[row.lang]}" if several else one.name
                cached = blocks.setdefault(row.id, {}).setdefault(which, {})
                cached.setdefault(row.icache, []).append(times)
    if not blocks:
        return None
    moved = {id_: found for id_, found in blocks.items() if _far(found) > np.log(1 + NEAR)}
    subs = max(map(len, blocks.values()))
    kept = sorted(moved, key=lambda id_: -_far(moved[id_]))[: max(1, MOST // subs)]
    shown = sorted(kept, key=lambda id_: _middle(_all(moved[id_])))  # the dearest on top
    left, nearer = len(blocks) - len(moved), len(moved) - len(kept)
    height = 1.3 + LINE * (subs + 0.6) * max(3, len(shown))
    sheet = Sheet(f"Net cycles of one operation, by {named[0].name}", named, height=height)
    (axes,) = sheet.panels
    names = list(dict.fromkeys(which for id_ in blocks for which in blocks[id_]))
    for at, id_ in enumerate(shown):
        for which, cached in moved[id_].items():
            _ratios(axes, at * (subs + 0.6) + subs - 1 - names.index(which) % subs, cached, which)
    _name_ratios(axes, names, blocks)
    axes.axvline(1, color="black", linewidth=1.0, label="_one")
    axes.set_xscale("log")
    for set_formatter in (axes.xaxis.set_major_formatter, axes.xaxis.set_minor_formatter):
        set_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.tick_params(axis="x", which="both", labelsize=7)
    axes.xaxis.set_minor_locator(MaxNLocator(8))
    axes.set_yticks([at * (subs + 0.6) + (subs - 1) / 2 for at in range(len(shown))], shown)
    axes.set_ylim(-1, max(1, len(shown) * (subs + 0.6)))
    note = f"\n{left} benchmarks within 1 % of 1 are not drawn" if left else ""
    note += f"\n{nearer} nearer to 1 are not drawn" if nearer else ""
    axes.set_xlabel(f"ratio (left of 1: fewer cycles); a line spans a benchmark's parameters{note}")
    sheet.body.legend(loc="outside lower center", ncols=2)
    return sheet


def _all(found: dict[tuple[int, str], Ratios]) -> list[float]:
    return [one for cached in found.values() for values in cached.values() for one in values]


def _middle(values: list[float]) -> float:
    """Return the geometric mean."""
    return float(np.exp(np.mean(np.log(values))))


def _far(found: dict[tuple[int, str], Ratios]) -> float:
    """Return how far from 1 the farthest ratio is, as a logarithm."""
    return float(np.max(np.abs(np.log(_all(found)))))


def _ratios(axes: Axes, y: float, cached: Ratios, which: tuple[int, str]) -> None:
    """Draw one result's ratios of a benchmark: filled with the cache on, hollow with it off."""
    style = STYLES[which[0] % len(STYLES)]
    for icache, values in cached.items():
        lift = 0.0 if len(cached) < 2 else 0.2 if icache else -0.2
        ends = [min(values), max(values)]
        axes.plot(ends, [y + lift] * 2, color=style["color"], linewidth=1, label="_range")
        hollow: dict[str, Any] = {"markerfacecolor": "white"} if icache is False else {}
        mean, marker = [_middle(values)], style["marker"]
        axes.plot(mean, [y + lift], marker, color=style["color"], label="_mean", **hollow)


def _name_ratios(
    axes: Axes, names: list[tuple[int, str]], blocks: dict[str, dict[tuple[int, str], Ratios]]
) -> None:
    """Name each result with each cache setting for the legend."""
    for which in names:
        style = STYLES[which[0] % len(STYLES)]
        there = {icache for found in blocks.values() for icache in found.get(which, {})}
        for icache in (one for one in (True, False, None) if one in there):
            look: dict[str, Any] = {"linestyle": "none"}
            look |= {"markerfacecolor": "white"} if icache is False else {}
            marker, color = style["marker"], style["color"]
            label = in_legend(f"{which[1]}{_cache(icache)}")
            axes.plot([], [], marker=marker, color=color, label=label, **look)


def kernels(named: list[Named]) -> Sheet | None:
    """Draw the first screen over two kernels or more: net cycles of one operation, and the
    ratio to the first."""
    caches = named[0].result.icaches
    common = [c for c in caches if all(c in one.result.icaches for one in named)]
    if len(named) < 2 or not common:
        return None
    icache = common[0]
    columns = [one.result.column(icache, one.result.langs[0]) for one in named]
    rows = {
        words: found
        for words, key in _first_screen().items()
        if any(found := [_costly(column.get(key)) for column in columns])
    }
    if not rows:
        return None
    built = [f"opt-level {one.result.provenance.kernel.opt_level or 'unknown'}" for one in named]
    spoken = " and ".join(dict.fromkeys(LANGS[one.result.langs[0]] for one in named))
    title = f"What the kernels cost: i-cache {ICACHE[icache]}, apps in {spoken}"
    sheet = Sheet(title, named, height=1.0 + 0.23 * len(rows), conditions=built)
    (axes,) = sheet.panels
    heights = {words: len(rows) - place for place, words in enumerate(rows)}
    for index, one in enumerate(named):
        style = STYLES[index % len(STYLES)]
        there = {words: row for words, found in rows.items() if (row := found[index]) is not None}
        x = [float(row.per_op or 0) for row in there.values()]
        y = [heights[words] for words in there]
        hollow: dict[str, Any] = {"markerfacecolor": "white", "markersize": 6} if index else {}
        axes.plot(x, y, style["marker"], color=style["color"], label=in_legend(one.name), **hollow)
    beside: Any = {"transform": axes.get_yaxis_transform(), "va": "center"}
    for words, found in rows.items():
        ratios = " ".join(f"{text.ratio(ratio(found[0], row)):>6}" for row in found[1:])
        axes.text(1.01, heights[words], ratios, **beside)
    axes.text(1.01, len(rows) + 1.0, "ratio" if len(named) == 2 else "ratios", **beside)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.set_yticks(list(heights.values()), list(heights))
    axes.set_ylim(0.3, len(rows) + 0.7)
    axes.set_xlabel(f"net cycles of one operation; on the right by {named[0].name}")
    sheet.body.legend(loc="outside lower center", ncols=3)
    return sheet


@cache
def _first_screen() -> dict[str, RowKey]:
    """Return the rows of the first screen by their words."""
    return {words: key for block in screen(load()).values() for words, key in block.items()}


def _costly(row: Row | None) -> Row | None:
    """Return the row if it can stand on a scale of logarithms."""
    return row if row is not None and row.sound and (row.per_op or 0) > 0 else None


def layouts(named: list[Named]) -> Sheet | None:
    """Draw each row's range of net cycles by its median, for results in several layouts."""
    there = [one for one in named if one.result.layouts > 1]
    caches = list(dict.fromkeys(icache for one in there for icache in one.result.icaches))
    chosen = _chosen(there)
    if not chosen:
        return None
    height = 1.1 + 0.11 * (len(there) + 1) * len(chosen)
    many = [f"{one.result.layouts} layouts" for one in there]
    sheet = Sheet("Ranges over layouts", there, 1, len(caches), height, many)
    for axes, icache in zip(sheet.panels, caches, strict=True):
        for index, one in enumerate(there):
            column = one.result.column(icache, one.result.langs[0])
            rows = [column.get(key) for key in chosen.values()]
            _bars(axes, rows, index, len(there), one.name)
        axes.axvline(0, color="black", linewidth=0.8)
        axes.set(
            title=f"least to greatest{_cache(icache)}", xlabel="% of the median over the layouts"
        )
        axes.set_yticks(range(len(chosen), 0, -1), list(chosen))
        axes.set_ylim(0.4, len(chosen) + 0.6)
        axes.use_sticky_edges = False
        axes.margins(x=0.2)
        if axes is not sheet.panels[0]:
            axes.tick_params(labelleft=False)
    entries = sheet.panels[0].get_legend_handles_labels()
    sheet.body.legend(*entries, loc="outside lower center", ncols=3)
    return sheet


def _chosen(there: list[Named]) -> dict[str, RowKey]:
    """Return the rows of the first screen, or if none of them is there, the first that are."""
    found = {
        row.key[:2]: row.label
        for one in there
        for row in one.result.table.values()
        if len(layout_nets(row)) > 1
    }
    first = {words: key for words, key in _first_screen().items() if key in found}
    return first or {label: key for key, label in list(found.items())[:ROWS]}


def _bars(axes: Axes, rows: list[Row | None], index: int, many: int, name: str) -> None:
    """Draw a bar a row, with the median that the table has."""
    step = 0.8 / many
    style: dict[str, Any] = {
        "color": "white" if index else "#bbbbbb",
        "edgecolor": STYLES[index % len(STYLES)]["color"],
        "hatch": HATCHES[index % len(HATCHES)],
    }
    for place, row in enumerate(rows):
        found = layout_nets(row)
        if row is None or row.per_op is None or row.per_op <= 0 or not found:
            continue
        low, high = (100 * (net / row.per_op - 1) for net in (min(found), max(found)))
        y = len(rows) - place + 0.4 - step * (index + 0.5)
        axes.barh(y, high - low, step * 0.9, left=low, **style)
        median = text.trimmed(text.rounded(row.per_op) or 0, 2)
        axes.text(high, y, f" {median}", va="center", fontsize=6)
    label = in_legend(f"{name}: the median in cycles beside its bar")
    axes.barh([0], [0], label=label, **style)
