# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Two profiles of one row, of two kernels: where instructions were added or saved, where cycles,
and which cycles only moved with the code.

Instructions tell what the code does. A function that retires as many of them on both sides does
the same; if it takes other cycles, then because it or its data lie elsewhere: layout.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from tockmark.errors import TockmarkError
from tockmark.profile.file import Share, Stored
from tockmark.suite.catalogue import ICACHE

NOTHING = Share("", {})


@dataclass(frozen=True)
class Change:
    """One phase or function on both sides; it took nothing on a side that has none."""

    name: str
    base: Share
    new: Share

    @property
    def cycles(self) -> int:
        return self.new.cycles - self.base.cycles

    @property
    def in_body(self) -> int:
        """Of the cycles, those that the benchmark's body takes: they make the row's net."""
        return self.new.in_body - self.base.in_body

    @property
    def instructions(self) -> int:
        return self.new.instructions - self.base.instructions

    @property
    def is_layout(self) -> bool:
        """Whether it does the same, and takes other cycles."""
        return self.cycles != 0 and self.instructions == 0


@dataclass(frozen=True)
class Diff:
    """What is other in the new kernel. Phases and functions are the same cycles; those with the
    largest change in instructions first, then those in cycles."""

    base: Stored
    new: Stored
    phases: tuple[Change, ...]
    functions: tuple[Change, ...]

    @property
    def cycles(self) -> int:
        return self.new.cycles - self.base.cycles

    @property
    def instructions(self) -> int:
        return self.new.instructions - self.base.instructions

    @property
    def changed(self) -> tuple[Change, ...]:
        """The functions that retire more or fewer instructions."""
        return tuple(change for change in self.functions if change.instructions)

    @property
    def moved(self) -> tuple[Change, ...]:
        """The functions that do the same in other cycles."""
        return tuple(change for change in self.functions if change.is_layout)

    @property
    def layout(self) -> int:
        """Of the cycles, those of functions that do the same."""
        return sum(change.cycles for change in self.moved)


def diff(base: Stored, new: Stored) -> Diff:
    """The difference of two profiles. TockmarkError if they are of different rows, languages or
    cache settings."""
    for what, one, other in (
        ("", base.label, new.label),
        ("i-cache ", ICACHE[base.icache], ICACHE[new.icache]),
        ("board ", base.board, new.board),
    ):
        if one != other:
            raise TockmarkError(
                f"the profiles are of {what}{one} and of {what}{other}",
                "give two of the same row, board and cache setting",
            )
    return Diff(
        base,
        new,
        _changes(base.phases, new.phases),
        _changes(base.functions, new.functions),
    )


def _changes(base: Sequence[Share], new: Sequence[Share]) -> tuple[Change, ...]:
    before = {share.name: share for share in base}
    after = {share.name: share for share in new}
    names = {name: name for name in before if name in after} | _moved(before, after)
    pairs = [(before[name], after[known]) for name, known in names.items()]
    pairs += [(share, NOTHING) for name, share in before.items() if name not in names]
    came = after.keys() - set(names.values())
    pairs += [(NOTHING, share) for name, share in after.items() if name in came]
    changes = [Change(new.name or base.name, base, new) for base, new in pairs]
    return tuple(sorted(changes, key=lambda c: (-abs(c.instructions), -abs(c.cycles), c.name)))


def _moved(before: dict[str, Share], after: dict[str, Share]) -> dict[str, str]:
    """Functions of the same name in a file of the same name, where each side has but one that the
    other lacks: the two kernels were built in different folders, or the file was moved."""
    sides: list[dict[tuple[str, str], list[str]]] = []
    for own, other in ((before, after), (after, before)):
        lacking: dict[tuple[str, str], list[str]] = {}
        for name in own:
            if name not in other:
                function, _, file = name.rpartition(" (")
                lacking.setdefault((function, file.rpartition("/")[2]), []).append(name)
        sides.append(lacking)
    return {
        names[0]: sides[1][key][0]
        for key, names in sides[0].items()
        if key[0] and len(names) == 1 and len(sides[1].get(key, ())) == 1
    }
