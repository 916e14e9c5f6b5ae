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
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import numpy as np

from tockmark.errors import TockmarkError
from tockmark.judge import factors
from tockmark.judge.estimate import Interval, holm, interval, log_ratio, rank_test
from tockmark.judge.factors import Factor
from tockmark.judge.mean import by_benchmark, counts
from tockmark.judge.tables import tables
from tockmark.judge.value import Value, per_op
from tockmark.paths import shown
from tockmark.result.model import Key, Result, Row
from tockmark.suite.catalogue import Catalogue, Params
from tockmark.suite.select import Selection, select

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
    """The geometric mean of the ratios of the benchmarks that touch the kernel (mean.py)."""

    ratio: float
    low: float
    high: float
    exact: bool
    verdict: Verdict
    benchmarks: int


@dataclass(frozen=True)
class Pair:
    """One row of both results. `p` is corrected for all rows; None where both sides are exact."""

    row: Row  # the baseline's
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
    """How much is too little to matter: for all rows, and for those that are selected."""

    default: float | None = None
    rows: tuple[tuple[Selection, float], ...] = ()

    def of(self, row: Row, simulated: bool) -> float:
        """The last margin that means this row."""
        named = [m for meant, m in self.rows if meant.fits(row.id, row.params, row.icache)]
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
        data = tomllib.loads(path.read_text(encoding="utf-8"))
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
    base: Result,
    new: Result,
    name: str,
    catalogue: Catalogue,
    chosen: Margins,
    force: bool = False,
    only: Selection | None = None,
) -> Comparison:
    """A result against the baseline; `only` limits it to some rows."""
    differ = factors.differing(base, new)
    factors.check(differ, name, force)
    found = pair_up(*(result.only(only) if only else result for result in (base, new)))
    usable = [(one, two) for one, two in found.both if one.sound and two.sound]
    if not usable:
        raise TockmarkError(
            f"{name} has no good row that the baseline has, too", "`tockmark table` shows both"
        )
    machines = base.simulated, new.simulated
    values = {
        one.key: (per_op(one, "cycles", machines[0]), per_op(two, "cycles", machines[1]))
        for one, two in usable
    }
    known = {key: (b, n) for key, (b, n) in values.items() if b and n}  # all: they are sound
    ps = _p_values(known)
    simulated = all(machines)
    pairs = {}
    for one, two in usable:
        margin = chosen.of(one, simulated)
        retired = per_op(one, "instret", machines[0]), per_op(two, "instret", machines[1])
        instret = judge(retired[0], retired[1], margin) if retired[0] and retired[1] else None
        cycles = judge(*known[one.key], margin)
        pairs[one.key] = Pair(one, cycles, instret, margin, ps.get(one.key))
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
        mean=_geometric_mean(
            [(pair.row, *known[key]) for key, pair in pairs.items() if pair.cycles.ratio],
            catalogue,
            margin,
        ),
        margin=margin,
        tests=len(ps),
    )


@dataclass(frozen=True)
class Pairs:
    """The rows of two results."""

    both: list[tuple[Row, Row]]
    only_base: list[Row]
    only_new: list[Row]


def pair_up(base: Result, new: Result) -> Pairs:
    """Rows pair by id, parameters and cache setting. Where each result has one setting only, and
    not the same one, that is the very factor to compare: rows pair whatever it is."""
    one, two = base.table, new.table
    settings = {key[2] for key in one}, {key[2] for key in two}
    if len(settings[0]) == len(settings[1]) == 1 and settings[0] != settings[1]:
        one = {(*key[:2], None): row for key, row in one.items()}
        two = {(*key[:2], None): row for key, row in two.items()}
    return Pairs(
        [(row, two[key]) for key, row in one.items() if key in two],
        [row for key, row in one.items() if key not in two],
        [row for key, row in two.items() if key not in one],
    )


def _unsound(base: Row, new: Row) -> str | None:
    """Why these rows say nothing about each other, if so."""
    if base.unsound:
        return f"baseline: {base.unsound}"
    return f"new: {new.unsound}" if new.unsound else None


def _p_values(known: dict[Key, tuple[Value, Value]]) -> dict[Key, float]:
    """Tests of the rows that are not exact, corrected for there being several."""
    tested = {
        key: rank_test(base.samples, new.samples)
        for key, (base, new) in known.items()
        if not (base.exact and new.exact)
    }
    return dict(zip(tested, holm(list(tested.values())), strict=True))


def _geometric_mean(
    values: list[tuple[Row, Value, Value]], catalogue: Catalogue, margin: float
) -> Mean | None:
    """The mean of the logarithms, each row with its draws."""
    values = [(row, base, new) for row, base, new in values if counts(row, catalogue)]
    if not values:
        return None
    drawn = by_benchmark((row, log_ratio(base.draws, new.draws)) for row, base, new in values)
    (known,) = by_benchmark((row, np.log([new.net / base.net])) for row, base, new in values)
    exact = all(base.exact and new.exact for _, base, new in values)
    span = Interval(known, known) if exact else interval(drawn)
    return Mean(
        math.exp(known),
        math.exp(span.low),
        math.exp(span.high),
        exact,
        verdict_of(span.low, span.high, margin),
        len({row.id for row, _, _ in values}),
    )
