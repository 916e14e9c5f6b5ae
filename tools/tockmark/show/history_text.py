# SPDX-License-Identifier: Apache-2.0 OR MIT
"""How a history is shown: one row run by run, several in a line each; and as JSON."""

from dataclasses import asdict

from tockmark.judge.history import Point, Series
from tockmark.show import text

TRACK = 24  # characters of the plot beside the runs of one row
NAME = 42
TRAIL = 16  # runs in the small plot of one among several rows
BARS = "▁▂▃▄▅▆▇█"


def render(found: list[Series]) -> str:
    """One row in full, several in a line each."""
    if len(found) == 1:
        return "\n".join(_full(found[0])) + "\n"
    lines = []
    for setting in dict.fromkeys(series.setting for series in found):
        lines += [setting, "net cycles of one sample; lower is better", ""]
        head = f"{'runs':>5} {'first':>9} {'last':>9} {'change':>9} {'changes':>8}  "
        lines += [f"{'':{NAME}}{head}".rstrip(), "-" * text.LINE]
        for series in (series for series in found if series.setting == setting):
            lines.append(_short(series))
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def as_json(found: list[Series]) -> list[dict[str, object]]:
    """The same for other programs."""
    return [asdict(series) for series in found]


def _full(series: Series) -> list[str]:
    points = series.points
    lines = [series.label, series.setting, "net cycles of one sample; lower is better", ""]
    low, high = min(p.cycles for p in points), max(p.cycles for p in points)
    track = text.trimmed(low).ljust(TRACK - len(text.trimmed(high))) + text.trimmed(high)
    lines += [f"{'run':<22}{'kernel':<14}{'cycles':>9} {'interval':>17} {'change':>9}  {track}"]
    lines += ["-" * text.LINE]
    for i, point in enumerate(points):
        date = point.date[:19].replace("T", " ")
        span = "exact" if point.exact else f"{text.trimmed(point.low)} … {text.trimmed(point.high)}"
        change = _change(points[i - 1], point) if i else ""
        at = round((TRACK - 1) * (point.cycles - low) / (high - low)) if high > low else 0
        dot = f"{'':{at}}{'#' if point.changed else 'o'}"
        kernel = point.factors.get("kernel", "unknown").rpartition(" ")[2][:12]
        cycles = text.trimmed(point.cycles)
        line = f"{date:<22}{kernel:<14}{cycles:>9} {span:>17} {change:>9}  {dot}"
        lines.append(line.rstrip())
    changed = [i for i, point in enumerate(points) if point.changed]
    count = f"{len(changed) or 'no'} change point{'s' * (len(changed) != 1)}"
    lines += ["", f"{len(points)} run{'s' * (len(points) != 1)}; {count}{' (#)' * bool(changed)}"]
    for i in changed:
        causes = ", ".join(series.causes(i)) or "nothing that a result tells"
        date = points[i].date[:19].replace("T", " ")
        lines.append(f"{date}  {_change(points[i - 1], points[i])}; with it changed: {causes}")
    return lines


def cells(series: Series) -> list[str]:
    """One row in short: runs, first and last, the change, how many changes, and a small plot."""
    points = series.points
    low, high = min(p.cycles for p in points), max(p.cycles for p in points)
    size = (len(BARS) - 1) / (high - low) if high > low else 0
    return [
        str(len(points)),
        text.trimmed(points[0].cycles),
        text.trimmed(points[-1].cycles),
        _change(points[0], points[-1]),
        str(sum(point.changed for point in points) or "-"),
        "".join(BARS[round((p.cycles - low) * size)] for p in points[-TRAIL:]),
    ]


def _short(series: Series) -> str:
    runs, first, last, change, changes, trail = cells(series)
    return f"{series.label:{NAME}}{runs:>5} {first:>9} {last:>9} {change:>9} {changes:>8}  {trail}"


def _change(before: Point, now: Point) -> str:
    return text.change(before.cycles, now.cycles)
