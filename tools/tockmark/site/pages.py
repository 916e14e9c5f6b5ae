# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The measured bodies, disassembled: bodies.txt beside this file, which docs/make/bodies.py makes
from the apps that are built, so that a page can show a body where nothing is built.
"""

from collections import Counter
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path

from markupsafe import Markup

from tockmark.compare import history
from tockmark.compare.factors import Factor
from tockmark.compare.pairs import Comparison
from tockmark.compare.pairs import Pair as Judged
from tockmark.compare.rule import VERDICTS, Verdict
from tockmark.profile.attribute import CAUSES
from tockmark.profile.file import Share, StoredProfile, merged
from tockmark.profile.report import COLOURS, flame_graph, sample_told
from tockmark.result.model import Row, ratio
from tockmark.show import comparison as show_comparison
from tockmark.show import listing, text
from tockmark.show.table import Named, mark, readings, spread
from tockmark.site import rows as site_rows
from tockmark.site.model import SiteKernel, SitePair, Sorted
from tockmark.site.overview import moved
from tockmark.site.rows import (
    SiteLine,
    SiteSection,
    images,
    line,
    number,
    provenance,
    skipped,
    tables,
    trimmed,
)
from tockmark.suite.catalogue import ICACHE, LANGS, Benchmark, RowKey, label, row_key
from tockmark.suite.selection import Selection

FILE = Path(__file__).with_name("bodies.txt")
BOTH = (1, 2)


@dataclass(frozen=True)
class Body:
    """One procedure in assembly, as it is for one version of the interface or for all."""

    name: str
    abis: tuple[int, ...]  # versions of the system-call interface that it is for
    listing: str  # an instruction a line: its offset in bytes, and what it is

    @property
    def heading(self) -> str:
        """Its name, and for which version it is if there are two."""
        return self.name + (f", interface version {self.abis[0]}" if self.abis != BOTH else "")

    @property
    def text(self) -> str:
        """As the file has it."""
        versions = " ".join(map(str, self.abis))
        return f"{self.name} {versions}\n{self.listing}\n"


@cache
def load_bodies() -> dict[str, tuple[Body, ...]]:
    """All bodies by name. One that differs between the versions of the interface is there twice."""
    found: dict[str, tuple[Body, ...]] = {}
    for block in FILE.read_text(encoding="utf-8").split("\n\n")[1:]:
        head, _, listing = block.strip("\n").partition("\n")
        name, *abis = head.split()
        body = Body(name, tuple(map(int, abis)), listing)
        found[name] = (*found.get(name, ()), body)
    return found


# The page of a kernel: where it comes from, how large it is, where its cycles go, and every row
# that was measured of it.


FUNCTIONS = 12  # of a profile; the others in one line


@dataclass(frozen=True)
class KernelFacts:
    """One result of the kernel."""

    named: Named
    images: list[str]  # sha256 of the links that it was measured in, if there are several
    readings: list[str]  # what readings of the counters cost, which comes off
    errors: list[str]  # why it is incomplete
    skipped: list[str]
    baseline: Named | None  # that its rows are held against
    sections: list[SiteSection]


@dataclass(frozen=True)
class ProfilePart:
    """A phase or a function of a profile: its cycles, and its share of the sample."""

    name: str
    cycles: str
    share: str
    width: str  # of its bar, in percent
    colour: str
    causes: list[str]  # cycles by what they went to


@dataclass(frozen=True)
class Profiled:
    """Where the cycles of one sample went."""

    id: str
    label: str
    condition: str
    cycles: str
    instructions: str
    in_body: str  # of the cycles: the others are the readings' around it
    phases: list[ProfilePart]
    functions: list[ProfilePart]
    flame: Markup | None  # the picture of its stacks, if the file has them


@dataclass(frozen=True)
class KernelPage:
    """All of it."""

    kernel: SiteKernel
    facts: dict[str, list[str]]  # of each result; one alone where all say the same
    told: list[KernelFacts]
    profiles: list[Profiled]
    pairs: list[SitePair]  # with another result on the other side, or both of this kernel


def kernel_page(site: Sorted, kernel: SiteKernel, baselines: dict[str, Named]) -> KernelPage:
    """The page of one kernel; `baselines` by the names of results."""
    return KernelPage(
        kernel,
        _facts(kernel),
        [kernel_told(site, one, baselines.get(one.name)) for one in kernel.named],
        [profiled(one) for one in kernel.profiles],
        [p for p in site.pairs if p.page and (p.base in kernel.named or p.new in kernel.named)],
    )


def _facts(kernel: SiteKernel) -> dict[str, list[str]]:
    found = [provenance(one.result) for one in kernel.named]
    every = {fact: [one[fact] for one in found] for fact in (found[0] if found else ())}
    return {fact: list(dict.fromkeys(v)) if len(set(v)) == 1 else v for fact, v in every.items()}


def kernel_told(site: Sorted, one: Named, baseline: Named | None) -> KernelFacts:
    """What is said of one result."""
    result = one.result
    return KernelFacts(
        one,
        images(result),
        readings(result),
        list(result.incomplete),
        skipped(result),
        baseline,
        tables(one, site.catalogue, baseline),
    )


def profiled(profile: StoredProfile) -> Profiled:
    """A profile as bars: by phase, and by function."""
    rest = profile.functions[FUNCTIONS:]
    functions = [_part(profile, share) for share in profile.functions[:FUNCTIONS]]
    if rest:
        functions.append(_part(profile, merged(rest, f"{len(rest)} more functions")))
    return Profiled(
        profile.id,
        label(profile.id, profile.params),
        f"{profile.board}, i-cache {ICACHE[profile.icache]}",
        number(profile.cycles),
        number(profile.instructions),
        number(profile.in_body),
        [_part(profile, share) for share in profile.phases],
        functions,
        _flame(profile),
    )


def _flame(profile: StoredProfile) -> Markup | None:
    """Return the flame graph as an element of a page. Its text comes escaped."""
    if not profile.stacks:
        return None
    title = f"{profile.kernel.title}, {profile.board}, i-cache {ICACHE[profile.icache]}"
    svg = flame_graph(profile, title, sample_told(profile))
    svg = svg[svg.index("<svg") :].replace(' xmlns="http://www.w3.org/2000/svg"', "", 1)
    return Markup(svg.replace("<svg", '<svg role="img" aria-label="flame graph"', 1))


def _part(profile: StoredProfile, share: Share) -> ProfilePart:
    part = share.cycles / (profile.cycles or 1)
    causes: dict[str, int] = {str(cause): cycles for cause, cycles in share.causes.items()}
    return ProfilePart(
        share.name,
        number(share.cycles),
        text.points(part, digits=1),
        f"{part * 100:.2f}",
        COLOURS.get(share.name, "#b9b9b9"),
        [number(causes.get(cause)) for cause in CAUSES],
    )


# The page of a benchmark: what it means, what its body is, and its figures wherever it was
# measured.


@dataclass(frozen=True)
class Figure:
    """One set of parameters: net cycles of an operation, and their range over layouts."""

    per_op: str
    range: str
    instructions: str
    error: str


@dataclass(frozen=True)
class MeasuredOn:
    """A line: one kernel in one result, with one cache setting, in one language."""

    kernel: SiteKernel
    named: Named
    condition: str  # opt-level, machine, version of the interface
    lang: str
    icache: str
    layouts: int
    figures: list[Figure | None]  # by parameters
    whole: SiteLine | None  # all that is said of the row, where there is one set of parameters only


@dataclass(frozen=True)
class BenchmarkPage:
    """All of it."""

    id: str
    known: Benchmark | None
    section: str
    bodies: list[Body]
    variants: list[str]  # sets of parameters, as they are called
    measured: list[MeasuredOn]
    profiles: list[tuple[SiteKernel, Profiled]]
    history: list[tuple[str, str, list[str]]]  # label, setting, cells
    pictures: list[tuple[str, Markup]]


def ids(site: Sorted) -> list[str]:
    """The benchmarks that have a page: all of the catalogue, and whatever else was measured."""
    rows = [id_ for one in site.found.every for id_, *_ in one.result.table]
    return list(dict.fromkeys([*site.catalogue.benchmarks, *rows]))


def address(site: Sorted, id_: str) -> str:
    """Where the page of a benchmark is."""
    return site.addresses.page("benchmark", id_, id_)


def benchmark_page(site: Sorted, id_: str) -> BenchmarkPage:
    """The page of one benchmark."""
    known = site.catalogue.benchmarks.get(id_)
    meant = Selection(site.catalogue, (id_,))
    keys: dict[RowKey, str] = {}
    for params in known.variants() if known else []:
        keys[row_key(id_, params)] = label("", params).strip()
    rows = _rows(site, id_)
    for _, row in rows:
        keys.setdefault(row.key[:2], label("", row.params).strip())
    there = {row.key[:2] for _, row in rows}
    keys = {key: words for key, words in keys.items() if key in there}
    return BenchmarkPage(
        id_,
        known,
        site.catalogue.section_of(id_),
        [body for name in (known.bodies if known else ()) for body in load_bodies().get(name, ())],
        list(keys.values()),
        _measured(site, rows, list(keys)),
        [(k, profiled(one)) for k in site.kernels for one in k.profiles if one.id == id_],
        _history(site, meant),
        [*site_rows.benchmark_pictures(_drawn(site), id_), *_trail(site, meant)],
    )


def _rows(site: Sorted, id_: str) -> list[tuple[Named, Row]]:
    return [
        (one, row) for one in site.found.every for row in one.result.table.values() if row.id == id_
    ]


def _drawn(site: Sorted) -> list[Named]:
    """The results that pictures show: those of the first group."""
    if not site.beside:
        return []
    return [Named(column.name, column.result) for column in site.beside[0].columns]


def _measured(site: Sorted, rows: list[tuple[Named, Row]], keys: list[RowKey]) -> list[MeasuredOn]:
    """A line for each result, language and cache setting that has a row; a kernel's together, in
    the order in which whole results have the kernels."""
    made = []
    by_result: dict[str, list[Row]] = {}
    for one, row in rows:
        by_result.setdefault(one.name, []).append(row)
    others = [one for one in site.found.every if one not in site.leads]
    every = [*site.leads, *others]
    titles = [one.result.provenance.kernel.title for one in every]
    for one in sorted(every, key=lambda one: titles.index(one.result.provenance.kernel.title)):
        own = by_result.get(one.name, [])
        for lang, icache in product(LANGS, (True, False, None)):
            found = {row.key[:2]: row for row in own if (row.lang, row.icache) == (lang, icache)}
            if found:
                made.append(
                    MeasuredOn(
                        site.kernel_of(one),
                        one,
                        _condition(one),
                        LANGS[lang],
                        ICACHE[icache],
                        one.result.layouts,
                        [_figure(found.get(key)) for key in keys],
                        line(found[keys[0]], site.catalogue) if len(keys) == 1 else None,
                    )
                )
    return made


def _condition(one: Named) -> str:
    told = one.result.provenance
    level = f"opt-level {told.kernel.opt_level}, " if told.kernel.opt_level else ""
    machine = told.board.machine or told.board.name or "machine not known"
    return f"{level}{machine}{f', version {told.abi}' if told.abi else ''}"


def _figure(row: Row | None) -> Figure | None:
    if row is None:
        return None
    several = row.cycles is not None and len(row.cycles.nets) > 1
    return Figure(
        trimmed(text.rounded(row.per_op), 3) + mark(row),
        spread(row, row.inner) if several else "",
        number(row.instructions),
        "; ".join(row.errors),
    )


def _series(site: Sorted, meant: Selection) -> list[history.RowHistory]:
    """The rows over the runs, those with several runs only."""
    return [one for one in history.series(site.found.runs, meant) if len(one.points) > 1]


def _history(site: Sorted, meant: Selection) -> list[tuple[str, str, list[str]]]:
    return [(one.label, one.setting, listing.history_cells(one)) for one in _series(site, meant)]


def _trail(site: Sorted, meant: Selection) -> list[tuple[str, Markup]]:
    """The same as a picture: of the rows that changed, under the setting that has most of them."""
    changed = [one for one in _series(site, meant) if any(p.changed for p in one.points)]
    settings = Counter(one.setting for one in changed).most_common(1)
    some = [one for one in changed if one.setting == settings[0][0]]
    drawn = site_rows.history_picture(some, "history") if some else None
    return [("history", drawn)] if drawn else []


# The page of a comparison: what moved, first, and every row with the words of `compare`, which
# judges them.


@dataclass(frozen=True)
class PairLine:
    """A row of both, as `compare` shows it, and the ratio of its cycles."""

    id: str
    label: str
    icache: str
    lang: str
    base: str
    new: str
    ratio: str
    change: str
    interval: str
    instructions: str
    verdict: str
    kind: str  # for its colour: lower, higher, or none


@dataclass(frozen=True)
class PairPage:
    """All of it."""

    pair: SitePair
    base: SiteKernel
    new: SiteKernel
    told: str
    factors: list[Factor]
    summed: list[str]
    meaning: list[str]
    margin: str
    spread: str
    agreed: str | None
    lines: list[PairLine]


def pair_page(site: Sorted, pair: SitePair, comparison: Comparison) -> PairPage:
    """The page of one pair."""
    return PairPage(
        pair,
        site.kernel_of(pair.base),
        site.kernel_of(pair.new),
        show_comparison.comparison_headline(comparison),
        comparison.factors,
        show_comparison.totals(comparison, "B"),
        [text.sentence(VERDICTS[verdict].meaning) for verdict in Verdict],
        text.percent(comparison.margin),
        comparison.rule.known.title,
        show_comparison.agreement_headline(pair.agreement) if pair.agreement else None,
        pair_lines(moved(comparison.in_order)),
    )


def pair_lines(pairs: list[Judged]) -> list[PairLine]:
    """Rows in the order given."""
    return [_line(one) for one in pairs]


def _line(pair: Judged) -> PairLine:
    base, new, change, interval, instructions, verdict = show_comparison.pair_cells(pair)
    row = pair.row
    kind = ""
    if pair.verdict is Verdict.RELEVANT:
        kind = "lower" if pair.cycles.lower else "higher"
    return PairLine(
        row.id,
        row.label,
        ICACHE[row.icache],
        LANGS[row.lang],
        base,
        new,
        text.ratio(pair.cycles.ratio),
        change,
        interval,
        instructions,
        verdict,
        kind,
    )


# The page of what others published, beside our rows without the cache, as they measured.


@dataclass(frozen=True)
class Studied:
    """A row of the study, and what each result has for it: cycles of one operation, and these by
    the study's."""

    row: Row
    per_op: str
    ours: list[tuple[str, str]]


@dataclass(frozen=True)
class StudyPage:
    """All of it."""

    study: Named
    same: list[str]  # names of results that were measured as the study was
    names: list[str]
    lines: list[Studied]
    corrected: list[Row]


def study_page(site: Sorted, study: Named) -> StudyPage:
    """The study's rows, those that some result of ours has."""
    ours = [one for one in site.leads if any(i is not True for i in one.result.icaches)]
    tables = [_without_cache(one) for one in ours]
    lines, corrected = [], []
    for row in study.result.table.values():
        beside = [table.get((*row.key[:2], row.lang)) for table in tables]
        if any(beside) or (row.published and row.published.corrected):
            found = [
                (number(one.per_op if one and one.sound else None, 2), number(ratio(row, one), 3))
                for one in beside
            ]
            lines.append(Studied(row, number(row.per_op, 2), found))
        if row.published and row.published.corrected:
            corrected.append(row)
    same = [one.name for one in ours if _like(study, one)]
    return StudyPage(study, same, [one.name for one in ours], lines, corrected)


def _without_cache(one: Named) -> dict[object, Row]:
    return {
        (*row.key[:2], row.lang): row for row in one.result.table.values() if row.icache is not True
    }


def _like(study: Named, one: Named) -> bool:
    """Whether a result was measured as the study was: then its numbers should be the study's."""
    mine, other = one.result.provenance, study.result.provenance
    return (mine.board.machine, mine.abi) == (other.board.machine, other.abi)
