# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The result file: one JSON document, one row a line, raw samples and provenance only.

Loading checks types, bounds, lengths, encodings and duplicates, and refuses what is wrong by name.
Every figure is derived from the samples (model.py), never read. docs/contributing.md says what the
fields mean; `schema` is the published JSON Schema, made from the types that the file is read with.
"""

import json
from pathlib import Path
from typing import Any, Literal

import msgspec

from tockmark.base.documents import (
    KINDS,
    Part,
    RefusedError,
    convert,
    decode_strictly,
    format_of,
    read_text,
)
from tockmark.base.errors import TockmarkError
from tockmark.base.paths import shown
from tockmark.result.model import ABSENT_LISTS, Result, Row, Samples, with_readings
from tockmark.result.provenance import Provenance
from tockmark.suite.catalogue import CounterName
from tockmark.wire.boots import single_run
from tockmark.wire.records import MAX_SAMPLES, compress, expand
from tockmark.wire.rows import EVENTS, PASSES, SERIES, Absent, StoredRow, StoredSamples

FORMAT = "tockmark-result"
VERSION = 5  # of a file with a language besides C; all others are of version 4, as they ever were
VERSIONS = (4, VERSION)
LEAST = 1e-6  # of a stated figure that is not 0
MOST_SAMPLES = 10 * MAX_SAMPLES  # of all rows together: keeps a hostile file from filling memory
GIVE_ONE = "give a .json as `tockmark run` or `tockmark board parse` wrote it"
OR_PARSE = (
    "give a .json that `tockmark run` wrote, or turn a log into one with `tockmark board parse`"
)


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
    """Return the published JSON Schema of the file, made from the declarations above."""
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return head | {"title": f"tockmark result, version {VERSION}"} | msgspec.json.schema(Document)


def load(path: Path) -> Result:
    """Read and check a result file."""

    def make(data: Any) -> Result:
        _check_kind(path, data)
        return _result(convert(data, Document))

    text, why = "", "it is not text"
    try:
        text = read_text(path)
        why = "it is not JSON"
        return decode_strictly(text, make, shown(path), GIVE_ONE)
    except ValueError as error:
        if kind := format_of(text):  # JSON line by line, as a history is
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
            "make it anew from its log with `tockmark board parse`, or use the tockmark that wrote"
            " it",
        )
    if kind == FORMAT:
        return
    if isinstance(kind, str) and kind in KINDS:
        what, todo = KINDS[kind]
        raise TockmarkError(f"{shown(path)} is {what}, not a result file", todo)
    raise TockmarkError(f"{shown(path)} is not a result file", GIVE_ONE)


def _result(document: Document) -> Result:
    """Return the result of a document. RefusedError if a row or a boot stands twice."""
    lists: dict[str, tuple[Row | Absent, ...]] = {"rows": _rows(document)}
    lists |= {name: getattr(document, name) for name in ABSENT_LISTS}
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
    return Result(document.provenance, problems=document.problems, **lists)  # type: ignore[arg-type]


# What a row has as it is stored.
FACTS = [name for name in Row.__struct_fields__ if name in StoredRow.__struct_fields__]
FACTS.remove("extra")
RUNS = {name: f"{name}_runs" for name in (*SERIES, *PASSES)}  # the stored field of each series


def decoded(row: StoredRow, clock_hz: int | None, counter: CounterName) -> Row:
    """Return a row with its samples decoded. ValueError if they are encoded wrongly."""
    samples = (_samples(row), *map(_samples, row.further))
    events = row.events_runs.split(" ") if row.events_runs is not None else []
    if len(events) not in (0, len(EVENTS)):
        raise ValueError(f"{len(events)} runs of events, not {len(EVENTS)}")
    return Row(
        **{name: getattr(row, name) for name in FACTS},
        samples=samples,
        event_samples=dict(zip(EVENTS, map(expand, events), strict=False)),
        extra={name: expand(runs) for name, runs in row.extra.items()},
        readings=({},) * len(samples),
        clock_hz=clock_hz,
        counter=counter,
    )


def _samples(held: StoredRow | StoredSamples) -> Samples:
    found = {}
    for name, field in RUNS.items():
        if (runs := getattr(held, field)) is not None:
            found[name] = expand(runs)
    return found


def _rows(document: Document) -> tuple[Row, ...]:
    """Return the rows of a document. RefusedError if one cannot be."""
    provenance, total = document.provenance, 0
    rows = []
    for stored in document.rows:
        try:
            row = decoded(stored, provenance.board.clock_hz, provenance.counter)
            total += _checked(row, len(provenance.layouts), provenance.has_figures)
        except ValueError as error:
            raise RefusedError(f"row {stored.name}: {error}") from error
        if total > MOST_SAMPLES:
            raise RefusedError(f"row {row.name}: more than {MOST_SAMPLES} samples in all")
        rows.append(row)
    return with_readings(rows)


def _checked(row: Row, layouts: int, has_figures: bool) -> int:
    """Return how many samples a row has. ValueError for what types cannot say: where its lengths or
    series do not fit each other, or what its result may hold."""
    first, *further = row.samples
    if further and len(further) != layouts - 1:
        raise ValueError(f"{1 + len(further)} layouts, but {layouts} in provenance")
    total = sum(map(len, row.extra.values()))
    for layout, taken in enumerate(row.samples):
        if taken and taken.keys() != first.keys():
            raise ValueError(f"layout {layout} has {' and '.join(taken)} only")
        for name, samples in taken.items():
            total += len(samples)
            if len(samples) > row.asked:
                raise ValueError(f"{len(samples)} samples of {name}, but {row.asked} asked")
        both = "cycles" in taken and "instret" in taken and not row.faults
        if both and len(taken["cycles"]) != len(taken["instret"]):
            raise ValueError("cycles and instret differ in their number of samples")
    for number, samples in row.event_samples.items():
        total += len(samples)
        if len(samples) > row.asked:
            raise ValueError(f"{len(samples)} samples of event {number}, but {row.asked} asked")
    for name, net in row.stated.items():
        if any(row.samples):
            raise ValueError(f"net {name} is stated, and there are samples")
        if net and abs(net) < LEAST:  # a ratio to it would overflow
            raise ValueError(f"net {name} is stated as {net:g}: too small")
    if len(set(map(len, row.extra.values()))) > 1:
        raise ValueError("its further series have different lengths")
    counted = {*row.stated, *first} & {*SERIES}
    if counted and not has_figures:
        raise ValueError("figures of a target that counts nothing")
    if has_figures and not counted:
        raise ValueError("no samples, nor figures in their place")
    return total


def encoded(row: Row) -> StoredRow:
    """Return a row as the file keeps it."""
    facts = {name: getattr(row, name) for name in FACTS}
    first, *further = ({RUNS[name]: compress(s) for name, s in of.items()} for of in row.samples)
    facts |= first
    events = " ".join(map(single_run, row.event_samples.values())) or None
    others = tuple(StoredSamples(**runs) for runs in further)
    extra = {name: compress(samples) for name, samples in row.extra.items()}
    return StoredRow(**facts, events_runs=events, further=others, extra=extra)


def text(result: Result) -> str:
    """Return a result as the file holds it."""
    provenance = msgspec.to_builtins(result.provenance)
    provenance["board"]["timing"] = result.provenance.board.timing  # every table prints it
    blocks = {name: provenance.pop(name, []) for name in ("boots", "apps")}
    for name in ("layouts", "benchmarks"):
        if found := provenance.pop(name, None):
            blocks[name] = found
    head = ",\n".join(f" {_line(name)}: {_line(value)}" for name, value in provenance.items())
    tail = "".join(f",\n {_line(name)}: {_lines(found, ' ')}" for name, found in blocks.items())
    gone = {name: getattr(result, name) for name in ABSENT_LISTS}
    every = (*result.provenance.boots, *result.rows, *sum(gone.values(), start=()))
    lists = {"rows": [*map(encoded, result.rows)], **gone, "problems": result.problems}
    parts = [
        f'"format": {_line(FORMAT)}',
        f'"version": {VERSION if any(one.lang != "c" for one in every) else VERSIONS[0]}',
        f'"provenance": {{\n{head}{tail}}}',
        *(f'"{name}": {_lines(msgspec.to_builtins(found))}' for name, found in lists.items()),
    ]
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _line(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _lines(values: list[Any], indent: str = "") -> str:
    """Encode a list with one entry a line."""
    return "[" + ",".join(f"\n{indent}{_line(value)}" for value in values) + "]"
