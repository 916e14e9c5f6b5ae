# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A row: what was expected, what was measured, how far apart they may be, and the judgement."""

import subprocess
import textwrap
import tomllib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from pathlib import Path
from typing import Literal

import msgspec

from tockmark import documents, paths
from tockmark.documents import Part
from tockmark.errors import TockmarkError
from tockmark.paths import shown
from tockmark.rig.image import GCC

Numbers = tuple[int | float, ...]


class ValidationVerdict(StrEnum):
    """What a row comes to."""

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
        return len(self.expected) == len(self.measured) and all(
            abs(m - e) <= self.bound for e, m in zip(self.expected, self.measured, strict=True)
        )


@dataclass(frozen=True)
class Known:
    """An entry of the list of the unexplained: what was measured when it was written, and why."""

    measured: Numbers
    reason: str


@dataclass(frozen=True)
class JudgedRow:
    """A row and what it comes to; the reason is that of the list, or what is wrong."""

    row: ValidationRow
    verdict: ValidationVerdict
    reason: str = ""


def load_unexplained() -> dict[str, Known]:
    """validation/unexplained.toml, by the keys of its rows."""
    with (paths.VALIDATION / "unexplained.toml").open("rb") as file:
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
    """The list excuses nothing but what it knows: the same row with the same measurement."""
    return [_judge(row, known.get(row.key)) for row in rows]


def _judge(row: ValidationRow, known: Known | None) -> JudgedRow:
    if row.inside:
        if known is not None:
            return JudgedRow(
                row, ValidationVerdict.WRONG, "inside its bound, but in the list of unexplained"
            )
        return JudgedRow(
            row,
            ValidationVerdict.EXACT if row.measured == row.expected else ValidationVerdict.INSIDE,
        )
    if known is None:
        return JudgedRow(row, ValidationVerdict.WRONG, row.note or "outside its bound")
    if known.measured != row.measured:
        was = ", ".join(f"{value:g}" for value in known.measured)
        return JudgedRow(row, ValidationVerdict.WRONG, f"unexplained before, but it was {was}")
    return JudgedRow(row, ValidationVerdict.UNEXPLAINED, known.reason)


# The table of a validation, and the same for other programs.


LINE = 112
WIDTHS = (60, 13, 13, 10)


def validation_json(judged: list[JudgedRow]) -> list[dict[str, object]]:
    """Return every row with its verdict."""
    return [
        {**msgspec.to_builtins(item.row), "verdict": item.verdict.value, "reason": item.reason}
        for item in judged
    ]


def validation_text(judged: list[JudgedRow]) -> str:
    """One table: a line a group of rows that hold, a line a row that does not, then the reasons."""
    reasons: dict[str, int] = {}
    lines = [_cells("", "expected", "measured", "verdict"), "-" * LINE]
    for part, items in groupby(judged, key=lambda item: item.row.part):
        lines.append(part)
        groups: dict[tuple[str, str], list[JudgedRow]] = {}
        for item in items:
            groups.setdefault((item.row.group, item.row.machine), []).append(item)
        for group in groups.values():
            lines += _group(group, reasons)
    lines += ["", *_summary(judged)]
    for reason, number in reasons.items():
        lines += ["", *textwrap.wrap(f"({number}) {reason}", LINE, subsequent_indent="    ")]
    return "\n".join(lines).rstrip() + "\n"


def _group(group: list[JudgedRow], reasons: dict[str, int]) -> list[str]:
    good = [item for item in group if item.row.inside]
    title = f"  {group[0].row.group}"
    if len(group) == 1 and good:
        row = group[0].row
        return _wrapped(title, _numbers(row.expected), _numbers(row.measured), group[0].verdict)
    lines = []
    if len(group) > 1:
        verdict = "exact" if all(i.verdict is ValidationVerdict.EXACT for i in good) else "inside"
        lines += _wrapped(title, f"{len(group)} rows", f"{len(good)} rows", verdict)
    for item in group:
        if not item.row.inside:
            number = reasons.setdefault(item.reason, len(reasons) + 1)
            name = title if len(group) == 1 else f"    {item.row.name}"
            word = "WRONG" if item.verdict is ValidationVerdict.WRONG else "unexpl."
            lines += _wrapped(
                name, _numbers(item.row.expected), _numbers(item.row.measured), f"{word} ({number})"
            )
    return lines


def _summary(judged: Iterable[JudgedRow]) -> list[str]:
    counts = Counter(item.verdict for item in judged)
    total = sum(counts.values())
    said = ", ".join(f"{counts[verdict]} {verdict.value}" for verdict in ValidationVerdict)
    return textwrap.wrap(
        f'{total} rows: {said}. "inside": not equal, but within the bound of its part.'
        " Bounds: docs/validation.md; the unexplained: validation/unexplained.toml.",
        LINE,
    )


def _wrapped(name: str, *cells: str) -> list[str]:
    """A line of the table; a long name continues above its numbers."""
    *above, last = textwrap.wrap(
        name.strip(),
        WIDTHS[0],
        initial_indent=" " * (len(name) - len(name.lstrip())),
        subsequent_indent=" " * (len(name) - len(name.lstrip()) + 2),
    )
    return [*above, _cells(last, *cells)]


def _cells(*cells: str) -> str:
    first, *rest = cells
    tail = " ".join(f"{cell:>{width}}" for cell, width in zip(rest, WIDTHS[1:], strict=True))
    return f"{first:{WIDTHS[0]}} {tail}".rstrip()


def _numbers(values: Numbers) -> str:
    return " / ".join(f"{value:g}" for value in values) or "nothing"


# A validation as a file: what was expected and what was measured, a row a line.
#
# What a row comes to is not in it: that follows from validation/unexplained.toml as it is now
# (row.py judges). No date: the same sources give the same file.


FORMAT: Literal["tockmark-validation"] = "tockmark-validation"
VERSION: Literal[2] = 2  # 1 had the judgement of each row, too
ANEW = "make it anew with `tockmark validate -o`"


class StoredValidation(Part, frozen=True):
    """The whole file."""

    format: Literal["tockmark-validation"]
    version: Literal[2]
    compiler: str  # of the programs
    rows: tuple[ValidationRow, ...]


def stored_text(rows: list[ValidationRow]) -> str:
    """The rows as the file holds them."""
    return documents.text_of(StoredValidation(FORMAT, VERSION, _compiler(), tuple(rows)), ("rows",))


def load_validation(path: Path) -> list[ValidationRow]:
    """Read and check a stored validation."""
    rows = list(documents.read(path, StoredValidation, FORMAT, VERSION, ANEW).rows)
    twice = [key for key, times in Counter(row.key for row in rows).items() if times > 1]
    if twice:
        raise TockmarkError(f"{shown(path)}: the row {twice[0]} stands twice", ANEW)
    return rows


def _compiler() -> str:
    done = subprocess.run([GCC, "--version"], capture_output=True, text=True, check=False)
    return done.stdout.splitlines()[0] if done.stdout else "unknown"
