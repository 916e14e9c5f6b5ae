# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What a result says of one quantity of a row: its net in each layout, and what that may be off by.

On a simulator the samples of a layout would come out the same again, so they say nothing of how
sure its net is. On a board they vary by themselves: there, the net has an interval.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from tockmark.judge.estimate import Interval, median_interval
from tockmark.result.model import Result, Row, Series
from tockmark.result.stats import median


@dataclass(frozen=True)
class Value:
    """The nets of one quantity of a row, in counts of one sample."""

    nets: tuple[float, ...]  # one a layout
    links: int = 1  # different links of the kernel among the layouts
    error: float = 0  # counts that any net may be off by, up or down
    inner: int = 1  # operations in a sample

    @property
    def net(self) -> float:
        """The median over the layouts: counts of one sample."""
        return median(self.nets)

    @property
    def per_op(self) -> float:
        """Of one operation: what samples of another make can be compared by."""
        return self.net / self.inner


def value_of(result: Result, row: Row, name: str) -> Value | None:
    """The value of a row's `cycles` or `instret`; None if it is not known.

    With one layout, the cached cycles may be off by what a null control shows there."""
    series = row.series(name)
    if series is None or not series.nets:
        return None
    span = interval(series, result.simulated)
    error = (span.high - span.low) / 2
    if name == "cycles" and row.icache is not False and len(series.nets) == 1:
        error += result.stated_error(row.icache, row.lang) or 0
    return Value(series.nets, min(result.links, len(series.nets)), error, row.inner)


def interval(series: Series, simulated: bool) -> Interval:
    """Where the net of the first layout lies: a point on a simulator, and where samples are equal
    or not known."""
    own, read = series.own, series.reading
    assert own is not None
    if simulated or not series.samples:
        return Interval(own, own)
    span = median_interval(series.steady)
    cost = median_interval(read.steady) if read and series.reads else Interval(0, 0)
    return Interval(span.low - series.reads * cost.high, span.high - series.reads * cost.low)


def pooled(values: Sequence[tuple[Value, str | None]]) -> Value:
    """The layouts of several results as those of one. Each value comes with what tells its kernel
    from others: a kernel that was measured again is no further link."""
    links = {kernel: value.links for value, kernel in values}
    return Value(
        tuple(net for value, _ in values for net in value.nets),
        sum(links.values()),
        max(value.error for value, _ in values),
        values[-1][0].inner,
    )
