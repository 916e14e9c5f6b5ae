# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verb `gate`: may this result follow those before it, by limits on the growth of each row?

Only what is beyond a limit without doubt, by the rule of rule.py, is a finding; what may be the
layout's doing is counted. Time decides, and instructions explain: more of them are no finding where
the time surely fell. Several BASE results are pooled: their layouts are those of one.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from tockmark.compare import pairs
from tockmark.compare.limits import SERIES_WORDS, Level, Limit, Limits, last_that_means
from tockmark.compare.pairs import (
    Comparison,
    Finding,
    Moved,
    Usable,
    booted_otherwise,
    comparison,
    pair_up,
)
from tockmark.compare.rule import ROUNDING, Change, Spread
from tockmark.errors import INCOMPLETE, OK, REGRESSION, TockmarkError
from tockmark.result.model import GONE, Result, Row
from tockmark.suite.catalogue import OF_BOOT, Catalogue, Key
from tockmark.suite.selection import Selection
from tockmark.wire.rows import Absent

MAKE = ("inner", "reads", "by", "clock")  # what samples have to have in common
BY_CONTROL = "readings by the control"
NAMED = 8  # rows that were not asked for; how many there are is said


@dataclass(frozen=True)
class Gated:
    """The judgement of a whole result."""

    comparison: Comparison
    moved: list[Moved]  # beyond a limit, or better; the worst first
    gone: list[Finding]  # the worst first
    unsure: list[Moved]  # perhaps beyond a limit, or it is their layout
    perhaps_better: list[Moved]  # likewise the other way: no reason to look again
    warnings: list[str]
    notes: list[str]  # what a reader should know, and no reason to warn
    checked: int  # rows

    @property
    def findings(self) -> list[Finding]:
        """Return all that was found, the worst first."""
        return sorted([*self.gone, *self.moved], key=lambda finding: finding.place)

    @property
    def level(self) -> Level:
        """Return the level of the whole: a warning makes it at least a soft one."""
        worst = max((finding.level for finding in self.findings), default=Level.PASS)
        return max(worst, Level.SOFT) if self.warnings else worst

    @property
    def exit_code(self) -> int:
        """Return the verb's exit code: what failed or is missing is no pass, whatever else was
        found; what is beyond a soft limit alone is one, and said."""
        if self.level is Level.HARD:
            return REGRESSION
        return INCOMPLETE if self.warnings or self.gone else OK


def gate(
    bases: Sequence[tuple[str, Result]],
    new: tuple[str, Result],
    limits: Limits,
    catalogue: Catalogue,
    known: Spread,
    force: bool = False,
    allowed: Selection | None = None,
) -> Gated:
    """Judge the new result by one or more earlier ones; `known` says how far rows spread, `allowed`
    which rows may be missing: there, or such that they cannot be compared. None: no row may."""
    name, result = new
    pairs.say_uncounted(*new)
    for side in (*bases, new):
        pairs.check_timed(*side, force)
    for base in bases:
        pairs.check_factors(pairs.differing_factors(base[1], result), base[0], force)
        _check_kind(base, new, force)
        pairs.check_origin(base, new)
    rows = pair_up([base for _, base in bases], result)
    both = sum(bool(pair.bases and pair.new) for pair in rows)
    if not both:
        raise TockmarkError(f"{name} has no row that the base has, too", "give runs of one suite")
    known_rows = {pair.row.key for pair in rows if pair.bases}
    warnings = [f"the new result is incomplete: {why}" for why in _besides(result, known_rows)]
    notes = [
        f"{side}: readings cost something else in {_boots(one)} than where they were"
        " measured: their rows are taken by the control, as their lines say"
        for side, one in (*bases, new)
        if one.mended
    ]
    gone: list[Finding] = []
    left_out: list[str] = []
    usable: list[Usable] = []

    def lost(row: Row, why: str) -> None:
        """Note that a row is not there as the base has it: it may not pass as if it had not got
        worse."""
        if allowed is not None and allowed.means(row):
            left_out.append(row.name)
        else:
            gone.append(Finding(Level.HARD, row, why))

    for pair in rows:
        row, now = pair.row, pair.new
        good = [side for side in pair.bases if side[1].sound]
        good = [side for side in good if not _unlike(good[-1][1], side[1])]
        if not pair.bases:
            continue
        if not good:
            never = now is not None and not now.sound
            (notes if never else warnings).append(f"{row.name}: no base is good: {row.unsound}")
        elif now is not None and now.unsound:
            gone.append(Finding(Level.HARD, row, now.unsound))
        elif now is None and pair.gone:
            lost(row, ": ".join(filter(None, pair.gone)))
        elif now is None:
            lost(row, "it is not there")
        elif why := (
            _unlike(good[-1][1], now)
            or _lacks(good[-1][1], now)
            or booted_otherwise(good[-1], (result, now))
        ):
            lost(now, why)
        else:
            usable.append((good, (result, now)))
    for row in _lost_controls([base for _, base in bases], result):
        if row.name not in {one.row.name for one in gone} | set(left_out):  # of the table
            lost(row, f"the boot {row.boot} does not have it")
    if not (usable or gone or warnings or left_out):
        raise TockmarkError(
            f"{name} has no row whose net cycles can be held against the base's",
            "`tockmark table` shows both",
        )
    compared = comparison([base for _, base in bases], new, rows, usable, [], catalogue, known)
    if compared.rule.moved:
        warnings.append(
            "apps or machine differ: what no kernel touches moved, where the cache has no part in"
            f" it: {_named([row.name for row in compared.rule.moved])}"
        )
    for why in dict.fromkeys(one.why for one in compared.unusable):
        named = [one.name for one in compared.unusable if one.why == why]
        warnings.append(f"not judged: {_named(named)}: {why}")
    if left_out:
        notes.append(f"missing, and allowed to be: {_named(left_out)}")
    for row in compared.rule.noisy:
        why = "no kernel touches it, and with the cache on it differs by more than noise"
        gone.append(Finding(Level.HARD, row, why))
    by_control = {
        sides[-1][1].key: _by_control(sides[-1][1], new_side[1]) for sides, new_side in usable
    }
    gone.sort(key=lambda finding: finding.place)
    moved: list[Moved] = []
    unsure: list[Moved] = []
    perhaps_better: list[Moved] = []
    for one in compared.judged:
        for series, change in one.changes.items():
            limit = last_that_means(one.row, limits[series])
            if limit is None:
                continue
            level, why = _judge(change, one.row.inner, limit)
            if level is not Level.PASS:
                time = one.time_beside(series)
                level, why = _explained(level, why + by_control[one.row.key], time)
                moved.append(Moved(level, one.row, why, series, change, time))
                continue
            level, why = _judge(change.without_doubt, one.row.inner, limit)
            if level is not Level.PASS:
                doubtful = unsure if level > Level.BETTER else perhaps_better
                doubtful.append(Moved(level, one.row, why, series, change))
    moved.sort(key=lambda finding: finding.place)
    return Gated(compared, moved, gone, unsure, perhaps_better, warnings, notes, both)


def _explained(level: Level, why: str, time: Change | None) -> tuple[Level, str]:
    """Return the level of more instructions and its reason by the time as well: where this surely
    fell, they are no worse."""
    if time is None:
        return level, why
    fell = time.lower and not time.unmoved
    return Level.PASS if fell and level > Level.BETTER else level, f"{why}; time {time.words}"


def _boots(result: Result) -> str:
    """Say in how many boots rows are taken by their control."""
    off = {(one.row.boot, one.row.icache, one.row.lang) for one in result.controls if one.mends}
    return f"{len(off)} boot{'s' if len(off) > 1 else ''}"


def _by_control(*rows: Row) -> str:
    """Say in which sides readings are known by the control of the row's boot."""
    sides = [side for side, row in zip(("base", "new"), rows, strict=True) if row.by_control]
    return f"; {BY_CONTROL} ({', '.join(sides)})" if sides else ""


def _check_kind(base: tuple[str, Result], new: tuple[str, Result], force: bool) -> None:
    """Refuse a board's result behind a simulator's, or the reverse, unless told to: less is asked
    of a board's."""
    (name, before), (other, after) = base, new
    if before.simulated != after.simulated and not force:
        kind = {True: "a simulator's", False: "a board's"}
        raise TockmarkError(
            f"{other} is {kind[after.simulated]}, but {name} is {kind[before.simulated]}",
            "`tockmark board agree` compares the two; --force judges one by the other all the same",
        )


def _besides(result: Result, known: Collection[Key]) -> tuple[str, ...]:
    """Return why a result is incomplete, without the bases' rows: these become findings."""
    there = result.table

    def own(row: Row | Absent) -> bool:
        """Return whether a row is no base's; a time.read may be that of another boot than the
        table's."""
        stands = there.get(row.key)
        return row.key not in known or (stands is not None and stands is not row)

    lists = {name: tuple(filter(own, getattr(result, name))) for name in ("rows", *GONE)}
    return replace(result, **lists).unmended  # type: ignore[arg-type]


def _unlike(base: Row, new: Row) -> str | None:
    """Return why samples of two rows are not of one make, if so."""
    sides = ((name, getattr(base, name), getattr(new, name)) for name in MAKE)
    return next((f"its {name} is {now}, not {was}" for name, was, now in sides if was != now), None)


def _lacks(base: Row, new: Row) -> str | None:
    """Return which series a row has not, of those that the base has."""
    for name, word in SERIES_WORDS.items():
        before, after = base.series(name), new.series(name)
        if before is not None and before.nets and (after is None or not after.nets):
            return f"it has no {word}"
    return None


def _lost_controls(bases: Sequence[Result], new: Result) -> list[Row]:
    """Return the controls and readings of boots that both sides have, where the new one has none:
    without them nothing would tell that its readings are wrong."""
    there = {row.identity for row in new.rows}
    boots = {(row.boot, row.icache, row.lang) for row in new.rows if row.id not in OF_BOOT}
    found = {
        row.identity: row
        for base in bases
        for row in base.rows
        if row.id in OF_BOOT and (row.boot, row.icache, row.lang) in boots
    }
    return [row for identity, row in found.items() if identity not in there]


def _named(rows: list[str]) -> str:
    """Say how many rows there are, and name the first of them."""
    more = ", …" if len(rows) > NAMED else ""
    return f"{len(rows)} row{'s' if len(rows) > 1 else ''} ({', '.join(rows[:NAMED])}{more})"


def _judge(changed: Change, inner: int, limit: Limit) -> tuple[Level, str]:
    """Judge one change by its limits, which are counts of a sample."""
    base = max(changed.base * inner, 1)
    growth, loss = ((share - ROUNDING) * base for share in (changed.low - 1, 1 - changed.high))
    for bound, level in ((limit.hard, Level.HARD), (limit.soft, Level.SOFT)):
        if bound and growth > limit.allowed(bound, base):
            return level, f"over {bound.text}"
    if limit.soft and loss > limit.allowed(limit.soft, base):
        return Level.BETTER, f"over {limit.soft.text}"
    return Level.PASS, ""
