# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Where a change is: the same row profiled on both sides, function by function.

What a function executes has changed where its instructions have. Where they are the same, only the
layout can have moved its cycles.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from tockmark import profile
from tockmark.judging.engine import Moved
from tockmark.plain import file_name
from tockmark.profile import file
from tockmark.profile.file import Share, Stored
from tockmark.result.model import Row
from tockmark.show import text
from tockmark.suite.catalogue import Catalogue

ROWS = 2  # that are profiled on both sides, unless told otherwise
FUNCTIONS = 8  # of a row; the rest in one line


@dataclass(frozen=True)
class Part:
    """A function or phase on both sides: instructions and cycles of one sample."""

    name: str
    instructions: tuple[int, int]
    cycles: tuple[int, int]

    @property
    def more(self) -> tuple[int, int]:
        """By how many instructions and cycles the head has more."""
        return self.instructions[1] - self.instructions[0], self.cycles[1] - self.cycles[0]


@dataclass(frozen=True)
class Where:
    """A row's sample on both sides."""

    row: str
    whole: Part
    phases: tuple[Part, ...]
    functions: tuple[Part, ...]

    @property
    def changed(self) -> list[Part]:
        """The functions that execute another number of instructions, the largest change first."""
        found = [one for one in self.functions if one.more[0]]
        return sorted(found, key=lambda one: -abs(one.more[0]))

    @property
    def by_layout(self) -> int:
        """The cycles more of functions that execute as many instructions as before."""
        return sum(one.more[1] for one in self.functions if not one.more[0])

    def lines(self) -> list[str]:
        """As text."""
        more = self.whole.more
        lines = [
            f"where   {self.row}: {more[0]:+d} instructions, {more[1]:+d} cycles of one sample"
        ]
        phases = [f"{one.name} {one.more[0]:+d}" for one in self.phases if one.more[0]]
        lines += text.wrap(f"    by phase: {', '.join(phases)}") if phases else []
        for one in self.changed[:FUNCTIONS]:
            told = f"{one.more[0]:+6d} instructions {one.more[1]:+6d} cycles  {one.name}"
            lines.append(f"    {text.shortened(told, text.LINE - 4)}")
        rest = self.changed[FUNCTIONS:]
        if rest:
            sums = [sum(one.more[n] for one in rest) for n in (0, 1)]
            lines.append(
                f"    {sums[0]:+6d} instructions {sums[1]:+6d} cycles  {len(rest)} more functions"
            )
        lines.append(
            f"    {0:+6d} instructions {self.by_layout:+6d} cycles  functions that execute as much"
            " as before: the layout"
        )
        return lines

    def as_json(self) -> dict[str, object]:
        """For other programs."""
        return asdict(self)


def dearest(moved: Sequence[Moved], most: int) -> list[Row]:
    """The rows to look into: of different benchmarks, those that moved most in instructions, else
    in cycles."""
    found: dict[str, Row] = {}
    for one in moved:
        found.setdefault(one.row.id, one.row)
    return list(found.values())[:most]


def between(row: Row, sides: Sequence[profile.Options], catalogue: Catalogue) -> Where:
    """Profile a row on both sides. TockmarkError if one of them has no profile."""
    kept = []
    for options in sides:
        own = replace(options, id=row.id, params=row.params, icache=row.icache is not False)
        own = replace(own, out=_folder(options.out, row))
        profile.profile(own, catalogue)
        kept.append(file.load(own.out / "profile.json"))
    return diff(row.name, kept[0], kept[1])


def diff(name: str, base: Stored, head: Stored) -> Where:
    """Both profiles, function by function."""
    whole = Part("sample", (base.instructions, head.instructions), (base.cycles, head.cycles))
    return Where(
        name,
        whole,
        tuple(_parts(base.phases, head.phases)),
        tuple(_parts(base.functions, head.functions)),
    )


def _parts(base: Sequence[Share], head: Sequence[Share]) -> Iterator[Part]:
    before, after = ({one.name: one for one in shares} for shares in (base, head))
    for name in dict.fromkeys([*before, *after]):
        sides = before.get(name), after.get(name)
        counts = [(one.instructions, one.cycles) if one else (0, 0) for one in sides]
        (base_instr, base_cycles), (head_instr, head_cycles) = counts
        yield Part(name, (base_instr, head_instr), (base_cycles, head_cycles))


def _folder(parent: Path, row: Row) -> Path:
    return parent / file_name(row.name)
