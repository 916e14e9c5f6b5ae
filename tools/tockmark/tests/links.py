# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Compare committed results of several links of a kernel with each other."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache

from tockmark.base.paths import RESULTS
from tockmark.compare.limits import load_limits
from tockmark.compare.pairs import DEFAULT_MARGINS, compare
from tockmark.compare.spread import Spread, spread_over_links
from tockmark.compare.verdict import JUDGED, MOVED, Judgement, judge_comparison
from tockmark.result import file
from tockmark.result.model import Result
from tockmark.result.provenance import unlike_benchmarks
from tockmark.suite.catalogue import load
from tockmark.suite.selection import Selection

FOLDER = RESULTS / "links"
PAIRS = 12
SIDE = 4  # links
KNOWN = load()
LIMITS = load_limits(None, KNOWN)

TRIES = 20  # pairs on which each change is tried


@cache
def pool(name: str) -> Result:
    """Return a committed result of several links."""
    return file.load(FOLDER / f"{name}.json")


def at(result: Result, links: Sequence[int]) -> Result:
    """Return the result in some of its layouts."""
    return result.in_layouts(list(links))


def layouts(result: Result) -> int:
    """Return the number of layouts of a result."""
    return max(len(row.cycles.nets) for row in result.rows if row.cycles)


def halves(result: Result, side: int, many: int) -> Iterator[tuple[Result, Result, Spread]]:
    """Yield random disjoint sets of links, and the spread of the remaining links."""
    draw = random.Random(12)
    for _ in range(many):
        order = draw.sample(range(layouts(result)), layouts(result))
        rest = spread_over_links(at(result, order[2 * side :]), "the other links")
        yield at(result, order[:side]), at(result, order[side : 2 * side]), rest


@cache  # every change is tried on the same pairs
def tried(side: int) -> tuple[tuple[Result, Result, Spread], ...]:
    """Return the pairs of links on which changes are tried."""
    return tuple(halves(pool("tock-2.2"), side, TRIES))


def incomparable(base: Result, new: Result) -> frozenset[str]:
    """Return the benchmarks that may differ between the simulators of two results, or that only
    one of them has."""
    first, other = (side.provenance.board.simulator_sha256 for side in (base, new))
    of_base, of_new = ({row.id for row in side.rows} for side in (base, new))
    return (unlike_benchmarks(first, other) or frozenset()) | (of_base ^ of_new)


def judged(base: Result, new: Result, spread: Spread) -> Judgement:
    """Judge by the default limits, without benchmarks that cannot be compared."""
    unlike = incomparable(base, new)
    base, new = (
        replace(side, rows=tuple(row for row in side.rows if row.id not in unlike))
        for side in (base, new)
    )
    compared = compare(base, new, "new", KNOWN, DEFAULT_MARGINS, spread, strict=True)
    return judge_comparison(compared, LIMITS, allowed=Selection(KNOWN))


def moved(base: Result, new: Result, spread: Spread) -> tuple[int, int]:
    """Return the number of judged rows, and of those that changed."""
    rows = judged(base, new, spread).rows_with(*JUDGED)
    return len(rows), sum(bool(row.moved) or row.verdict in MOVED for row in rows)
