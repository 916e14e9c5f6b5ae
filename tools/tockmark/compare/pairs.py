# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Two results as two sides: what each was measured with, whether they can be compared at all, which
of their rows pair, and how each row changed. Whoever compares results, or judges one by others,
does it by the one `Comparison` that is made here.

Cycles of another machine, clock or timing validity are other cycles, and are refused. The verb
`compare` asks of each row whether a result is the same as another, within a margin fixed before.
The margin makes a zone around the ratio 1, as far down as up: 1/(1+m) to 1+m. Instructions, which
do not depend on the layout, have half the margin.
"""

import itertools
import math
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
from msgspec import structs

from tockmark.compare.limits import Level, Margins
from tockmark.compare.rule import (
    Change,
    Rule,
    Spread,
    Value,
    Verdict,
    by_benchmark,
    change,
    counts_in_mean,
    logs_of,
    pooled,
    touches,
    value_of,
)
from tockmark.errors import TockmarkError, say
from tockmark.result.model import GONE, Result, Row, alike
from tockmark.result.provenance import BootRun, same_simulator
from tockmark.suite.catalogue import (
    COUNTERS,
    CYCLES_ALONE,
    ICACHE,
    LANGS,
    PERF,
    Catalogue,
    Key,
    Lang,
    aside,
)
from tockmark.suite.selection import Selection
from tockmark.wire.rows import SERIES

REFUSED = ("machine", "clock", "timing", "counter")
# Cycles of one machine, counted or checked: the simulator's and the board's can be compared.
CHECKED = {
    "hardware",
    "rtl",
    "checked-against-hardware",
    "checked-against-board",
    "checked-against-rtl",
}
UNKNOWN = "unknown"
# What a factor is that is not said; others are unknown then.
UNSAID = {"counter": COUNTERS[PERF], "core": "the machine's own"}


@dataclass(frozen=True)
class Factor:
    """Something that is not the same in both."""

    name: str
    base: str
    new: str


def factors_of(result: Result, langs: Collection[Lang] = LANGS) -> dict[str, str]:
    """Return all that a result says of how it was measured, in words; of its apps those in some
    languages only. What not every result has to say stands there only if it is known."""
    provenance = result.provenance.of_langs(langs)
    kernel, board = provenance.kernel, provenance.board
    abi = str(provenance.abi or ", ".join(provenance.said("abi")))
    found = {
        "kernel": _hashed(kernel.name or kernel.file, kernel.sha256),
        "opt-level": kernel.opt_level,
        "ABI": f"version {abi}" if abi else "",
        "compiler": ", ".join(provenance.said("cc")),
        "language": ", ".join(provenance.said("lang")),
        "i-cache": " and ".join(ICACHE[setting] for setting in result.icaches),
        "machine": board.machine,
        "clock": board.clock if board.clock_hz else "",
        "timing": board.timing,
        "simulator": _hashed("", board.simulator_sha256),
        "board": board.name,
        "catalogue": _hashed("", provenance.catalogue_sha256),
        "tool": provenance.tool.version,
    }
    known = {"flags": kernel.flags, "rustc": kernel.rustc}
    known["counter"] = "" if provenance.counter == PERF else COUNTERS[provenance.counter]
    known["core"] = board.core.title if board.core else ""
    return {
        **{name: text or UNKNOWN for name, text in found.items()},
        **{name: text for name, text in known.items() if text},
    }


def differing_factors(base: Result, new: Result) -> list[Factor]:
    """Return the factors that differ: what a difference of the figures can come from. The cache
    setting is one only if they have none in common: rows of the same setting are compared with each
    other. Likewise the language, and of the compilers only those of languages in common."""
    langs = set(base.langs) & set(new.langs) or LANGS
    one, two = factors_of(base, langs), factors_of(new, langs)
    shared = set(base.icaches) & set(new.icaches)
    before, after = (side.provenance.board.simulator_sha256 for side in (base, new))
    every = [(name, UNSAID.get(name, UNKNOWN)) for name in {**one, **two}]
    sides = [(name, one.get(name, unsaid), two.get(name, unsaid)) for name, unsaid in every]
    found = [
        Factor(name, was, is_)
        for name, was, is_ in sides
        if was != is_
        and not (name == "i-cache" and shared)
        and not (name == "simulator" and same_simulator(before, after))
    ]
    if base.layouts != new.layouts:
        found.append(Factor("layouts", str(base.layouts), str(new.layouts)))
    return found


def check_factors(found: list[Factor], name: str, force: bool, cores: bool = False) -> None:
    """Refuse what cannot be compared, unless told to. `cores`: two cores may be, and then a machine
    of another core, which is unchecked, with one that is not."""
    of_cores = cores and any(factor.name == "core" for factor in found)
    alike = CHECKED | ({"unchecked"} if of_cores else set())
    for factor in found:
        if factor.name == "timing" and {factor.base, factor.new} <= alike:
            continue
        if factor.name in (*REFUSED, *(() if cores else ("core",))) and not force:
            raise TockmarkError(
                f"{name} cannot be compared: {factor.name} is {factor.base} on one side,"
                f" {factor.new} on the other",
                "--force compares it all the same",
            )


def check_timed(name: str, result: Result, force: bool = False) -> None:
    """Refuse what has no cycles to judge, unless told to."""
    if not (result.provenance.board.counts_cycles or force):
        raise TockmarkError(
            f"{name} is {result.provenance.board.validity}: it has no cycles to judge",
            "give a run of the simulator or of a board",
        )


def say_uncounted(name: str, result: Result) -> None:
    """Say of a result that it has no instructions, if so: then its cycles alone count."""
    counter = result.provenance.counter
    if counter == CYCLES_ALONE:
        say(f"{name} was read by {COUNTERS[counter]}, without instructions: cycles alone count")


def check_origin(base: tuple[str, Result], new: tuple[str, Result]) -> None:
    """Refuse a simulated result that hides what it ran, which the base tells, and one that has
    other counts of the very same boots: a simulator would give the same ones again."""
    (name, before), (other, after) = base, new
    if not (before.simulated and after.simulated):
        return
    if before.provenance.layouts and not after.provenance.layouts:
        raise TockmarkError(
            f"{other} does not say which links and boots it ran, as {name} does",
            "give a result as `tockmark run` wrote it, not what `parse` made of its log",
        )
    if row := _other_counts(before, after):
        raise TockmarkError(
            f"{other} and {name} have the same kernel, apps and simulator, but other counts of"
            f" {row.name} in the boot {row.boot}",
            "`tockmark-lab verify` says which of them is not what it was",
        )


def _other_counts(base: Result, new: Result) -> Row | None:
    """Return the first row whose samples differ though the same was simulated."""
    one, two = base.provenance, new.provenance
    boards = [structs.replace(said.board, simulator_sha256=None) for said in (one, two)]
    if boards[0] != boards[1] or not same_simulator(
        one.board.simulator_sha256, two.board.simulator_sha256
    ):
        return None
    same = [
        (place, other)
        for place, layout in enumerate(one.layouts)
        for other, again in enumerate(two.layouts)
        if layout.sha256 and (layout.sha256, layout.seed) == (again.sha256, again.seed)
    ]
    linked = {(boot.boot, boot.lang): _linked(boot) for boot in one.boots}
    boots = {(b.boot, b.lang) for b in two.boots if linked.get((b.boot, b.lang)) == _linked(b)}
    rows = {(row.boot, row.key): row for row in base.rows if (row.boot, row.lang) in boots}
    for row in new.rows if same else ():
        before = rows.get((row.boot, row.key))
        for place, other in same if before is not None else ():
            assert before is not None
            there = place in before.layouts and other in row.layouts
            there = there and not _of_other_parts((base, before), (new, row))
            if there and before.samples[place] != row.samples[other]:
                return row
    return None


def _linked(boot: BootRun) -> list[object]:
    """Return what a boot's apps were linked of, from which kernel and places make their code."""
    return [slot.parts_sha256 or slot for slot in boot.slots]


def _hashed(name: str | None, sha256: str | None) -> str:
    return " ".join([*([name] if name else []), *([f"sha256 {sha256[:12]}"] if sha256 else [])])


T = TypeVar("T")
Side = tuple[Result, Row]  # a row, and the result in which it stands
NO_MARGINS = Margins()  # given: the defaults count
Usable = tuple[Sequence[Side], Side]  # a row of the bases, and of the new result


def tables(
    items: Iterable[T], catalogue: Catalogue, row_of: Callable[[T], Row]
) -> list[tuple[str, list[T]]]:
    """Divide what has a row each into tables, in the catalogue's order: one for each section,
    language and cache setting, with its title."""
    return [
        (
            section + (f", i-cache {ICACHE[setting]}" if setting is not None else "") + aside(lang),
            same,
        )
        for section, found in catalogue.in_sections(items, lambda item: row_of(item).id)
        for lang in LANGS
        for setting in ICACHE
        if (same := [one for one in found if row_of(one).key[2:] == (setting, lang)])
    ]


@dataclass(frozen=True)
class RowPair:
    """A row wherever it stands: in the bases that have it, and in the new result."""

    bases: tuple[Side, ...]
    new: Row | None
    # What the side without it says of it: that it is failed, skipped or missing, and why.
    gone: tuple[str, str | None] | None = None

    @property
    def row(self) -> Row:
        """Return the row of the first side that has it."""
        row = self.bases[0][1] if self.bases else self.new
        assert row is not None
        return row


def pair_up(bases: Sequence[Result], new: Result, loosely: bool = False) -> list[RowPair]:
    """Pair rows by id, parameters, cache setting and language: those of the bases first. `loosely`:
    where each side has one setting or language only, and not the same one, that is the very factor
    to compare, and rows pair whatever it is."""

    def settings(results: Sequence[Result], place: int) -> set[object]:
        return {key[place] for result in results for key in result.table}

    def compared(place: int) -> bool:
        one, two = settings(bases, place), settings([new], place)
        return len(one) == len(two) == 1 and one != two

    places = [0, 1, *(place for place in (2, 3) if not (loosely and compared(place)))]

    def keyed(result: Result) -> dict[object, Row]:
        return {tuple(key[place] for place in places): row for key, row in result.table.items()}

    before: dict[object, list[Side]] = {}
    for base in bases:
        for key, row in keyed(base).items():
            before.setdefault(key, []).append((base, row))
    after = keyed(new)
    lost, never = _gone([new]), _gone(bases)
    return [
        *(RowPair(tuple(s), after.get(key), lost.get(s[0][1].key)) for key, s in before.items()),
        *(RowPair((), row, never.get(row.key)) for key, row in after.items() if key not in before),
    ]


def _gone(results: Iterable[Result]) -> dict[Key, tuple[str, str | None]]:
    """Return the rows that results say are not there, in which of their lists, and why."""
    return {
        gone.key: (kind, gone.why)
        for result in results
        for kind in GONE
        for gone in getattr(result, kind)
    }


def booted_otherwise(base: Side, new: Side) -> str | None:
    """Return why two rows cannot be held against each other for what else their boots ran, if so;
    what readings cost is measured first of all."""
    if base[1].is_overhead or not _of_other_parts(base, new):
        return None
    return (
        "its boot ran other rows of the group on one side, which moves samples with the i-cache on:"
        " give both runs the same --only"
    )


def _of_other_parts(base: Side, new: Side) -> bool:
    """Return whether two cached boots ran different benchmarks of a group: what ran before decides
    which way of a set of the cache is filled next, and that moves samples."""
    parts = [result.provenance.part(row.boot, row.lang) for result, row in (base, new)]
    return parts[0] != parts[1] and {base[1].icache, new[1].icache} != {False}


@dataclass(frozen=True)
class Lone:
    """A row that cannot be held against another, and why, if that is known."""

    name: str
    why: str = ""


@dataclass(frozen=True)
class Mean:
    """The geometric mean of the ratios of the benchmarks that touch the kernel."""

    ratio: float
    low: float
    high: float
    verdict: Verdict
    benchmarks: int


@dataclass(frozen=True)
class Pair:
    """One row of both sides, and how its series changed. A row of the apps' own has no verdict."""

    row: Row  # the base's
    values: dict[str, tuple[Value, Value]]  # of both sides, by the series
    changes: dict[str, Change]
    margin: float
    judged: bool

    @property
    def cycles(self) -> Change:
        return self.changes["cycles"]

    @property
    def instret(self) -> Change | None:
        return self.changes.get("instret")

    def time_beside(self, series: str) -> Change | None:
        """Return how its cycles changed, which is said beside its instructions."""
        return self.cycles if series == "instret" else None

    @property
    def verdict(self) -> Verdict | None:
        """Return what is said of its cycles."""
        return self.verdicts.get("cycles")

    @property
    def retired(self) -> Verdict | None:
        """Return what is said of its instructions."""
        return self.verdicts.get("instret")

    @cached_property
    def verdicts(self) -> dict[str, Verdict]:
        """Return what is said of each series; nothing of a row that has no verdict."""
        return {
            series: found.verdict(self.margin if series == "cycles" else self.margin / 2)
            for series, found in self.changes.items()
            if self.judged
        }


@dataclass(frozen=True)
class Finding:
    """What is to be said of one row, and how bad it is: that it is gone, unless it is `Moved`."""

    level: Level
    row: Row  # the base's
    why: str

    @property
    def place(self) -> tuple[int, float]:
        """Return its place in a list: the worst come first, and among these the largest."""
        return -self.level, -math.inf


@dataclass(frozen=True)
class Moved(Finding):
    """One series of a row that moved."""

    series: str
    change: Change  # of one operation
    time: Change | None = None  # of instructions: how its cycles changed

    @property
    def place(self) -> tuple[int, float]:
        return -self.level, -self.change.size


@dataclass(frozen=True)
class Comparison:
    """One result against its base, row by row."""

    name: str
    factors: list[Factor]
    pairs: list[Pair]
    only_base: list[Lone]
    only_new: list[Lone]
    unusable: list[Lone]  # on both sides, but not with figures that can be compared
    margin: float  # of rows without one of their own
    rule: Rule
    links: tuple[int, int]  # of the kernels, the base's first

    @cached_property
    def sections(self) -> list[tuple[str, list[Pair]]]:
        """Return the pairs as tables have them."""
        return tables(self.pairs, self.rule.catalogue, lambda pair: pair.row)

    @property
    def in_order(self) -> list[Pair]:
        """Return the pairs in the order of the tables."""
        return [pair for _, pairs in self.sections for pair in pairs]

    @property
    def judged(self) -> list[Pair]:
        """Return the pairs that have a verdict."""
        return [pair for pair in self.pairs if pair.judged]

    @property
    def mean(self) -> Mean | None:
        """Return the mean of the leading language, if it has one."""
        return next(iter(self.means.values()), None)

    @cached_property
    def means(self) -> dict[Lang, Mean]:
        """Return the mean over the rows of each language."""
        found = {lang: self._geometric_mean(lang) for lang in LANGS}
        return {lang: mean for lang, mean in found.items() if mean}

    @property
    def links_words(self) -> tuple[str, str]:
        """Say in how many links each side was measured: rows in doubt in more than others."""
        said = []
        for side, most in enumerate(self.links):
            every = [pair.values["cycles"][side].links for pair in self.judged]
            least = min(every, default=most)
            said.append(f"{least} to {most}" if least < most else str(most))
        return said[0], said[1]

    @property
    def links_said(self) -> str:
        """Say in how many links both sides were measured, the base's first."""
        links = dict.fromkeys(self.links_words)
        many = " against ".join(f"{count} link{'s' if count != '1' else ''}" for count in links)
        return f"{many} a side" if len(links) == 1 else many

    def moved(self) -> list[Moved]:
        """Return what is relevant, the instructions of a row before its cycles."""
        return [
            Moved(Level.PASS, pair.row, "", series, pair.changes[series], pair.time_beside(series))
            for pair in self.in_order
            for series in reversed(SERIES)
            if pair.verdicts.get(series) is Verdict.RELEVANT
        ]

    def _geometric_mean(self, lang: Lang) -> Mean | None:
        """Return the mean of the logarithms in each layout, with how far these means spread: one
        link may move many rows together. It is of the rows that every layout has, whose base is in
        this language."""
        found = [
            (pair.row, *pair.values["cycles"])
            for pair in self.pairs
            if pair.row.lang == lang and counts_in_mean(pair.row, self.rule.catalogue)
        ]
        found = [one for one in found if min(*one[1].nets, *one[2].nets) > 0]
        most = max(((len(base.nets), len(new.nets)) for _, base, new in found), default=None)
        found = [one for one in found if (len(one[1].nets), len(one[2].nets)) == most]
        if not found:
            return None
        rows = [row for row, _, _ in found]
        base = _mean_value([(row, value) for row, value, _ in found], self.rule.chance)
        new = _mean_value([(row, value) for row, _, value in found], self.rule.chance)
        mean = change(base, new, self.rule.known.of_mean(rows))
        assert mean.ratio is not None
        many = len({row.id for row in rows})
        return Mean(mean.ratio, mean.low, mean.high, mean.verdict(self.margin), many)


def _mean_value(values: list[tuple[Row, Value]], chance: float) -> Value:
    """Return the geometric mean over benchmarks in each layout, and of what the nets may be off, by
    their samples too."""
    logs = by_benchmark((row, logs_of(one.nets) - math.log(one.inner)) for row, one in values)
    off = by_benchmark(
        (row, np.array([math.log1p(one.error / one.net) + max(one.unsure(chance))]))
        for row, one in values
    )
    nets = tuple(map(float, np.exp(logs)))
    error = float(np.expm1(off)[0]) * nets[0]
    return Value(nets, min(one.links for _, one in values), error)


def compare(
    base: Result,
    new: Result,
    name: str,
    catalogue: Catalogue,
    chosen: Margins,
    known: Spread,
    force: bool = False,
    only: Selection | None = None,
) -> Comparison:
    """Compare a result, called `name`, with the baseline. `known` says how far rows spread over
    links, and `only` limits it to some rows."""
    check_timed("the baseline", base, force)
    check_timed(name, new, force)
    factors = differing_factors(base, new)
    check_factors(factors, name, force, cores=True)
    check_origin(("the baseline", base), (name, new))
    say_uncounted(name, new)
    one, two = (result.only(only) if only else result for result in (base, new))
    rows = pair_up([one], two, loosely=True)
    usable: list[Usable] = []
    unusable = []
    for pair in rows:
        if pair.bases and pair.new:
            before, after = alike(pair.row, pair.new)
            sides = {"baseline": before.unsound, "new": after.unsound}
            why = next((f"{side}: {why}" for side, why in sides.items() if why), None)
            if why := why or booted_otherwise((base, before), (new, after)):
                unusable.append(Lone(before.name, why))
            else:
                usable.append(([(base, before)], (new, after)))
    if not usable:
        raise TockmarkError(
            f"{name} has no good row that the baseline has, too", "`tockmark table` shows both"
        )
    return comparison([base], (name, new), rows, usable, unusable, catalogue, known, chosen)


def comparison(
    bases: Sequence[Result],
    new: tuple[str, Result],
    rows: Sequence[RowPair],
    usable: Sequence[Usable],
    unusable: list[Lone],
    catalogue: Catalogue,
    known: Spread,
    chosen: Margins = NO_MARGINS,
) -> Comparison:
    """Say how the usable rows changed. The layouts of several bases count as those of one."""
    name, result = new
    simulated = all(one.simulated for one in (*bases, result))
    every = [
        (sides, {series: found for series in SERIES if (found := _values(sides, side, series))})
        for sides, side in usable
    ]
    vary = sum(
        one.varies or two.varies
        for sides, values in every
        if touches(sides[-1][1], catalogue) == "kernel"
        for one, two in values.values()
    )
    both = [(sides[-1][1], row) for sides, (_, row) in usable]
    rule = Rule.for_rows(both, catalogue, known, vary)
    pairs = []
    few: list[Lone] = []
    for sides, values in every:
        row = sides[-1][1]
        if rule.judges(row) and (why := rule.too_few(itertools.chain(*values.values()))):
            few.append(Lone(row.name, why))
            continue
        before, after = values.get("instret", (None, None))
        other = bool(before and after and before.nets != after.nets)
        changes: dict[str, Change] = {
            series: rule.change(row, series, *values[series], other)
            for series in rule.series(row)
            if series in values
        }
        margin = chosen.of_row(row, simulated)
        pairs.append(Pair(row, values, changes, margin, rule.judges(row)))
    if few and not any(pair.judged for pair in pairs):
        raise TockmarkError(
            f"{name} has no row with a verdict: {few[0].why}",
            "measure again without --samples",
        )
    links = {base.provenance.kernel.sha256: base.links for base in bases}
    return Comparison(
        name=name,
        factors=differing_factors(bases[0], result),
        pairs=pairs,
        only_base=[Lone(pair.row.name) for pair in rows if pair.new is None],
        only_new=[Lone(pair.row.name) for pair in rows if not pair.bases],
        unusable=[*unusable, *few],
        margin=chosen.general(simulated),
        rule=rule,
        links=(sum(links.values()), result.links),
    )


def _values(bases: Sequence[Side], new: Side, series: str) -> tuple[Value, Value] | None:
    """Return what both sides say of a series of a row; None if one of them says nothing."""
    before = [
        (value, result.provenance.kernel.sha256)
        for result, row in bases
        if (value := value_of(result, row, series)) is not None
    ]
    after = value_of(*new, series)
    return (pooled(before), after) if before and after is not None else None
