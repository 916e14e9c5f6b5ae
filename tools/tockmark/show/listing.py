# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verb `list`: the catalogue by section, with what each benchmark means."""

import textwrap
from dataclasses import asdict
from itertools import groupby

from tockmark.compare.fit import FROM, Sweep
from tockmark.compare.history import Point, RowHistory
from tockmark.show import text
from tockmark.suite.catalogue import Catalogue

CORES = 2


def list_text(catalogue: Catalogue) -> str:
    """All benchmarks as text."""
    lines: list[str] = []
    for section, benchmarks in catalogue.in_sections(catalogue.benchmarks.values(), lambda b: b.id):
        lines += [section, "-" * len(section)]
        for benchmark in benchmarks:
            params = "; ".join(
                f"{name} = {', '.join(map(str, values))}"
                for name, values in benchmark.params.items()
            )
            lines.append(f"{benchmark.id}{f'  ({params})' if params else ''}")
            size = f"{benchmark.samples} samples"
            if benchmark.inner > 1:
                size += f" of {benchmark.inner} x {benchmark.unit}"
            size += f"; at most {benchmark.budget:g} M cycles of the simulator"
            for part in (benchmark.what, f"Counted: {benchmark.counts}", size):
                lines += textwrap.wrap(part, 100, initial_indent="    ", subsequent_indent="      ")
        lines.append("")
    lines += textwrap.wrap(_whole(catalogue), 100)
    return "\n".join(lines).rstrip() + "\n"


def list_json(catalogue: Catalogue) -> list[dict[str, object]]:
    """All benchmarks for other programs, in the catalogue's order."""
    return [
        {
            "section": section,
            "id": one.id,
            "params": one.params,
            "touches": one.touches,
            "what": one.what,
            "counts": one.counts,
            "unit": one.unit,
            "inner": one.inner,
            "samples": one.samples,
            "budget_mcycles": one.budget,
        }
        for section, some in catalogue.in_sections(catalogue.benchmarks.values(), lambda b: b.id)
        for one in some
    ]


def _whole(catalogue: Catalogue) -> str:
    """What `tockmark run` will take, by the budget; a core simulates a million cycles a second."""
    boots = 2 * len(catalogue.boots())
    minutes = catalogue.budget / CORES / 60
    return (
        f"`tockmark run` is {boots} boots, at most {catalogue.budget:g} M cycles of the simulator"
        f" on the baseline kernel: about {minutes:.0f} min on {CORES} cores of a million cycles"
        " a second."
        " A kernel that takes longer for its work takes longer here, Tock about four times as long."
        " Samples beyond 64 are taken with --all-samples only."
    )


# How the lines through sweeps are shown: as a table, and as JSON.


FIT_NAME = 34
WIDTHS = {"slope": 9, "intercept": 10, "sd": 8, "held": 6, "off": 9}

LEGEND = [
    "net cycles of one operation = intercept + slope x size. One size is held out of the fit:",
    "off is what was measured there less what the line says. sd: of the residuals. bend: the",
    "size from which on another slope fits much better, and the slopes before and behind it.",
    f"Sizes of what is moved count from {FROM} bytes up.",
]


def fit_text(found: list[Sweep]) -> str:
    """The lines as a table."""
    out = [*LEGEND]
    head = text.cells(WIDTHS, WIDTHS.values())
    for section, sweeps in groupby(found, lambda sweep: sweep.section):
        out += ["", section, f"{'':{FIT_NAME}}{head}  bend", "-" * text.LINE]
        out += [_fit_line(sweep) for sweep in sweeps]
    return "\n".join(out) + "\n"


def numbers(sweep: Sweep) -> tuple[str, str]:
    """Slope and intercept, as the table and the pictures have them."""
    return f"{sweep.line.slope:.4g}", f"{sweep.line.intercept:.1f}"


def equation(sweep: Sweep) -> str:
    """The line, as one writes it: 3.33 n + 12.1."""
    slope, intercept = numbers(sweep)
    return f"{slope} {sweep.parameter} + {intercept}".replace("+ -", "- ")


def _fit_line(sweep: Sweep) -> str:
    fitted = sweep.line
    values = [*numbers(sweep), f"{fitted.residual_sd:.2g}"]
    values += [text.trimmed(fitted.held_out), f"{fitted.held_out_error:+.1f}"]
    bend = text.NONE
    if sweep.bend is not None and sweep.slopes:
        bend = f"{text.trimmed(sweep.bend)}: {sweep.slopes[0]:.3g}, {sweep.slopes[1]:.3g}"
    name = f"{sweep.label} by {sweep.parameter}"
    return f"{name:{FIT_NAME}}{text.cells(values, WIDTHS.values())}  {bend}"


def fit_json(found: list[Sweep]) -> list[dict[str, object]]:
    """The same for other programs."""
    return [asdict(sweep) for sweep in found]


# How a history is shown: one row run by run, several in a line each; and as JSON.


TRACK = 24  # characters of the plot beside the runs of one row
HISTORY_NAME = 42
TRAIL = 16  # runs in the small plot of one among several rows
BARS = "▁▂▃▄▅▆▇█"


def history_text(found: list[RowHistory]) -> str:
    """One row in full, several in a line each."""
    if len(found) == 1:
        return "\n".join(_full(found[0])) + "\n"
    lines = []
    for setting in dict.fromkeys(series.setting for series in found):
        lines += [setting, "net cycles of one sample; lower is better", ""]
        head = f"{'runs':>5} {'first':>9} {'last':>9} {'change':>9} {'changes':>8}  "
        lines += [f"{'':{HISTORY_NAME}}{head}".rstrip(), "-" * text.LINE]
        for series in (series for series in found if series.setting == setting):
            lines.append(_short(series))
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def history_json(found: list[RowHistory]) -> list[dict[str, object]]:
    """The same for other programs."""
    return [asdict(series) for series in found]


def _full(series: RowHistory) -> list[str]:
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


def history_cells(series: RowHistory) -> list[str]:
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


def _short(series: RowHistory) -> str:
    runs, first, last, change, changes, trail = history_cells(series)
    name = f"{series.label:{HISTORY_NAME}}"
    return f"{name}{runs:>5} {first:>9} {last:>9} {change:>9} {changes:>8}  {trail}"


def _change(before: Point, now: Point) -> str:
    return text.change(before.cycles, now.cycles)
