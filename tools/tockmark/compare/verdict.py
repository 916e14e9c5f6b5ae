# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verdict of each row, and the judgement of a whole comparison.

`judge_pair` gives one row its verdict. `judge_comparison` collects the verdicts of all rows in a
`Judgement`, which has the exit code. Cycles decide and instructions explain: more instructions are
beyond a limit only if the cycles did not certainly fall.
"""

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property

from tockmark.base.errors import INCOMPLETE, OK, REGRESSION
from tockmark.compare.limits import SERIES_WORDS, Limit, Limits, last_match
from tockmark.compare.pairs import Comparison, LoneRow, Pair
from tockmark.compare.rule import Change
from tockmark.compare.spread import ROUNDING
from tockmark.result.model import ABSENT_LISTS, Result, Row
from tockmark.suite.catalogue import HARNESS_ROWS, Key, RowName
from tockmark.suite.selection import Selection
from tockmark.wire.rows import Absent

MAKE = ("inner", "reads", "by", "clock")  # properties of samples that limits depend on
CONTROL_SUBTRACTED = "control subtracted"
SAME_KERNEL = "both sides are the same kernel"
NOISY = "it differs by more than noise with the cache on, though it runs no kernel code"
NAMED = 8  # rows that a warning lists
FOLDED = 5  # rows of this rank and below share a line


class Verdict(StrEnum):
    """The verdict on the cycles of a row."""

    WORSE = "worse"
    BETTER = "better"
    UNSURE = "unsure"
    SAME = "same"
    GONE = "gone"
    NEW = "new"
    NOT_JUDGED = "not judged"


MOVED = (Verdict.WORSE, Verdict.BETTER)
JUDGED = (*MOVED, Verdict.UNSURE, Verdict.SAME)
MEANING = {
    Verdict.WORSE: "certainly more cycles, by more than the margin or a limit",
    Verdict.BETTER: "certainly fewer cycles, by more than the margin",
    Verdict.UNSURE: "the range crosses the margin: measure more links",
    Verdict.SAME: "the whole range is within the margin",
    Verdict.GONE: "the new side does not have the row as the base does",
    Verdict.NEW: "the base does not have the row",
    Verdict.NOT_JUDGED: "it runs no kernel code, so it shows layout, or has no valid figure",
}


def verdict_of(change: Change, margin: float) -> Verdict:
    """Return the verdict on a change: whether its interval is above, below, within or across the
    zone that the margin makes around 1."""
    edge = math.log1p(margin) + ROUNDING
    low, high = (math.log(end) if end > 0 else -math.inf for end in (change.low, change.high))
    if low > edge:
        return Verdict.WORSE
    if high < -edge:
        return Verdict.BETTER
    return Verdict.SAME if -edge <= low and high <= edge else Verdict.UNSURE


@dataclass(frozen=True)
class Instructions:
    """The instructions of one operation on both sides."""

    before: float
    after: float
    moved: float = 0  # the change, if it is certain; else 0
    limit: Limit = Limit.NONE


@dataclass(frozen=True)
class RowVerdict:
    """The verdict on one row. Cycles are per operation; changes are relative."""

    row: RowName  # the base's, if it has the row
    verdict: Verdict
    before: float | None = None
    after: float | None = None
    estimate: float | None = None  # None: there is no ratio
    range: tuple[float, float] | None = None
    instructions: Instructions | None = None  # None if a clock times the row
    limit: Limit = Limit.NONE  # that its cycles exceed, or HARD because it is gone
    where: str = ""  # the functions that changed, if known
    why: str = ""  # why the row is gone or not judged, or a note on its figures
    in_doubt: bool = False  # the estimate is beyond a limit or the margin, but not the range

    @property
    def group(self) -> str:
        """The group of the catalogue."""
        return self.row.id.partition(".")[0]

    @property
    def moved(self) -> float:
        """The certain change in instructions of one operation, or 0."""
        return self.instructions.moved if self.instructions else 0

    @property
    def size(self) -> float:
        """The absolute size of the change in cycles, as a logarithm."""
        if self.before == self.after:
            return 0
        return abs(math.log1p(self.estimate)) if self.estimate is not None else math.inf

    @property
    def trusted_size(self) -> float:
        """The absolute size of the change in instructions, or in cycles if these are unchanged."""
        count = self.instructions
        if not count or not count.moved:
            return self.size
        low, high = sorted((count.before, count.after))
        return math.log(high / low) if low > 0 else math.inf

    @property
    def rank(self) -> int:
        """The rank of the row by how much it needs attention: 0 is the worst."""
        order = (
            self.limit is Limit.HARD and self.verdict not in JUDGED,
            self.verdict is Verdict.WORSE,
            self.in_doubt,
            self.verdict is Verdict.BETTER,
            bool(self.moved),
            self.verdict is Verdict.UNSURE,
            self.verdict is Verdict.SAME,
            True,
        )
        return order.index(True)

    @property
    def is_news(self) -> bool:
        """Whether the row gets a line of its own."""
        return self.rank < FOLDED

    @property
    def sort_key(self) -> tuple[int, float]:
        """The sort key: by rank, then by the largest change."""
        return self.rank, -self.size


@dataclass(frozen=True)
class Judgement:
    """The verdicts of all rows: the group with the worst row first, and in it the worst row."""

    rows: tuple[RowVerdict, ...]
    links: str = ""  # the number of links of both sides, in words
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()  # facts for the reader that are no warning
    cautions: tuple[str, ...] = ()  # what to know before the rows, for the first line

    @cached_property
    def groups(self) -> dict[str, list[RowVerdict]]:
        """The verdicts by group of the catalogue, in order."""
        rows_by_group: dict[str, list[RowVerdict]] = {}
        for row in self.rows:
            rows_by_group.setdefault(row.group, []).append(row)
        return rows_by_group

    def rows_with(self, *verdicts: Verdict) -> list[RowVerdict]:
        """Return the rows with one of these verdicts."""
        return [row for row in self.rows if row.verdict in verdicts]

    @property
    def moved(self) -> list[RowVerdict]:
        """The rows that certainly changed: rows with changed instructions first, then by the size
        of the change."""
        moved = [row for row in self.rows_with(*JUDGED) if row.moved or row.verdict in MOVED]
        return sorted(moved, key=lambda row: (not row.moved, -row.trusted_size))

    @property
    def limit(self) -> Limit:
        """The worst limit that is exceeded; a warning counts as a soft one."""
        limits = [part.limit for row in self.rows for part in (row, row.instructions) if part]
        return max([*limits, Limit.SOFT if self.warnings else Limit.NONE])

    @property
    def exit_code(self) -> int:
        """The exit code of a judgement by limits: only a hard limit is a regression."""
        if self.limit is Limit.HARD:
            return REGRESSION
        return INCOMPLETE if self.warnings else OK


def sorted_verdicts(rows: Sequence[RowVerdict]) -> tuple[RowVerdict, ...]:
    """Return verdicts in the order of a judgement."""
    ordered = sorted(rows, key=lambda row: row.sort_key)
    first: dict[str, tuple[int, float]] = {}
    for row in ordered:
        first.setdefault(row.group, row.sort_key)
    return tuple(sorted(ordered, key=lambda row: (first[row.group], row.group)))


def judge_comparison(
    comparison: Comparison, limits: Limits | None = None, allowed: Selection | None = None
) -> Judgement:
    """Judge all rows of a comparison. With `limits`, growth must stay within them, and no row may
    be gone unless `allowed` selects it."""
    rows: list[RowVerdict] = []
    gone = {lone.row.name: lone for lone in comparison.gone}
    for pair in comparison.pairs:
        if limits and (why := _unlike(pair)):
            gone[pair.row.name] = LoneRow(pair.row, why)
        else:
            rows.append(judge_pair(pair, limits, noisy=pair.row in comparison.rule.noisy))
    for row in _lost_readings(comparison) if limits else ():
        gone.setdefault(row.name, LoneRow(row, f"the boot {row.boot} does not have it"))
    for lone in gone.values():
        excused = not limits or (allowed is not None and allowed.includes(lone.row))
        limit = Limit.NONE if excused else Limit.HARD
        rows.append(RowVerdict(lone.row, Verdict.GONE, limit=limit, why=lone.why))
    rows += [RowVerdict(row, Verdict.NEW) for row in comparison.added]
    for lone in (*comparison.unusable, *comparison.few):
        rows.append(RowVerdict(lone.row, Verdict.NOT_JUDGED, why=lone.why))
    warnings = tuple(_warnings(comparison)) if limits else ()
    return Judgement(
        sorted_verdicts(rows),
        comparison.links_text,
        warnings,
        tuple(_notes(comparison)),
        tuple(_cautions(comparison)),
    )


def judge_pair(pair: Pair, limits: Limits | None = None, noisy: bool = False) -> RowVerdict:
    """Judge one row that both sides have. `noisy`: it is a row of the apps that differs by more
    than noise, which is beyond every limit."""
    cycles, count = pair.cycles, pair.instret
    ratio, sides = cycles.ratio, (pair.row, pair.new)
    row_verdict = RowVerdict(
        pair.row,
        verdict_of(cycles, pair.margin),
        cycles.base,
        cycles.new,
        None if ratio is None else ratio - 1,
        None if ratio is None else (cycles.low - 1, cycles.high - 1),
        Instructions(count.base, count.new) if count else None,
        why=CONTROL_SUBTRACTED if any(row.series_from_control for row in sides) else "",
    )
    if not pair.judged:
        row_verdict = replace(row_verdict, verdict=Verdict.NOT_JUDGED)
        hard = noisy and limits
        return replace(row_verdict, limit=Limit.HARD, why=NOISY) if hard else row_verdict
    if count:
        row_verdict = replace(row_verdict, instructions=_judge_count(pair, count, limits))
    if limits is None:
        in_doubt = row_verdict.verdict is Verdict.UNSURE and cycles.point > 1 + pair.margin
        return replace(row_verdict, in_doubt=in_doubt)
    limit = _exceeded(pair.row, cycles, "cycles", cycles.low, limits)
    in_doubt = not limit and bool(_exceeded(pair.row, cycles, "cycles", cycles.point, limits))
    verdict = Verdict.WORSE if limit else row_verdict.verdict
    if verdict is Verdict.SAME and _exceeded(pair.row, cycles, "cycles", cycles.high, limits):
        verdict = Verdict.UNSURE
    return replace(row_verdict, verdict=verdict, limit=limit, in_doubt=in_doubt)


def _judge_count(pair: Pair, count: Change, limits: Limits | None) -> Instructions:
    """Return the change in instructions of a row, which is certain unless it may be the counter's
    own."""
    limit = Limit.NONE
    if limits and not (pair.cycles.lower and not pair.cycles.contains_one):
        limit = _exceeded(pair.row, count, "instret", count.low, limits)
    moved = 0 if count.contains_one else count.new - count.base
    return Instructions(count.base, count.new, moved, limit)


def _exceeded(row: Row, change: Change, series: str, ratio: float, limits: Limits) -> Limit:
    """Return the limit that a row exceeds if a series of it grew by this ratio. Limits are in
    counts of a sample."""
    own = last_match(row, limits[series])
    base = max(change.base * row.inner, 1)
    return own.exceeded(ratio - 1 - ROUNDING, base) if own else Limit.NONE


def _unlike(pair: Pair) -> str:
    """Return why limits do not apply to a row because its samples are made differently, or ""."""
    for name in MAKE:
        was, now = getattr(pair.row, name), getattr(pair.new, name)
        if was != now:
            return f"its {name} is {now}, not {was}"
    for name, word in SERIES_WORDS.items():
        before, after = pair.row.series(name), pair.new.series(name)
        if before and before.nets and not (after and after.nets):
            return f"it has no {word}"
    return ""


def _lost_readings(comparison: Comparison) -> list[Row]:
    """Return the controls and time.read rows that the new side lacks in boots of both sides.
    Without controls, wrong readings would go unnoticed."""
    base, new = comparison.base, comparison.new
    there = {row.identity for row in new.rows}
    boots = {(row.boot, row.icache, row.lang) for row in new.rows if row.id not in HARNESS_ROWS}
    return [
        row
        for row in base.rows
        if row.id in HARNESS_ROWS
        and (row.boot, row.icache, row.lang) in boots
        and row.identity not in there
    ]


def _warnings(comparison: Comparison) -> Iterator[str]:
    """Yield the warnings of a judgement by limits: reasons why it does not pass."""
    base, new = comparison.base, comparison.new
    for why in _incomplete(new, base.table.keys()):
        yield f"the new result is incomplete: {why}"
    for lone in comparison.unusable:
        row = new.table.get(lone.row.key)
        if row is not None and row.sound:
            yield f"{lone.name}: {lone.why}"
    if changed_apps := comparison.rule.changed_apps:
        yield (
            "apps or machine differ: rows that run no kernel code changed, and not by the cache:"
            f" {_named([row.name for row in changed_apps])}"
        )
    for why in dict.fromkeys(lone.why for lone in comparison.few):
        names = [lone.name for lone in comparison.few if lone.why == why]
        yield f"not judged: {_named(names)}: {why}"


def _incomplete(result: Result, base_keys: Collection[Key]) -> tuple[str, ...]:
    """Return why a result is incomplete, except for rows that the base has: these are gone."""
    there = result.table

    def own(row: Row | Absent) -> bool:
        """Return whether a row is not in the base's table; a time.read may be of another boot."""
        listed = there.get(row.key)
        return row.key not in base_keys or (listed is not None and listed is not row)

    lists = {name: tuple(filter(own, getattr(result, name))) for name in ("rows", *ABSENT_LISTS)}
    return replace(result, **lists).uncorrected  # type: ignore[arg-type]


def _cautions(comparison: Comparison) -> Iterator[str]:
    """Yield what makes a comparison weaker than its verdicts look."""
    if not comparison.factors and comparison.base.provenance.kernel.sha256:
        yield SAME_KERNEL
    for name, result in (("the base", comparison.base), (comparison.name, comparison.new)):
        if result.uncorrected:
            yield f"{name} is incomplete"


def _notes(comparison: Comparison) -> Iterator[str]:
    """Yield notes on new rows, and on rows whose overhead was replaced by the control."""
    if comparison.added:
        yield f"the base lacks {_named([row.name for row in comparison.added])}: no verdict"
    for name, result in (("the base", comparison.base), (comparison.name, comparison.new)):
        if result.corrected:
            keys = {
                (c.row.boot, c.row.icache, c.row.lang)
                for c in result.controls
                if c.replaces_reading
            }
            boots = f"{len(keys)} boot{'s' if len(keys) > 1 else ''}"
            yield (
                f"{name}: the overhead changed in {boots} after it was measured. The null control"
                f' is subtracted from their rows instead, which are marked "{CONTROL_SUBTRACTED}"'
            )


def _named(rows: Sequence[str]) -> str:
    """Return the number of rows, and the names of the first NAMED."""
    more = ", …" if len(rows) > NAMED else ""
    return f"{len(rows)} row{'s' if len(rows) > 1 else ''} ({', '.join(rows[:NAMED])}{more})"
