# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The result file."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import field

from tockmark.documents import (
    KINDS,
    Count,
    Figure,
    Part,
    Positive,
    RefusedError,
    SomeParams,
    kind_of,
    read_text,
    strictly,
    typed,
)
from tockmark.errors import TockmarkError
from tockmark.log.protocol import MAX_SAMPLES, compress, expand
from tockmark.log.rows import EVENTS, LENGTHS, PASSES, SERIES, Clock
from tockmark.paths import shown
from tockmark.result.model import GONE, Absent, Result, Row, Series
from tockmark.result.provenance import Provenance, Published
from tockmark.result.stats import Slope
from tockmark.suite.catalogue import OVERHEADS, Lang, Reader

# A row as the result file keeps it, its samples run-length encoded: made from what the model has,
# and the other way round.


CounterKind = Literal["cycles", "instret"]


class StoredSamples(Part, frozen=True):
    """The samples of a row in a further layout; neither if it was not measured there."""

    cycles: str | None = None
    instret: str | None = None
    short_cycles: str | None = None
    short_instret: str | None = None
    long_cycles: str | None = None
    long_instret: str | None = None


class StoredRow(Part, frozen=True):
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
    stated: dict[CounterKind, Figure] = field(default_factory=dict)  # net, without samples
    without_cold: tuple[CounterKind, ...] = ()  # their first sample was no time, and is left out
    faults: tuple[str, ...] = ()
    published: Published | None = None
    further: tuple[StoredSamples, ...] = ()  # in all layouts but the first, if in any
    lang: Lang = "c"


Samples = dict[str | int, tuple[int, ...]]  # of cycles, instret, and of the events by number
Layouts = Sequence[Samples]  # of a row, in each layout; none of it where it was not measured


def assembled(rows: Sequence[tuple[StoredRow, Layouts]], clock_hz: int | None) -> Iterator[Row]:
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


def _slope(kept: StoredRow, samples: Samples, name: str | int) -> Slope | None:
    """That of one counter, if there are samples of both lengths."""
    short, long = (samples.get(f"{length}_{name}") for length in LENGTHS)
    return Slope(short, long, kept.passes) if short and long and kept.passes else None


def _has_cold(kept: StoredRow, name: str | int, layout: int) -> bool:
    """Whether a series begins with its cold sample. Of events the app drops that itself."""
    return name in SERIES and (layout > 0 or name not in kept.without_cold)


def _assembled(
    kept: StoredRow, samples: Layouts, reading: tuple[StoredRow, Layouts], clock_hz: int | None
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


def expanded(kept: StoredRow) -> Layouts:
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


def kept_of(row: Row, layouts: int) -> StoredRow:
    """A row as the file keeps it, in a result of so many layouts."""
    taken = {name: one for name in SERIES if (one := row.series(name)) is not None}
    return StoredRow(
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


def _further(row: Row, layouts: int) -> tuple[StoredSamples, ...]:
    """The samples of a row in each layout but the first."""
    places = {layout: place for place, layout in enumerate(row.layouts)}
    return tuple(
        StoredSamples(
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


# The result file: one JSON document, one row a line, raw samples and provenance only.
#
# Loading is validating: every figure is derived from the samples (model.py), never read; and
# whatever is not as it should be, from a wrong type to a figure that contradicts the samples, is
# refused by name. docs/result-format.md tells what the fields mean; `schema` is the published JSON
# Schema.
#
# msgspec, because it checks types and bounds while it decodes (ten times as fast as a schema
# checker over dicts), from the same declarations that mypy checks, and writes the schema from them.


FORMAT = "tockmark-result"
VERSION = 5  # of a file with a language besides C; all others are of version 4, as they ever were
VERSIONS = (4, VERSION)
ROUNDED = 1e-6  # a stated figure may be off by as much
GIVE_ONE = "give a .json as `tockmark run` or `tockmark parse` wrote it"
OR_PARSE = "give a .json that `tockmark run` wrote, or turn a log into one with `tockmark parse`"
MOST_SAMPLES = 10 * MAX_SAMPLES  # of all rows together: keeps a hostile file from filling memory


class Document(Part, frozen=True):
    """The whole file."""

    format: Literal["tockmark-result"]
    version: Literal[4, 5]
    provenance: Provenance
    rows: tuple[StoredRow, ...]
    failed: tuple[Absent, ...] = ()
    skipped: tuple[Absent, ...] = ()
    missing: tuple[Absent, ...] = ()
    problems: tuple[str, ...] = ()


def schema() -> dict[str, Any]:
    """The published JSON Schema of the file, made from the declarations above."""
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return head | {"title": f"tockmark result, version {VERSION}"} | msgspec.json.schema(Document)


def load(path: Path) -> Result:
    """Read and check a result file."""

    def make(data: Any) -> Result:
        _check_kind(path, data)
        return _result(typed(data, Document))

    text, why = "", "it is not text"
    try:
        text = read_text(path)
        why = "it is not JSON"
        return strictly(text, make, shown(path), GIVE_ONE)
    except ValueError as error:
        if kind := kind_of(text):  # JSON line by line, as a history is
            _check_kind(path, {"format": kind})
        raise TockmarkError(f"{shown(path)} is not a result file: {why}", OR_PARSE) from error


def _check_kind(path: Path, data: object) -> None:
    """Name what a file is that is none of ours of this version."""
    found = data if isinstance(data, dict) else {}
    kind, version = found.get("format"), found.get("version")
    if kind == FORMAT and version is not None and version not in VERSIONS:
        raise TockmarkError(
            f"{shown(path)} has format version {json.dumps(version)[:20]},"
            f" not {' or '.join(map(str, VERSIONS))}",
            "make it anew from its log with `tockmark parse`, or use the tockmark that wrote it",
        )
    if kind == FORMAT:
        return
    if isinstance(kind, str) and kind in KINDS:
        what, todo = KINDS[kind]
        raise TockmarkError(f"{shown(path)} is {what}, not a result file", todo)
    raise TockmarkError(f"{shown(path)} is not a result file", GIVE_ONE)


def _result(document: Document) -> Result:
    rows = tuple(_rows(document))
    lists: dict[str, tuple[Row, ...] | tuple[Absent, ...]] = {"rows": rows}
    lists |= {name: getattr(document, name) for name in GONE}
    seen: dict[object, str] = {}
    for where, found in lists.items():
        for one in found:
            if first := seen.get(one.identity):
                where = where if where == first else f"{first} and {where}"
                raise RefusedError(f"the row {one.name} stands twice, in {where}")
            seen[one.identity] = where
    boots = [(run.boot, run.lang) for run in document.provenance.boots]
    if len(set(boots)) < len(boots):
        raise RefusedError(f"the boot {max(boots, key=boots.count)[0]} stands twice")
    return Result(
        document.provenance,
        rows,
        document.failed,
        document.skipped,
        document.missing,
        document.problems,
    )


def _rows(document: Document) -> Iterator[Row]:
    """The rows, checked."""
    clock, layouts = document.provenance.board.clock_hz, document.provenance.layouts
    samples, total = [], 0
    for kept in document.rows:
        if kept.further and len(kept.further) != len(layouts) - 1:
            raise RefusedError(
                f"row {kept.id}: {1 + len(kept.further)} layouts, but {len(layouts)} in provenance"
            )
        samples.append(expanded(kept))
        total += sum(len(taken) for found in samples[-1] for taken in found.values())
        if total > MOST_SAMPLES:
            raise RefusedError(f"row {kept.id}: more than {MOST_SAMPLES} samples in all")
    for row in assembled(list(zip(document.rows, samples, strict=True)), clock):
        _check(row)
        yield row


def _check(row: Row) -> None:
    """What types cannot say: refuse what contradicts itself."""
    lengths = set()
    for name in SERIES:
        series = row.series(name)
        if series is None:
            continue
        counts = [len(one.samples) for one in (series, *series.further)]
        lengths.add(tuple(counts))
        if max(counts) > row.asked:
            raise RefusedError(
                f"row {row.name}: {max(counts)} samples of {name}, but {row.asked} asked"
            )
        stated = series.stated
        if stated and abs(stated) < ROUNDED:  # a ratio to it would overflow
            raise RefusedError(f"row {row.name}: net {name} is stated as {stated:g}: too small")
        if stated is not None and (series.own is None or abs(stated - series.own) > ROUNDED):
            raise RefusedError(
                f"row {row.name}: net {name} is stated as {stated:g}, samples say {series.own}"
            )
        if (slope := series.slope) and max(len(slope.short), len(slope.long)) > row.asked:
            raise RefusedError(f"row {row.name}: more samples of several passes than asked")
    for number, series in row.events.items():
        if len(series.samples) > row.asked:
            raise RefusedError(
                f"row {row.name}: {len(series.samples)} samples of event {number},"
                f" but {row.asked} asked"
            )
    if not lengths:
        raise RefusedError(f"row {row.name}: no samples, nor figures in their place")
    if len(lengths) > 1 and not row.faults:
        raise RefusedError(f"row {row.name}: cycles and instret differ in their number of samples")
    if row.clock == "sim" and row.instret is not None:
        raise RefusedError(f"row {row.name}: the simulator's clock counts no instructions")


def text(result: Result) -> str:
    """A result as the file holds it."""
    provenance = _plain(result.provenance)
    provenance["board"]["timing"] = result.provenance.board.timing  # every table prints it
    layouts = {"layouts": found} if (found := provenance.pop("layouts", None)) else {}
    blocks = {name: provenance.pop(name, []) for name in ("boots", "apps")} | layouts
    head = ",\n".join(f" {_line(name)}: {_line(value)}" for name, value in provenance.items())
    tail = "".join(f",\n {_line(name)}: {_lines(found, ' ')}" for name, found in blocks.items())
    every = (
        *result.provenance.boots,
        *result.rows,
        *(one for n in GONE for one in getattr(result, n)),
    )
    parts = [
        f'"format": {_line(FORMAT)}',
        f'"version": {VERSION if any(one.lang != "c" for one in every) else VERSIONS[0]}',
        f'"provenance": {{\n{head}{tail}}}',
        f'"rows": {_lines([_plain(kept_of(row, result.layouts)) for row in result.rows])}',
        *(f'"{name}": {_lines(_plain(getattr(result, name)))}' for name in GONE),
        f'"problems": {_lines(list(result.problems))}',
    ]
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _plain(part: Part | tuple[Part, ...]) -> Any:
    return msgspec.to_builtins(part)


def _line(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _lines(values: list[Any], indent: str = "") -> str:
    """A list with one entry a line."""
    return "[" + ",".join(f"\n{indent}{_line(value)}" for value in values) + "]"
