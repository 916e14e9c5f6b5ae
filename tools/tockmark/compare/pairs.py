# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Rows as tables have them where cache settings and languages stand together: one table for each
section and setting.
"""

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tockmark.compare import factors
from tockmark.compare.factors import Factor
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
    value_of,
)
from tockmark.errors import TockmarkError
from tockmark.files import toml
from tockmark.paths import shown
from tockmark.result.model import Key, Result, Row, alike
from tockmark.suite.catalogue import ICACHE, LANGS, Catalogue, Lang, Params, aside
from tockmark.suite.selection import Selection, select


def tables(rows: Iterable[Row], catalogue: Catalogue) -> list[tuple[str, list[Row]]]:
    """The title and the rows of each, in the catalogue's order."""
    return [
        (
            section + (f", i-cache {ICACHE[setting]}" if setting is not None else "") + aside(lang),
            same,
        )
        for section, found in catalogue.in_sections(rows, lambda row: row.id)
        for lang in LANGS
        for setting in ICACHE
        if (same := [row for row in found if (row.icache, row.lang) == (setting, lang)])
    ]


# The verb `compare`: row by row, is a result the same as another, within a margin fixed before?
#
# The rule is verdict.py's. The margin makes a zone around the ratio 1, as far down as up: 1/(1+m)
# to 1+m. Instructions, which do not depend on the layout, have half the margin.


SIMULATOR_MARGIN, BOARD_MARGIN = 0.01, 0.05


@dataclass(frozen=True)
class Mean:
    """The geometric mean of the ratios of the benchmarks that touch the kernel (mean.py)."""

    ratio: float
    low: float
    high: float
    verdict: Verdict
    benchmarks: int


@dataclass(frozen=True)
class Pair:
    """One row of both results. One of the apps' own has no verdict."""

    row: Row  # the baseline's
    cycles: Change
    instret: Change | None
    margin: float
    judged: bool

    @property
    def verdict(self) -> Verdict | None:
        """That of the cycles."""
        return self.cycles.verdict(self.margin) if self.judged else None

    @property
    def retired(self) -> Verdict | None:
        """That of the instructions."""
        return self.instret.verdict(self.margin / 2) if self.judged and self.instret else None


@dataclass(frozen=True)
class Comparison:
    """One result against the baseline."""

    name: str
    factors: list[Factor]
    sections: list[tuple[str, list[Pair]]]
    only_base: list[str]
    only_new: list[str]
    unusable: list[str]  # in both, but not with figures that can be compared
    means: dict[Lang, Mean]  # of the rows of each language
    margin: float  # of rows without one of their own
    rule: Rule
    links: tuple[int, int]  # of the kernels, the baseline's first

    @property
    def mean(self) -> Mean | None:
        """That of the leading language, if it has one."""
        return next(iter(self.means.values()), None)

    def pairs(self) -> list[Pair]:
        return [pair for _, pairs in self.sections for pair in pairs]

    def counts(self) -> Counter[Verdict]:
        return Counter(pair.verdict for pair in self.pairs() if pair.verdict)

    def moved(self) -> list[tuple[Row, str, Change]]:
        """What is relevant: the row, the series, and how it changed."""
        return [
            (pair.row, name, found)
            for pair in self.pairs()
            for name, found, verdict in (
                ("instret", pair.instret, pair.retired),
                ("cycles", pair.cycles, pair.verdict),
            )
            if found is not None and verdict is Verdict.RELEVANT
        ]


@dataclass(frozen=True)
class Margins:
    """How much is too little to matter: for all rows, and for those that are selected."""

    default: float | None = None
    rows: tuple[tuple[Selection, float], ...] = ()

    def of(self, row: Row, simulated: bool) -> float:
        """The last margin that means this row."""
        named = [
            m for meant, m in self.rows if meant.fits(row.id, row.params, row.icache, row.lang)
        ]
        return named[-1] if named else self.general(simulated)

    def general(self, simulated: bool) -> float:
        """For the rows that have none of their own."""
        if self.default is not None:
            return self.default
        return SIMULATOR_MARGIN if simulated else BOARD_MARGIN


def percent(text: object) -> float:
    """`1 %` or `1%` as a number; ValueError if it is anything else."""
    if not isinstance(text, str) or not text.strip().endswith("%"):
        raise ValueError(f"{text!r} is not a percentage such as '1 %'")
    value = float(text.strip().removesuffix("%")) / 100
    if not 0 <= value < math.inf:
        raise ValueError(f"{text!r} is not a percentage from 0 up")
    return value


def margins(
    option: str | None, catalogue: Catalogue, others: Iterable[tuple[str, Params]] = ()
) -> Margins:
    """What was given to --margin: a percentage, or a TOML file with `default` and `[rows]`, which
    are those of the catalogue and `others`."""
    if option is None:
        return Margins()
    if not option.endswith(".toml"):
        try:
            return Margins(percent(option))
        except ValueError as error:
            raise TockmarkError(
                f"--margin {option} is no margin", "give one like 1%, or a .toml file"
            ) from error
    path, others = Path(option), list(others)
    try:
        data = toml(path.read_text(encoding="utf-8"))
        if extra := sorted(set(data) - {"default", "rows"}):
            raise ValueError(f"unknown key {extra[0]}")
        rows = data.get("rows", {})
        if not isinstance(rows, dict):
            raise ValueError("rows is not a table of terms")
        return Margins(
            percent(data["default"]) if "default" in data else None,
            tuple((select(catalogue, term, others), percent(text)) for term, text in rows.items()),
        )
    except OSError as error:
        raise TockmarkError(f"cannot read {shown(path)}: {error.strerror}") from error
    except (ValueError, TockmarkError) as error:  # TOML's own is a ValueError
        raise TockmarkError(
            f"{shown(path)} holds no margins: {error}", "docs/comparing.md shows such a file"
        ) from error


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
    """A result against the baseline; `known` says how far rows spread over links, and `only` limits
    it to some rows."""
    for side, result in (("the baseline", base), (name, new)):
        factors.check_timed(result, side, force)
    differ = factors.differing_factors(base, new)
    factors.check_factors(differ, name, force)
    found = pair_up(*(result.only(only) if only else result for result in (base, new)))
    usable = [(one, two) for one, two in found.both if one.sound and two.sound]
    if not usable:
        raise TockmarkError(
            f"{name} has no good row that the baseline has, too", "`tockmark table` shows both"
        )
    simulated = base.simulated and new.simulated
    rule = Rule.of(usable, catalogue, known)
    pairs: dict[Key, Pair] = {}
    values: list[tuple[Row, Value, Value]] = []
    for one, two in usable:
        cycles, retired = (
            (value_of(base, one, name), value_of(new, two, name)) for name in ("cycles", "instret")
        )
        assert cycles[0]  # or they would not be sound
        assert cycles[1]
        values.append((one, cycles[0], cycles[1]))
        pairs[one.key] = Pair(
            one,
            rule.change(one, "cycles", cycles[0], cycles[1]),
            rule.change(one, "instret", retired[0], retired[1])
            if retired[0] and retired[1]
            else None,
            chosen.of(one, simulated),
            rule.judges(one),
        )
    margin = chosen.general(simulated)
    return Comparison(
        name=name,
        factors=differ,
        sections=[
            (title, [pairs[row.key] for row in rows])
            for title, rows in tables((one for one, _ in usable), catalogue)
        ],
        only_base=[row.name for row in found.only_base],
        only_new=[row.name for row in found.only_new],
        unusable=[f"{one.name}: {why}" for one, two in found.both if (why := _unsound(one, two))],
        means={
            lang: mean
            for lang in LANGS
            if (mean := _geometric_mean(values, lang, catalogue, margin, known))
        },
        margin=margin,
        rule=rule,
        links=(base.links, new.links),
    )


@dataclass(frozen=True)
class Pairs:
    """The rows of two results."""

    both: list[tuple[Row, Row]]
    only_base: list[Row]
    only_new: list[Row]


def pair_up(base: Result, new: Result) -> Pairs:
    """Rows pair by id, parameters, cache setting and language. Where each result has one setting or
    language only, and not the same one, that is the very factor to compare: rows pair whatever it
    is."""
    compared = [
        place
        for place in (2, 3)
        if _one_each({k[place] for k in base.table}, {k[place] for k in new.table})
    ]

    def keyed(result: Result) -> dict[object, Row]:
        places = [place for place in range(4) if place not in compared]
        return {tuple(key[place] for place in places): row for key, row in result.table.items()}

    one, two = keyed(base), keyed(new)
    return Pairs(
        [alike(row, two[key]) for key, row in one.items() if key in two],
        [row for key, row in one.items() if key not in two],
        [row for key, row in two.items() if key not in one],
    )


def _one_each(base: set[object], new: set[object]) -> bool:
    """Whether each side has one setting only, and not the same."""
    return len(base) == len(new) == 1 and base != new


def _unsound(base: Row, new: Row) -> str | None:
    """Why these rows say nothing about each other, if so."""
    if base.unsound:
        return f"baseline: {base.unsound}"
    return f"new: {new.unsound}" if new.unsound else None


def _geometric_mean(
    values: list[tuple[Row, Value, Value]],
    lang: Lang,
    catalogue: Catalogue,
    margin: float,
    known: Spread,
) -> Mean | None:
    """The mean of the logarithms in each layout, and how far these means spread: one link may move
    many rows together. Of rows that every layout has, whose baseline is in this language."""
    values = [
        (row, base, new)
        for row, base, new in values
        if row.lang == lang and counts_in_mean(row, catalogue) and min(*base.nets, *new.nets) > 0
    ]
    most = max((len(base.nets), len(new.nets)) for _, base, new in values) if values else None
    values = [one for one in values if (len(one[1].nets), len(one[2].nets)) == most]
    if not values:
        return None
    rows = [row for row, _, _ in values]
    base = _mean_value([(row, value) for row, value, _ in values])
    new = _mean_value([(row, value) for row, _, value in values])
    found = change(base, new, known.of_mean(rows))
    assert found.ratio is not None
    return Mean(
        found.ratio, found.low, found.high, found.verdict(margin), len({row.id for row in rows})
    )


def _mean_value(values: list[tuple[Row, Value]]) -> Value:
    """The geometric mean over benchmarks in each layout; likewise of what the nets may be off."""
    logs = by_benchmark((row, logs_of(one.nets) - math.log(one.inner)) for row, one in values)
    off = by_benchmark((row, np.log1p([one.error / one.net])) for row, one in values)
    nets = tuple(map(float, np.exp(logs)))
    error = float(np.expm1(off)[0]) * nets[0]
    return Value(nets, min(one.links for _, one in values), error)
