# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The content of a site's pages. The templates call these functions by name.

All figures come from result/model.py, and the verdicts from `tockmark compare`.
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
from tockmark.result.model import Result, Row, microseconds, range_ends
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
    setting,
)
from tockmark.suite.catalogue import ICACHE, LANGS, Catalogue, Lang, RowKey, label, row_key
from tockmark.suite.selection import screen, single_row

# The meaning of each timing.
TIMING: dict[Timing, str] = {
    "hardware": "Measured on hardware.",
    "rtl": "Simulated with the RTL of the whole chip, without any model. Not compared with a chip.",
    "checked-against-hardware": "Simulated. The model of this machine was compared with "
    "measurements on hardware and agrees within a stated bound (docs/trust.md).",
    "checked-against-board": "Simulated. The model of this machine was compared with runs of the "
    "suite on such a board (docs/trust.md).",
    "checked-against-rtl": "Simulated. The model of this machine was compared with the chip's own "
    "RTL and agrees, except for the counts that docs/trust.md lists. Not compared with a chip. It "
    "is the FPGA's: silicon has no registers at the core's ports.",
    "unchecked": "The accuracy of these cycle counts is unknown: the log does not state its source,"
    " or this machine, or its core, was never compared with anything.",
    "functional-only": "The cycle counts are not a time: this machine only shows that the suite "
    "runs. Instruction counts are valid.",
}
UNKNOWN = "unknown"
TITLE = "What the kernel’s operations cost"  # of the first page
THIN, MINUS = "\u202f", "\u2212"
FUNCTIONS = 12  # of a profile; the others share one line

# Numbers.


def number(value: float | None, digits: int = 1) -> str:
    """Format a number with thin spaces between thousands and a true minus sign."""
    if value is None:
        return "–"
    return text.number(value, digits, ",").replace(",", THIN).replace("-", MINUS)


def trimmed(value: float | None, digits: int = 2) -> str:
    """Format a number without trailing zeros."""
    if value is None or value == round(value):
        return number(value)
    return number(value, digits).rstrip("0").rstrip(".")


def range_of(row: Row, inner: int = 1) -> str:
    """Format the range of a row's net cycles over layouts, divided by `inner`; nothing for a single
    layout."""
    return table.format_range(row, inner) if row.cycles and len(row.cycles.nets) > 1 else ""


def cost(row: Row, timed: bool = True, digits: int = 3) -> str:
    """Format the cycles or instructions of one operation, with "!" if the row has an error."""
    counted = row.cycles if timed else row.instret
    figure = counted.per_op if counted else None
    return trimmed(text.rounded(figure), digits) + table.error_mark(row)


# One result.


def conditions(result: Result) -> dict[str, str]:
    """Return the conditions of a result's figures, for one line of a table."""
    about = result.provenance
    return {
        "opt-level": about.kernel.opt_level or UNKNOWN,
        "machine": about.board.title,
        "clock": about.board.clock,
        "interface": f"version {about.abi}" if about.abi else UNKNOWN,
        "i-cache": " and ".join(ICACHE[setting] for setting in result.icaches),
        "apps in": " and ".join(LANGS[lang] for lang in result.langs),
        "layouts": table.format_layouts(result),
        "timing": about.board.validity,
        "date": about.date[:10],
    }


def condition(result: Result, leveled: bool = True) -> str:
    """Return the opt-level (if `leveled`), machine and interface version, as far as known."""
    about = result.provenance
    opt_level = about.kernel.opt_level if leveled else None
    level = f"opt-level {opt_level}, " if opt_level else ""
    return f"{level}{about.board.title}{f', version {about.abi}' if about.abi else ''}"


def provenance(result: Result) -> dict[str, str]:
    """Return the provenance of a result, in the order of the page."""
    about = result.provenance
    kernel, board = about.kernel, about.board

    def or_unknown(value: object, before: str = "", behind: str = "") -> str:
        return UNKNOWN if value in (None, "") else f"{before}{value}{behind}"

    return {
        "Kernel": kernel.title,
        "Kernel image": or_unknown(kernel.sha256, "sha256 "),
        "Optimisation": kernel.built if kernel.opt_level else UNKNOWN,
        "Rust compiler": or_unknown(kernel.rustc),
        "Built from commit": or_unknown(kernel.commit),
        "Flash": or_unknown(kernel.flash_bytes, behind=" bytes"),
        "RAM before the apps": or_unknown(kernel.ram_bytes, behind=" bytes"),
        "System-call interface": or_unknown(about.abi, "version "),
        "Board or machine": f"{or_unknown(board.name)} ({board.title})",
        "Clock": board.clock,
        "Timing": board.validity,
        "Simulator": or_unknown(board.simulator_sha256, "sha256 "),
        "Engine": or_unknown(board.simulated_by),
        "Made from": "our model of Ibex in C++"
        if board.engine == "fast"
        else f"Verilator {or_unknown(board.verilator)}, Ibex {or_unknown(board.ibex)}",
        "UART": or_unknown(board.uart_cycles_per_byte or None, behind=" cycles per byte"),
        "Layouts": table.format_layouts(result),
        "Boots": str(len(about.boots) or UNKNOWN),
        "Apps": ", ".join([*about.app_values("lang"), *about.app_values("cc")]) or UNKNOWN,
        "Catalogue": or_unknown(about.catalogue_sha256, "sha256 "),
        "Date": about.date,
        "Tool": f"{about.tool.name} {about.tool.version}, commit {or_unknown(about.tool.commit)}",
    }


def provenance_facts(kernel: SiteKernel) -> dict[str, list[str]]:
    """Return the provenance of a kernel's results, by fact; a single value if all agree."""
    every = [provenance(named.result) for named in kernel.named]
    values_by_fact = {
        fact: [facts_of_result[fact] for facts_of_result in every]
        for fact in (every[0] if every else ())
    }
    return {fact: v[:1] if len(set(v)) == 1 else v for fact, v in values_by_fact.items()}


def time_cells(site: Site, kernel: SiteKernel, keys: Iterable[RowKey]) -> Iterator[tuple[str, str]]:
    """Yield the time of these rows in µs and its range over links, in the leading language, with
    the cache on if possible."""
    for key in keys:
        timed_rows = [
            row
            for named in site.in_order(kernel)
            for row in (
                named.result.column(named.result.icaches[0], named.result.langs[0]).get(key),
            )
            if row and row.sound and row.us is not None
        ]
        yield (three_digits(timed_rows[0].us), us_range(timed_rows[0])) if timed_rows else ("–", "")


def kernel_images(result: Result) -> list[str]:
    """Return the hashes of the kernel's images if there are several."""
    hashes = dict.fromkeys(layout.sha256 for layout in result.provenance.layouts if layout.sha256)
    return list(hashes) if len(hashes) > 1 else []


def variant(row: Row) -> str:
    """Return a row's parameters, or its id if it has none."""
    return label("", row.params).strip() or row.id


def skipped_benchmarks(result: Result) -> list[str]:
    """Return a line for each benchmark that the kernel cannot run, with the reason."""
    whys: dict[tuple[str, str | None], set[str]] = {}
    for gone in result.skipped:
        whys.setdefault((gone.id, gone.why), set()).add(LANGS[gone.lang])
    every = {LANGS[lang] for lang in result.langs}
    return [
        f"{id_}{'' if langs >= every else ', ' + ' and '.join(sorted(langs))}: {why}"
        for (id_, why), langs in whys.items()
    ]


RowAndBaseline = tuple[Row, Row | None]  # a row, and the baseline's


def row_tables(
    named: Named, catalogue: Catalogue, baseline: Named | None
) -> list[tuple[str, list[RowAndBaseline]]]:
    """Return all rows of a result with the baseline's rows, by language and section."""
    sections = []
    for _, result in table.split_by_language([(named.name, named.result)]):
        lang = result.langs[0]
        columns = [result.column(icache, lang) for icache in result.icaches]
        others: list[dict[RowKey, Row]] = [
            baseline.result.column(icache, lang) if baseline else {} for icache in result.icaches
        ]
        aside = f", {LANGS[lang]}" if len(named.result.langs) > 1 else ""
        for title, lines in table.sections(columns, catalogue):
            rows = [
                (row, other.get(row_key(line.id, line.params)))
                for line in lines
                for row, other in zip(line.rows, others, strict=True)
                if row
            ]
            sections.append((title + aside, rows))
    return sections


def row_cells(row: Row, catalogue: Catalogue) -> dict[str, str]:
    """Return the cells of a row by column heading. Nothing is computed from the net of a row with
    an error."""
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
        "samples, links": distribution(row),
    }


BINS, WIDE, HIGH = 12, 60, 8  # of the picture of a distribution: its bars, and its size in px


def distribution(row: Row) -> Markup | str:
    """Draw the steady samples of the first layout as bars, and the nets of all links as ticks below
    them, on one scale; nothing if all are equal."""
    if row.cycles is None or row.errors:
        return ""
    samples = [net for s in row.cycles.steady if (net := row.cycles.net_of(s)) is not None]
    if row.cycles.is_slope:
        samples = []  # of several passes: not on the scale of a net
    nets = row.cycles.nets
    low, high = min((*samples, *nets), default=0), max((*samples, *nets), default=0)
    if low == high:
        return ""
    scale = (WIDE - 2) / (high - low)
    counts = Counter(min(int((net - low) * BINS / (high - low)), BINS - 1) for net in samples)
    most = max(counts.values(), default=1)
    step = WIDE // BINS
    bars = "".join(
        f"M{step * n + step // 2} {HIGH}v-{max(1, HIGH * count // most)}"
        for n, count in sorted(counts.items())
    )
    ticks = "".join(f"M{at}.5 9v4" for at in sorted({round((n - low) * scale) for n in nets}))
    # The columns next to it have the figures.
    return Markup(
        f'<svg class="dots" aria-hidden="true"><path d="{bars}"/><path d="{ticks}"/></svg>'
    )


# The first page, and comparisons.


def opt_level(result: Result) -> str:
    """Return the opt-level of a result's kernel, in words."""
    return f"opt-level {result.provenance.kernel.opt_level or UNKNOWN}"


def rows_address(site: Site, named: Named) -> str:
    """Return the path of the page with all rows of a result."""
    return site.addresses.page("rows", named.name, named.name)


# The section of a benchmark, on the page of its group.


@dataclass(frozen=True)
class KernelLine:
    """The rows of a benchmark on one kernel, under the condition of its group."""

    name: str
    group: ColumnGroup
    column: SiteColumn
    named: Named
    rows: dict[RowKey, Row]


def kernel_lines(site: Site, id_: str) -> list[KernelLine]:
    """Return a line for each kernel with a leading result, one per machine and interface, in the
    first language."""
    lines_by_kernel: dict[tuple[object, ...], list[KernelLine]] = {}
    for group in site.groups:
        for name, column, named in zip(group.names, group.columns, group.results, strict=True):
            rows = {key: row for key, row in column.rows.items() if row.id == id_}
            lines = lines_by_kernel.setdefault(
                (site.kernel_of(named).page, group.machine, group.abi), []
            )
            if rows and not (lines and lines[0].group is not group):
                lines.append(KernelLine(name, group, column, named, rows))
    return [line for lines in lines_by_kernel.values() for line in lines]


def shown_sets(
    sets: dict[RowKey, str], lines: list[KernelLine], most: int = 6
) -> dict[RowKey, str]:
    """Return at most `most` sets of parameters that a line has, evenly spaced, with the first and
    the last."""
    keys = [key for key in sets if any(key in line.rows for line in lines)]
    if len(keys) > most:
        keys = [keys[round(n * (len(keys) - 1) / (most - 1))] for n in range(most)]
    return {key: sets[key] for key in keys}


@dataclass(frozen=True)
class Bar:
    """A cost as a bar. The numbers are in percent of the widest bar."""

    name: str
    label: str
    end: float
    low: float  # the range over links
    high: float


def bars(lines: list[KernelLine], sets: dict[RowKey, str]) -> list[Bar]:
    """Return the costs of one operation as bars, of the lines with the same conditions as the
    first."""
    same = [line for line in lines if line.group is lines[0].group]
    rows = [
        (f"{line.name}, {words}" if words and len(sets) > 1 else line.name, line.rows[key])
        for key, words in sets.items()
        for line in same
        if key in line.rows and line.rows[key].sound
    ]
    drawn = []
    for name, row in rows:
        nets = [net / row.inner for net in (row.cycles.nets if row.cycles else ())]
        if row.per_op is not None and nets:
            drawn.append((name, row, max(row.per_op, 0), max(min(nets), 0), max(*nets, 0)))
    widest = max((high for *_, high in drawn), default=0) or 1
    return [
        Bar(name, f"{screen_cost(row)} cycles", *(round(100 * end / widest, 1) for end in ends))
        for name, row, *ends in drawn
    ]


def screen_cost(row: Row, timed: bool = True) -> str:
    """Format the cost of one operation with three digits, as on the first screen."""
    counted = row.cycles if timed else row.instret
    return three_digits(counted.per_op if counted else None) + table.error_mark(row)


def cost_details(row: Row) -> list[str]:
    """Return the range over links and the time in words, for the line below a cost."""
    nets = [net / row.inner for net in (row.cycles.nets if row.cycles else ())]
    ends = dict.fromkeys(map(three_digits, (min(nets), max(nets)) if len(nets) > 1 else ()))
    time = f"{three_digits(row.us)} µs" if row.us is not None and row.sound else ""
    return list(filter(None, ["–".join(ends), time]))


def three_digits(value: float | None) -> str:
    """Format a figure with three digits, or as a whole number from 100 up."""
    return trimmed(text.three_digits(value), 3)


def anchor_of(site: Site, id_: str) -> str:
    """Return the id of a benchmark's section on its page."""
    return site.address(id_).partition("#")[2]


BODIES = Path(__file__).with_name("bodies.txt")  # written by tools/pages/bodies.py
BOTH = (1, 2)


@dataclass(frozen=True)
class Body:
    """The disassembly of a measured procedure, so that pages can show it without a build."""

    name: str
    abis: tuple[int, ...]  # versions of the system-call interface that have this code
    listing: str  # one instruction per line, with its offset in bytes

    @property
    def heading(self) -> str:
        """The name, with the interface version unless the code is the same for both."""
        return self.name + (f", interface version {self.abis[0]}" if self.abis != BOTH else "")

    @property
    def text(self) -> str:
        """The body's text in the file."""
        versions = " ".join(map(str, self.abis))
        return f"{self.name} {versions}\n{self.listing}\n"


@cache
def load_bodies() -> dict[str, tuple[Body, ...]]:
    """Return all bodies by name: two of a name if the interface versions differ."""
    bodies: dict[str, tuple[Body, ...]] = {}
    for block in BODIES.read_text(encoding="utf-8").split("\n\n")[1:]:
        head, _, listing = block.strip("\n").partition("\n")
        name, *abis = head.split()
        body = Body(name, tuple(map(int, abis)), listing)
        bodies[name] = (*bodies.get(name, ()), body)
    return bodies


def bodies_of(site: Site, id_: str) -> list[Body]:
    """Return the assembly bodies of a benchmark."""
    benchmark = site.catalogue.benchmarks.get(id_)
    return [
        body
        for name in (benchmark.bodies if benchmark else ())
        for body in load_bodies().get(name, ())
    ]


def cell_heads(rows: Sequence[Row], catalogue: Catalogue) -> list[str]:
    """Return the columns of these rows: no throughput if none of them moves bytes."""
    moved = any(catalogue.bytes_moved(row.id, row.params) for row in rows)
    return [head for head in row_cells(rows[0], catalogue) if moved or head != "MB/s"]


MeasuredLine = tuple[Named, Lang, bool | None, dict[RowKey, Row]]


def measured_lines(site: Site, id_: str) -> list[MeasuredLine]:
    """Return a line for each result, language and cache setting with rows of a benchmark, grouped
    by kernel, kernels of leading results first."""
    every = [*site.leads, *(named for named in site.sources.every if named not in site.leads)]
    titles = [named.result.provenance.kernel.title for named in every]
    lines = []
    for named in sorted(
        every, key=lambda named: titles.index(named.result.provenance.kernel.title)
    ):
        own = site.rows_by_id.get((named.name, id_), [])
        for lang, icache in product(LANGS, ICACHE):
            rows = {row.key[:2]: row for row in own if (row.lang, row.icache) == (lang, icache)}
            lines += [(named, lang, icache, rows)] if rows else []
    return lines


def variants(site: Site, id_: str) -> dict[RowKey, str]:
    """Return the labels of the parameter sets that a benchmark was measured with."""
    benchmark = site.catalogue.benchmarks.get(id_)
    words = (
        {row_key(id_, params): label("", params) for params in benchmark.variants()}
        if benchmark
        else {}
    )
    rows = [
        row for named in site.sources.every for row in site.rows_by_id.get((named.name, id_), [])
    ]
    for row in rows:
        words.setdefault(row.key[:2], label("", row.params))
    measured_keys = {row.key[:2] for row in rows}
    return {key: name.strip() for key, name in words.items() if key in measured_keys}


# Profiles.


def functions(profile: StoredProfile) -> Iterator[Share]:
    """Yield the most expensive functions of a profile, and the sum of the others."""
    yield from profile.functions[:FUNCTIONS]
    if rest := profile.functions[FUNCTIONS:]:
        yield sum_shares(rest, f"{len(rest)} more functions")


def share(part: Share, profile: StoredProfile, digits: int) -> str:
    """Format the cycles of a part in percent of the sample's."""
    return text.percentage(part.cycles / (profile.cycles or 1), digits=digits)


def profiles_of(site: Site, id_: str) -> list[tuple[SiteKernel, StoredProfile]]:
    """Return the profiles of a benchmark on all kernels."""
    return [
        (kernel, profile)
        for kernel in site.kernels
        for profile in kernel.profiles
        if profile.id == id_
    ]


def profile_anchor(site: Site, kernel: SiteKernel, profile: StoredProfile) -> str:
    """Return the id of a profile on the page of its kernel."""
    key = kernel.profiles.index(profile)
    name = f"profile-{profile.label}-cache-{ICACHE[profile.icache]}"
    return site.addresses.part(kernel.page, ("profile", key), name).partition("#")[2]


def profile_setting(kernel: SiteKernel, profile: StoredProfile) -> str:
    """Return the conditions of a profile, whose sample is always simulated."""
    if kernel.named:
        return setting([kernel.named[0].result], profile.icache)
    return f"simulated by {profile.board}, i-cache {ICACHE[profile.icache]}"


def flame_address(site: Site, kernel: SiteKernel, profile: StoredProfile) -> str:
    """Return the path of a flame graph, which is a file of its own."""
    name = f"{kernel.title}-{profile.label}-cache-{ICACHE[profile.icache]}"
    return site.addresses.page("flame", (kernel.page, kernel.profiles.index(profile)), name, ".svg")


def flame_graph(profile: StoredProfile) -> str:
    """Return the flame graph as an SVG file."""
    title = f"{profile.kernel.title}, {profile.board}, i-cache {ICACHE[profile.icache]}"
    return report.flame_graph(profile, title, report.total_in_words(profile))


# The page of a study.


def study_rows(site: Site, study: Named) -> list[tuple[Row, list[Row | None]]]:
    """Return the study's rows that are corrected or that one of our results has, each with our rows
    with the cache off, as in the study."""
    ours = [
        {(*row.key[:2], row.lang): row for row in named.result.table.values() if not row.icache}
        for named in uncached(site, study)
    ]
    lines = []
    for row in study.result.table.values():
        our_rows = [rows.get((*row.key[:2], row.lang)) for rows in ours]
        if any(our_rows) or (row.published and row.published.corrected):
            lines.append((row, our_rows))
    return lines


def uncached(site: Site, study: Named) -> list[Named]:
    """Return the leading results that have rows with the cache off: first on the study's machine
    and interface, and kernels before baselines."""
    some = (named for named in site.leads if any(not icache for icache in named.result.icaches))
    return sorted(some, key=lambda n: (not same_setup(study.result, n.result), is_baseline(n)))


def same_setup(first: Result, other: Result) -> bool:
    """Return whether both have the same machine and interface, so that figures should agree."""
    mine, others = first.provenance, other.provenance
    return (mine.board.chip, mine.abi) == (others.board.chip, others.abi)


# The sentences at the top of a site.

TOPICS = 3  # at most this many groups per direction in a sentence
EACH_WAY = 5  # rows of the largest changes, per direction
LITTLE = 0.005  # smaller changes of the flash are not mentioned


@dataclass(frozen=True)
class CertainFigure:
    """A figure that is certain by the rule, as text."""

    text: str
    subject: str  # a group and direction, a row, or "mean"


Part = str | CertainFigure
Sentence = list[Part]


def signed(ratio: float) -> str:
    """Format a change in percent, with its sign and without the unit."""
    points = (ratio - 1) * 100
    return f"{'+' if points >= 0 else MINUS}{digits(abs(points))}"


def digits(points: float) -> str:
    """Format a percentage: whole from 10 up, else with one decimal."""
    return f"{points:.{0 if points >= 10 else 1}f}"


def span(low: float, high: float) -> str:
    """Format the range of a change in percent."""
    ends = [signed(low), signed(high)]
    return f"{ends[0]} to {ends[1]} %" if ends[0] != ends[1] else f"{ends[0]} %"


@dataclass(frozen=True)
class Topic:
    """The rows of one group that certainly changed in one direction, with one cache setting."""

    group: str
    lower: bool
    moved: tuple[RowVerdict, ...]
    rows: int  # all rows of the group with a verdict

    @property
    def size(self) -> float:
        return max(row.size for row in self.moved)

    @property
    def figure(self) -> CertainFigure:
        """The span of the rows' intervals."""
        ranges = [row.range for row in self.moved if row.range]
        ends = span(1 + min(low for low, _ in ranges), 1 + max(high for _, high in ranges))
        return CertainFigure(ends, f"{self.group} {'lower' if self.lower else 'higher'}")

    @property
    def words(self) -> Sentence:
        """The group with its figure, and the number of rows unless it is all of them."""
        many = len(self.moved)
        some = f"{many} of {self.rows} rows, " if many < self.rows else ""
        return [f"{group_in_sentence(self.group)} ({some}", self.figure, ")"]


def topics(pair: SitePair) -> list[Topic]:
    """Return the certain changes with the first cache setting, the largest first."""
    groups: dict[str, list[RowVerdict]] = {}
    for row in _leading_rows(pair):
        groups.setdefault(row.group, []).append(row)
    topics_ = [
        Topic(group, verdict is Verdict.BETTER, moved, len(some))
        for group, some in groups.items()
        for verdict in MOVED
        if (moved := tuple(row for row in some if row.verdict is verdict))
    ]
    return sorted(topics_, key=lambda topic: -topic.size)


def _leading_rows(pair: SitePair) -> list[RowVerdict]:
    """Return the rows with a verdict, in the leading language and the first cache setting."""
    judged = pair.judgement.rows_with(*JUDGED) if pair.judgement else []
    langs = {row.row.lang for row in judged}
    first = next((lang for lang in LANGS if lang in langs), None)
    return [row for row in judged if row.row.lang == first and row.row.icache is pair.icache]


def sentence(pair: SitePair) -> Sentence:
    """Return a sentence that sums up a comparison."""
    comparison, judgement = pair.comparison, pair.judgement
    assert comparison is not None
    assert judgement is not None
    base, new = pair.names
    slower, faster = (
        [topic for topic in topics(pair) if topic.lower is lower] for lower in (False, True)
    )
    mean = comparison.mean
    if mean and mean_verdict(mean, comparison) in MOVED and bool(slower) is not bool(faster):
        more = "fewer" if faster else "more"
        ends = sorted(abs(end - 1) * 100 for end in (mean.change.low, mean.change.high))
        change = CertainFigure(f"{digits(abs(mean.ratio - 1) * 100)} % {more} cycles", "mean")
        over = f"in the mean over {mean.benchmarks} benchmarks of the kernel"
        span_ = f"{digits(ends[0])} to {digits(ends[1])} %"
        return [f"{new} takes ", change, f" ({span_}) than {base}, {over}{_flash(pair)}."]
    parts: Sentence = []
    for some, word in ((slower, "slower"), (faster, "faster")):
        if some:
            start = f"{new} is {word} than {base} at " if not parts else f"; {word} at "
            parts += [start, *_listed(some)]
    if parts:
        return [*parts, f"{_flash(pair)}."]
    return [f"{text.sentence(headline(judgement))}."]


def _listed(some: Sequence[Topic]) -> Sentence:
    parts: Sentence = []
    named = some[:TOPICS]
    more = len(some) - len(named)
    for n, topic in enumerate(named):
        last = n == len(named) - 1 and not more
        parts += [" and " if last else ", "] * (n > 0)
        parts += topic.words
    return [*parts, f" and {more} more group{'s' if more > 1 else ''}"] if more else parts


def _flash(pair: SitePair) -> str:
    """Format the change in flash size, if it is known and not small."""
    base, new = (side.result.provenance.kernel.flash_bytes for side in (pair.base, pair.new))
    if not base or not new or abs(new / base - 1) < LITTLE:
        return ""
    return f"; flash {signed(new / base)} %"


def cost_sentence(site: Site) -> str:
    """Return a sentence with the costs of the first kernel; nothing without a clock."""
    for group in site.groups[:1]:
        column = group.columns[0]
        costs = [
            f"{words} takes {us_of(row)}" if n == 0 else f"{words} {us_of(row)}"
            for n, (words, row) in enumerate(_costs(column, site.catalogue))
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
    """Format the time of one operation, with its range over links."""
    return f"{three_digits(row.us)} µs" + (f" ({range_})" if (range_ := us_range(row)) else "")


def us_range(row: Row) -> str:
    """Format the range of one operation's time over links; nothing for a single link."""
    if len(row.samples) < 2 or not row.clock_hz:
        return ""
    times = (microseconds(net / row.inner, row.clock_hz) for net, _ in range_ends(row))
    return " to ".join(dict.fromkeys(map(three_digits, times)))


def largest_changes(pair: SitePair) -> dict[str, list[RowVerdict]]:
    """Return the largest certain changes for the worse and the better: one row per group, since
    rows of a group mostly change together."""
    largest: dict[str, list[RowVerdict]] = {}
    for verdict in MOVED:
        moved = [row for row in _leading_rows(pair) if row.verdict is verdict]
        best: dict[str, RowVerdict] = {}
        for row in sorted(moved, key=lambda row: -row.size):
            best.setdefault(row.group, row)
        if best:
            largest[verdict.capitalize()] = list(best.values())[:EACH_WAY]
    return largest


def counts(pair: SitePair) -> dict[str, int]:
    """Return the number of rows by verdict."""
    by_verdict = (
        Counter(row.verdict for row in pair.judgement.rows) if pair.judgement else Counter()
    )
    return {verdict.value: by_verdict[verdict] for verdict in Verdict if by_verdict[verdict]}


def mean_words(mean: Mean) -> str:
    """Format a mean with its range."""
    low, high = mean.change.low, mean.change.high
    range_ = span(low, high) if math.isfinite(high) else "spread unknown"
    return f"{signed(mean.ratio)} % ({range_})"


def mean_verdict(mean: Mean, comparison: Comparison) -> Verdict:
    """Return the verdict of a mean."""
    return verdict_of(mean.change, comparison.margin)


def without_figures(judgement: Judgement) -> dict[str, list[str]]:
    """Return the names of the rows without figures of both sides, by verdict and reason."""
    names_by_reason: dict[str, list[str]] = {}
    for row in judgement.rows:
        if row.before is None:
            words = f"{row.verdict}: {row.why}" if row.why else str(row.verdict)
            names_by_reason.setdefault(words, []).append(row.row.name)
    return names_by_reason


def names_of_rows(catalogue: Catalogue) -> dict[RowKey, str]:
    """Return the labels of the rows of the first screen."""
    return {key: words for rows in screen(catalogue).values() for words, key in rows.items()}
