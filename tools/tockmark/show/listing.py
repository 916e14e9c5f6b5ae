# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What the verbs `list`, `fit` and `history` show: the catalogue with what each benchmark means,
straight lines through sweeps, and rows run by run.
"""

import textwrap
from collections.abc import Collection
from itertools import groupby

from tockmark.compare.sweeps import FROM, Sweep
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
        for benchmark in benchmarks:
            params = "; ".join(
                f"{name} = {', '.join(map(str, values))}"
                for name, values in benchmark.params.items()
            )
            lines.append(f"{benchmark.id}{f'  ({params})' if params else ''}")
            samples = f"{benchmark.samples} samples"
            samples += f" of {benchmark.inner} x {benchmark.unit}" if benchmark.inner > 1 else ""
            samples += f"; at most {benchmark.budget:g} M cycles of the simulator"
            for part in (benchmark.what, f"Counted: {benchmark.counts}", samples):
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
            **{name: getattr(benchmark, name) for name in LISTED},
            "budget_mcycles": benchmark.budget,
        }
        for section, some in _in_sections(catalogue, ids)
        for benchmark in some
    ]


def _in_sections(catalogue: Catalogue, ids: Collection[str]) -> list[tuple[str, list[Benchmark]]]:
    some = [benchmark for id_, benchmark in catalogue.benchmarks.items() if id_ in ids]
    return catalogue.in_sections(some, lambda benchmark: benchmark.id)


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
