# SPDX-License-Identifier: Apache-2.0 OR MIT
"""How sure the net of a series is: where the samples of a result meet the bootstrap."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tockmark.judge.estimate import Interval, interval, net_medians
from tockmark.judge.lines import Floats
from tockmark.result.model import Row, Series


@dataclass(frozen=True)
class Value:
    """A net median, of a sample or of one of the `parts` that it holds."""

    series: Series
    net: float
    simulated: bool  # a simulator would give the same samples again
    parts: int = 1

    @cached_property
    def exact(self) -> bool:
        return self.series.exact(self.simulated)

    @cached_property
    def draws(self) -> Floats:
        """What the net could have been as well: a single value if it is exact."""
        if self.exact:
            return np.array([self.net])
        read = self.series.reading.steady if self.series.reads and self.series.reading else ()
        return net_medians(self.series.steady, read, self.series.reads) / self.parts

    @property
    def interval(self) -> Interval:
        return interval(self.draws)

    @cached_property
    def samples(self) -> Floats:
        """The steady samples, each less what the readings cost."""
        net = [self.series.net_of(sample) for sample in self.series.steady]
        return np.array(net, dtype=np.float64) / self.parts


def value_of(row: Row, name: str, simulated: bool) -> Value | None:
    """The value of a row's `cycles` or `instret`, of a whole sample; None if it is not known."""
    series = row.series(name)
    if series is None or series.net is None:
        return None
    return Value(series, series.net, simulated)


def per_op(row: Row, name: str, simulated: bool) -> Value | None:
    """The same of one operation: what samples of another make can be compared by."""
    series = row.series(name)
    if series is None or series.per_op is None:
        return None
    return Value(series, series.per_op, simulated, row.inner)
