# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Where figures come from, and what a reader may take from them: of one result, in words."""

import re
from dataclasses import dataclass

from markupsafe import Markup

from tockmark.compare.history import RowHistory
from tockmark.errors import TockmarkError
from tockmark.result.model import Result, Row, ratio
from tockmark.result.provenance import Timing
from tockmark.show import figures, plot, text
from tockmark.show.table import Named, apart, layouts, sections, spread
from tockmark.suite.catalogue import ICACHE, LANGS, Catalogue, RowKey, label, row_key

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


def conditions(result: Result) -> dict[str, str]:
    """Under which its figures hold, for one line of a table."""
    found = result.provenance
    return {
        "opt-level": found.kernel.opt_level or UNKNOWN,
        "machine": found.board.machine or found.board.name or UNKNOWN,
        "clock": found.board.clock,
        "interface": f"version {found.abi}" if found.abi else UNKNOWN,
        "i-cache": " and ".join(ICACHE[setting] for setting in result.icaches),
        "apps in": " and ".join(LANGS[lang] for lang in result.langs),
        "layouts": layouts(result),
        "timing": found.board.validity,
        "measured": found.date[:10],
    }


def provenance(result: Result) -> dict[str, str]:
    """All that a result says of itself, in the order of the page."""
    found = result.provenance
    kernel, board = found.kernel, found.board
    uart = board.uart_cycles_per_byte
    return {
        "Kernel": kernel.title,
        "Kernel image": _hashed(kernel.sha256),
        "Optimisation": kernel.built if kernel.opt_level else UNKNOWN,
        "Rust compiler": kernel.rustc or UNKNOWN,
        "Built from commit": kernel.commit or UNKNOWN,
        "Flash": _bytes(kernel.flash_bytes),
        "RAM before the apps": _bytes(kernel.ram_bytes),
        "System-call interface": f"version {found.abi}" if found.abi else UNKNOWN,
        "Board or machine": f"{board.name or UNKNOWN} ({board.machine or UNKNOWN})",
        "Clock": board.clock,
        "Timing": board.validity,
        "Simulator": _hashed(board.simulator_sha256),
        "Made from": f"Verilator {board.verilator or UNKNOWN}, Ibex {board.ibex or UNKNOWN}",
        "UART": f"{uart} cycles a byte" if uart else UNKNOWN,
        "Layouts": layouts(result),
        "Boots": str(len(found.boots) or UNKNOWN),
        "Apps": ", ".join([*found.said("lang"), *found.said("cc")]) or UNKNOWN,
        "Catalogue": _hashed(found.catalogue_sha256),
        "Measured": found.date,
        "Tool": f"{found.tool.name} {found.tool.version}, commit {found.tool.commit or UNKNOWN}",
    }


def _hashed(sha256: str | None) -> str:
    return f"sha256 {sha256}" if sha256 else UNKNOWN


def images(result: Result) -> list[str]:
    """The images of the kernel, if it was measured in several."""
    found = [layout.sha256 for layout in result.provenance.layouts if layout.sha256]
    return list(dict.fromkeys(found)) if len(set(found)) > 1 else []


def _bytes(count: int | None) -> str:
    return f"{count} bytes" if count is not None else UNKNOWN


def skipped(result: Result) -> list[str]:
    """What its kernel cannot run, and why: once for all parameters and cache settings."""
    whys: dict[tuple[str, str | None], set[str]] = {}
    for gone in result.skipped:
        whys.setdefault((gone.id, gone.why), set()).add(LANGS[gone.lang])
    every = {LANGS[lang] for lang in result.langs}
    return [
        f"{id_}{'' if langs >= every else ', ' + ' and '.join(sorted(langs))}: {why}"
        for (id_, why), langs in whys.items()
    ]


# The figures of rows as pages have them, a line a row; every figure is model.py's.


THIN, MINUS = "\u202f", "\u2212"


def number(value: float | None, digits: int = 1) -> str:
    """A number as a page has it: thousands apart, a true minus."""
    if value is None:
        return "–"
    return text.number(value, digits, ",").replace(",", THIN).replace("-", MINUS)


def trimmed(value: float | None, digits: int = 2) -> str:
    """The same without superfluous zeros."""
    if value is None:
        return "–"
    if value == round(value):
        return number(value)
    return number(value, digits).rstrip("0").rstrip(".")


@dataclass(frozen=True)
class SiteLine:
    """A row of one result with one cache setting. `error` says what is wrong with it, if so: then
    its net is shown, and nothing else is made of it."""

    id: str
    label: str  # its parameters, or its id where it has none
    icache: str
    net: str
    spread: str  # from the least to the greatest steady sample
    range: str  # over layouts
    instructions: str
    per_op: str
    us: str
    rate: str
    steady: str
    ratio: str  # to the baseline
    error: str


def line(row: Row, catalogue: Catalogue, baseline: Row | None = None) -> SiteLine:
    """What a table says of a row."""
    stats = row.cycles.stats if row.cycles else None
    good = not row.errors
    return SiteLine(
        row.id,
        label("", row.params).strip() or row.id,
        ICACHE[row.icache],
        number(row.net),
        number(stats.max - stats.min) if stats and stats.max != stats.min else "",
        spread(row) if row.cycles and len(row.cycles.nets) > 1 else "",
        number(row.instructions),
        trimmed(text.rounded(row.per_op), 3) if good else "–",
        trimmed(row.us) if good else "–",
        trimmed(row.mb_per_s(catalogue.moved(row.id, row.params))) if good else "–",
        row.steadiness or "–",
        number(ratio(baseline, row), 2),
        "; ".join(row.errors),
    )


@dataclass(frozen=True)
class SiteSection:
    """A table: the rows of one section, in one language."""

    title: str
    lines: list[SiteLine]


def tables(named: Named, catalogue: Catalogue, baseline: Named | None) -> list[SiteSection]:
    """All rows of a result, by language and section; settings of the cache below each other."""
    made = []
    for _, result in apart([(named.name, named.result)]):
        lang = result.langs[0]
        columns = [result.column(icache, lang) for icache in result.icaches]
        beside: list[dict[RowKey, Row]] = [
            baseline.result.column(icache, lang) if baseline else {} for icache in result.icaches
        ]
        told = f", {LANGS[lang]}" if len(named.result.langs) > 1 else ""
        for title, lines in sections(columns, catalogue):
            found = [
                line(row, catalogue, other.get(row_key(one.id, one.params)))
                for one in lines
                for row, other in zip(one.rows, beside, strict=True)
                if row
            ]
            made.append(SiteSection(title + told, found))
    return made


# Pictures as parts of a page: nothing but the drawing, its ids apart from those of all others.


SHOWN = 4  # results in one picture of a benchmark: more lines cannot be told apart


def drawn_pictures(named: list[Named], only: list[str] | None = None) -> list[tuple[str, Markup]]:
    """The pictures of results, by name."""
    return _inline(figures.draw(_leading(named), only))


def benchmark_pictures(named: list[Named], id_: str) -> list[tuple[str, Markup]]:
    """Those that show one benchmark alone."""
    there = [one for one in _leading(named) if any(row.id == id_ for row in one.result.rows)]
    return _inline(figures.of_benchmark(there[:SHOWN], id_))


def _leading(named: list[Named]) -> list[Named]:
    return [Named(one.name, one.result.leading) for one in named]


def _inline(sheets: dict[str, plot.Sheet]) -> list[tuple[str, Markup]]:
    return [(name, inline(plot.rendered(one.figure, "svg"), name)) for name, one in sheets.items()]


def history_picture(found: list[RowHistory], name: str) -> Markup | None:
    """How rows went from run to run, if there are few enough for a picture."""
    try:
        return inline(plot.history_picture(found, "svg"), name)
    except TockmarkError:
        return None


def inline(picture: bytes, name: str) -> Markup:
    """An SVG of matplotlib's as an element of a page. What text it has, matplotlib has escaped."""
    svg = picture.decode()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>", "", svg, flags=re.DOTALL)
    svg = re.sub(r' xmlns(:\w+)?="[^"]*"', "", svg).replace("xlink:href", "href")
    svg = re.sub(r'(id="|href="#|url\(#)', rf"\g<1>{name}-", svg)
    label = name.replace("-", " ")
    told = rf'\1 role="img" aria-label="{label}"'
    return Markup(re.sub(r'(<svg[^>]*?) width="[^"]*"', told, svg, count=1))
