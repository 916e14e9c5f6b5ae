# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A campaign: one commit after another is built, booted and measured, and each is a line of a file
(commits.py) before the next one begins.

Whatever ends it, the same command goes on: what stands in the file is neither built nor simulated
again. A commit that does not build or boot is a gap with its cause, and the nearest that does
stands in for it. Where a row jumps by more instructions than is allowed, the commits between are
halved until no commit lies between both sides of the jump.
"""

import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from msgspec import structs

from tockmark.base.errors import INCOMPLETE, INTERRUPTED, TockmarkError, printable_text, quoted
from tockmark.base.files import toml
from tockmark.base.paths import shown
from tockmark.judge.engine import Simulated
from tockmark.result.model import Result
from tockmark.suite.catalogue import named
from tockmark.suite.selection import Selection, select
from tockmark.target.run import RunOptions
from tockmark.trees.builds import Builder, BuildError, BuiltLinks
from tockmark.trees.repository import Commit, Repository
from tockmark_lab.over_time import history
from tockmark_lab.over_time.commits import (
    COMMITS_VERSION,
    FORM,
    CampaignData,
    GapLine,
    Jump,
    LineCommit,
    MeasuredLine,
    append_line,
    load_campaign,
)

PROBE = "loop.empty"  # the row of the shortest boot
TRIES = 4  # commits that are asked to stand in for a gap, at most
BEYOND = 20.0  # instructions of one operation that a jump may have before it is followed
_ERROR = re.compile(r"^error(\[\w+\])?: ")


class NoFigureError(TockmarkError):
    """A kernel was built of this commit, and nothing can be measured of it."""


@dataclass
class CampaignCost:
    """What a campaign took."""

    commits: int = 0
    builds: int = 0
    building: float = 0.0  # seconds
    boots: int = 0
    cycles: int = 0  # that were simulated
    seconds: float = 0.0

    def __str__(self) -> str:
        return (
            f"{self.commits} commits measured: {self.builds} builds in {self.building / 60:.1f}"
            f" minutes, {self.boots} boots of {self.cycles / 1e6:.0f} M simulated cycles;"
            f" {self.seconds / 60:.1f} minutes in all"
        )


def chosen(
    line: Sequence[Commit], every: int, named: Sequence[tuple[Commit, str]]
) -> list[tuple[Commit, str]]:
    """Return every so manieth commit of a line, the last, and those that are named, each with its
    name: in the line's order, what lies beside it first."""
    names = {commit.sha: name for commit, name in named}
    there = {commit.sha for commit in line}
    beside = [(commit, name) for commit, name in named if commit.sha not in there]
    last = len(line) - 1
    return beside + [
        (commit, names.get(commit.sha, ""))
        for number, commit in enumerate(line)
        if commit.sha in names or (every and (number % every == 0 or number == last))
    ]


@dataclass
class Campaign:
    """Measures commits of a line, and some beside it."""

    repository: Repository
    line: list[Commit]  # the range, the oldest first
    places: dict[str, int]  # of every commit of the line by sha, how many are before it
    path: Path  # of the file
    builder: Builder
    options: RunOptions  # as Simulated takes them
    only: str
    print_line: Callable[[str], None]
    tries: int = TRIES
    cost: CampaignCost = field(default_factory=CampaignCost)
    known: CampaignData = field(init=False)
    torn: list[str] = field(init=False)

    def __post_init__(self) -> None:
        """Read what is known. TockmarkError if that is of another line."""
        self.known, self.torn = load_campaign(self.path)
        for problem in self.torn:
            self.print_line(problem)
        for one in self.known.line:
            if self.places.get(one.commit.sha) != one.commit.place:
                raise TockmarkError(
                    f"{shown(self.path)} holds commits of another line: {one.commit.short}",
                    "give a range of the same branch, or another file with -f",
                )

    def run(self, chosen: Sequence[tuple[Commit, str]]) -> None:
        """Measure the chosen commits, each with the name that the user gave it, or none."""
        start = time.monotonic()
        try:
            for commit, name in chosen:
                if not self._measured(commit, self.only, name):
                    self._stand_in(commit)
        finally:
            self._count(start)

    def follow(self, rows: str, beyond: float = BEYOND) -> None:
        """Halve what lies between both sides of the jumps of some rows, the largest first, until
        no commit lies there, or none that can be measured."""
        start, wanted = time.monotonic(), select(self.options.catalogue, rows)
        dead: set[tuple[str, str]] = set()  # pairs of commits between which there is nothing more
        tried = set(self.known.gaps)  # a commit that was measured may lack the row, too
        try:
            while found := next(self._to_halve(wanted, beyond, dead), None):
                middle = self._middle(found, tried)
                if middle is None:
                    dead.add((found.base.sha, found.head.sha))
                else:
                    tried.add(middle.sha)
                    self._measured(middle, rows, "", f"{found.row} {found.change:+.0f}")
        finally:
            self._count(start)

    def _to_halve(
        self, wanted: Selection, beyond: float, dead: set[tuple[str, str]]
    ) -> Iterator[Jump]:
        """Yield the jumps of the range that are not exact yet, the largest first."""
        jumps = self.known.jumps(beyond)
        first, last = (self.places[end.sha] for end in (self.line[0], self.line[-1]))
        for jump in sorted(jumps, key=lambda jump: -abs(jump.change)):
            here = first <= (jump.base.place or 0) and (jump.head.place or 0) <= last
            row = next(r for m in self.known.line if (r := m.rows.get(jump.row)))
            known_dead = (jump.base.sha, jump.head.sha) in dead
            if here and not (jump.exact or known_dead) and wanted.includes(row):
                yield jump

    def _middle(self, jump: Jump, tried: set[str]) -> Commit | None:
        """Return the commit nearest to the middle that was not tried; None if there is none."""
        first = self.places[self.line[0].sha]
        low, high = (jump.base.place or 0) - first, (jump.head.place or 0) - first
        middle = (low + high) / 2
        there = [self.line[n] for n in sorted(range(low + 1, high), key=lambda n: abs(n - middle))]
        return next((one for one in there if one.sha not in tried), None)

    def _stand_in(self, gap: Commit) -> None:
        """Measure the nearest commit to one of which nothing can be measured."""
        if gap.sha not in self.places:
            return
        at, tried = self.line.index(gap), 0
        for away in range(1, self.tries + 1):
            for number in (at + away, at - away):
                if not 0 <= number < len(self.line) or tried >= self.tries:
                    continue
                tried += 1
                if self._measured(self.line[number], self.only, "", "", gap):
                    return
        self.print_line(f"none of {tried} commits beside {gap.short} can be measured, either")

    def _measured(
        self, commit: Commit, only: str, name: str, why: str = "", gap: Commit | None = None
    ) -> bool:
        """Measure a commit, unless it was; whether there is anything of it."""
        known = self.known.measured.get(commit.sha)
        if known is not None and (only in known.asked or self._names(only) <= known.rows.keys()):
            return True
        if commit.sha in self.known.gaps and not self.builder.fresh:
            return False
        told = self._told(commit, name)
        aside = f" ({why})" if why else f" (for {gap.short})" if gap else ""
        try:
            result, boots, cycles = self._simulated(commit, only)
        except (BuildError, NoFigureError) as error:
            cause = self._cause(commit, error)
            self._append(GapLine(FORM, COMMITS_VERSION, "gap", told, cause))
            self.print_line(f"gap       {commit}{aside}\n          {cause}")
            return False
        line = MeasuredLine(
            FORM,
            COMMITS_VERSION,
            "measured",
            told,
            only,
            structs.replace(result.provenance.kernel, file=None),
            boots,
            cycles,
            history.history_run(result),
            (gap.sha,) if gap else (),
            result.provenance.entries,
        )
        self._append(line)
        self.cost.commits += 1
        self.print_line(f"measured  {commit}{aside}: {len(line.run.rows)} rows")
        return True

    def _names(self, only: str) -> set[str]:
        """Return the rows that are asked for, as the file calls them."""
        (lang,) = self.options.langs
        rows = select(self.options.catalogue, only).rows([lang])
        return {named(id_, params, False, lang) for id_, params in rows}

    def _told(self, commit: Commit, name: str) -> LineCommit:
        """Return what the file says of a commit."""
        channel = self._said(commit, "rust-toolchain.toml", "toolchain", "channel")
        return LineCommit(
            commit.sha,
            self.repository.date(commit),
            commit.subject,
            self.places.get(commit.sha),
            (printable_text(name),) if name and not commit.sha.startswith(name) else (),
            channel,
        )

    def _said(self, commit: Commit, path: str, *keys: str) -> str | None:
        """Return what a TOML file of a commit's tree says; None if it says nothing."""
        try:
            found: Any = toml(self.repository.file(commit, path) or "")
        except ValueError:
            return None
        for key in keys:
            found = found.get(key) if isinstance(found, dict) else None
        return printable_text(str(found)) if isinstance(found, str | int) else None

    def _simulated(self, commit: Commit, only: str) -> tuple[Result, int, int]:
        """Return what was measured of a commit, and how many boots and cycles it took."""
        side = BuiltLinks(commit, self.builder)
        elf = side.up_to(1)[0]
        one = Simulated(commit.short, side, self.options, elf.parent)
        probe = self._of_link(one, PROBE)
        if not probe.rows:
            said = next(iter(probe.problems), "its boot printed no row")
            _, _, why = said.partition(": ")  # behind the name of the boot
            raise NoFigureError(f"does not boot: {(why or said).partition(': ')[0]}")
        result = self._of_link(one, only)
        boots = result.provenance.boots
        spent = sum(sum(boot.cycles.values()) for boot in boots)
        if one.taken < one.boots:  # or all was simulated before
            self.cost.cycles += spent
        self.cost.boots += one.boots - one.taken
        if not result.table:
            said = next(iter(result.incomplete), "nothing was printed")
            raise NoFigureError(f"boots, but has none of the rows: {said}")
        return result, len(boots), spent

    def _of_link(self, one: Simulated, only: str) -> Result:
        """Return what one link gives. NoFigureError if the kernel panicked; any other TockmarkError
        is not the commit's fault."""
        before = one.boots
        try:
            (result,) = one.measured(0, 1, select(self.options.catalogue, only))
        except TockmarkError as error:
            if error.code == INTERRUPTED or one.boots == before:
                raise
            raise NoFigureError(error.problem) from error
        if one.boots - before < len(result.provenance.boots):  # of those that were laid
            said = next(iter(result.problems), "a boot did not begin")
            raise TockmarkError(said, "the same command goes on from there", INCOMPLETE)
        return result

    def _cause(self, commit: Commit, error: TockmarkError) -> str:
        """Say in one line why there is nothing of a commit, without where this machine has it."""
        said = error.problem
        if isinstance(error, BuildError):
            log = self.builder.elf_path(commit).with_name("build.log")
            lines = log.read_text(errors="replace").splitlines() if log.exists() else []
            errors = [line for line in lines if _ERROR.match(line)]
            said = f"does not build: {errors[0] if errors else said}"
        for folder in (self.builder.worktree.path, self.builder.elf_path(commit).parent):
            said = said.replace(f"{folder}/", "").replace(f"{shown(folder)}/", "")
        return quoted(said.replace(str(Path.home()), "~"))

    def _append(self, line: MeasuredLine | GapLine) -> None:
        append_line(self.path, line)
        self.known.take(line)

    def _count(self, start: float) -> None:
        self.cost.seconds += time.monotonic() - start
        self.cost.builds, self.cost.building = len(self.builder.built), self.builder.seconds
