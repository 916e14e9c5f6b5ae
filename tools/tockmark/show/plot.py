# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verb `plot`: results as pictures, the same bytes for the same results.

figures.py says what is drawn; here is how: readable in black and white (every line has its own
marker and dashes), a unit on every axis, and below each picture where its numbers come from.
"""

import io
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from tockmark.compare.history import RowHistory
from tockmark.errors import TockmarkError
from tockmark.files import write_whole
from tockmark.result.model import Result
from tockmark.suite.catalogue import ICACHE

FORMATS = ("svg", "png")
WIDTH = 8.0  # inches
DPI = 120

# Colours of differing lightness (after Okabe and Ito), and what tells them apart without colour.
STYLES: list[dict[str, Any]] = [
    {"color": "#000000", "marker": "o", "linestyle": "-"},
    {"color": "#d55e00", "marker": "s", "linestyle": (0, (5, 2))},
    {"color": "#0072b2", "marker": "^", "linestyle": (0, (1, 1.5))},
    {"color": "#009e73", "marker": "D", "linestyle": (0, (5, 2, 1, 2))},
    {"color": "#cc79a7", "marker": "v", "linestyle": (0, (8, 2))},
    {"color": "#8c6d00", "marker": "x", "linestyle": (0, (3, 1, 1, 1, 1, 1))},
    {"color": "#56b4e9", "marker": "P", "linestyle": (0, (2, 4))},
    {"color": "#7f7f7f", "marker": "*", "linestyle": (0, (10, 3, 2, 3))},
]
_ID = re.compile(rb'id="([a-z][0-9a-f]{10})"')
_REFERENCE = re.compile(rb'(id="|href="#|url\(#)([a-z][0-9a-f]{10})\b')

STYLE: Any = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.3,
    "lines.markersize": 4,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "text.parse_math": False,  # a dollar sign in a kernel's name is one
    "svg.fonttype": "none",  # text stays text: small, and found by a search
    "svg.hashsalt": "tockmark",
}


@dataclass(frozen=True)
class Named:
    """A result and what it is called in a legend."""

    name: str
    result: Result


@dataclass(frozen=True)
class Curve:
    """One line of a picture."""

    label: str
    x: list[float]
    y: list[float]


def source(one: Named | str, several: bool) -> str:
    """Where numbers come from, in one line: of a result what it says, or words."""
    if isinstance(one, str):
        return one
    return (f"{one.name}: " if several else "") + one.result.provenance.line


class Sheet:
    """A picture: a title, a grid of panels, and below them where the numbers come from."""

    def __init__(
        self,
        title: str,
        named: Sequence[Named | str],
        down: int = 1,
        across: int = 1,
        height: float = 3.2,
        conditions: list[str] | None = None,
    ) -> None:
        """`conditions`, one a result: what is said of it besides its provenance."""
        foot = 0.17 * len(named)
        top = 0.35 + height * down
        self.figure = Figure(figsize=(WIDTH, top + foot), dpi=DPI, layout="constrained")
        FigureCanvasAgg(self.figure)
        parts: Any = self.figure.subfigures(2, 1, height_ratios=[top, foot])
        self.body, below = parts
        self.body.suptitle(title, fontsize=11, fontweight="bold")
        for place, one in enumerate(named):
            more = f" · {conditions[place]}" if conditions else ""
            below.text(
                *(0.012, 1 - (place + 0.5) / len(named), source(one, len(named) > 1) + more),
                **{"fontsize": 6.5, "color": "#444444", "va": "center"},
            )
        self.grid = self.body.subplots(down, across, squeeze=False)
        self.panels: list[Axes] = list(self.grid.flat)

    def unused(self, used: int) -> None:
        """Hide the panels that nothing was drawn in."""
        for axes in self.panels[used:]:
            axes.set_axis_off()


def lines(axes: Axes, curves: list[Curve], labels: list[str] | None = None) -> None:
    """Draw curves, each in a style of its own; where several coincide, each marker shows. `labels`
    are those of all panels of a picture: a label has the same style in each."""
    for place, curve in enumerate(curves):
        index = labels.index(curve.label) if labels else place
        hollow: Any = {"markerfacecolor": "none", "markersize": 5 + index} if index else {}
        axes.plot(curve.x, curve.y, label=curve.label, **STYLES[index % len(STYLES)], **hollow)


def second_scale(axes: Axes, unit: str, factor: float) -> None:
    """The same values in another unit, on the right."""

    def there(value: Any) -> Any:
        return value * factor

    def back(value: Any) -> Any:
        return value / factor

    right = axes.secondary_yaxis("right", functions=(there, back))
    right.set_ylabel(unit)
    right.spines["right"].set_visible(True)


Drawer = Callable[[list[Named]], Sheet | None]


def settings(named: list[Named]) -> list[tuple[Named, bool | None]]:
    """Every result, which is of one language, with every cache setting that it has rows of."""
    return [(one, icache) for one in named for icache in one.result.icaches]


def common_clock(named: list[Named]) -> int | None:
    """The clock, if all results have the same."""
    clocks = {one.result.provenance.board.clock_hz for one in named}
    return clocks.pop() if len(clocks) == 1 else None


def series_name(one: Named, icache: bool | None, named: list[Named]) -> str:
    """What a line or a row of panels is called: only what tells it from the others."""
    caches = {setting for _, setting in settings(named)}
    parts = [one.name] if len(named) > 1 else []
    parts += [f"i-cache {ICACHE[icache]}"] if len(caches) > 1 or not parts else []
    return ", ".join(parts)


def rendered(sheet: Sheet, form: str) -> bytes:
    """The picture as a file holds it, without a date: equal results make equal files."""
    return written(sheet.figure, form)


def written(figure: Figure, form: str) -> bytes:
    """The same of any figure."""
    out = io.BytesIO()
    metadata = {"Date": None, "Creator": None} if form == "svg" else {"Software": None}
    with mpl.rc_context(STYLE):
        figure.savefig(out, format=form, metadata=metadata)
    return _generic(_numbered(out.getvalue())) if form == "svg" else out.getvalue()


def _generic(svg: bytes) -> bytes:
    """Behind our font those of nearly its widths, for a reader that has not got it."""
    return svg.replace(b"'DejaVu Sans'", b"'DejaVu Sans', Verdana, sans-serif")


def _numbered(svg: bytes) -> bytes:
    """The same SVG with its ids counted up: matplotlib makes them from places, whose last digits
    the layout leaves to chance."""
    ids = {found: b"i%d" % place for place, found in enumerate(dict.fromkeys(_ID.findall(svg)))}
    return _REFERENCE.sub(lambda match: match[1] + ids.get(match[2], match[2]), svg)


# A history as a picture: runs from left to right, a dotted bar before each change of level.


HEIGHT = 3.6  # inches
DATES = 10  # at most so many are written below
MOST = 8  # rows in one picture: each has a style of its own
GREY = "#777777"


def history_form(path: Path) -> str:
    """The kind of picture that a file's name says."""
    form = path.suffix.removeprefix(".")
    if form not in FORMATS:
        raise TockmarkError(f"{path} is no picture's name", "end it in .png or .svg")
    return form


def draw_history(found: list[RowHistory], path: Path) -> None:
    """Write the picture; its name says of which kind."""
    write_whole({path: history_rendered(found, history_form(path))})


def history_rendered(found: list[RowHistory], form: str) -> bytes:
    """The picture as a file holds it, without a date. TockmarkError if there are too many rows."""
    if len(found) > MOST:
        raise TockmarkError(f"{len(found)} rows are too many for a picture", "name fewer")
    with mpl.rc_context(STYLE):
        figure = _history_figure(found)
    return written(figure, form)


def _history_figure(found: list[RowHistory]) -> Figure:
    figure = Figure(figsize=(WIDTH, HEIGHT), dpi=DPI, layout="constrained")
    axes = figure.subplots()
    dates = sorted({point.date for series in found for point in series.points})
    place = {date: i for i, date in enumerate(dates)}
    for i, series in enumerate(found):
        x = [place[point.date] for point in series.points]
        y = [point.cycles for point in series.points]
        axes.plot(x, y, label=series.label, drawstyle="steps-mid", **STYLES[i])
        for at, point in zip(x, series.points, strict=True):
            if not point.exact:
                axes.plot([at, at], [point.low, point.high], color=GREY, linewidth=0.8)
            if point.changed:
                axes.axvline(at - 0.5, color=GREY, linestyle=":", zorder=0)
    step = -(-len(dates) // DATES)
    shown = [date[:16].replace("T", "\n") for date in dates[::step]]
    axes.set_xticks(range(0, len(dates), step), shown)
    axes.set(xlabel="run, by date", ylabel="net cycles of one sample")
    axes.set_title("; ".join(dict.fromkeys(series.setting for series in found)), fontsize=8)
    figure.legend(loc="outside lower center", ncols=2)
    return figure
