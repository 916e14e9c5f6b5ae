# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Makes docs/findings.md with its picture, docs/c-and-rust.md and docs/limit.md from their
templates and the committed results: `make findings`.

A template, docs/findings.md.j2, has the words; every number in the page is looked up in a result
file or a profile under results/ (tools/lookup/ has the tables). With --check nothing is written,
and the exit code is 1 if a page is not what the results say.
"""

import sys
from dataclasses import dataclass
from functools import cached_property

import jinja2

from lookup import bisected, levels, shifts, versions, where
from lookup.figures import multiples, number, per_op, share, times
from lookup.runs import Run
from tockmark.check import programs
from tockmark.check import validation as validations
from tockmark.paths import DATA, ROOT
from tockmark.show import text
from tockmark.suite import catalogue as catalogues
from tockmark.suite.catalogue import OF_BOOT, Lang, label

DOCS = ROOT / "docs"
PAGES = ("findings.md", "c-and-rust.md", "limit.md")  # in docs/, as their templates are
PICTURE = "pictures/speed-and-size.svg"  # of the findings


@dataclass(frozen=True)
class Least:
    """What one thing costs at least, as the bare programs of docs/limit.md measured it."""

    name: str
    instructions: float
    on: float  # cycles, i-cache on
    off: float
    why: str
    of_parts: bool  # a part, or the null control of the parts; else a whole call

    def per_op(self, icache: bool) -> float:
        """Cycles of one operation of the row: there and back is two hops."""
        return (self.on if icache else self.off) / (2 if self.name.startswith("there") else 1)


class Findings:
    """What the template can ask for."""

    def __init__(self) -> None:
        self.catalogue = catalogues.load()
        self.runs: dict[tuple[str, Lang | None], Run] = {}

    def run(self, name: str, lang: Lang | None = None) -> Run:
        if (name, lang) not in self.runs:
            self.runs[name, lang] = Run(name, lang)
        return self.runs[name, lang]

    def compiled(self, *sizes: int) -> list[str]:
        """The rows whose body a compiler makes; of a sweep of the memory only these sizes."""
        ids = [
            one.id
            for one in self.catalogue.benchmarks.values()
            if not one.bodies and one.by != "mark" and one.id not in OF_BOOT
        ]
        return [
            label(id_, params)
            for id_, params in self.catalogue.rows(ids)
            if params.get("size", sizes[0]) in sizes
        ]

    def table(self, columns: dict[str, str], groups: list[str], icache: bool = True) -> str:
        """Net cycles of one operation; `columns` has a heading for each run. From the second run
        on each has its ratio to the first. A row that only the first run has is left out."""
        runs = [self.run(name) for name in columns.values()]
        heads = [f"{head}<br>{run.built}" for head, run in zip(columns, runs, strict=True)]
        lines = ["| row | " + " | ".join([heads[0], *(f"{h} | ×" for h in heads[1:])]) + " |"]
        lines.append("|---|" + "--:|" * (2 * len(runs) - 1))
        for name in self._labels(groups):
            found = [run.row(name, icache) for run in runs]
            if not any(found[1:] or found):
                continue
            cells = [per_op(found[0])]
            for row in found[1:]:
                cells += [per_op(row), times(found[0], row)]
            lines.append(f"| {name} | " + " | ".join(cells) + " |")
        return "\n".join(lines)

    def of_kernel(self, id_: str) -> bool:
        """Whether the benchmark touches the kernel."""
        return self.catalogue.benchmarks[id_].touches == "kernel"

    def _labels(self, groups: list[str]) -> list[str]:
        """The rows of groups, of benchmarks, or single ones, in the catalogue's order."""
        return [
            label(id_, params)
            for id_, params in self.catalogue.rows(self.catalogue.benchmarks)
            if {id_, id_.partition(".")[0], label(id_, params)}.intersection(groups)
        ]

    @cached_property
    def least(self) -> dict[str, Least]:
        """The part limit of the committed validation, by name."""
        found = {}
        for row in validations.load_validation(DATA / "validation.json"):
            if row.part == "limit":
                instructions, on, off = map(float, row.measured)
                of_parts = row.group == programs.LEAST_PARTS
                found[row.name] = Least(row.name, instructions, on, off, row.source, of_parts)
        return found

    def beside(
        self, columns: dict[str, str], rows: dict[str, tuple[str, str | None]], icache: bool
    ) -> str:
        """Net cycles of one operation of `rows`, beside the floor and the least with one procedure,
        which are given by name; of each run in `columns` also how many times the floor it is. Of
        a run in several layouts it is the median, and in brackets the least and the most."""
        heads = ["row", "floor", "with one procedure", *(f"{head} | ×" for head in columns)]
        lines = [f"| {' | '.join(heads)} |", "|---|--:|--:|" + "--:|--:|" * len(columns)]
        for name, leasts in rows.items():
            floor, more = (self.least[at].per_op(icache) if at else None for at in leasts)
            cells = [number(floor), number(more)]
            for run in map(self.run, columns.values()):
                row, spread = run.row(name, icache), run.spread(name, icache)
                cells.append(per_op(row) + (f" ({spread})" if spread != text.NONE else ""))
                cells.append(multiples(row, floor))
            lines.append(f"| {name} | {' | '.join(cells)} |")
        return "\n".join(lines)


def render(page: str) -> str:
    """A whole page of docs/."""
    environment = jinja2.Environment(
        undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False
    )
    template = environment.from_string((DOCS / f"{page}.j2").read_text(encoding="utf-8"))
    made = template.render(
        f=Findings(),
        levels=levels,
        where=where,
        shifts=shifts,
        bisected=bisected,
        versions=versions,
        number=number,
        times=times,
        share=share,
    )
    return made.rstrip() + "\n"


def main() -> int:
    stale = False
    contents = {name: render(name).encode() for name in PAGES} | {PICTURE: levels.picture()}
    for name, content in contents.items():
        page = DOCS / name
        if page.exists() and page.read_bytes() == content:
            continue
        stale = True
        if "--check" in sys.argv:
            print(f"{page.relative_to(ROOT)}: not what the results say; run `make findings`")
        else:
            page.write_bytes(content)
    return 1 if stale and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
