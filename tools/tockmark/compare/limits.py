# SPDX-License-Identifier: Apache-2.0 OR MIT
"""How much a row may differ, as files say it: the margins and limits of `compare` and `judge`, and
how far the simulator may be from the board, as boards/earlgrey-sim/bounds.toml states it.

Each file has entries for some rows; where several mean a row, the last one counts.
"""

import math
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Annotated, Literal, TypeVar

import msgspec
from msgspec import Meta

from tockmark.base import paths
from tockmark.base.errors import TockmarkError
from tockmark.base.files import toml
from tockmark.base.paths import shown
from tockmark.result.model import Row, allowance
from tockmark.suite.catalogue import Catalogue, Params
from tockmark.suite.selection import Selection, select
from tockmark.wire.rows import SERIES

T = TypeVar("T")
Rows = Iterable[tuple[str, Params]]  # that results have besides the catalogue's


def last_match(row: Row, entries: Sequence[tuple[Selection, T]]) -> T | None:
    """Return the value of the last entry that selects a row, or None if none does."""
    return next((value for meant, value in reversed(entries) if meant.includes(row)), None)


@contextmanager
def _refusing(
    path: Path | None, fault: str, todo: str = "", *also: type[Exception]
) -> Iterator[None]:
    """Turn what is wrong with a file, or with the defaults, into one line that says what to do."""
    faults: tuple[type[Exception], ...] = (KeyError, ValueError, msgspec.ValidationError, *also)
    try:
        yield
    except OSError as error:
        where = shown(Path(error.filename))
        raise TockmarkError(f"cannot read {where}: {error.strerror}") from error
    except faults as error:
        name = shown(path) if path else "the default"
        raise TockmarkError(f"{name} {fault}: {error}", todo) from error


def _known_keys(data: Mapping[str, object], known: Iterable[str], where: str = "") -> None:
    """Raise a ValueError if a table has another key than these."""
    if extra := sorted(set(data) - set(known)):
        raise ValueError(f"unknown key {extra[0]!r}{where}")


def percent(text: object) -> float:
    """Return `1 %` or `1%` as a number; anything else is a ValueError."""
    if not isinstance(text, str) or not text.strip().endswith("%"):
        raise ValueError(f"{text!r} is not a percentage such as '1 %'")
    value = float(text.strip().removesuffix("%")) / 100
    if not 0 <= value < math.inf:
        raise ValueError(f"{text!r} is not a percentage from 0 up")
    return value


# Margins


SIMULATOR_MARGIN, BOARD_MARGIN = 0.01, 0.05


@dataclass(frozen=True)
class Margins:
    """How much is too little to matter: for all rows, and for those that are selected."""

    default: float | None = None
    rows: tuple[tuple[Selection, float], ...] = ()

    def of_row(self, row: Row, simulated: bool) -> float:
        """Return the margin of a row."""
        own = last_match(row, self.rows)
        return self.general(simulated) if own is None else own

    def general(self, simulated: bool) -> float:
        """Return the margin of the rows that have none of their own."""
        if self.default is not None:
            return self.default
        return SIMULATOR_MARGIN if simulated else BOARD_MARGIN


def load_margins(option: str | None, catalogue: Catalogue, others: Rows = ()) -> Margins:
    """Read what was given to --margin: a percentage, or a TOML file with `default` and `[rows]`,
    which are those of the catalogue and `others`."""
    if option is None:
        return Margins()
    if not option.endswith(".toml"):
        try:
            return Margins(percent(option))
        except ValueError as error:
            raise TockmarkError(
                f"--margin {option} is no margin", "give one like 1%, or a .toml file"
            ) from error
    path, others = Path(option), list(others)
    todo = "docs/reading-results.md shows such a file"
    with _refusing(path, "holds no margins", todo, TockmarkError):
        data = toml(path.read_text(encoding="utf-8"))
        _known_keys(data, ["default", "rows"])
        rows = data.get("rows", {})
        if not isinstance(rows, dict):
            raise ValueError("rows is not a table of terms")
        return Margins(
            percent(data["default"]) if "default" in data else None,
            tuple((select(catalogue, term, others), percent(text)) for term, text in rows.items()),
        )


# Limits


class Limit(IntEnum):
    """Which limit a change is beyond with its whole range."""

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
instructions = { soft = "0.5 %", hard = "1 %", slack = 2 }
"""
# What users call the series that a result has.
SERIES_WORDS = dict(zip(SERIES, ("cycles", "instructions"), strict=True))


@dataclass(frozen=True)
class Bound:
    """One bound of a limit: growth by more than a share of the base, or by more than so many
    counts. If both are given, the smaller growth counts."""

    share: float | None
    counts: float | None
    text: str

    def allowed(self, base: float) -> float:
        """Return the growth that is still allowed."""
        parts = [self.share * base if self.share is not None else None, self.counts]
        return min(part for part in parts if part is not None)


@dataclass(frozen=True)
class SeriesLimits:
    """The limits of one series of the rows that are selected. Growth by no more than `slack` counts
    is never too much."""

    soft: Bound | None
    hard: Bound | None
    slack: float

    def exceeded(self, share: float, base: float) -> Limit:
        """Return the limit that growth by a share of `base` counts exceeds."""
        for bound, limit in ((self.hard, Limit.HARD), (self.soft, Limit.SOFT)):
            if bound and share * base > max(bound.allowed(base), self.slack):
                return limit
        return Limit.NONE


# By series, as the result calls them.
Limits = Mapping[str, Sequence[tuple[Selection, SeriesLimits]]]


def load_limits(path: Path | None, catalogue: Catalogue, others: Rows = ()) -> Limits:
    """Read the limits of a file, or the default ones, for rows of the catalogue and `others`."""
    others = list(others)
    limits: dict[str, list[tuple[Selection, SeriesLimits]]] = {series: [] for series in SERIES}
    todo = "docs/reading-results.md shows such a file"
    with _refusing(path, "holds no limits", todo, TockmarkError):
        data = toml(DEFAULTS if path is None else path.read_text(encoding="utf-8"))
        _known_keys(data, ["limit"])
        entries = data.get("limit")
        if not isinstance(entries, list) or not entries:
            raise ValueError("there is no [[limit]]")
        for entry in entries:
            rows, own = _entry(entry)
            meant = [select(catalogue, row, others) for row in rows]
            for series, limit in own.items():
                limits[series] += [(selection, limit) for selection in meant]
        if not any(one.soft or one.hard for some in limits.values() for _, one in some):
            raise ValueError("no [[limit]] has a soft or a hard one")
    return limits


def _entry(entry: object) -> tuple[list[str], dict[str, SeriesLimits]]:
    """Return the terms of a [[limit]], and its limits by series."""
    if not isinstance(entry, dict):
        raise ValueError(f"{entry!r} is no [[limit]]")
    _known_keys(entry, ["rows", *SERIES_WORDS.values()], " in [[limit]]")
    rows = entry.get("rows")
    if not (isinstance(rows, list) and rows and all(isinstance(row, str) for row in rows)):
        raise ValueError("rows is not a list of terms")
    limits = {name: _limit(entry[word]) for name, word in SERIES_WORDS.items() if word in entry}
    if not limits:
        raise ValueError(f"a [[limit]] limits neither {' nor '.join(SERIES_WORDS.values())}")
    return rows, limits


def _limit(entry: object) -> SeriesLimits:
    if not isinstance(entry, dict):
        raise ValueError(f"{entry!r} is not a limit")
    _known_keys(entry, ["soft", "hard", "slack"], " in a limit")
    soft, hard = (_bound(entry[name]) if name in entry else None for name in ("soft", "hard"))
    return SeriesLimits(soft, hard, _counts(entry.get("slack", 0)))


def _bound(value: object) -> Bound:
    """Read `"1 %"`, `20` counts, or a list of both."""
    parts = value if isinstance(value, list) else [value]
    shares = [percent(part) for part in parts if isinstance(part, str)]
    counts = [_counts(part) for part in parts if not isinstance(part, str)]
    if not parts or len(shares) > 1 or len(counts) > 1:
        raise ValueError(f"{value!r} is not one percentage, one count, or one of each")
    text = " and ".join(
        [*(f"{share * 100:g} %" for share in shares), *(f"{count:g}" for count in counts)]
    )
    return Bound(shares[0] if shares else None, counts[0] if counts else None, text)


def _counts(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 2**32:
        raise ValueError(f"{value!r} is not a count")
    return value


# Bounds of the simulator


BOUNDS = paths.SIMULATOR / "bounds.toml"

NotNegative = Annotated[float, Meta(ge=0)]


class _BoundsPart(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A part of the file with the bounds, in which no unknown key may stand."""


class SimulatorBound(_BoundsPart, frozen=True):
    """What is stated of some rows: by how much a whole sample may be off, if any figures are, is
    the larger of two."""

    rows: tuple[str, ...]
    basis: Literal["measured", "claimed"]
    why: str
    relative: NotNegative | None = None  # of the net cycles
    cycles: NotNegative | None = None
    instructions: Annotated[int, Meta(ge=0)] = 0

    def allowed(self, row: Row) -> float | None:
        """Return the cycles by which a row's net may be off; None if no figures are stated. What a
        sample may be off by is shared by the passes of a slope, and what readings may be off by is
        no part of one."""
        series = row.cycles
        if self.relative is None or self.cycles is None:
            return None
        if series is None or series.net is None:
            return 0
        if series.is_slope:
            off = self.cycles / max(row.passes, 1)
        else:
            off = max(self.cycles, allowance(row.icache, series.reading))
        return max(self.relative * abs(series.net), off)


class _Machine(_BoundsPart, frozen=True):
    name: str
    bound: tuple[SimulatorBound, ...]


class _BoundsFile(_BoundsPart, frozen=True):
    machine: tuple[_Machine, ...]


Bounds = Sequence[tuple[Selection, SimulatorBound]]


def load_bounds(machine: str, catalogue: Catalogue, path: Path = BOUNDS) -> Bounds:
    """Read the bounds of a machine. TockmarkError if none is stated, or the file is damaged."""
    with _refusing(path, "does not follow its form"):
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        stated = {one.name: one.bound for one in msgspec.convert(data, _BoundsFile).machine}
        bounds = [_checked(bound) for bound in stated.get(machine, ())]
    if machine not in stated:
        raise TockmarkError(
            f"{shown(path)} states no bound for the machine '{machine}'",
            f"it has {', '.join(stated)}",
        )
    return [(select(catalogue, ",".join(bound.rows)), bound) for bound in bounds]


def _checked(bound: SimulatorBound) -> SimulatorBound:
    """Return the bound. ValueError if it has one of relative and cycles without the other."""
    if (bound.relative is None) != (bound.cycles is None):
        raise ValueError(f"the bound of {', '.join(bound.rows)} has one of relative and cycles")
    return bound
