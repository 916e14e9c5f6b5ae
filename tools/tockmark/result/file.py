# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The result file: a JSON document with raw samples and provenance, one row per line.

Loading checks types, bounds, lengths, encodings and duplicates; an error names the field or row.
Figures are never stored: model.py computes them from the samples. docs/contributing.md explains the
fields, and `schema` returns the published JSON Schema, generated from the types that read the file.
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
from tockmark.wire.records import compress, expand
from tockmark.wire.rows import EVENTS, PASSES, SERIES, Absent, StoredRow, StoredSamples

FORMAT = "tockmark-result"
VERSION = 5  # of files with a language other than C; all others still have version 4
VERSIONS = (4, VERSION)
LEAST = 1e-6  # the smallest published figure other than 0
GIVE_ONE = "give a .json file that `tockmark run` or `tockmark board parse` wrote"
OR_PARSE = (
    "give a .json file that `tockmark run` wrote, or convert a log with `tockmark board parse`"
)


class Document(Part, frozen=True):
    """A result file."""

    format: Literal["tockmark-result"]
    version: Literal[4, 5]
    provenance: Provenance
    rows: tuple[StoredRow, ...]
    failed: tuple[Absent, ...] = ()
    skipped: tuple[Absent, ...] = ()
    missing: tuple[Absent, ...] = ()
    problems: tuple[str, ...] = ()


def schema() -> dict[str, Any]:
    """Return the published JSON Schema of the file."""
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return head | {"title": f"tockmark result, version {VERSION}"} | msgspec.json.schema(Document)


def load(path: Path) -> Result:
    """Read and check a result file. Raise TockmarkError if it is not valid."""

    def make(data: Any) -> Result:
        _check_kind(path, data)
        return _result(convert(data, Document))

    text, why = "", "it is not text"
    try:
        text = read_text(path)
        why = "it is not JSON"
        return decode_strictly(text, make, shown(path), GIVE_ONE)
    except ValueError as error:
        if format_ := format_of(text):  # one JSON document per line, as in a history
            _check_kind(path, {"format": format_})
        raise TockmarkError(f"{shown(path)}: not a result file ({why})", OR_PARSE) from error


def _check_kind(path: Path, data: object) -> None:
    """Raise TockmarkError, with what the file is, unless its format and version can be read."""
    document = data if isinstance(data, dict) else {}
    format_, version = document.get("format"), document.get("version")
    if format_ == FORMAT and version is not None and version not in VERSIONS:
        raise TockmarkError(
            f"{shown(path)}: format version {json.dumps(version)[:20]},"
            f" not {' or '.join(map(str, VERSIONS))}",
            "convert its log again with `tockmark board parse`, or use the tockmark that wrote it",
        )
    if format_ == FORMAT:
        return
    if isinstance(format_, str) and format_ in KINDS:
        actual, advice = KINDS[format_]
        raise TockmarkError(f"{shown(path)}: {actual}, not a result file", advice)
    raise TockmarkError(f"{shown(path)}: not a result file", GIVE_ONE)


def _result(document: Document) -> Result:
    """Return the result of a document. Raise RefusedError if it has a row or a boot twice."""
    lists: dict[str, tuple[Row | Absent, ...]] = {"rows": _rows(document)}
    lists |= {name: getattr(document, name) for name in ABSENT_LISTS}
    seen: dict[object, str] = {}
    for where, rows in lists.items():
        for row in rows:
            if first := seen.get(row.identity):
                where = where if where == first else f"{first} and {where}"
                raise RefusedError(f"the row {row.name} is there twice, in {where}")
            seen[row.identity] = where
    boots = [(run.boot, run.lang) for run in document.provenance.boots]
    if len(set(boots)) < len(boots):
        raise RefusedError(f"the boot {max(boots, key=boots.count)[0]} is there twice")
    return Result(document.provenance, problems=document.problems, **lists)  # type: ignore[arg-type]


# The fields that a row and its stored form have in common.
FACTS = [name for name in Row.__struct_fields__ if name in StoredRow.__struct_fields__]
FACTS.remove("extra")
RUNS = {name: f"{name}_runs" for name in (*SERIES, *PASSES)}  # the stored field of each series


def decoded(row: StoredRow, clock_hz: int | None, counter: CounterName) -> Row:
    """Return a row with its samples decoded. Raise ValueError if their encoding is invalid."""
    samples = (_samples(row), *map(_samples, row.further))
    events = row.events_runs.split(" ") if row.events_runs is not None else []
    if len(events) not in (0, len(EVENTS)):
        raise ValueError(f"{len(events)} event series, not {len(EVENTS)}")
    return Row(
        **{name: getattr(row, name) for name in FACTS},
        samples=samples,
        event_samples=dict(zip(EVENTS, map(expand, events), strict=False)),
        extra={name: expand(runs) for name, runs in row.extra.items()},
        readings=({},) * len(samples),
        clock_hz=clock_hz,
        counter=counter,
    )


def _samples(stored: StoredRow | StoredSamples) -> Samples:
    samples_by_name = {}
    for name, field in RUNS.items():
        if (runs := getattr(stored, field)) is not None:
            samples_by_name[name] = expand(runs)
    return samples_by_name


def _rows(document: Document) -> tuple[Row, ...]:
    """Return the rows of a document. Raise RefusedError if one is invalid."""
    provenance, rows = document.provenance, []
    for stored in document.rows:
        try:
            row = decoded(stored, provenance.board.clock_hz, provenance.counter)
            _check(row, len(provenance.layouts), provenance.has_figures)
        except ValueError as error:
            raise RefusedError(f"row {stored.name}: {error}") from error
        rows.append(row)
    return with_readings(rows)


def _check(row: Row, layouts: int, has_figures: bool) -> None:
    """Raise ValueError if the lengths or series of a row do not match each other or the provenance,
    which the types cannot check."""
    first, *further = row.samples
    if further and len(further) != layouts - 1:
        raise ValueError(f"{1 + len(further)} layouts, but the provenance has {layouts}")
    for layout, series in enumerate(row.samples):
        if series and series.keys() != first.keys():
            raise ValueError(f"layout {layout} has only {' and '.join(series)}")
        for name, samples in series.items():
            if len(samples) > row.asked:
                raise ValueError(f"{len(samples)} samples of {name}, but `asked` is {row.asked}")
        both = "cycles" in series and "instret" in series and not row.faults
        if both and len(series["cycles"]) != len(series["instret"]):
            raise ValueError("cycles and instret have different numbers of samples")
    for number, samples in row.event_samples.items():
        if len(samples) > row.asked:
            raise ValueError(
                f"{len(samples)} samples of event {number}, but `asked` is {row.asked}"
            )
    for name, net in row.stated.items():
        if any(row.samples):
            raise ValueError(f"both a stated net of {name} and samples")
        if net and abs(net) < LEAST:  # a ratio to it would overflow
            raise ValueError(f"the stated net of {name}, {net:g}, is too small")
    if len(set(map(len, row.extra.values()))) > 1:
        raise ValueError("the extra series have different lengths")
    counted = {*row.stated, *first} & {*SERIES}
    if counted and not has_figures:
        raise ValueError("it has figures, but the target counts nothing")
    if has_figures and not counted:
        raise ValueError("it has neither samples nor stated figures")


def encoded(row: Row) -> StoredRow:
    """Return a row in its stored form."""
    facts = {name: getattr(row, name) for name in FACTS}
    first, *further = (
        {RUNS[name]: compress(s) for name, s in series.items()} for series in row.samples
    )
    facts |= first
    events = " ".join(map(single_run, row.event_samples.values())) or None
    others = tuple(StoredSamples(**runs) for runs in further)
    extra = {name: compress(samples) for name, samples in row.extra.items()}
    return StoredRow(**facts, events_runs=events, further=others, extra=extra)


def text(result: Result) -> str:
    """Return the text of a result file."""
    provenance = msgspec.to_builtins(result.provenance)
    provenance["board"]["timing"] = result.provenance.board.timing  # every table prints it
    blocks = {name: provenance.pop(name, []) for name in ("boots", "apps")}
    for name in ("layouts", "benchmarks"):
        if entries := provenance.pop(name, None):
            blocks[name] = entries
    head = ",\n".join(f" {_line(name)}: {_line(value)}" for name, value in provenance.items())
    tail = "".join(f",\n {_line(name)}: {_lines(entries, ' ')}" for name, entries in blocks.items())
    gone = {name: getattr(result, name) for name in ABSENT_LISTS}
    every = (*result.provenance.boots, *result.rows, *sum(gone.values(), start=()))
    lists = {"rows": [*map(encoded, result.rows)], **gone, "problems": result.problems}
    parts = [
        f'"format": {_line(FORMAT)}',
        f'"version": {VERSION if any(entry.lang != "c" for entry in every) else VERSIONS[0]}',
        f'"provenance": {{\n{head}{tail}}}',
        *(f'"{name}": {_lines(msgspec.to_builtins(entries))}' for name, entries in lists.items()),
    ]
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _line(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _lines(values: list[Any], indent: str = "") -> str:
    """Return the JSON of a list with one entry per line."""
    return "[" + ",".join(f"\n{indent}{_line(value)}" for value in values) + "]"
