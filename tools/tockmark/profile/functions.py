# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What functions cost: how often each was called in a trace, and what a call took, least, median
and most."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from tockmark.errors import TockmarkError
from tockmark.profile.calls import Call
from tockmark.profile.symbols import LIBRARIES


@dataclass(frozen=True)
class Spread:
    """Of the calls of a function; the median is a real one: of two in the middle the lower."""

    least: int
    median: int
    most: int


@dataclass
class Function:
    """The calls of one function."""

    path: str
    calls: int = 0
    inlined: int = 0  # of them, those that the compiler put into other functions
    cut: int = 0  # further calls, which began before the trace or had not ended behind it
    cycles: int = 0  # of its own, in all calls, cut ones too
    in_library: bool = False  # of Rust's own libraries or a crate
    own_cycles: Counter[int] = field(default_factory=Counter)
    own_instructions: Counter[int] = field(default_factory=Counter)
    whole_cycles: Counter[int] = field(default_factory=Counter)
    whole_instructions: Counter[int] = field(default_factory=Counter)


class Functions:
    """The functions of a trace, while they are counted."""

    def __init__(self) -> None:
        self.found: dict[str, Function] = {}

    def ended(self, call: Call) -> None:
        """Count a whole call."""
        function = self._of(call)
        function.calls += 1
        function.inlined += call.inlined
        function.own_cycles[call.own.cycles] += 1
        function.own_instructions[call.own.instructions] += 1
        function.whole_cycles[call.whole.cycles] += 1
        function.whole_instructions[call.whole.instructions] += 1

    def cut(self, call: Call) -> None:
        """Count a call that is not whole: its cycles are in no spread."""
        self._of(call).cut += 1

    def _of(self, call: Call) -> Function:
        path = call.scope.path
        function = self.found.setdefault(path, Function(path))
        file = call.scope.frame.file
        function.in_library = any(library in file for library in LIBRARIES)
        function.cycles += call.own.cycles
        return function


def spread(counts: Counter[int]) -> Spread | None:
    """None where there was no call."""
    if not counts:
        return None
    ordered = sorted(counts)
    middle = (counts.total() - 1) // 2
    for value in ordered:
        middle -= counts[value]
        if middle < 0:
            break
    return Spread(ordered[0], value, ordered[-1])


def chosen(functions: Iterable[Function], names: Sequence[str]) -> list[Function]:
    """Those that a name means, the costly ones first; without names all but those of libraries.
    TockmarkError if a name means none."""
    everything = sorted(functions, key=lambda one: (-one.cycles, one.path))
    if not names:
        return [one for one in everything if not one.in_library]
    for name in names:
        if not any(means(name, one.path) for one in everything):
            raise TockmarkError(
                f"no function that ran is called {name!r}",
                "names are paths or parts of them, as grant or '*::enter'; without one all are"
                " shown",
            )
    return [one for one in everything if any(means(name, one.path) for name in names)]


def means(name: str, path: str) -> bool:
    """Whether a name means a path: as a pattern of all of it, or as some of its parts that follow
    one another."""
    if re.search(r"[*?\[]", name):
        return fnmatchcase(path, name)
    return f"::{name}::" in f"::{path}::"
