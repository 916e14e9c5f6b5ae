# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The result file: one JSON document, one row a line, raw samples and provenance only.

Loading is validating: every figure is derived from the samples (model.py), never read; and whatever
is not as it should be, from a wrong type to a figure that contradicts the samples, is refused by
name. docs/result-format.md tells what the fields mean; `schema` is the published JSON Schema.

msgspec, because it checks types and bounds while it decodes (ten times as fast as a schema checker
over dicts), from the same declarations that mypy checks, and writes the schema from them.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import msgspec

from tockmark.errors import TockmarkError
from tockmark.log.measured import SERIES
from tockmark.log.protocol import MAX_SAMPLES
from tockmark.paths import shown
from tockmark.plain import quoted
from tockmark.result.kept import Kept, assembled, expanded, kept_of
from tockmark.result.model import GONE, Absent, Result, Row
from tockmark.result.provenance import (
    Part,
    Provenance,
)
from tockmark.result.strict import RefusedError, check, strict_json

FORMAT = "tockmark-result"
VERSION = 5  # of a file with a language besides C; all others are of version 4, as they ever were
VERSIONS = (4, VERSION)
ROUNDED = 1e-6  # a stated figure may be off by as much
MOST_SAMPLES = 10 * MAX_SAMPLES  # of all rows together: keeps a hostile file from filling memory


class Document(Part, frozen=True):
    """The whole file."""

    format: Literal["tockmark-result"]
    version: Literal[4, 5]
    provenance: Provenance
    rows: tuple[Kept, ...]
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
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise TockmarkError(f"cannot read {shown(path)}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise TockmarkError(
            f"{shown(path)} is not a result file: it is not text", OR_PARSE
        ) from error
    try:
        data = strict_json(text)
    except RefusedError as error:
        raise TockmarkError(f"{shown(path)}: {quoted(error)}", GIVE_ONE) from error
    except (ValueError, RecursionError) as error:
        if kind := kind_of(text):  # JSON line by line, as a history is
            _check_kind(path, {"format": kind})
        raise TockmarkError(
            f"{shown(path)} is not a result file: it is not JSON", OR_PARSE
        ) from error
    _check_kind(path, data)
    try:
        check(data)
        return _result(msgspec.convert(data, Document))
    except (msgspec.ValidationError, RefusedError) as error:
        raise TockmarkError(f"{shown(path)}: {located(error, data)}", GIVE_ONE) from error


GIVE_ONE = "give a .json as `tockmark run` or `tockmark parse` wrote it"
OR_PARSE = "give a .json that `tockmark run` wrote, or turn a log into one with `tockmark parse`"
_FORMAT = re.compile(r'\{\s*"format":\s*"(tockmark-[a-z]+)"')

KINDS = {  # what the tool writes, and what to do with it
    FORMAT: ("a result file", "`tockmark table` shows it"),
    "tockmark-validation": ("a validation of the simulator", "`tockmark validate --show` shows it"),
    "tockmark-history": ("a history of runs", "`tockmark history -f` shows it"),
    "tockmark-profile": ("a profile of one sample", "profiles are not results"),
}


def kind_of(text: str) -> str | None:
    """The format that a file begins with, be it whole or not."""
    found = _FORMAT.match(text)
    return found[1] if found else None


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


def located(error: Exception, data: Any) -> str:
    """msgspec's message with the row's id in place of its number alone."""
    found = _IN_ROW.fullmatch(str(error))
    if not found:
        return quoted(str(error).replace("`$.", "`"))
    row = data["rows"][int(found["number"])]
    id_ = f" ({row['id']})" if isinstance(row, dict) and "id" in row else ""
    return quoted(f"row {int(found['number']) + 1}{id_}{found['field']}: {found['what']}")


_IN_ROW = re.compile(
    r"(?P<what>.*) - at `(?:key` in `)?\$\.rows\[(?P<number>\d+)\](?P<field>.*)`", re.DOTALL
)


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
