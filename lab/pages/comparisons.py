# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What docs/findings.md says of kernels beside each other: Tock with version 1 and version 2 of the
system-call interface, single commits of Tock, and the 2021 study beside shifts of our own build.

Single commits were built by hand (lab/data/bisect.json; results/README.md says how).
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

import msgspec
from markupsafe import Markup

import opt_levels
import sample_parts
from committed import CommittedResult, between, committed, number, retired, share
from tables import markdown
from tockmark.base.documents import Count, Part
from tockmark.result.provenance import OptLevel
from tockmark.show import text
from tockmark.show.table import layout_nets
from tockmark_lab.folders import DATA

# The commit before the change of the interface, the commit of the change, and a release after it.
VERSIONS = {"1": "version 1", "2": "first version 2", "2.0": "release 2.0"}

RETURNING = re.compile(r"set_syscall_return_value|encode_syscall_return|split_at_mut")


def version(name: str) -> CommittedResult:
    """Return the result of one of the versions."""
    return committed(f"versions/{name}")


def profile_folder(name: str) -> str:
    """Return the folder with the profiles of one of the versions."""
    return f"version-{name}-{version(name).kernel.opt_level}"


def version_table(names: Sequence[str]) -> str:
    """Return the rows of the versions, as `spans` has them."""
    return spans({title: f"versions/{name}" for name, title in VERSIONS.items()}, names)


def spans(columns: Mapping[str, str], names: Sequence[str]) -> str:
    """Return instructions, and net cycles of one operation, the least and the most over the links,
    of results that are given by title and name."""
    figures = ("instr.", "cycles, i-cache off", "on")
    heads = ["row", *(f"{of}: {title}" for of in figures for title in columns)]
    runs = [committed(name) for name in columns.values()]
    return markdown(
        heads,
        (
            [
                name,
                *(run.retired(name) for run in runs),
                *(run.span(name, icache) for icache in (False, True) for run in runs),
            ]
            for name in names
        ),
    )


def version_mean(base: str, new: str, icache: bool) -> str:
    """Return the geometric mean of what touches the kernel, with its interval."""
    return opt_levels.interval(opt_levels.mean(version(base), version(new), icache))


def _retired(row: str, name: str) -> float:
    instructions = retired(version(name).row(row, False))
    assert instructions is not None
    return instructions


def added_instructions(row: str, base: str = "1", new: str = "2") -> int:
    """Return net instructions of one operation that the second version has more than the first."""
    return round(_retired(row, new) - _retired(row, base))


def percent_more(row: str, base: str = "1", new: str = "2") -> str:
    """Return the instructions that the second version has more, in percent of the first's."""
    difference = share(added_instructions(row, base, new), _retired(row, base))
    return difference if difference.startswith("-") else f"+{difference}"


def returning_instructions(row: str, name: str) -> int:
    """Instructions of a whole sample that put a call's result into the app's registers."""
    functions = sample_parts.profiles(profile_folder(name))[row, False].functions
    return sum(function.instructions for function in functions if RETURNING.search(function.name))


class CommitBuild(Part, frozen=True):
    """One commit as it was built, and net instructions of one operation, i-cache off, one link."""

    name: str  # as the page calls it
    commit: str
    toolchain: str
    opt_level: OptLevel
    instructions: tuple[Count, ...]  # of the rows, in their order
    date: str | None = None


class Bisection(Part, frozen=True):
    """The file of the commits that were built by hand."""

    format: Literal["tockmark-bisect"]
    rows: tuple[str, ...]
    builds: tuple[CommitBuild, ...]

    def instructions(self, row: str, name: str) -> int:
        """Instructions of a row in a build."""
        return self.every(name)[self.rows.index(row)]

    def every(self, name: str) -> tuple[int, ...]:
        """Instructions of all rows in a build; KeyError if there is no such build."""
        return {build.name: build.instructions for build in self.builds}[name]

    def table(self, first: str, rows: Iterable[tuple[str, Iterable[str]]]) -> str:
        """Write the rows of the file as columns; `first` heads the titles, which are Markdown."""
        heads = [first, *(f"`{row}`" for row in self.rows)]
        return markdown(heads, ([Markup(title), *cells] for title, cells in rows))


@cache
def bisection() -> Bisection:
    return msgspec.json.decode((DATA / "bisect.json").read_bytes(), type=Bisection)


def commit_steps(titles: Iterable[tuple[str, str, str]]) -> str:
    """Return what a commit adds to its first parent: (the parent, the commit, what it is)."""
    every = bisection().every
    return bisection().table(
        "commit",
        (
            (
                title,
                [
                    f"{b - a:+d}" if a != b else "0"
                    for a, b in zip(every(parent), every(commit), strict=True)
                ],
            )
            for parent, commit, title in titles
        ),
    )


def commit_builds(titles: Iterable[tuple[str, str]]) -> str:
    """Instructions of builds: (the build, what it is)."""
    rows = ((title, map(number, bisection().every(name))) for name, title in titles)
    return bisection().table("kernel", rows)


@dataclass(frozen=True)
class StudiedRow:
    """One row of the study beside ours: net cycles of one operation, i-cache off."""

    name: str
    study: float
    ours: list[float]  # in each shift
    retired: tuple[float | None, float | None]  # instructions of one operation: the study's, ours

    @property
    def verdict(self) -> str:
        """Where the study's figure lies beside the range of ours."""
        least, most = min(self.ours), max(self.ours)
        if self.study > most:
            return f"above by {text.percent(self.study / most - 1, digits=1)}"
        if self.study < least:
            return f"below by {text.percent(1 - self.study / least, digits=1)}"
        return "inside"


def studied_rows(study: CommittedResult, ours: CommittedResult) -> Iterator[StudiedRow]:
    """Yield the rows that both have, and ours in several shifts of its code."""
    for (icache, name), row in study.rows.items():
        own = ours.row(name, False)
        if icache is False and row.per_op is not None and len(layout_nets(own)) > 1:
            yield StudiedRow(name, row.per_op, layout_nets(own), (retired(row), retired(own)))


def study_table(study: CommittedResult, ours: CommittedResult) -> str:
    """Return every row that both have, and where the study's figure lies."""
    heads = ["row", "the study's FPGA", "ours", "the study's figure is"]
    rows = (
        [row.name, number(row.study), between(row.ours), row.verdict, *map(number, row.retired)]
        for row in studied_rows(study, ours)
    )
    return markdown([*heads, "instructions: study", "ours"], rows, words=(0, 3))


def study_counts(study: CommittedResult, ours: CommittedResult) -> Counter[str]:
    """Return how many of the study's figures are inside our range, above and below."""
    return Counter(row.verdict.partition(" ")[0] for row in studied_rows(study, ours))
