# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The result file: one JSON document, one row a line, raw samples and provenance only.

Loading checks types, bounds, lengths, encodings and duplicates, and refuses what is wrong by name.
Every figure is derived from the samples (model.py), never read. docs/contributing.md says what the
fields mean; `schema` is the published JSON Schema, made from the types that the file is read with.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import structs

from tockmark.documents import KINDS, Part, RefusedError, kind_of, read_text, strictly, typed
from tockmark.errors import TockmarkError
from tockmark.paths import shown
from tockmark.result.model import GONE, Result, Row, linked
from tockmark.result.provenance import Provenance
from tockmark.suite.catalogue import PERF
from tockmark.wire.records import MAX_SAMPLES, expand
from tockmark.wire.rows import SERIES, Absent, StoredRow

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
    rows = tuple(_checked_rows(document))
    lists: dict[str, tuple[Row | Absent, ...]] = {"rows": rows}
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
    return Result(document.provenance, problems=document.problems, **lists)  # type: ignore[arg-type]


def _checked_rows(document: Document) -> Iterator[Row]:
    layouts, total = len(document.provenance.layouts), 0
    rows = linked(document.rows, document.provenance.board.clock_hz, document.provenance.counter)
    for row in rows:
        if row.further and len(row.further) != layouts - 1:
            held = f"{1 + len(row.further)} layouts, but {layouts} in provenance"
            raise RefusedError(f"row {row.id}: {held}")
        try:
            first, *further = row.samples
        except ValueError as error:
            raise RefusedError(f"row {row.id}: {error}") from error
        for layout, taken in enumerate(further, 1):
            if taken and taken.keys() != {name for name in first if isinstance(name, str)}:
                names = " and ".join(map(str, taken))
                raise RefusedError(f"row {row.id}: layout {layout} has {names} only")
        total += sum(len(samples) for taken in row.samples for samples in taken.values())
        if total > MOST_SAMPLES:
            raise RefusedError(f"row {row.id}: more than {MOST_SAMPLES} samples in all")
    for row in rows:
        if wrong := _contradiction(row, document.provenance.has_figures):
            raise RefusedError(f"row {row.name}: {wrong}")
        yield row


def _contradiction(row: Row, has_figures: bool) -> str | None:
    """Return what types cannot say: where a row contradicts itself, or what its result may hold."""
    lengths = set()
    for name in SERIES:
        series = row.series(name)
        if series is None:
            continue
        counts = [len(one.samples) for one in (series, *series.further)]
        lengths.add(tuple(counts))
        if max(counts) > row.asked:
            return f"{max(counts)} samples of {name}, but {row.asked} asked"
        stated = series.stated
        if stated and abs(stated) < LEAST:  # a ratio to it would overflow
            return f"net {name} is stated as {stated:g}: too small"
        if stated is not None and series.samples:
            return f"net {name} is stated, and has samples"
        if (slope := series.slope) and max(len(slope.short), len(slope.long)) > row.asked:
            return "more samples of several passes than asked"
    for number, series in row.events.items():
        if len(series.samples) > row.asked:
            return f"{len(series.samples)} samples of event {number}, but {row.asked} asked"
    if row.extra and (wrong := _wrong_extra(row)):
        return wrong
    if not has_figures:
        return "figures of a target that counts nothing" if lengths else None
    if not lengths:
        return "no samples, nor figures in their place"
    if len(lengths) > 1 and not row.faults:
        return "cycles and instret differ in their number of samples"
    return None


def _wrong_extra(row: Row) -> str | None:
    """Return what is wrong with the further series of a row."""
    try:
        lengths = {len(expand(runs)) for runs in row.extra.values()}
    except ValueError as error:
        return f"its further series: {error}"
    return "its further series have different lengths" if len(lengths) > 1 else None


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
    gone = {name: getattr(result, name) for name in GONE}
    every = (*result.provenance.boots, *result.rows, *sum(gone.values(), start=()))
    derived = {"overhead": None, "control": None, "clock_hz": None, "counter": PERF}
    rows = [structs.replace(row, **derived) for row in result.rows]
    lists = {"rows": rows, **gone, "problems": result.problems}
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
