# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Generate docs/findings.md with its picture, and each study's README.md (`make findings`).

The text is in the templates here and in the studies' folders. Every number comes from a committed
result or profile, through the functions that `_render` passes to the templates.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import chain
from operator import attrgetter
from pathlib import Path

import jinja2

import by_size
import comparisons
import core_features
import crypto
import growth
import ladder
import new_ipc
import opt_levels
import over_commits
import receiving
import runtimes
import sample_parts
import waits
import whole_programs
from committed import committed, multiples, number, per_op, retired, share, times
from tables import markdown
from tockmark.base.paths import DOCS, ROOT
from tockmark.result import file
from tockmark.result.model import Row
from tockmark.show import text
from tockmark.show.table import format_range, layout_nets
from tockmark.show.text import NONE
from tockmark.suite import catalogue as catalogues
from tockmark.suite.catalogue import HARNESS_ROWS, label
from tockmark_lab import validation as validations
from tockmark_lab import validation_parts as programs
from tockmark_lab.folders import DATA, STUDIES

PARTS = (
    "findings.md.j2",
    "ipc.md.j2",
    "latency.md.j2",
    "languages.md.j2",
    "studies.md.j2",
)  # in this folder, in the order of the page
HERE = Path(__file__).parent
PICTURE = "pictures/speed-and-size.svg"  # of the findings
ANSWER = re.compile(r"^## Answer\n\n\*\*(.*?)\*\*", re.MULTILINE | re.DOTALL)


def generate() -> dict[Path, bytes]:
    """Return the content of the page, its picture and each study's page, by path."""
    page = "\n\n".join(_render(HERE / part) for part in PARTS) + "\n"
    studies = {template.parent.name: template for template in STUDIES.glob("*/README.md.j2")}
    pages = {STUDIES / name / "README.md": f"{study(name)}\n".encode() for name in studies}
    return {DOCS / "findings.md": page.encode(), DOCS / PICTURE: opt_levels.picture(), **pages}


@cache
def study(name: str) -> str:
    """Return the page of a study."""
    return _render(STUDIES / name / "README.md.j2")


def answer(name: str) -> str:
    """Return the bold answer of a study's page, with a link to the page."""
    match = ANSWER.search(study(name))
    assert match, f"the page of {name} has no answer"
    return f"{match[1]} ([study](../lab/studies/{name}/README.md))"


def _render(path: Path) -> str:
    environment = jinja2.Environment(
        undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False
    )
    template = environment.from_string(path.read_text(encoding="utf-8"))
    functions = (
        *(answer, compiled, table, touches_kernel, bare, floors, floor_comparison),
        *(added_cost, committed, number, times, share),
    )
    filled = {function.__name__: function for function in functions}
    made = template.render(
        filled,
        by_size=by_size,
        opt_levels=opt_levels,
        sample_parts=sample_parts,
        comparisons=comparisons,
        core_features=core_features,
        crypto=crypto,
        new_ipc=new_ipc,
        over_commits=over_commits,
        receiving=receiving,
        runtimes=runtimes,
        whole_programs=whole_programs,
        growth=growth,
        ladder=ladder,
        waits=waits,
    )
    return made.strip()


def compiled(*sizes: int) -> list[str]:
    """Return the labels of the rows whose body is compiled. Memory sweeps: only these sizes."""
    catalogue = catalogues.load()
    ids = [
        benchmark.id
        for benchmark in catalogue.benchmarks.values()
        if not benchmark.bodies and benchmark.by != "mark" and benchmark.id not in HARNESS_ROWS
    ]
    return [
        label(id_, params)
        for id_, params in catalogue.rows(ids)
        if "size" not in params or params["size"] in sizes
    ]


def table(columns: dict[str, str], names: list[str], icache: bool) -> str:
    """Return a table of net cycles of one operation. `columns` maps headings to results; each
    result after the first has a ratio to the first."""
    first, *others = map(committed, columns.values())
    titles = [
        f"{head}<br>{result.built}" for head, result in zip(columns, (first, *others), strict=True)
    ]
    rows = []
    for name in names:
        base, *more = (result.row(name, icache) for result in (first, *others))
        cells = chain.from_iterable((per_op(row), times(base, row)) for row in more)
        rows.append([name, per_op(base), *cells])
    return markdown(["row", titles[0], *chain.from_iterable((t, "×") for t in titles[1:])], rows)


def touches_kernel(id_: str) -> bool:
    """Return whether the benchmark touches the kernel."""
    return catalogues.load().benchmarks[id_].touches == "kernel"


# The columns of `added_cost`: the i-cache setting, and the figure of a row.
FIGURES: dict[str, tuple[bool, Callable[[Row], float | None]]] = {
    "instructions": (False, retired),
    "cycles, cache on": (True, attrgetter("per_op")),
    "cycles, cache off": (False, attrgetter("per_op")),
}


def added_cost(argument: str) -> str:
    """Return a table of net instructions and cycles of one operation: the first result file's
    figures, and the difference of each other file. Rows that no other file has are skipped."""
    paths = [ROOT / name for name in argument.split()]
    base, *others = ({(r.label, r.icache): r for r in file.load(path).rows} for path in paths)
    names = [path.stem for path in paths]
    heads = [head for what in FIGURES for head in (f"{what}: {names[0]}", *names[1:])]
    calls = dict.fromkeys(r.label for r in base.values() if not (r.is_overhead or r.is_control))
    rows = []
    for call in calls:
        if not any((call, True) in other for other in others):
            continue
        cells: list[str] = [text.quoted(call)]
        for icache, figure in FIGURES.values():
            own = figure(base[call, icache])
            cells.append(NONE if own is None else f"{own:g}")
            more = [
                figure(row) if (row := rows_by_key.get((call, icache))) else None
                for rows_by_key in others
            ]
            cells += [NONE if m is None or own is None else f"{m - own:+g}" for m in more]
        rows.append(cells)
    return markdown(["", *heads], rows, words=range(1 + len(heads)))


@dataclass(frozen=True)
class BareCost:
    """The measured cost of one call or part in the bare programs of the floor."""

    name: str
    instructions: float
    on: float  # cycles, i-cache on
    off: float
    why: str
    of_parts: bool  # a part (or the parts' null control); else a whole call

    def per_op(self, icache: bool) -> float:
        """Return the cycles of one operation; there and back counts as two hops."""
        return (self.on if icache else self.off) / (2 if self.name.startswith("there") else 1)


@cache
def bare() -> dict[str, BareCost]:
    """Return the costs in part "limit" of the committed validation, by name."""
    costs = {}
    for row in validations.load_validation(DATA / "validation.json"):
        if row.part == "limit" and row.group != programs.OF_RULES:
            instructions, on, off = map(float, row.measured)
            of_parts = row.group == programs.OF_PARTS
            costs[row.name] = BareCost(row.name, instructions, on, off, row.source, of_parts)
    return costs


def floors(*names: str) -> dict[str, dict[str, str | None]]:
    """Return the names of the bare kernels' costs for each row, by column heading."""
    kernels = {
        "floor": "nothing saved",
        "driver in C": "driver in C",
        "driver in Rust": "driver in Rust",
    }
    names_by_row = {}
    for name in names:
        row = "there and back" if name.startswith("ctx.ring") else name
        of_row = dict.fromkeys(kernels)
        of_row |= {
            head: f"{row}, {kernel}"
            for head, kernel in kernels.items()
            if f"{row}, {kernel}" in bare()
        }
        if of_row["floor"] is None:
            others = ("nothing saved, upcalls", "one pmpcfg word a switch")
            (of_row["floor"],) = (
                f"{row}, {kernel}" for kernel in others if f"{row}, {kernel}" in bare()
            )
        names_by_row[name] = of_row
    return names_by_row


def floor_comparison(
    columns: dict[str, str], rows: dict[str, dict[str, str | None]], icache: bool
) -> str:
    """Return a table of net cycles of one operation: on the bare kernels (the floor first), then on
    each result of `columns`, with its multiple of the floor. Results with several layouts show the
    median and, in brackets, the range."""
    lines = []
    for name, names in rows.items():
        costs = [bare()[at].per_op(icache) if at else None for at in names.values()]
        cells = [name, *map(number, costs)]
        for row in (committed(result).row(name, icache) for result in columns.values()):
            over_layouts = row is not None and len(layout_nets(row)) > 1
            range_ = f" ({format_range(row, row.inner)})" if row and over_layouts else ""
            cells += [per_op(row) + range_, multiples(row, costs[0])]
        lines.append(cells)
    heads = chain.from_iterable((head, "×") for head in columns)
    (headings,) = {tuple(names) for names in rows.values()}
    return markdown(["row", *headings, *heads], lines)
