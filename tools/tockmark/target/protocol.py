# SPDX-License-Identifier: Apache-2.0 OR MIT
"""This says what a target is, which runs a boot: a simulator, a board behind a serial port, QEMU,
or a log.

A board profile's `[target]` names a kind, which is a module of target/ with one type `Target`; the
profile's table is read straight into it. Verbs use what stands here and nothing else.
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
    """Says what one kind of target can and another cannot, in words for the user."""

    CYCLES = "counts cycles that are the chip's"
    ICACHE = "lets the instruction cache be switched"
    MARKS = "has a clock of its own that sees interrupts"
    PARALLEL = "runs several boots at a time"
    RETIREMENT = "traces every retired instruction"


@dataclass(frozen=True)
class Start:
    """One boot that is to run."""

    name: str  # of the boot, for people
    flash: Path  # the whole flash image
    icache: bool
    marks: tuple[str, ...] = ()  # options of a simulator that has Ability.MARKS (target/run.py)
    image: str | None = None  # the id that its app says in `begin`, if it is known
    boot: str = ""  # as the catalogue calls it
    load: Callable[[], bool] | None = None  # onto a board; False: a person was asked to
    reporter: str | None = None  # the app whose `end` closes the suite; None: what apps say counts
    panics: tuple[int, ...] = ()  # where the kernel's panic begins (target/kernel.py)


class LostError(TockmarkError):
    """A boot that no worker finishes: it ends the run."""

    def __init__(self, what: str) -> None:
        super().__init__(what, "run it again: what was simulated is kept", INCOMPLETE)


class Session(Protocol):
    """One boot under way."""

    @property
    def cycles(self) -> int:
        """Cycles so far, by the target's own clock; 0 where it has none."""

    def lines(self) -> Iterator[str]:
        """The log's lines as they come (latin-1, without newlines), until the boot is over: the
        UART's, each by `as_text`, and marks of the target's own."""

    def stop(self) -> None:
        """End it early."""

    def ending(self) -> Ending:
        """Wait for the end, and return how it came."""


@dataclass(frozen=True)
class Replay:
    """A session of a boot that is over: all of it is there at once."""

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
    """Where boots run."""

    @property
    def icache(self) -> bool:
        """The setting of the instruction cache that boots have unless the user says otherwise."""

    @property
    def can(self) -> frozenset[Ability]:
        """What it can do."""

    def check_ready(self) -> None:
        """TockmarkError, with what to do, if it cannot be used now."""

    def configured(self, options: Mapping[str, object]) -> Self:
        """Return the target with options of the command line, by their names without dashes; None:
        not given. TockmarkError for one that this kind does not have."""

    def key(self, start: Start) -> str | None:
        """Return what tells a boot from all others that print something else: equal keys, equal
        output. None where nothing does, as on a board."""

    def start(self, start: Start) -> Session:
        """Begin a boot."""

    def provenance(self, clock_hz: int) -> Mapping[str, object]:
        """Return what results shall know of it, on a chip of that clock: fields of Board in
        result/provenance.py."""


def target_core(target: Target) -> Core | None:
    """Return the core of a target; None: the machine's own, as of all but some simulators."""
    found: Core | None = getattr(target, "core", None)
    return found


def target_fields(
    options: Mapping[str, object], known: Mapping[str, str], kind: str
) -> dict[str, object]:
    """Return the fields of a target that options of the command line set; `known` says which option
    sets which. TockmarkError for an option that is given and not known."""
    given = {option: value for option, value in options.items() if value is not None}
    for option in given:
        if option not in known:
            raise TockmarkError(
                f"--{option} means nothing to a target of kind '{kind}'", "leave it out"
            )
    return {known[option]: value for option, value in given.items()}


def require_ability(target: Target, ability: Ability, verb: str, board: str) -> None:
    """TockmarkError where a verb needs what this target cannot do."""
    if ability not in target.can:
        raise TockmarkError(
            f"{board} cannot {verb}: that needs a target that {ability}",
            "`--board earlgrey-sim` is one",
        )
