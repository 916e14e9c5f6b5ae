# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The comparison of two results, row by row.

`compare` makes a `Comparison`: how the results were measured, which rows pair, and how each row
changed. It refuses results whose machine, clock or timing differ. All verbs that compare results
use it; compare/verdict.py judges it.

A margin m is a zone around the ratio 1, from 1/(1+m) to 1+m. Instructions have half the margin.
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
    change_of_cycles,
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
# The value of a factor that a result does not have; for other factors UNKNOWN.
UNSAID = {"counter": COUNTERS[PERF], "core": "the machine's own"}


@dataclass(frozen=True)
class Factor:
    """A condition of measuring that differs between two results."""

    name: str
    base: str
    new: str


def factors_of(result: Result, langs: Collection[Lang] = LANGS) -> dict[str, str]:
    """Return the conditions under which a result was measured, in words. Apps count in these
    languages only. Some conditions are missing if the result does not have them."""
    provenance = result.provenance.of_langs(langs)
    kernel, board = provenance.kernel, provenance.board
    abi = str(provenance.abi or ", ".join(provenance.app_values("abi")))
    factors = {
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
    optional = {"flags": kernel.flags, "rustc": kernel.rustc}
    optional["counter"] = "" if provenance.counter == PERF else COUNTERS[provenance.counter]
    optional["core"] = board.core.title if board.core else ""
    optional["SRAM seed"] = str(board.sram_seed or "")
    return {
        **{name: text or UNKNOWN for name, text in factors.items()},
        **{name: text for name, text in optional.items() if text},
    }


def differing_factors(base: Result, new: Result) -> list[Factor]:
    """Return the factors that differ, which can explain a difference of the figures.

    The cache setting and the language count only if the results share none: only rows with the
    same setting and language are compared. Compilers count only for shared languages."""
    langs = set(base.langs) & set(new.langs) or LANGS
    base_factors, new_factors = factors_of(base, langs), factors_of(new, langs)
    shared = set(base.icaches) & set(new.icaches)
    shared_benchmarks = {row.id for row in base.rows} & {row.id for row in new.rows}
    before, after = (side.provenance.board.simulator_sha256 for side in (base, new))
    every = [(name, UNSAID.get(name, UNKNOWN)) for name in {**base_factors, **new_factors}]
    sides = [
        (name, base_factors.get(name, unsaid), new_factors.get(name, unsaid))
        for name, unsaid in every
    ]
    differing = [
        Factor(name, was, is_)
        for name, was, is_ in sides
        if was != is_
        and not (name == "i-cache" and shared)
        and not (name == "simulator" and same_simulator(before, after, shared_benchmarks))
    ]
    if base.layouts != new.layouts:
        differing.append(Factor("layouts", str(base.layouts), str(new.layouts)))
    return differing


def check_factors(differing: list[Factor], name: str, force: bool, cores: bool = False) -> None:
    """Raise TockmarkError if a differing factor forbids a comparison, unless `force`. `cores`:
    allow different cores, and then also an unchecked machine."""
    of_cores = cores and any(factor.name == "core" for factor in differing)
    trusted = CHECKED | ({"unchecked"} if of_cores else set())
    for factor in differing:
        if factor.name == "timing" and {factor.base, factor.new} <= trusted:
            continue
        if factor.name in (*REFUSED, *(() if cores else ("core",))) and not force:
            raise TockmarkError(
                f"{name} cannot be compared: {factor.name} is {factor.base} on one side,"
                f" {factor.new} on the other",
                "use --force to compare them anyway",
            )


def check_timed(name: str, result: Result, force: bool = False) -> None:
    """Raise TockmarkError if a result has no cycles to judge, unless `force`."""
    if not (result.provenance.board.counts_cycles or force):
        raise TockmarkError(
            f"{name} is {result.provenance.board.validity}: it has no cycles to judge",
            "give a run of the simulator or of a board",
        )


def warn_uncounted(name: str, result: Result) -> None:
    """Print a message if a result has no instructions, so that only its cycles count."""
    counter = result.provenance.counter
    if counter == CYCLECOUNT:
        print_message(
            f"{name} was read by {COUNTERS[counter]}, without instructions: only cycles count"
        )


def _hashed(name: str | None, sha256: str | None) -> str:
    return " ".join([*([name] if name else []), *([f"sha256 {sha256[:12]}"] if sha256 else [])])


T = TypeVar("T")
Side = tuple[Result, Row]  # a row, and the result that has it
DEFAULT_MARGINS = Margins()


def tables(
    items: Iterable[T], catalogue: Catalogue, row_of: Callable[[T], Row]
) -> list[tuple[str, list[T]]]:
    """Group items by the section, language and cache setting of their row, in the catalogue's
    order. Return each group with its title."""
    return [
        (
            section
            + (f", i-cache {ICACHE[setting]}" if setting is not None else "")
            + lang_suffix(lang),
            same,
        )
        for section, section_items in catalogue.in_sections(items, lambda item: row_of(item).id)
        for lang in LANGS
        for setting in ICACHE
        if (same := [item for item in section_items if row_of(item).key[2:] == (setting, lang)])
    ]


@dataclass(frozen=True)
class RowPair:
    """A row of both results, or of one."""

    base: Row | None
    new: Row | None
    # In the result without the row: failed, skipped or missing, and why.
    gone: tuple[str, str | None] | None = None

    @property
    def row(self) -> Row:
        """The row of the first side that has it."""
        row = self.base or self.new
        assert row is not None
        return row


def pair_up(base: Result, new: Result, loosely: bool = False) -> list[RowPair]:
    """Pair rows by id, parameters, cache setting and language; rows of the base first.

    `loosely`: if each side has one cache setting or language only, and they differ, pair rows
    regardless of it."""

    def differs(place: int) -> bool:
        before, after = ({key[place] for key in result.table} for result in (base, new))
        return len(before) == len(after) == 1 and before != after

    places = [0, 1, *(place for place in (2, 3) if not (loosely and differs(place)))]

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
    """Return the absent rows of a result: the list that has each, and the reason."""
    return {gone.key: (kind, gone.why) for kind in ABSENT_LISTS for gone in getattr(result, kind)}


def boot_mismatch(base: Side, new: Side) -> str | None:
    """Return why two rows cannot be compared because their boots ran different rows, or None.

    With the cache on, earlier rows decide which way of a set is filled next, which moves samples.
    The overhead is measured first, so it is not affected."""
    parts = [result.provenance.benchmarks_run(row.boot, row.lang) for result, row in (base, new)]
    icaches = {base[1].icache, new[1].icache}
    if base[1].is_overhead or parts[0] == parts[1] or icaches == {False}:
        return None
    return (
        "its boot ran other rows of the group on one side, which moves samples with the i-cache on:"
        " give both runs the same --only"
    )


@dataclass(frozen=True)
class LoneRow:
    """A row that is not compared with another, and the reason."""

    row: RowName
    why: str = ""

    @property
    def name(self) -> str:
        return self.row.name


@dataclass(frozen=True)
class Mean:
    """The change of the geometric mean of the benchmarks that touch the kernel."""

    change: Change
    benchmarks: int

    @property
    def ratio(self) -> float:
        assert self.change.ratio is not None
        return self.change.ratio


@dataclass(frozen=True)
class Pair:
    """One row of both sides, and the changes of its series."""

    row: Row  # the base's
    new: Row
    values: dict[str, tuple[Value, Value]]  # of both sides, by series
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
    """The comparison of a result with its base, row by row."""

    name: str
    base: Result
    new: Result
    factors: list[Factor]
    pairs: list[Pair]
    gone: list[LoneRow]  # rows of the base that the new result does not have
    added: list[Row]  # rows that only the new result has
    unusable: list[LoneRow]  # rows without a valid figure in the base
    few: list[LoneRow]  # rows with too few samples for a verdict
    margin: float  # of rows that have no margin of their own
    rule: Rule

    @cached_property
    def sections(self) -> list[tuple[str, list[Pair]]]:
        """The pairs, grouped into tables with titles."""
        return tables(self.pairs, self.rule.catalogue, lambda pair: pair.row)

    @property
    def judged(self) -> list[Pair]:
        """The pairs that have a verdict."""
        return [pair for pair in self.pairs if pair.judged]

    @property
    def links(self) -> tuple[int, int]:
        """The number of links of the kernels, the base's first."""
        return self.base.links, self.new.links

    @property
    def mean(self) -> Mean | None:
        """The mean of the leading language, if it has one."""
        return next(iter(self.means.values()), None)

    @cached_property
    def means(self) -> dict[Lang, Mean]:
        """The mean over the rows of each language."""
        means = {lang: self._geometric_mean(lang) for lang in LANGS}
        return {lang: mean for lang, mean in means.items() if mean}

    @property
    def link_counts(self) -> tuple[str, str]:
        """The number of links of each side, as text: "1 to 4" if rows in doubt have more."""
        counts = []
        for side, most in enumerate(self.links):
            every = [pair.values["cycles"][side].links for pair in self.judged]
            least = min(every, default=most)
            counts.append(f"{least} to {most}" if least < most else str(most))
        return counts[0], counts[1]

    @property
    def links_text(self) -> str:
        """The number of links of both sides, in words, the base's first."""
        links = dict.fromkeys(self.link_counts)
        many = " against ".join(f"{count} link{'s' if count != '1' else ''}" for count in links)
        return f"{many} a side" if len(links) == 1 else many

    def _geometric_mean(self, lang: Lang) -> Mean | None:
        """Return the mean for one language; None if no row counts.

        The logarithms are averaged in each layout, since one link may move many rows together. Rows
        count if every layout has them and the base is in this language."""
        entries = [
            (pair.row, *pair.values["cycles"])
            for pair in self.pairs
            if pair.row.lang == lang and counts_in_mean(pair.row, self.rule.catalogue)
        ]
        entries = [entry for entry in entries if min(*entry[1].nets, *entry[2].nets) > 0]
        most = max(((len(base.nets), len(new.nets)) for _, base, new in entries), default=None)
        entries = [entry for entry in entries if (len(entry[1].nets), len(entry[2].nets)) == most]
        if not entries:
            return None
        rows = [row for row, _, _ in entries]
        base = _mean_value([(row, value) for row, value, _ in entries], self.rule.error_probability)
        new = _mean_value([(row, value) for row, _, value in entries], self.rule.error_probability)
        cached = any(row.icache is not False for row in rows)
        sigma = self.rule.spread.mean_deviation(rows)
        mean = change_of_cycles(base, new, sigma, cached=cached)
        return Mean(mean, len({row.id for row in rows}))


def _mean_value(values: list[tuple[Row, Value]], error_probability: float) -> Value:
    """Return the geometric mean over benchmarks in each layout. Its error is the mean of the errors
    of the nets and of their samples."""
    logs = mean_over_benchmarks(
        (row, logs_of(value.nets) - math.log(value.inner)) for row, value in values
    )
    log_errors = mean_over_benchmarks(
        (
            row,
            np.array(
                [math.log1p(value.error / value.net) + max(value.sampling_error(error_probability))]
            ),
        )
        for row, value in values
    )
    nets = tuple(map(float, np.exp(logs)))
    error = float(np.expm1(log_errors)[0]) * nets[0]
    return Value(nets, min(value.links for _, value in values), error)


def compare(
    base: Result,
    new: Result,
    name: str,
    catalogue: Catalogue,
    margins: Margins,
    spread: Spread,
    force: bool = False,
    strict: bool = False,
) -> Comparison:
    """Compare a result, called `name`, with the base, using this spread of rows over links.

    `strict`, for limits: refuse different cores, and a board's result with a simulator's.
    TockmarkError if the results cannot be compared."""
    check_timed("the base", base, force)
    check_timed(name, new, force)
    factors = differing_factors(base, new)
    check_factors(factors, name, force, cores=not strict)
    if strict and not force and base.simulated != new.simulated:  # a board has wider margins
        kind = {True: "a simulator's", False: "a board's"}
        raise TockmarkError(
            f"{name} is {kind[new.simulated]}, but the base is {kind[base.simulated]}",
            "use `tockmark board agree` to compare them, or --force to judge them anyway",
        )
    warn_uncounted(name, new)
    usable: list[tuple[Row, Row]] = []
    gone, added, unusable = [], [], []
    for pair in pair_up(base, new, loosely=True):
        if pair.base is None:
            added.append(pair.row)
        elif pair.base.unsound:
            unusable.append(LoneRow(pair.row, f"the base's {pair.base.unsound}"))
        elif pair.new is None:
            gone.append(
                LoneRow(pair.row, ": ".join(filter(None, pair.gone or ["it is not there"])))
            )
        else:
            before, after = comparable(pair.base, pair.new)
            why = after.unsound or boot_mismatch((base, before), (new, after))
            if why:
                gone.append(LoneRow(before, why))
            else:
                usable.append((before, after))
    if not usable:
        raise TockmarkError(
            f"{name} shares no valid row with the base", "look at both with `tockmark table`"
        )
    rule, pairs, few = _pairs(base, new, usable, catalogue, spread, margins)
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
    spread: Spread,
    margins: Margins,
) -> tuple[Rule, list[Pair], list[LoneRow]]:
    """Return the rule for the usable rows, the changed pairs, and the rows with too few samples."""
    simulated = base.simulated and new.simulated
    values_of_rows = [
        {
            series: (base_value, new_value)
            for series in SERIES
            if (base_value := value_of(base, before, series)) is not None
            and (new_value := value_of(new, after, series)) is not None
        }
        for before, after in usable
    ]
    vary = sum(
        base_value.varies or new_value.varies
        for (before, _), values in zip(usable, values_of_rows, strict=True)
        if touches(before, catalogue) == "kernel"
        for base_value, new_value in values.values()
    )
    rule = Rule.for_rows(usable, catalogue, spread, vary)
    pairs: list[Pair] = []
    few: list[LoneRow] = []
    for (row, after), values in zip(usable, values_of_rows, strict=True):
        judged = rule.judges(row)
        if judged and (why := rule.too_few(itertools.chain(*values.values()))):
            few.append(LoneRow(row, why))
            continue
        counts = values.get("instret")
        differ = counts is not None and counts[0].nets != counts[1].nets
        changes = {
            series: rule.change(row, series, *values[series], differ)
            for series in rule.series(row)
            if series in values
        }
        margin = margins.of_row(row, simulated)
        pairs.append(Pair(row, after, values, changes, margin, judged))
    return rule, pairs, few
