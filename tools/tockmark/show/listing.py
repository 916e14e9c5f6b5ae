# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The output of the verbs `list` and `fit`: the catalogue with the meaning of each benchmark, and
straight lines through sweeps.
"""

from collections.abc import Collection
from itertools import groupby

from tockmark.compare.sweeps import FROM, Sweep
from tockmark.show import text
from tockmark.show.text import Table, TableColumn, figures
from tockmark.suite.catalogue import Benchmark, Catalogue
from tockmark.suite.selection import screen

CORES, SPEED = 2, 15  # of the estimate; million cycles per second of a core
LISTED = ("id", "params", "touches", "what", "counts", "unit", "inner", "samples")


def list_text(catalogue: Catalogue, ids: Collection[str]) -> str:
    """Return the meaning of benchmarks as text; of the whole catalogue a line per benchmark, with
    its label on the first screen, and the cost of a run."""
    if len(ids) == len(catalogue.benchmarks):
        return _whole_list(catalogue)
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
            samples += f"; at most {benchmark.budget:g} M simulated cycles"
            for part in (benchmark.what, f"Counted: {benchmark.counts}", samples):
                lines += text.wrap(f"    {part}", "      ")
        lines.append("")
    return "\n".join(lines)


def _whole_list(catalogue: Catalogue) -> str:
    labels: dict[str, str] = {}
    for rows in screen(catalogue).values() if catalogue.name is None else ():
        for label, (id_, _) in rows.items():
            labels.setdefault(id_, label)
    heads = ["benchmark", "label", "one sample"]
    widths = (
        max(map(len, names), default=0) for names in (catalogue.benchmarks, labels.values(), [""])
    )
    room = text.columns() - 6 - sum(widths)
    shown = slice(3 if room >= text.NAME else 2)
    table = Table([TableColumn(head, gap=2, left=True) for head in heads[shown]])
    for section, benchmarks in _in_sections(catalogue, catalogue.benchmarks):
        table.add(section)
        for benchmark in benchmarks:
            what = text.beginning(benchmark.what, room)
            table.add(*[benchmark.id, labels.get(benchmark.id, ""), what][shown])
    more = "Select rows by id, group or label; for details and parameters, `tockmark list ROWS`."
    lines = [*table.text(), "", more, "", *_run_of(catalogue)]
    return text.fold("\n".join(lines) + "\n")


def _run_of(catalogue: Catalogue) -> list[str]:
    """Return what a run of the whole catalogue costs."""
    boots = 2 * len(catalogue.boots())
    if catalogue.name is not None:
        return [f"A run of the catalogue {catalogue.name} is at most {boots} boots per language."]
    seconds = catalogue.budget / CORES / SPEED
    return [
        f"`tockmark run` is {boots} boots, at most {catalogue.budget:g} M simulated cycles on the"
        f" baseline kernel: about {seconds:.0f} s on {CORES} cores that simulate {SPEED} million"
        " cycles per second each. Slower kernels take longer, Tock about four times as long."
        " Without --all-samples, a run takes at most 64 samples per row.",
    ]


def list_json(catalogue: Catalogue, ids: Collection[str]) -> list[dict[str, object]]:
    """Return benchmarks as JSON, in the catalogue's order."""
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


# Lines through sweeps.


LEGEND = (
    "net cycles of one operation = intercept + slope x size. The size `held` is not part of the"
    " fit; off: measured minus fitted at that size. sd: standard deviation of the residuals. bend:"
    " size at which the slope changes, if two slopes fit much better, and the slopes before and"
    f" after it. Fits of bytes moved use sizes from {FROM} bytes up."
)


def fit_text(all_sweeps: list[Sweep]) -> str:
    """Return a table of lines for each section."""
    columns = [
        TableColumn("", 34, 0, left=True),
        *figures(
            {"slope": 9, "intercept": 10, "sd": 8, "held": 6, "off": 9}, spare=("held", "off")
        ),
        TableColumn("bend", 0, 2, left=True),
    ]
    out = text.wrap(LEGEND, "")
    for section, sweeps in groupby(all_sweeps, lambda sweep: sweep.section):
        table = Table(columns)
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
    """Format a line as an equation, such as 3.33 n + 12.1."""
    slope, intercept = _line_figures(sweep)
    return f"{slope} {sweep.parameter} + {intercept}".replace("+ -", "- ")


def _line_figures(sweep: Sweep) -> tuple[str, str]:
    """Format slope and intercept."""
    return f"{sweep.line.slope:.4g}", f"{sweep.line.intercept:.1f}"
