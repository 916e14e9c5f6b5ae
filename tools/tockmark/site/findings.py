# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What a site says first, in sentences that are made when the page is made.

A figure in a sentence is a change whose verdict is worse or better, and its range is
that of the intervals: from the least end to the greatest, over the rows that it stands for. Only
such a figure is shown in bold. A cost is no judgement, and its range is that over links.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from tockmark.compare.pairs import Comparison, Mean
from tockmark.compare.verdict import JUDGED, MOVED, Answer, RowVerdict, Verdict, of_change
from tockmark.result.model import Row, microseconds
from tockmark.show import text
from tockmark.show.answer import headline
from tockmark.site import edited
from tockmark.site.model import Site, SiteColumn, SitePair, is_baseline
from tockmark.suite.catalogue import LANGS, Catalogue, RowKey, row_key
from tockmark.suite.selection import only_one, screen

TOPICS = 3  # of a sentence in one direction; the comparison has all
EACH_WAY = 5  # rows of what moved most
LITTLE = 0.005  # of the flash: less is not told
MINUS = "\u2212"


@dataclass(frozen=True)
class SureFigure:
    """A figure that the rule calls sure, as a sentence shows it, and what it stands for: a group
    and a direction, a row, or the mean."""

    text: str
    of: str


Part = str | SureFigure
Sentence = list[Part]


def signed(ratio: float) -> str:
    """Write a change in percent without its unit, with its sign."""
    points = (ratio - 1) * 100
    return f"{'+' if points >= 0 else MINUS}{digits(abs(points))}"


def digits(points: float) -> str:
    """Write a share in percent: whole from 10 up, else with a digit behind the point."""
    return f"{points:.{0 if points >= 10 else 1}f}"


def span(low: float, high: float) -> str:
    """Write the range of a change."""
    ends = [signed(low), signed(high)]
    return f"{ends[0]} to {ends[1]} %" if ends[0] != ends[1] else f"{ends[0]} %"


def sure(row: RowVerdict) -> bool:
    """Return whether the cycles of a row surely changed by more than the margin."""
    return row.verdict in MOVED


@dataclass(frozen=True)
class Topic:
    """What surely moved in one direction, of the rows of one group with one cache setting."""

    group: str
    lower: bool
    moved: tuple[RowVerdict, ...]
    rows: int  # of the group that have a verdict

    @property
    def size(self) -> float:
        return max(row.size for row in self.moved)

    @property
    def figure(self) -> SureFigure:
        """From the least end of the intervals to the greatest."""
        ranges = [row.range for row in self.moved if row.range]
        ends = span(1 + min(low for low, _ in ranges), 1 + max(high for _, high in ranges))
        return SureFigure(ends, f"{self.group} {'lower' if self.lower else 'higher'}")

    @property
    def words(self) -> Sentence:
        """Name the group and its figure, with how many of its rows if not all."""
        many = len(self.moved)
        some = f"{many} of {self.rows} rows, " if many < self.rows else ""
        return [f"{edited.in_words(self.group)} ({some}", self.figure, ")"]


def topics(pair: SitePair) -> list[Topic]:
    """Return what surely moved with the setting that is told first, the largest change first."""
    groups: dict[str, list[RowVerdict]] = {}
    for one in _told_first(pair):
        groups.setdefault(one.group, []).append(one)
    found = [
        Topic(group, verdict is Verdict.BETTER, moved, len(some))
        for group, some in groups.items()
        for verdict in MOVED
        if (moved := tuple(one for one in some if one.verdict is verdict))
    ]
    return sorted(found, key=lambda topic: -topic.size)


def _told_first(pair: SitePair) -> list[RowVerdict]:
    """Return the rows with a verdict in the leading language, with the setting told first."""
    judged = pair.answer.that_are(*JUDGED) if pair.answer else []
    langs = {one.row.lang for one in judged}
    first = next((lang for lang in LANGS if lang in langs), None)
    return [one for one in judged if one.row.lang == first and one.row.icache is pair.icache]


def sentence(pair: SitePair) -> Sentence:
    """Say in one sentence what a pair has shown."""
    found, answer = pair.comparison, pair.answer
    assert found is not None
    assert answer is not None
    base, new = pair.names
    slower, faster = (
        [one for one in topics(pair) if one.lower is lower] for lower in (False, True)
    )
    mean = found.mean
    if mean and mean_verdict(mean, found) in MOVED and bool(slower) is not bool(faster):
        more = "fewer" if faster else "more"
        ends = sorted(abs(end - 1) * 100 for end in (mean.change.low, mean.change.high))
        change = SureFigure(f"{digits(abs(mean.ratio - 1) * 100)} % {more} cycles", "mean")
        over = f"in the mean over {mean.benchmarks} benchmarks of the kernel"
        span_ = f"{digits(ends[0])} to {digits(ends[1])} %"
        return [f"{new} takes ", change, f" ({span_}) than {base}, {over}{_flash(pair)}."]
    said: Sentence = []
    for some, word in ((slower, "slower"), (faster, "faster")):
        if some:
            start = f"{new} is {word} than {base} at " if not said else f"; {word} at "
            said += [start, *_listed(some)]
    if said:
        return [*said, f"{_flash(pair)}."]
    return [f"{text.sentence(headline(answer))}."]


def _listed(some: Sequence[Topic]) -> Sentence:
    said: Sentence = []
    named = some[:TOPICS]
    more = len(some) - len(named)
    for place, topic in enumerate(named):
        last = place == len(named) - 1 and not more
        said += [" and " if last else ", "] * (place > 0)
        said += topic.words
    return [*said, f" and {more} group{'s' if more > 1 else ''} more"] if more else said


def _flash(pair: SitePair) -> str:
    """Say how the flash of the kernels differs, if that is known and much."""
    one, two = (side.result.provenance.kernel.flash_bytes for side in (pair.base, pair.new))
    if not one or not two or abs(two / one - 1) < LITTLE:
        return ""
    return f"; flash {signed(two / one)} %"


def cost_sentence(site: Site) -> str:
    """Say what the operations of the first screen's first kernel take; nothing without a clock."""
    for group in site.groups[:1]:
        column = group.columns[0]
        costs = [
            f"{words} takes {us_of(row)}" if place == 0 else f"{words} {us_of(row)}"
            for place, (words, row) in enumerate(_costs(column, site.catalogue))
        ]
        if costs:
            several = len(costs) > 1
            listed = f"{', '.join(costs[:-1])} and {costs[-1]}" if several else costs[0]
            return f"On {group.names[0]} {listed}."
    return ""


def _costs(column: SiteColumn, catalogue: Catalogue) -> list[tuple[str, Row]]:
    keys = [
        (words, row_key(*only_one(catalogue, term))) for term, words in edited.load().costs.items()
    ]
    rows = [(words, column.rows.get(key)) for words, key in keys]
    return [(words, row) for words, row in rows if row and row.sound and row.us is not None]


def us_of(row: Row) -> str:
    """Write the time of one operation, with its range over links."""
    return f"{us(row.us)} µs" + (f" ({found})" if (found := us_range(row)) else "")


def us(value: float | None) -> str:
    """Write a time in µs with three digits."""
    rounded = text.three_digits(value)
    return text.NONE if rounded is None else text.trimmed(rounded)


def us_range(row: Row) -> str:
    """Write the least and the most time of one operation over links; nothing of one."""
    nets = row.cycles.nets if row.cycles else ()
    if len(nets) < 2 or not row.clock_hz:
        return ""
    least, most = (
        us(microseconds(net / row.inner, row.clock_hz)) for net in (min(nets), max(nets))
    )
    return least if least == most else f"{least} to {most}"


def moved_most(pair: SitePair) -> dict[str, list[RowVerdict]]:
    """Return what surely moved most, slower and faster: of each group one row, since what moves the
    rows of a group is mostly one thing."""
    found: dict[str, list[RowVerdict]] = {}
    for verdict in MOVED:
        moved = [one for one in _told_first(pair) if one.verdict is verdict]
        best: dict[str, RowVerdict] = {}
        for one in sorted(moved, key=lambda one: -one.size):
            best.setdefault(one.group, one)
        if best:
            found[verdict.capitalize()] = list(best.values())[:EACH_WAY]
    return found


def counts(pair: SitePair) -> dict[str, int]:
    """Count the verdicts of a comparison, by their words."""
    found = Counter(one.verdict for one in pair.answer.rows) if pair.answer else Counter()
    return {verdict.value: found[verdict] for verdict in Verdict if found[verdict]}


def mean_words(mean: Mean) -> str:
    """Write a mean with its range."""
    low, high = mean.change.low, mean.change.high
    known = span(low, high) if math.isfinite(high) else "spread unknown"
    return f"{signed(mean.ratio)} % ({known})"


def mean_verdict(mean: Mean, comparison: Comparison) -> Verdict:
    """Return what is said of a mean."""
    return of_change(mean.change, comparison.margin)


def without_figures(answer: Answer) -> dict[str, list[str]]:
    """Return the names of the rows that have no figures of both sides, by verdict and reason."""
    found: dict[str, list[str]] = {}
    for one in answer.rows:
        if one.before is None:
            words = f"{one.verdict}: {one.why}" if one.why else str(one.verdict)
            found.setdefault(words, []).append(one.row.name)
    return found


def names_of_rows(catalogue: Catalogue) -> dict[RowKey, str]:
    """Return the labels of the first screen, by the rows that they stand for."""
    return {key: words for rows in screen(catalogue).values() for words, key in rows.items()}


def title(site: Site) -> str:
    """Return the title of the first page: whose costs it shows."""
    for group in site.groups[:1]:
        named = zip(group.names, group.results, strict=True)
        others = [name for name, one in named if not is_baseline(one)]
        names = list(dict.fromkeys(others or group.names))
        if len(names) <= TOPICS:
            listed = f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]
            return f"What {listed} {'cost' if len(names) > 1 else 'costs'}"
        return f"What {len(names)} kernels cost"
    return "What the operating system costs"
