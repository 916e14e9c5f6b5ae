# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What one more pass of a body costs: the slope between samples of 1 + n passes and of 1 + 2 n.

What a sample has besides drops out, as it is the same in both: the readings, the first pass, which
brings code into the cache, and whatever the kernel left there. The loop that makes the passes is in
the slope; that of an empty body, which is nothing else, takes it off.
"""

from dataclasses import dataclass
from functools import cached_property

from tockmark.result.stats import middle, plain, steady, summarise


@dataclass(frozen=True)
class Slope:
    """What one counter counted in samples of both lengths, the cold one of each first."""

    short: tuple[int, ...]
    long: tuple[int, ...]
    passes: int  # how many more the long ones have

    @cached_property
    def per_pass(self) -> float:
        """Counts of one pass, by the medians."""
        return (middle(steady(self.long)) - middle(steady(self.short))) / self.passes

    @property
    def fixed(self) -> float:
        """The intercept: counts of a sample without any pass, the first one's excess included."""
        return middle(steady(self.short)) - (1 + self.passes) * self.per_pass

    def exact(self, simulated: bool) -> bool:
        """Whether it is known without doubt: as Series.exact, of either length."""
        found = [summarise(samples) for samples in (self.short, self.long)]
        settled = all(one.settled is not None and not one.wanders for one in found)
        return all(one.period == 1 for one in found) or (simulated and settled)


def between(own: Slope, empty: Slope) -> float:
    """Counts of one pass, without the loop."""
    return plain(own.per_pass - empty.per_pass)
