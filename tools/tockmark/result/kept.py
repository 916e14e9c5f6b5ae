# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A row as the result file keeps it, its samples run-length encoded: made from what the model has,
and the other way round."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from msgspec import field

from tockmark.log.measured import EVENTS, LENGTHS, PASSES, SERIES, Clock
from tockmark.log.protocol import compress, expand
from tockmark.result.model import Row, Series
from tockmark.result.provenance import Count, Figure, Part, Positive, Published, SomeParams
from tockmark.result.slope import Slope
from tockmark.result.strict import RefusedError
from tockmark.suite.catalogue import OVERHEADS, Lang, Reader

Counter = Literal["cycles", "instret"]


class Taken(Part, frozen=True):
    """The samples of a row in a further layout; neither if it was not measured there."""

    cycles: str | None = None
    instret: str | None = None
    short_cycles: str | None = None
    short_instret: str | None = None
    long_cycles: str | None = None
    long_instret: str | None = None


class Kept(Part, frozen=True):
    """A row as the file keeps it. Samples are run-length encoded, as docs/protocol.md says."""

    id: str
    boot: str
    asked: Positive
    params: SomeParams = field(default_factory=dict)
    app: str | None = None  # if it is not called as the boot
    icache: bool | None = None
    inner: Positive = 1
    reads: Count = 1
    passes: Count = 0
    by: Reader = "sampler"
    clock: Clock = "core"
    cycles: str | None = None
    instret: str | None = None
    short_cycles: str | None = None  # of 1 + passes calls of the body, with a cold one, too
    short_instret: str | None = None
    long_cycles: str | None = None  # of 1 + 2 * passes
    long_instret: str | None = None
    events: str | None = None  # a run for each counter from 3 to 12
    stated: dict[Counter, Figure] = field(default_factory=dict)  # net, without samples
    without_cold: tuple[Counter, ...] = ()  # their first sample was no time, and is left out
    faults: tuple[str, ...] = ()
    published: Published | None = None
    further: tuple[Taken, ...] = ()  # in all layouts but the first, if in any
    lang: Lang = "c"


Samples = dict[str | int, tuple[int, ...]]  # of cycles, instret, and of the events by number
Layouts = Sequence[Samples]  # of a row, in each layout; none of it where it was not measured


def assembled(rows: Sequence[tuple[Kept, Layouts]], clock_hz: int | None) -> Iterator[Row]:
    """Rows from what is kept of them and their samples: each with what its boot says that readings
    of its kind cost, the first that says so."""
    readings = {
        (kept.id, kept.boot, kept.icache, kept.lang): (kept, found)
        for kept, found in reversed(rows)
        if kept.id in OVERHEADS.values()
    }
    for kept, found in rows:
        own = OVERHEADS[kept.by], kept.boot, kept.icache, kept.lang
        reading = readings.get(own, (kept, ()))
        yield _assembled(kept, found, reading, clock_hz)


def _slope(kept: Kept, samples: Samples, name: str | int) -> Slope | None:
    """That of one counter, if there are samples of both lengths."""
    short, long = (samples.get(f"{length}_{name}") for length in LENGTHS)
    return Slope(short, long, kept.passes) if short and long and kept.passes else None


def _has_cold(kept: Kept, name: str | int, layout: int) -> bool:
    """Whether a series begins with its cold sample. Of events the app drops that itself."""
    return name in SERIES and (layout > 0 or name not in kept.without_cold)


def _assembled(
    kept: Kept, samples: Layouts, reading: tuple[Kept, Layouts], clock_hz: int | None
) -> Row:
    """A row from what is kept of it, its samples, and the same of its boot's readings."""
    overhead, readings = reading
    reads = 0 if kept.id in OVERHEADS.values() else kept.reads
    layouts = [0, *(n for n, found in enumerate(samples) if n and found)]

    def one(name: str | int, layout: int) -> Series | None:
        taken = samples[layout].get(name)
        stated = None if layout else kept.stated.get(name)  # type: ignore[call-overload]
        if taken is None and stated is None:
            return None
        read = readings[layout] if reads and layout < len(readings) else {}
        cost, cold = read.get(name), _has_cold(overhead, name, layout)
        empty = Series(cost, has_cold=cold, slope=_slope(overhead, read, name)) if cost else None
        own, cold = _slope(kept, samples[layout], name), _has_cold(kept, name, layout)
        return Series(taken or (), kept.inner, reads, empty, stated, cold, slope=own)

    def series(name: str | int) -> Series | None:
        base = one(name, 0)
        further = tuple(found for n in layouts[1:] if (found := one(name, n)) is not None)
        return replace(base, further=further) if base and further else base

    return Row(
        id=kept.id,
        params=kept.params,
        boot=kept.boot,
        app=kept.app or kept.boot,
        icache=kept.icache,
        asked=kept.asked,
        inner=kept.inner,
        reads=kept.reads,
        passes=kept.passes,
        by=kept.by,
        clock=kept.clock,
        cycles=series("cycles"),
        instret=series("instret"),
        events={n: found for n in EVENTS if (found := series(n))},
        faults=kept.faults,
        published=kept.published,
        clock_hz=clock_hz,
        layouts=tuple(layouts),
        lang=kept.lang,
    )


def expanded(kept: Kept) -> Layouts:
    """The samples of a row. RefusedError if they are encoded wrongly."""
    try:
        found, *further = map(_samples, (kept, *kept.further))
        for layout, taken in enumerate(further, 1):
            if taken and taken.keys() != found.keys():
                raise ValueError(f"layout {layout} has {' and '.join(map(str, taken))} only")
        if kept.events is not None:
            runs = kept.events.split(" ")
            if len(runs) != len(EVENTS):
                raise ValueError(f"{len(runs)} runs of events, not {len(EVENTS)}")
            found |= {n: tuple(expand(run)) for n, run in zip(EVENTS, runs, strict=True)}
    except ValueError as error:
        raise RefusedError(f"row {kept.id}: {error}") from error
    return [found, *further]


def _samples(taken: Part) -> Samples:
    texts = {name: getattr(taken, name) for name in (*SERIES, *PASSES)}
    return {name: tuple(expand(text)) for name, text in texts.items() if text is not None}


def kept_of(row: Row, layouts: int) -> Kept:
    """A row as the file keeps it, in a result of so many layouts."""
    taken = {name: one for name in SERIES if (one := row.series(name)) is not None}
    return Kept(
        id=row.id,
        boot=row.boot,
        asked=row.asked,
        params=row.params,
        app=row.app if row.app != row.boot else None,
        icache=row.icache,
        inner=row.inner,
        reads=row.reads,
        passes=row.passes,
        by="reading" if row.by == "reading" else "sampler",  # as below
        clock="sim" if row.clock == "sim" else "core",  # that very default, which is left out
        **_texts(taken),
        events=" ".join(_run(row.events[n].samples) for n in EVENTS) if row.events else None,
        stated={n: one.stated for n, one in taken.items() if one.stated is not None},  # type: ignore[misc]
        without_cold=tuple(n for n, one in taken.items() if one.samples and not one.has_cold),  # type: ignore[misc]
        faults=row.faults,
        published=row.published,
        further=_further(row, layouts) if len(row.layouts) > 1 else (),
        lang=row.lang,
    )


def _further(row: Row, layouts: int) -> tuple[Taken, ...]:
    """The samples of a row in each layout but the first."""
    places = {layout: place for place, layout in enumerate(row.layouts)}
    return tuple(
        Taken(
            **_texts(
                {
                    name: series.further[places[layout] - 1]
                    for name in SERIES
                    if layout in places and (series := row.series(name)) is not None
                }
            )
        )
        for layout in range(1, layouts)
    )


def _texts(taken: Mapping[str, Series]) -> dict[str, str]:
    """The samples of one layout, encoded, by the names of the fields."""
    found = {name: one.samples for name, one in taken.items()}
    for name, one in taken.items():
        if one.slope:
            found |= {f"{length}_{name}": getattr(one.slope, length) for length in LENGTHS}
    return {name: compress(list(samples)) for name, samples in found.items() if samples}


def _run(samples: tuple[int, ...]) -> str:
    """A series as the one run that it was in the log."""
    run = compress(list(samples))
    return f"({','.join(map(str, samples))})" if " " in run else run
