# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Judgements by random splits of links that were measured before: links of one source against each
other, and small changes of it against the source."""

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
from tockmark.tests.links import FOLDER, KNOWN, LIMITS, SIDE, layouts, pool

SOURCE = "tock-2.2"
FURTHER = FOLDER / "further.json"  # 8 more links of it
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
        return [
            result.in_layouts([number]).only(wanted) for result, number in self.links[first:last]
        ]


@cache
def trial(
    seed: int, of: str = SOURCE, most: int = engine.LINKS, more: tuple[Path, ...] = ()
) -> tuple[JudgeRun, Held, Held]:
    """A judgement of a kernel, by another split of the links of the source for each seed."""
    links = [link for result in (pool(SOURCE), *map(file.load, more)) for link in links_of(result)]
    draw = random.Random(seed)
    order = draw.sample(links, len(links))
    half = len(order) // 2
    changed = order[half:] if of == SOURCE else draw.sample(links_of(pool(of)), SIDE)
    base, head = Held("base", order[:half]), Held("head", changed)
    return engine.judge(base, head, WANTED, LIMITS, most), base, head


def links_of(result: Result) -> list[Link]:
    """Its links, each by itself."""
    return [(result, number) for number in range(layouts(result))]
