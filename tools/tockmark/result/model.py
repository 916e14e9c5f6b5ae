# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The typed result: rows of sample series, and the definition of their figures.

Everything that shows or judges results uses these types. A figure is **net**: the median of the
steady samples, minus the overhead, which is the cost of reading the counters in the same boot (the
row `time.read`, or `time.reading` if the app itself reads them). `Series.net_of` subtracts it. From
the two overhead rows nothing is subtracted. If the app also ran its body several times in a sample,
the net is a **slope**: the cycles of one pass. If a row was measured in several layouts of kernel
and apps, its net is the median of the layouts' nets.

A net is signed: if it is further below zero than a control may be, the row has an error. A row with
an error, or without a net, is not **sound**: nothing is computed from it.

**Controls** (`null.*`) are rows that measure nothing; their net should be 0 (docs/method.md, "Boots
and controls"). If one is off by more than is allowed in a layout, it replaces `time.read` as the
overhead of that layout (`Row.series_from_control`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import msgspec
from msgspec import structs

from tockmark.result.provenance import Provenance
from tockmark.result.stats import (
    Slope,
    Stats,
    median,
    plain_number,
    repeating_tail,
    steady,
    steady_median,
    summarise,
)
from tockmark.suite.catalogue import (
    CONTROLS,
    LANGS,
    OVERHEAD,
    OVERHEADS,
    PERF,
    BootRowName,
    Catalogue,
    CounterName,
    Key,
    Lang,
    Params,
    Reader,
    RowKey,
    label,
    load,
)
from tockmark.suite.selection import Selection
from tockmark.wire.rows import SERIES, Absent, Clock, Published, counted_series

CYCLE = 1  # the allowed offset of a control with the cache off
STRAY = 1  # the allowed offset in instructions: Ibex may count one too many (lowRISC/ibex#2252)
IN_MEDIAN, IN_EACH = 0.02, 0.05  # the allowed offset with the cache on, as a share of time.read
SLOPE = "cycles of a pass"  # the name of a control's slope
INVALID_ROW = "invalid row: "  # the prefix of such a reason in `Result.incomplete`
ABSENT_LISTS = ("failed", "skipped", "missing")  # the result's lists of absent rows
Samples = Mapping[str, tuple[int, ...]]  # by series, the cold sample first; {}: not measured


class Reading(msgspec.Struct, frozen=True):
    """The cost of reading one counter in one layout of a boot."""

    steady: tuple[int, ...]  # samples of the overhead row
    median: float
    slope: Slope | None = None  # over passes of the empty body
    from_control: bool = False  # whether a control measured it


class Series(msgspec.Struct, frozen=True, dict=True):
    """The counts of one counter in each sample of a row, the cold sample first."""

    samples: tuple[int, ...]  # empty if only `published_net` exists
    inner: int = 1  # operations in a sample
    reads: float = 0  # times that the overhead is subtracted from a sample
    reading: Reading | None = None  # None: the row is an overhead row, or the cost is unknown
    published_net: float | None = None  # a net that was published without its samples
    has_cold: bool = True  # False: the app or the log's reader dropped the cold sample
    slope: Slope | None = None  # over passes of the body, if the app measured it
    further: tuple[Series, ...] = ()  # the same series in the other layouts that have this row

    @cached_property
    def stats(self) -> Stats | None:
        """The statistics of the samples, overhead included; None if there are no samples."""
        return summarise(self.samples, self.has_cold) if self.samples else None

    @cached_property
    def steady(self) -> tuple[int, ...]:
        """The samples without the cold one."""
        return tuple(steady(self.samples)) if self.has_cold else self.samples

    @cached_property
    def median(self) -> float | None:
        """The median of the steady samples, overhead included."""
        return steady_median(self.steady) if self.samples else None

    @property
    def overhead(self) -> float | None:
        """The cost of the counter reads in a sample; None if unknown."""
        if not self.reads:
            return 0
        return self.reads * self.reading.median if self.reading else None

    @cached_property
    def own_net(self) -> float | None:
        """The net of one sample in this layout alone, signed: the slope over passes if there is
        one. None if the overhead is unknown."""
        if (slopes := self._slopes) is None:
            return self.single_pass_net
        own, empty = slopes  # the difference is a pass without the loop
        return plain_number(own.per_pass - empty.per_pass)

    @property
    def single_pass_net(self) -> float | None:
        """The net of a sample of one pass, even if there is a slope."""
        return self.published_net if self.median is None else self.net_of(self.median)

    @property
    def is_slope(self) -> bool:
        """Whether the net is a slope over passes."""
        return self._slopes is not None

    @property
    def _slopes(self) -> tuple[Slope, Slope] | None:
        """The slopes of this body and of the empty body; None unless both exist."""
        empty = self.reading.slope if self.reading else None
        return (self.slope, empty) if self.slope and empty else None

    @cached_property
    def nets(self) -> tuple[float, ...]:
        """The nets of the layouts, this one first; empty if this one's is unknown."""
        if self.own_net is None:
            return ()
        nets = (series.own_net for series in self.further)
        return self.own_net, *(net for net in nets if net is not None)

    @cached_property
    def net(self) -> float | None:
        """The net of one sample: the median over the layouts."""
        return median(self.nets) if len(self.nets) > 1 else self.own_net

    def net_of(self, counts: float) -> float | None:
        """Return the counts of a sample minus the overhead; None if that is unknown."""
        return plain_number(counts - self.overhead) if self.overhead is not None else None

    @property
    def per_op(self) -> float | None:
        """The net counts of one operation."""
        return self.net / self.inner if self.net is not None else None

    @property
    def figure_stats(self) -> Stats | None:
        """The statistics behind the net: of the samples with many passes, if it is a slope."""
        return summarise(self.slope.long) if self.slope and self.is_slope else self.stats

    @property
    def net_range(self) -> tuple[float, float, float] | None:
        """The least, median and largest net of a sample in this layout; for a slope, computed from
        the long samples."""
        stats, slopes = self.figure_stats, self._slopes
        if stats is None or self.own_net is None:
            return None
        passes = slopes[0].passes if slopes else 1
        low, high = ((count - stats.median) / passes for count in (stats.min, stats.max))
        return plain_number(self.own_net + low), self.own_net, plain_number(self.own_net + high)


class Row(BootRowName, msgspec.Struct, frozen=True, dict=True):
    """A benchmark with its parameters, cache setting and language, measured in one boot, with the
    boot's overheads and clock."""

    id: str
    boot: str
    asked: int  # samples
    params: Params
    own_app: str | None  # None: named like the boot
    icache: bool | None
    inner: int
    reads: int
    passes: int
    by: Reader
    clock: Clock
    stated: Mapping[str, float]  # published nets without samples, by series
    without_cold: tuple[str, ...]  # series of the first layout without a cold sample
    faults: tuple[str, ...]
    published: Published | None
    lang: Lang
    stack: int | None
    samples: tuple[Samples, ...]  # by layout of the result
    event_samples: Mapping[int, tuple[int, ...]]  # of the first layout, by event number
    extra: Mapping[str, tuple[int, ...]]  # further series of the first layout
    readings: tuple[Mapping[str | int, Reading], ...]  # by layout, then by series or event
    clock_hz: int | None = None
    counter: CounterName = PERF  # how its app reads the counters

    @property
    def app(self) -> str:
        """The app that measured the row."""
        return self.own_app or self.boot

    @cached_property
    def layouts(self) -> tuple[int, ...]:
        """The indices of the result's layouts that have the row, and always 0."""
        return 0, *(n for n, samples in enumerate(self.samples) if n and samples)

    @property
    def series_from_control(self) -> list[str]:
        """The series whose overhead is a control's, in any layout."""
        used = [self.readings[layout] for layout in self.layouts if self.reads]
        return [
            n
            for n in SERIES
            if any(n in readings and readings[n].from_control for readings in used)
        ]

    @cached_property
    def offset_series(self) -> set[tuple[str, int]]:
        """The series and layouts in which this control is off by more than is allowed."""
        offsets = set()
        for layout, samples in enumerate(self.samples):
            for name in SERIES:
                reading = self.readings[layout].get(name) if self.reads else None
                if name in samples and (reading or not self.reads):
                    net = steady_median(self.steady(name, layout))
                    net -= self.reads * reading.median if reading else 0
                    allowed = allowance(self.icache, reading) if name == "cycles" else STRAY
                    if abs(net) > allowed:
                        offsets.add((name, layout))
        return offsets

    def steady(self, name: str, layout: int) -> tuple[int, ...]:
        """Return the steady samples of a series in a layout."""
        samples = self.samples[layout][name]
        return tuple(steady(samples)) if self._has_cold(name, layout) else samples

    def _has_cold(self, name: str, layout: int) -> bool:
        return layout > 0 or name not in self.without_cold

    def slope(self, name: str, layout: int) -> Slope | None:
        """Return the samples of several passes, or None."""
        samples = self.samples[layout]
        short, long = samples.get(f"short_{name}"), samples.get(f"long_{name}")
        return Slope(short, long, self.passes) if self.passes and short and long else None

    def each_series(self) -> Iterator[tuple[str, int, Series]]:
        """Yield each series of cycles and instructions, with its name and layout."""
        for name in SERIES:
            if (first := self.series(name)) is not None:
                for layout, series in zip(self.layouts, (first, *first.further), strict=True):
                    yield name, layout, series

    def _in_layout(self, name: str, layout: int) -> Series | None:
        samples, published = self.samples[layout], None if layout else self.stated.get(name)
        if name not in samples and published is None:
            return None
        reads = 0 if self.is_overhead else self.reads
        return Series(
            samples.get(name, ()),
            self.inner,
            reads,
            self.readings[layout].get(name) if reads else None,
            published,
            has_cold=self._has_cold(name, layout),
            slope=self.slope(name, layout),
        )

    def series(self, name: str) -> Series | None:
        """Return the series of a counter, with all layouts; None if it was not measured."""
        return self.cycles if name == "cycles" else self.instret

    @cached_property
    def cycles(self) -> Series | None:
        """The series of clock cycles."""
        return self._over_layouts("cycles")

    @cached_property
    def instret(self) -> Series | None:
        """The series of retired instructions."""
        return self._over_layouts("instret")

    def _over_layouts(self, name: str) -> Series | None:
        first, *others = (self._in_layout(name, layout) for layout in self.layouts)
        return structs.replace(first, further=tuple(filter(None, others))) if first else None

    @cached_property
    def events(self) -> dict[int, Series]:
        """The series of the core's event counters, by event number."""
        reads = 0 if self.is_overhead else self.reads
        readings = self.readings[0] if reads else {}
        return {
            n: Series(samples, self.inner, reads, readings.get(n), has_cold=False)
            for n, samples in self.event_samples.items()
        }

    @property
    def single_pass(self) -> Row:
        """The row without its slopes, for comparison with rows that have none."""
        return structs.replace(self, passes=0) if self.passes else self

    @property
    def missing_series(self) -> list[str]:
        """The names of the series that the row should have, but does not."""
        wanted = counted_series(self.clock, self.counter)
        missing = [name for name in wanted if self.series(name) is None]
        present = {name: self.series(name) for name in SERIES} if self.passes else {}
        without = [name for name, series in present.items() if series and not series.slope]
        return [*missing, *(f"{name} of several passes" for name in without)]

    def with_layouts(self, others: Sequence[Row | None]) -> Row:
        """Return the row with the samples and readings of further layouts."""
        samples = (row.samples[0] if row else {} for row in others)
        readings = (row.readings[0] if row else {} for row in others)
        changed = {"samples": samples, "readings": readings}
        return structs.replace(
            self, **{name: (getattr(self, name)[0], *further) for name, further in changed.items()}
        )

    def in_layouts(self, indices: Sequence[int]) -> Row | None:
        """Return the row in these layouts of its result; None if none of them has it. The first
        layout that has the row comes first. Only layout 0 has events."""
        present = [index for index in indices if index in self.layouts]
        if not present:
            return None
        lead, *more = present
        order = [lead, *(n if n in more else None for n in indices[1:] if more)]
        changed: dict[str, Any] = {
            name: tuple({} if n is None else getattr(self, name)[n] for n in order)
            for name in ("samples", "readings")
        }
        if lead:  # drop what only layout 0 has
            changed |= {"event_samples": {}, "stated": {}, "without_cold": ()}
        return structs.replace(self, **changed)

    @cached_property
    def errors(self) -> tuple[str, ...]:
        """The errors of this row."""
        labelled_series = [
            (f" in layout {layout}" if len(self.layouts) > 1 else "", name, series)
            for name, layout, series in self.each_series()
        ]
        return (
            *(
                f"net {name} is {series.own_net:g}, below zero{where}"
                for where, name, series in labelled_series
                if (series.own_net or 0) < -self._allowance(name, series) and not self.is_control
            ),
            *(
                f"{name} stops after {len(series.samples)} of {self.asked} samples{where}, though"
                " these do not repeat"
                for where, name, series in labelled_series
                if name == "cycles"  # on interface version 1 the app checks only these
                if 0 < len(series.samples) < self.asked
                if repeating_tail(series.steady) == (None, None)
            ),
            *self.faults,
        )

    def _allowance(self, name: str, series: Series) -> float:
        """Return how many counts a net may be below zero: as many as a control may be off."""
        if name != "cycles":
            return 0 if self.icache is False else STRAY
        return allowance(self.icache, series.reading)

    @property
    def unsound(self) -> str | None:
        """The reason why nothing may be computed from the row; None if it is sound."""
        return self.errors[0] if self.errors else "no net cycles" if self.net is None else None

    @property
    def sound(self) -> bool:
        """Whether figures may be computed from the row."""
        return self.unsound is None

    @property
    def net(self) -> float | None:
        """The net cycles of one sample."""
        return self.cycles.net if self.cycles else None

    @property
    def per_op(self) -> float | None:
        """The net cycles of one operation."""
        return self.cycles.per_op if self.cycles else None

    @property
    def instructions(self) -> float | None:
        """The net retired instructions of one sample."""
        return self.instret.net if self.instret else None

    @property
    def us(self) -> float | None:
        """The net microseconds of one operation; None if the clock is unknown."""
        if self.per_op is None or not self.clock_hz:
            return None
        return microseconds(self.per_op, self.clock_hz)

    def mb_per_s(self, moved: int | None) -> float | None:
        """Return the rate in 10^6 bytes per second, if a sample moves `moved` bytes."""
        if not moved or self.net is None or self.net <= 0 or not self.clock_hz:
            return None
        return moved * self.clock_hz / (self.net * 1e6)

    @property
    def steadiness(self) -> str | None:
        """The steadiness of the samples behind the net, as tables show it."""
        stats = self.cycles.figure_stats if self.cycles else None
        return stats.steadiness if stats else None

    @property
    def wanders(self) -> bool:
        """Whether its samples wander, so that no single figure represents the row."""
        stats = self.cycles.figure_stats if self.cycles else None
        return stats is not None and stats.wanders


def with_readings(rows: Iterable[Row]) -> tuple[Row, ...]:
    """Return the rows of a result with the cost of counter reads in their boots. It comes from the
    first overhead row of the boot that reads the counters as the row does, or from the first such
    control if that is off."""
    with_costs = list(rows)
    for ids in (OVERHEADS, CONTROLS):
        first = {
            _boot_key(row, row.id): row for row in reversed(with_costs) if row.id in ids.values()
        }
        costs = {boot: _costs(row) for boot, row in first.items()}
        for n, row in enumerate(with_costs):
            by_layout = costs.get(_boot_key(row, ids[row.by]), [])
            if any(by_layout) and row.id not in ids.values():
                more = [*by_layout, *[{}] * len(row.readings)]
                both = zip(row.readings, more, strict=False)
                with_costs[n] = structs.replace(row, readings=tuple([{**a, **b} for a, b in both]))
    return tuple(with_costs)


def _boot_key(row: Row, id_: str) -> object:
    return id_, row.boot, row.icache, row.lang


def _costs(row: Row) -> list[dict[str | int, Reading]]:
    """Return the cost of counter reads in each layout, measured by an overhead row, or by a
    control that is off."""
    costs_by_layout: list[dict[str | int, Reading]] = []
    control = row.is_control
    for layout, (samples, readings) in enumerate(zip(row.samples, row.readings, strict=True)):
        costs_by_layout.append({})
        for name in SERIES:
            if name in samples and (not control or (name, layout) in row.offset_series):
                kept = row.steady(name, layout)
                known_slope = control and name in readings
                slope = readings[name].slope if known_slope else row.slope(name, layout)
                costs_by_layout[layout][name] = Reading(kept, steady_median(kept), slope, control)
    if not control:
        costs_by_layout[0] |= {
            n: Reading(samples, steady_median(samples)) for n, samples in row.event_samples.items()
        }
    return costs_by_layout


def microseconds(cycles: float, clock_hz: int) -> float:
    """Return the time of some cycles at a clock."""
    return cycles * 1e6 / clock_hz


def comparable(base: Row, row: Row) -> tuple[Row, Row]:
    """Return both rows with comparable figures: slopes if both have them, else single passes."""
    both = [r.cycles is not None and r.cycles.is_slope for r in (base, row)]
    return (base, row) if all(both) else (base.single_pass, row.single_pass)


def layout_nets(row: Row | None) -> list[float]:
    """Return the net cycles of one operation in each layout; nothing if the row is absent or
    unsound."""
    if row is None or row.cycles is None or not row.sound:
        return []
    return [net / row.inner for net in row.cycles.nets]


def range_ends(row: Row) -> list[tuple[float, str]]:
    """Return the least and the most net cycles of a sample over the layouts, each with "†" if all
    layouts with it subtract a control; empty without a net."""
    marks: dict[float, str] = {}
    for series in (row.cycles, *row.cycles.further) if row.cycles else ():
        if series.own_net is not None:
            by_control = series.reading is not None and series.reading.from_control
            marks[series.own_net] = marks.get(series.own_net, "†") if by_control else ""
    return sorted(marks.items())[:: max(len(marks) - 1, 1)]


def ratio(base: Row | None, row: Row | None) -> float | None:
    """Return the cost per operation of `row` divided by that of `base`; None unless both are sound
    and above zero."""
    if base is None or row is None or not (base.sound and row.sound):
        return None
    base, row = comparable(base, row)
    below, above = base.per_op, row.per_op
    return above / below if below and above and below > 0 and above > 0 else None


def allowance(icache: bool | None, reading: Reading | None) -> float:
    """Return how many cycles a control may be off, and so any row of its boot."""
    if icache is False or reading is None or not reading.median:
        return CYCLE
    return plain_number(IN_EACH * reading.median)


@dataclass(frozen=True)
class Control:
    """One counter of a control."""

    row: Row
    counter: str
    nets: tuple[float, ...]  # of a sample, by layout
    outside: tuple[tuple[float, float], ...]  # nets that are too large, each with its allowance
    reading: float  # the overhead of a read in the first layout; 0 if nothing is subtracted

    @property
    def deviation(self) -> float:
        """The largest offset from 0."""
        return max(map(abs, self.nets))

    @property
    def uncorrected(self) -> float:
        """The largest offset within the allowance; larger ones are corrected."""
        allowed = allowance(self.row.icache, self.row.cycles.reading if self.row.cycles else None)
        return max((abs(net) for net in self.nets if abs(net) <= allowed), default=0)

    @property
    def replaces_reading(self) -> bool:
        """Whether this control replaces `time.read` in any layout."""
        return self.counter != SLOPE and bool(self.row.offset_series)

    @property
    def message(self) -> str:
        """The error with its boot."""
        return f"{INVALID_ROW}{_in_boot(self.row, params=False)}: {self.error}"

    @property
    def error(self) -> str | None:
        """The error; None if the control is within its allowance."""
        cached = self.row.icache is not False
        if self.outside and not (cached and self.reading):  # else it replaces the reading
            net, allowed = max(self.outside, key=lambda pair: abs(pair[0]))
            return f"net {self.counter} is {net:g}, not 0 within {allowed:g}"
        middle = median([abs(net) for net in self.nets])
        if len(self.nets) > 1 and cached and middle > IN_MEDIAN * self.reading:
            return f"net {self.counter} is off by {middle:g} in the median over layouts (limit 2 %)"
        return None


@dataclass(frozen=True)
class Result:
    """The result of a run, or of a log."""

    provenance: Provenance
    rows: tuple[Row, ...]
    failed: tuple[Absent, ...] = ()
    skipped: tuple[Absent, ...] = ()
    missing: tuple[Absent, ...] = ()
    problems: tuple[str, ...] = ()

    @cached_property
    def table(self) -> dict[Key, Row]:
        """The rows to show, without controls. Every boot has overhead rows; the table keeps
        only the rows of the app `time`, or else the first."""
        own = OVERHEAD.partition(".")[0]
        first_rows: dict[Key, Row] = {}
        rows = [row for row in self.rows if not row.is_control]
        for row in sorted(rows, key=lambda row: row.is_overhead and row.app != own):
            first_rows.setdefault(row.key, row)
        return {row.key: row for row in rows if first_rows[row.key] is row}

    @property
    def ids(self) -> set[str]:
        """The benchmark ids of all rows, also of failed, skipped and missing ones."""
        lists = (self.rows, *(getattr(self, name) for name in ABSENT_LISTS))
        return {row.id for rows in lists for row in rows}

    @property
    def layouts(self) -> int:
        """The number of layouts of kernel and apps."""
        return len(self.provenance.layouts) or 1

    @property
    def links(self) -> int:
        """The number of links of the kernel."""
        return len({layout.link for layout in self.provenance.layouts}) or 1

    def in_layouts(self, indices: Sequence[int]) -> Result:
        """Return the result in these of its layouts, in this order. A row that none of them has is
        dropped. Raise IndexError if a layout does not exist."""
        return replace(
            self,
            provenance=self.provenance.in_layouts(indices),
            rows=tuple(kept for row in self.rows if (kept := row.in_layouts(indices)) is not None),
        )

    def only(self, wanted: Selection) -> Result:
        """Return the result with the selected rows and all controls."""
        selected = self._filtered(lambda row: row.is_control or wanted.includes(row))
        return replace(selected, provenance=self.provenance.of_langs(selected.langs))

    def of_lang(self, lang: Lang) -> Result:
        """Return the result in one language."""
        selected = self._filtered(lambda row: row.lang == lang)
        return replace(selected, provenance=self.provenance.of_langs([lang]))

    @property
    def leading(self) -> Result:
        """The result in the first of its languages."""
        return self.of_lang(self.langs[0]) if len(self.langs) > 1 else self

    def _filtered(self, is_wanted: Callable[[BootRowName], bool]) -> Result:
        names = ("rows", *ABSENT_LISTS)
        lists = {name: tuple(filter(is_wanted, getattr(self, name))) for name in names}
        return replace(self, **lists)  # type: ignore[arg-type]

    @property
    def icaches(self) -> list[bool | None]:
        """The cache settings of the rows: True (on), False (off), None (unknown)."""
        settings = {row.icache for row in self.rows}
        return [setting for setting in (True, False, None) if setting in settings] or [None]

    @property
    def langs(self) -> list[Lang]:
        """The languages of the rows, the leading one first."""
        rows = self.table.values() or (*self.failed, *self.skipped, *self.missing)
        langs = {row.lang for row in rows}
        return [lang for lang in LANGS if lang in langs] or ["c"]

    def column(self, icache: bool | None, lang: Lang) -> dict[RowKey, Row]:
        """Return the table's rows of one cache setting and language, by id and parameters."""
        return {key[:2]: row for key, row in self.table.items() if key[2:] == (icache, lang)}

    @cached_property
    def controls(self) -> tuple[Control, ...]:
        """The controls of all boots."""
        return tuple(control for row in self.rows if row.is_control for control in _controls(row))

    def control_error(self, icache: bool | None, lang: Lang) -> float | None:
        """Return the largest offset, in cycles, of the controls with this cache setting and
        language: any net may be off by as much. Controls that replace time.read do not count. None
        if there are no controls."""
        return self._control_errors.get((icache, lang))

    def stray_instructions(self, row: Row) -> float:
        """Return how many instructions of a sample the counter may be off: one, but with the cache
        off only if a control of the same boot is off, too."""
        boot = row.boot, row.icache, row.lang
        return STRAY if row.icache is not False else self._stray_by_boot.get(boot, 0)

    @cached_property
    def _stray_by_boot(self) -> dict[object, float]:
        stray = [
            (max(map(abs, series.nets), default=0.0), (row.boot, row.icache, row.lang))
            for row in self.rows
            if row.is_control and (series := row.instret) is not None
        ]
        return {boot: min(net, STRAY) for net, boot in sorted(stray, key=lambda entry: entry[0])}

    @cached_property
    def _control_errors(self) -> dict[tuple[bool | None, Lang], float]:
        cycles = [control for control in self.controls if control.counter == "cycles"]
        ordered = sorted(cycles, key=lambda control: control.uncorrected)
        return {(control.row.icache, control.row.lang): control.uncorrected for control in ordered}

    @property
    def simulated(self) -> bool:
        """Whether a simulator measured this. Its figures are the same in every run."""
        return self.provenance.board.simulator_sha256 is not None

    @cached_property
    def incomplete(self) -> tuple[str, ...]:
        """The reasons why this result is incomplete. Skipped rows are not among them."""
        return (
            *self.problems,
            *(f"failed: {_in_boot(gone)}: {gone.why}" for gone in self.failed),
            *(
                f"{INVALID_ROW}{_in_boot(row)}: {error}"
                for row in self.rows
                for error in row.errors
            ),
            *(control.message for control in self.controls if control.error),
            *_missing(self.missing),
        )

    @property
    def corrected(self) -> tuple[str, ...]:
        """The reasons in `incomplete` that are corrected: the control replaces time.read."""
        return tuple(c.message for c in self.controls if c.error and c.replaces_reading)

    @property
    def uncorrected(self) -> tuple[str, ...]:
        """The reasons in `incomplete` that are not corrected."""
        corrected = set(self.corrected)
        return tuple(reason for reason in self.incomplete if reason not in corrected)


def catalogue_of(results: Iterable[Result]) -> Catalogue:
    """Return the default catalogue, with the results' benchmarks from other catalogues."""
    return load().with_others(b for result in results for b in result.provenance.benchmarks)


def common_icaches(results: Sequence[Result]) -> list[bool | None]:
    """Return the cache settings that all results have."""
    return [c for c in results[0].icaches if all(c in result.icaches for result in results)]


def _controls(row: Row) -> Iterator[Control]:
    """Yield the controls of a row: one for its cycles, one for each event."""
    series_by_counter: dict[str, Series | None] = {"cycles": row.single_pass.cycles}
    if row.cycles and row.cycles.is_slope:
        series_by_counter[SLOPE] = row.cycles
    series_by_counter |= {f"event {n}": series for n, series in row.events.items()}
    first = row.cycles.reading if row.cycles else None
    own = [  # each layout has the allowance of its own reading
        (series.single_pass_net or 0, allowance(row.icache, series.reading))
        for name, layout, series in row.each_series()
        if name == "cycles" and (name, layout) in row.offset_series
    ]
    allowed = allowance(row.icache, first)
    for counter, series in series_by_counter.items():
        if series is not None and series.nets:
            too_large = [(net, allowed) for net in series.nets if abs(net) > allowed]
            outside = own if counter == "cycles" else too_large
            yield Control(row, counter, series.nets, tuple(outside), first.median if first else 0)


def _in_boot(row: BootRowName, params: bool = True) -> str:
    """Return a row's name behind its boot, with the cache setting and language unless these are the
    usual ones."""
    unusual = ["i-cache off"] * (row.icache is False) + [LANGS[row.lang]] * (row.lang != "c")
    where = row.boot + (f" ({', '.join(unusual)})" if unusual else "")
    return f"{where}: {label(row.id, row.params if params else {})}"


def _missing(rows: Iterable[Absent]) -> list[str]:
    """Return one line per benchmark with missing rows."""
    rows = list(rows)
    counts = Counter(_in_boot(row, params=False) for row in rows)
    firsts = {_in_boot(row, params=False): row for row in reversed(rows)}
    return [
        f"missing: {_in_boot(firsts[name]) if many == 1 else f'{name} ({many} rows)'}"
        for name, many in counts.items()
    ]
