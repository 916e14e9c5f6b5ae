# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Margins, limits and bounds: how much a row may differ.

- Margins (`compare --margin`) and limits (`compare --limits`, `judge`) come from options and files.
- Bounds, in boards/earlgrey-sim/bounds.toml, state the largest difference of the simulator from the
  board.

Each file has entries that select rows. If several select a row, the last one counts.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Annotated, Literal, TypeVar

import msgspec
from msgspec import Meta

from tockmark.base import paths
from tockmark.base.documents import Part, read_toml
from tockmark.base.errors import TockmarkError
from tockmark.base.paths import shown
from tockmark.result.model import Row, allowance
from tockmark.suite.catalogue import Catalogue, Params
from tockmark.suite.selection import Selection, select
from tockmark.wire.rows import SERIES

T = TypeVar("T")
Rows = Iterable[tuple[str, Params]]  # rows of results that the catalogue does not have


def last_match(row: Row, entries: Sequence[tuple[Selection, T]]) -> T | None:
    """Return the value of the last entry that selects a row, or None if none does."""
    return next((value for rows, value in reversed(entries) if rows.includes(row)), None)


@contextmanager
def _refusing(path: Path | None, fault: str, todo: str) -> Iterator[None]:
    """Turn an error in a file, or in the defaults, into a TockmarkError that says what to do."""
    try:
        yield
    except OSError as error:
        where = shown(Path(error.filename))
        raise TockmarkError(f"cannot read {where}: {error.strerror}") from error
    except (TockmarkError, ValueError) as error:
        name = shown(path) if path else "the default"
        raise TockmarkError(f"{name} {fault}: {error}", todo) from error


def percent(text: str) -> float:
    """Return `1 %` or `1%` as a number. ValueError for anything else."""
    if not text.strip().endswith("%"):
        raise ValueError(f"{text!r} is not a percentage such as '1 %'")
    value = float(text.strip().removesuffix("%")) / 100
    if not 0 <= value < math.inf:
        raise ValueError(f"{text!r} is not a percentage from 0 up")
    return value


# Margins


SIMULATOR_MARGIN, BOARD_MARGIN = 0.01, 0.05


@dataclass(frozen=True)
class Margins:
    """The smallest differences that count: for all rows, and for selected rows."""

    default: float | None = None
    rows: tuple[tuple[Selection, float], ...] = ()

    def of_row(self, row: Row, simulated: bool) -> float:
        """Return the margin of a row."""
        own = last_match(row, self.rows)
        return self.general(simulated) if own is None else own

    def general(self, simulated: bool) -> float:
        """Return the margin of rows that have none of their own."""
        if self.default is not None:
            return self.default
        return SIMULATOR_MARGIN if simulated else BOARD_MARGIN


class _MarginsFile(Part, frozen=True):
    default: str | None = None
    rows: dict[str, str] = msgspec.field(default_factory=dict)


def load_margins(option: str | None, catalogue: Catalogue, others: Rows = ()) -> Margins:
    """Read the value of --margin: a percentage, or a TOML file with `default` and `[rows]`. Rows
    are of the catalogue and `others`. TockmarkError if it is neither."""
    if option is None:
        return Margins()
    if not option.endswith(".toml"):
        try:
            return Margins(percent(option))
        except ValueError as error:
            raise TockmarkError(
                f"--margin {option} is not a margin", "give one like 1%, or a .toml file"
            ) from error
    path, others = Path(option), list(others)
    todo = "see the example in docs/reading-results.md"
    with _refusing(path, "holds no margins", todo):
        stored = msgspec.toml.decode(path.read_bytes(), type=_MarginsFile)
        rows = stored.rows.items()
        return Margins(
            None if stored.default is None else percent(stored.default),
            tuple((select(catalogue, term, others), percent(text)) for term, text in rows),
        )


# Limits


class Limit(IntEnum):
    """The limit that a change exceeds with its whole range."""

    NONE = 0
    SOFT = 1
    HARD = 2

    @property
    def word(self) -> str:
        return self.name.lower()


DEFAULTS = """\
[[limit]]
rows = ["*"]
cycles = { soft = "1 %", hard = "2 %", slack = 2 }
instructions = { soft = "0.5 %", hard = "1 %" }
"""
# The users' names of the series.
SERIES_WORDS = dict(zip(SERIES, ("cycles", "instructions"), strict=True))


@dataclass(frozen=True)
class Bound:
    """One bound of a limit: the growth allowed, as a share of the base or in counts. If both are
    given, the smaller growth counts."""

    share: float | None
    counts: float | None
    text: str

    def allowed(self, base: float) -> float:
        """Return the growth in counts that is still allowed."""
        parts = [self.share * base if self.share is not None else None, self.counts]
        return min(part for part in parts if part is not None)


@dataclass(frozen=True)
class SeriesLimits:
    """The limits of one series of selected rows. Growth by at most `slack` counts is allowed."""

    soft: Bound | None
    hard: Bound | None
    slack: float

    def exceeded(self, share: float, base: float) -> Limit:
        """Return the limit that is exceeded by growth of `base` counts by this share."""
        for bound, limit in ((self.hard, Limit.HARD), (self.soft, Limit.SOFT)):
            if bound and share * base > max(bound.allowed(base), self.slack):
                return limit
        return Limit.NONE


Counts = Annotated[float, Meta(ge=0, lt=2**32)]
StoredBound = Counts | str | list[Counts | str]


class _StoredLimits(Part, frozen=True):
    """The limits of a series in a file: each `"1 %"`, `20` counts, or a list of both."""

    soft: StoredBound | None = None
    hard: StoredBound | None = None
    slack: Counts = 0

    def limits(self) -> SeriesLimits:
        """Return the limits. ValueError if one is not valid."""
        soft, hard = (None if b is None else _bound(b) for b in (self.soft, self.hard))
        return SeriesLimits(soft, hard, self.slack)


class _LimitEntry(Part, frozen=True):
    rows: Annotated[tuple[str, ...], Meta(min_length=1)]
    cycles: _StoredLimits | None = None
    instructions: _StoredLimits | None = None

    def __post_init__(self) -> None:
        if self.cycles is self.instructions is None:
            raise ValueError("a [[limit]] limits neither cycles nor instructions")


# By the result's name of the series.
Limits = Mapping[str, Sequence[tuple[Selection, SeriesLimits]]]


def load_limits(path: Path | None, catalogue: Catalogue, others: Rows = ()) -> Limits:
    """Read the limits of a file, or the defaults, for rows of the catalogue and `others`.
    TockmarkError if the file has another form."""
    others = list(others)
    limits: dict[str, list[tuple[Selection, SeriesLimits]]] = {series: [] for series in SERIES}
    todo = "see the example in docs/reading-results.md"
    with _refusing(path, "holds no limits", todo):
        content = DEFAULTS if path is None else path.read_bytes()
        stored = msgspec.toml.decode(content, type=dict[Literal["limit"], list[_LimitEntry]])
        for entry in stored.get("limit", ()):
            selections = [select(catalogue, row, others) for row in entry.rows]
            for series, word in SERIES_WORDS.items():
                if (own := getattr(entry, word)) is not None:
                    limits[series] += [(selection, own.limits()) for selection in selections]
        if not any(limit.soft or limit.hard for entries in limits.values() for _, limit in entries):
            raise ValueError("no [[limit]] has a soft or a hard bound")
    return limits


def _bound(value: StoredBound) -> Bound:
    """Read `"1 %"`, `20` counts, or a list of both."""
    parts = value if isinstance(value, list) else [value]
    shares = [percent(part) for part in parts if isinstance(part, str)]
    counts = [part for part in parts if not isinstance(part, str)]
    if not parts or len(shares) > 1 or len(counts) > 1:
        raise ValueError(f"{value!r} is not one percentage, one count, or one of each")
    text = " and ".join(
        [*(f"{share * 100:g} %" for share in shares), *(f"{count:g}" for count in counts)]
    )
    return Bound(shares[0] if shares else None, counts[0] if counts else None, text)


# Bounds of the simulator


BOUNDS = paths.SIMULATOR / "bounds.toml"

NotNegative = Annotated[float, Meta(ge=0)]


class SimulatorBound(Part, frozen=True):
    """The stated bound of some rows: a sample may be off by the larger of the two figures."""

    rows: tuple[str, ...]
    basis: Literal["measured", "claimed"]
    why: str
    relative: NotNegative | None = None  # of the net cycles
    cycles: NotNegative | None = None
    instructions: Annotated[int, Meta(ge=0)] = 0

    def __post_init__(self) -> None:
        if (self.relative is None) != (self.cycles is None):
            raise ValueError(f"{', '.join(self.rows)}: only one of relative and cycles is given")

    def allowed(self, row: Row) -> float | None:
        """Return the largest allowed error of a row's net in cycles; None if no figures are stated.
        In a slope, the passes share the error of a sample, and counter reads add none."""
        series = row.cycles
        if self.relative is None or self.cycles is None:
            return None
        if series is None or series.net is None:
            return 0
        if series.is_slope:
            cycles = self.cycles / max(row.passes, 1)
        else:
            cycles = max(self.cycles, allowance(row.icache, series.reading))
        return max(self.relative * abs(series.net), cycles)


class _Machine(Part, frozen=True):
    name: str
    bound: tuple[SimulatorBound, ...]


Bounds = Sequence[tuple[Selection, SimulatorBound]]


def load_bounds(machine: str, catalogue: Catalogue, path: Path = BOUNDS) -> Bounds:
    """Read the bounds of a machine. TockmarkError if it has none, or the file is damaged."""
    kind = dict[Literal["machine"], list[_Machine]]
    stored = read_toml(path, kind, "does not follow its form", "restore it from git")
    stated = {entry.name: entry.bound for entry in stored.get("machine", ())}
    if machine not in stated:
        raise TockmarkError(
            f"{shown(path)} states no bound for the machine '{machine}'",
            f"give a result of one of these: {', '.join(stated)}",
        )
    return [(select(catalogue, ",".join(bound.rows)), bound) for bound in stated[machine]]
