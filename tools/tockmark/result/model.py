# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The one typed result: rows of series of samples, and all that follows from them.

Whatever shows or judges results takes these types; what a figure means is said here and nowhere
else. JSON is read and written by file.py alone.

A figure is **net**: the median of the steady samples less what the readings of the counters cost
in the same boot (the row `time.read`, or `time.reading` where a row reads by itself); of these
themselves it is the median as measured. It is signed: a net further below zero than the controls
may be is an error, which is shown. A row with an error is not **sound**: its
figures are shown, with the error, but nothing is computed from them, no ratio, mean, picture or
verdict. Where a row was measured in several layouts of kernel and apps, its net is the median over
their nets.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import msgspec

from tockmark.log.measured import SERIES, Clock
from tockmark.result.control import Control, allowance, controls_of
from tockmark.result.incomplete import reasons
from tockmark.result.provenance import Part, Provenance, Published, SomeParams
from tockmark.result.series import Series as Series
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
from tockmark.suite.catalogue import ICACHE as ICACHE
from tockmark.suite.select import Selection

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
    def one_shot(self) -> "Row":
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

    def at(self, indices: Sequence[int]) -> "Row | None":
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

    def at(self, indices: Sequence[int]) -> "Result":
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

    def only(self, wanted: Selection) -> "Result":
        """The same with the rows that are meant, and all controls; of boots and apps what is in a
        language that is left."""

        def meant(row: Row | Absent) -> bool:
            is_control = row.id in CONTROLS.values()
            return is_control or wanted.fits(row.id, row.params, row.icache, row.lang)

        left = self._those(meant)
        return replace(left, provenance=self.provenance.of_langs(left.langs))

    def of_lang(self, lang: Lang) -> "Result":
        """The same in one language only."""
        only = self._those(lambda row: row.lang == lang)
        return replace(only, provenance=self.provenance.of_langs([lang]))

    @property
    def leading(self) -> "Result":
        """The same in the first of its languages, for what can show one only."""
        return self.of_lang(self.langs[0]) if len(self.langs) > 1 else self

    def _those(self, meant: Callable[[Row | Absent], bool]) -> "Result":
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
