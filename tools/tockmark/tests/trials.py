# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Judgements by random splits of links that were measured before: links of one source against each
other, and small changes of it against the source.

    python -m tockmark.tests.trials

prints the table of docs/method.md.
"""

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from statistics import median

from tockmark.compare.limits import Limit
from tockmark.compare.verdict import MOVED, RowVerdict
from tockmark.judge import engine
from tockmark.judge.engine import Judged
from tockmark.result import file
from tockmark.result.model import Result
from tockmark.suite.selection import Selection, select
from tockmark.tests.links import FOLDER, KNOWN, LIMITS, SIDE, layouts, pool

TRIALS = 20
SOURCE = "tock-2.2"
FURTHER = FOLDER / "further.json"  # 8 more links of it
CHANGES = ("cost", "save", "lay1", "lay2")
WANTED = select(KNOWN, "kernel")  # rows of the apps are in the first link alone

Link = tuple[Result, int]  # a layout of a result, by its number


@dataclass
class Held:
    """A side whose links were measured before, in the order in which it gives them out."""

    name: str
    links: Sequence[Link]
    asked: list[tuple[int, int, Selection]] = field(default_factory=list)

    def measured(self, first: int, last: int, wanted: Selection) -> list[Result]:
        """As engine.Side has it."""
        self.asked.append((first, last, wanted))
        return [result.at([number]).only(wanted) for result, number in self.links[first:last]]


@cache
def trial(
    seed: int, of: str = SOURCE, most: int = engine.LINKS, more: tuple[Path, ...] = ()
) -> tuple[Judged, Held, Held]:
    """A judgement of a kernel, by another split of the links of the source for each seed."""
    known = [link for result in (pool(SOURCE), *map(file.load, more)) for link in links_of(result)]
    draw = random.Random(seed)
    order = draw.sample(known, len(known))
    half = len(order) // 2
    changed = order[half:] if of == SOURCE else draw.sample(links_of(pool(of)), SIDE)
    base, head = Held("base", order[:half]), Held("head", changed)
    return engine.judge(base, head, WANTED, LIMITS, most), base, head


def links_of(result: Result) -> list[Link]:
    """Its links, each by itself."""
    return [(result, number) for number in range(layouts(result))]


def row_of(of: str, more: tuple[Path, ...] = ()) -> str:
    """What became of the trials of a kernel: a row of the table."""
    found = [trial(seed, of, more=more)[0] for seed in range(TRIALS)]
    codes = Counter(one.answer.exit_code for one in found)
    ended = ", ".join(f"{code} in {many}" for code, many in sorted(codes.items()))
    if warned := sum(one.answer.limit is Limit.SOFT for one in found):
        ended += f", in {warned} with a warning"
    looks = [[*one.looked_again, 0, 0] for one in found]
    figures = [
        [sum(map(_figures, one.answer.rows)) for one in found],
        [look[0] for look in looks],
        [look[1] for look in looks],
        [sum(row.in_doubt for row in one.answer.rows) for one in found],
    ]
    return f"| {of} | {ended} | " + " | ".join(map(_spanned, figures)) + " |"


def _figures(row: RowVerdict) -> int:
    """How many figures of a row surely moved: instructions, cycles, both or none."""
    return bool(row.moved) + (row.verdict in MOVED)


def _spanned(figures: Sequence[int]) -> str:
    if len(set(figures)) == 1:
        return str(figures[0])
    return f"{median(figures):g} ({min(figures)} to {max(figures)})"


if __name__ == "__main__":
    print(row_of(SOURCE, (FURTHER,)), flush=True)
    for name in (SOURCE, *CHANGES):
        print(row_of(name), flush=True)
