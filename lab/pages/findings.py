# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Generate docs/findings.md, the picture of opt-levels, and each study's page (`make findings`).

The text is in the templates here and in the studies' folders. Every number comes from a committed
result or profile, through the functions that `_render` passes to the templates.
"""

import re
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path

import jinja2

import by_size
import comparisons
import core_features
import crypto
import growth
import ladder
import languages
import memory
import new_ipc
import opt_levels
import over_commits
import receiving
import runtimes
import sample_parts
import waits
import whole_programs
from committed import committed, multiples, number, per_op, share, times
from tables import markdown
from tockmark.base.paths import DOCS
from tockmark.show.table import format_range, layout_nets
from tockmark.suite import catalogue as catalogues
from tockmark_lab import validation as validations
from tockmark_lab import validation_parts as programs
from tockmark_lab.folders import DATA, STUDIES

PAGE = Path(__file__).parent / "findings.md.j2"
PICTURE = "pictures/speed-and-size.svg"  # of the study opt-levels
ANSWER = re.compile(r"^## Answer\n\n\*\*(.*?)\*\*", re.MULTILINE | re.DOTALL)


def generate() -> dict[Path, bytes]:
    """Return the content of the page, its picture and each study's page, by path."""
    page = f"{_render(PAGE)}\n"
    studies = {template.parent.name: template for template in STUDIES.glob("*/README.md.j2")}
    pages = {STUDIES / name / "README.md": f"{study(name)}\n".encode() for name in studies}
    return {DOCS / "findings.md": page.encode(), DOCS / PICTURE: opt_levels.picture(), **pages}


@cache
def study(name: str) -> str:
    """Return the page of a study."""
    return _render(STUDIES / name / "README.md.j2")


def answer(name: str, bold: bool = False) -> str:
    """Return the bold answer of a study's page in one line, with a link to the page."""
    match = ANSWER.search(study(name))
    assert match, f"the page of {name} has no answer"
    line = " ".join(match[1].removesuffix(".").split())
    mark = "**" if bold else ""
    return f"{mark}{line}{mark} ([study](../lab/studies/{name}/README.md))."


def _render(path: Path) -> str:
    environment = jinja2.Environment(
        undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False
    )
    template = environment.from_string(path.read_text(encoding="utf-8"))
    functions = (
        *(answer, table, touches_kernel, bare, floors, floor_comparison),
        *(committed, number, times, share),
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
        languages=languages,
        memory=memory,
        waits=waits,
    )
    return made.strip()


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
