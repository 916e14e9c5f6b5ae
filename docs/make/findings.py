# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Makes docs/findings.md with its picture, docs/c-and-rust.md and docs/limit.md: `make findings`.

Templates beside them have the words. Every number is looked up in a committed result or profile,
through what `made` gives the templates.
"""

from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path

import jinja2

import comparisons
import opt_levels
import sample_parts
from committed import committed, markdown, multiples, number, per_op, share, times
from tockmark.check import programs
from tockmark.check import validation as validations
from tockmark.paths import DATA, DOCS
from tockmark.show.table import layout_nets, spread
from tockmark.suite import catalogue as catalogues
from tockmark.suite.catalogue import OF_BOOT, label

PAGES = ("findings.md", "c-and-rust.md", "limit.md")  # in docs/, as their templates are
PICTURE = "pictures/speed-and-size.svg"  # of the findings


def made() -> dict[Path, bytes]:
    """Return the pages and the picture, as the committed results have them."""
    return {DOCS / page: _render(page) for page in PAGES} | {DOCS / PICTURE: opt_levels.picture()}


def _render(page: str) -> bytes:
    environment = jinja2.Environment(
        undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False
    )
    template = environment.from_string((DOCS / f"{page}.j2").read_text(encoding="utf-8"))
    functions = (compiled, table, of_kernel, least, beside, committed, number, times, share)
    filled = {function.__name__: function for function in functions}
    made = template.render(
        filled, opt_levels=opt_levels, sample_parts=sample_parts, comparisons=comparisons
    )
    return f"{made.rstrip()}\n".encode()


def compiled(*sizes: int) -> list[str]:
    """Return the rows whose body a compiler makes; of a sweep of the memory only these sizes."""
    known = catalogues.load()
    ids = [
        one.id
        for one in known.benchmarks.values()
        if not one.bodies and one.by != "mark" and one.id not in OF_BOOT
    ]
    return [
        label(id_, params)
        for id_, params in known.rows(ids)
        if "size" not in params or params["size"] in sizes
    ]


def table(columns: dict[str, str], names: list[str], icache: bool) -> str:
    """Return net cycles of one operation of these rows; `columns` has a heading for each result.
    From the second one on each has its ratio to the first."""
    first, *others = map(committed, columns.values())
    titles = [f"{head}<br>{one.built}" for head, one in zip(columns, (first, *others), strict=True)]
    rows = []
    for name in names:
        base, *more = (one.row(name, icache) for one in (first, *others))
        beside = chain.from_iterable((per_op(row), times(base, row)) for row in more)
        rows.append([name, per_op(base), *beside])
    return markdown(["row", titles[0], *chain.from_iterable((t, "×") for t in titles[1:])], rows)


def of_kernel(id_: str) -> bool:
    """Return whether the benchmark touches the kernel."""
    return catalogues.load().benchmarks[id_].touches == "kernel"


@dataclass(frozen=True)
class LeastCost:
    """What one thing costs at least, as the bare programs of docs/limit.md measured it."""

    name: str
    instructions: float
    on: float  # cycles, i-cache on
    off: float
    why: str
    of_parts: bool  # a part, or the null control of the parts; else a whole call

    def per_op(self, icache: bool) -> float:
        """Return cycles of one operation of the row: there and back is two hops."""
        return (self.on if icache else self.off) / (2 if self.name.startswith("there") else 1)


@cache
def least() -> dict[str, LeastCost]:
    """Return the part limit of the committed validation, by name."""
    found = {}
    for row in validations.load_validation(DATA / "validation.json"):
        if row.part == "limit":
            instructions, on, off = map(float, row.measured)
            of_parts = row.group == programs.LEAST_PARTS
            found[row.name] = LeastCost(row.name, instructions, on, off, row.source, of_parts)
    return found


def beside(columns: dict[str, str], rows: dict[str, tuple[str, str | None]], icache: bool) -> str:
    """Return net cycles of one operation of `rows`, beside the floor and the least with one
    procedure, which are given by name; of each result in `columns` also how many times the floor it
    is. Of a result in several layouts it is the median, and in brackets the least and the most."""
    lines = []
    for name, leasts in rows.items():
        floor, more = (least()[at].per_op(icache) if at else None for at in leasts)
        cells = [name, number(floor), number(more)]
        for row in (committed(one).row(name, icache) for one in columns.values()):
            range_ = f" ({spread(row, row.inner)})" if row and len(layout_nets(row)) > 1 else ""
            cells += [per_op(row) + range_, multiples(row, floor)]
        lines.append(cells)
    heads = chain.from_iterable((head, "×") for head in columns)
    return markdown(["row", "floor", "with one procedure", *heads], lines)
