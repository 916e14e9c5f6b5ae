# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Finds the commit of a line at which a row crosses a limit: which commits are measured, what the
figure of a commit is, when it counts as bad, and what is said of it.
"""

import itertools
import re
from collections.abc import Callable
from dataclasses import dataclass, field

from tockmark.base.errors import INTERRUPTED, TockmarkError
from tockmark.judge.engine import Simulated
from tockmark.result.build import merge_layouts
from tockmark.suite.catalogue import row_key
from tockmark.suite.selection import select, single_row
from tockmark.target.run import RunOptions
from tockmark.trees.builds import LINK_ARGS, Builder, BuiltLinks
from tockmark.trees.repository import Commit

_LIMIT = re.compile(r"\s*([+-])\s*(\d+(?:\.\d+)?)\s*(%?)\s*")


@dataclass(frozen=True)
class BisectLimit:
    """How far a figure may go before it counts as bad."""

    sign: int  # 1: it may not rise further; -1: nor fall, for whoever looks for what was gained
    size: float
    percent: bool

    @staticmethod
    def read(text: str) -> "BisectLimit":
        """Read '+2 %' or '-30'. TockmarkError if it is neither."""
        found = _LIMIT.fullmatch(text)
        if found is None:
            raise TockmarkError(f"'{text}' is no limit", "give one as '+2 %', '+33' or '-5 %'")
        return BisectLimit(-1 if found[1] == "-" else 1, float(found[2]), found[3] == "%")

    def exceeded(self, good: float, figure: float) -> bool:
        """Return whether a figure is beyond the limit, seen from the good one."""
        room = abs(good) * self.size / 100 if self.percent else self.size
        return (figure - good) * self.sign > room

    def __str__(self) -> str:
        return f"{'+' if self.sign > 0 else '-'}{self.size:g}{' %' * self.percent}"


@dataclass
class CommitSearch:
    """Measures one row of commits of a line, whose first is good and last is bad."""

    row: str  # as the catalogue's one row is called
    series: str  # instret or cycles
    limit: BisectLimit
    links: int  # of each commit, for their median
    options: RunOptions  # as Simulated takes them
    builder: Builder
    line: list[Commit]
    print_line: Callable[[str], None]
    figures: dict[str, float] = field(default_factory=dict)  # of one operation, by commit
    reasons: dict[str, str] = field(default_factory=dict)  # why there is none

    @property
    def unit(self) -> str:
        return "instructions" if self.series == "instret" else "cycles"

    def suspects(self) -> range:
        """Return which commits of the line may be the first bad one: one, or several of which no
        other can be measured. TockmarkError unless the last one is beyond the limit."""
        steps = (len(self.line) - 2).bit_length()
        self.print_line(
            f"{len(self.line)} commits, of which {2 + steps} or so are to be measured\n"
        )
        first, last = self.line[0], self.line[-1]
        good = self.measure(first)
        self._say_figure("good", first)
        bad = self.measure(last)
        if not self.limit.exceeded(good, bad):
            raise TockmarkError(
                f"{last.short} is within {self.limit} of {first.short}: {self.row} takes"
                f" {bad:,g} {self.unit}{_difference(good, bad)}",
                "there is no change to look for; give another limit, row or range",
            )
        self._say_figure("bad", last)
        return first_bad(len(self.line), lambda number: self._is_bad(self.line[number]))

    def measure(self, commit: Commit) -> float:
        """Return the row's figure. TockmarkError if there is none."""
        side = BuiltLinks(commit, self.builder)
        elves = side.up_to(self.links)
        if len(elves) < self.links:
            raise TockmarkError(
                f"--cycles needs {self.links} links that differ in layout; {commit.short} gives"
                f" {len(elves)}",
                f"let --build hand {LINK_ARGS} to lld, or give --links 1",
            )
        known = self.options.catalogue
        simulated = Simulated(commit.short, side, self.options, elves[0].parent)
        result = merge_layouts(simulated.measured(0, self.links, select(known, self.row)))
        column = result.column(self.options.icaches[0], self.options.langs[0])
        row = column.get(row_key(*single_row(known, self.row)))
        if row is None:
            said = next(iter(result.incomplete), "its boot did not print it")
            raise TockmarkError(f"{commit.short} has no {self.row}: {said}")
        series = row.series(self.series)
        if row.unsound or series is None or series.per_op is None:
            said = row.unsound or f"nothing counted its {self.unit}"
            raise TockmarkError(f"{self.row} of {commit.short} is of no use: {said}")
        self.figures[commit.sha] = series.per_op
        return series.per_op

    def _is_bad(self, commit: Commit) -> bool | None:
        """Return whether a commit is beyond the limit; None, with the reason said, if it has no
        figure."""
        try:
            figure = self.measure(commit)
        except TockmarkError as error:
            if error.code == INTERRUPTED:
                raise
            self.reasons[commit.sha] = str(error)
            self.print_line(f"skipped  {commit}\n         {error}")
            return None
        bad = self.limit.exceeded(self.figures[self.line[0].sha], figure)
        self._say_figure("bad" if bad else "good", commit)
        return bad

    def _say_figure(self, verdict: str, commit: Commit) -> None:
        good, figure = self.figures[self.line[0].sha], self.figures[commit.sha]
        change = _difference(good, figure) if figure != good else ""
        self.print_line(f"{verdict:8} {commit}\n         {figure:,g} {self.unit}{change}")

    def text(self, suspects: range) -> str:
        """Return what was found, in words."""
        if len(suspects) > 1:
            shown = "".join(f"  {self.line[number]}\n" for number in suspects)
            return (
                f"\nThe first bad commit is one of these {len(suspects)}; all but the last cannot"
                f" be measured:\n{shown}"
            )
        commit, before = self.line[suspects[0]], self.line[suspects[0] - 1]
        good, bad = self.figures[before.sha], self.figures[commit.sha]
        return (
            f"\nThe first bad commit is {commit}\n"
            f"  {self.row}: {bad:,g} {self.unit}; {before.short}, its parent,"
            f" has {good:,g}{_difference(good, bad)}\n"
        )

    def as_json(self, suspects: range) -> dict[str, object]:
        """Return the suspects, and what came of every commit that was looked at."""
        return {
            "row": self.row,
            "unit": self.unit,
            "first_bad": [self.line[number].sha for number in suspects],
            "commits": [
                {
                    "commit": commit.sha,
                    "subject": commit.subject,
                    "figure": self.figures.get(commit.sha),
                    "skipped": self.reasons.get(commit.sha),
                }
                for commit in self.line
                if commit.sha in self.figures or commit.sha in self.reasons
            ],
        }


def _difference(base: float, figure: float) -> str:
    """Return by how much a figure is another."""
    share = f" ({100 * (figure / base - 1):+.2f} %)" if base > 0 else ""
    return f", {figure - base:+,g}{share}"


def first_bad(count: int, is_bad: Callable[[int], bool | None]) -> range:
    """Find the first bad one of so many commits in as few steps as may be, if the first is good and
    the last is bad.

    `is_bad` is asked of each at most once; None: it cannot be told of this one. Several come back
    where all before the last of them cannot be told."""
    good, bad = 0, count - 1
    unknown: list[int] = []
    while True:
        marks = [good, *(n for n in sorted(unknown) if good < n < bad), bad]
        # Behind what cannot be told there is often more of that: away from it, by halves again.
        below, above = max(itertools.pairwise(marks), key=lambda gap: gap[1] - gap[0])
        middle = (below + above) // 2
        if middle == below:
            return range(good + 1, bad + 1)
        match is_bad(middle):
            case None:
                unknown.append(middle)
            case True:
                bad = middle
            case False:
                good = middle
