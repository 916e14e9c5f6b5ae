# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The interface of a target: what runs a boot.

A target is a simulator, a board behind a serial port, QEMU, or a log. The table [target] of a board
profile names a kind, which is a module of target/ with a class `Target`, and is read into that
class. Verbs use only this interface.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Protocol, Self

from tockmark.base.errors import INCOMPLETE, TockmarkError
from tockmark.result.provenance import Core
from tockmark.wire.captured import Captured, Ending


class Ability(StrEnum):
    """What some targets can do and others cannot. The values complete "a target that …"."""

    CYCLES = "counts cycles that are the chip's"
    ICACHE = "lets the instruction cache be switched"
    MARKS = "has its own clock, which sees interrupts"
    PARALLEL = "runs several boots at a time"
    RETIREMENT = "traces every retired instruction"


@dataclass(frozen=True)
class Start:
    """A boot to run."""

    name: str  # of the boot, for people
    flash: Path  # the whole flash image
    icache: bool
    marks: tuple[str, ...] = ()  # options for a simulator that has Ability.MARKS (target/run.py)
    image: str | None = None  # the image id in the app's `begin`, if known
    boot: str = ""  # its name in the catalogue
    load: Callable[[], bool] | None = None  # loads the board; False: a person was asked to do it
    reporter: str | None = None  # the app whose `end` ends the suite; None: the apps announce it
    panics: tuple[int, ...] = ()  # addresses where the kernel's panic begins (target/kernel.py)


class LostError(TockmarkError):
    """No worker can finish a boot. It ends the run."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem, "run it again: finished boots are cached", INCOMPLETE)


class Session(Protocol):
    """A boot that is running or has ended."""

    @property
    def cycles(self) -> int:
        """The cycles so far by the target's own clock; 0 if it has none."""

    def lines(self) -> Iterator[str]:
        """Yield the lines of the log (latin-1, without newlines) as they arrive, until the boot is
        over: the UART's lines, each through `as_text`, and the target's own marks."""

    def stop(self) -> None:
        """End the boot early."""

    def ending(self) -> Ending:
        """Wait for the end of the boot, and return how it ended."""


@dataclass(frozen=True)
class Replay:
    """A session that replays a finished boot."""

    captured: Captured

    @property
    def cycles(self) -> int:
        return self.ending().cycles

    def lines(self) -> Iterator[str]:
        yield from self.captured.lines

    def stop(self) -> None:
        pass

    def ending(self) -> Ending:
        assert self.captured.ending is not None
        return self.captured.ending


class Target(Protocol):
    """A target: it runs boots."""

    @property
    def icache(self) -> bool:
        """The default setting of the instruction cache."""

    @property
    def can(self) -> frozenset[Ability]:
        """The abilities of the target."""

    def check_ready(self) -> None:
        """Raise a TockmarkError if the target cannot be used now."""

    def configured(self, options: Mapping[str, object]) -> Self:
        """Return the target with command-line options, by names without dashes; None: absent.
        TockmarkError for an option that the target does not have."""

    def key(self, start: Start) -> str | None:
        """Return a key of what the boot will print: boots with equal keys print the same. None if
        the output is not reproducible, as on a board."""

    def start(self, start: Start) -> Session:
        """Start a boot."""

    def provenance(self, clock_hz: int) -> Mapping[str, object]:
        """Return what a result records about the target, on a chip with this clock: fields of
        Board in result/provenance.py."""


def target_core(target: Target) -> Core | None:
    """Return the core that replaces the machine's own in a simulator, or None."""
    core: Core | None = getattr(target, "core", None)
    return core


def target_fields(
    options: Mapping[str, object], fields: Mapping[str, str], kind: str
) -> dict[str, object]:
    """Return the fields of a target that command-line options set. `fields` maps options to
    fields. TockmarkError for an option that has a value and no field."""
    values = {option: value for option, value in options.items() if value is not None}
    for option in values:
        if option not in fields:
            problem = f"--{option} has no effect on a target of kind '{kind}'"
            raise TockmarkError(problem, f"omit --{option}")
    return {fields[option]: value for option, value in values.items()}


def require_ability(target: Target, ability: Ability, verb: str, board: str) -> None:
    """Raise a TockmarkError if a verb needs an ability that this target does not have."""
    if ability not in target.can:
        raise TockmarkError(
            f"{board} cannot {verb}: this needs a target that {ability}",
            "use a simulator, such as --board earlgrey-sim",
        )
