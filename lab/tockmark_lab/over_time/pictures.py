# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Pictures of rows over runs and over commits."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from tockmark.base.errors import TockmarkError
from tockmark.site.plot import DARK, DPI, FORMATS, GREY, STYLE, STYLES, WIDTH, in_legend, rendered
from tockmark_lab.over_time.commits import CommitTrail
from tockmark_lab.over_time.history import RowHistory

HEIGHT = 3.6  # inches
DATES = 4  # most dates on the x axis
PANEL = 1.9  # inches: height of a row over commits
MOST = 8  # most rows in a picture, each in a style of its own


def history_form(path: Path) -> str:
    """Return the format of a picture, from its file name."""
    form = path.suffix.removeprefix(".")
    if form not in FORMATS:
        raise TockmarkError(f"{path} is not the name of a picture", "end it in .png or .svg")
    return form


def history_picture(histories: list[RowHistory], form: str) -> bytes:
    """Draw a picture and return the content of its file. TockmarkError if it has too many rows."""
    if len(histories) > MOST:
        raise TockmarkError(
            f"{len(histories)} rows are too many for a picture", f"name at most {MOST}"
        )
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(WIDTH, HEIGHT), dpi=DPI, layout="constrained")
        axes = figure.subplots()
        dates = sorted({point.date for series in histories for point in series.points})
        for series, style in zip(histories, STYLES, strict=False):
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
        axes.set(xlabel="run, by date", ylabel="net cycles of one operation")
        axes.set_title("; ".join(dict.fromkeys(series.setting for series in histories)), fontsize=8)
        figure.legend(loc="outside lower center", ncols=2)
    return rendered(figure, form)


def commits_picture(trails: Sequence[CommitTrail], form: str) -> bytes:
    """Draw a picture with a panel per row and return the content of its file. Each panel shows
    instructions, if the row has any, and cycles of one link with their range over samples, relative
    to the first commit; a dotted line at a jump and a dashed line at a release. TockmarkError if
    there are too many rows."""
    if len(trails) > MOST:
        raise TockmarkError(
            f"{len(trails)} rows are too many for a picture", f"name at most {MOST}"
        )
    commits = {point.commit.sha: point.commit for trail in trails for point in trail.points}
    order = sorted(commits.values(), key=lambda commit: commit.moment)
    positions = {commit.sha: position for position, commit in enumerate(order)}
    with mpl.rc_context(STYLE):
        height = 0.8 + PANEL * len(trails)
        figure = Figure(figsize=(WIDTH, height), dpi=DPI, layout="constrained")
        panels = figure.subplots(len(trails), 1, squeeze=False, sharex=True)[:, 0]
        for axes, trail in zip(panels, trails, strict=True):
            _draw_trail(axes, trail, positions)
        step = -(-len(order) // DATES)
        panels[-1].set_xticks(
            range(0, len(order), step),
            [f"{commit.date[:10]}\n{commit.short}" for commit in order[::step]],
        )
        panels[-1].tick_params(axis="x", labelsize=7.5)
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    return rendered(figure, form)


def _draw_trail(axes: Axes, trail: CommitTrail, positions: Mapping[str, int]) -> None:
    first = trail.points[0]
    x = [positions[point.commit.sha] for point in trail.points]
    base = next((point.instret for point in trail.points if point.instret), 1.0)
    counts = (point.instret for point in trail.points)
    steps = [math.nan if count is None else count / base for count in counts]
    cycles = [point.cycles / first.cycles for point in trail.points]
    axes.plot(x, steps, label="instructions", drawstyle="steps-post", **STYLES[0])
    axes.plot(x, cycles, label="cycles, one link", **STYLES[1])
    lows = [point.low / first.cycles for point in trail.points]
    highs = [point.high / first.cycles for point in trail.points]
    axes.vlines(x, lows, highs, color=GREY, linewidth=2.5, alpha=0.5, zorder=1)
    for at, point in zip(x, trail.points, strict=True):
        if point.jump:
            axes.axvline(at - 0.5, color=GREY, linestyle=":", zorder=0)
        for name in point.commit.names:
            axes.axvline(at, color=DARK, linestyle="--", linewidth=0.8, zorder=0)
            axes.text(at, 1, name, transform=axes.get_xaxis_transform(), fontsize=7.5, va="top")
    axes.set_title(in_legend(trail.name), fontsize=8, loc="left")
    axes.set_ylabel(f"× {first.commit.short}", fontsize=7.5)
