# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The result file: JSON, versioned, checked against its schema, written whole or not at all.

docs/result-format.md tells what the fields mean.
"""

import contextlib
import json
import os
import tempfile
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema

from tockmark import __version__
from tockmark.catalogue import OVERHEAD, Catalogue, Params, label
from tockmark.errors import TockmarkError
from tockmark.paths import shown
from tockmark.protocol import compress
from tockmark.rows import SERIES, Measured, NoRow, Row
from tockmark.stats import summarise, tail

FORMAT = "tockmark-result"
VERSION = 1

Json = dict[str, Any]

UNKNOWN: Json = {  # the provenance of a bare log: only what the apps said of themselves is known
    "kernel": {"name": None, "file": None, "sha256": None, "commit": None},
    "board": {
        "name": None,
        "machine": None,
        "clock_hz": None,
        "icache": None,
        "timing": "unchecked",
        "simulator_sha256": None,
        "uart_cycles_per_byte": None,
    },
    "layout": {},
}


def build(
    measured: Measured,
    catalogue: Catalogue,
    provenance: Json | None = None,
    expected_apps: list[str] | None = None,
    wanted: set[str] | None = None,
    notes: list[str] | None = None,
) -> Json:
    """The whole result; `wanted` limits it to these ids (and the read overhead they need)."""
    context = {**UNKNOWN, **(provenance or {})}
    clock = context["board"]["clock_hz"]
    apps = expected_apps if expected_apps is not None else list(measured.apps)

    def asked_for(id_: str) -> bool:
        return wanted is None or id_ in wanted or id_ == OVERHEAD

    overheads = {
        row.app: _medians(row) for row in measured.rows() if row.id == OVERHEAD and not row.params
    }
    rows = [
        _row(row, catalogue, overheads.get(row.app, {}), clock)
        for row in measured.rows()
        if row.series and asked_for(row.id)
    ]
    no_rows = [n for app in measured.apps.values() for n in app.no_rows if asked_for(n.id)]
    there = {row.key() for row in measured.rows() if set(row.series) == set(SERIES)}
    there |= {(n.app, n.id, frozenset(n.params.items())) for n in no_rows}
    missing = [
        {"app": app, "id": id_, "params": params}
        for app in apps
        for id_, params in catalogue.expected(app)
        if asked_for(id_) and (app, id_, frozenset(params.items())) not in there
    ]
    return {
        "format": FORMAT,
        "version": VERSION,
        "provenance": {
            "date": datetime.now(UTC).isoformat(timespec="seconds"),
            "tool": {"name": "tockmark", "version": __version__},
            "catalogue_sha256": catalogue.sha256,
            **context,
            "apps": [
                {"app": app.name, **{k: v for k, v in (app.begin or {}).items() if k != "apps"}}
                for app in measured.apps.values()
            ],
        },
        "rows": rows,
        "failed": [_no_row(n) for n in no_rows if n.kind == "fail"],
        "skipped": [_no_row(n) for n in no_rows if n.kind == "skip"],
        "missing": missing,
        "problems": [*(notes or []), *map(str, measured.problems)],
    }


def _no_row(no_row: NoRow) -> Json:
    return {"app": no_row.app, "id": no_row.id, "params": no_row.params, "why": no_row.why}


def _medians(row: Row) -> dict[str, float]:
    found = {name: summarise(samples) for name, samples in row.series.items()}
    return {name: stats.median for name, stats in found.items() if stats is not None}


def _row(row: Row, catalogue: Catalogue, overhead: dict[str, float], clock: int | None) -> Json:
    """One row: raw samples, statistics, and what is derived from them, all signed."""
    out: Json = {
        "app": row.app,
        "id": row.id,
        "params": row.params,
        "inner": row.inner,
        "asked": row.asked,
    }
    medians = _medians(row)
    net = {
        name: medians[name] - overhead[name]
        for name in SERIES
        if name in medians and name in overhead and row.id != OVERHEAD
    }
    for name in SERIES:
        samples = row.series.get(name)
        stats = summarise(samples) if samples else None
        out[name] = samples and {
            "samples": compress(samples),
            "stats": stats and asdict(stats),
            "overhead": overhead.get(name) if row.id != OVERHEAD else None,
            "net": net.get(name),
            "net_per_op": net[name] / row.inner if name in net else None,
        }
    cycles, instret = medians.get("cycles"), medians.get("instret")
    out["cpi"] = cycles / instret if cycles is not None and instret else None
    spent = net.get("cycles", cycles if row.id == OVERHEAD else None)
    out["us"] = spent * 1e6 / clock if spent is not None and clock else None
    out["mb_per_s"] = None
    benchmark = catalogue.benchmarks.get(row.id)
    if benchmark and benchmark.bytes and out["us"] and out["us"] > 0:
        moved = row.params.get(benchmark.bytes)
        out["mb_per_s"] = moved / out["us"] if isinstance(moved, int) else None
    out["errors"] = [
        *(f"net {name} is {value:g}, below zero" for name, value in net.items() if value < 0),
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
        *(f"failed: {_where(row)}: {row['why']}" for row in result["failed"]),
        *_missing(result["missing"]),
        *(f"wrong: {_where(row)}: {error}" for row in result["rows"] for error in row["errors"]),
        *result["problems"],
    ]


def _where(row: Json) -> str:
    return f"{row['app']}: {label(row['id'], row['params'])}"


def _missing(rows: list[Json]) -> list[str]:
    """The missing rows, one line a benchmark, however many parameter sets it has."""
    counts: dict[tuple[str, str], list[Params]] = {}
    for row in rows:
        counts.setdefault((row["app"], row["id"]), []).append(row["params"])
    return [
        f"missing: {app}: {label(id_, sets[0]) if len(sets) == 1 else f'{id_} ({len(sets)} rows)'}"
        for (app, id_), sets in counts.items()
    ]


def schema() -> Json:
    """The published JSON Schema of the result file."""
    loaded: Json = json.loads(files("tockmark").joinpath("result.schema.json").read_text())
    return loaded


def load(path: Path) -> Json:
    """Read a result file and check it against the schema."""
    try:
        result = json.loads(path.read_text(encoding="utf-8"))
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
