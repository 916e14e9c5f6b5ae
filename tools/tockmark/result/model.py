# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The one typed result: rows of series of samples, and what their figures mean.

Whatever shows or judges results takes these types; what a figure means is said here and nowhere
else. A figure is **net**: the median of the steady samples less what the readings of the counters
cost in the same boot (the row `time.read`, or `time.reading` where a row reads by itself); of these
themselves it is the median as measured. It is signed: a net further below zero than the controls
may be is an error, which is shown. A row with an error is not **sound**: its figures are shown,
with the error, but nothing is computed from them, no ratio, mean, picture or verdict. Where a row
was measured in several layouts of kernel and apps, its net is the median over their nets.

**Controls** (`null.*`) are rows that measure nothing by each means by which others measure
something. They have to come out 0, and what they are off by is how far the other rows of the boot
may be: with the cache off at most a cycle. With it on there is no such bound in one layout of the
code, where whatever shares a set with the readings moves them: there the deviation is a stated
error, and over several layouts it may be 2 % of time.read in the median, and 5 % in each. A control
that is off by more says that readings cost something else where the rows are measured than where
time.read was: then the control is what the readings of its boot cost (`Row.series_from_control`).
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
    slope_between,
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

CYCLE = 1  # that a control may be off with the cache off
STRAY = 1  # instructions that Ibex's minstret may be off
IN_MEDIAN, IN_EACH = 0.02, 0.05  # of time.read, with it on
SLOPE = "cycles of a pass"  # what of a control is no single sample
ABSENT_LISTS = ("failed", "skipped", "missing")  # kinds of rows that are not there
Samples = Mapping[str, tuple[int, ...]]  # of each series, the cold one first; {}: not measured


class Reading(msgspec.Struct, frozen=True):
    """What reading one counter costs in one layout of a boot."""

    steady: tuple[int, ...]  # samples of it
    median: float
    slope: Slope | None = None  # over passes of the empty body
    from_control: bool = False


@dataclass(frozen=True)
class Series:
    """What one counter counted in each sample of a row, the cold one first."""

    samples: tuple[int, ...]  # none if only `stated` is known
    inner: int = 1  # operations in a sample
    reads: float = 0  # pairs of readings in a sample, whose cost comes off
    reading: Reading | None = None  # None: these are readings themselves, or it is lost
    published_net: float | None = None  # the net that was published without its samples
    has_cold: bool = True  # the first sample is a cold one; of events the app drops that itself,
    # and of a log's series its reader, where it is no time
    slope: Slope | None = None  # over passes of the same code, where the app measured it
    further: tuple[Series, ...] = ()  # the same in the further layouts that have this row

    @cached_property
    def stats(self) -> Stats | None:
        """The statistics of the samples as they are; None if there are none."""
        return summarise(self.samples, self.has_cold) if self.samples else None

    @cached_property
    def steady(self) -> tuple[int, ...]:
        """The samples without the cold one."""
        return tuple(steady(self.samples)) if self.has_cold else self.samples

    @cached_property
    def median(self) -> float | None:
        """The median of the steady samples, with the readings."""
        return steady_median(self.steady) if self.samples else None

    @cached_property
    def overhead(self) -> float | None:
        """What the readings cost; None if that is not known."""
        if not self.reads:
            return 0
        return self.reads * self.reading.median if self.reading else None

    @cached_property
    def own_net(self) -> float | None:
        """The net in this layout alone: counts of one sample, signed; None if the cost of the
        readings is not known. It is the slope over passes, where there is one."""
        slopes = self._slopes
        return slope_between(*slopes) if slopes else self.single_pass_net

    @cached_property
    def single_pass_net(self) -> float | None:
        """The net of a sample of one pass, even where there is a slope."""
        return self.published_net if self.median is None else self.net_of(self.median)

    @property
    def is_slope(self) -> bool:
        """Whether the net is a slope, and none of a single pass."""
        return self._slopes is not None

    @property
    def _slopes(self) -> tuple[Slope, Slope] | None:
        """The series' own slope, and that of the empty body."""
        empty = self.reading.slope if self.reading else None
        return (self.slope, empty) if self.slope and empty else None

    @cached_property
    def nets(self) -> tuple[float, ...]:
        """The net in each layout that has it, this one first; none if it is not known here."""
        if self.own_net is None:
            return ()
        return self.own_net, *(one.own_net for one in self.further if one.own_net is not None)

    @cached_property
    def net(self) -> float | None:
        """The median over the layouts: counts of one sample."""
        return median(self.nets) if len(self.nets) > 1 else self.own_net

    def net_of(self, counts: float) -> float | None:
        """Return the counts of any one sample, net of its readings."""
        return plain_number(counts - self.overhead) if self.overhead is not None else None

    @property
    def per_op(self) -> float | None:
        """Net counts of one operation: what samples of another make can be compared by."""
        return self.net / self.inner if self.net is not None else None

    def per_op_of(self, counts: float) -> float | None:
        """Return the net counts of one operation in any one sample."""
        net = self.net_of(counts)
        return net / self.inner if net is not None else None

    @property
    def figure_stats(self) -> Stats | None:
        """The statistics that the net hangs on: of the samples of many passes, if it is a slope."""
        return summarise(self.slope.long) if self.slope and self.is_slope else self.stats

    @property
    def net_range(self) -> tuple[float, float, float] | None:
        """The least, the median and the largest net of a sample in this layout; of a slope, by the
        long samples."""
        found, slopes = self.figure_stats, self._slopes
        if found is None or self.own_net is None:
            return None
        passes = slopes[0].passes if slopes else 1
        low, high = ((count - found.median) / passes for count in (found.min, found.max))
        return plain_number(self.own_net + low), self.own_net, plain_number(self.own_net + high)

    @property
    def is_repeating(self) -> bool:
        """Whether the samples come to repeat themselves, or are too few to tell."""
        return repeating_tail(self.steady) != (None, None)


class Row(BootRowName, msgspec.Struct, frozen=True, dict=True):
    """One benchmark with one set of parameters, one cache setting and one language of the apps, as
    measured in one boot, with what readings cost in that boot and with its clock."""

    id: str
    boot: str
    asked: int
    params: Params
    own_app: str | None  # if it is not called as the boot
    icache: bool | None
    inner: int
    reads: int
    passes: int
    by: Reader
    clock: Clock
    stated: Mapping[str, float]  # nets without samples
    without_cold: tuple[str, ...]  # series of the first layout that lack the cold sample
    faults: tuple[str, ...]
    published: Published | None
    lang: Lang
    stack: int | None
    samples: tuple[Samples, ...]  # in each layout of the result
    event_samples: Mapping[int, tuple[int, ...]]  # by the event's number, in the first layout
    extra: Mapping[str, tuple[int, ...]]  # further series of the first layout
    readings: tuple[Mapping[str | int, Reading], ...]  # in each layout, by series or event
    clock_hz: int | None = None
    counter: CounterName = PERF  # by which its app reads

    @property
    def app(self) -> str:
        """The app that measured the row."""
        return self.own_app or self.boot

    @cached_property
    def layouts(self) -> tuple[int, ...]:
        """The layouts of the result that have the row; the first layout always counts."""
        return 0, *(n for n, taken in enumerate(self.samples) if n and taken)

    @property
    def series_from_control(self) -> list[str]:
        """The series whose readings are known by the control of its boot, in any layout."""
        used = [self.readings[layout] for layout in self.layouts if self.reads]
        return [n for n in SERIES if any(n in one and one[n].from_control for one in used)]

    @cached_property
    def offset_series(self) -> set[tuple[str, int]]:
        """Where a control is off by more than is allowed: the series, and the layout."""
        found = set()
        for layout, taken in enumerate(self.samples):
            for name in SERIES:
                reading = self.readings[layout].get(name) if self.reads else None
                if name in taken and (reading or not self.reads):
                    net = steady_median(self.steady(name, layout))
                    net -= self.reads * reading.median if reading else 0
                    allowed = allowance(self.icache, reading) if name == "cycles" else STRAY
                    if abs(net) > allowed:
                        found.add((name, layout))
        return found

    def steady(self, name: str, layout: int) -> tuple[int, ...]:
        """Return the samples of a series without the cold one."""
        taken = self.samples[layout][name]
        return tuple(steady(taken)) if self._has_cold(name, layout) else taken

    def _has_cold(self, name: str, layout: int) -> bool:
        return layout > 0 or name not in self.without_cold

    def slope(self, name: str, layout: int) -> Slope | None:
        """Return what samples of several passes counted, if there are any."""
        taken = self.samples[layout]
        short, long = taken.get(f"short_{name}"), taken.get(f"long_{name}")
        return Slope(short, long, self.passes) if self.passes and short and long else None

    def each_series(self) -> Iterator[tuple[str, int, Series]]:
        """Yield the series of cycles and instructions of each layout alone."""
        for name in SERIES:
            if (series := self.series(name)) is not None:
                for layout, one in zip(self.layouts, (series, *series.further), strict=True):
                    yield name, layout, one

    def _in_layout(self, name: str, layout: int) -> Series | None:
        taken, stated = self.samples[layout], None if layout else self.stated.get(name)
        if name not in taken and stated is None:
            return None
        reads = 0 if self.is_overhead else self.reads
        return Series(
            taken.get(name, ()),
            self.inner,
            reads,
            self.readings[layout].get(name) if reads else None,
            stated,
            has_cold=self._has_cold(name, layout),
            slope=self.slope(name, layout),
        )

    def series(self, name: str) -> Series | None:
        """Return what a counter counted in all layouts."""
        return self.cycles if name == "cycles" else self.instret

    @cached_property
    def cycles(self) -> Series | None:
        """Clock cycles."""
        return self._over_layouts("cycles")

    @cached_property
    def instret(self) -> Series | None:
        """Retired instructions."""
        return self._over_layouts("instret")

    def _over_layouts(self, name: str) -> Series | None:
        first, *others = (self._in_layout(name, layout) for layout in self.layouts)
        return replace(first, further=tuple(filter(None, others))) if first else None

    @cached_property
    def events(self) -> dict[int, Series]:
        """The series of the core's event counters, by their numbers."""
        reads = 0 if self.is_overhead else self.reads
        readings = self.readings[0] if reads else {}
        return {
            n: Series(taken, self.inner, reads, readings.get(n), has_cold=False)
            for n, taken in self.event_samples.items()
        }

    @property
    def single_pass(self) -> Row:
        """The row without slopes: what a row that has none can be compared with."""
        return structs.replace(self, passes=0) if self.passes else self

    @property
    def missing_series(self) -> list[str]:
        """The names of the series that it should have and has not."""
        wanted = counted_series(self.clock, self.counter)
        gone = [name for name in wanted if self.series(name) is None]
        short = [n for n in SERIES if (one := self.series(n)) and self.passes and not one.slope]
        return [*gone, *(f"{name} of several passes" for name in short)]

    def with_layouts(self, others: Sequence[Row | None]) -> Row:
        """Return the row with the samples and readings of further layouts."""
        samples = (one.samples[0] if one else {} for one in others)
        readings = (one.readings[0] if one else {} for one in others)
        changed = {"samples": samples, "readings": readings}
        return structs.replace(
            self, **{name: (getattr(self, name)[0], *of) for name, of in changed.items()}
        )

    def in_layouts(self, indices: Sequence[int]) -> Row | None:
        """Return the row in some layouts of its result, or None if it was measured in none of them.
        Of those that have it the first leads; events were counted in the result's first only."""
        there = [index for index in indices if index in self.layouts]
        if not there:
            return None
        lead, *more = there
        order = [lead, *(n if n in more else None for n in indices[1:] if more)]
        changed: dict[str, Any] = {
            name: tuple({} if n is None else getattr(self, name)[n] for n in order)
            for name in ("samples", "readings")
        }
        if lead:  # what is known of the result's first only
            changed |= {"event_samples": {}, "stated": {}, "without_cold": ()}
        return structs.replace(self, **changed)

    @cached_property
    def errors(self) -> tuple[str, ...]:
        """What is wrong with this row, in words."""
        found = [
            (f" in layout {layout}" if len(self.layouts) > 1 else "", name, one)
            for name, layout, one in self.each_series()
        ]
        return (
            *(
                f"net {name} is {one.own_net:g}, below zero{where}"
                for where, name, one in found
                if (one.own_net or 0) < -self._allowance(name, one) and not self.is_control
            ),
            *(
                f"{name} stops after {len(one.samples)} of {self.asked} samples{where},"
                " which do not repeat"
                for where, name, one in found
                if name == "cycles"  # on version 1 the app looks at these alone before it stops
                if 0 < len(one.samples) < self.asked and not one.is_repeating
            ),
            *self.faults,
        )

    def _allowance(self, name: str, series: Series) -> float:
        """Return how far below zero a net may be, being no more than the controls may show."""
        if name != "cycles":
            return 0 if self.icache is False else STRAY
        return allowance(self.icache, series.reading)

    @property
    def unsound(self) -> str | None:
        """Why nothing may be computed from it, if so."""
        return self.errors[0] if self.errors else "no net cycles" if self.net is None else None

    @property
    def sound(self) -> bool:
        """Whether anything may be computed from it."""
        return self.unsound is None

    @property
    def net(self) -> float | None:
        """Net cycles of one sample."""
        return self.cycles.net if self.cycles else None

    @property
    def per_op(self) -> float | None:
        """Net cycles of one operation."""
        return self.cycles.per_op if self.cycles else None

    @property
    def instructions(self) -> float | None:
        """Net retired instructions of one sample."""
        return self.instret.net if self.instret else None

    @property
    def us(self) -> float | None:
        """Microseconds of one operation, net, at the board's clock."""
        if self.per_op is None or not self.clock_hz:
            return None
        return microseconds(self.per_op, self.clock_hz)

    def mb_per_s(self, moved: int | None) -> float | None:
        """Return 10^6 bytes a second, if a sample moves so many bytes."""
        if not moved or self.net is None or self.net <= 0 or not self.clock_hz:
            return None
        return moved * self.clock_hz / (self.net * 1e6)

    @property
    def steadiness(self) -> str | None:
        """In a word, how steady the samples are that the net hangs on."""
        found = self.cycles.figure_stats if self.cycles else None
        return found.steadiness if found else None

    @property
    def wanders(self) -> bool:
        """Whether no one figure is its own: its samples do not stay where they began."""
        found = self.cycles.figure_stats if self.cycles else None
        return found is not None and found.wanders


def with_readings(rows: Iterable[Row]) -> tuple[Row, ...]:
    """Return rows with what readings cost in their boots: as the first row of their kind says or,
    where the first control of their kind is off, as the control says."""
    found = list(rows)
    for ids in (OVERHEADS, CONTROLS):
        first = {_place(row, row.id): row for row in reversed(found) if row.id in ids.values()}
        costs = {place: _costs(row) for place, row in first.items()}
        for n, row in enumerate(found):
            by_layout = costs.get(_place(row, ids[row.by]), [])
            if any(by_layout) and row.id not in ids.values():
                more = [*by_layout, *[{}] * len(row.readings)]
                both = zip(row.readings, more, strict=False)
                found[n] = structs.replace(row, readings=tuple([{**a, **b} for a, b in both]))
    return tuple(found)


def _place(row: Row, id_: str) -> object:
    return id_, row.boot, row.icache, row.lang


def _costs(row: Row) -> list[dict[str | int, Reading]]:
    """Return what readings cost in each layout by a row that measures them, or by a control where
    it is off."""
    found: list[dict[str | int, Reading]] = []
    control = row.is_control
    for layout, (taken, known) in enumerate(zip(row.samples, row.readings, strict=True)):
        found.append({})
        for name in SERIES:
            if name in taken and (not control or (name, layout) in row.offset_series):
                kept = row.steady(name, layout)
                slope = known[name].slope if control and name in known else row.slope(name, layout)
                found[layout][name] = Reading(kept, steady_median(kept), slope, control)
    if not control:
        found[0] |= {
            n: Reading(taken, steady_median(taken)) for n, taken in row.event_samples.items()
        }
    return found


def microseconds(cycles: float, clock_hz: int) -> float:
    """Return what cycles take at a clock."""
    return cycles * 1e6 / clock_hz


def comparable(base: Row, row: Row) -> tuple[Row, Row]:
    """Return both with figures of one kind: slopes if both have them, else of single passes."""
    both = [one.cycles is not None and one.cycles.is_slope for one in (base, row)]
    return (base, row) if all(both) else (base.single_pass, row.single_pass)


def ratio(base: Row | None, row: Row | None) -> float | None:
    """Return what an operation of a row costs by one of another; None unless both are sound and
    above zero."""
    if base is None or row is None or not (base.sound and row.sound):
        return None
    base, row = comparable(base, row)
    below, above = base.per_op, row.per_op
    return above / below if below and above and below > 0 and above > 0 else None


def allowance(icache: bool | None, reading: Reading | None) -> float:
    """Return by how many cycles a control, and so any row of a boot with these readings, may be
    off."""
    if icache is False or reading is None or not reading.median:
        return CYCLE
    return plain_number(IN_EACH * reading.median)


@dataclass(frozen=True)
class Control:
    """What one counter of a row that measures nothing says."""

    row: Row
    counter: str
    nets: tuple[float, ...]  # in each layout; of time.read's unit, which is a sample
    outside: tuple[
        tuple[float, float], ...
    ]  # the nets that are too large, and what each is allowed
    reading: float  # cycles of time.read (or time.reading) in the first layout; 0 if none comes off

    @property
    def deviation(self) -> float:
        """The largest distance from 0."""
        return max(map(abs, self.nets))

    @property
    def uncorrected(self) -> float:
        """The largest distance from 0 that rows are not corrected by."""
        allowed = allowance(self.row.icache, self.row.cycles.reading if self.row.cycles else None)
        return max((abs(net) for net in self.nets if abs(net) <= allowed), default=0)

    @property
    def replaces_reading(self) -> bool:
        """Whether rows are taken by it, in any layout; so no more is to be said of its events."""
        return self.counter != SLOPE and bool(self.row.offset_series)

    @property
    def message(self) -> str:
        """What fails, with its boot."""
        return f"wrong: {_in_boot(self.row, params=False)}: {self.error}"

    @property
    def error(self) -> str | None:
        """What fails, in words."""
        cached = self.row.icache is not False
        if self.outside and (len(self.nets) > 1 or not (cached and self.reading)):
            net, allowed = max(self.outside, key=lambda one: abs(one[0]))
            return f"net {self.counter} is {net:g}, not 0 within {allowed:g}"
        middle = median([abs(net) for net in self.nets])
        if len(self.nets) > 1 and cached and middle > IN_MEDIAN * self.reading:
            return f"net {self.counter} is {middle:g} off in the median over layouts, more than 2 %"
        return None


@dataclass(frozen=True)
class Result:
    """A run, or what a log held."""

    provenance: Provenance
    rows: tuple[Row, ...]
    failed: tuple[Absent, ...] = ()
    skipped: tuple[Absent, ...] = ()
    missing: tuple[Absent, ...] = ()
    problems: tuple[str, ...] = ()

    @cached_property
    def table(self) -> dict[Key, Row]:
        """The rows that stand for themselves, without controls. Every boot measures what readings
        cost: that of the app `time` stands for all, or the first."""
        own = OVERHEAD.partition(".")[0]
        found: dict[Key, Row] = {}
        rows = [row for row in self.rows if not row.is_control]
        for row in sorted(rows, key=lambda row: row.is_overhead and row.app != own):
            found.setdefault(row.key, row)
        return {row.key: row for row in rows if found[row.key] is row}

    @property
    def ids(self) -> set[str]:
        """The benchmarks that it has rows of, be they there or not."""
        return {
            row.id
            for rows in (self.rows, *(getattr(self, name) for name in ABSENT_LISTS))
            for row in rows
        }

    @property
    def layouts(self) -> int:
        """In how many layouts of kernel and apps it was measured."""
        return len(self.provenance.layouts) or 1

    @property
    def links(self) -> int:
        """How many links of the kernel these have."""
        return len({layout.link for layout in self.provenance.layouts}) or 1

    def in_layouts(self, indices: Sequence[int]) -> Result:
        """Return the result in some of its layouts only, the first of which leads; a row that this
        one has not is led by the first that has it, and drops out if none has. IndexError if there
        is no such layout."""
        return replace(
            self,
            provenance=self.provenance.in_layouts(indices),
            rows=tuple(
                found for row in self.rows if (found := row.in_layouts(indices)) is not None
            ),
        )

    def only(self, wanted: Selection) -> Result:
        """Return the rows that are meant, and all controls; of boots and apps what is in a language
        that is left."""
        left = self._those(lambda row: row.is_control or wanted.includes(row))
        return replace(left, provenance=self.provenance.of_langs(left.langs))

    def of_lang(self, lang: Lang) -> Result:
        """Return what is in one language only."""
        only = self._those(lambda row: row.lang == lang)
        return replace(only, provenance=self.provenance.of_langs([lang]))

    @property
    def leading(self) -> Result:
        """What is in the first of its languages, for what can show one only."""
        return self.of_lang(self.langs[0]) if len(self.langs) > 1 else self

    def _those(self, meant: Callable[[BootRowName], bool]) -> Result:
        lists = {
            name: tuple(filter(meant, getattr(self, name))) for name in ("rows", *ABSENT_LISTS)
        }
        return replace(self, **lists)  # type: ignore[arg-type]

    @property
    def icaches(self) -> list[bool | None]:
        """The cache settings that there are rows for: on, off, unknown."""
        found = {row.icache for row in self.rows}
        return [setting for setting in (True, False, None) if setting in found] or [None]

    @property
    def langs(self) -> list[Lang]:
        """The languages that there are rows in, the leading one first."""
        rows = self.table.values() or (*self.failed, *self.skipped, *self.missing)
        found = {row.lang for row in rows}
        return [lang for lang in LANGS if lang in found] or ["c"]

    def column(self, icache: bool | None, lang: Lang) -> dict[RowKey, Row]:
        """Return the table's rows with one cache setting and in one language, by id and
        parameters."""
        return {key[:2]: row for key, row in self.table.items() if key[2:] == (icache, lang)}

    @cached_property
    def controls(self) -> tuple[Control, ...]:
        """What the rows say that measure nothing, of every boot."""
        return tuple(found for row in self.rows if row.is_control for found in _controls(row))

    def control_error(self, icache: bool | None, lang: Lang) -> float | None:
        """Return by how many cycles the controls are off at most with this cache setting, in any
        boot of this language and layout: so far may any net be off, too. Where rows are taken by
        their control it does not count. None without controls."""
        return self._stated.get((icache, lang))

    @cached_property
    def _stated(self) -> dict[tuple[bool | None, Lang], float]:
        found: dict[tuple[bool | None, Lang], float] = {}
        for control in self.controls:
            if control.counter == "cycles":
                key = control.row.icache, control.row.lang
                found[key] = max(found.get(key, 0), control.uncorrected)
        return found

    @property
    def simulated(self) -> bool:
        """Whether a simulator measured this: its figures come out the same each time."""
        return self.provenance.board.simulator_sha256 is not None

    @cached_property
    def incomplete(self) -> tuple[str, ...]:
        """Every reason why this result is not whole, in words; skipped rows are not among them."""
        return (
            *self.problems,
            *(f"failed: {_in_boot(gone)}: {gone.why}" for gone in self.failed),
            *(f"wrong: {_in_boot(row)}: {error}" for row in self.rows for error in row.errors),
            *(control.message for control in self.controls if control.error),
            *_missing(self.missing),
        )

    @property
    def corrected(self) -> tuple[str, ...]:
        """The reasons in `incomplete` that no longer hold: rows are taken by the control."""
        return tuple(one.message for one in self.controls if one.error and one.replaces_reading)

    @property
    def uncorrected(self) -> tuple[str, ...]:
        """The reasons in `incomplete` that hold all the same."""
        corrected = set(self.corrected)
        return tuple(reason for reason in self.incomplete if reason not in corrected)


def catalogue_of(results: Iterable[Result]) -> Catalogue:
    """Return the usual catalogue, with the benchmarks of other catalogues that results have."""
    return load().with_others(one for result in results for one in result.provenance.benchmarks)


def common_icaches(results: Sequence[Result]) -> list[bool | None]:
    """Return the cache settings that all of these results have."""
    return [c for c in results[0].icaches if all(c in one.icaches for one in results)]


def _controls(row: Row) -> Iterator[Control]:
    """Return the controls that a row is: of its cycles, and of each event."""
    found: dict[str, Series | None] = {"cycles": row.single_pass.cycles}
    if row.cycles and row.cycles.is_slope:
        found[SLOPE] = row.cycles
    found |= {f"event {n}": one for n, one in row.events.items()}
    first = row.cycles.reading if row.cycles else None
    own = [  # each layout is held to its own reading
        (series.single_pass_net or 0, allowance(row.icache, series.reading))
        for name, layout, series in row.each_series()
        if name == "cycles" and (name, layout) in row.offset_series
    ]
    allowed = allowance(row.icache, first)
    for what, one in found.items():
        if one is not None and one.nets:
            off = own if what == "cycles" else [(n, allowed) for n in one.nets if abs(n) > allowed]
            reading = first.median if first else None
            yield Control(row, what, one.nets, tuple(off), reading or 0)


def _in_boot(row: BootRowName, params: bool = True) -> str:
    """Name a row with its boot, whose cache setting and language are named unless they are the
    usual ones."""
    unusual = ["i-cache off"] * (row.icache is False) + [LANGS[row.lang]] * (row.lang != "c")
    where = row.boot + (f" ({', '.join(unusual)})" if unusual else "")
    return f"{where}: {label(row.id, row.params if params else {})}"


def _missing(rows: Iterable[Absent]) -> list[str]:
    """Name the missing rows, one line a benchmark, however many parameter sets it has."""
    rows = list(rows)
    counts = Counter(_in_boot(row, params=False) for row in rows)
    firsts = {_in_boot(row, params=False): row for row in reversed(rows)}
    return [
        f"missing: {_in_boot(firsts[name]) if many == 1 else f'{name} ({many} rows)'}"
        for name, many in counts.items()
    ]
