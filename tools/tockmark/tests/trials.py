# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Judge stored links, split at random: compare links of one source with each other, and small
changes of the source with the source."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from tockmark.judge import engine
from tockmark.judge.engine import JudgeRun
from tockmark.result import file
from tockmark.result.model import Result
from tockmark.suite.selection import Selection, select
from tockmark.tests.links import FOLDER, KNOWN, LIMITS, SIDE, incomparable, layouts, pool

SOURCE = "tock-2.2"
FURTHER = FOLDER / "further.json"  # eight more links of the source
WANTED = select(KNOWN, "kernel")  # only the first link has rows of the apps

Link = tuple[Result, int]  # a layout of a result, by its number


@dataclass
class Held:
    """A side with stored links, which it returns in order."""

    name: str
    links: Sequence[Link]
    asked: list[tuple[int, int, Selection]] = field(default_factory=list)

    def measured(self, first: int, last: int, wanted: Selection) -> list[Result]:
        """Return stored results (see engine.Side)."""
        self.asked.append((first, last, wanted))
        return [
            result.in_layouts([number]).only(wanted) for result, number in self.links[first:last]
        ]


@cache
def trial(
    seed: int, of: str = SOURCE, most: int = engine.MAX_LINKS, more: tuple[Path, ...] = ()
) -> tuple[JudgeRun, Held, Held]:
    """Judge a kernel, with a split of the source's links for each seed."""
    links = [link for result in (pool(SOURCE), *map(file.load, more)) for link in links_of(result)]
    draw = random.Random(seed)
    order = draw.sample(links, len(links))
    half = len(order) // 2
    changed = order[half:] if of == SOURCE else draw.sample(links_of(pool(of)), SIDE)
    base, head = Held("base", order[:half]), Held("head", changed)
    unlike = incomparable(pool(SOURCE), pool(of))
    ids = [id_ for id_, known in KNOWN.benchmarks.items() if known.touches == "kernel"]
    wanted = select(KNOWN, ",".join(id_ for id_ in ids if id_ not in unlike))
    return engine.measure_and_judge(base, head, wanted, LIMITS, most), base, head


def links_of(result: Result) -> list[Link]:
    """Return the links of a result."""
    return [(result, number) for number in range(layouts(result))]
