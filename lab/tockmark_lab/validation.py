# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A validation compares what was expected with what was measured, row by row: here are its rows,
their judgement, their table and their file.
"""

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
from tockmark.show.text import Table, TableColumn, figures
from tockmark_lab.folders import VALIDATION

Numbers = tuple[int | float, ...]


class ValidationVerdict(StrEnum):
    """Says whether a row holds."""

    EXACT = "exact"
    INSIDE = "inside"
    UNEXPLAINED = "unexplained"
    WRONG = "WRONG"


class ValidationRow(Part, frozen=True):
    """One comparison. `measured` is empty where the program gave nothing, and `note` says why."""

    part: str
    group: str  # rows of a group that are inside their bounds are one line of the table
    name: str
    machine: str
    unit: str
    expected: Numbers
    measured: Numbers
    bound: int | float = 0  # the largest difference that is accepted
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
class Known:
    """An entry of the list of the unexplained: what was measured when it was written, and why."""

    measured: Numbers
    reason: str


@dataclass(frozen=True)
class JudgedRow:
    """A row with its verdict; the reason is the list's, or says what is wrong."""

    row: ValidationRow
    verdict: ValidationVerdict
    reason: str = ""


def load_unexplained() -> dict[str, Known]:
    """Read lab/validation/unexplained.toml, by the keys of its rows."""
    with (VALIDATION / "unexplained.toml").open("rb") as file:
        data = tomllib.load(file)
    known: dict[str, Known] = {}
    for entry in data["unexplained"]:
        for name, measured in entry["rows"].items():
            key = f"{entry['part']}: {name}"
            if key in known:
                raise TockmarkError(f"unexplained.toml names '{key}' twice")
            known[key] = Known(tuple(map(float, measured)), entry["reason"].strip())
    return known


def judge_rows(rows: list[ValidationRow], known: dict[str, Known]) -> list[JudgedRow]:
    """Judge rows. The list excuses nothing but what it knows: the same row with the same
    measurement."""
    return [JudgedRow(row, *_judge(row, known.get(row.key))) for row in rows]


def _judge(row: ValidationRow, known: Known | None) -> tuple[ValidationVerdict, str]:
    if row.inside and known is not None:
        return ValidationVerdict.WRONG, "inside its bound, but in the list of unexplained"
    if row.inside:
        exact = row.measured == row.expected
        return ValidationVerdict.EXACT if exact else ValidationVerdict.INSIDE, ""
    if known is None:
        return ValidationVerdict.WRONG, row.note or "outside its bound"
    if known.measured != row.measured:
        was = ", ".join(f"{value:g}" for value in known.measured)
        return ValidationVerdict.WRONG, f"unexplained before, but it was {was}"
    return ValidationVerdict.UNEXPLAINED, known.reason


LINE, NAMES = 112, 60  # characters of a line of text, and of its names


def validation_json(judged: list[JudgedRow]) -> list[dict[str, object]]:
    """Return every row with its verdict."""
    return [
        {**msgspec.to_builtins(item.row), "verdict": item.verdict.value, "reason": item.reason}
        for item in judged
    ]


def validation_text(judged: list[JudgedRow]) -> str:
    """Return a table with a line for each group of rows that hold and for each row that does not,
    and the reasons below it."""
    reasons: dict[str, int] = {}
    widths = {"expected": 13, "measured": 13, "verdict": 10}
    table = Table([TableColumn("", NAMES, 0, left=True), *figures(widths)], rule=LINE)
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
    said = ", ".join(f"{counts[verdict]} {verdict.value}" for verdict in ValidationVerdict)
    summary = (
        f'{len(judged)} rows: {said}. "inside": not equal, but within the bound of its part.'
        " Bounds: docs/trust.md; the unexplained: lab/validation/unexplained.toml."
    )
    lines = [*table.text(), "", *textwrap.wrap(summary, LINE)]
    for reason, number in reasons.items():
        lines += ["", *textwrap.wrap(f"({number}) {reason}", LINE, subsequent_indent="    ")]
    return "\n".join(lines).rstrip() + "\n"


def _group(
    group: list[JudgedRow], reasons: dict[str, int]
) -> Iterator[tuple[int, str, str, str, str]]:
    """Yield the lines of a group, each with the depth at which its name stands."""
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
VERSION: Literal[2] = 2  # 1 had the judgement of each row, too
ANEW = "make it anew with `tockmark-lab validate -o`"


class StoredValidation(Part, frozen=True):
    """A validation as a file, a row a line. It has no verdicts, since they follow from
    lab/validation/unexplained.toml, and no date, so that the same sources give the same file."""

    format: Literal["tockmark-validation"]
    version: Literal[2]
    compiler: str  # of the programs
    rows: tuple[ValidationRow, ...]
    # Of the simulators by machine, and of the kernel that they ran.
    sha256: dict[str, Sha256] = msgspec.field(default_factory=dict)


def stored_text(rows: list[ValidationRow], sha256: dict[str, str] | None = None) -> str:
    """Return the file of these rows, and of the hashes of what ran."""
    said = processes.run([paths.GCC, "--version"]).text
    compiler = said.splitlines()[0] if said else "unknown"
    stored = StoredValidation(FORMAT, VERSION, compiler, tuple(rows), sha256 or {})
    return documents.text_of(stored, ("rows",))


def load_validation(path: Path) -> list[ValidationRow]:
    """Read and check a stored validation."""
    rows = list(documents.read(path, StoredValidation, FORMAT, VERSION, ANEW).rows)
    twice = [key for key, times in Counter(row.key for row in rows).items() if times > 1]
    if twice:
        raise TockmarkError(f"{shown(path)}: the row {twice[0]} stands twice", ANEW)
    return rows
