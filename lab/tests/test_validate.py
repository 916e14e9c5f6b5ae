# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Validation: verdicts of rows, its file and its table, and the fit that finds the cache's size."""

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from tockmark.base.errors import TockmarkError
from tockmark_lab import validation
from tockmark_lab.validation import (
    JudgedRow,
    KnownDeviation,
    ValidationRow,
    ValidationVerdict,
    judge_rows,
)
from tockmark_lab.validation_parts import NONE, breaking_point

ROW = ValidationRow(
    "part", "group", "row", "cw310", "cycles", (100.0,), (103.0,), bound=3, source="here"
)
EXACT = replace(ROW, name="exact", measured=(100.0,))
OUTSIDE = replace(ROW, name="outside", measured=(104.0,), note="")
SILENT = replace(ROW, name="silent", measured=(), note="it hung")


@pytest.mark.parametrize(
    ("row", "excuse", "verdict", "word"),
    [
        (EXACT, None, ValidationVerdict.EXACT, ""),
        (ROW, None, ValidationVerdict.INSIDE, ""),
        (OUTSIDE, None, ValidationVerdict.WRONG, "outside"),
        (SILENT, None, ValidationVerdict.WRONG, "hung"),
        (OUTSIDE, KnownDeviation((104.0,), "why"), ValidationVerdict.UNEXPLAINED, "why"),
        (OUTSIDE, KnownDeviation((105.0,), "why"), ValidationVerdict.WRONG, "another value, 105"),
        (ROW, KnownDeviation((103.0,), "why"), ValidationVerdict.WRONG, "within its bound"),
    ],
)
def test_the_list_excuses_only_its_own_measurements(
    row: ValidationRow, excuse: KnownDeviation | None, verdict: ValidationVerdict, word: str
) -> None:
    (item,) = judge_rows([row], {row.key: excuse} if excuse else {})
    assert item.verdict is verdict
    assert word in item.reason


def test_a_file_is_read_back_unchanged(tmp_path: Path) -> None:
    rows = [EXACT, ROW, replace(OUTSIDE, part="other"), replace(SILENT, part="other")]
    path = tmp_path / "validation.json"
    path.write_text(validation.stored_text(rows))
    assert validation.load_validation(path) == rows
    assert len(path.read_text().splitlines()) == len(rows) + 7  # one row per line


@pytest.mark.parametrize(
    ("content", "word"),
    [
        ("", "it is not JSON"),
        ("{}", "not a tockmark-validation of version 2"),
        ("[]", "not a tockmark-validation of version 2"),
        (
            '{"format": "tockmark-validation", "version": 1}',
            "not a tockmark-validation of version 2",
        ),
        ('{"format": "tockmark-validation", "version": 2}', "missing required field"),
    ],
)
def test_another_file_is_refused(content: str, word: str, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(content)
    with pytest.raises(TockmarkError, match=word) as refused:
        validation.load_validation(path)
    assert "\n" not in str(refused.value)


def test_a_duplicate_row_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(validation.stored_text([ROW, EXACT, ROW]))
    with pytest.raises(TockmarkError, match="the row part: row is there twice"):
        validation.load_validation(path)


def test_json_has_each_row_with_its_verdict() -> None:
    judged = judge_rows([OUTSIDE], {OUTSIDE.key: KnownDeviation((104.0,), "why")})
    (record,) = json.loads(json.dumps(validation.validation_json(judged)))
    assert (record["name"], record["measured"]) == ("outside", [104])
    assert (record["verdict"], record["reason"]) == ("unexplained", "why")


def test_the_table_folds_good_rows_and_shows_bad_ones() -> None:
    table = validation.validation_text(
        [*judge_rows([EXACT, ROW, OUTSIDE], {}), JudgedRow(SILENT, ValidationVerdict.WRONG, "x")]
    )
    assert "4 rows" in table
    assert "2 rows" in table
    assert "exact " not in table.splitlines()[4]
    assert "WRONG (1)" in table
    assert "outside its bound" in table
    assert "4 rows: 1 exact, 1 inside, 0 unexplained, 2 WRONG" in table


def test_a_change_of_slope_is_found_at_its_size() -> None:
    sizes = range(1, 9)
    assert breaking_point(sizes, [100 * n for n in sizes]) == NONE
    assert breaking_point(sizes, [100 * n if n <= 4 else 200 * n - 100 for n in sizes]) == 4
    assert breaking_point(sizes, [101 * n + n % 2 for n in sizes]) == NONE
