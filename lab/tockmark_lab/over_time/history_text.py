# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The output of `history` for runs: one row run by run, or several rows with a line each."""

import math
from collections.abc import Callable, Sequence
from typing import TypeVar

from tockmark.show import text
from tockmark.show.text import Table, TableColumn, figures
from tockmark_lab.over_time.history import RowHistory

TRACK = 24  # characters of the plot next to the runs of a row
TRAIL = 16  # runs in the small plot of a row
BARS = "▁▂▃▄▅▆▇█"
MOST = 40  # lines of rows without --all
Shown = TypeVar("Shown")
UNIT = "net cycles of one operation; lower is better"


def most_changed(
    rows: Sequence[Shown], ends: Callable[[Shown], tuple[float, float]], every: bool
) -> tuple[list[Shown], list[str]]:
    """Return the MOST rows that changed most from their first to their last figure, in their order,
    and a line that counts the others; `every`: all rows."""

    def size(row: Shown) -> float:
        first, last = ends(row)
        return abs(math.log(last / first)) if min(first, last) > 0 else math.inf

    if every or len(rows) <= MOST:
        return list(rows), []
    least = sorted(map(size, rows), reverse=True)[MOST - 1]
    kept = [row for row in rows if size(row) >= least][:MOST]
    return kept, [f"{len(rows) - MOST} of {len(rows)} rows are folded; --all shows them"]


def history_text(histories: Sequence[RowHistory], every: bool = False) -> str:
    """Format one row in full, or several with a line each; `every`: all that changed."""
    if len(histories) == 1:
        return "\n".join(_full(histories[0])) + "\n"
    columns = [
        TableColumn("", 30, 0, left=True),
        *figures({"runs": 4, "first": 7, "last": 7, "change": 7, "changes": 7}, spare=("changes",)),
        TableColumn("trend", TRAIL, 2, left=True, spare=2),
    ]
    histories, folded = most_changed(
        histories, lambda row: (row.points[0].cycles, row.points[-1].cycles), every
    )
    lines = []
    for setting in dict.fromkeys(series.setting for series in histories):
        same = [series for series in histories if series.setting == setting]
        table = Table(columns, ([series.label, *history_cells(series)] for series in same))
        lines += [*table.text(setting, UNIT, ""), ""]
    return "\n".join([*lines, *folded]).rstrip() + "\n"


def track_column(low: float, high: float) -> TableColumn:
    """Return the column for a plot next to a table's rows. Its head shows both ends."""
    least, most = text.trimmed(low), text.trimmed(high)
    return TableColumn(least.ljust(TRACK - len(most)) + most, TRACK, 2, left=True, spare=1)


def on_track(mark: str, value: float, low: float, high: float) -> str:
    """Return a mark at its position in such a column."""
    at = round((TRACK - 1) * (value - low) / (high - low)) if high > low else 0
    return f"{'':{at}}{mark}"


def _full(series: RowHistory) -> list[str]:
    points = series.points
    low, high = min(p.cycles for p in points), max(p.cycles for p in points)
    table = Table(
        [
            TableColumn("run", 22, 0, left=True),
            TableColumn("kernel", 14, 0, left=True),
            TableColumn("cycles", 9, 0),
            *figures({"interval": 17, "change": 9}),
            track_column(low, high),
        ]
    )
    changed = []
    for i, point in enumerate(points):
        date = point.date[:19].replace("T", " ")
        change = text.change(points[i - 1].cycles, point.cycles) if i else ""
        span = f"{text.trimmed(point.low)} … {text.trimmed(point.high)}"
        kernel = point.factors.get("kernel", "unknown").rpartition(" ")[2][:12]
        cells = date, kernel, text.trimmed(point.cycles), "exact" if point.exact else span, change
        table.add(*cells, on_track("#" if point.changed else "o", point.cycles, low, high))
        if point.changed:
            causes = ", ".join(series.causes(i)) or "nothing that is in a result"
            changed.append(f"{date}  {change}; changed with it: {causes}")
    count = f"{len(changed) or 'no'} change point{'s' * (len(changed) != 1)}"
    runs = f"{text.counted(len(points), 'run')}; {count}{' (#)' * bool(changed)}"
    return [*table.text(series.label, series.setting, UNIT, ""), "", runs, *changed]


def history_cells(series: RowHistory) -> list[str]:
    """Return a row's cells: runs, first and last, change, number of changes, and a small plot."""
    points = series.points
    return [
        str(len(points)),
        text.trimmed(points[0].cycles),
        text.trimmed(points[-1].cycles),
        text.change(points[0].cycles, points[-1].cycles),
        str(sum(point.changed for point in points) or "-"),
        small_plot([point.cycles for point in points[-TRAIL:]]),
    ]


def small_plot(values: Sequence[float]) -> str:
    """Draw values as bars in one line, from the least to the largest."""
    low, high = min(values, default=0.0), max(values, default=0.0)
    size = (len(BARS) - 1) / (high - low) if high > low else 0
    return "".join(BARS[round((value - low) * size)] for value in values)
