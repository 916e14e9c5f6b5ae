# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The page of a comparison: what moved, first, and every row with the words of `compare`, which
judges them."""

from dataclasses import dataclass

from tockmark.judge.compare import Comparison
from tockmark.judge.compare import Pair as Judged
from tockmark.judge.factors import Factor
from tockmark.judge.verdict import Verdict
from tockmark.result.model import ICACHE
from tockmark.show import agree_text, compare_text, text
from tockmark.site.overview import moved
from tockmark.site.sorted import Kernel, Pair, Sorted
from tockmark.suite.catalogue import LANGS


@dataclass(frozen=True)
class Line:
    """A row of both, as `compare` shows it, and the ratio of its cycles."""

    id: str
    label: str
    icache: str
    lang: str
    base: str
    new: str
    ratio: str
    change: str
    interval: str
    instructions: str
    verdict: str
    kind: str  # for its colour: lower, higher, or none


@dataclass(frozen=True)
class Page:
    """All of it."""

    pair: Pair
    base: Kernel
    new: Kernel
    told: str
    factors: list[Factor]
    summed: list[str]
    meaning: list[str]
    margin: str
    spread: str
    agreed: str | None
    lines: list[Line]


def page(site: Sorted, pair: Pair, comparison: Comparison) -> Page:
    """The page of one pair."""
    return Page(
        pair,
        site.kernel_of(pair.base),
        site.kernel_of(pair.new),
        compare_text.told(comparison),
        comparison.factors,
        compare_text.summed(comparison, "B"),
        [text.sentence(compare_text.MEANING[verdict]) for verdict in Verdict],
        text.percent(comparison.margin),
        comparison.rule.known.title,
        agree_text.told(pair.agreement) if pair.agreement else None,
        lines(moved(comparison.pairs())),
    )


def lines(pairs: list[Judged]) -> list[Line]:
    """Rows in the order given."""
    return [_line(one) for one in pairs]


def _line(pair: Judged) -> Line:
    base, new, change, interval, instructions, verdict = compare_text.cells(pair)
    row = pair.row
    kind = ""
    if pair.verdict is Verdict.RELEVANT:
        kind = "lower" if pair.cycles.lower else "higher"
    return Line(
        row.id,
        row.label,
        ICACHE[row.icache],
        LANGS[row.lang],
        base,
        new,
        text.ratio(pair.cycles.ratio),
        change,
        interval,
        instructions,
        verdict,
        kind,
    )
