# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The comparisons of the studies versions and history: Tock with version 1 and version 2 of the
system-call interface, single commits of Tock, and the study of 2021 against shifts of our build.

The single commits were built by hand (lab/data/bisect.json, lab/data/README.md).
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
    """Return the result of a version."""
    return committed(f"versions/{name}")


def profile_folder(name: str) -> str:
    """Return the folder with the profiles of a version."""
    return f"version-{name}-{version(name).kernel.opt_level}"


def version_table(names: Sequence[str]) -> str:
    """Return the table of `spans` for the versions."""
    return spans({title: f"versions/{name}" for name, title in VERSIONS.items()}, names)


def spans(columns: Mapping[str, str], names: Sequence[str]) -> str:
    """Return a table of instructions and net cycles of one operation (range over links). `columns`
    maps titles to results."""
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
    """Format the geometric mean of the kernel's rows, with its interval."""
    return opt_levels.interval(opt_levels.mean(version(base), version(new), icache))


def _retired(row: str, name: str) -> float:
    instructions = retired(version(name).row(row, False))
    assert instructions is not None
    return instructions


def added_instructions(row: str, base: str = "1", new: str = "2") -> int:
    """Return the extra net instructions of one operation in version `new`."""
    return round(_retired(row, new) - _retired(row, base))


def percent_more(row: str, base: str = "1", new: str = "2") -> str:
    """Format the extra instructions of version `new` in percent of version `base`."""
    difference = share(added_instructions(row, base, new), _retired(row, base))
    return difference if difference.startswith("-") else f"+{difference}"


def returning_instructions(row: str, name: str) -> int:
    """Return the instructions of a sample that put a call's result into the app's registers."""
    functions = sample_parts.profiles(profile_folder(name))[row, False].functions
    return sum(function.instructions for function in functions if RETURNING.search(function.name))


class CommitBuild(Part, frozen=True):
    """A build of a commit, with net instructions of one operation (i-cache off, one link)."""

    name: str  # the page's name for it
    commit: str
    toolchain: str
    opt_level: OptLevel
    instructions: tuple[Count, ...]  # one per row, in the order of `rows`
    date: str | None = None


class Bisection(Part, frozen=True):
    """The file of the commits that were built by hand."""

    format: Literal["tockmark-bisect"]
    rows: tuple[str, ...]
    builds: tuple[CommitBuild, ...]

    def instructions(self, row: str, name: str) -> int:
        """Return the instructions of a row in a build."""
        return self.every(name)[self.rows.index(row)]

    def every(self, name: str) -> tuple[int, ...]:
        """Return the instructions of all rows in a build. KeyError: no such build."""
        return {build.name: build.instructions for build in self.builds}[name]

    def table(self, first: str, rows: Iterable[tuple[str, Iterable[str]]]) -> str:
        """Return a table with the file's rows as columns. `first` is the heading of the titles,
        which are Markdown."""
        heads = [first, *(f"`{row}`" for row in self.rows)]
        return markdown(heads, ([Markup(title), *cells] for title, cells in rows))


@cache
def bisection() -> Bisection:
    return msgspec.json.decode((DATA / "bisect.json").read_bytes(), type=Bisection)


def commit_steps(titles: Iterable[tuple[str, str, str]]) -> str:
    """Return a table of the instructions that commits add. `titles`: (parent, commit, title)."""
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
    """Return a table of the instructions of builds. `titles`: (build, title)."""
    rows = ((title, map(number, bisection().every(name))) for name, title in titles)
    return bisection().table("kernel", rows)


@dataclass(frozen=True)
class StudiedRow:
    """A row of the study and ours: net cycles of one operation, i-cache off."""

    name: str
    study: float
    ours: list[float]  # one per shift
    retired: tuple[float | None, float | None]  # instructions of one operation: the study's, ours

    @property
    def verdict(self) -> str:
        """Whether the study's figure is inside our range; else by how much it is outside."""
        least, most = min(self.ours), max(self.ours)
        if self.study > most:
            return f"{text.percent(self.study / most - 1, digits=1)} above"
        if self.study < least:
            return f"{text.percent(1 - self.study / least, digits=1)} below"
        return "inside"


def studied_rows(study: CommittedResult, ours: CommittedResult) -> Iterator[StudiedRow]:
    """Yield the rows that both results have, if ours has several shifts of the code."""
    for (icache, name), row in study.rows.items():
        own = ours.row(name, False)
        if icache is False and row.per_op is not None and len(layout_nets(own)) > 1:
            yield StudiedRow(name, row.per_op, layout_nets(own), (retired(row), retired(own)))


def study_table(study: CommittedResult, ours: CommittedResult) -> str:
    """Return a table of the rows that both have, with the verdict on the study's figure."""
    heads = ["row", "the study's FPGA", "ours", "the study is"]
    rows = (
        [row.name, number(row.study), between(row.ours), row.verdict, *map(number, row.retired)]
        for row in studied_rows(study, ours)
    )
    return markdown([*heads, "instructions: study", "ours"], rows, words=(0, 3))


def study_counts(study: CommittedResult, ours: CommittedResult) -> Counter[str]:
    """Return how many of the study's figures are inside, above and below our range."""
    return Counter(row.verdict.rpartition(" ")[2] for row in studied_rows(study, ours))
