# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What the pages of a site show: the templates ask for it by the names of these functions.

Every figure is result/model.py's, and the words of a comparison are those of `tockmark compare`.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path

from markupsafe import Markup

from tockmark.compare.pairs import Comparison, Mean
from tockmark.compare.verdict import JUDGED, MOVED, Judgement, RowVerdict, Verdict, verdict_of
from tockmark.profile import report
from tockmark.profile.file import Share, StoredProfile, sum_shares
from tockmark.result.model import Result, Row, microseconds
from tockmark.result.provenance import Timing
from tockmark.show import table, text
from tockmark.show.judgement import headline
from tockmark.show.table import Named
from tockmark.site.model import (
    ColumnGroup,
    Site,
    SiteColumn,
    SiteKernel,
    SitePair,
    choices,
    group_in_sentence,
    is_baseline,
)
from tockmark.suite.catalogue import ICACHE, LANGS, Catalogue, Lang, RowKey, label, row_key
from tockmark.suite.selection import screen, single_row

# What a reader may take from cycle counts, by what they have been compared with.
TIMING: dict[Timing, str] = {
    "hardware": "Measured on hardware.",
    "rtl": "The whole chip's RTL, simulated: no model takes part. Not compared with a chip.",
    "checked-against-hardware": "Simulated; the model of this machine was compared with "
    "measurements on hardware, and met them within a stated bound (docs/trust.md).",
    "checked-against-board": "Simulated; the model of this machine was compared with runs of the "
    "suite on such a board (docs/trust.md).",
    "checked-against-rtl": "Simulated; the model of this machine was compared with the chip's own "
    "RTL, and met it but in the counts that docs/trust.md lists. Not compared with a chip.",
    "unchecked": "Nothing is known of how true these cycle counts are: the log does not tell what "
    "it was captured from, or the machine, with this core, was never compared with anything.",
    "functional-only": "The cycle counts are no timing at all: this machine only shows that the "
    "suite runs. Instruction counts hold.",
}
UNKNOWN = "not known"
THIN, MINUS = "\u202f", "\u2212"
FUNCTIONS = 12  # of a profile; the others in one line

# Numbers.


def number(value: float | None, digits: int = 1) -> str:
    """Return a number as a page has it: thousands apart, a true minus."""
    if value is None:
        return "–"
    return text.number(value, digits, ",").replace(",", THIN).replace("-", MINUS)


def trimmed(value: float | None, digits: int = 2) -> str:
    """Return a number without superfluous zeros."""
    if value is None or value == round(value):
        return number(value)
    return number(value, digits).rstrip("0").rstrip(".")


def range_of(row: Row, inner: int = 1) -> str:
    """Return the range of its net cycles over layouts, of one of `inner` operations; nothing of
    one."""
    return table.format_range(row, inner) if row.cycles and len(row.cycles.nets) > 1 else ""


def cost(row: Row, timed: bool = True, digits: int = 3) -> str:
    """Return the cycles of one operation, or the instructions; "!" says that the row has an
    error."""
    counted = row.cycles if timed else row.instret
    figure = counted.per_op if counted else None
    return trimmed(text.rounded(figure), digits) + table.error_mark(row)


# One result.


def conditions(result: Result) -> dict[str, str]:
    """Return the conditions under which its figures hold, for one line of a table."""
    about = result.provenance
    return {
        "opt-level": about.kernel.opt_level or UNKNOWN,
        "machine": about.board.chip or about.board.name or UNKNOWN,
        "clock": about.board.clock,
        "interface": f"version {about.abi}" if about.abi else UNKNOWN,
        "i-cache": " and ".join(ICACHE[setting] for setting in result.icaches),
        "apps in": " and ".join(LANGS[lang] for lang in result.langs),
        "layouts": table.format_layouts(result),
        "timing": about.board.validity,
        "measured": about.date[:10],
    }


def condition(result: Result, leveled: bool = True) -> str:
    """Return opt-level, if it is wanted, machine and version of the interface, as far as they are
    known."""
    about = result.provenance
    known = about.kernel.opt_level if leveled else None
    level = f"opt-level {known}, " if known else ""
    machine = about.board.chip or about.board.name or "machine not known"
    return f"{level}{machine}{f', version {about.abi}' if about.abi else ''}"


def provenance(result: Result) -> dict[str, str]:
    """Return all that a result says of itself, in the order of the page."""
    about = result.provenance
    kernel, board = about.kernel, about.board

    def known(value: object, before: str = "", behind: str = "") -> str:
        return UNKNOWN if value in (None, "") else f"{before}{value}{behind}"

    return {
        "Kernel": kernel.title,
        "Kernel image": known(kernel.sha256, "sha256 "),
        "Optimisation": kernel.built if kernel.opt_level else UNKNOWN,
        "Rust compiler": known(kernel.rustc),
        "Built from commit": known(kernel.commit),
        "Flash": known(kernel.flash_bytes, behind=" bytes"),
        "RAM before the apps": known(kernel.ram_bytes, behind=" bytes"),
        "System-call interface": known(about.abi, "version "),
        "Board or machine": f"{known(board.name)} ({known(board.chip)})",
        "Clock": board.clock,
        "Timing": board.validity,
        "Simulator": known(board.simulator_sha256, "sha256 "),
        "Made from": f"Verilator {known(board.verilator)}, Ibex {known(board.ibex)}",
        "UART": known(board.uart_cycles_per_byte or None, behind=" cycles a byte"),
        "Layouts": table.format_layouts(result),
        "Boots": str(len(about.boots) or UNKNOWN),
        "Apps": ", ".join([*about.app_values("lang"), *about.app_values("cc")]) or UNKNOWN,
        "Catalogue": known(about.catalogue_sha256, "sha256 "),
        "Measured": about.date,
        "Tool": f"{about.tool.name} {about.tool.version}, commit {known(about.tool.commit)}",
    }


def facts(kernel: SiteKernel) -> dict[str, list[str]]:
    """Return the provenance of each of a kernel's results; one value alone where all say the
    same."""
    every = [provenance(one.result) for one in kernel.named]
    found = {fact: [one[fact] for one in every] for fact in (every[0] if every else ())}
    return {fact: v[:1] if len(set(v)) == 1 else v for fact, v in found.items()}


def time_cells(site: Site, kernel: SiteKernel, keys: Iterable[RowKey]) -> Iterator[tuple[str, str]]:
    """Yield the time of some rows in µs and its range over links, in the leading language, with the
    cache on if it was measured so."""
    for key in keys:
        there = [
            row
            for one in site.in_order(kernel)
            for row in (one.result.column(one.result.icaches[0], one.result.langs[0]).get(key),)
            if row and row.sound and row.us is not None
        ]
        yield (us(there[0].us), us_range(there[0])) if there else ("–", "")


def images(result: Result) -> list[str]:
    """Return the images of the kernel, if it was measured in several."""
    found = dict.fromkeys(one.sha256 for one in result.provenance.layouts if one.sha256)
    return list(found) if len(found) > 1 else []


def variant(row: Row) -> str:
    """Return its parameters, or its id where it has none."""
    return label("", row.params).strip() or row.id


def skipped(result: Result) -> list[str]:
    """Return what its kernel cannot run, and why: once for all parameters and cache settings."""
    whys: dict[tuple[str, str | None], set[str]] = {}
    for gone in result.skipped:
        whys.setdefault((gone.id, gone.why), set()).add(LANGS[gone.lang])
    every = {LANGS[lang] for lang in result.langs}
    return [
        f"{id_}{'' if langs >= every else ', ' + ' and '.join(sorted(langs))}: {why}"
        for (id_, why), langs in whys.items()
    ]


RowAndBaseline = tuple[Row, Row | None]  # a row, and that of the baseline


def tables(
    named: Named, catalogue: Catalogue, baseline: Named | None
) -> list[tuple[str, list[RowAndBaseline]]]:
    """Return all rows of a result, by language and section; settings of the cache below each
    other."""
    made = []
    for _, result in table.split_by_language([(named.name, named.result)]):
        lang = result.langs[0]
        columns = [result.column(icache, lang) for icache in result.icaches]
        others: list[dict[RowKey, Row]] = [
            baseline.result.column(icache, lang) if baseline else {} for icache in result.icaches
        ]
        aside = f", {LANGS[lang]}" if len(named.result.langs) > 1 else ""
        for title, lines in table.sections(columns, catalogue):
            rows = [
                (row, other.get(row_key(one.id, one.params)))
                for one in lines
                for row, other in zip(one.rows, others, strict=True)
                if row
            ]
            made.append((title + aside, rows))
    return made


def row_cells(row: Row, catalogue: Catalogue) -> dict[str, str]:
    """Return all that is said of a row, by the headings of its columns. Of one with an error
    nothing is made but its net."""
    stats = row.cycles.stats if row.cycles else None
    moved = catalogue.bytes_moved(row.id, row.params)
    return {
        "net cycles": number(row.net),
        "range": range_of(row),
        "spread": number(stats.max - stats.min) if stats and stats.max != stats.min else "",
        "instr": number(row.instructions),
        "per op": "–" if row.errors else trimmed(text.rounded(row.per_op), 3),
        "µs per op": "–" if row.errors else trimmed(row.us),
        "MB/s": "–" if row.errors else trimmed(row.mb_per_s(moved)),
        "steady": row.steadiness or "–",
    }


# The first page, and comparisons.


def opt_level(result: Result) -> str:
    """Return the opt-level of its kernel, in words."""
    return f"opt-level {result.provenance.kernel.opt_level or UNKNOWN}"


def moved(rows: Iterable[RowVerdict]) -> list[RowVerdict]:
    """Return the rows of both sides by how far they moved, the worst first."""
    return sorted((row for row in rows if row.before is not None), key=lambda row: row.sort_key)


# The section of a benchmark, on the page of its group.


@dataclass(frozen=True)
class KernelLine:
    """The rows of a benchmark on one kernel, under the condition of its group."""

    name: str
    group: ColumnGroup
    column: SiteColumn
    of: Named
    rows: dict[RowKey, Row]


def kernel_lines(site: Site, id_: str) -> list[KernelLine]:
    """Return a line for each kernel of which there is a leading result: on each machine and by each
    interface one, in the language that comes first."""
    found: dict[tuple[object, ...], list[KernelLine]] = {}
    for group in site.groups:
        for name, column, named in zip(group.names, group.columns, group.results, strict=True):
            rows = {key: row for key, row in column.rows.items() if row.id == id_}
            there = found.setdefault((site.kernel_of(named).page, group.machine, group.abi), [])
            if rows and not (there and there[0].group is not group):
                there.append(KernelLine(name, group, column, named, rows))
    return [line for lines in found.values() for line in lines]


def some_of(sets: dict[RowKey, str], most: int = 6) -> dict[RowKey, str]:
    """Return so many sets of parameters at most, the first and the last among them."""
    keys = list(sets)
    if len(keys) > most:
        keys = [keys[round(place * (len(keys) - 1) / (most - 1))] for place in range(most)]
    return {key: sets[key] for key in keys}


@dataclass(frozen=True)
class Bar:
    """A cost as a bar, in percent of the widest: its end, and the range over links."""

    name: str
    said: str
    at: float
    low: float
    high: float


def bars(lines: list[KernelLine], sets: dict[RowKey, str]) -> list[Bar]:
    """Return the costs of one operation as bars, under the condition of the first line: others are
    no measure of them."""
    same = [line for line in lines if line.group is lines[0].group]
    rows = [
        (f"{line.name}, {words}" if words and len(sets) > 1 else line.name, line.rows[key])
        for key, words in sets.items()
        for line in same
        if key in line.rows and line.rows[key].sound
    ]
    found = []
    for name, row in rows:
        nets = [net / row.inner for net in (row.cycles.nets if row.cycles else ())]
        if row.per_op is not None and nets:
            found.append((name, row, max(row.per_op, 0), max(min(nets), 0), max(*nets, 0)))
    widest = max((high for *_, high in found), default=0) or 1
    return [
        Bar(name, cost_words(row), *(round(100 * one / widest, 1) for one in ends))
        for name, row, *ends in found
    ]


def cost_words(row: Row) -> str:
    """Write the cycles of one operation, with its range over links and the time."""
    return f"{screen_cost(row)} cycles" + (f" ({said})" if (said := below(row)) else "")


def screen_cost(row: Row, timed: bool = True) -> str:
    """Return the cost of one operation as the first screen has it, in three digits."""
    counted = row.cycles if timed else row.instret
    return three_digits(counted.per_op if counted else None) + table.error_mark(row)


def below(row: Row) -> str:
    """Return what stands below a cost: its range over links, and the time."""
    nets = [net / row.inner for net in (row.cycles.nets if row.cycles else ())]
    ends = dict.fromkeys(map(three_digits, (min(nets), max(nets)) if len(nets) > 1 else ()))
    time = f"{three_digits(row.us)} µs" if row.us is not None and row.sound else ""
    return " · ".join(filter(None, ["–".join(ends), time]))


def three_digits(value: float | None) -> str:
    """Write a figure as the first screen has it: three digits, and a larger one whole."""
    return trimmed(text.three_digits(value), 3)


def anchor_of(site: Site, id_: str) -> str:
    """Return the id of a benchmark's section on its page."""
    return site.address(id_).partition("#")[2]


BODIES = Path(__file__).with_name("bodies.txt")  # which tools/pages/bodies.py makes
BOTH = (1, 2)


@dataclass(frozen=True)
class Body:
    """One measured procedure in assembly, disassembled out of the built apps, so that a page can
    show it where nothing is built: as it is for one version of the interface or for all."""

    name: str
    abis: tuple[int, ...]  # versions of the system-call interface that it is for
    listing: str  # an instruction a line: its offset in bytes, and what it is

    @property
    def heading(self) -> str:
        """Its name, and for which version it is if there are two."""
        return self.name + (f", interface version {self.abis[0]}" if self.abis != BOTH else "")

    @property
    def text(self) -> str:
        """The body as the file has it."""
        versions = " ".join(map(str, self.abis))
        return f"{self.name} {versions}\n{self.listing}\n"


@cache
def load_bodies() -> dict[str, tuple[Body, ...]]:
    """Return all bodies by name. One that differs between the versions of the interface is there
    twice."""
    found: dict[str, tuple[Body, ...]] = {}
    for block in BODIES.read_text(encoding="utf-8").split("\n\n")[1:]:
        head, _, listing = block.strip("\n").partition("\n")
        name, *abis = head.split()
        body = Body(name, tuple(map(int, abis)), listing)
        found[name] = (*found.get(name, ()), body)
    return found


def bodies_of(site: Site, id_: str) -> list[Body]:
    """Return the bodies in assembly of a benchmark."""
    known = site.catalogue.benchmarks.get(id_)
    return [
        body for name in (known.bodies if known else ()) for body in load_bodies().get(name, ())
    ]


MeasuredLine = tuple[Named, Lang, bool | None, dict[RowKey, Row]]


def measured(site: Site, id_: str) -> list[MeasuredLine]:
    """Return a line for each result, language and cache setting that has rows of a benchmark; a
    kernel's together, in the order in which whole results have the kernels."""
    every = [*site.leads, *(one for one in site.found.every if one not in site.leads)]
    titles = [one.result.provenance.kernel.title for one in every]
    lines = []
    for one in sorted(every, key=lambda one: titles.index(one.result.provenance.kernel.title)):
        own = _rows(one, id_)
        for lang, icache in product(LANGS, ICACHE):
            rows = {row.key[:2]: row for row in own if (row.lang, row.icache) == (lang, icache)}
            lines += [(one, lang, icache, rows)] if rows else []
    return lines


def variants(site: Site, id_: str) -> dict[RowKey, str]:
    """Return the sets of parameters that a benchmark was measured with, as they are called."""
    known = site.catalogue.benchmarks.get(id_)
    words = (
        {row_key(id_, params): label("", params) for params in known.variants()} if known else {}
    )
    rows = [row for one in site.found.every for row in _rows(one, id_)]
    for row in rows:
        words.setdefault(row.key[:2], label("", row.params))
    there = {row.key[:2] for row in rows}
    return {key: said.strip() for key, said in words.items() if key in there}


def _rows(one: Named, id_: str) -> list[Row]:
    return [row for row in one.result.table.values() if row.id == id_]


# Profiles.


def functions(profile: StoredProfile) -> Iterator[Share]:
    """Yield the dearest functions of a profile, and the others as one."""
    yield from profile.functions[:FUNCTIONS]
    if rest := profile.functions[FUNCTIONS:]:
        yield sum_shares(rest, f"{len(rest)} more functions")


def share(part: Share, profile: StoredProfile, digits: int) -> str:
    """Return the cycles of a part in percent of the sample's."""
    return text.percentage(part.cycles / (profile.cycles or 1), digits=digits)


def profiles_of(site: Site, id_: str) -> list[tuple[SiteKernel, StoredProfile]]:
    """Return the profiles of a benchmark, on each kernel."""
    return [(kernel, one) for kernel in site.kernels for one in kernel.profiles if one.id == id_]


def profile_anchor(site: Site, kernel: SiteKernel, profile: StoredProfile) -> str:
    """Return the id of a profile on the page of its kernel."""
    key = kernel.profiles.index(profile)
    name = f"profile-{profile.label}-cache-{ICACHE[profile.icache]}"
    return site.addresses.part(kernel.page, ("profile", key), name).partition("#")[2]


def flame_graph(profile: StoredProfile) -> Markup:
    """Return the flame graph as an element of a page. Its text comes escaped."""
    title = f"{profile.kernel.title}, {profile.board}, i-cache {ICACHE[profile.icache]}"
    svg = report.flame_graph(profile, title, report.total_in_words(profile))
    svg = svg[svg.index("<svg") :].replace(' xmlns="http://www.w3.org/2000/svg"', "", 1)
    return Markup(svg.replace("<svg", '<svg role="img" aria-label="flame graph"', 1))


# The page of what others published.


def studied(site: Site, study: Named) -> list[tuple[Row, list[Row | None]]]:
    """Return the study's rows, those that some result of ours has or that are corrected, each with
    ours without the cache, as the study measured."""
    ours = [
        {(*row.key[:2], row.lang): row for row in one.result.table.values() if not row.icache}
        for one in uncached(site)
    ]
    lines = []
    for row in study.result.table.values():
        beside = [rows.get((*row.key[:2], row.lang)) for rows in ours]
        if any(beside) or (row.published and row.published.corrected):
            lines.append((row, beside))
    return lines


def uncached(site: Site) -> list[Named]:
    """Return the leading results that have rows without the cache."""
    return [one for one in site.leads if any(not icache for icache in one.result.icaches)]


def measured_alike(one: Result, other: Result) -> bool:
    """Return whether both are of one machine and interface: then their numbers should be the
    same."""
    mine, others = one.provenance, other.provenance
    return (mine.board.chip, mine.abi) == (others.board.chip, others.abi)


# What a site says first, in sentences that are made when the page is made.
#

TOPICS = 3  # of a sentence in one direction; the comparison has all
EACH_WAY = 5  # rows of what moved most
LITTLE = 0.005  # of the flash: less is not told


@dataclass(frozen=True)
class SureFigure:
    """A figure that the rule calls sure, as a sentence shows it, and what it stands for: a group
    and a direction, a row, or the mean."""

    text: str
    of: str


Part = str | SureFigure
Sentence = list[Part]


def signed(ratio: float) -> str:
    """Write a change in percent without its unit, with its sign."""
    points = (ratio - 1) * 100
    return f"{'+' if points >= 0 else MINUS}{digits(abs(points))}"


def digits(points: float) -> str:
    """Write a share in percent: whole from 10 up, else with a digit behind the point."""
    return f"{points:.{0 if points >= 10 else 1}f}"


def span(low: float, high: float) -> str:
    """Write the range of a change."""
    ends = [signed(low), signed(high)]
    return f"{ends[0]} to {ends[1]} %" if ends[0] != ends[1] else f"{ends[0]} %"


def sure(row: RowVerdict) -> bool:
    """Return whether the cycles of a row surely changed by more than the margin."""
    return row.verdict in MOVED


@dataclass(frozen=True)
class Topic:
    """What surely moved in one direction, of the rows of one group with one cache setting."""

    group: str
    lower: bool
    moved: tuple[RowVerdict, ...]
    rows: int  # of the group that have a verdict

    @property
    def size(self) -> float:
        return max(row.size for row in self.moved)

    @property
    def figure(self) -> SureFigure:
        """From the least end of the intervals to the greatest."""
        ranges = [row.range for row in self.moved if row.range]
        ends = span(1 + min(low for low, _ in ranges), 1 + max(high for _, high in ranges))
        return SureFigure(ends, f"{self.group} {'lower' if self.lower else 'higher'}")

    @property
    def words(self) -> Sentence:
        """Name the group and its figure, with how many of its rows if not all."""
        many = len(self.moved)
        some = f"{many} of {self.rows} rows, " if many < self.rows else ""
        return [f"{group_in_sentence(self.group)} ({some}", self.figure, ")"]


def topics(pair: SitePair) -> list[Topic]:
    """Return what surely moved with the setting that is told first, the largest change first."""
    groups: dict[str, list[RowVerdict]] = {}
    for one in _told_first(pair):
        groups.setdefault(one.group, []).append(one)
    found = [
        Topic(group, verdict is Verdict.BETTER, moved, len(some))
        for group, some in groups.items()
        for verdict in MOVED
        if (moved := tuple(one for one in some if one.verdict is verdict))
    ]
    return sorted(found, key=lambda topic: -topic.size)


def _told_first(pair: SitePair) -> list[RowVerdict]:
    """Return the rows with a verdict in the leading language, with the setting told first."""
    judged = pair.judgement.rows_with(*JUDGED) if pair.judgement else []
    langs = {one.row.lang for one in judged}
    first = next((lang for lang in LANGS if lang in langs), None)
    return [one for one in judged if one.row.lang == first and one.row.icache is pair.icache]


def sentence(pair: SitePair) -> Sentence:
    """Say in one sentence what a pair has shown."""
    found, judgement = pair.comparison, pair.judgement
    assert found is not None
    assert judgement is not None
    base, new = pair.names
    slower, faster = (
        [one for one in topics(pair) if one.lower is lower] for lower in (False, True)
    )
    mean = found.mean
    if mean and mean_verdict(mean, found) in MOVED and bool(slower) is not bool(faster):
        more = "fewer" if faster else "more"
        ends = sorted(abs(end - 1) * 100 for end in (mean.change.low, mean.change.high))
        change = SureFigure(f"{digits(abs(mean.ratio - 1) * 100)} % {more} cycles", "mean")
        over = f"in the mean over {mean.benchmarks} benchmarks of the kernel"
        span_ = f"{digits(ends[0])} to {digits(ends[1])} %"
        return [f"{new} takes ", change, f" ({span_}) than {base}, {over}{_flash(pair)}."]
    said: Sentence = []
    for some, word in ((slower, "slower"), (faster, "faster")):
        if some:
            start = f"{new} is {word} than {base} at " if not said else f"; {word} at "
            said += [start, *_listed(some)]
    if said:
        return [*said, f"{_flash(pair)}."]
    return [f"{text.sentence(headline(judgement))}."]


def _listed(some: Sequence[Topic]) -> Sentence:
    said: Sentence = []
    named = some[:TOPICS]
    more = len(some) - len(named)
    for place, topic in enumerate(named):
        last = place == len(named) - 1 and not more
        said += [" and " if last else ", "] * (place > 0)
        said += topic.words
    return [*said, f" and {more} group{'s' if more > 1 else ''} more"] if more else said


def _flash(pair: SitePair) -> str:
    """Say how the flash of the kernels differs, if that is known and much."""
    one, two = (side.result.provenance.kernel.flash_bytes for side in (pair.base, pair.new))
    if not one or not two or abs(two / one - 1) < LITTLE:
        return ""
    return f"; flash {signed(two / one)} %"


def cost_sentence(site: Site) -> str:
    """Say what the operations of the first screen's first kernel take; nothing without a clock."""
    for group in site.groups[:1]:
        column = group.columns[0]
        costs = [
            f"{words} takes {us_of(row)}" if place == 0 else f"{words} {us_of(row)}"
            for place, (words, row) in enumerate(_costs(column, site.catalogue))
        ]
        if costs:
            several = len(costs) > 1
            listed = f"{', '.join(costs[:-1])} and {costs[-1]}" if several else costs[0]
            return f"On {group.names[0]} {listed}."
    return ""


def _costs(column: SiteColumn, catalogue: Catalogue) -> list[tuple[str, Row]]:
    keys = [
        (words, row_key(*single_row(catalogue, term))) for term, words in choices().costs.items()
    ]
    rows = [(words, column.rows.get(key)) for words, key in keys]
    return [(words, row) for words, row in rows if row and row.sound and row.us is not None]


def us_of(row: Row) -> str:
    """Write the time of one operation, with its range over links."""
    return f"{us(row.us)} µs" + (f" ({found})" if (found := us_range(row)) else "")


def us(value: float | None) -> str:
    """Write a time in µs with three digits."""
    rounded = text.three_digits(value)
    return text.NONE if rounded is None else text.trimmed(rounded)


def us_range(row: Row) -> str:
    """Write the least and the most time of one operation over links; nothing of one."""
    nets = row.cycles.nets if row.cycles else ()
    if len(nets) < 2 or not row.clock_hz:
        return ""
    least, most = (
        us(microseconds(net / row.inner, row.clock_hz)) for net in (min(nets), max(nets))
    )
    return least if least == most else f"{least} to {most}"


def moved_most(pair: SitePair) -> dict[str, list[RowVerdict]]:
    """Return what surely moved most, slower and faster: of each group one row, since what moves the
    rows of a group is mostly one thing."""
    found: dict[str, list[RowVerdict]] = {}
    for verdict in MOVED:
        moved = [one for one in _told_first(pair) if one.verdict is verdict]
        best: dict[str, RowVerdict] = {}
        for one in sorted(moved, key=lambda one: -one.size):
            best.setdefault(one.group, one)
        if best:
            found[verdict.capitalize()] = list(best.values())[:EACH_WAY]
    return found


def counts(pair: SitePair) -> dict[str, int]:
    """Count the verdicts of a comparison, by their words."""
    found = Counter(one.verdict for one in pair.judgement.rows) if pair.judgement else Counter()
    return {verdict.value: found[verdict] for verdict in Verdict if found[verdict]}


def mean_words(mean: Mean) -> str:
    """Write a mean with its range."""
    low, high = mean.change.low, mean.change.high
    known = span(low, high) if math.isfinite(high) else "spread unknown"
    return f"{signed(mean.ratio)} % ({known})"


def mean_verdict(mean: Mean, comparison: Comparison) -> Verdict:
    """Return what is said of a mean."""
    return verdict_of(mean.change, comparison.margin)


def without_figures(judgement: Judgement) -> dict[str, list[str]]:
    """Return the names of the rows that have no figures of both sides, by verdict and reason."""
    found: dict[str, list[str]] = {}
    for one in judgement.rows:
        if one.before is None:
            words = f"{one.verdict}: {one.why}" if one.why else str(one.verdict)
            found.setdefault(words, []).append(one.row.name)
    return found


def names_of_rows(catalogue: Catalogue) -> dict[RowKey, str]:
    """Return the labels of the first screen, by the rows that they stand for."""
    return {key: words for rows in screen(catalogue).values() for words, key in rows.items()}


def title(site: Site) -> str:
    """Return the title of the first page: whose costs it shows."""
    for group in site.groups[:1]:
        named = zip(group.names, group.results, strict=True)
        others = [name for name, one in named if not is_baseline(one)]
        names = list(dict.fromkeys(others or group.names))
        if len(names) <= TOPICS:
            listed = f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]
            return f"What {listed} {'cost' if len(names) > 1 else 'costs'}"
        return f"What {len(names)} kernels cost"
    return "What the operating system costs"
