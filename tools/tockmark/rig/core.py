# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The core of a simulated machine, where it is not the machine's own.

A simulator of another core has a core.toml beside it, which its build wrote
(boards/earlgrey-sim/cores.py). Such a machine was compared with nothing, whatever the profile of
the board says of its timing.
"""

import tomllib
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from tockmark.documents import Part
from tockmark.errors import TockmarkError
from tockmark.files import reading
from tockmark.paths import shown

BitManip = Literal["none", "balanced", "otearlgrey", "full"]


class Core(Part, frozen=True):
    """A core in the place of the machine's own; what a user's core does not say is None."""

    name: str  # of Ibex's configuration, or of the folder of a user's core
    bitmanip: BitManip
    pmp_regions: Annotated[int, Meta(ge=0, le=64)]  # 0: it has no PMP
    icache: bool
    foreign: bool = False  # a user's own RTL
    multiplier: Literal["none", "slow", "fast", "single-cycle"] | None = None
    branch_target_alu: bool | None = None
    writeback_stage: bool | None = None
    branch_predictor: bool | None = None

    @property
    def title(self) -> str:
        """The core in words, as every heading says it."""
        return f"{self.name} (a user's own)" if self.foreign else self.name


def beside(binary: Path) -> Core | None:
    """Return the core of a simulator by what its build says; None: it is the machine's own."""
    path = binary.with_name("core.toml")
    if not path.exists():
        return None
    try:
        with reading(path):
            said = tomllib.loads(path.read_text(encoding="utf-8"))
        return msgspec.convert(said, Core)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, msgspec.ValidationError) as error:
        raise TockmarkError(
            f"{shown(path)} does not say which core this is: {error}", "build the simulator anew"
        ) from error


def core_of(target: object) -> Core | None:
    """Return the core of a target; None: the machine's own, as of all but some simulators."""
    found: Core | None = getattr(target, "core", None)
    return found
