# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A kernel over its commits: the file of a campaign, and what it says.

The file has one JSON line for each thing that was found out, appended as a history's are: what was
measured of a commit, why nothing could be (a gap), or what `judge` says of a commit and its base.
Order counts for nothing; what is measured of a commit twice adds rows to it, and is no gap.

Commits stand in the order of first parents; those beside that line, such as a release's, stand by
their date and are no neighbours of any. A jump is a change of instructions, which are exact with
the cache off: between a commit of the line and the next one that was measured of it, with the same
apps on the same machine. If no commit lies between them, it is known which one it is.
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
from tockmark.result.provenance import Kernel
from tockmark.suite.catalogue import Catalogue, Lang, RowName
from tockmark_lab.over_time import history
from tockmark_lab.over_time.history import HistoryRow, HistoryRun

FORM: Literal["tockmark-commits"] = "tockmark-commits"
COMMITS_VERSION: Literal[1] = 1
TODO = "give a file that `tockmark-lab campaign` wrote"
SHORT = 9  # characters of a commit's name, where people read it
# Kernels that differ in these were not measured alike: no difference of them is the commits'.
ALIKE = ("machine", "clock", "timing", "simulator", "compiler", "ABI", "opt-level")
_PULL = re.compile(r"^Merge pull request #(\d+)|\(#(\d+)\)$")

CommitSha = Annotated[str, Meta(pattern="^[0-9a-f]{40}$")]


class LineCommit(Part, frozen=True):
    """A commit as the file has it."""

    sha: CommitSha
    date: Date  # the committer's
    subject: str
    place: Count | None = None  # how many first parents are before it; None: beside the line
    names: tuple[str, ...] = ()  # that the user gave it: a release
    toolchain: str | None = None  # that its tree asks for

    @property
    def short(self) -> str:
        return self.sha[:SHORT]

    @property
    def title(self) -> str:
        return ", ".join(self.names) or self.short

    @property
    def moment(self) -> datetime:
        """When it was committed, wherever that was."""
        found = datetime.fromisoformat(self.date)
        return found if found.tzinfo else found.replace(tzinfo=UTC)

    @property
    def pull(self) -> int | None:
        """The pull request that it merged; None if its subject tells none."""
        found = _PULL.search(self.subject)
        return int(found[1] or found[2]) if found else None


class MeasuredLine(Part, frozen=True):
    """What was measured of a commit."""

    format: Literal["tockmark-commits"]
    version: Literal[1]
    kind: Literal["measured"]
    commit: LineCommit
    only: str  # the rows that were asked for
    kernel: Kernel
    boots: Count  # that were simulated for it
    cycles: Count  # of them all
    run: HistoryRun
    stands_for: tuple[CommitSha, ...] = ()  # gaps that it is the nearest to
    entries: dict[str, str] = msgspec.field(default_factory=dict)  # as in a result: of each id


class GapLine(Part, frozen=True):
    """A commit of which nothing can be measured."""

    format: Literal["tockmark-commits"]
    version: Literal[1]
    kind: Literal["gap"]
    commit: LineCommit
    cause: str


class CommitVerdict(RowName, Part, frozen=True):
    """What paired links say of one row."""

    id: str
    base: float  # net cycles of one operation
    head: float
    estimate: float  # the share by which these changed
    low: float  # at least, and at most
    high: float
    sure: bool
    more: float = 0.0  # instructions that came, or went
    where: str = ""  # functions that the change is in, as far as they were looked for
    params: SomeParams = msgspec.field(default_factory=dict)
    icache: bool | None = None
    lang: Lang = "c"


class VerdictLine(Part, frozen=True):
    """What `judge` says of two commits."""

    format: Literal["tockmark-commits"]
    version: Literal[1]
    kind: Literal["judged"]
    base: CommitSha
    head: CommitSha
    links: Positive  # of a side, paired
    rows: tuple[CommitVerdict, ...]


AnyLine = MeasuredLine | GapLine | VerdictLine
LINES: dict[str, type[AnyLine]] = {"measured": MeasuredLine, "gap": GapLine, "judged": VerdictLine}


@dataclass
class MeasuredCommit:
    """All that was measured of one commit."""

    commit: LineCommit
    kernel: Kernel
    factors: dict[str, str]
    rows: dict[str, HistoryRow] = field(default_factory=dict)  # by their names
    asked: set[str] = field(default_factory=set)
    stands_for: set[str] = field(default_factory=set)
    entries: dict[str, str] = field(default_factory=dict)  # what figures of an id hang on


@dataclass(frozen=True)
class Jump:
    """A change of a row's instructions from one commit of the line to the next that has the row."""

    row: str
    base: LineCommit
    head: LineCommit
    before: float  # net instructions of one operation
    after: float
    cycles: tuple[float, float] | None = None  # of one link, on both sides
    judged: CommitVerdict | None = None  # by paired links
    built_anew: bool = False  # with another toolchain

    @property
    def change(self) -> float:
        return self.after - self.before

    @property
    def size(self) -> tuple[float, float]:
        """How large it is, whichever way: in instructions, and as a share."""
        return abs(self.change), abs(self.change) / max(self.before, 1)

    @property
    def between(self) -> int:
        """How many commits it may be."""
        assert self.base.place is not None
        assert self.head.place is not None
        return self.head.place - self.base.place

    @property
    def exact(self) -> bool:
        return self.between == 1

    @property
    def where(self) -> str:
        """The commit with its pull request, or those between which it is."""
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
    jump: Jump | None = None  # to here


@dataclass(frozen=True)
class CommitTrail:
    """A row over the commits that have it, in their order."""

    name: str
    setting: str  # what all were measured on
    points: tuple[CommitPoint, ...]

    @property
    def jumps(self) -> list[Jump]:
        return [point.jump for point in self.points if point.jump]

    @property
    def ends(self) -> tuple[CommitPoint, CommitPoint]:
        """The first and the last commit of the line."""
        line = [one for one in self.points if one.commit.place is not None] or [*self.points]
        return line[0], line[-1]


@dataclass
class CampaignData:
    """What a campaign's file holds."""

    measured: dict[str, MeasuredCommit] = field(default_factory=dict)  # by sha
    gaps: dict[str, GapLine] = field(default_factory=dict)
    judged: dict[tuple[str, str], VerdictLine] = field(default_factory=dict)
    boots: int = 0
    cycles: int = 0

    def take(self, line: AnyLine) -> None:
        """Take what a line says."""
        if isinstance(line, GapLine):
            if line.commit.sha not in self.measured:
                self.gaps[line.commit.sha] = line
        elif isinstance(line, VerdictLine):
            self.judged[line.base, line.head] = line
        else:
            commit, run = line.commit, line.run
            one = self.measured.setdefault(
                commit.sha, MeasuredCommit(commit, line.kernel, run.factors)
            )
            one.commit = structs.replace(
                one.commit, names=tuple(dict.fromkeys((*one.commit.names, *commit.names)))
            )
            one.rows |= {row.name: row for row in run.rows}
            one.entries |= line.entries
            one.asked.add(line.only)
            one.stands_for.update(line.stands_for)
            self.gaps.pop(commit.sha, None)  # it was tried again
            self.boots += line.boots
            self.cycles += line.cycles

    @property
    def line(self) -> list[MeasuredCommit]:
        """The commits of the line, in their order."""
        found = [one for one in self.measured.values() if one.commit.place is not None]
        return sorted(found, key=lambda one: one.commit.place or 0)

    @property
    def every(self) -> list[MeasuredCommit]:
        """All commits: those of the line in their order, those beside it by their date."""
        found = self.line
        for one in self.measured.values():
            if one.commit.place is None:
                later = (n for n, two in enumerate(found) if two.commit.moment > one.commit.moment)
                found.insert(next(later, len(found)), one)
        return found

    def trails(self, means: Callable[[RowName], bool]) -> list[CommitTrail]:
        """Return the rows that are meant, commit by commit."""
        jumps = {(jump.row, jump.head.sha): jump for jump in self.jumps()}
        found: dict[tuple[str, str], list[CommitPoint]] = {}
        for one in self.every:
            setting = ", ".join(f"{name} {one.factors[name]}" for name in history.GROUPED)
            for name, row in one.rows.items():
                if means(row):
                    inner = row.inner
                    low, high = row.span or (row.cycles, row.cycles)
                    point = CommitPoint(
                        commit=one.commit,
                        instret=None if row.instret is None else row.instret / inner,
                        cycles=row.cycles / inner,
                        low=low / inner,
                        high=high / inner,
                        jump=jumps.get((name, one.commit.sha)),
                    )
                    found.setdefault((name, setting), []).append(point)
        return [CommitTrail(*key, tuple(points)) for key, points in found.items()]

    def mean(self, catalogue: Catalogue) -> CommitTrail:
        """Return the geometric mean of the rows that touch the kernel, with the cache off, as a
        multiple of the first commit's. Each benchmark counts once."""
        every = self.every
        counts, times = (dict(_means(every, one, catalogue)) for one in ("instret", "cycles"))
        found = []
        for commit in (one.commit for one in every if one.commit.sha in times):
            cycles = times[commit.sha]
            found.append(CommitPoint(commit, counts.get(commit.sha), cycles, cycles, cycles))
        return CommitTrail("geometric mean", "", tuple(found))

    def jumps(self, least: float = 0.0) -> list[Jump]:
        """Return the jumps of all rows of more than `least` instructions, by row and place."""
        found = []
        names = dict.fromkeys(name for one in self.line for name in one.rows)
        for name in names:
            having = [one for one in self.line if name in one.rows]
            for base, head in pairwise(having):
                jump = self._jump(name, base, head)
                if jump is not None and abs(jump.change) > least:
                    found.append(jump)
        return found

    def _jump(self, name: str, base: MeasuredCommit, head: MeasuredCommit) -> Jump | None:
        before, after = base.rows[name], head.rows[name]
        if before.icache is not False or before.instret is None or after.instret is None:
            return None
        if not (alike(base, head) and same_entry(base, head, before.id)):
            return None
        if before.inner != after.inner or before.instret == after.instret:
            return None
        judged = self.judged.get((base.commit.sha, head.commit.sha))
        sure = [row for row in judged.rows if row.name == name] if judged else []
        inner = before.inner
        return Jump(
            name,
            base.commit,
            head.commit,
            before.instret / inner,
            after.instret / inner,
            (before.cycles / inner, after.cycles / inner),
            sure[0] if sure else None,
            base.commit.toolchain != head.commit.toolchain,
        )


def _means(
    every: Sequence[MeasuredCommit], series: str, catalogue: Catalogue
) -> Iterator[tuple[str, float]]:
    """Yield the commits that were measured like the first whole one, with the means of the rows
    that all of them have alike."""
    most = max((len(one.rows) for one in every), default=0)
    whole = [one for one in every if len(one.rows) > most / 2]  # no commit that was only followed
    whole = [one for one in whole if alike(one, whole[0])]
    shared = {
        name
        for name, row in (whole[0].rows if whole else {}).items()
        if all(name in one.rows and same_entry(one, whole[0], row.id) for one in whole)
    }
    for one in whole:
        ratios: dict[str, list[float]] = defaultdict(list)
        for name in shared:
            row, first = one.rows[name], whole[0].rows[name]
            known = catalogue.benchmarks.get(row.id)
            values = getattr(row, series), getattr(first, series)
            if known is None or known.touches != "kernel" or row.icache is not False:
                continue
            if None in values or min(values) <= 0:
                continue
            ratios[row.id].append(math.log(values[0] / values[1]))
        if ratios:
            yield one.commit.sha, math.exp(fmean(fmean(logs) for logs in ratios.values()))


def alike(one: MeasuredCommit, other: MeasuredCommit) -> bool:
    """Return whether two commits were measured alike."""
    return all(one.factors.get(name) == other.factors.get(name) for name in ALIKE)


def same_entry(one: MeasuredCommit, other: MeasuredCommit, id_: str) -> bool:
    """Return whether the catalogues of two commits said the same of a benchmark: others of them may
    have changed. Lines that do not tell are held to the whole catalogue."""
    first, second = (of.entries.get(id_, of.factors.get("catalogue")) for of in (one, other))
    return first == second


def is_campaign_file(path: Path) -> bool:
    """Return whether a file is one of a campaign."""
    with reading(path, "`tockmark-lab campaign` begins one"), path.open("rb") as file:
        return format_of(file.read(len(FORM) + 32).decode(errors="replace")) == FORM


def load_campaign(path: Path) -> tuple[CampaignData, list[str]]:
    """Return what a campaign's file holds, and what could not be read; nothing of a file that is
    not there."""
    found = CampaignData()
    if not path.exists():
        return found, []
    with reading(path):
        held = path.read_bytes()
    kind = format_of(held.decode(errors="replace"))
    if kind not in (FORM, None):
        what, todo = KINDS.get(kind or "", ("another file", TODO))
        raise TockmarkError(f"{shown(path)} is {what}, not what a campaign found", todo)
    lines: dict[int, AnyLine]
    lines, problems = history.read_lines(held, path, _line)
    for line in lines.values():
        found.take(line)
    return found, problems


def _line(raw: bytes, where: str) -> AnyLine | None:
    """Return what one line holds; None if it is torn."""

    def make(data: Any) -> AnyLine | None:
        if not isinstance(data, dict):
            return None
        check_version(data, FORM, COMMITS_VERSION, where, TODO)
        if (kind := data.get("kind")) not in LINES:
            raise RefusedError(f"a line of the kind '{kind}' is not known")
        return convert(data, LINES[kind])

    try:
        return decode_strictly(raw.decode(), make, where, TODO)
    except ValueError:
        return None


def append_line(path: Path, line: AnyLine) -> None:
    """Append a line; it is on the disk before this returns."""
    history.append(path, lambda held: msgspec.json.encode(line))


def largest(jumps: Iterable[Jump], rows: Sequence[str] | None = None) -> list[Jump]:
    """Return of each pair of commits the jump of the most instructions, and of several the one
    that is the largest share of its row; the dearest first, the best last."""
    best: dict[tuple[str, str], Jump] = {}
    for jump in jumps:
        pair = jump.base.sha, jump.head.sha
        if (rows is None or jump.row in rows) and (pair not in best or jump.size > best[pair].size):
            best[pair] = jump
    return sorted(best.values(), key=lambda jump: -jump.change)
