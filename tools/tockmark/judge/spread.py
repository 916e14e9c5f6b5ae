# SPDX-License-Identifier: Apache-2.0 OR MIT
"""How far the cycles of a row spread over links of one kernel that differ in layout only: what a
difference between two kernels has to be held against, even where each was linked but once.

It is not written down anywhere: it is computed from the committed result of several links.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tockmark.judge.lines import Floats
from tockmark.judge.mean import by_benchmark
from tockmark.paths import RESULTS, shown
from tockmark.result import file
from tockmark.result.model import Result, Row

LINKS = RESULTS / "links"  # results of several links each
TOCK = LINKS / "tock-2.2.json"
OWN = LINKS / "baseline.json"  # of our own kernel, which is small and mostly fits into the cache
LEAST = 4  # nets that a row's own spread is computed from
UPPER = 0.9  # a row that was not measured spreads as this share of the others does at most


AnyKey = tuple[str, frozenset[tuple[str, int | str]], bool | None]  # a row, in any language


class Deviation(NamedTuple):
    """A standard deviation of logarithms, and the degrees of freedom that it is estimated with."""

    value: float
    free: int


@dataclass(frozen=True)
class Spread:
    """What is known of it: standard deviations of the logarithm over links."""

    source: str = ""
    links: int = 0
    # Of a row's net, link by link; whatever its language, since the links are the kernel's.
    logs: Mapping[AnyKey, Floats] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """Where it comes from."""
        return f"{self.source}, {self.links} links" if self.logs else "not known"

    def of(self, row: Row) -> Deviation | None:
        """That of a row, or what most others keep within; None if nothing is known. Where the cache
        setting is not known, it counts as on: that spreads further."""
        icache = row.icache is not False
        found = self.logs.get((*row.key[:2], icache))
        return deviation(found) if found is not None else self.others.get(icache)

    @cached_property
    def others(self) -> dict[bool, Deviation]:
        """By the cache setting: what rows that were not measured may spread."""
        of_all = {
            icache: sorted(deviation(logs) for key, logs in self.logs.items() if key[2] is icache)
            for icache in (True, False)
        }
        return {
            icache: found[int(UPPER * (len(found) - 1))]
            for icache, found in of_all.items()
            if found
        }

    def of_mean(self, rows: Sequence[Row]) -> Deviation | None:
        """That of the mean of several rows, which one link may move together. If none of them was
        measured, no less than any of them may spread."""
        logs = [(row, self.logs[row.key[:3]]) for row in rows if row.key[:3] in self.logs]
        if logs:
            return deviation(by_benchmark(logs))
        return max((found for row in rows if (found := self.of(row)) is not None), default=None)


def logs_of(nets: Sequence[float]) -> Floats:
    """Their logarithms; less than one count cannot be told from none."""
    return np.log(np.maximum(np.array(nets, dtype=np.float64), 1))


def deviation(logs: Floats) -> Deviation:
    """That of two values or more."""
    return Deviation(float(np.std(logs, ddof=1)), len(logs) - 1)


def over_links(result: Result, source: str) -> Spread:
    """What a result of several links says of the rows that each of them has."""
    most = max((len(row.cycles.nets) for row in result.rows if row.cycles), default=0)
    found = {
        row.key[:3]: logs_of(row.cycles.nets)
        for row in result.leading.table.values()
        if row.cycles and LEAST <= len(row.cycles.nets) == most
    }
    return Spread(source, result.links, found)


def known(base: Result) -> Spread:
    """The spread that committed runs of several links show of a kernel such as this result's."""
    return _of_file(OWN if base.provenance.kernel.is_baseline else TOCK)


@cache
def _of_file(path: Path) -> Spread:
    """That of a committed result; without it, none is known."""
    return over_links(file.load(path), shown(path)) if path.exists() else Spread()
