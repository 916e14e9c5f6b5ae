# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Find the commit at which a row crosses a limit, by bisection of a line of commits.

`CommitSearch` measures commits and decides which are bad. `first_bad` chooses the next commit.
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
    """The change from the good figure at which a figure counts as bad."""

    sign: int  # 1: a rise is bad; -1: a fall is, to find an improvement
    size: float
    percent: bool

    @staticmethod
    def read(text: str) -> "BisectLimit":
        """Read '+2 %' or '-30'. TockmarkError if it is neither."""
        match = _LIMIT.fullmatch(text)
        if match is None:
            raise TockmarkError(
                f"'{text}' is not a limit", "give a limit such as '+2 %', '+33' or '-5 %'"
            )
        return BisectLimit(-1 if match[1] == "-" else 1, float(match[2]), match[3] == "%")

    def exceeded(self, good: float, figure: float) -> bool:
        """Return whether a figure differs from the good one by more than the limit."""
        room = abs(good) * self.size / 100 if self.percent else self.size
        return (figure - good) * self.sign > room

    def __str__(self) -> str:
        return f"{'+' if self.sign > 0 else '-'}{self.size:g}{' %' * self.percent}"


@dataclass
class CommitSearch:
    """A search on a line of commits, from a good to a bad one, by the figure of one row."""

    row: str  # the term that selects it in the catalogue
    series: str  # instret or cycles
    limit: BisectLimit
    links: int  # per commit; their median counts
    options: RunOptions  # see Simulated
    builder: Builder
    line: list[Commit]
    print_line: Callable[[str], None]
    figures: dict[str, float] = field(default_factory=dict)  # of one operation, by commit
    reasons: dict[str, str] = field(default_factory=dict)  # why a commit has no figure

    @property
    def unit(self) -> str:
        return "instructions" if self.series == "instret" else "cycles"

    def suspects(self) -> range:
        """Return the numbers of the commits that may be the first bad one. There are several if all
        but the last of them cannot be measured. TockmarkError if the last commit is not bad."""
        steps = (len(self.line) - 2).bit_length()
        self.print_line(f"{len(self.line)} commits, about {2 + steps} of them to measure\n")
        first, last = self.line[0], self.line[-1]
        good = self.measure(first)
        self._print_figure("good", first)
        bad = self.measure(last)
        if not self.limit.exceeded(good, bad):
            raise TockmarkError(
                f"{last.short} is within {self.limit} of {first.short}: {self.row} takes"
                f" {bad:,g} {self.unit}{_difference(good, bad)}",
                "give another limit, row or range",
            )
        self._print_figure("bad", last)
        return first_bad(len(self.line), lambda number: self._is_bad(self.line[number]))

    def measure(self, commit: Commit) -> float:
        """Return the figure of a commit. TockmarkError if it has none."""
        side = BuiltLinks(commit, self.builder)
        elves = side.up_to(self.links)
        if len(elves) < self.links:
            raise TockmarkError(
                f"--cycles needs {self.links} links that differ in layout; {commit.short} gives"
                f" {len(elves)}",
                f"let --build pass {LINK_ARGS} to lld, or give --links 1",
            )
        catalogue = self.options.catalogue
        simulated = Simulated(commit.short, side, self.options, elves[0].parent)
        result = merge_layouts(simulated.measured(0, self.links, select(catalogue, self.row)))
        column = result.column(self.options.icaches[0], self.options.langs[0])
        row = column.get(row_key(*single_row(catalogue, self.row)))
        if row is None:
            reason = next(iter(result.incomplete), "its boot did not print it")
            raise TockmarkError(f"{commit.short} has no {self.row}: {reason}")
        series = row.series(self.series)
        if row.unsound or series is None or series.per_op is None:
            reason = row.unsound or f"nothing counted its {self.unit}"
            raise TockmarkError(f"{self.row} of {commit.short} is not valid: {reason}")
        self.figures[commit.sha] = series.per_op
        return series.per_op

    def _is_bad(self, commit: Commit) -> bool | None:
        """Return whether a commit is bad. If it has no figure, print the reason and return None."""
        try:
            figure = self.measure(commit)
        except TockmarkError as error:
            if error.code == INTERRUPTED:
                raise
            self.reasons[commit.sha] = str(error)
            self.print_line(f"skipped  {commit}\n         {error}")
            return None
        bad = self.limit.exceeded(self.figures[self.line[0].sha], figure)
        self._print_figure("bad" if bad else "good", commit)
        return bad

    def _print_figure(self, verdict: str, commit: Commit) -> None:
        good, figure = self.figures[self.line[0].sha], self.figures[commit.sha]
        change = _difference(good, figure) if figure != good else ""
        self.print_line(f"{verdict:8} {commit}\n         {figure:,g} {self.unit}{change}")

    def text(self, suspects: range) -> str:
        """Return the outcome in words."""
        if len(suspects) > 1:
            shown = "".join(f"  {self.line[number]}\n" for number in suspects)
            return (
                f"\nThe first bad commit is one of these {len(suspects)}; only the last can be"
                f" measured:\n{shown}"
            )
        commit, before = self.line[suspects[0]], self.line[suspects[0] - 1]
        good, bad = self.figures[before.sha], self.figures[commit.sha]
        return (
            f"\nThe first bad commit is {commit}\n"
            f"  {self.row}: {bad:,g} {self.unit}; {before.short}, its parent,"
            f" has {good:,g}{_difference(good, bad)}\n"
        )

    def as_json(self, suspects: range) -> dict[str, object]:
        """Return the suspects, and the figure of every commit that was tried, as JSON."""
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
    """Format the difference of a figure from its base."""
    share = f" ({100 * (figure / base - 1):+.2f} %)" if base > 0 else ""
    return f", {figure - base:+,g}{share}"


def first_bad(count: int, is_bad: Callable[[int], bool | None]) -> range:
    """Return the first bad one of `count` items in as few steps as possible, if the first is good
    and the last bad.

    `is_bad` is called at most once for each item, and returns None if it cannot be measured. The
    range has several items if all but its last cannot be measured."""
    good, bad = 0, count - 1
    unknown: list[int] = []
    while True:
        marks = [good, *(n for n in sorted(unknown) if good < n < bad), bad]
        # Items that cannot be measured often come together, so take the middle of the largest gap.
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
