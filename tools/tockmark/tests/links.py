# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Committed results of several links of a kernel, and what the rule makes of
them: false alarms between links of one source, and the smallest change that is found.

    python -m tockmark.tests.links

prints the tables of docs/method.md. Links of one source of each committed kernel are judged by
each other (`standing`), those of Tock 2.2 also as if one side had changed.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import permutations

from tockmark.compare.limits import Limit, load_limits
from tockmark.compare.pairs import NO_MARGINS, compare
from tockmark.compare.spread import Spread, known_spread, over_links
from tockmark.compare.verdict import JUDGED, MOVED, Answer, answer
from tockmark.paths import RESULTS
from tockmark.result import file
from tockmark.result.model import Result, Series
from tockmark.suite.catalogue import load
from tockmark.suite.selection import Selection
from tockmark.tests.rows import recounted

FOLDER = RESULTS / "links"
STANDING = {  # kernels whose links are judged by each other, and how many links they have at least
    **{f"opt/baseline-{level}": 16 for level in "3zs2"},
    "links/tock-2.2": 16,
    "links/further": 8,
    "opt/tock-master-z": 8,
    **{f"opt/tock-{kernel}-{level}": 4 for kernel in ("2.2", "master") for level in "s23"},
}
HALVES = 40  # random halves of the links of each
ALARMS = 0.01  # of the judgements of a kernel's links by each other may hold a hard finding
PAIRS = 30
SIDE = 4  # links
KNOWN = load()
LIMITS = load_limits(None, KNOWN)

SHARES = (0.005, 0.01, 0.015, 0.02, 0.03, 0.05, 0.1)  # of the cycles
COUNTS = (1, 3, 10, 33)  # instructions
TRIES = 20  # pairs that each of them is tried on


@cache
def pool(name: str) -> Result:
    """A committed result of several links."""
    return file.load(FOLDER / f"{name}.json")


def at(result: Result, links: Sequence[int]) -> Result:
    """Return the result in some of its layouts."""
    return result.at(list(links))


def standing(name: str, singles: int | None = None, sets: int = HALVES) -> dict[str, list[Limit]]:
    """The worst limits of judgements of a kernel's links by each other, by the spread that is known
    of it: of all ordered pairs of single links, or of so many, and of random halves."""
    result = file.load(RESULTS / f"{name}.json")
    known, links = known_spread(result), range(layouts(result))
    draw = random.Random(30)
    pairs = list(permutations(links, 2))
    if singles is not None:
        pairs = draw.sample(pairs, min(singles, len(pairs)))
    ones = [at(result, [link]) for link in links]
    drawn = [draw.sample(links, len(links)) for _ in range(sets)]
    half = len(links) // 2
    sides = [(at(result, order[:half]), at(result, order[half:])) for order in drawn]
    return {
        "single links": [judged(ones[a], ones[b], known).limit for a, b in pairs],
        "halves": [judged(base, new, known).limit for base, new in sides],
    }


def standing_row(name: str, found: dict[str, list[Limit]]) -> str:
    """What became of them, as a row of the page: of how many judgements, and how many held
    something beyond the soft limit and beyond the hard one."""
    cells = [f"`{name}`"]
    for limits in found.values():
        beyond = (sum(limit >= bound for limit in limits) for bound in (Limit.SOFT, Limit.HARD))
        cells += map(str, (len(limits), *beyond))
    return f"| {' | '.join(cells)} |"


def layouts(result: Result) -> int:
    """How many it has."""
    return max(len(row.cycles.nets) for row in result.rows if row.cycles)


def halves(result: Result, side: int, many: int) -> Iterator[tuple[Result, Result, Spread]]:
    """Random disjoint sets of links, and the spread of the links that are in neither."""
    draw = random.Random(12)
    for _ in range(many):
        order = draw.sample(range(layouts(result)), layouts(result))
        rest = over_links(at(result, order[2 * side :]), "the other links")
        yield at(result, order[:side]), at(result, order[side : 2 * side]), rest


@cache  # each change is tried on the same
def tried(side: int) -> tuple[tuple[Result, Result, Spread], ...]:
    """Return the pairs of links that changes are tried on."""
    return tuple(halves(pool("tock-2.2"), side, TRIES))


def judged(base: Result, new: Result, known: Spread) -> Answer:
    """By the default limits. The shifted links have fewer rows."""
    compared = compare(base, new, "new", KNOWN, NO_MARGINS, known, strict=True)
    return answer(compared, LIMITS, allowed=Selection(KNOWN))


def moved(base: Result, new: Result, known: Spread) -> tuple[int, int]:
    """Of how many rows the cycles or instructions moved, and how many are judged."""
    rows = judged(base, new, known).that_are(*JUDGED)
    return len(rows), sum(bool(row.moved) or row.verdict in MOVED for row in rows)


def changed(result: Result, cycles: float = 1, instructions: int = 0) -> Result:
    """Return the result with so many times the cycles, and more instructions, in every row."""

    def as_if(one: Series | None, times: float, more: float) -> Series | None:
        if one is None or one.own is None:
            return one
        further = tuple(other for f in one.further if (other := as_if(f, times, more)))
        return replace(one, samples=(), stated=one.own * times + more, further=further)

    rows = tuple(
        recounted(
            row, cycles=as_if(row.cycles, cycles, 0), instret=as_if(row.instret, 1, instructions)
        )
        for row in result.rows
    )
    return replace(result, rows=rows)


def found(side: int, cycles: float = 1, instructions: int = 0) -> dict[str, tuple[float, float]]:
    """The shares of the figures that are found beyond a soft limit and beyond a hard one, by what
    is counted."""
    hits: dict[str, list[Limit]] = {}
    sizes: dict[str, int] = {}
    for base, new, rest in tried(side):
        for row in judged(base, changed(new, cycles, instructions), rest).that_are(*JUDGED):
            limits = {"cycles": row.limit}
            if row.instructions:
                limits["instret"] = row.instructions.limit
            for name, limit in limits.items():
                kind = _kind(name, row.row.icache)
                sizes[kind] = sizes.get(kind, 0) + 1
                hits.setdefault(kind, []).append(limit)
    return {
        kind: (
            sum(limit >= Limit.SOFT for limit in hits[kind]) / size,
            hits[kind].count(Limit.HARD) / size,
        )
        for kind, size in sizes.items()
    }


def _kind(name: str, icache: bool | None) -> str:
    if name == "instret":
        return "instructions"
    return "cycles, cache off" if icache is False else "cycles, cache on"


def tables(shares: Sequence[float] = SHARES, counts: Sequence[int] = COUNTS) -> str:
    """The shares of rows that are found, in Markdown."""
    kinds = ("cycles, cache off", "cycles, cache on")
    heads = [f"{kind}, {side} a side" for side in (SIDE, 1) for kind in kinds]
    lines = [f"| cycles of all rows | {' | '.join(heads)} |"]
    lines.append("|---|" + "---|" * 4)
    for share in shares:
        hits = [found(side, cycles=1 + share) for side in (SIDE, 1)]
        cells = [_cell(one[kind]) for one in hits for kind in kinds]
        lines.append(f"| +{share * 100:g} % | " + " | ".join(cells) + " |")
    lines += ["", "| instructions of all rows | 4 a side | 1 a side |", "|---|---|---|"]
    for count in counts:
        cells = [_cell(found(side, instructions=count)["instructions"]) for side in (SIDE, 1)]
        lines.append(f"| +{count} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _cell(shares: tuple[float, float]) -> str:
    return " / ".join(f"{share * 100:.0f} %" for share in shares)


if __name__ == "__main__":
    for name in STANDING:
        print(standing_row(name, standing(name)), flush=True)
    print(tables())
