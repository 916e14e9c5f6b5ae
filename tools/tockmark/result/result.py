# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The result file: JSON, versioned, checked against its schema, written whole or not at all.

docs/result-format.md tells what the fields mean.
"""

import contextlib
import json
import os
import statistics
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema

from tockmark import __version__
from tockmark.errors import TockmarkError
from tockmark.log.protocol import compress, expand
from tockmark.log.rows import SERIES, Measured, NoRow, Row
from tockmark.paths import shown
from tockmark.result.stats import Stats, net_sd, summarise, tail
from tockmark.suite.catalogue import OVERHEAD, Boot, Catalogue, label

FORMAT = "tockmark-result"
VERSION = 2

Json = dict[str, Any]

UNKNOWN: Json = {  # the provenance of a bare log: only what the apps said of themselves is known
    "kernel": {"name": None, "file": None, "sha256": None, "commit": None},
    "board": {
        "name": None,
        "machine": None,
        "clock_hz": None,
        "timing": "unchecked",
        "simulator_sha256": None,
        "uart_cycles_per_byte": None,
    },
    "abi": None,
    "boots": [],
}


def build(
    measured: Measured,
    catalogue: Catalogue,
    provenance: Json | None = None,
    booted: Sequence[tuple[Boot, bool | None]] | None = None,
    wanted: set[str] | None = None,
    notes: list[str] | None = None,
) -> Json:
    """The whole result; `wanted` limits it to these ids (and the read overhead they need).

    `booted` says which boots there should be, each with its cache setting; a bare log is asked for
    all that the boots and apps that it holds could give."""
    context = {**UNKNOWN, **(provenance or {})}
    clock = context["board"]["clock_hz"]

    def asked_for(id_: str) -> bool:
        return wanted is None or id_ in wanted or id_ == OVERHEAD

    rows, no_rows = [], []
    for boot, app in measured.each():
        where = {"app": app.name, "boot": boot.of(app), "icache": boot.icache}
        read = next((_summaries(row) for row in app.rows if row.id == OVERHEAD), ({}, {}))
        rows += [
            {**where, **_row(row, catalogue, read, clock)}
            for row in app.rows
            if row.series and asked_for(row.id)
        ]
        no_rows += [(n, {**where, **_no_row(n)}) for n in app.no_rows if asked_for(n.id)]
    return {
        "format": FORMAT,
        "version": VERSION,
        "provenance": {
            "date": datetime.now(UTC).isoformat(timespec="seconds"),
            "tool": {"name": "tockmark", "version": __version__},
            "catalogue_sha256": catalogue.sha256,
            **context,
            "apps": [
                {
                    "app": app.name,
                    "boot": boot.of(app),
                    **{k: v for k, v in (app.begin or {}).items() if k != "apps"},
                }
                for boot, app in measured.each()
            ],
        },
        "rows": rows,
        "failed": [found for n, found in no_rows if n.kind == "fail"],
        "skipped": [found for n, found in no_rows if n.kind == "skip"],
        "missing": _absent(measured, catalogue, booted or _held(measured, catalogue), asked_for),
        "problems": [*(notes or []), *map(str, measured.problems)],
    }


def _held(measured: Measured, catalogue: Catalogue) -> list[tuple[Boot, bool | None]]:
    """The boots that a log holds: those that it names, or those of the apps that it knows."""
    known = {boot.name: boot for boot in catalogue.boots()}
    return [
        (known[name], boot.icache)
        for boot, app in measured.each()
        if (name := boot.of(app)) in known
    ]


def _absent(
    measured: Measured,
    catalogue: Catalogue,
    booted: Sequence[tuple[Boot, bool | None]],
    asked_for: Callable[[str], bool],
) -> list[Json]:
    """The rows that these boots should have given and did not, each with its first boot."""
    there = {
        (boot.icache, *key[1:])
        for boot, app in measured.each()
        for key in [*(r.key() for r in app.rows if r.whole()), *(n.key() for n in app.no_rows)]
    }
    read = {
        (boot.of(app), boot.icache)
        for boot, app in measured.each()
        if any(r.id == OVERHEAD and r.whole() for r in app.rows)
    }
    missing: dict[tuple[object, ...], Json] = {}
    for boot, icache in booted:
        where = {"app": boot.group, "boot": boot.name, "icache": icache}
        if (boot.name, icache) not in read:
            missing[boot.name, icache] = {**where, "id": OVERHEAD, "params": {}}
        for id_, params in catalogue.rows(filter(asked_for, boot.measures)):
            key = (icache, id_, frozenset(params.items()))
            if key not in there and id_ != OVERHEAD:
                missing.setdefault(key, {**where, "id": id_, "params": params})
    return list(missing.values())


def _no_row(no_row: NoRow) -> Json:
    return {"id": no_row.id, "params": no_row.params, "why": no_row.why}


Summaries = tuple[dict[str, float], dict[str, Stats]]


def _summaries(row: Row) -> Summaries:
    """The medians of all series and events, and the statistics of the series."""
    found = {name: summarise(samples) for name, samples in row.series.items()}
    stats = {name: one for name, one in found.items() if one is not None}
    medians = {name: one.median for name, one in stats.items()}
    return medians | {f"event{n}": statistics.median(s) for n, s in row.events.items()}, stats


def _row(row: Row, catalogue: Catalogue, reading: Summaries, clock: int | None) -> Json:
    """One row: raw samples, statistics, and what is derived from them, all signed.

    `reading` is what one pair of readings costs; the row may hold several, or none."""
    out: Json = {
        "id": row.id,
        "params": row.params,
        "inner": row.inner,
        "asked": row.asked,
        "reads": row.reads,
        "clock": row.clock,
    }
    medians, summary = _summaries(row)
    read, read_stats = reading
    own = row.id == OVERHEAD
    overhead = {
        n: row.reads * read[n] if row.reads else 0 for n in medians if n in read or not row.reads
    }
    net = {} if own else {n: medians[n] - overhead[n] for n in medians if n in overhead}
    for name in SERIES:
        samples, stats = row.series.get(name), summary.get(name)
        taken = read_stats.get(name) if row.reads else None
        out[name] = samples and {
            "samples": compress(samples),
            "stats": stats and asdict(stats),
            "overhead": overhead.get(name) if not own else None,
            "net": net.get(name),
            "net_per_op": net[name] / row.inner if name in net else None,
            "net_sd": net_sd(stats, taken, row.reads) if stats and name in net else None,
        }
        out[name] = out[name] or None
    out["events"] = {
        str(n): {
            "median": medians[f"event{n}"],
            "overhead": overhead.get(f"event{n}") if not own else None,
            "net": net.get(f"event{n}"),
        }
        for n in row.events
    } or None
    cycles, instret = medians.get("cycles"), medians.get("instret")
    out["cpi"] = cycles / instret if cycles is not None and instret else None
    spent = net.get("cycles", cycles if own else None)
    out["us"] = spent * 1e6 / clock if spent is not None and clock else None
    out["mb_per_s"] = None
    benchmark = catalogue.benchmarks.get(row.id)
    if benchmark and benchmark.bytes and out["us"] and out["us"] > 0:
        moved = row.params.get(benchmark.bytes)
        out["mb_per_s"] = moved / out["us"] if isinstance(moved, int) else None
    out["errors"] = [
        *(f"net {name} is {net[name]:g}, below zero" for name in SERIES if net.get(name, 0) < 0),
        *(
            f"{name} stops after {len(samples)} of {row.asked} samples, which do not repeat"
            for name, samples in row.series.items()
            if len(samples) < row.asked and tail(samples) == (None, None)
        ),
    ]
    return out


def incomplete(result: Json) -> list[str]:
    """Every reason why this result is not whole, in words; skipped rows are not among them."""
    return [
        *result["problems"],
        *(f"failed: {_where(row)}: {row['why']}" for row in result["failed"]),
        *(f"wrong: {_where(row)}: {error}" for row in result["rows"] for error in row["errors"]),
        *_missing(result["missing"]),
    ]


def _where(row: Json) -> str:
    cache = {True: "", False: " (i-cache off)", None: ""}[row["icache"]]
    return f"{row['boot']}{cache}: {label(row['id'], row['params'])}"


def _missing(rows: list[Json]) -> list[str]:
    """The missing rows, one line a benchmark, however many parameter sets it has."""
    counts: dict[str, list[Json]] = {}
    for row in rows:
        counts.setdefault(_where({**row, "params": {}}), []).append(row)
    return [
        f"missing: {_where(same[0]) if len(same) == 1 else f'{where} ({len(same)} rows)'}"
        for where, same in counts.items()
    ]


def schema() -> Json:
    """The published JSON Schema of the result file."""
    loaded: Json = json.loads(files("tockmark.result").joinpath("result.schema.json").read_text())
    return loaded


def load(path: Path) -> Json:
    """Read a result file and check it against the schema."""
    try:
        result = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(result, dict) and result.get("version") == 1:
            result = upgraded(result)
        if isinstance(result, dict) and result.get("version", VERSION) != VERSION:
            raise TockmarkError(
                f"{shown(path)} has format version {result['version']}, this tool reads {VERSION}",
                "use the tockmark version that wrote it, or parse its log again",
            )
        jsonschema.validate(result, schema())
    except OSError as error:
        raise TockmarkError(f"cannot read {shown(path)}: {error.strerror}") from error
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise TockmarkError(
            f"{shown(path)} is not a result file: it is not JSON",
            "give a .json that `tockmark run` wrote, or turn a log into one with `tockmark parse`",
        ) from error
    except jsonschema.ValidationError as error:
        where = "/".join(map(str, error.absolute_path)) or "top level"
        raise TockmarkError(
            f"{shown(path)} is not a result file: {where}: {error.message[:120]}",
            "give a .json that `tockmark run` or `tockmark parse` wrote",
        ) from error
    checked: Json = result
    return checked


def upgraded(old: Json) -> Json:
    """A result of version 1 in the form of version 2: its one cache setting goes to each row."""
    try:
        provenance = dict(old["provenance"])
        board = dict(provenance["board"])
        icache, layout = board.pop("icache"), provenance.pop("layout")

        def place(row: Json) -> Json:
            return {"boot": row["app"], "icache": icache, **row}

        added = {"reads": 1, "clock": "core", "events": None}
        return {
            **old,
            "version": VERSION,
            "provenance": {
                **provenance,
                "board": board,
                "abi": int(a) if (a := provenance["apps"][0].get("abi", "")).isdecimal() else None,
                "boots": [
                    {
                        "boot": app,
                        "icache": icache,
                        "cycles": None,
                        "slots": [{"name": app, **{k: v for k, v in at.items() if k != "slot"}}],
                    }
                    for app, at in layout.items()
                ],
                "apps": [{"boot": app["app"], **app} for app in provenance["apps"]],
            },
            "rows": [{**added, **_restated(place(row))} for row in old["rows"]],
            **{kind: list(map(place, old[kind])) for kind in ("failed", "skipped", "missing")},
        }
    except (KeyError, TypeError, IndexError, AttributeError, ValueError):
        return old  # the schema will say what is wrong with it


def _restated(row: Json) -> Json:
    """A row of version 1 with its statistics made anew: that version had fewer of them."""
    for name in SERIES:
        series = row[name]
        if series is not None:
            stats = summarise(expand(series["samples"]))
            row = {**row, name: {**series, "stats": stats and asdict(stats)}}
    return row


def text(result: Json) -> str:
    """A result as the file holds it."""
    jsonschema.validate(result, schema())
    return json.dumps(result, indent=1, ensure_ascii=False) + "\n"


def write_whole(contents: dict[Path, str]) -> None:
    """Write files so that all are there or all are still the old ones, also on a full disk."""
    temporary: dict[Path, str] = {}
    path = Path()
    try:
        for path, content in contents.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, temporary[path] = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.chmod(temporary[path], 0o644)
        for path in contents:
            os.replace(temporary.pop(path), path)
    except OSError as error:
        raise TockmarkError(
            f"cannot write {shown(path)}: {error.strerror}; what was there before is untouched",
            "make room or choose another place with -o",
        ) from error
    finally:
        for name in temporary.values():
            with contextlib.suppress(OSError):
                os.unlink(name)
