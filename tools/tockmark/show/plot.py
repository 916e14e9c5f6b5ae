# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verb `plot`: results as pictures, the same bytes for the same results.

figures.py says what is drawn; here is how: readable in black and white (every line has its own
marker and dashes), a unit on every axis, and below each picture where its numbers come from.
"""

import io
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from tockmark.compare.by_commit import CommitTrail
from tockmark.compare.trends import RowHistory
from tockmark.errors import TockmarkError
from tockmark.show.table import Named

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
GREY, DARK = "#777777", "#444444"
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


def source(one: Named | str, several: bool) -> str:
    """Say in one line where numbers come from: what a result says, or words."""
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
        """Lay the panels out; `conditions` say of each result what its provenance does not."""
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
                **{"fontsize": 6.5, "color": DARK, "va": "center"},
            )
        self.grid = self.body.subplots(down, across, squeeze=False)
        self.panels: list[Axes] = list(self.grid.flat)


Drawer = Callable[[list[Named]], Sheet | None]


def rendered(figure: Figure, form: str) -> bytes:
    """Return the picture as a file holds it, without a date: equal results make equal files."""
    out = io.BytesIO()
    metadata = {"Date": None, "Creator": None} if form == "svg" else {"Software": None}
    with mpl.rc_context(STYLE):
        figure.savefig(out, format=form, metadata=metadata)
    if form != "svg":
        return out.getvalue()
    # Behind our font those of nearly its widths, for a reader that has not got it.
    svg = out.getvalue().replace(b"'DejaVu Sans'", b"'DejaVu Sans', Verdana, sans-serif")
    # The ids are counted up: matplotlib makes them from places, whose last digits the layout leaves
    # to chance.
    ids = {found: b"i%d" % place for place, found in enumerate(dict.fromkeys(_ID.findall(svg)))}
    return _REFERENCE.sub(lambda match: match[1] + ids.get(match[2], match[2]), svg)


# A history as a picture: runs from left to right, a dotted bar before each change of level.


HEIGHT = 3.6  # inches
DATES = 10  # at most so many are written below
MOST = 8  # rows in one picture: each has a style of its own


def history_form(path: Path) -> str:
    """Return the kind of picture that a file's name says."""
    form = path.suffix.removeprefix(".")
    if form not in FORMATS:
        raise TockmarkError(f"{path} is no picture's name", "end it in .png or .svg")
    return form


def in_legend(label: str) -> str:
    """Return the label as a legend shows it: matplotlib leaves out one that begins with an
    underscore, unless something stands before it."""
    return f"\N{ZERO WIDTH SPACE}{label}" if label.startswith("_") else label


def history_picture(found: list[RowHistory], form: str) -> bytes:
    """Return the picture as a file holds it. TockmarkError if there are too many rows."""
    if len(found) > MOST:
        raise TockmarkError(f"{len(found)} rows are too many for a picture", "name fewer")
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(WIDTH, HEIGHT), dpi=DPI, layout="constrained")
        axes = figure.subplots()
        dates = sorted({point.date for series in found for point in series.points})
        for series, style in zip(found, STYLES, strict=False):
            x = [dates.index(point.date) for point in series.points]
            y = [point.cycles for point in series.points]
            axes.plot(x, y, label=in_legend(series.label), drawstyle="steps-mid", **style)
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
    return rendered(figure, form)


# Rows over commits: each as a multiple of its first commit, a panel a row.


PANEL = 1.9  # inches


def commits_picture(trails: Sequence[CommitTrail], form: str) -> bytes:
    """Return the picture as a file holds it: instructions, and cycles of one link with their range
    over samples; a dotted bar where a row jumps, a dashed one at a release. TockmarkError if there
    are too many rows."""
    if len(trails) > MOST:
        raise TockmarkError(f"{len(trails)} rows are too many for a picture", "name fewer")
    commits = {point.commit.sha: point.commit for one in trails for point in one.points}
    order = sorted(commits.values(), key=lambda one: one.moment)
    places = {one.sha: place for place, one in enumerate(order)}
    with mpl.rc_context(STYLE):
        height = 0.8 + PANEL * len(trails)
        figure = Figure(figsize=(WIDTH, height), dpi=DPI, layout="constrained")
        panels = figure.subplots(len(trails), 1, squeeze=False, sharex=True)[:, 0]
        for axes, trail in zip(panels, trails, strict=True):
            _draw_trail(axes, trail, places)
        step = -(-len(order) // DATES)
        panels[-1].set_xticks(
            range(0, len(order), step), [f"{one.date[:10]}\n{one.short}" for one in order[::step]]
        )
        panels[-1].tick_params(axis="x", labelsize=6.5)
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    return rendered(figure, form)


def _draw_trail(axes: Axes, trail: CommitTrail, places: Mapping[str, int]) -> None:
    first = trail.points[0]
    x = [places[point.commit.sha] for point in trail.points]
    counted = [(at, point.instret) for at, point in zip(x, trail.points, strict=True)]
    base = next((value for _, value in counted if value), 1.0)
    steps = [(at, value / base) for at, value in counted if value is not None]
    cycles = [point.cycles / first.cycles for point in trail.points]
    axes.plot(*zip(*steps, strict=True), label="instructions", drawstyle="steps-post", **STYLES[0])
    axes.plot(x, cycles, label="cycles, one link", **STYLES[1])
    for at, point in zip(x, trail.points, strict=True):
        ends = point.low / first.cycles, point.high / first.cycles
        axes.plot([at, at], ends, color=GREY, linewidth=2.5, alpha=0.5, zorder=1)
        if point.jump:
            axes.axvline(at - 0.5, color=GREY, linestyle=":", zorder=0)
        for name in point.commit.names:
            axes.axvline(at, color=DARK, linestyle="--", linewidth=0.8, zorder=0)
            axes.text(at, 1, name, transform=axes.get_xaxis_transform(), fontsize=6.5, va="top")
    axes.set_title(in_legend(trail.name), fontsize=8, loc="left")
    axes.set_ylabel(f"× {first.commit.short}", fontsize=7)
