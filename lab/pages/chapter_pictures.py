# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Draw the pictures of the studies, from the same figures as the studies' tables."""

from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from statistics import median
from textwrap import wrap
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

import by_size
import core_features
import crypto
import growth
import ladder
import receiving
import runtimes
import waits
import whole_programs
from tockmark.site import plot
from tockmark.site.pictures import shortened
from tockmark.site.plot import GREY, STYLES, Sheet
from tockmark.suite.catalogue import ICACHE
from tockmark_lab.folders import STUDIES
from tockmark_lab.studies import instances as instancing
from tockmark_lab.studies import programs
from tockmark_lab.studies.crypto import APP, WAYS
from tockmark_lab.studies.ladder import WAYS as IPC
from tockmark_lab.studies.programs import ALONE, WITH_ALARM
from tockmark_lab.studies.receive import RATES

KIB = 1024
MARKED: dict[str, Any] = {"linestyle": "none", "markersize": 4}
RING: dict[str, Any] = {
    "marker": "o",
    "markersize": 10,
    "linestyle": "none",
    "markerfacecolor": "none",
}
BAR = 0.9  # how thick the line of a range is
BOARD, CLOCK = "simulated CW310, 24 MHz", 24e6


def _look(index: int) -> dict[str, Any]:
    style = STYLES[index % len(STYLES)]
    return {"color": style["color"], "marker": style["marker"]}


def _thousands(axis: Any) -> None:
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))


def _ranges(
    axes: Axes,
    ends: Sequence[tuple[float, float]],
    middles: Sequence[float],
    y: Sequence[float],
    index: int,
    name: str,
) -> None:
    """Draw a horizontal line for each range, with a mark at its middle value."""
    look = _look(index)
    lows, highs = [low for low, _ in ends], [high for _, high in ends]
    axes.hlines(y, lows, highs, color=look["color"], linewidth=BAR)
    axes.plot(middles, y, label=name, **look, **MARKED)


def draw_programs() -> Sheet:
    """Draw the cycles of programs, relative to the bare core: alone, and with another app's
    alarm."""
    bare, *kernels = whole_programs.kernels()
    keys = programs.programs(whole_programs.kernels(), whole_programs.CATALOGUE)
    shown = [key for key in keys if any(kernel.nets(key, ALONE, True) for kernel in kernels)]
    note = f"lab/studies/programs: {whole_programs.conditions()} · {BOARD}"
    sheet = Sheet(
        "Whole programs: cycles as an app, relative to the bare core, i-cache on",
        [note],
        across=2,
        height=0.8 + 0.26 * len(shown),
    )
    for axes, load, words in zip(
        sheet.panels, (ALONE, WITH_ALARM), ("alone", "with an alarm"), strict=True
    ):
        for index, kernel in enumerate(kernels):
            ratios_by_y = {
                len(shown) - position + 0.25 * (1 - index): ratios
                for position, key in enumerate(shown)
                if (ratios := kernel.ratios(bare, key, load, True)) is not None
            }
            ends = [
                (min(ratios.by_layout), max(ratios.by_layout)) for ratios in ratios_by_y.values()
            ]
            _ranges(
                axes,
                ends,
                [ratios.median for ratios in ratios_by_y.values()],
                [*ratios_by_y],
                index,
                kernel.name,
            )
        axes.axvline(1, color="black", linewidth=0.8)
        axes.set(title=words, xlabel="times the bare core")
        axes.set_yticks(range(len(shown), 0, -1), [key.label for key in shown], fontsize=7.5)
        axes.set_ylim(0.4, len(shown) + 0.6)
    sheet.panels[1].tick_params(labelleft=False)
    sheet.legend()
    return sheet


def draw_sizes() -> Sheet:
    """Draw cost by size: the points, the fitted lines and the held-out sizes."""
    groups: dict[str, list[by_size.SizeSeries]] = {}
    for sweep in by_size.SWEEPS:
        groups.setdefault(sweep.what, []).append(sweep)
    notes = ["lab/studies/sizes, results/opt (z), results/ipc (z)", f"{BOARD}, i-cache on"]
    sheet = Sheet("Cost by size: a + b · size, one size held out", [" · ".join(notes)], 4, 2, 1.8)
    kernels = list(dict.fromkeys(sweep.kernel for sweep in by_size.SWEEPS))
    for axes, (what, some) in zip(sheet.panels, groups.items(), strict=True):
        for sweep in some:
            points, line = sweep.points(True), sweep.line(True)
            index = kernels.index(sweep.kernel)
            look = _look(index)
            ends = [min(points) / KIB, max(points) / KIB]
            values = [line.intercept + line.slope * KIB * end for end in ends]
            axes.plot(ends, values, color=look["color"], linewidth=0.9, label="_line")
            fitted = {size: cost for size, cost in points.items() if size != line.held_out}
            name = "no kernel" if sweep.kernel == "none" else sweep.kernel
            x = [size / KIB for size in fitted]
            axes.plot(x, list(fitted.values()), label=name, **look, **MARKED)
            held_out = [line.held_out / KIB], [points[int(line.held_out)]]
            axes.plot(*held_out, label="_held", color=look["color"], **RING)
        axes.set_title(what, fontsize=8)
        axes.set_ylim(0, axes.get_ylim()[1] * 1.06)
        axes.grid(visible=False)  # eight small panels: their lines would be half of the file
        axes.xaxis.set_major_locator(MaxNLocator(3, integer=True))
        axes.yaxis.set_major_locator(MaxNLocator(4))
        _thousands(axes.yaxis)
        axes.tick_params(labelsize=7.5)
    sheet.panels[0].plot([], [], color=GREY, label="held out of the line", **RING)
    for row in sheet.grid:
        row[0].set_ylabel("net cycles", fontsize=8)
    for axes in sheet.grid[-1]:
        axes.set_xlabel("KiB", fontsize=8)
    sheet.legend()
    return sheet


def draw_instances() -> Sheet:
    """Draw how many answers instances of a cipher give in a second, and how many ran."""
    note = f"lab/studies/instances · {BOARD}, i-cache on · the upper scale is not from 0"
    title = "Instances of one program: ChaCha20 of 4096 bytes, 16 times"
    sheet = Sheet(title, [note], 2, height=2.4)
    rates, counts = sheet.panels
    names: list[str] = []
    for path in sorted((STUDIES / "instances" / "data").glob("*.json"), reverse=True):
        report = instancing.load(path)
        for stack in dict.fromkeys(attempt.stack for attempt in report.attempts):
            tried = [attempt for attempt in report.attempts if attempt.stack == stack]
            ran, end = [attempt for attempt in tried if attempt.refused is None], tried[-1].refused
            eight = ", for eight" * (ladder.EIGHT in report.kernel.title)
            style = STYLES[len(names) % len(STYLES)]
            x = [attempt.asked for attempt in ran]
            rates.plot(x, [CLOCK / attempt.per_run for attempt in ran], **style)
            counts.barh(len(names), x[-1], 0.55, color=style["color"], alpha=0.75)
            why = "none was refused" if end is None else str(end.full)
            why = why.replace("not said", "nobody says")
            counts.text(x[-1] + 0.15, len(names), f"{x[-1]}: {why}", va="center", fontsize=7.5)
            counts.plot([0.35], [len(names)], color="white", marker=style["marker"], markersize=4)
            names.append(f"{programs.short(report.kernel.title)}{eight}, {stack // KIB} KiB")
    rates.set(title="answers a second, all together", xlabel="instances", ylim=(155, 172))
    rates.xaxis.set_major_locator(MaxNLocator(integer=True))
    counts.set(title="how many ran: what gave out", xlim=(0, 13))
    counts.set_yticks(range(len(names)), names, fontsize=7.5)
    counts.set_xlabel("instances, by kernel and stack of each")
    counts.invert_yaxis()
    return sheet


def draw_clients() -> Sheet:
    """Draw the waits of one server's clients (median, 90th percentile, worst) by their number."""
    panels = [*product(ladder.ORDERS, (ladder.SMALL, ladder.LARGE))]
    key = "first: in flash; mark: median; dash: 90th of a hundred; the line ends at the worst"
    note = f"lab/studies/ladder · {BOARD}, i-cache on, closed loop · {key}"
    sheet = Sheet("How long a request waits, by clients of one server", [note], 2, 2, 2.4)
    sets = list(dict.fromkeys((rung.kernel, rung.way) for rung in ladder.climbs()))
    for axes, (order, size) in zip(sheet.panels, panels, strict=True):
        for index, (kernel, way) in enumerate(sets):
            wanted = {"kernel": kernel, "way": way, "order": order, "size": size, "icache": True}
            look, named = _look(index), f"{kernel}, {IPC[way]}"
            rungs = {
                rung.clients: rung.rung for rung in ladder.select_climbs(loop="closed", **wanted)
            }
            x = [clients + 0.11 * (index - (len(sets) - 1) / 2) for clients in rungs]
            middle, most, worst = (
                [rung.wait(part) for rung in rungs.values()] for part in (0.5, 0.9, 1)
            )
            axes.vlines(x, middle, worst, color=look["color"], linewidth=BAR)
            axes.plot(x, middle, label=named, **look, **MARKED)
            axes.plot(x, most, "_", color=look["color"], markersize=7, label="_most")
        axes.set_title(f"{ladder.ORDERS[order]}, {size} bytes", fontsize=8.5)
        axes.set_yscale("log")
        axes.set_xlim(0.5, 3.5)
        axes.xaxis.set_major_locator(FixedLocator([1, 2, 3]))
        axes.yaxis.set_minor_locator(NullLocator())
        _thousands(axes.yaxis)
    for row in sheet.grid:
        low = min(axes.get_ylim()[0] for axes in row)
        high = max(axes.get_ylim()[1] for axes in row)
        for axes in row:
            axes.set_ylim(low, high)
        row[0].set_ylabel("cycles of a wait")
    for axes in sheet.grid[-1]:
        axes.set_xlabel("clients")
    sheet.legend()
    return sheet


def draw_crypto() -> Sheet:
    """Draw the extra cost of each way to do crypto, relative to the app itself, by size."""
    panels = (("baseline", ("baseline",)), ("Tock", ("tock-2.2", "tock-master", "ipc-initial")))
    cross = "grey: where two ways of the baseline cross, in four layouts"
    note = f"lab/studies/crypto · {BOARD}, i-cache on · {cross}"
    sheet = Sheet("ChaCha20-Poly1305: cycles more than in the app itself", [note], 2, 1, 2.9)
    order = list(WAYS)
    for axes, (title, kernels) in zip(sheet.panels, panels, strict=True):
        for name, way in product(kernels, order[1:]):
            some = crypto.costs(name, True)
            if way not in some.measured:
                continue
            more = some.more(way)
            index = order.index(way) if len(kernels) == 1 else len(axes.get_lines())
            label = WAYS[way] if len(kernels) == 1 else f"{crypto.KERNELS[name]}, {WAYS[way]}"
            axes.plot(list(more), list(more.values()), label=label, **STYLES[index % len(STYLES)])
        own = crypto.costs(kernels[0], True).seal(APP)
        axes.plot(list(own), list(own.values()), color=GREY, linewidth=0.9, label="the work itself")
        axes.set(title=title, xlabel="bytes", ylabel="cycles")
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        axes.xaxis.set_major_locator(FixedLocator([*own]))
        axes.xaxis.set_minor_locator(NullLocator())
        _thousands(axes.xaxis)
        _thousands(axes.yaxis)
        axes.legend(fontsize=7.5, loc="upper left")
    for pair in crypto.costs("baseline", True).crossings():
        ends = [at for at in crypto.crossings(*pair) if at <= crypto.MOST]
        if ends:
            sheet.panels[0].axvspan(min(ends), max(ends), color=GREY, alpha=0.25, linewidth=0)
            sheet.panels[0].annotate(
                crypto.crossing(*pair),
                (max(ends), 0.02),
                xycoords=("data", "axes fraction"),
                fontsize=7.5,
                rotation=90,
            )
    return sheet


def draw_growth() -> Sheet:
    """Draw cost by number: the points and the fitted lines."""
    groups: dict[tuple[str, ...], list[growth.GrowthRow]] = {}
    for sweep in growth.sweeps():
        if sweep.operation in growth.DRAWN:
            groups.setdefault(growth.OPERATIONS[sweep.operation], []).append(sweep)
    across = 2
    note = f"lab/studies/growth · {BOARD}, i-cache off, one link each"
    title = "Cost by number: a + b · number"
    sheet = Sheet(title, [note], -(-len(groups) // across), across, 1.8)
    kernels = list(dict.fromkeys(sweep.kernel for sweep in growth.sweeps()))
    for axes, ((what, grows), some) in zip(sheet.panels, groups.items(), strict=False):
        for sweep in some:
            points, line = sweep.points(False), sweep.line(False)
            look = _look(kernels.index(sweep.kernel))
            ends = [min(points), max(points)]
            values = [line.intercept + line.slope * end for end in ends]
            axes.plot(ends, values, color=look["color"], linewidth=0.9, label="_line")
            axes.plot([*points], [*points.values()], label=sweep.kernel, **look, **MARKED)
        axes.set_title("\n".join(wrap(what, 30)), fontsize=7.5)
        axes.set_ylim(0, axes.get_ylim()[1] * 1.06)
        axes.set_xlabel(grows, fontsize=7.5)
        axes.xaxis.set_major_locator(MaxNLocator(4, integer=True))
        axes.yaxis.set_major_locator(MaxNLocator(4))
        _thousands(axes.yaxis)
        axes.tick_params(labelsize=7.5)
    for axes in sheet.panels[len(groups) :]:
        axes.set_axis_off()
    for row in sheet.grid:
        row[0].set_ylabel("net cycles", fontsize=8)
    sheet.legend()
    return sheet


def draw_cores() -> Sheet:
    """Draw the share of the cycles that each feature of the core saves."""
    rows = dict(
        zip(
            (*core_features.ROWS, *core_features.PROGRAMS),
            (*core_features.HEADS, *core_features.PROGRAMS),
            strict=True,
        )
    )
    shown = [
        feature
        for feature in core_features.FEATURES
        if any(core_features.shares(r, *feature[1:]) for r in rows)
    ]
    note = f"lab/studies/cores (4 links) · {BOARD}, other cores' timing unchecked"
    sheet = Sheet("What each feature of the core saves", [note], height=0.8 + 0.42 * len(shown))
    (axes,) = sheet.panels
    for index, (row, head) in enumerate(rows.items()):
        savings_by_y = {
            len(shown) - position + 0.13 * ((len(rows) - 1) / 2 - index): [
                100 * saving for saving in saves
            ]
            for position, (_, without, with_) in enumerate(shown)
            if (saves := core_features.shares(row, without, with_))
        }
        ends = [(min(saves), max(saves)) for saves in savings_by_y.values()]
        _ranges(
            axes,
            ends,
            [median(saves) for saves in savings_by_y.values()],
            [*savings_by_y],
            index,
            head,
        )
    axes.axvline(0, color="black", linewidth=0.8)
    names = [
        feature if "cache" in feature else f"{feature}, i-cache {ICACHE[with_[1]]}"
        for feature, _, with_ in shown
    ]
    axes.set_yticks(range(len(shown), 0, -1), names)
    axes.set_ylim(0.4, len(shown) + 0.6)
    axes.set_xlabel("% of the cycles without it\n(a line spans the links)")
    sheet.legend()
    return sheet


def draw_receive() -> Sheet:
    """Draw how many cycles the core is awake for a byte, by the rate, up to the first loss."""
    note = f"lab/studies/receive (C) · {BOARD}, i-cache on · dotted: a byte's time on the line"
    sheet = Sheet("What a received byte costs an app that receives alone", [note], height=3.2)
    (axes,) = sheet.panels
    for n, (kernel, title) in enumerate(receiving.KERNELS.items()):
        rates = receiving.of_company(kernel, "c", "alone").values()
        shown = [(RATES[rate.pace], (rate.awake or 0) / (rate.came or 1)) for rate in rates]
        axes.plot(*zip(*shown, strict=True), label=title, **STYLES[n])
        if rates and (last := list(rates)[-1]).lost:
            axes.annotate(
                f"loses {last.lost}",
                shown[-1],
                xytext=(2, 10 * n),
                textcoords="offset points",
                fontsize=7.5,
            )
    axes.plot([*RATES.values()], [*RATES], color="black", linestyle=":", linewidth=0.9)
    axes.set(xlabel="baud", ylabel="cycles awake, a byte")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.xaxis.set_major_locator(FixedLocator([115_200, 375_000, 1_000_000, 3_000_000]))
    axes.xaxis.set_minor_locator(NullLocator())
    _thousands(axes.xaxis)
    _thousands(axes.yaxis)
    axes.legend(fontsize=7.5)
    return sheet


def draw_runtimes() -> Sheet:
    """Draw the cycles of each operation on each runtime and kernel: narrow, for a telephone."""
    rows = list(reversed(runtimes.ROWS))
    note = f"lab/studies/runtimes · {BOARD}, i-cache on, opt-level 3"
    sheet = Sheet("The same operations without\nand with isolation", [note], height=4.6)
    (axes,) = sheet.panels
    for index, (name, title) in enumerate(runtimes.COLUMNS.items()):
        nets_by_y = {
            y + 0.15 * (2.5 - index): nets
            for y, row in enumerate(rows)
            if (nets := runtimes.nets(name, row, "3"))
        }
        ends = [(min(nets), max(nets)) for nets in nets_by_y.values()]
        _ranges(
            axes, ends, [median(nets) for nets in nets_by_y.values()], [*nets_by_y], index, title
        )
    axes.set(xlabel="cycles", xscale="log")
    axes.xaxis.set_major_locator(FixedLocator([100, 1000, 10_000, 100_000]))
    axes.xaxis.set_minor_locator(NullLocator())
    _thousands(axes.xaxis)
    axes.set_yticks(range(len(rows)), [runtimes.ROWS[row] for row in rows])
    for between in range(1, len(rows)):
        axes.axhline(between - 0.5, color=GREY, linewidth=0.4)
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(-0.5, len(rows) - 0.5)
    sheet.legend()
    return sheet


def draw_waits() -> Sheet:
    """Draw the worst wait of an alarm by load, on each kernel and opt-level; a triangle: it was
    still missing."""
    note = f"lab/data/latency · {BOARD}, i-cache on, interface version 2"
    every = {title: waits.load_latency(name) for title, name in waits.DRAWN.items()}
    loads = dict.fromkeys(load.name for waited in every.values() for load in waited.every_load)
    names = [*reversed(loads)]
    sheet = Sheet(
        "How long an alarm waits at worst, by load",
        [note],
        height=1.2 + 0.3 * len(names),
    )
    (axes,) = sheet.panels
    for index, (title, latency) in enumerate(every.items()):
        look, aside = _look(index), 0.13 * ((len(every) - 1) / 2 - index)
        worst = {names.index(load.name) + aside: load.whole.worst for load in latency.loads}
        lost = {names.index(load.name) + aside: load.cycles for load in latency.never}
        axes.plot([*worst.values()], [*worst], label=title, **look, **MARKED)
        axes.plot(
            [*lost.values()],
            [*lost],
            label="_lost",
            **RING | look | {"marker": ">", "markersize": 6},
        )
    axes.set_yticks(range(len(names)), names, fontsize=8)
    axes.set(xlabel="cycles from due to upcall\ntriangle: it was still missing", xscale="log")
    scale = axes.secondary_xaxis("top", functions=(_to_us, _to_cycles))
    scale.set_xlabel("µs at 24 MHz")
    for axis in (axes.xaxis, scale.xaxis):
        axis.set_major_formatter(FuncFormatter(shortened))
    sheet.legend()
    return sheet


def _to_us(cycles: Any) -> Any:
    return cycles * 1e6 / CLOCK


def _to_cycles(us: Any) -> Any:
    return us * CLOCK / 1e6


# The function that draws each picture, by study and file name.
PICTURES: dict[str, dict[str, Callable[[], Sheet]]] = {
    "programs": {"programs": draw_programs},
    "sizes": {"sizes": draw_sizes},
    "growth": {"growth": draw_growth},
    "ladder": {"instances": draw_instances, "clients": draw_clients},
    "crypto": {"crypto": draw_crypto},
    "cores": {"core-features": draw_cores},
    "receive": {"receive": draw_receive},
    "latency": {"worst-waits": draw_waits},
    "runtimes": {"runtimes": draw_runtimes},
}


def generate() -> dict[Path, bytes]:
    """Return every picture, by path."""
    with mpl.rc_context(plot.STYLE):
        return {
            STUDIES / study / f"{name}.svg": plot.rendered(draw().figure, "svg")
            for study, drawings in PICTURES.items()
            for name, draw in drawings.items()
        }
