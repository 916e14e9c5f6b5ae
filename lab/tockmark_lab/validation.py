# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The rows of a validation: their verdicts, their table and their file. A validation compares
expected with measured values, row by row."""

import textwrap
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from pathlib import Path
from typing import Literal

import msgspec

from tockmark.base import documents, paths, processes
from tockmark.base.documents import Part, Sha256
from tockmark.base.errors import TockmarkError
from tockmark.base.paths import shown
from tockmark.show import text
from tockmark.show.text import Table, TableColumn, figures
from tockmark_lab.folders import VALIDATION

Numbers = tuple[int | float, ...]


class ValidationVerdict(StrEnum):
    """The verdict on a row."""

    EXACT = "exact"
    INSIDE = "inside"
    UNEXPLAINED = "unexplained"
    WRONG = "WRONG"


class ValidationRow(Part, frozen=True):
    """One comparison. If `measured` is empty, the program gave nothing, and `note` says why."""

    part: str
    group: str  # rows of a group that are within their bounds share a line of the table
    name: str
    machine: str
    unit: str
    expected: Numbers
    measured: Numbers
    bound: int | float = 0  # the largest accepted difference
    source: str = ""
    note: str = ""

    @property
    def key(self) -> str:
        return f"{self.part}: {self.name}"

    @property
    def inside(self) -> bool:
        return 0 < len(self.expected) == len(self.measured) and all(
            abs(m - e) <= self.bound for e, m in zip(self.expected, self.measured, strict=True)
        )


@dataclass(frozen=True)
class KnownDeviation:
    """An entry of unexplained.toml: the value measured when it was written, and its explanation."""

    measured: Numbers
    reason: str


@dataclass(frozen=True)
class JudgedRow:
    """A row with its verdict. The reason is its entry's reason, or what is wrong."""

    row: ValidationRow
    verdict: ValidationVerdict
    reason: str = ""


def load_unexplained() -> dict[str, KnownDeviation]:
    """Read lab/validation/unexplained.toml. Return its entries by the keys of their rows."""
    with (VALIDATION / "unexplained.toml").open("rb") as file:
        data = tomllib.load(file)
    deviations: dict[str, KnownDeviation] = {}
    for entry in data["unexplained"]:
        for name, measured in entry["rows"].items():
            key = f"{entry['part']}: {name}"
            if key in deviations:
                raise TockmarkError(f"unexplained.toml names '{key}' twice", "delete one of them")
            deviations[key] = KnownDeviation(tuple(map(float, measured)), entry["reason"].strip())
    return deviations


def judge_rows(rows: list[ValidationRow], deviations: dict[str, KnownDeviation]) -> list[JudgedRow]:
    """Judge rows. An entry excuses only its own row with its own measurement."""
    return [JudgedRow(row, *_judge(row, deviations.get(row.key))) for row in rows]


def _judge(row: ValidationRow, deviation: KnownDeviation | None) -> tuple[ValidationVerdict, str]:
    if row.inside and deviation is not None:
        return ValidationVerdict.WRONG, "within its bound, but listed in unexplained.toml"
    if row.inside:
        exact = row.measured == row.expected
        return ValidationVerdict.EXACT if exact else ValidationVerdict.INSIDE, ""
    if deviation is None:
        return ValidationVerdict.WRONG, row.note or "outside its bound"
    if deviation.measured != row.measured:
        was = ", ".join(f"{value:g}" for value in deviation.measured)
        return ValidationVerdict.WRONG, f"unexplained.toml lists another value, {was}"
    return ValidationVerdict.UNEXPLAINED, deviation.reason


NAMES = 60  # characters of a line of a name


def validation_json(judged: list[JudgedRow]) -> list[dict[str, object]]:
    """Return every row with its verdict as JSON."""
    return [
        {**msgspec.to_builtins(item.row), "verdict": item.verdict.value, "reason": item.reason}
        for item in judged
    ]


def validation_text(judged: list[JudgedRow]) -> str:
    """Format a table with a line for each group of rows that hold and for each row that does not,
    and the reasons below it."""
    reasons: dict[str, int] = {}
    widths = {"expected": 13, "measured": 13, "verdict": 10}
    table = Table([TableColumn("", NAMES, 0, left=True), *figures(widths)])
    for part, items in groupby(judged, key=lambda item: item.row.part):
        table.add(part)
        groups: dict[tuple[str, str], list[JudgedRow]] = {}
        for item in items:
            groups.setdefault((item.row.group, item.row.machine), []).append(item)
        for group in groups.values():
            for depth, name, *cells in _group(group, reasons):
                indent = "  " * depth
                *above, last = textwrap.wrap(
                    name, NAMES, initial_indent=indent, subsequent_indent=f"{indent}  "
                )
                for line in above:  # a long name continues above its numbers
                    table.add(line)
                table.add(last, *cells)
    counts = Counter(item.verdict for item in judged)
    verdicts = ", ".join(f"{counts[verdict]} {verdict.value}" for verdict in ValidationVerdict)
    summary = (
        f'{len(judged)} rows: {verdicts}. "inside": not equal, but within the bound of its part.'
        " Bounds: docs/trust.md; unexplained rows: lab/validation/unexplained.toml."
    )
    lines = [*table.text(), "", *text.wrap(summary, "")]
    for reason, number in reasons.items():
        lines += ["", *text.wrap(f"({number}) {reason}")]
    return "\n".join(lines).rstrip() + "\n"


def _group(
    group: list[JudgedRow], reasons: dict[str, int]
) -> Iterator[tuple[int, str, str, str, str]]:
    """Yield the lines of a group, each with the depth of its name."""
    first, several = group[0].row, len(group) > 1
    good = [item for item in group if item.row.inside]
    if several:
        exact = all(item.verdict is ValidationVerdict.EXACT for item in good)
        rows = f"{len(group)} rows", f"{len(good)} rows"
        yield 1, first.group, *rows, "exact" if exact else "inside"
    elif good:
        yield 1, first.group, *_numbers(first), group[0].verdict
    for item in group:
        if not item.row.inside:
            number = reasons.setdefault(item.reason, len(reasons) + 1)
            word = "WRONG" if item.verdict is ValidationVerdict.WRONG else "unexpl."
            name = item.row.name if several else first.group
            yield 1 + several, name, *_numbers(item.row), f"{word} ({number})"


def _numbers(row: ValidationRow) -> tuple[str, str]:
    expected, measured = (
        " / ".join(f"{value:g}" for value in values) or "nothing"
        for values in (row.expected, row.measured)
    )
    return expected, measured


FORMAT: Literal["tockmark-validation"] = "tockmark-validation"
VERSION: Literal[2] = 2  # version 1 also had the verdict of each row
ANEW = "make it again with `tockmark-lab validate -o`"


class StoredValidation(Part, frozen=True):
    """A validation as a file, one row per line. It has no verdicts, since these follow from
    lab/validation/unexplained.toml, and no date, so the same sources give the same file."""

    format: Literal["tockmark-validation"]
    version: Literal[2]
    compiler: str  # of the programs
    rows: tuple[ValidationRow, ...]
    # Hashes of the simulators, by machine, and of the kernel that they ran.
    sha256: dict[str, Sha256] = msgspec.field(default_factory=dict)


def stored_text(rows: list[ValidationRow], sha256: dict[str, str] | None = None) -> str:
    """Return the content of the file with these rows, and the hashes of what ran."""
    version = processes.run([paths.GCC, "--version"]).text
    compiler = version.splitlines()[0] if version else "unknown"
    stored = StoredValidation(FORMAT, VERSION, compiler, tuple(rows), sha256 or {})
    return documents.text_of(stored, ("rows",))


def load_validation(path: Path) -> list[ValidationRow]:
    """Read and check a stored validation."""
    rows = list(documents.read(path, StoredValidation, FORMAT, VERSION, ANEW).rows)
    twice = [key for key, times in Counter(row.key for row in rows).items() if times > 1]
    if twice:
        raise TockmarkError(f"{shown(path)}: the row {twice[0]} is there twice", ANEW)
    return rows
