# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The points in a kernel's code at which the stages of an alarm end: families.toml says which, and
this finds them in an ELF file, by symbols and by the functions that were put into one another.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from tockmark.documents import Part
from tockmark.errors import TockmarkError
from tockmark.paths import by_make, shown
from tockmark.profile.symbols import Program, Scope

FAMILIES = Path(__file__).with_name("families.toml")
ALARM, UART = "alarm", "uart"  # the chains
HALFWORD = 2  # bytes, at which an instruction may begin


class Stage(Part, frozen=True):
    """A stage, and the point that ends it: see families.toml."""

    name: str
    what: str
    own: tuple[str, ...] = ()
    symbol: str | None = None
    inlined: tuple[str, ...] = ()
    also_in: str | None = None
    app: str | None = None

    @property
    def mark(self) -> str:
        """What the simulator calls its point."""
        return self.name.replace(" ", "_")


class Deferred(Part, frozen=True):
    """How deferred calls are told: a function that asks for one, and one that serves it."""

    set: str
    served: str


class OtherChain(Part, frozen=True):
    """The chain of another event than an alarm: the stages that differ, by their names."""

    name: str
    begins: str
    stage: tuple[Stage, ...]


class KernelFamily(Part, frozen=True):
    """Kernels that have their stages at the same points."""

    name: str
    known_by: str
    served: str
    by_process: str
    looks: str  # the stage whose point is where the kernel asks what is pending
    stage: tuple[Stage, ...]
    deferred: Deferred | None = None
    chain: tuple[OtherChain, ...] = ()
    begins: Stage | None = None  # where the driver of the chain's event begins

    def of(self, chain: str) -> "KernelFamily":
        """Return the family with the stages of a chain."""
        if chain == ALARM:
            return self
        other = next(one for one in self.chain if one.name == chain)
        own = {stage.name: stage for stage in other.stage}
        stages = tuple(own.get(stage.name, stage) for stage in self.stage)
        begins = Stage("begins", "the driver begins", symbol=other.begins)
        return msgspec.structs.replace(self, stage=stages, begins=begins)

    @property
    def asks(self) -> Stage:
        """The stage whose point is where the kernel asks what is pending."""
        return next(stage for stage in self.stage if stage.name == self.looks)

    @property
    def served_at(self) -> int:
        """The number of the stage whose point only alarms come by."""
        return [stage.name for stage in self.stage].index(self.served)

    @property
    def by_turn(self) -> int:
        """The number of the first stage that is the process's own."""
        return [stage.name for stage in self.stage].index(self.by_process)


def families(path: Path = FAMILIES) -> list[KernelFamily]:
    """Read the list."""
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    return msgspec.convert(data["family"], list[KernelFamily])


def family_of(program: Program, chain: str = ALARM) -> KernelFamily:
    """Return the family of a kernel, with the stages of a chain. TockmarkError if there is none."""
    names = set(program.code().values())
    known = families()
    for family in known:
        if family.known_by in names:
            return family.of(chain)
    raise TockmarkError(
        f"{shown(program.path)} is of no kernel whose stages are known"
        f" ({', '.join(family.name for family in known)})",
        "give a kernel with its symbols, not stripped",
    )


def mark_options(
    family: KernelFamily, program: Program, app: Mapping[str, int], more: Sequence[str] = ()
) -> tuple[str, ...]:
    """Return the simulator's options for the points of a family in a kernel and an app (its
    symbols), and for some marks of the simulator's own. TockmarkError if a point is gone."""
    own = {name for stage in family.stage for name in stage.own}
    marks = [*dict.fromkeys([*more, *sorted(own)])]
    for stage in (*family.stage, *filter(None, [family.begins])):
        if stage.app is not None:
            marks.append(f"{stage.mark}={app[stage.app]:#x}")
        elif stage.symbol is not None:
            marks += [f"{stage.mark}={at:#x}" for at in addresses(program, stage)]
    return tuple(word for mark in marks for word in ("--mark", mark))


def check_points(program: Program) -> None:
    """TockmarkError unless the family of a kernel is known, and all of its points are there."""
    for stage in family_of(program).stage:
        if stage.symbol is not None:
            addresses(program, stage)


def addresses(program: Program, stage: Stage) -> list[int]:
    """Return where a stage's point is in a kernel. TockmarkError if it is gone."""
    assert stage.symbol is not None
    own, others = _named(program, stage.symbol), _named(program, stage.also_in)
    if not own and not others:
        raise _gone(program, stage, f"has no function {stage.symbol}")
    path = (stage.symbol, *stage.inlined)
    found = _begins(program, own, stage.inlined) if stage.inlined else own
    found = sorted([*found, *_begins(program, others, path)])
    if found:
        return found
    if program.lines:
        raise _gone(program, stage, f"has no {' in '.join(reversed(path))}")
    raise TockmarkError(
        f"{shown(program.path)} has no line tables, by which the stage '{stage.name}' is found",
        f"{by_make('profile')} for the baseline's; build Tock with debuginfo",
    )


def _named(program: Program, pattern: str | None) -> list[int]:
    """Return where the functions begin whose names a pattern fits."""
    if pattern is None:
        return []
    return [at for at, name in program.code().items() if re.fullmatch(pattern, name)]


def _begins(program: Program, functions: Iterable[int], path: Sequence[str]) -> list[int]:
    """Return where the last of these functions, each within the one before, begins in some."""
    inside = [at for one in functions for at in range(one, one + program.size(one), HALFWORD)]
    program.study(inside)
    held = {at for at in inside if _holds(program.scopes(at), path)}
    # Unrolled loops have it several times: it begins wherever it does not go on.
    return [at for at in inside if at in held and at - HALFWORD not in held]


def _holds(scopes: Sequence[Scope], names: Sequence[str]) -> bool:
    """Return whether functions of these names are there, each within the one before."""
    inner = iter(scope.path for scope in scopes)
    return all(any(re.fullmatch(name, path) for path in inner) for name in names)


def _gone(program: Program, stage: Stage, what: str) -> TockmarkError:
    return TockmarkError(
        f"{shown(program.path)} {what}, where the stage '{stage.name}' ends",
        "say in tools/tockmark/latency/families.toml where it ends in this kernel",
    )
