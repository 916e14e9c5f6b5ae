# SPDX-License-Identifier: Apache-2.0 OR MIT
"""How far the differences of paired links spread: of two kernels in which every function begins at
the same address (trees/pairing.py).

Where nothing that runs has changed, they do not: both sides have the same cycles, and the interval
is that point. Where something has, what is behind it in its function lies otherwise in the flash
word, which takes or saves some cycles; with the cache on, its replacement pointer stands elsewhere,
too. How far that goes was drawn (docs/method.md): some cycles a sample, whatever its length, and a
share of it. A row whose length a clock sets, or that begins with one and so has no instructions,
has the spread of its links: a cycle more or less, and it meets another tick.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from tockmark.compare.rule import Deviation, Spread
from tockmark.result.model import Row
from tockmark.suite.catalogue import Catalogue

# The deviation of a difference, by the cache setting: in cycles of a sample, and as a share of it.
STRAY = {False: (2.7, 0.001), True: (13.0, 0.003)}
FREE = 60  # degrees of freedom that they were estimated with, at least


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
        return stray(row)

    def of_mean(self, rows: Sequence[Row]) -> Deviation | None:
        """Return the deviation of the mean of several rows: no less than that of any of them."""
        return max(map(stray, rows), default=None)


def stray(row: Row) -> Deviation:
    """Return the deviation of a row's differences where what has changed runs."""
    cycles, share = STRAY[row.icache is not False]
    return Deviation(math.hypot(cycles / max(row.net or 0, 1), share), FREE, paired=True)


def paired(known: Spread, catalogue: Catalogue) -> PairedSpread:
    """Return the spread of paired links of kernels whose links otherwise spread as is known."""
    clocked = frozenset(one.id for one in catalogue.benchmarks.values() if one.waits)
    return PairedSpread(known.source, known.links, known.logs, known.unfit, clocked)
