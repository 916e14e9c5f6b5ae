# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Rows as apps measure them and result files keep them: samples, and how they were taken."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from tockmark.base.documents import Count, Figure, Part, Positive, SomeParams
from tockmark.suite.catalogue import CYCLECOUNT, PERF, BootRowName, CounterName, Lang, Reader
from tockmark.wire.records import expand

Clock = Literal["core", "sim"]  # sim: the simulator's, which also counts while the core sleeps
CounterKind = Literal["cycles", "instret"]

SERIES = ("cycles", "instret")
LENGTHS = ("short", "long")  # a sample has 1 + n calls of the body, or 1 + 2 n
PASSES = ("short_cycles", "short_instret", "long_cycles", "long_instret")
EVENTS = range(3, 13)  # the core's hardware event counters, as Perf command 6 numbers them


class Published(Part, frozen=True):
    """A published figure of a row, and why the figure here is another, if it is."""

    value: Figure
    unit: str
    source: str
    corrected: str | None = None


# Names of the fields with runs in the file.
_IN_FILE = {f"{name}_runs": name for name in (*SERIES, *PASSES, "events")}


class StoredSamples(Part, frozen=True, rename=_IN_FILE):
    """The samples of a row in a further layout; all None if it was not measured there."""

    cycles_runs: str | None = None
    instret_runs: str | None = None
    short_cycles_runs: str | None = None
    short_instret_runs: str | None = None
    long_cycles_runs: str | None = None
    long_instret_runs: str | None = None


SeriesName = Annotated[str, Meta(pattern="^[a-z][a-z0-9_]*$")]
Extra = dict[SeriesName, str]  # run-length encoded


class StoredRow(BootRowName, Part, frozen=True, rename=_IN_FILE):
    """A row in a result file. Samples are run-length encoded: docs/contributing.md."""

    id: str
    boot: str
    asked: Positive
    params: SomeParams = msgspec.field(default_factory=dict)
    own_app: str | None = msgspec.field(
        default=None, name="app"
    )  # if its name is not that of the boot
    icache: bool | None = None
    inner: Positive = 1
    reads: Count = 1
    passes: Count = 0  # n of a slope's series; 0: not a slope
    by: Reader = "sampler"
    clock: Clock = "core"
    cycles_runs: str | None = None
    instret_runs: str | None = None
    short_cycles_runs: str | None = None  # of 1 + passes calls of the body, one of them cold
    short_instret_runs: str | None = None
    long_cycles_runs: str | None = None  # of 1 + 2 * passes calls
    long_instret_runs: str | None = None
    events_runs: str | None = None  # one run per counter, 3 to 12
    stated: dict[CounterKind, Figure] = msgspec.field(default_factory=dict)  # without samples
    without_cold: tuple[CounterKind, ...] = ()  # series without their invalid first sample
    faults: tuple[str, ...] = ()
    published: Published | None = None
    further: tuple[StoredSamples, ...] = ()  # the other layouts
    lang: Lang = "c"
    stack: Positive | None = None  # largest stack of a whole program, in bytes
    extra: Extra = msgspec.field(default_factory=dict)  # more series of the first layout


class Absent(BootRowName, Part, frozen=True):
    """A row without data: failed or skipped, with the reason, or missing."""

    id: str
    boot: str
    params: SomeParams = msgspec.field(default_factory=dict)
    icache: bool | None = None
    why: str | None = None
    lang: Lang = "c"


def series_names(row: StoredRow) -> set[str]:
    """Return the names of a row's series."""
    return {name for name in (*SERIES, *PASSES) if getattr(row, f"{name}_runs") is not None}


def series_samples(row: StoredRow, name: str) -> tuple[int, ...]:
    """Return the samples of a series of a row."""
    return expand(getattr(row, f"{name}_runs"))


def counted_series(clock: Clock, counter: CounterName) -> tuple[str, ...]:
    """Return the series that a row should have. Neither the simulator's clock nor CycleCount counts
    instructions."""
    return SERIES if clock == "core" and counter != CYCLECOUNT else SERIES[:1]


def is_whole(row: StoredRow, counter: CounterName = PERF) -> bool:
    """Return whether a row has all its series, for the counter that its app reads."""
    series = counted_series(row.clock, counter)
    passes = {name for name in PASSES if row.passes and name.rpartition("_")[2] in series}
    return series_names(row) == {*series, *passes}
