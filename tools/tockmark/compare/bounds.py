# SPDX-License-Identifier: Apache-2.0 OR MIT
"""How far the simulator may be from the board, as validation/bounds.toml states it: by machine and
by rows, each with its reason.
"""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from tockmark import paths
from tockmark.errors import TockmarkError
from tockmark.result.model import Row, allowance
from tockmark.suite.catalogue import Catalogue
from tockmark.suite.selection import Selection, select

FILE = paths.VALIDATION / "bounds.toml"

Least = Annotated[float, Meta(ge=0)]


class _BoundsPart(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What all parts of the file have in common."""


class Figures(_BoundsPart, frozen=True):
    """The larger of the two, on a whole sample."""

    relative: Least  # of the net cycles
    cycles: Least


class SimulatorBound(_BoundsPart, frozen=True):
    """What is stated of some rows."""

    rows: tuple[str, ...]
    basis: Literal["measured", "claimed"]
    why: str
    relative: Least | None = None
    cycles: Least | None = None
    source: str | None = msgspec.field(default=None, name="from")
    instructions: Annotated[int, Meta(ge=0)] = 0

    @property
    def figures(self) -> Figures | None:
        """None: no bound is stated."""
        if self.relative is None or self.cycles is None:
            return None
        return Figures(self.relative, self.cycles)


class _Machine(_BoundsPart, frozen=True):
    name: str
    bound: tuple[SimulatorBound, ...]


class _File(_BoundsPart, frozen=True):
    machine: tuple[_Machine, ...]


@dataclass(frozen=True)
class Bounds:
    """Those of one machine."""

    machine: str
    entries: tuple[tuple[Selection, SimulatorBound], ...]

    def of(self, row: Row) -> SimulatorBound | None:
        """The last that means this row."""
        meant = [
            bound
            for rows, bound in self.entries
            if rows.fits(row.id, row.params, row.icache, row.lang)
        ]
        return meant[-1] if meant else None


def allowed(figures: Figures, row: Row) -> float:
    """The cycles by which a row's net may be off. What a sample may be off by is shared by the
    passes of a slope, and that of readings is no part of one."""
    series = row.cycles
    if series is None or series.net is None:
        return 0
    if series.is_slope:
        off = figures.cycles / max(row.passes, 1)
    else:
        off = max(figures.cycles, allowance(row.icache, series.reading))
    return max(figures.relative * abs(series.net), off)


def load(machine: str, catalogue: Catalogue, path: Path = FILE) -> Bounds:
    """What is stated of a machine. TockmarkError if that is nothing, or the file is damaged."""
    try:
        stated = msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), _File).machine
        found = {one.name: one.bound for one in stated}
        if machine not in found:
            raise TockmarkError(
                f"{paths.shown(path)} states no bound for the machine '{machine}'",
                f"it has {', '.join(found)}",
            )
        return Bounds(
            machine,
            tuple(
                (select(catalogue, ",".join(bound.rows)), _whole(bound, path.parent))
                for bound in found[machine]
            ),
        )
    except OSError as error:
        raise TockmarkError(f"cannot read {error.filename}: {error.strerror}") from error
    except (KeyError, ValueError, msgspec.ValidationError) as error:  # TOML's own is a ValueError
        raise TockmarkError(f"{paths.shown(path)} does not follow its form: {error}") from error


def _whole(bound: SimulatorBound, folder: Path) -> SimulatorBound:
    """With the figures of the file that it names. ValueError if it has half of them."""
    given = (bound.relative, bound.cycles)
    if bound.source is not None:
        if given != (None, None):
            raise ValueError(f"the bound of {', '.join(bound.rows)} has figures, and names a file")
        data = tomllib.loads((folder / bound.source).read_text(encoding="utf-8"))
        found = msgspec.convert(data["bound"], Figures)
        return msgspec.structs.replace(bound, relative=found.relative, cycles=found.cycles)
    if (bound.relative is None) != (bound.cycles is None):
        raise ValueError(f"the bound of {', '.join(bound.rows)} has one of relative and cycles")
    return bound
