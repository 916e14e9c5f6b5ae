# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verb `compare`: row by row, is a result the same as another, within a margin fixed before?

The ratio of two net medians has an interval (estimate.py; one point where both are exact). The
margin makes a zone around 1, as far down as up: 1/(1+m) to 1+m. An interval all outside is a
relevant difference; all inside, a trivial difference, or equivalent if it holds 1 itself; one that
lies across an edge of the zone is indeterminate: more samples would tell.
"""

import math
import tomllib
from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import numpy as np

from tockmark.errors import TockmarkError
from tockmark.judge import factors
from tockmark.judge.estimate import DRAWS, holm, interval, log_ratio, rank_test
from tockmark.judge.factors import Factor
from tockmark.judge.values import Entry, Value, entries, in_sections, simulated
from tockmark.paths import shown
from tockmark.result.result import Json
from tockmark.suite.catalogue import Catalogue

SIMULATOR_MARGIN, BOARD_MARGIN = 0.01, 0.05


class Verdict(StrEnum):
    """What is said of a row."""

    EQUIVALENT = "equivalent"
    TRIVIAL = "trivial difference"
    RELEVANT = "relevant difference"
    INDETERMINATE = "indeterminate"


@dataclass(frozen=True)
class Judged:
    """Two values of one row. Without a ratio, one of them is zero."""

    base: float
    new: float
    ratio: float | None
    low: float | None
    high: float | None
    exact: bool
    verdict: Verdict

    @property
    def lower(self) -> bool:
        return self.new < self.base


@dataclass(frozen=True)
class Mean:
    """The geometric mean of the ratios of all rows that have one."""

    ratio: float
    low: float
    high: float
    exact: bool
    verdict: Verdict
    rows: int


@dataclass(frozen=True)
class Pair:
    """One row of both results. `p` is corrected for all rows; None where both sides are exact."""

    entry: Entry
    cycles: Judged
    instret: Judged | None
    margin: float
    p: float | None


@dataclass(frozen=True)
class Comparison:
    """One result against the baseline."""

    name: str
    factors: list[Factor]
    sections: list[tuple[str, list[Pair]]]
    only_base: list[str]
    only_new: list[str]
    unusable: list[str]  # in both, but not with figures that can be compared
    mean: Mean | None
    margin: float  # of rows without one of their own
    tests: int  # how many p-values there are

    def pairs(self) -> list[Pair]:
        return [pair for _, pairs in self.sections for pair in pairs]

    def counts(self) -> Counter[Verdict]:
        return Counter(pair.cycles.verdict for pair in self.pairs())


@dataclass(frozen=True)
class Margins:
    """How much is too little to matter: for all rows, and for those that a pattern names."""

    default: float | None = None
    rows: tuple[tuple[str, float], ...] = ()

    def of(self, entry: Entry, exact_machine: bool) -> float:
        named = [margin for pattern, margin in self.rows if entry.fits(pattern)]
        return named[-1] if named else self.general(exact_machine)

    def general(self, exact_machine: bool) -> float:
        """For the rows that no pattern names."""
        if self.default is not None:
            return self.default
        return SIMULATOR_MARGIN if exact_machine else BOARD_MARGIN


def percent(text: object) -> float:
    """`1 %` or `1%` as a number; ValueError if it is anything else."""
    if not isinstance(text, str) or not text.strip().endswith("%"):
        raise ValueError(f"{text!r} is not a percentage such as '1 %'")
    value = float(text.strip().removesuffix("%")) / 100
    if not 0 <= value < math.inf:
        raise ValueError(f"{text!r} is not a percentage from 0 up")
    return value


def margins(option: str | None) -> Margins:
    """What was given to --margin: a percentage, or a TOML file with `default` and `[rows]`."""
    if option is None:
        return Margins()
    if not option.endswith(".toml"):
        try:
            return Margins(percent(option))
        except ValueError as error:
            raise TockmarkError(
                f"--margin {option} is no margin", "give one like 1%, or a .toml file"
            ) from error
    path = Path(option)
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        if extra := sorted(set(data) - {"default", "rows"}):
            raise ValueError(f"unknown key {extra[0]}")
        return Margins(
            percent(data["default"]) if "default" in data else None,
            tuple((pattern, percent(text)) for pattern, text in data.get("rows", {}).items()),
        )
    except OSError as error:
        raise TockmarkError(f"cannot read {shown(path)}: {error.strerror}") from error
    except (ValueError, AttributeError) as error:  # TOML's own error is a ValueError
        raise TockmarkError(
            f"{shown(path)} holds no margins: {error}", "docs/comparing.md shows such a file"
        ) from error


def judge(base: Value, new: Value, margin: float) -> Judged:
    """One row's verdict."""
    exact = base.exact and new.exact
    draws = base.draws, new.draws
    if min(base.net, new.net, *(float(drawn.min()) for drawn in draws)) <= 0:
        return _without_ratio(base, new, exact)
    logs = interval(log_ratio(*draws))
    verdict = verdict_of(logs.low, logs.high, margin)
    ratio, low, high = new.net / base.net, math.exp(logs.low), math.exp(logs.high)
    return Judged(base.net, new.net, ratio, low, high, exact, verdict)


def verdict_of(low: float, high: float, margin: float) -> Verdict:
    """What an interval of the ratio's logarithm says."""
    edge = math.log1p(margin)
    if low > edge or high < -edge:
        return Verdict.RELEVANT
    if low < -edge or high > edge:
        return Verdict.INDETERMINATE
    return Verdict.EQUIVALENT if low <= 0 <= high else Verdict.TRIVIAL


def _without_ratio(base: Value, new: Value, exact: bool) -> Judged:
    """Zero, or not surely above it: then only whether anything differs can be told."""
    if np.array_equal(base.draws, new.draws):
        verdict = Verdict.EQUIVALENT
    else:
        verdict = Verdict.RELEVANT if exact else Verdict.INDETERMINATE
    return Judged(base.net, new.net, None, None, None, exact, verdict)


def compare(
    base: Json,
    new: Json,
    name: str,
    catalogue: Catalogue,
    chosen: Margins,
    force: bool = False,
    only: tuple[str, ...] = (),
) -> Comparison:
    """A result against the baseline; `only` has patterns of the rows to look at."""
    differ = factors.differing(base, new)
    factors.check(differ, name, force)
    found = pair_up(base, new, only)
    usable = [(one, two) for one, two in found.both if not unusable(one, two)]
    if not usable:
        raise TockmarkError(
            f"{name} has no good row that the baseline has, too", "`tockmark table` shows both"
        )
    exact_machine = simulated(base) and simulated(new)
    ps = _p_values(usable)
    pairs = {
        one.full_label: _pair(one, two, chosen.of(one, exact_machine), ps.get(one.full_label))
        for one, two in usable
    }
    values = [(one.cycles, two.cycles) for one, two in usable if pairs[one.full_label].cycles.ratio]
    margin = chosen.general(exact_machine)
    return Comparison(
        name=name,
        factors=differ,
        sections=[
            (section, [pairs[entry.full_label] for entry in entries_])
            for section, entries_ in in_sections((one for one, _ in usable), catalogue)
        ],
        only_base=[entry.full_label for entry in found.only_base],
        only_new=[entry.full_label for entry in found.only_new],
        unusable=[
            f"{one.full_label}: {why}" for one, two in found.both if (why := unusable(one, two))
        ],
        mean=_geometric_mean([(b, n) for b, n in values if b and n], margin),
        margin=margin,
        tests=len(ps),
    )


@dataclass(frozen=True)
class Pairs:
    """The rows of two results."""

    both: list[tuple[Entry, Entry]]
    only_base: list[Entry]
    only_new: list[Entry]


def pair_up(base: Json, new: Json, only: tuple[str, ...] = ()) -> Pairs:
    """Rows pair by id, parameters and cache setting. Where each result has one setting only, and
    not the same one, that is the very factor to compare: rows pair whatever it is."""
    one, two = entries(base, only), entries(new, only)
    settings = {key[2] for key in one}, {key[2] for key in two}
    if len(settings[0]) == len(settings[1]) == 1 and settings[0] != settings[1]:
        one = {(*key[:2], None): entry for key, entry in one.items()}
        two = {(*key[:2], None): entry for key, entry in two.items()}
    return Pairs(
        [(e.per_operation(), two[key].per_operation()) for key, e in one.items() if key in two],
        [entry for key, entry in one.items() if key not in two],
        [entry for key, entry in two.items() if key not in one],
    )


def unusable(base: Entry, new: Entry) -> str | None:
    """Why these rows say nothing about each other, if so."""
    for side, entry in (("baseline", base), ("new", new)):
        if entry.errors:
            return f"{side}: {entry.errors[0]}"
        if entry.cycles is None:
            return f"{side}: no net cycles"
    return None


def _pair(base: Entry, new: Entry, margin: float, p: float | None) -> Pair:
    assert base.cycles is not None  # or it would be unusable
    assert new.cycles is not None
    instret = judge(base.instret, new.instret, margin) if base.instret and new.instret else None
    return Pair(base, judge(base.cycles, new.cycles, margin), instret, margin, p)


def _p_values(usable: list[tuple[Entry, Entry]]) -> dict[str, float]:
    """Tests of the rows that are not exact, corrected for there being several."""
    tested = {
        one.full_label: rank_test(one.cycles.samples, two.cycles.samples)
        for one, two in usable
        if one.cycles and two.cycles and not (one.cycles.exact and two.cycles.exact)
    }
    return dict(zip(tested, holm(list(tested.values())), strict=True))


def _geometric_mean(values: list[tuple[Value, Value]], margin: float) -> Mean | None:
    """The mean of the logarithms, each row with its draws."""
    if not values:
        return None
    logs = np.zeros(DRAWS)
    for base, new in values:
        logs += log_ratio(base.draws, new.draws)
    found = interval(logs / len(values))
    known = sum(math.log(new.net / base.net) for base, new in values) / len(values)
    exact = all(base.exact and new.exact for base, new in values)
    low, high = (known, known) if exact else (found.low, found.high)
    return Mean(
        math.exp(known),
        math.exp(low),
        math.exp(high),
        exact,
        verdict_of(low, high, margin),
        len(values),
    )
