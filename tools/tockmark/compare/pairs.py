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

from tockmark.base.errors import TockmarkError, print_message
from tockmark.compare.limits import Margins
from tockmark.compare.rule import (
    Change,
    Rule,
    Value,
    change,
    counts_in_mean,
    touches,
    value_of,
)
from tockmark.compare.spread import Spread, logs_of, mean_over_benchmarks
from tockmark.result.model import ABSENT_LISTS, Result, Row, comparable
from tockmark.result.provenance import same_simulator
from tockmark.suite.catalogue import (
    COUNTERS,
    CYCLECOUNT,
    ICACHE,
    LANGS,
    PERF,
    Catalogue,
    Key,
    Lang,
    RowName,
    lang_suffix,
)
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
    abi = str(provenance.abi or ", ".join(provenance.app_values("abi")))
    found = {
        "kernel": _hashed(kernel.name or kernel.file, kernel.sha256),
        "opt-level": kernel.opt_level,
        "ABI": f"version {abi}" if abi else "",
        "compiler": ", ".join(provenance.app_values("cc")),
        "language": ", ".join(provenance.app_values("lang")),
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
    trusted = CHECKED | ({"unchecked"} if of_cores else set())
    for factor in found:
        if factor.name == "timing" and {factor.base, factor.new} <= trusted:
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


def warn_uncounted(name: str, result: Result) -> None:
    """Say of a result that it has no instructions, if so: then its cycles alone count."""
    counter = result.provenance.counter
    if counter == CYCLECOUNT:
        print_message(
            f"{name} was read by {COUNTERS[counter]}, without instructions: only cycles count"
        )


def check_kind(base: Result, new: Result, name: str) -> None:
    """Refuse to judge a board's result by a simulator's, or the reverse: less is asked of a
    board's."""
    if base.simulated != new.simulated:
        kind = {True: "a simulator's", False: "a board's"}
        raise TockmarkError(
            f"{name} is {kind[new.simulated]}, but the baseline is {kind[base.simulated]}",
            "`tockmark board agree` compares the two; --force judges one by the other all the same",
        )


def _hashed(name: str | None, sha256: str | None) -> str:
    return " ".join([*([name] if name else []), *([f"sha256 {sha256[:12]}"] if sha256 else [])])


T = TypeVar("T")
Side = tuple[Result, Row]  # a row, and the result that has it
NO_MARGINS = Margins()  # the defaults count


def tables(
    items: Iterable[T], catalogue: Catalogue, row_of: Callable[[T], Row]
) -> list[tuple[str, list[T]]]:
    """Divide what has a row each into tables, in the catalogue's order: one for each section,
    language and cache setting, with its title."""
    return [
        (
            section
            + (f", i-cache {ICACHE[setting]}" if setting is not None else "")
            + lang_suffix(lang),
            same,
        )
        for section, found in catalogue.in_sections(items, lambda item: row_of(item).id)
        for lang in LANGS
        for setting in ICACHE
        if (same := [one for one in found if row_of(one).key[2:] == (setting, lang)])
    ]


@dataclass(frozen=True)
class RowPair:
    """A row of two results: of both, or of one."""

    base: Row | None
    new: Row | None
    # What the result without the row says of it: failed, skipped or missing, and why.
    gone: tuple[str, str | None] | None = None

    @property
    def row(self) -> Row:
        """Return the row of the first side that has it."""
        row = self.base or self.new
        assert row is not None
        return row


def pair_up(base: Result, new: Result, loosely: bool = False) -> list[RowPair]:
    """Pair rows by id, parameters, cache setting and language: those of the base first. `loosely`:
    where each side has one setting or language only, and not the same one, that is the very factor
    to compare, and rows pair whatever it is."""

    def compared(place: int) -> bool:
        one, two = ({key[place] for key in result.table} for result in (base, new))
        return len(one) == len(two) == 1 and one != two

    places = [0, 1, *(place for place in (2, 3) if not (loosely and compared(place)))]

    def keyed(result: Result) -> dict[object, Row]:
        return {tuple(key[place] for place in places): row for key, row in result.table.items()}

    before, after = keyed(base), keyed(new)
    lost, never = _gone(new), _gone(base)
    return [
        *(RowPair(row, after.get(key), lost.get(row.key)) for key, row in before.items()),
        *(
            RowPair(None, row, never.get(row.key))
            for key, row in after.items()
            if key not in before
        ),
    ]


def _gone(result: Result) -> dict[Key, tuple[str, str | None]]:
    """Return the rows that a result says are not there, in which of its lists, and why."""
    return {gone.key: (kind, gone.why) for kind in ABSENT_LISTS for gone in getattr(result, kind)}


def boot_mismatch(base: Side, new: Side) -> str | None:
    """Return why two rows cannot be held against each other for what else their boots ran, if so:
    with the cache on, what ran before decides which way of a set is filled next, and that moves
    samples. What readings cost is measured first of all."""
    parts = [result.provenance.benchmarks_run(row.boot, row.lang) for result, row in (base, new)]
    icaches = {base[1].icache, new[1].icache}
    if base[1].is_overhead or parts[0] == parts[1] or icaches == {False}:
        return None
    return (
        "its boot ran other rows of the group on one side, which moves samples with the i-cache on:"
        " give both runs the same --only"
    )


@dataclass(frozen=True)
class Lone:
    """A row that cannot be held against another, and why."""

    row: RowName
    why: str = ""

    @property
    def name(self) -> str:
        return self.row.name


@dataclass(frozen=True)
class Mean:
    """How the geometric mean of the benchmarks that touch the kernel changed."""

    change: Change
    benchmarks: int

    @property
    def ratio(self) -> float:
        assert self.change.ratio is not None
        return self.change.ratio


@dataclass(frozen=True)
class Pair:
    """One row of both sides, and how its series changed."""

    row: Row  # the base's
    new: Row
    values: dict[str, tuple[Value, Value]]  # of both sides, by the series
    changes: dict[str, Change]
    margin: float
    judged: bool  # it touches the kernel; the apps' own rows show the noise

    @property
    def cycles(self) -> Change:
        return self.changes["cycles"]

    @property
    def instret(self) -> Change | None:
        return self.changes.get("instret")


@dataclass(frozen=True)
class Comparison:
    """One result against its base, row by row."""

    name: str
    base: Result
    new: Result
    factors: list[Factor]
    pairs: list[Pair]
    gone: list[Lone]  # rows that the new result does not have as the base does
    added: list[Row]  # rows that only the new result has
    unusable: list[Lone]  # rows of which the base has no good figure
    few: list[Lone]  # rows whose samples are too few for a verdict
    margin: float  # of rows without one of their own
    rule: Rule

    @cached_property
    def sections(self) -> list[tuple[str, list[Pair]]]:
        """Return the pairs as tables have them."""
        return tables(self.pairs, self.rule.catalogue, lambda pair: pair.row)

    @property
    def judged(self) -> list[Pair]:
        """Return the pairs that have a verdict."""
        return [pair for pair in self.pairs if pair.judged]

    @property
    def links(self) -> tuple[int, int]:
        """Return the number of links of the kernels, the base's first."""
        return self.base.links, self.new.links

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
    def link_counts(self) -> tuple[str, str]:
        """Say in how many links each side was measured: rows in doubt in more than others."""
        said = []
        for side, most in enumerate(self.links):
            every = [pair.values["cycles"][side].links for pair in self.judged]
            least = min(every, default=most)
            said.append(f"{least} to {most}" if least < most else str(most))
        return said[0], said[1]

    @property
    def links_text(self) -> str:
        """Say in how many links both sides were measured, the base's first."""
        links = dict.fromkeys(self.link_counts)
        many = " against ".join(f"{count} link{'s' if count != '1' else ''}" for count in links)
        return f"{many} a side" if len(links) == 1 else many

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
        mean = change(base, new, self.rule.spread.mean_deviation(rows))
        return Mean(mean, len({row.id for row in rows}))


def _mean_value(values: list[tuple[Row, Value]], chance: float) -> Value:
    """Return the geometric mean over benchmarks in each layout, and of what the nets may be off, by
    their samples too."""
    logs = mean_over_benchmarks(
        (row, logs_of(one.nets) - math.log(one.inner)) for row, one in values
    )
    off = mean_over_benchmarks(
        (row, np.array([math.log1p(one.error / one.net) + max(one.sampling_error(chance))]))
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
    margins: Margins,
    known: Spread,
    force: bool = False,
    strict: bool = False,
) -> Comparison:
    """Compare a result, called `name`, with the baseline. `known` says how far rows spread over
    links. `strict`: the comparison shall be judged by limits, so refuse other cores and a board
    against a simulator."""
    check_timed("the baseline", base, force)
    check_timed(name, new, force)
    factors = differing_factors(base, new)
    check_factors(factors, name, force, cores=not strict)
    if strict and not force:
        check_kind(base, new, name)
    warn_uncounted(name, new)
    usable: list[tuple[Row, Row]] = []
    gone, added, unusable = [], [], []
    for pair in pair_up(base, new, loosely=True):
        if pair.base is None:
            added.append(pair.row)
        elif pair.base.unsound:
            unusable.append(Lone(pair.row, f"the baseline's {pair.base.unsound}"))
        elif pair.new is None:
            gone.append(Lone(pair.row, ": ".join(filter(None, pair.gone or ["it is not there"]))))
        else:
            before, after = comparable(pair.base, pair.new)
            why = after.unsound or boot_mismatch((base, before), (new, after))
            if why:
                gone.append(Lone(before, why))
            else:
                usable.append((before, after))
    if not usable:
        raise TockmarkError(
            f"{name} has no good row that the baseline has, too", "`tockmark table` shows both"
        )
    rule, pairs, few = _pairs(base, new, usable, catalogue, known, margins)
    if few and not any(pair.judged for pair in pairs):
        raise TockmarkError(
            f"{name} has no row with a verdict: {few[0].why}", "measure again without --samples"
        )
    return Comparison(
        name=name,
        base=base,
        new=new,
        factors=factors,
        pairs=pairs,
        gone=gone,
        added=added,
        unusable=unusable,
        few=few,
        margin=margins.general(base.simulated and new.simulated),
        rule=rule,
    )


def _pairs(
    base: Result,
    new: Result,
    usable: Sequence[tuple[Row, Row]],
    catalogue: Catalogue,
    known: Spread,
    margins: Margins,
) -> tuple[Rule, list[Pair], list[Lone]]:
    """Return the rule for the usable rows, how each changed, and those with too few samples."""
    simulated = base.simulated and new.simulated
    values_of_rows = [
        {
            series: (one, two)
            for series in SERIES
            if (one := value_of(base, before, series)) is not None
            and (two := value_of(new, after, series)) is not None
        }
        for before, after in usable
    ]
    vary = sum(
        one.varies or two.varies
        for (before, _), values in zip(usable, values_of_rows, strict=True)
        if touches(before, catalogue) == "kernel"
        for one, two in values.values()
    )
    rule = Rule.for_rows(usable, catalogue, known, vary)
    pairs: list[Pair] = []
    few: list[Lone] = []
    for (row, after), values in zip(usable, values_of_rows, strict=True):
        judged = rule.judges(row)
        if judged and (why := rule.too_few(itertools.chain(*values.values()))):
            few.append(Lone(row, why))
            continue
        counts = values.get("instret")
        other = counts is not None and counts[0].nets != counts[1].nets
        changes = {
            series: rule.change(row, series, *values[series], other)
            for series in rule.series(row)
            if series in values
        }
        margin = margins.of_row(row, simulated)
        pairs.append(Pair(row, after, values, changes, margin, judged))
    return rule, pairs, few
