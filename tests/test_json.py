# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The JSON of `list`, `doctor` and `run` has the form in docs/command-line.md and is the only
output on stdout. The run needs the products of `make build`."""

import json
import subprocess
import sys
from pathlib import Path

import jsonschema

from tockmark.base import paths
from tockmark.suite.catalogue import load

Schema = dict[str, object]

TEXT = {"type": "string", "minLength": 1}
COUNT = {"type": "integer", "minimum": 0}
MAYBE_TEXT = {"type": ["string", "null"]}
MAYBE_NUMBER = {"type": ["number", "null"]}


def record(**fields: object) -> Schema:
    """Return the schema of an object with exactly these fields."""
    return {
        "type": "object",
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
    }


def array_of(item: object) -> Schema:
    return {"type": "array", "minItems": 1, "items": item}


LIST = array_of(
    record(
        section=TEXT,
        id=TEXT,
        params={"type": "object"},
        touches={"enum": ["kernel", "app", "control"]},
        what=TEXT,
        counts=TEXT,
        unit=TEXT,
        inner=COUNT,
        samples=COUNT,
        budget_mcycles={"type": "number"},
    )
)
DOCTOR = array_of(
    record(
        name=TEXT,
        good={"type": "boolean"},
        found=MAYBE_TEXT,
        expected=MAYBE_TEXT,
        todo=MAYBE_TEXT,
    )
)
FIGURES = record(
    boot=TEXT,
    inner=COUNT,
    cycles=MAYBE_NUMBER,
    instructions=MAYBE_NUMBER,
    cycles_per_op=MAYBE_NUMBER,
    us_per_op=MAYBE_NUMBER,
    mb_per_s=MAYBE_NUMBER,
    cycles_by_layout={"type": "array", "items": {"type": "number"}},
    steady=MAYBE_TEXT,
    errors={"type": "array", "items": TEXT},
)
RUN = record(
    result=TEXT,
    log=MAYBE_TEXT,
    exit_code={"enum": [0, 1, 130]},
    incomplete={"type": "array", "items": TEXT},
    boots=record(all=COUNT, log=COUNT, cache=COUNT),
    rows=array_of(
        record(
            icache={"type": ["boolean", "null"]},
            lang={"enum": ["c", "rust"]},
            section=TEXT,
            id=TEXT,
            params={"type": "object"},
            results={"type": "array", "minItems": 1, "maxItems": 1, "items": FIGURES},
        )
    ),
)


def printed_json(
    schema: Schema, *arguments: str
) -> tuple[object, subprocess.CompletedProcess[str]]:
    """Return the JSON value on stdout, checked by this schema, and the process."""
    command = [sys.executable, "-m", "tockmark", *arguments, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=paths.ROOT)
    assert done.returncode in (0, 1), done.stderr
    value = json.loads(done.stdout)
    jsonschema.Draft202012Validator(schema).validate(value)
    return value, done


def test_list_has_every_benchmark() -> None:
    entries, _ = printed_json(LIST, "list")
    assert isinstance(entries, list)
    assert sorted(entry["id"] for entry in entries) == sorted(load().benchmarks)


def test_doctor_has_advice_for_each_failed_check() -> None:
    checks, done = printed_json(DOCTOR, "doctor")
    assert isinstance(checks, list)
    assert done.returncode == (0 if all(check["good"] for check in checks) else 1)
    assert all((check["todo"] is None) is check["good"] for check in checks)


def test_run_names_its_files_and_shows_their_rows(tmp_path: Path) -> None:
    path = tmp_path / "some.json"
    printed, done = printed_json(
        RUN, "run", "--only", "loop.empty", "--samples", "9", "-o", str(path)
    )
    assert isinstance(printed, dict)
    assert (printed["result"], printed["log"]) == (str(path), str(path.with_suffix(".log")))
    assert path.exists()
    assert path.with_suffix(".log").exists()
    assert printed["exit_code"] == done.returncode
    assert "loop.empty" in {row["id"] for row in printed["rows"]}
    shown, _ = printed_json(RUN["properties"]["rows"], "table", str(path))  # type: ignore[index]
    assert printed["rows"] == shown
