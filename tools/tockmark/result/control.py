# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Controls: rows that measure nothing, by each means by which others measure something.

Each boot measures them last (`null.*`), with what readings cost taken off as ever. So they have to
come out 0, and what they are off by is how far the other rows of the boot may be: with the cache
off at most a cycle; with it on there is no such bound in one layout of the code, where whatever
shares a set with the readings moves them: over several layouts at most 2 % of time.read in the
median, and 5 % in each. One layout alone does not fail; its deviation is a stated error.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tockmark.result.incomplete import where
from tockmark.result.stats import median, plain
from tockmark.suite.catalogue import Lang

if TYPE_CHECKING:  # which has the controls of its rows from here
    from tockmark.result.model import Row, Series

CYCLE = 1  # with the cache off
IN_MEDIAN, IN_EACH = 0.02, 0.05  # of time.read, with it on


@dataclass(frozen=True)
class Control:
    """What one counter of a row that measures nothing says."""

    id: str
    boot: str
    icache: bool | None
    what: str  # the counter
    lang: Lang
    nets: tuple[float, ...]  # in each layout; of time.read's unit, which is a sample
    reading: float  # cycles of time.read (or time.reading) in the first layout; 0 if none comes off

    @property
    def deviation(self) -> float:
        """The largest distance from 0."""
        return max(map(abs, self.nets))

    @property
    def where(self) -> str:
        """Boot and row."""
        return f"{where(self)}: {self.id}"

    @property
    def wrong(self) -> str | None:
        """What fails, in words."""
        off = [net for net in self.nets if abs(net) > self._allowed]
        if off and (self.icache is False or not self.reading or len(self.nets) > 1):
            worst = max(off, key=abs)
            return f"net {self.what} is {worst:g}, not 0 within {self._allowed:g}"
        middle = median([abs(net) for net in self.nets])
        if len(self.nets) > 1 and self.icache is not False and middle > IN_MEDIAN * self.reading:
            return f"net {self.what} is {middle:g} off in the median over layouts, more than 2 %"
        return None

    @property
    def _allowed(self) -> float:
        return CYCLE if self.icache is False or not self.reading else IN_EACH * self.reading


def allowance(icache: bool | None, reading: Series | None) -> float:
    """By how many cycles a control may be off, and so any row of a boot with these readings."""
    if icache is False or reading is None or not reading.median:
        return CYCLE
    return plain(IN_EACH * reading.median)


def controls_of(row: Row) -> list[Control]:
    """The controls that a row is: of its cycles, and of each event."""
    found: dict[str, Series | None] = {"cycles": row.cycles and row.cycles.one_shot}
    if row.cycles and row.cycles.is_slope:
        found["cycles of a pass"] = row.cycles
    found |= {f"event {n}": one for n, one in row.events.items()}
    reading = row.cycles.reading.median if row.cycles and row.cycles.reading else None
    return [
        Control(row.id, row.boot, row.icache, what, row.lang, one.nets, reading or 0)
        for what, one in found.items()
        if one is not None and one.nets
    ]
