# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What one counter counted, and the net that follows from it: model.py says what a figure means."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from tockmark.result.slope import Slope, between
from tockmark.result.stats import Stats, median, middle, plain, steady, summarise, tail


@dataclass(frozen=True)
class Series:
    """What one counter counted in each sample of a row, the cold one first.

    `reading` is that of time.read (or time.reading) in the same boot; None for these themselves, or
    if it is lost.
    """

    samples: tuple[int, ...]  # none if only `stated` is known
    inner: int = 1  # operations in a sample
    reads: float = 0  # pairs of readings in a sample, whose cost comes off
    reading: "Series | None" = None
    stated: float | None = None  # the net that was published without its samples
    has_cold: bool = True  # the first sample is a cold one; of events the app drops that itself,
    # and of a log's series its reader, where it is no time
    slope: Slope | None = None  # over passes of the same code, where the app measured it
    further: tuple["Series", ...] = ()  # the same in the further layouts that have this row

    @cached_property
    def stats(self) -> Stats | None:
        """Of the samples as they are; None if there are none."""
        return summarise(self.samples, self.has_cold) if self.samples else None

    @cached_property
    def steady(self) -> tuple[int, ...]:
        return tuple(steady(self.samples)) if self.has_cold else self.samples

    @cached_property
    def median(self) -> float | None:
        return middle(self.steady) if self.samples else None

    @cached_property
    def overhead(self) -> float | None:
        """What the readings cost; None if that is not known."""
        if not self.reads:
            return 0
        cost = self.reading.median if self.reading else None
        return self.reads * cost if cost is not None else None

    @cached_property
    def own(self) -> float | None:
        """The net in this layout alone: counts of one sample, signed; None if the cost of the
        readings is not known. It is the slope over passes, where there is one."""
        slopes = self._slopes
        return between(*slopes) if slopes else self.once

    @cached_property
    def once(self) -> float | None:
        """The net of a sample of one pass, whatever there is besides."""
        return self.stated if self.median is None else self.net_of(self.median)

    @property
    def fixed(self) -> float | None:
        """The slope's intercept: what comes once with any number of passes, without readings."""
        slopes = self._slopes
        return plain(slopes[0].fixed - slopes[1].fixed) if slopes else None

    @property
    def is_slope(self) -> bool:
        """Whether the net is a slope, and none of a single pass."""
        return self._slopes is not None

    @property
    def _slopes(self) -> tuple[Slope, Slope] | None:
        """Its own, and that of the empty body."""
        empty = self.reading.slope if self.reading else None
        return (self.slope, empty) if self.slope and empty else None

    @property
    def one_shot(self) -> "Series":
        """The same without slopes: what a series that has none can be compared with."""
        return replace(self, slope=None, further=tuple(one.one_shot for one in self.further))

    @cached_property
    def nets(self) -> tuple[float, ...]:
        """The net in each layout that has it, this one first; none if it is not known here."""
        if self.own is None:
            return ()
        return self.own, *(one.own for one in self.further if one.own is not None)

    @cached_property
    def net(self) -> float | None:
        """The median over the layouts: counts of one sample."""
        return median(self.nets) if len(self.nets) > 1 else self.own

    def at(self, places: Sequence[int]) -> "Series":
        """The same in some of its layouts, by their places here: the first leads the others."""
        every = (replace(self, further=()), *self.further)
        first, *others = (every[place] for place in places)
        return replace(first, further=tuple(others))

    def net_of(self, counts: float) -> float | None:
        """The counts of any one sample, net in the same way."""
        return plain(counts - self.overhead) if self.overhead is not None else None

    @property
    def per_op(self) -> float | None:
        """Net counts of one operation: what samples of another make can be compared by."""
        return self.net / self.inner if self.net is not None else None

    def per_op_of(self, counts: float) -> float | None:
        """The same of any one sample."""
        net = self.net_of(counts)
        return net / self.inner if net is not None else None

    @property
    def of_figure(self) -> Stats | None:
        """Of the samples that the net hangs on: those of many passes, if it is a slope."""
        return summarise(self.slope.long) if self.slope and self.is_slope else self.stats

    @property
    def spread(self) -> tuple[float, float, float] | None:
        """The least, the median and the largest net of a sample in this layout; of a slope, by the
        long samples."""
        found, slopes, middle_ = self.of_figure, self._slopes, self.own
        if found is None or middle_ is None:
            return None
        if slopes:
            off = [(count - found.median) / slopes[0].passes for count in (found.min, found.max)]
        else:
            off = [count - found.median for count in (found.min, found.max)]
        return plain(middle_ + off[0]), middle_, plain(middle_ + off[1])

    @property
    def repeats(self) -> bool:
        """Whether the samples come to repeat themselves, or are too few to tell."""
        return tail(self.steady) != (None, None)

    def exact(self, simulated: bool) -> bool:
        """Whether the net is known without doubt: all samples are equal; or on a simulator, which
        would give the same ones again, they come to repeat themselves, or there is but one, as of a
        boot. Likewise the readings'."""
        if self.stats is None:
            return True
        settled = self.stats.settled is not None and not self.stats.wanders
        settled = settled or self.stats.n == 1
        if self._slopes and not self.further:
            return all(one.exact(simulated) for one in self._slopes)
        own = self.stats.period == 1 or (simulated and settled)
        if self.further or not own:
            return False
        return self.reading is None or not self.reads or self.reading.exact(simulated)
