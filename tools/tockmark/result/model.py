# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What one counter counted, and the net that follows from it: model.py says what a figure means."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import msgspec

from tockmark.documents import Part, SomeParams
from tockmark.log.rows import SERIES, Clock
from tockmark.result.provenance import Provenance, Published
from tockmark.result.stats import (
    Slope,
    Stats,
    median,
    middle,
    plain,
    slope_between,
    steady,
    summarise,
    tail,
)
from tockmark.suite.catalogue import (
    CONTROLS,
    LANGS,
    OF_BOOT,
    OVERHEAD,
    OVERHEADS,
    Lang,
    Params,
    Reader,
    RowKey,
    label,
    named,
    row_key,
)
from tockmark.suite.selection import Selection


@dataclass(frozen=True)
class Series:
    """What one counter counted in each sample of a row, the cold one first.

    `reading` is that of time.read (or time.reading) in the same boot; None for these themselves, or
    if it is lost.
    """

    samples: tuple[int, ...]  # none if only `stated` is known
    inner: int = 1  # operations in a sample
    reads: float = 0  # pairs of readings in a sample, whose cost comes off
    reading: Series | None = None
    stated: float | None = None  # the net that was published without its samples
    has_cold: bool = True  # the first sample is a cold one; of events the app drops that itself,
    # and of a log's series its reader, where it is no time
    slope: Slope | None = None  # over passes of the same code, where the app measured it
    further: tuple[Series, ...] = ()  # the same in the further layouts that have this row

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
        return slope_between(*slopes) if slopes else self.once

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
    def one_shot(self) -> Series:
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

    def at(self, places: Sequence[int]) -> Series:
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


# Controls: rows that measure nothing, by each means by which others measure something.
#
# Each boot measures them last (`null.*`), with what readings cost taken off as ever. So they have
# to come out 0, and what they are off by is how far the other rows of the boot may be: with the
# cache off at most a cycle; with it on there is no such bound in one layout of the code, where
# whatever shares a set with the readings moves them: over several layouts at most 2 % of time.read
# in the median, and 5 % in each. One layout alone does not fail; its deviation is a stated error.


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
        return f"{missing_where(self)}: {self.id}"

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


# Why a result is not whole, in words: what went wrong, and where.


def reasons(result: Result) -> tuple[str, ...]:
    """Every one; skipped rows are not among them."""
    return (
        *result.problems,
        *(f"failed: {_row(gone)}: {gone.why}" for gone in result.failed),
        *(f"wrong: {_row(row)}: {error}" for row in result.rows for error in row.errors),
        *(
            f"wrong: {control.where}: {control.wrong}"
            for control in result.controls
            if control.wrong
        ),
        *_missing(result.missing),
    )


def missing_where(one: Row | Absent | Control) -> str:
    """The boot, with its cache setting and language, unless they are the usual ones."""
    unusual = ["i-cache off"] * (one.icache is False) + [LANGS[one.lang]] * (one.lang != "c")
    return one.boot + (f" ({', '.join(unusual)})" if unusual else "")


def _row(row: Row | Absent, params: bool = True) -> str:
    return f"{missing_where(row)}: {label(row.id, row.params if params else {})}"


def _missing(rows: Iterable[Absent]) -> list[str]:
    """The missing rows, one line a benchmark, however many parameter sets it has."""
    rows = list(rows)
    counts = Counter(_row(row, params=False) for row in rows)
    firsts = {_row(row, params=False): row for row in reversed(rows)}
    return [
        f"missing: {_row(firsts[name]) if many == 1 else f'{name} ({many} rows)'}"
        for name, many in counts.items()
    ]


# The one typed result: rows of series of samples, and all that follows from them.
#
# Whatever shows or judges results takes these types; what a figure means is said here and nowhere
# else. JSON is read and written by file.py alone.
#
# A figure is **net**: the median of the steady samples less what the readings of the counters cost
# in the same boot (the row `time.read`, or `time.reading` where a row reads by itself); of these
# themselves it is the median as measured. It is signed: a net further below zero than the controls
# may be is an error, which is shown. A row with an error is not **sound**: its figures are shown,
# with the error, but nothing is computed from them, no ratio, mean, picture or verdict. Where a row
# was measured in several layouts of kernel and apps, its net is the median over their nets.


GONE = ("failed", "skipped", "missing")  # kinds of rows that are not there

Key = tuple[str, frozenset[tuple[str, int | str]], bool | None, Lang]


@dataclass(frozen=True)
class Row:
    """One benchmark with one set of parameters, one cache setting and one language of the apps, as
    measured in one boot."""

    id: str
    params: Params
    boot: str
    app: str
    icache: bool | None
    asked: int  # samples
    inner: int = 1
    reads: int = 1
    passes: int = 0  # n of the series of 1 + n and 1 + 2 n passes; 0: there are none
    by: Reader = "sampler"
    clock: Clock = "core"  # or "sim": the simulator's own, which goes on while the core sleeps
    cycles: Series | None = None
    instret: Series | None = None
    events: dict[int, Series] = field(default_factory=dict)  # by the number of the core's counter
    faults: tuple[str, ...] = ()  # errors that whoever parsed it saw
    published: Published | None = None
    clock_hz: int | None = None
    layouts: tuple[int, ...] = (0,)  # of the result, those that its series hold, in this order
    lang: Lang = "c"  # that its app is written in

    @property
    def key(self) -> Key:
        """What tells a row from all others of a result, time.read of several boots apart."""
        return *row_key(self.id, self.params), self.icache, self.lang

    @property
    def identity(self) -> object:
        """What no two rows of a result share, there or not: every boot has its own readings and
        controls."""
        return _identity(self)

    @property
    def label(self) -> str:
        """The id and the parameters."""
        return label(self.id, self.params)

    @property
    def name(self) -> str:
        """The label with the cache setting, where that is known, and with any language but C."""
        return named(self.id, self.params, self.icache, self.lang)

    @property
    def is_overhead(self) -> bool:
        return self.id in OVERHEADS.values()

    @property
    def is_control(self) -> bool:
        """Whether it measures nothing (control.py)."""
        return self.id in CONTROLS.values()

    def series(self, name: str) -> Series | None:
        """`cycles` or `instret`."""
        found: Series | None = getattr(self, name)
        return found

    @property
    def one_shot(self) -> Row:
        """The same without slopes."""
        both = {name: one.one_shot for name in SERIES if (one := self.series(name)) is not None}
        return replace(self, **both)  # type: ignore[arg-type]

    @property
    def lacks(self) -> list[str]:
        """The names of the series that it should have and has not."""
        gone = [name for name in SERIES if self.series(name) is None]
        short = [n for n in SERIES if (one := self.series(n)) and self.passes and not one.slope]
        return [*gone, *(f"{name} of several passes" for name in short)]

    @cached_property
    def errors(self) -> tuple[str, ...]:
        """What is wrong with this row, in words."""
        found = [
            (f" in layout {layout}" if len(self.layouts) > 1 else "", name, one)
            for name in SERIES
            if (series := self.series(name)) is not None
            for layout, one in zip(self.layouts, (series, *series.further), strict=True)
        ]
        return (
            *(
                f"net {name} is {one.own:g}, below zero{where}"
                for where, name, one in found
                if (one.own or 0) < -self._allowance(name, one) and not self.is_control
            ),
            *(
                f"{name} stops after {len(one.samples)} of {self.asked} samples{where},"
                " which do not repeat"
                for where, name, one in found
                if name == "cycles"  # on version 1 the app looks at these alone before it stops
                if 0 < len(one.samples) < self.asked and not one.repeats
            ),
            *self.faults,
        )

    def at(self, indices: Sequence[int]) -> Row | None:
        """The row in some layouts of its result, or None if it was measured in none of them. Of
        those that have it the first leads; events were counted in the result's first only."""
        places = [self.layouts.index(index) for index in indices if index in self.layouts]
        if not places:
            return None
        there = [number for number, index in enumerate(indices) if index in self.layouts]
        series = {name: one.at(places) for name in SERIES if (one := self.series(name)) is not None}
        events = {} if places[0] else self.events
        return replace(self, **series, events=events, layouts=(0, *there[1:]))  # type: ignore[arg-type]

    def _allowance(self, name: str, series: Series) -> float:
        """How far below zero a net may be, being no more than the controls may show."""
        if name != "cycles":
            return 0 if self.icache is False else 1  # Ibex's minstret may be one off
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
        """10^6 bytes a second, if a sample moves so many bytes."""
        if not moved or self.net is None or self.net <= 0 or not self.clock_hz:
            return None
        return moved * self.clock_hz / (self.net * 1e6)

    @property
    def steadiness(self) -> str | None:
        found = self.cycles.of_figure if self.cycles else None
        return found.steadiness if found else None

    @property
    def wanders(self) -> bool:
        """Whether no one figure is its own: its samples do not stay where they began."""
        found = self.cycles.of_figure if self.cycles else None
        return found is not None and found.wanders


def microseconds(cycles: float, clock_hz: int) -> float:
    """What cycles take at a clock."""
    return cycles * 1e6 / clock_hz


def alike(base: Row, row: Row) -> tuple[Row, Row]:
    """Both with figures of one kind: slopes if both have them, else of single passes."""
    both = [one.cycles is not None and one.cycles.is_slope for one in (base, row)]
    return (base, row) if all(both) else (base.one_shot, row.one_shot)


def ratio(base: Row | None, row: Row | None) -> float | None:
    """What a row costs by another, an operation each; None unless both are sound and above zero."""
    if base is None or row is None or not (base.sound and row.sound):
        return None
    base, row = alike(base, row)
    below, above = base.per_op, row.per_op
    return above / below if below and above and below > 0 and above > 0 else None


class Absent(Part, frozen=True):
    """A row that is not there: given up or not tried, with the reason, or missing."""

    id: str
    boot: str
    params: SomeParams = msgspec.field(default_factory=dict)
    icache: bool | None = None
    why: str | None = None
    lang: Lang = "c"

    @property
    def key(self) -> Key:
        return *row_key(self.id, self.params), self.icache, self.lang

    @property
    def identity(self) -> object:
        """As Row has it."""
        return _identity(self)

    @property
    def name(self) -> str:
        """As Row has it."""
        return named(self.id, self.params, self.icache, self.lang)


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
    def layouts(self) -> int:
        """In how many layouts of kernel and apps it was measured."""
        return len(self.provenance.layouts) or 1

    @property
    def links(self) -> int:
        """How many links of the kernel these have."""
        return len({layout.link for layout in self.provenance.layouts}) or 1

    def at(self, indices: Sequence[int]) -> Result:
        """The same in some of its layouts only, the first of which leads; a row that this one has
        not is led by the first that has it, and drops out if none has. IndexError if there is no
        such layout."""
        known = self.provenance
        layouts = tuple(known.layouts[index] for index in indices)
        changed: dict[str, Any] = {"layouts": layouts}
        if indices[0]:
            file, sha256 = layouts[0].file, layouts[0].sha256
            kernel = msgspec.structs.replace(known.kernel, file=file, sha256=sha256)
            changed |= {"kernel": kernel, "boots": ()}
        return replace(
            self,
            provenance=msgspec.structs.replace(known, **changed),
            rows=tuple(found for row in self.rows if (found := row.at(indices)) is not None),
        )

    def only(self, wanted: Selection) -> Result:
        """The same with the rows that are meant, and all controls; of boots and apps what is in a
        language that is left."""

        def meant(row: Row | Absent) -> bool:
            is_control = row.id in CONTROLS.values()
            return is_control or wanted.fits(row.id, row.params, row.icache, row.lang)

        left = self._those(meant)
        return replace(left, provenance=self.provenance.of_langs(left.langs))

    def of_lang(self, lang: Lang) -> Result:
        """The same in one language only."""
        only = self._those(lambda row: row.lang == lang)
        return replace(only, provenance=self.provenance.of_langs([lang]))

    @property
    def leading(self) -> Result:
        """The same in the first of its languages, for what can show one only."""
        return self.of_lang(self.langs[0]) if len(self.langs) > 1 else self

    def _those(self, meant: Callable[[Row | Absent], bool]) -> Result:
        return replace(
            self,
            rows=tuple(filter(meant, self.rows)),
            failed=tuple(filter(meant, self.failed)),
            skipped=tuple(filter(meant, self.skipped)),
            missing=tuple(filter(meant, self.missing)),
        )

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
        """The table's rows with one cache setting and in one language, by id and parameters."""
        return {key[:2]: row for key, row in self.table.items() if key[2:] == (icache, lang)}

    @cached_property
    def controls(self) -> tuple[Control, ...]:
        """What the rows say that measure nothing, of every boot."""
        return tuple(found for row in self.rows if row.is_control for found in controls_of(row))

    def stated_error(self, icache: bool | None, lang: Lang) -> float | None:
        """By how many cycles the controls are off at most with this cache setting, in any boot of
        this language and layout: so far may any net be off, too. None without controls."""
        own = [c for c in self.controls if (c.icache, c.lang) == (icache, lang)]
        found = [control for control in own if control.what == "cycles"]
        return max((control.deviation for control in found), default=None)

    @property
    def simulated(self) -> bool:
        """Whether a simulator measured this: its figures come out the same each time."""
        return self.provenance.board.simulator_sha256 is not None

    @cached_property
    def incomplete(self) -> tuple[str, ...]:
        """Every reason why this result is not whole, in words; skipped rows are not among them."""
        return reasons(self)


def _identity(row: Row | Absent) -> object:
    return (row.id, row.boot, row.icache, row.lang) if row.id in OF_BOOT else row.key
