# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verb `report`: one HTML page that needs nothing else, for people who did not run the suite.

It holds where the numbers come from, every row with what it means, the pictures of `plot`, and the
comparison to the floor (the baseline kernel) and to the study of 2021. templates/report.html is
the page; here is what it is filled with.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2

from tockmark import paths
from tockmark.result import result as results
from tockmark.result.result import Json, incomplete
from tockmark.show import figures, plot, view
from tockmark.show.plot import Named
from tockmark.suite.catalogue import OVERHEAD, STRANGERS, Benchmark, Catalogue, Params, label

STUDY = paths.RESULTS / "paper-2021.json"
FLOOR_KERNEL = "tockmark-baseline"

# What a reader may take from cycle counts, by what they have been compared with.
TIMING = {
    "hardware": "Measured on hardware.",
    "checked-against-hardware": "Simulated; the model of this machine was compared with "
    "measurements on hardware, and met them within a stated bound (docs/validation.md).",
    "checked-against-rtl": "Simulated; the model of this machine was compared with the chip's own "
    "RTL, and met it exactly (docs/validation.md). Not compared with a chip.",
    "unchecked": "Nothing is known of how true these cycle counts are: the log does not tell what "
    "it was captured from, or the machine was never compared with anything.",
    "functional-only": "The cycle counts are no timing at all: this machine only shows that the "
    "suite runs. Instruction counts hold.",
}

Key = tuple[str, frozenset[tuple[str, int | str]], bool | None]


@dataclass(frozen=True)
class Line:
    """One line of a table: a benchmark with parameters, what each result has for it."""

    name: str
    cells: list[Json | None]  # by column: a result with a cache setting
    floor: float | None  # cycles an operation of the baseline kernel, for the first column
    study: Json | None


@dataclass(frozen=True)
class Group:
    """A benchmark: what it means, and its lines."""

    id: str
    known: Benchmark | None
    lines: list[Line]


def report(named: list[Named], catalogue: Catalogue) -> str:
    """The whole page."""
    columns = plot.settings(named)
    floor = _floor(named[0].result)
    study = Named(STUDY.stem, results.load(STUDY)) if STUDY.exists() else None
    sections = _sections(named, columns, catalogue, floor, study)
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("tockmark.show"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["number"] = number
    drawn = figures.draw(named)
    return environment.get_template("report.html").render(
        named=named,
        columns=[(one, view.ICACHE[icache]) for one, icache in columns],
        facts=[_facts(one.result) for one in named],
        timing=dict.fromkeys(one.result["provenance"]["board"]["timing"] for one in named),
        timing_means=TIMING,
        wrong=[(one.name, incomplete(one.result)) for one in named if incomplete(one.result)],
        skipped=[(one.name, one.result["skipped"]) for one in named if one.result["skipped"]],
        sections=sections,
        floor=floor,
        floor_facts=view.provenance(floor.result) if floor else "",
        study=_study(named, columns, study) if study else [],
        study_facts=view.provenance(study.result) if study else "",
        is_floor=any(view.kernel(one.result).startswith(FLOOR_KERNEL) for one in named),
        pictures=[(name, inline(sheet, name)) for name, sheet in drawn.items()],
        same_study=any(_like(study, one) for one in named) if study else False,
        view=view,
        label=label,
    )


def number(value: float | None, digits: int = 1) -> str:
    """A number without superfluous zeros, thousands apart."""
    if value is None:
        return "–"
    text = f"{value:,.0f}" if value == int(value) else f"{value:,.{digits}f}"
    return text.replace(",", "\u202f").replace("-", "\u2212")


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


def _facts(result: Json) -> dict[str, str]:
    """The provenance of one result, in the order of the page."""
    found = result["provenance"]
    kernel, board = found["kernel"], found["board"]
    compilers = dict.fromkeys(app["cc"] for app in found["apps"] if "cc" in app)
    languages = dict.fromkeys(app["lang"] for app in found["apps"] if "lang" in app)
    return {
        "Kernel": view.kernel(result),
        "Kernel image": _short(kernel["sha256"]),
        "Built from commit": kernel["commit"] or "not known",
        "System-call interface": f"version {found['abi']}" if found["abi"] else "not known",
        "Board or machine": f"{board['name'] or 'not known'} ({board['machine'] or 'not known'})",
        "Clock": view.clock(result),
        "Timing": board["timing"],
        "Simulator": _short(board["simulator_sha256"]),
        "UART": f"{board['uart_cycles_per_byte']} cycles a byte"
        if board["uart_cycles_per_byte"]
        else "not known",
        "Boots": str(len(found["boots"]) or "not known"),
        "Apps": ", ".join([*languages, *compilers]) or "not known",
        "Catalogue": _short(found["catalogue_sha256"]),
        "Measured": found["date"],
        "Tool": f"{found['tool']['name']} {found['tool']['version']}",
    }


def _short(sha256: str | None) -> str:
    return f"sha256 {sha256[:16]}…" if sha256 else "not known"


def _key(row: Json) -> Key:
    return row["id"], frozenset(row["params"].items()), row["icache"]


def _sections(
    named: list[Named],
    columns: list[tuple[Named, bool | None]],
    catalogue: Catalogue,
    floor: Named | None,
    study: Named | None,
) -> list[tuple[str, list[Group]]]:
    """All rows of all results, by section and benchmark in the catalogue's order."""
    tables = {id(one): {_key(row): row for row in view.rows(one.result)} for one in named}
    lowest = {_key(row): row for row in view.rows(floor.result)} if floor else {}
    told = {_key(row)[:2]: row for row in study.result["rows"]} if study else {}
    order: dict[str, dict[str, Params]] = {id_: {} for id_ in catalogue.benchmarks}
    for id_, params in catalogue.rows(catalogue.benchmarks):
        order[id_][label(id_, params)] = params
    for one in named:
        for row in view.rows(one.result):
            order.setdefault(row["id"], {})[label(row["id"], row["params"])] = row["params"]
    sections: dict[str, list[Group]] = {name: [] for name in [*catalogue.sections(), STRANGERS]}
    for id_, variants in order.items():
        lines = []
        for params in variants.values():
            key = id_, frozenset(params.items())
            cells = [tables[id(one)].get((*key, icache)) for one, icache in columns]
            if any(cells):
                base = lowest.get((*key, columns[0][1]))
                name = label("", params).strip() or id_
                lines.append(Line(name, cells, view.per_op(base) if base else None, told.get(key)))
        if lines:
            group = Group(id_, catalogue.benchmarks.get(id_), lines)
            sections[catalogue.section_of(id_)].append(group)
    return [(name, groups) for name, groups in sections.items() if groups]


def _floor(result: Json) -> Named | None:
    """The committed run of the baseline kernel that a result is to be held against: one on the same
    machine, by the same interface. The baseline kernel has no floor but itself."""
    if view.kernel(result).startswith(FLOOR_KERNEL):
        return None
    wanted = result["provenance"]["board"]["machine"], result["provenance"]["abi"]
    for path in sorted(paths.RESULTS.glob("baseline*.json")):
        found = results.load(path)
        if (found["provenance"]["board"]["machine"], found["provenance"]["abi"]) == wanted:
            return Named(path.stem, found)
    return None


def _like(study: Named, one: Named) -> bool:
    """Whether a result was measured as the study was: then its numbers should be the study's."""
    mine, other = one.result["provenance"], study.result["provenance"]
    machines = {mine["board"]["machine"], other["board"]["machine"]}
    return len(machines) == 1 and len({mine["abi"], other["abi"]}) == 1


def _study(
    named: list[Named], columns: list[tuple[Named, bool | None]], study: Named
) -> list[dict[str, Any]]:
    """The study's rows beside ours without the cache, as the study measured."""
    without = [one for one, icache in columns if icache is not True] or named
    lines = []
    for row in study.result["rows"]:
        ours = []
        for one in without:
            same = [r for r in view.rows(one.result) if _key(r)[:2] == _key(row)[:2]]
            ours.append(next((r for r in same if r["icache"] is not True), None))
        if any(ours) or "corrected" in row:
            lines.append({"row": row, "ours": ours, "overhead": row["id"] == OVERHEAD})
    return [{"names": [one.name for one in without], "lines": lines}] if lines else []


def write(path: Path, page: str) -> None:
    """Write the page, whole or not at all."""
    results.write_whole({path: page})
