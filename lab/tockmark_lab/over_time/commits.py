# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A kernel over its commits: the file of a campaign, and what it contains.

The file has one JSON line per fact, appended as in a history: what was measured of a commit, why
nothing could be measured (a gap), or the verdict of `judge` on a commit and its base. The order of
lines does not matter. If a commit was measured twice, its rows add up, and it is no gap.

Commits are in the order of first parents. Commits off that line, such as a release's, are inserted
by date and have no neighbours. A jump is a change of instructions (which are exact with the cache
off) between a commit of the line and the next one that was measured, with the same apps on the same
machine. Rows of the simulator's clock have no instructions: their jumps are changes of cycles by
more than layout explains. If no commit is between the two, the commit of the jump is known.
"""

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, structs

from tockmark.base.documents import (
    KINDS,
    Count,
    Date,
    Part,
    Positive,
    RefusedError,
    SomeParams,
    check_version,
    convert,
    decode_strictly,
    format_of,
)
from tockmark.base.errors import TockmarkError
from tockmark.base.files import reading
from tockmark.base.paths import shown
from tockmark.result.provenance import Kernel, proofs, same_simulator
from tockmark.suite.catalogue import Catalogue, Lang, RowName
from tockmark_lab.over_time import history
from tockmark_lab.over_time.history import HistoryRow, HistoryRun

FORM: Literal["tockmark-commits"] = "tockmark-commits"
COMMITS_VERSION: Literal[1] = 1
TODO = "give a file that `tockmark-lab campaign` wrote"
# The largest change of cycles, as a share, that layout alone explains with the cache off: of rows
# without instructions, and of one whose alarm comes at any moment of a round trip.
LAYOUT = 0.06
LAYOUT_OF = {"sched.alarm_lateness beside=ipc icache=off": 0.3}
TOCK = "https://github.com/tock/tock"
SHORT = 9  # characters of a commit's name, where people read it
# Commits are compared only if their kernels have the same value of each of these factors.
ALIKE = ("machine", "clock", "timing", "simulator", "compiler", "ABI", "opt-level")
_PULL = re.compile(r"^Merge pull request #(\d+)|\(#(\d+)\)$")

CommitSha = Annotated[str, Meta(pattern="^[0-9a-f]{40}$")]


class LineCommit(Part, frozen=True):
    """A commit, as stored in the file."""

    sha: CommitSha
    date: Date  # the committer's
    subject: str
    place: Count | None = None  # number of first parents before it; None: off the line
    names: tuple[str, ...] = ()  # given by the user, such as a release
    toolchain: str | None = None  # that its tree asks for

    @property
    def short(self) -> str:
        return self.sha[:SHORT]

    @property
    def title(self) -> str:
        return ", ".join(self.names) or self.short

    @property
    def moment(self) -> datetime:
        """The time of the commit, with a time zone."""
        committed = datetime.fromisoformat(self.date)
        return committed if committed.tzinfo else committed.replace(tzinfo=UTC)

    @property
    def url(self) -> str:
        """The address of the commit."""
        return f"{TOCK}/commit/{self.sha}"

    @property
    def pull(self) -> int | None:
        """The pull request that the commit merged; None if its subject names none."""
        match = _PULL.search(self.subject)
        return int(match[1] or match[2]) if match else None


class MeasuredLine(Part, frozen=True):
    """The measurement of a commit."""

    format: Literal["tockmark-commits"]
    version: Literal[1]
    kind: Literal["measured"]
    commit: LineCommit
    only: str  # the rows that were asked for
    kernel: Kernel
    boots: Count  # that were simulated for it
    cycles: Count  # of all boots
    run: HistoryRun
    stands_for: tuple[CommitSha, ...] = ()  # gaps that it is measured for, as the nearest commit
    entries: dict[str, str] = msgspec.field(default_factory=dict)  # as in a result, by id


class GapLine(Part, frozen=True):
    """A commit that cannot be measured, and why."""

    format: Literal["tockmark-commits"]
    version: Literal[1]
    kind: Literal["gap"]
    commit: LineCommit
    cause: str


class CommitVerdict(RowName, Part, frozen=True):
    """The verdict of paired links on a row."""

    id: str
    base: float  # net cycles of one operation
    head: float
    estimate: float  # relative change of these
    low: float  # the ends of its interval
    high: float
    sure: bool
    more: float = 0.0  # change of instructions
    where: str = ""  # functions that contain the change, if they were searched for
    params: SomeParams = msgspec.field(default_factory=dict)
    icache: bool | None = None
    lang: Lang = "c"


class VerdictLine(Part, frozen=True):
    """The verdict of `judge` on two commits."""

    format: Literal["tockmark-commits"]
    version: Literal[1]
    kind: Literal["judged"]
    base: CommitSha
    head: CommitSha
    links: Positive  # per side, paired
    rows: tuple[CommitVerdict, ...]


AnyLine = MeasuredLine | GapLine | VerdictLine
LINES: dict[str, type[AnyLine]] = {"measured": MeasuredLine, "gap": GapLine, "judged": VerdictLine}


@dataclass
class MeasuredCommit:
    """Everything that was measured of one commit."""

    commit: LineCommit
    kernel: Kernel
    factors: dict[str, str]
    rows: dict[str, HistoryRow] = field(default_factory=dict)  # by their names
    asked: set[str] = field(default_factory=set)
    stands_for: set[str] = field(default_factory=set)
    entries: dict[str, str] = field(default_factory=dict)  # what the figures of an id depend on


@dataclass(frozen=True)
class Jump:
    """A change of a row's instructions, or of its cycles if it has no instructions, from one commit
    of the line to the next with that row."""

    row: str
    base: LineCommit
    head: LineCommit
    before: float  # net instructions (or cycles) of one operation
    after: float
    unit: Literal["instructions", "cycles"] = "instructions"
    judged: CommitVerdict | None = None  # by paired links
    built_anew: bool = False  # with another toolchain

    @property
    def change(self) -> float:
        return self.after - self.before

    @property
    def share(self) -> float:
        """The change as a share of the row."""
        return self.change / max(self.before, 1)

    @property
    def between(self) -> int:
        """The number of commits that may have caused it."""
        assert self.base.place is not None
        assert self.head.place is not None
        return self.head.place - self.base.place

    @property
    def exact(self) -> bool:
        return self.between == 1

    @property
    def where(self) -> str:
        """The commit with its pull request, or the commits that may have caused it."""
        if not self.exact:
            return f"one of {self.between}, {self.base.short}..{self.head.short}"
        pull = f", #{self.head.pull}" if self.head.pull else ""
        return f"{self.head.short}{pull}"


@dataclass(frozen=True)
class CommitPoint:
    """A row of a commit, or the mean of its rows."""

    commit: LineCommit
    instret: float | None  # of one operation
    cycles: float  # of one link
    low: float  # over its samples
    high: float
    jump: Jump | None = None  # that ends at this commit

    @property
    def figure(self) -> float:
        """The instructions, or the cycles of a row without instructions."""
        return self.cycles if self.instret is None else self.instret


@dataclass(frozen=True)
class CommitTrail:
    """A row over the commits that have it, in their order."""

    name: str
    setting: str  # common to all its points
    points: tuple[CommitPoint, ...]

    @property
    def jumps(self) -> list[Jump]:
        return [point.jump for point in self.points if point.jump]

    @property
    def ends(self) -> tuple[CommitPoint, CommitPoint]:
        """The first and the last commit of the line."""
        line = [point for point in self.points if point.commit.place is not None] or [*self.points]
        return line[0], line[-1]


@dataclass
class CampaignData:
    """The contents of a campaign's file."""

    measured: dict[str, MeasuredCommit] = field(default_factory=dict)  # by sha
    gaps: dict[str, GapLine] = field(default_factory=dict)
    judged: dict[tuple[str, str], VerdictLine] = field(default_factory=dict)
    boots: int = 0
    cycles: int = 0

    def add(self, line: AnyLine) -> None:
        """Add the contents of a line."""
        if isinstance(line, GapLine):
            if line.commit.sha not in self.measured:
                self.gaps[line.commit.sha] = line
        elif isinstance(line, VerdictLine):
            self.judged[line.base, line.head] = line
        else:
            commit, run = line.commit, line.run
            measurement = self.measured.setdefault(
                commit.sha, MeasuredCommit(commit, line.kernel, run.factors)
            )
            measurement.commit = structs.replace(
                measurement.commit,
                names=tuple(dict.fromkeys((*measurement.commit.names, *commit.names))),
            )
            measurement.rows |= {row.name: row for row in run.rows}
            measurement.entries |= line.entries
            measurement.asked.add(line.only)
            measurement.stands_for.update(line.stands_for)
            self.gaps.pop(commit.sha, None)  # it was tried again
            self.boots += line.boots
            self.cycles += line.cycles

    @property
    def line(self) -> list[MeasuredCommit]:
        """The commits of the line, in order."""
        on_line = [
            measurement
            for measurement in self.measured.values()
            if measurement.commit.place is not None
        ]
        return sorted(on_line, key=lambda measurement: measurement.commit.place or 0)

    @property
    def all_commits(self) -> list[MeasuredCommit]:
        """All commits: the line's in order, the others inserted by date."""
        commits = self.line
        for measurement in self.measured.values():
            if measurement.commit.place is None:
                moment = measurement.commit.moment
                later = (n for n, other in enumerate(commits) if other.commit.moment > moment)
                commits.insert(next(later, len(commits)), measurement)
        return commits

    def trails(self, is_selected: Callable[[RowName], bool]) -> list[CommitTrail]:
        """Return the selected rows, commit by commit."""
        jumps = {(jump.row, jump.head.sha): jump for jump in self.jumps()}
        points_by_row: dict[tuple[str, str], list[CommitPoint]] = {}
        for measurement in self.all_commits:
            setting = history.setting_of(measurement.factors)
            for name, row in measurement.rows.items():
                if is_selected(row):
                    inner = row.inner
                    low, high = row.ends
                    point = CommitPoint(
                        commit=measurement.commit,
                        instret=None if row.instret is None else row.instret / inner,
                        cycles=row.cycles / inner,
                        low=low / inner,
                        high=high / inner,
                        jump=jumps.get((name, measurement.commit.sha)),
                    )
                    points_by_row.setdefault((name, setting), []).append(point)
        return [CommitTrail(*key, tuple(points)) for key, points in points_by_row.items()]

    def mean(self, catalogue: Catalogue) -> CommitTrail:
        """Return the geometric mean of the rows that touch the kernel, with the cache off, relative
        to the first commit. Each benchmark counts once."""
        every = self.all_commits
        counts, times = (dict(_means(every, series, catalogue)) for series in ("instret", "cycles"))
        points = []
        for commit in (
            measurement.commit for measurement in every if measurement.commit.sha in times
        ):
            cycles = times[commit.sha]
            points.append(CommitPoint(commit, counts.get(commit.sha), cycles, cycles, cycles))
        return CommitTrail("geometric mean", "", tuple(points))

    def jumps(self, least: float = 0.0) -> list[Jump]:
        """Return the jumps of all rows, by row and position: by more than `least` instructions, and
        all jumps of cycles."""
        found_jumps = []
        names = dict.fromkeys(name for measurement in self.line for name in measurement.rows)
        for name in names:
            with_row = [measurement for measurement in self.line if name in measurement.rows]
            for base, head in pairwise(with_row):
                jump = self._jump(name, base, head)
                if jump and (jump.unit == "cycles" or abs(jump.change) > least):
                    found_jumps.append(jump)
        return found_jumps

    def _jump(self, name: str, base: MeasuredCommit, head: MeasuredCommit) -> Jump | None:
        before, after = base.rows[name], head.rows[name]
        if before.icache is not False or before.inner != after.inner:
            return None
        if not (alike(base, head) and same_entry(base, head, before.id)):
            return None
        first, last = before.instret, after.instret
        unit: Literal["instructions", "cycles"] = "instructions"
        if first is None and last is None:
            unit, first, last = "cycles", before.cycles, after.cycles
            by_layout = LAYOUT_OF.get(name, LAYOUT) * before.cycles
            if abs(after.cycles - before.cycles) <= max(by_layout, before.inner):
                return None
        if first is None or last is None or first == last:
            return None
        judged = self.judged.get((base.commit.sha, head.commit.sha))
        sure = [row for row in judged.rows if row.name == name] if judged else []
        inner = before.inner
        return Jump(
            name,
            base.commit,
            head.commit,
            first / inner,
            last / inner,
            unit,
            sure[0] if sure else None,
            base.commit.toolchain != head.commit.toolchain,
        )


def _means(
    every: Sequence[MeasuredCommit], series: str, catalogue: Catalogue
) -> Iterator[tuple[str, float]]:
    """Yield each commit that was measured like the first complete one, with the mean of the rows
    that all of them have."""
    most = max((len(measurement.rows) for measurement in every), default=0)
    # Commits that were measured for --follow only are not complete.
    complete = [measurement for measurement in every if len(measurement.rows) > most / 2]
    complete = [measurement for measurement in complete if alike(measurement, complete[0])]
    shared = {
        name
        for name, row in (complete[0].rows if complete else {}).items()
        if all(
            name in measurement.rows and same_entry(measurement, complete[0], row.id)
            for measurement in complete
        )
    }
    for measurement in complete:
        ratios: dict[str, list[float]] = defaultdict(list)
        for name in shared:
            row, first = measurement.rows[name], complete[0].rows[name]
            benchmark = catalogue.benchmarks.get(row.id)
            values = getattr(row, series), getattr(first, series)
            if benchmark is None or benchmark.touches != "kernel" or row.icache is not False:
                continue
            if None in values or min(values) <= 0:
                continue
            ratios[row.id].append(math.log(values[0] / values[1]))
        if ratios:
            yield measurement.commit.sha, math.exp(fmean(fmean(logs) for logs in ratios.values()))


def alike(base: MeasuredCommit, head: MeasuredCommit) -> bool:
    """Return whether two commits were measured under the same conditions."""
    return all(
        base.factors.get(name) == head.factors.get(name)
        or (name == "simulator" and _proved_equal(base.factors.get(name), head.factors.get(name)))
        for name in ALIKE
    )


def _proved_equal(first: str | None, other: str | None) -> bool:
    """Return whether two simulators, by the start of their hashes, are proved equivalent."""
    builds = {f"sha256 {sha[:12]}": sha for proof in proofs() for sha in (proof.old, proof.new)}
    return same_simulator(builds.get(first or ""), builds.get(other or ""))


def same_entry(base: MeasuredCommit, head: MeasuredCommit, id_: str) -> bool:
    """Return whether two commits have the same catalogue entry of a benchmark; other entries may
    differ. Lines without entries must have the same catalogue."""
    first, second = (
        measurement.entries.get(id_, measurement.factors.get("catalogue"))
        for measurement in (base, head)
    )
    return first == second


def is_campaign_file(path: Path) -> bool:
    """Return whether a file is from a campaign."""
    with reading(path, "`tockmark-lab campaign` creates one"), path.open("rb") as file:
        return format_of(file.read(len(FORM) + 32).decode(errors="replace")) == FORM


def load_campaign(path: Path) -> tuple[CampaignData, list[str]]:
    """Read a campaign's file. Return its contents, and a message for each line that could not be
    read. A missing file is empty."""
    data = CampaignData()
    if not path.exists():
        return data, []
    with reading(path):
        content = path.read_bytes()
    kind = format_of(content.decode(errors="replace"))
    if kind not in (FORM, None):
        what, todo = KINDS.get(kind or "", ("another file", TODO))
        raise TockmarkError(f"{shown(path)} is {what}, not the file of a campaign", todo)
    lines: dict[int, AnyLine]
    lines, problems = history.read_lines(content, path, _line)
    for line in lines.values():
        data.add(line)
    return data, problems


def _line(raw: bytes, where: str) -> AnyLine | None:
    """Decode a line; None if it is incomplete."""

    def make(data: Any) -> AnyLine | None:
        if not isinstance(data, dict):
            return None
        check_version(data, FORM, COMMITS_VERSION, where, TODO)
        if (kind := data.get("kind")) not in LINES:
            raise RefusedError(f"unknown kind of line '{kind}'")
        return convert(data, LINES[kind])

    try:
        return decode_strictly(raw.decode(), make, where, TODO)
    except ValueError:
        return None


def append_line(path: Path, line: AnyLine) -> None:
    """Append a line and flush it to the disk."""
    history.append(path, lambda content: msgspec.json.encode(line))


def largest(jumps: Iterable[Jump], rows: Sequence[str] | None = None) -> list[Jump]:
    """Return the largest jump of each pair of commits, as a share of its row. The largest increase
    comes first, the largest decrease last."""
    best: dict[tuple[str, str], Jump] = {}
    for jump in jumps:
        pair = jump.base.sha, jump.head.sha
        if (rows is None or jump.row in rows) and (
            pair not in best or abs(jump.share) > abs(best[pair].share)
        ):
            best[pair] = jump
    return sorted(best.values(), key=lambda jump: -jump.share)
