# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Makes docs/findings.md, docs/c-and-rust.md and docs/limit.md from their templates and the
committed results: `make findings`.

A template, docs/findings.md.j2, has the words; every number in the page is looked up in a result
file or a profile under results/. With --check nothing is written, and the exit code is 1 if a page
is not what the results say.
"""

import sys
from dataclasses import dataclass
from functools import cached_property

import jinja2

from tockmark.paths import RESULTS, ROOT
from tockmark.profile import file as profiles
from tockmark.result import file as results
from tockmark.result.model import Row, ratio
from tockmark.show import table, text
from tockmark.suite import catalogue as catalogues
from tockmark.suite.catalogue import OF_BOOT, Lang, label
from tockmark.validate import file as validations
from tockmark.validate import limit

DOCS = ROOT / "docs"
PAGES = ("findings.md", "c-and-rust.md", "limit.md")  # in docs/, as their templates are


@dataclass(frozen=True)
class Size:
    """Bytes of an app: code, constants and initial data in flash; RAM with stack and heap."""

    flash: int
    ram: int


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


class Run:
    """A result file, by row, in one language of the apps: the one that leads if none is given."""

    def __init__(self, name: str, lang: Lang | None = None) -> None:
        self.name = name
        self.lang: Lang = lang or "c"
        self.result = results.load(RESULTS / f"{name}.json")
        self.kernel = self.result.provenance.kernel
        self.board = self.result.provenance.board
        table = (self.result if lang else self.result.leading).table
        self.rows = {
            (row.icache, row.label): row for row in table.values() if lang in (None, row.lang)
        }

    def row(self, name: str, icache: bool = True) -> Row | None:
        return self.rows.get((icache, name))

    @property
    def cycles(self) -> str:
        """What all boots with apps in this language took, in millions of cycles."""
        return f"{self.result.of_lang(self.lang).provenance.cycles / 1e6:.0f}"

    def net(self, name: str, icache: bool = True) -> str:
        """Net cycles of one sample; time.read as measured."""
        row = self.row(name, icache)
        return marked(row.net if row else None, row)

    def instructions(self, name: str, icache: bool = True) -> str:
        """Net instructions of one sample; of time.read as measured."""
        row = self.row(name, icache)
        return marked(row.instructions if row else None, row)

    def per_op(self, name: str, icache: bool = True) -> str:
        """Net cycles of one operation."""
        return per_op(self.row(name, icache))

    def spread(self, name: str, icache: bool = True) -> str:
        """The least and the most net cycles of one operation over the layouts."""
        row = self.row(name, icache)
        return table.spread(row, row.inner) if row else text.NONE

    @property
    def built(self) -> str:
        """What a heading must say of the kernel beside its name."""
        return f"opt-level {self.kernel.opt_level or 'unknown'}"

    @property
    def compiler(self) -> str:
        """What its apps say of it, and of what shapes the code."""
        (said,) = {app.said["cc"] for app in self.result.provenance.apps if app.lang == self.lang}
        return said

    def sizes(self) -> dict[str, Size]:
        """Of each app, by name; of several processes of one app, the first."""
        slots = [
            slot
            for boot in self.result.provenance.boots
            for slot in boot.slots
            if boot.lang == self.lang
        ]
        return {
            slot.name: Size(slot.flash_length or 0, slot.ram_length)
            for slot in slots
            if not slot.name[-1].isdigit()
        }

    def skipped(self) -> list[tuple[str, str]]:
        """What was not measured, and why, each once."""
        return list(dict.fromkeys((gone.id, gone.why or "") for gone in self.result.skipped))


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
        return {
            row.name: Least(row.name, *row.measured, row.source, row.group == limit.PARTS)
            for row in validations.load(RESULTS / "validation.json")
            if row.part == limit.NAME
        }

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
                times = row.per_op / floor if row and row.per_op and floor else None
                cells.append(text.number(times, 1))
            lines.append(f"| {name} | {' | '.join(cells)} |")
        return "\n".join(lines)

    def profiles(self, kernel: str) -> list[profiles.Stored]:
        """All stored profiles of a kernel, the longest sample first."""
        found = map(profiles.load, sorted((RESULTS / "profiles").glob(f"{kernel}-*.json")))
        return sorted(found, key=lambda profile: -profile.cycles)


def number(value: float | None) -> str:
    """As many digits as a reader needs."""
    return text.number(value, 0 if value is not None and abs(value) >= 100 else 2, ",")


def marked(value: float | None, row: Row | None) -> str:
    """A figure of a row; "!" says that the row has an error."""
    return number(value) + table.mark(row)


def per_op(row: Row | None) -> str:
    """Net cycles of one operation."""
    return marked(row.per_op if row else None, row)


def times(base: Row | None, row: Row | None) -> str:
    return text.ratio(ratio(base, row))


def share(part: float, whole: float) -> str:
    return text.percent(part / whole, digits=0)


def render(page: str) -> str:
    """A whole page of docs/."""
    environment = jinja2.Environment(
        undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False
    )
    template = environment.from_string((DOCS / f"{page}.j2").read_text(encoding="utf-8"))
    made = template.render(f=Findings(), number=number, times=times, share=share)
    return made.rstrip() + "\n"


def main() -> int:
    stale = False
    for name in PAGES:
        page, made = DOCS / name, render(name)
        if page.exists() and page.read_text(encoding="utf-8") == made:
            continue
        stale = True
        if "--check" in sys.argv:
            print(f"{page.relative_to(ROOT)}: not what the results say; run `make findings`")
        else:
            page.write_text(made, encoding="utf-8")
    return 1 if stale and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
