# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What `list`, `doctor` and `run` say to other programs: JSON of the shape that
docs/command-line.md has, and nothing else on stdout. The run needs what `make build` makes."""

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
    """An object that has all of these, and no others."""
    return {
        "type": "object",
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
    }


def several(item: object) -> Schema:
    return {"type": "array", "minItems": 1, "items": item}


LIST = several(
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
DOCTOR = several(
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
    rows=several(
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
    """Return what stands on stdout, all of which is one JSON value of this shape."""
    command = [sys.executable, "-m", "tockmark", *arguments, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=paths.ROOT)
    assert done.returncode in (0, 1), done.stderr
    value = json.loads(done.stdout)
    jsonschema.Draft202012Validator(schema).validate(value)
    return value, done


def test_the_catalogue() -> None:
    entries, _ = printed_json(LIST, "list")
    assert isinstance(entries, list)
    assert sorted(entry["id"] for entry in entries) == sorted(load().benchmarks)


def test_what_is_in_place() -> None:
    checks, done = printed_json(DOCTOR, "doctor")
    assert isinstance(checks, list)
    assert done.returncode == (0 if all(check["good"] for check in checks) else 1)
    assert all((check["todo"] is None) is check["good"] for check in checks)


def test_a_run_says_where_its_files_are_and_what_they_show(tmp_path: Path) -> None:
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
