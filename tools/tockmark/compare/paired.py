# SPDX-License-Identifier: Apache-2.0 OR MIT
"""How far the differences of paired links spread: of two kernels in which every function begins at
the same address (trees/paired.py).

Where nothing has changed that runs, they do not: both sides have the same cycles, and the interval
is that point. Where something has, what is behind it in a function lies otherwise in the flash
word, and with the cache on its replacement pointer stands elsewhere. How far that goes was drawn
from pairs of Tock (docs/judging.md). A row whose length a clock sets, or that begins with one and
so has no instructions, has the spread of its links: a cycle more or less, and it meets another
tick.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from tockmark.compare.rule import Deviation, Spread
from tockmark.result.model import Row
from tockmark.suite.catalogue import Catalogue

OFF, ON = Deviation(0.0016, 60, paired=True), Deviation(0.0066, 60, paired=True)


@dataclass(frozen=True)
class PairedSpread(Spread):
    """The spread of paired links; what is known of links otherwise is that of rows by the clock."""

    clocked: frozenset[str] = frozenset()  # benchmarks

    @property
    def title(self) -> str:
        """Say where it comes from."""
        return f"paired links; of rows whose length a clock sets, {super().title}"

    def of_row(self, row: Row) -> Deviation | None:
        """Return the deviation of a row's differences, as Spread says."""
        if row.id in self.clocked or row.instret is None:
            return super().of_row(row)
        return OFF if row.icache is False else ON

    def of_mean(self, rows: Sequence[Row]) -> Deviation | None:
        """Return the deviation of the mean of several rows: no less than that of any of them."""
        paired = [OFF if row.icache is False else ON for row in rows]
        return max(paired, default=None)


def paired(known: Spread, catalogue: Catalogue) -> PairedSpread:
    """Return the spread of paired links of kernels whose links otherwise spread as is known."""
    clocked = frozenset(one.id for one in catalogue.benchmarks.values() if one.waits)
    return PairedSpread(known.source, known.links, known.logs, clocked)
