# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A row as an app measured it: its samples, and how they were taken. So a result file keeps it."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from tockmark.base.documents import Count, Figure, Part, Positive, SomeParams
from tockmark.suite.catalogue import CYCLECOUNT, PERF, BootRowName, CounterName, Lang, Reader
from tockmark.wire.records import expand

Clock = Literal["core", "sim"]  # sim: the simulator's own, which goes on while the core sleeps
CounterKind = Literal["cycles", "instret"]

SERIES = ("cycles", "instret")
LENGTHS = ("short", "long")  # 1 + n calls of the body in a sample, and 1 + 2 n
PASSES = ("short_cycles", "short_instret", "long_cycles", "long_instret")
EVENTS = range(3, 13)  # the core's hardware event counters, as Perf command 6 numbers them


class Published(Part, frozen=True):
    """What was published of a row that others measured, and why it is not that here, if so."""

    value: Figure
    unit: str
    source: str
    corrected: str | None = None


# What the fields with runs are called in the file.
_IN_FILE = {f"{name}_runs": name for name in (*SERIES, *PASSES, "events")}


class StoredSamples(Part, frozen=True, rename=_IN_FILE):
    """The samples of a row in a further layout; neither if it was not measured there."""

    cycles_runs: str | None = None
    instret_runs: str | None = None
    short_cycles_runs: str | None = None
    short_instret_runs: str | None = None
    long_cycles_runs: str | None = None
    long_instret_runs: str | None = None


SeriesName = Annotated[str, Meta(pattern="^[a-z][a-z0-9_]*$")]
Extra = dict[SeriesName, str]  # run-length encoded


class StoredRow(BootRowName, Part, frozen=True, rename=_IN_FILE):
    """A row as the file keeps it. Samples are run-length encoded, as docs/contributing.md says."""

    id: str
    boot: str
    asked: Positive
    params: SomeParams = msgspec.field(default_factory=dict)
    own_app: str | None = msgspec.field(default=None, name="app")  # if it is not called as the boot
    icache: bool | None = None
    inner: Positive = 1
    reads: Count = 1
    passes: Count = 0  # n of the series of several passes; 0: there are none
    by: Reader = "sampler"
    clock: Clock = "core"
    cycles_runs: str | None = None
    instret_runs: str | None = None
    short_cycles_runs: str | None = None  # of 1 + passes calls of the body, with a cold one, too
    short_instret_runs: str | None = None
    long_cycles_runs: str | None = None  # of 1 + 2 * passes
    long_instret_runs: str | None = None
    events_runs: str | None = None  # a run for each counter from 3 to 12
    stated: dict[CounterKind, Figure] = msgspec.field(default_factory=dict)  # net, without samples
    without_cold: tuple[CounterKind, ...] = ()  # their first sample was no time, and is left out
    faults: tuple[str, ...] = ()
    published: Published | None = None
    further: tuple[StoredSamples, ...] = ()  # in all layouts but the first, if in any
    lang: Lang = "c"
    stack: Positive | None = None  # the most bytes of it that a whole program used
    extra: Extra = msgspec.field(default_factory=dict)  # further series of the first layout


class Absent(BootRowName, Part, frozen=True):
    """A row that is not there: given up or not tried, with the reason, or missing."""

    id: str
    boot: str
    params: SomeParams = msgspec.field(default_factory=dict)
    icache: bool | None = None
    why: str | None = None
    lang: Lang = "c"


def series_names(row: StoredRow) -> set[str]:
    """Return the names of the series that a row has."""
    return {name for name in (*SERIES, *PASSES) if getattr(row, f"{name}_runs") is not None}


def series_samples(row: StoredRow, name: str) -> tuple[int, ...]:
    """Return the samples of a series that a row has."""
    return expand(getattr(row, f"{name}_runs"))


def counted_series(clock: Clock, counter: CounterName) -> tuple[str, ...]:
    """Return the series that a row has by its clock and what reads it: neither the simulator's nor
    CycleCount counts instructions."""
    return SERIES if clock == "core" and counter != CYCLECOUNT else SERIES[:1]


def is_whole(row: StoredRow, counter: CounterName = PERF) -> bool:
    """Return whether a row has all its series, of apps that read by this."""
    series = counted_series(row.clock, counter)
    passes = {name for name in PASSES if row.passes and name.rpartition("_")[2] in series}
    return series_names(row) == {*series, *passes}
