# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A row: what was expected, what was measured, how far apart they may be, and the judgement."""

import tomllib
from dataclasses import dataclass
from enum import StrEnum

from tockmark import paths
from tockmark.errors import TockmarkError
from tockmark.result.provenance import Part

Numbers = tuple[int | float, ...]


class Verdict(StrEnum):
    """What a row comes to."""

    EXACT = "exact"
    INSIDE = "inside"
    UNEXPLAINED = "unexplained"
    WRONG = "WRONG"


class Row(Part, frozen=True):
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
class Judged:
    """A row and what it comes to; the reason is that of the list, or what is wrong."""

    row: Row
    verdict: Verdict
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


def judge(rows: list[Row], known: dict[str, Known]) -> list[Judged]:
    """The list excuses nothing but what it knows: the same row with the same measurement."""
    return [_judge(row, known.get(row.key)) for row in rows]


def _judge(row: Row, known: Known | None) -> Judged:
    if row.inside:
        if known is not None:
            return Judged(row, Verdict.WRONG, "inside its bound, but in the list of unexplained")
        return Judged(row, Verdict.EXACT if row.measured == row.expected else Verdict.INSIDE)
    if known is None:
        return Judged(row, Verdict.WRONG, row.note or "outside its bound")
    if known.measured != row.measured:
        was = ", ".join(f"{value:g}" for value in known.measured)
        return Judged(row, Verdict.WRONG, f"unexplained before, but it was {was}")
    return Judged(row, Verdict.UNEXPLAINED, known.reason)
