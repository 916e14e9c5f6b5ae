# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A history as a picture: runs from left to right, a dotted bar before each change of level."""

from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from tockmark.errors import TockmarkError
from tockmark.files import write_whole
from tockmark.judge.history import Series
from tockmark.show.plot import DPI, FORMATS, STYLE, STYLES, WIDTH, written

HEIGHT = 3.6  # inches
DATES = 10  # at most so many are written below
MOST = 8  # rows in one picture: each has a style of its own
GREY = "#777777"


def form_of(path: Path) -> str:
    """The kind of picture that a file's name says."""
    form = path.suffix.removeprefix(".")
    if form not in FORMATS:
        raise TockmarkError(f"{path} is no picture's name", "end it in .png or .svg")
    return form


def draw(found: list[Series], path: Path) -> None:
    """Write the picture; its name says of which kind."""
    write_whole({path: rendered(found, form_of(path))})


def rendered(found: list[Series], form: str) -> bytes:
    """The picture as a file holds it, without a date. TockmarkError if there are too many rows."""
    if len(found) > MOST:
        raise TockmarkError(f"{len(found)} rows are too many for a picture", "name fewer")
    with mpl.rc_context(STYLE):
        figure = _figure(found)
    return written(figure, form)


def _figure(found: list[Series]) -> Figure:
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
