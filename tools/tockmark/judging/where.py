# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Where a change is: the rows that moved most, profiled on both sides (profile/diff.py)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tockmark import profile
from tockmark.judging.engine import Moved
from tockmark.plain import file_name
from tockmark.profile.diff import Diff, diff
from tockmark.result.model import Row
from tockmark.show import text
from tockmark.suite.catalogue import Catalogue

ROWS = 2  # that are profiled on both sides, unless told otherwise
FUNCTIONS = 8  # of a row; the rest in one line


@dataclass(frozen=True)
class Where:
    """A row, and the difference of its two profiles."""

    row: str
    diff: Diff

    def lines(self) -> list[str]:
        """As text."""
        found = self.diff
        told = f"{_counts(found.instructions, found.cycles)} of a whole sample, readings included"
        lines = [f"where   {self.row}: {told}"]
        phases = [f"{p.name} {p.instructions:+d}" for p in found.phases if p.instructions]
        if phases:
            lines += text.wrap(f"        instructions by phase: {', '.join(phases)}", " " * 8)
        shown, rest = found.changed[:FUNCTIONS], found.changed[FUNCTIONS:]
        for one in shown:
            lines.append(_line(one.instructions, one.cycles, one.name))
        if rest:
            sums = sum(one.instructions for one in rest), sum(one.cycles for one in rest)
            lines.append(_line(*sums, f"{len(rest)} more"))
        if found.layout:
            lines.append(_line(0, found.layout, "functions that do the same elsewhere: layout"))
        return lines


def dearest(moved: Sequence[Moved], most: int, catalogue: Catalogue) -> list[Row]:
    """The rows to look into: of different benchmarks, those that moved most in instructions, else
    in cycles. Of those that the sampler takes: of no other is there a profile."""
    found: dict[str, Row] = {}
    for one in moved:
        known = catalogue.benchmarks.get(one.row.id)
        if known is not None and known.by == "sampler":
            found.setdefault(one.row.id, one.row)
    return list(found.values())[:most]


def between(row: Row, sides: Sequence[profile.Options], catalogue: Catalogue) -> Where:
    """Profile a row on both sides. TockmarkError if one of them has no profile."""
    base, head = (
        profile.profile(
            replace(
                one,
                id=row.id,
                params=row.params,
                icache=row.icache is not False,
                out=one.out / file_name(row.name),
            ),
            catalogue,
        ).stored
        for one in sides
    )
    return Where(row.name, diff(base, head))


def _counts(instructions: int, cycles: int) -> str:
    return f"{instructions:+d} instructions, {cycles:+d} cycles"


def _line(instructions: int, cycles: int, name: str) -> str:
    told = f"        {instructions:+6d} instructions {cycles:+6d} cycles  {name}"
    return text.shortened(told, text.LINE)
