# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The export formats follow the tools that read them, and no number is lost or invented."""

import csv
import io
import json
import re
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest
from msgspec import structs

from tockmark.result import file
from tockmark.result.build import Context, build
from tockmark.result.model import Result
from tockmark.result.provenance import Board
from tockmark.show import export
from tockmark.suite.catalogue import Catalogue
from tockmark.tests.conftest import committed
from tockmark.wire.boots import assemble
from tockmark.wire.records import decode

# Bencher's published schema of its metrics, rewritten as a JSON schema.
BMF = {
    "type": "object",
    "additionalProperties": {
        "type": "object",
        "additionalProperties": {
            "type": "object",
            "required": ["value"],
            "additionalProperties": False,
            "properties": {
                name: {"type": "number"} for name in ("value", "lower_value", "upper_value")
            },
        },
    },
}
GITHUB = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["name", "unit", "value"],
        "additionalProperties": False,
        "properties": {
            "name": {"type": "string"},
            "unit": {"type": "string"},
            "value": {"type": "number"},
            "range": {"type": "string", "pattern": "^± "},
            "extra": {"type": "string"},
        },
    },
}


@pytest.fixture
def result(log: list[str], catalogue: Catalogue) -> Result:
    return build(assemble(decode(log)), catalogue, Context(board=Board(clock_hz=10_000_000)))


def test_csv_has_every_row_with_its_numbers(result: Result, catalogue: Catalogue) -> None:
    lines = list(csv.DictReader(io.StringIO(export.export(result, catalogue, "csv"))))
    assert [line["id"] for line in lines] == [row.id for row in result.table.values()]
    loop = next(line for line in lines if line["id"] == "loop.empty")
    assert (loop["cycles_net"], loop["cycles_net_per_op"]) == ("3001", "3.001")
    assert (loop["cycles_first"], loop["cycles_max"]) == ("4000", "3343")
    assert (loop["unit"], loop["inner"]) == ("iteration", "1000")
    assert lines[0]["cycles_net_per_op"] == "340"  # a whole number has no decimals
    assert (loop["us"], loop["mb_per_s"]) == ("0.3001", "")  # of one operation, at 10 MHz
    copied = next(line for line in lines if line["params"] == "size=64")
    assert (copied["us"], copied["mb_per_s"]) == ("9.6", "6.66667")


def test_bmf_follows_its_schema(result: Result, catalogue: Catalogue) -> None:
    data = json.loads(export.export(result, catalogue, "bmf"))
    jsonschema.validate(data, BMF)
    assert data["mem.copy_asm size=32"]["cycles"] == {
        "value": 49,
        "lower_value": 49,
        "upper_value": 49,
    }
    assert data["mem.copy_asm size=32"]["latency"]["value"] == 4900  # ns at 10 MHz
    spread = data["loop.empty"]["cycles"]
    assert (spread["lower_value"], spread["upper_value"]) == (3.0, 3.002)


def test_github_follows_its_schema(result: Result, catalogue: Catalogue) -> None:
    data = json.loads(export.export(result, catalogue, "github"))
    jsonschema.validate(data, GITHUB)
    assert len({entry["name"] for entry in data}) == len(data) == len(result.table)
    values = {entry["name"]: entry["value"] for entry in data}
    assert values["time.read"] == 340
    assert values["mem.copy_asm size=64"] == 96


STORED = [path for path in committed(".json") if file.FORMAT in path.read_text()[:99]]


@pytest.mark.parametrize("path", STORED, ids=lambda path: path.stem)
def test_every_figure_is_in_its_range(path: Path, catalogue: Catalogue) -> None:
    """In all committed results."""
    stored = file.load(path)
    ranges = 0
    if stored.provenance.board.counts_cycles:
        github = {e["name"]: e for e in json.loads(export.export(stored, catalogue, "github"))}
        for name, measures in json.loads(export.export(stored, catalogue, "bmf")).items():
            for metric in measures.values():
                value = metric["value"]
                assert metric.get("lower_value", value) <= value <= metric.get("upper_value", value)
            if "lower_value" in measures.get("cycles", {}):
                ranges += 1
                low, high = (measures["cycles"][f"{end}_value"] for end in ("lower", "upper"))
                around = float(github[name]["range"].removeprefix("± ")) * (1 + 1e-5) + 1e-9
                assert github[name]["value"] - around <= low <= high
                assert high <= github[name]["value"] + around
    for line in csv.DictReader(io.StringIO(export.export(stored, catalogue, "csv"))):
        for name in ("cycles", "instret"):
            if low := line[f"{name}_net_low"]:
                ranges += 1
                net, high = float(line[f"{name}_net"]), float(line[f"{name}_net_high"])
                assert float(low) <= net <= high
                assert float(line[f"{name}_net_per_op"]) == pytest.approx(net / int(line["inner"]))
            if least := line[f"{name}_min"]:
                most = float(line[f"{name}_max"])
                assert float(least) <= float(line[f"{name}_median"]) <= most
    assert ranges or not any(row.cycles and row.cycles.samples for row in stored.rows)


def test_lmbench_has_lines_and_blocks(result: Result, catalogue: Catalogue) -> None:
    text = export.export(result, catalogue, "lmbench")
    assert "\ntime.read: 34.0000 microseconds\n" in text
    assert "\nloop.empty: 0.3001 microseconds\n" in text
    assert '\n"mem.copy_asm\n0.000032 6.53\n0.000064 6.67\n' in text
    form = r"\[.+\]|\S.*: \d+\.\d{4} microseconds|\"\S.*|\d+\.\d{6} \d+\.\d{2}|"
    assert all(re.fullmatch(form, line) for line in text.splitlines())


@pytest.mark.parametrize("form", ["bmf", "github", "lmbench"])
def test_an_invalid_row_is_omitted_and_named(
    result: Result, catalogue: Catalogue, form: str
) -> None:
    rows = (
        structs.replace(r, faults=("torn",)) if r.id == "loop.empty" else r for r in result.rows
    )
    wrong = replace(result, rows=tuple(rows))
    assert "loop.empty" in export.export(result, catalogue, form)
    assert "loop.empty" not in export.export(wrong, catalogue, form)
    assert export.omitted_rows(wrong) == ["loop.empty: torn"]
    assert "torn" in export.export(wrong, catalogue, "csv")
