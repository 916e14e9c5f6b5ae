# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verdict on a change, with as few simulations as it takes.

Every row is measured in one link of each side. That decides the instructions, which do not depend
on the layout. Of cycles some rows may be beyond a limit, or it is their layout: these alone are
measured in two links a side, and what is still in doubt in four, as far as links can be had. The
rule is gate's throughout (judge/verdict.py): here is only decided what is run.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import msgspec

from tockmark.errors import TockmarkError
from tockmark.judge import compare, gate, spread
from tockmark.judge.gate import Entry, Gated
from tockmark.judge.verdict import Change
from tockmark.result.layouts import joined
from tockmark.result.model import Result, Row
from tockmark.suite.catalogue import Catalogue
from tockmark.suite.select import Selection

LINKS = 4  # of a side, at most, unless told otherwise


class Side(Protocol):
    """One kernel in links that differ in layout only, and what measures it."""

    @property
    def name(self) -> str:
        """What to call it."""
        ...

    def measured(self, first: int, last: int, wanted: Selection) -> list[Result]:
        """Some rows in the links from number `first` up to `last`, without it: a result of each;
        fewer where there are no more links. TockmarkError if they cannot be measured."""
        ...


@dataclass(frozen=True)
class Moved:
    """One row that moved for certain, in one quantity, by one operation."""

    row: Row  # the base's
    series: str  # cycles or instret
    change: Change
    level: gate.Level  # PASS: it moved within the limits


@dataclass(frozen=True)
class Judged:
    """The verdict, and the results that it was reached by."""

    names: tuple[str, str]
    results: tuple[Result, Result]
    gated: Gated
    comparison: compare.Comparison
    looked_again: tuple[int, ...]  # rows that were in doubt after each look but the last

    @property
    def moved(self) -> list[Moved]:
        """All that moved for certain: instructions of an operation by one or more, and not by a
        stray one or two of a sample; cycles by more than a limit with their whole interval. In the
        order of trust, the largest change first."""
        findings = {
            (finding.of.key, gate.SERIES[finding.series]): finding
            for finding in self.gated.findings
            if finding.of is not None and finding.series is not None
        }
        found = []
        for pair in self.comparison.pairs():
            for series, change in (("instret", pair.instret), ("cycles", pair.cycles)):
                if not pair.judged or change is None:
                    continue
                finding = findings.get((pair.row.key, series))
                level = finding.level if finding else gate.Level.PASS
                counted = series == "instret" and abs(change.new - change.base) >= 1
                if finding or (counted and not change.unmoved):
                    found.append(Moved(pair.row, series, change, level))
        return sorted(found, key=lambda one: (one.series == "cycles", -one.change.size))


def judge(
    base: Side,
    head: Side,
    wanted: Selection,
    rules: list[Entry],
    most: int = LINKS,
    known: spread.Spread | None = None,
) -> Judged:
    """Measure both sides until no row is in doubt, or `most` links of each are measured. `known` is
    how far rows spread over links; None: what committed results say of the base."""
    catalogue = wanted.catalogue
    of_both = [side.measured(0, 1, wanted) for side in (base, head)]
    doubts: list[int] = []
    count = 1
    while True:
        results = [whole(of_side) for of_side in of_both]
        told = known or spread.known(results[0])
        named = list(zip((base.name, head.name), results, strict=True))
        gated = gate.gate([named[0]], named[1], rules, catalogue, told)
        if not gated.judged:
            raise TockmarkError(
                "no row that a kernel touches was measured on both sides", "leave out --only"
            )
        if not gated.unsure or count >= most:
            break
        count = min(2 * count, most)
        again = doubtful(gated, catalogue)
        more = [
            side.measured(len(of_side), count, again)
            for side, of_side in zip((base, head), of_both, strict=True)
        ]
        if not any(more):
            break
        doubts.append(len(again.terms))
        of_both = [had + new for had, new in zip(of_both, more, strict=True)]
    compared = compare.compare(
        results[0], results[1], head.name, catalogue, compare.Margins(), told
    )
    return Judged((base.name, head.name), (results[0], results[1]), gated, compared, tuple(doubts))


def whole(of_links: Sequence[Result]) -> Result:
    """The results of several links as one: rows that were measured in one only have one layout."""
    made = joined(of_links)
    layouts = tuple(layout for result in of_links for layout in result.provenance.layouts)
    return replace(made, provenance=msgspec.structs.replace(made.provenance, layouts=layouts))


def doubtful(gated: Gated, catalogue: Catalogue) -> Selection:
    """The rows that may be beyond a limit, or it is their layout."""
    rows = dict.fromkeys(name.rpartition(" ")[0] for name in gated.unsure)
    return Selection(catalogue, tuple(rows))
