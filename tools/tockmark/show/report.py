# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verb `report`: one HTML page that needs nothing else, for people who did not run the suite.

It holds where the numbers come from, every row with what it means, the pictures of `plot`, and the
comparison to the baseline kernel and to the study of 2021. templates/report.html is the page; here
is what it is filled with.
"""

import re
from dataclasses import dataclass

import jinja2

from tockmark.result.model import ICACHE, Result, Row, ratio
from tockmark.result.provenance import Timing
from tockmark.show import figures, plot, table, text
from tockmark.show.plot import Named
from tockmark.suite.catalogue import Benchmark, Catalogue, label, row_key

# What a reader may take from cycle counts, by what they have been compared with.
TIMING: dict[Timing, str] = {
    "hardware": "Measured on hardware.",
    "checked-against-hardware": "Simulated; the model of this machine was compared with "
    "measurements on hardware, and met them within a stated bound (docs/validation.md).",
    "checked-against-board": "Simulated; the model of this machine was compared with runs of the "
    "suite on such a board (docs/validation.md).",
    "checked-against-rtl": "Simulated; the model of this machine was compared with the chip's own "
    "RTL, and met it but in the counts that docs/simulator.md lists. Not compared with a chip.",
    "unchecked": "Nothing is known of how true these cycle counts are: the log does not tell what "
    "it was captured from, or the machine was never compared with anything.",
    "functional-only": "The cycle counts are no timing at all: this machine only shows that the "
    "suite runs. Instruction counts hold.",
}

UNKNOWN = "not known"


@dataclass(frozen=True)
class Line(table.Line):
    """One line of a table, a column being a result with a cache setting."""

    baseline: Row | None  # with the setting of the first column

    @property
    def name(self) -> str:
        return label("", self.params).strip() or self.id

    @property
    def first(self) -> Row | None:
        """The first column that has the row."""
        return next((row for row in self.rows if row and row.sound), None)


@dataclass(frozen=True)
class Group:
    """A benchmark: what it means, and its lines."""

    id: str
    known: Benchmark | None
    lines: list[Line]


@dataclass(frozen=True)
class Studied:
    """A row of the study, and what each result has for it."""

    row: Row
    ours: list[Row | None]


def report(
    named: list[Named], catalogue: Catalogue, baseline: Named | None, study: Named | None
) -> str:
    """The whole page. `baseline` is the run to hold the first result against, if there is one."""
    columns = plot.settings(named)
    without = [one for one, icache in columns if icache is not True] or named
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("tockmark.show"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["number"] = number
    return environment.get_template("report.html").render(
        named=named,
        columns=[(one, ICACHE[icache]) for one, icache in columns],
        facts=[_facts(one.result) for one in named],
        timing=dict.fromkeys(one.result.provenance.board.timing for one in named),
        timing_means=TIMING,
        sections=_sections(columns, catalogue, baseline),
        moved=catalogue.moved,
        baseline=baseline,
        has_baseline=any(one.result.provenance.kernel.is_baseline for one in named),
        study=study,
        studied=_studied(without, study) if study else [],
        without=without,
        same_study=any(_like(study, one) for one in named) if study else False,
        pictures=[(name, inline(sheet, name)) for name, sheet in figures.draw(named).items()],
        label=label,
        ratio=ratio,
    )


def number(value: float | None, digits: int = 1) -> str:
    """A number as a page has it: thousands apart, a true minus."""
    if value is None:
        return "–"
    return text.number(value, digits, ",").replace(",", "\u202f").replace("-", "\u2212")


def inline(sheet: plot.Sheet, name: str) -> str:
    """A picture as a part of the page: nothing but the drawing, its ids apart from all others'."""
    svg = plot.rendered(sheet, "svg").decode()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r' xmlns(:\w+)?="[^"]*"', "", svg).replace("xlink:href", "href")
    svg = re.sub(r'(id="|href="#|url\(#)', rf"\g<1>{name}-", svg)
    return re.sub(
        r'(<svg[^>]*?) width="[^"]*"', rf'\1 role="img" aria-label="{name}"', svg, count=1
    )


def _facts(result: Result) -> dict[str, str]:
    """The provenance of one result, in the order of the page."""
    found = result.provenance
    kernel, board = found.kernel, found.board
    uart = board.uart_cycles_per_byte
    return {
        "Kernel": kernel.title,
        "Kernel image": _short(kernel.sha256),
        "Optimisation": kernel.built if kernel.opt_level else UNKNOWN,
        "Rust compiler": kernel.rustc or UNKNOWN,
        "Built from commit": kernel.commit or UNKNOWN,
        "System-call interface": f"version {found.abi}" if found.abi else UNKNOWN,
        "Board or machine": f"{board.name or UNKNOWN} ({board.machine or UNKNOWN})",
        "Clock": board.clock,
        "Timing": board.validity,
        "Simulator": _short(board.simulator_sha256),
        "Made from": f"Verilator {board.verilator or UNKNOWN}, Ibex {board.ibex or UNKNOWN}",
        "UART": f"{uart} cycles a byte" if uart else UNKNOWN,
        "Boots": str(len(found.boots) or UNKNOWN),
        "Apps": ", ".join([*found.said("lang"), *found.said("cc")]) or UNKNOWN,
        "Catalogue": _short(found.catalogue_sha256),
        "Measured": found.date,
        "Tool": f"{found.tool.name} {found.tool.version}, commit {found.tool.commit or UNKNOWN}",
    }


def _short(sha256: str | None) -> str:
    return f"sha256 {sha256[:16]}…" if sha256 else UNKNOWN


def _sections(
    columns: list[tuple[Named, bool | None]], catalogue: Catalogue, baseline: Named | None
) -> list[tuple[str, list[Group]]]:
    """All rows of all results, by section and benchmark."""
    shown = [one.result.column(icache, one.result.langs[0]) for one, icache in columns]
    (first, icache), *_ = columns
    beside = baseline.result.column(icache, first.result.langs[0]) if baseline else {}
    sections = []
    for section, lines in table.sections(shown, catalogue):
        groups: dict[str, Group] = {}
        for line in lines:
            known = catalogue.benchmarks.get(line.id)
            found = Line(line.id, line.params, line.rows, beside.get(row_key(line.id, line.params)))
            groups.setdefault(line.id, Group(line.id, known, [])).lines.append(found)
        sections.append((section, list(groups.values())))
    return sections


def _like(study: Named, one: Named) -> bool:
    """Whether a result was measured as the study was: then its numbers should be the study's."""
    mine, other = one.result.provenance, study.result.provenance
    return (mine.board.machine, mine.abi) == (other.board.machine, other.abi)


def _studied(without: list[Named], study: Named) -> list[Studied]:
    """The study's rows beside ours without the cache, as the study measured."""
    tables = [
        {
            (*row.key[:2], row.lang): row
            for row in one.result.table.values()
            if row.icache is not True
        }
        for one in without
    ]
    lines = [
        Studied(row, [table.get((*row.key[:2], row.lang)) for table in tables])
        for row in study.result.table.values()
    ]
    return [x for x in lines if any(x.ours) or (x.row.published and x.row.published.corrected)]
