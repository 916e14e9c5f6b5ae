# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What a log says: rows as apps measured them, app by app and boot by boot."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from tockmark.log.marks import Marks
from tockmark.log.protocol import Problem
from tockmark.suite.catalogue import Lang, Params, Reader, RowKey, row_key

Clock = Literal["core", "sim"]

SERIES = ("cycles", "instret")
LENGTHS = ("short", "long")  # 1 + n calls of the body in a sample, and 1 + 2 n
PASSES = tuple(f"{length}_{name}" for length in LENGTHS for name in SERIES)
EVENTS = range(3, 13)  # the core's hardware event counters, as Perf command 6 numbers them


@dataclass
class RawRow:
    """One benchmark with one set of parameters, as an app measured it."""

    app: str
    id: str
    params: Params
    inner: int
    asked: int
    clock: Clock = "core"  # or "sim": the simulator's own, which goes on while the core sleeps
    by: Reader = "sampler"  # what reads the core's counters
    passes: int = 0  # n of the series of several passes; 0: there are none
    series: dict[str, list[int]] = field(default_factory=dict)
    events: dict[int, list[int]] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)  # what is wrong with it, in words
    without_cold: list[str] = field(default_factory=list)  # series whose first sample was no time

    def key(self) -> RowKey:
        return row_key(self.id, self.params)

    def whole(self) -> bool:
        """Has every series that it should: the simulator counts no instructions."""
        wanted = set(SERIES) if self.clock == "core" else {"cycles"}
        return set(self.series) == wanted | (set(PASSES) if self.passes else set())


@dataclass(frozen=True)
class NoRow:
    """A benchmark that an app gave up (`fail`) or did not try (`skip`), and why."""

    app: str
    kind: str
    id: str
    params: Params
    why: str

    def key(self) -> RowKey:
        return row_key(self.id, self.params)


@dataclass
class App:
    """What one app said of itself, and what it measured."""

    name: str
    begin: dict[str, str] | None = None
    found: dict[RowKey, RawRow] = field(default_factory=dict)  # rows, in their order
    no_rows: list[NoRow] = field(default_factory=list)
    ended: bool = False
    lost: bool = False  # something of it was, within
    open: RawRow | None = None  # the bench record that data records now belong to
    last_line: int = 0  # of the log: where its previous record began
    lang: Lang = "c"  # that it is written in

    @property
    def rows(self) -> tuple[RawRow, ...]:
        """All that it measured; `add` takes another."""
        return tuple(self.found.values())

    @property
    def only(self) -> int:
        """Which of its benchmarks it was told to run, a bit each; 0: all."""
        return int((self.begin or {}).get("only", 0)) & ~(1 << 31)

    def add(self, row: RawRow) -> None:
        """Take a row. ValueError if it was measured before."""
        if self.found.setdefault(row.key(), row) is not row:
            raise ValueError(f"{row.id} was measured before; the first is kept")


@dataclass(frozen=True)
class Run:
    """What an app said before it began again in the same boot."""

    before: App
    again: Problem  # where it did


@dataclass(eq=False)  # one is found among many by what it is
class Booted:
    """What one boot said. Its name is known by a mark in the log, or by what its app says; the
    cache setting by a mark alone."""

    name: str | None = None
    icache: bool | None = None
    reporter: str | None = None  # the app that may report, if a mark says so
    apps: dict[str, App] = field(default_factory=dict)
    marks: Marks = field(default_factory=Marks)  # of the simulator's clock
    closed: bool = False  # by an end that fits its mark: all between is this boot's
    lang: Lang | None = None  # of its apps, if a mark says so
    image: str | None = None  # that it ran, if its app says so
    runs: list[Run] = field(default_factory=list)  # that were begun again, in their order

    def of(self, app: App) -> str:
        """The boot's name; a boot without one is called by the app."""
        return self.name or app.name


@dataclass
class Measured:
    """All of a log."""

    boots: list[Booted] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    ends: bool = False  # the log has ends of boots, as all have that `tockmark run` writes now
    langs: set[Lang] = field(default_factory=set)  # that its marks say
    again: dict[str, Problem] = field(default_factory=dict)  # apps whose next record is a new begin
    named: dict[str, Booted] = field(default_factory=dict)  # those that apps named, by that name

    def each(self) -> Iterator[tuple[Booted, App]]:
        """Every app of every boot."""
        return ((boot, app) for boot in self.boots for app in boot.apps.values())
