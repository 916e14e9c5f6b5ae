# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verb `gate`: may this result follow those before it? Limits on the growth of each row.

A limit is a percentage of the base value, a count, or both: then each must hold. Growth by no
more than `slack` counts is never too much. Only what is beyond a limit without doubt is a finding,
by the rule of verdict.py; what may be the layout's doing is counted. Several BASE results are
pooled: their layouts are those of one.
"""

import math
from collections.abc import Iterable, KeysView
from dataclasses import dataclass, replace
from enum import IntEnum
from pathlib import Path

from tockmark.compare import factors
from tockmark.compare.pairs import percent
from tockmark.compare.rule import ROUNDING, Change, Rule, Spread, pooled, value_of
from tockmark.errors import INCOMPLETE, OK, REGRESSION, TockmarkError
from tockmark.files import toml
from tockmark.paths import shown
from tockmark.result.model import Absent, Key, Result, Row
from tockmark.suite.catalogue import Catalogue, Params
from tockmark.suite.selection import Selection, select

NAMED = 8  # rows that were not asked for; how many there are is said
SERIES = {"cycles": "cycles", "instructions": "instret"}  # as limits and the result call them

DEFAULTS = """\
[[limit]]
rows = ["*"]
cycles = { soft = "1 %", hard = "2 %", slack = 2 }
instructions = { soft = "0.5 %", hard = "1 %", slack = 2 }
"""


class Level(IntEnum):
    """How bad it is; also the order in which findings are shown."""

    PASS = 0
    BETTER = 1  # below by more than the soft limit: time for a new base
    SOFT = 2
    HARD = 3


EXIT = {Level.PASS: OK, Level.BETTER: OK, Level.SOFT: INCOMPLETE, Level.HARD: REGRESSION}


@dataclass(frozen=True)
class Bound:
    """One limit: growth by more than this share of the base, or by more than so many counts."""

    share: float | None
    counts: float | None
    text: str

    def allowed(self, base: float) -> float:
        """The growth that is still allowed."""
        parts = [self.share * base if self.share is not None else None, self.counts]
        return min(part for part in parts if part is not None)


@dataclass(frozen=True)
class Limit:
    """The limits of one series of the rows that are selected."""

    soft: Bound | None
    hard: Bound | None
    slack: float

    def allowed(self, bound: Bound, base: float) -> float:
        """The growth that is no breach of one of them."""
        return max(bound.allowed(base), self.slack)


@dataclass(frozen=True)
class Entry:
    """One of the file; where several name a row, the last that limits a series counts."""

    rows: tuple[Selection, ...]
    limits: dict[str, Limit]

    def means(self, row: Row) -> bool:
        return any(meant.fits(row.id, row.params, row.icache, row.lang) for meant in self.rows)


@dataclass(frozen=True)
class Finding:
    """One row that is beyond a limit, or better, or gone."""

    level: Level
    row: str
    why: str
    of: Row | None = None  # the base's; None: the whole row is gone
    series: str | None = None  # as limits call them
    change: Change | None = None  # of one operation

    @property
    def place(self) -> tuple[int, float]:
        """The worst come first, and among these the largest."""
        return -self.level, -(self.change.size if self.change else math.inf)


@dataclass(frozen=True)
class Gated:
    """The judgement of a whole result."""

    findings: list[Finding]
    warnings: list[str]
    notes: list[str]  # what a reader should know, and no reason to warn
    unsure: list[str]  # rows that may be beyond a limit, or it is their layout
    factors: list[factors.Factor]
    checked: int  # rows
    judged: list[Row]
    links: tuple[int, int]  # of the bases together, and of the new result
    known: Spread

    @property
    def level(self) -> Level:
        worst = max((finding.level for finding in self.findings), default=Level.PASS)
        return max(worst, Level.SOFT) if self.warnings else worst

    @property
    def exit_code(self) -> int:
        return EXIT[self.level]


def load_limits(
    path: Path | None, catalogue: Catalogue, others: Iterable[tuple[str, Params]] = ()
) -> list[Entry]:
    """The rules of a file, or the default ones, for rows of the catalogue and `others`."""
    others = list(others)
    try:
        text = DEFAULTS if path is None else path.read_text(encoding="utf-8")
        data = toml(text)
        if extra := sorted(set(data) - {"limit"}):
            raise ValueError(f"unknown key '{extra[0]}'")
        entries = data.get("limit")
        if not isinstance(entries, list) or not entries:
            raise ValueError("there is no [[limit]]")
        rules = [_entry(entry, catalogue, others) for entry in entries]
        if not any(limit.soft or limit.hard for rule in rules for limit in rule.limits.values()):
            raise ValueError("no [[limit]] has a soft or a hard one")
        return rules
    except OSError as error:
        assert path is not None
        raise TockmarkError(f"cannot read {shown(path)}: {error.strerror}") from error
    except (ValueError, TockmarkError) as error:  # TOML's own is a ValueError
        raise TockmarkError(
            f"{shown(path) if path else 'the default'} holds no limits: {error}",
            "docs/comparing.md shows such a file",
        ) from error


def _entry(entry: object, catalogue: Catalogue, others: list[tuple[str, Params]]) -> Entry:
    if not isinstance(entry, dict):
        raise ValueError(f"{entry!r} is no [[limit]]")
    if extra := sorted(set(entry) - {"rows", *SERIES}):
        raise ValueError(f"unknown key '{extra[0]}' in [[limit]]")
    rows = entry.get("rows")
    if not (isinstance(rows, list) and rows and all(isinstance(row, str) for row in rows)):
        raise ValueError("rows is not a list of terms")
    limits = {name: _limit(entry[name]) for name in SERIES if name in entry}
    if not limits:
        raise ValueError(f"a [[limit]] limits neither {' nor '.join(SERIES)}")
    return Entry(tuple(select(catalogue, row, others) for row in rows), limits)


def _limit(entry: object) -> Limit:
    if not isinstance(entry, dict):
        raise ValueError(f"{entry!r} is not a limit")
    if extra := sorted(set(entry) - {"soft", "hard", "slack"}):
        raise ValueError(f"unknown key '{extra[0]}' in a limit")
    soft, hard = (_bound(entry[name]) if name in entry else None for name in ("soft", "hard"))
    return Limit(soft, hard, _counts(entry.get("slack", 0)))


def _bound(value: object) -> Bound:
    """`"1 %"`, `20` counts, or a list of both."""
    parts = value if isinstance(value, list) else [value]
    shares = [percent(part) for part in parts if isinstance(part, str)]
    counts = [_counts(part) for part in parts if not isinstance(part, str)]
    if not parts or len(shares) > 1 or len(counts) > 1:
        raise ValueError(f"{value!r} is not one percentage, one count, or one of each")
    text = " and ".join(
        [*(f"{share * 100:g} %" for share in shares), *(f"{count:g}" for count in counts)]
    )
    return Bound(shares[0] if shares else None, counts[0] if counts else None, text)


def _counts(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 2**32:
        raise ValueError(f"{value!r} is not a count")
    return value


def gate(
    bases: list[tuple[str, Result]],
    new: tuple[str, Result],
    rules: list[Entry],
    catalogue: Catalogue,
    known: Spread,
    force: bool = False,
) -> Gated:
    """Judge the new result by one or more earlier ones; `known` says how far rows spread."""
    for name, result in (*bases, new):
        factors.check_timed(result, name, force)
    for name, base in bases:
        factors.check_factors(factors.differing_factors(base, new[1]), name, force)
    after = new[1].table
    before: dict[Key, list[Side]] = {}
    for _, base in bases:
        for key, row in base.table.items():
            before.setdefault(key, []).append((base, row))
    if not before.keys() & after.keys():
        raise TockmarkError(f"{new[0]} has no row that the base has, too", "give runs of one suite")
    lost = _lost(new[1])
    findings: list[Finding] = []
    unasked: list[str] = []
    notes: list[str] = []
    pairs: list[tuple[list[Side], Side]] = []
    warnings = [f"the new result is incomplete: {why}" for why in _beside(new[1], before.keys())]
    for key, found in before.items():
        name, now = found[0][1].name, after.get(key)
        good = [side for side in found if side[1].sound]
        good = [side for side in good if side[1].inner == good[-1][1].inner]
        if not good:
            never = now is not None and not now.sound
            told = notes if never else warnings
            told.append(f"{name}: no base is good: {found[0][1].unsound}")
        elif now is not None and now.unsound:
            findings.append(_gone(Level.HARD, name, now.unsound))
        elif now is not None and (why := other_sample(good[-1][1], now)):
            warnings.append(f"{name} is not compared: {why}")
        elif now is not None:
            pairs.append((good, (new[1], now)))
        elif key in lost:
            findings.append(_gone(lost[key][0], name, lost[key][1]))
        else:
            unasked.append(name)
    if not (pairs or findings or warnings or unasked):
        raise TockmarkError(
            f"{new[0]} has no row whose net cycles can be held against the base's",
            "`tockmark table` shows both",
        )
    rule = Rule.of([(good[-1][1], now) for good, (_, now) in pairs], catalogue, known)
    judged = [(good, now) for good, now in pairs if rule.judges(now[1])]
    unsure: list[str] = []
    for good, side in judged:
        findings += _row(good, side, rules, rule, unsure)
    if rule.moved:
        warnings.append(
            "apps or machine differ: what no kernel touches moved, where the cache has no part in"
            f" it: {_named([row.name for row in rule.moved])}"
        )
    if unasked:
        warnings.append(f"the new result was not asked for what the base has: {_named(unasked)}")
    findings.sort(key=lambda finding: finding.place)
    return Gated(
        findings,
        warnings,
        notes,
        unsure,
        factors.differing_factors(bases[0][1], new[1]),
        len(before.keys() & after.keys()),
        [now[1] for _, now in judged],
        (_links([base for _, base in bases]), _links([new[1]])),
        known,
    )


def _named(rows: list[str]) -> str:
    """How many rows, and the first of them."""
    more = ", …" if len(rows) > NAMED else ""
    return f"{len(rows)} row{'s' if len(rows) > 1 else ''} ({', '.join(rows[:NAMED])}{more})"


def _links(results: list[Result]) -> int:
    return sum({result.provenance.kernel.sha256: result.links for result in results}.values())


Side = tuple[Result, Row]  # a row, and where it stands


def other_sample(base: Row, new: Row) -> str | None:
    """Whether a sample has come to hold more or fewer operations: its counts are others then."""
    if base.inner == new.inner:
        return None
    return f"a sample holds {new.inner} operations, not {base.inner}"


def _beside(result: Result, known: KeysView[Key]) -> tuple[str, ...]:
    """Why a result is incomplete, but for the rows that the bases have: these become findings."""
    there = result.table

    def own(row: Row | Absent) -> bool:
        """A time.read may be that of another boot than the one that stands for all."""
        stands = there.get(row.key)
        return row.key not in known or (stands is not None and stands is not row)

    return replace(
        result,
        rows=tuple(filter(own, result.rows)),
        failed=tuple(filter(own, result.failed)),
        missing=tuple(filter(own, result.missing)),
    ).incomplete


def _lost(result: Result) -> dict[Key, tuple[Level, str]]:
    """The rows that were asked for and are not there: how bad that is, and why.

    A row is skipped for a reason that holds for the whole kernel: that warns."""
    kinds = {
        "skipped": (Level.SOFT, result.skipped),
        "missing": (Level.HARD, result.missing),
        "failed": (Level.HARD, result.failed),
    }
    return {
        gone.key: (level, f"{kind}: {gone.why}" if gone.why else kind)
        for kind, (level, absent) in kinds.items()
        for gone in absent
    }


def _gone(level: Level, name: str, why: str) -> Finding:
    """A row that was good is not: it may not pass as if it had not got worse."""
    return Finding(level, name, why)


def _row(
    bases: list[Side], new: Side, rules: list[Entry], rule: Rule, unsure: list[str]
) -> list[Finding]:
    """What is found of a row; its name is added to `unsure` if a limit may have been passed."""
    found = []
    for name, field in SERIES.items():
        before = [
            (known, result.provenance.kernel.sha256)
            for result, row in bases
            if (known := value_of(result, row, field)) is not None
        ]
        value = value_of(*new, field)
        limit = _limit_of(new[1], name, rules)
        if not before or value is None or limit is None:
            continue
        changed = rule.change(new[1], field, pooled(before), value)
        level, why = _judge(changed, value.inner, limit)
        if level is not Level.PASS:
            found.append(Finding(level, new[1].name, why, bases[-1][1], name, changed))
        elif _judge(changed.without_doubt, value.inner, limit)[0] > Level.BETTER:
            unsure.append(f"{new[1].name} {name}")
    return found


def _limit_of(row: Row, series: str, rules: list[Entry]) -> Limit | None:
    fitting = [rule.limits[series] for rule in rules if series in rule.limits and rule.means(row)]
    return fitting[-1] if fitting else None


def _judge(changed: Change, inner: int, limit: Limit) -> tuple[Level, str]:
    """One change against its limits, which are counts of a sample."""
    base = max(changed.base * inner, 1)
    growth, loss = ((share - ROUNDING) * base for share in (changed.low - 1, 1 - changed.high))
    for bound, level in ((limit.hard, Level.HARD), (limit.soft, Level.SOFT)):
        if bound and growth > limit.allowed(bound, base):
            return level, f"over {bound.text}"
    if limit.soft and loss > limit.allowed(limit.soft, base):
        return Level.BETTER, f"over {limit.soft.text}"
    return Level.PASS, ""
