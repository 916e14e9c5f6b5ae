# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What the verbs `list`, `fit` and `history` show: the catalogue with what each benchmark means,
straight lines through sweeps, and rows run by run.
"""

import textwrap
from collections.abc import Collection, Sequence
from itertools import groupby

from tockmark.compare.trends import FROM, RowHistory, Sweep
from tockmark.show import text
from tockmark.show.text import Table, TableColumn, figures
from tockmark.suite.catalogue import Benchmark, Catalogue

CORES = 2
LISTED = ("id", "params", "touches", "what", "counts", "unit", "inner", "samples")


def list_text(catalogue: Catalogue, ids: Collection[str]) -> str:
    """Show benchmarks as text; of all, what a run of them takes."""
    lines: list[str] = []
    for section, benchmarks in _in_sections(catalogue, ids):
        lines += [section, "-" * len(section)]
        for one in benchmarks:
            params = "; ".join(
                f"{name} = {', '.join(map(str, values))}" for name, values in one.params.items()
            )
            lines.append(f"{one.id}{f'  ({params})' if params else ''}")
            samples = f"{one.samples} samples"
            samples += f" of {one.inner} x {one.unit}" if one.inner > 1 else ""
            samples += f"; at most {one.budget:g} M cycles of the simulator"
            for part in (one.what, f"Counted: {one.counts}", samples):
                lines += textwrap.wrap(part, 100, initial_indent="    ", subsequent_indent="      ")
        lines.append("")
    if len(ids) < len(catalogue.benchmarks):
        return "\n".join(lines)
    for part in _run_of(catalogue):
        lines += [*textwrap.wrap(part, 100), ""]
    return "\n".join(lines)


def _run_of(catalogue: Catalogue) -> list[str]:
    """Say what a run of all takes."""
    boots = 2 * len(catalogue.boots())
    if catalogue.name is not None:
        return [f"A run of the catalogue {catalogue.name} is up to {boots} boots in a language."]
    minutes = catalogue.budget / CORES / 60  # a core simulates a million cycles a second
    return [
        f"`tockmark run` is {boots} boots, at most {catalogue.budget:g} M cycles of the simulator"
        f" on the baseline kernel: about {minutes:.0f} min on {CORES} cores of a million cycles"
        " a second."
        " A kernel that takes longer for its work takes longer here, Tock about four times as long."
        " Samples beyond 64 are taken with --all-samples only.",
    ]


def list_json(catalogue: Catalogue, ids: Collection[str]) -> list[dict[str, object]]:
    """Return benchmarks as JSON has them, in the catalogue's order."""
    return [
        {
            "section": section,
            **{name: getattr(one, name) for name in LISTED},
            "budget_mcycles": one.budget,
        }
        for section, some in _in_sections(catalogue, ids)
        for one in some
    ]


def _in_sections(catalogue: Catalogue, ids: Collection[str]) -> list[tuple[str, list[Benchmark]]]:
    some = [one for id_, one in catalogue.benchmarks.items() if id_ in ids]
    return catalogue.in_sections(some, lambda one: one.id)


# How the lines through sweeps are shown.


LEGEND = [
    "net cycles of one operation = intercept + slope x size. One size is held out of the fit:",
    "off is what was measured there less what the line says. sd: of the residuals. bend: the",
    "size from which on another slope fits much better, and the slopes before and behind it.",
    f"Sizes of what is moved count from {FROM} bytes up.",
]


def fit_text(found: list[Sweep]) -> str:
    """Show the lines as tables, one a section."""
    columns = [
        TableColumn("", 34, 0, left=True),
        *figures({"slope": 9, "intercept": 10, "sd": 8, "held": 6, "off": 9}),
        TableColumn("bend", 0, 2, left=True),
    ]
    out = [*LEGEND]
    for section, sweeps in groupby(found, lambda sweep: sweep.section):
        table = Table(columns, rule=text.LINE)
        for sweep in sweeps:
            line, bend = sweep.line, text.NONE
            if sweep.bend is not None and sweep.slopes:
                bend = f"{text.trimmed(sweep.bend)}: {sweep.slopes[0]:.3g}, {sweep.slopes[1]:.3g}"
            name = f"{sweep.label} by {sweep.parameter}"
            held = text.trimmed(line.held_out)
            off = f"{line.held_out_error:+.1f}"
            table.add(name, *_line_figures(sweep), f"{line.residual_sd:.2g}", held, off, bend)
        out += ["", *table.text(section)]
    return "\n".join(out) + "\n"


def equation(sweep: Sweep) -> str:
    """Write the line as one does: 3.33 n + 12.1."""
    slope, intercept = _line_figures(sweep)
    return f"{slope} {sweep.parameter} + {intercept}".replace("+ -", "- ")


def _line_figures(sweep: Sweep) -> tuple[str, str]:
    """Write slope and intercept as the table and the pictures have them."""
    return f"{sweep.line.slope:.4g}", f"{sweep.line.intercept:.1f}"


# How a history is shown: one row run by run, several in a line each.


TRACK = 24  # characters of the plot beside the runs of one row
TRAIL = 16  # runs in the small plot of one among several rows
BARS = "▁▂▃▄▅▆▇█"
UNIT = "net cycles of one sample; lower is better"


def history_text(found: list[RowHistory]) -> str:
    """Show one row in full, several in a line each."""
    if len(found) == 1:
        return "\n".join(_full(found[0])) + "\n"
    columns = [
        TableColumn("", 42, 0, left=True),
        TableColumn("runs", 5, 0),
        *figures({"first": 9, "last": 9, "change": 9, "changes": 8}),
        TableColumn("", 0, 2, left=True),
    ]
    lines = []
    for setting in dict.fromkeys(series.setting for series in found):
        same = [series for series in found if series.setting == setting]
        table = Table(columns, ([one.label, *history_cells(one)] for one in same), rule=text.LINE)
        lines += [*table.text(setting, UNIT, ""), ""]
    return "\n".join(lines).rstrip() + "\n"


def track_column(low: float, high: float) -> TableColumn:
    """Return the column of a plot beside a table's lines: its head has both ends."""
    least, most = text.trimmed(low), text.trimmed(high)
    return TableColumn(least.ljust(TRACK - len(most)) + most, TRACK, 2, left=True)


def on_track(mark: str, value: float, low: float, high: float) -> str:
    """Return a mark at its place in such a column."""
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
        ],
        rule=text.LINE,
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
            causes = ", ".join(series.causes(i)) or "nothing that a result tells"
            changed.append(f"{date}  {change}; with it changed: {causes}")
    count = f"{len(changed) or 'no'} change point{'s' * (len(changed) != 1)}"
    runs = f"{len(points)} run{'s' * (len(points) != 1)}; {count}{' (#)' * bool(changed)}"
    return [*table.text(series.label, series.setting, UNIT, ""), "", runs, *changed]


def history_cells(series: RowHistory) -> list[str]:
    """Write a row in short: runs, first and last, change, how many changes, and a small plot."""
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
    """Draw values as bars of one line, from the least to the largest."""
    low, high = min(values, default=0.0), max(values, default=0.0)
    size = (len(BARS) - 1) / (high - low) if high > low else 0
    return "".join(BARS[round((value - low) * size)] for value in values)
