# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A campaign: build, boot and measure commits of a branch one after another.

Each commit is appended to a file (commits.py) before the next one starts. After Ctrl-C the same
command continues: commits in the file are neither built nor simulated again. A commit that does not
build or boot is stored as a gap with its cause, and the nearest commit that does is measured
instead. `follow` bisects the commits between two whose rows differ by more instructions than a
limit, until the commit of the jump is known.
"""

import re
import time
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from msgspec import structs

from tockmark.base.errors import INCOMPLETE, INTERRUPTED, TockmarkError, printable_text, quoted
from tockmark.base.paths import shown
from tockmark.judge.engine import Simulated
from tockmark.result.model import Result
from tockmark.suite.catalogue import row_name
from tockmark.suite.selection import Selection, select
from tockmark.target.run import RunOptions
from tockmark.trees.builds import Builder, BuildError, BuiltLinks
from tockmark.trees.repository import Commit, Repository, git
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
TRIES = 4  # commits to try at most instead of a gap
BEYOND = 20.0  # instructions per operation; larger jumps are followed
_ERROR = re.compile(r"^error(\[\w+\])?: ")


class NotMeasurableError(TockmarkError):
    """A kernel was built but cannot be measured."""


LOG = ("--first-parent", "--no-show-signature", "--reverse")


def first_parents(repository: Repository, span: str) -> list[Commit]:
    """Return the commits of a range A..B by first parents, oldest first. Raise TockmarkError if it
    is not a range, or empty."""
    old, dots, new = span.partition("..")
    if not (old and dots and new) or new.startswith("."):
        raise TockmarkError(f"'{quoted(span)}' is not a range", "give one like v1..main")
    ends = f"{repository.commit(old).sha}..{repository.commit(new).sha}"
    lines = git(repository.tree, "log", *LOG, "--format=%H %s", ends).splitlines()
    if not lines:
        raise TockmarkError(f"{quoted(span)} contains no commit", "give the older commit first")
    pairs = (line.partition(" ") for line in lines)
    return [Commit(sha, printable_text(subject)) for sha, _, subject in pairs]


def positions(repository: Repository, tip: Commit) -> dict[str, int]:
    """Return the number of first parents before each commit of the line to `tip`, by hash."""
    line = git(repository.tree, "rev-list", "--first-parent", "--reverse", tip.sha).splitlines()
    return {sha: position for position, sha in enumerate(line)}


@dataclass
class CampaignCost:
    """The cost of a campaign."""

    commits: int = 0
    builds: int = 0
    building: float = 0.0  # seconds
    boots: int = 0
    cycles: int = 0  # simulated
    seconds: float = 0.0  # in all

    def __str__(self) -> str:
        return (
            f"{self.commits} commits measured: {self.builds} builds in {self.building / 60:.1f}"
            f" minutes, {self.boots} boots of {self.cycles / 1e6:.0f} M simulated cycles;"
            f" {self.seconds / 60:.1f} minutes in all"
        )


def chosen(
    line: Sequence[Commit], every: int, named: Sequence[tuple[Commit, str]]
) -> list[tuple[Commit, str]]:
    """Return every `every`th commit of the line and the last one (0: neither), and the named
    commits, each with its name or "". Commits off the line come first; the line keeps its order."""
    names = {commit.sha: name for commit, name in named}
    on_line = {commit.sha for commit in line}
    off_line = [(commit, name) for commit, name in named if commit.sha not in on_line]
    last = len(line) - 1
    return off_line + [
        (commit, names.get(commit.sha, ""))
        for number, commit in enumerate(line)
        if commit.sha in names or (every and (number % every == 0 or number == last))
    ]


@dataclass
class Campaign:
    """Measures commits of a line of first parents, and named commits off it."""

    repository: Repository
    line: list[Commit]  # the range, oldest first
    positions: dict[str, int]  # number of commits before each commit of the line, by sha
    path: Path  # of the file
    builder: Builder
    options: RunOptions  # as Simulated takes them
    only: str
    print_line: Callable[[str], None]
    tries: int = TRIES
    cost: CampaignCost = field(default_factory=CampaignCost)
    data: CampaignData = field(init=False)
    torn: list[str] = field(init=False)

    def __post_init__(self) -> None:
        """Read the file. TockmarkError if its commits are not on this line of first parents."""
        self.data, self.torn = load_campaign(self.path)
        for problem in self.torn:
            self.print_line(problem)
        for measurement in self.data.line:
            if self.positions.get(measurement.commit.sha) != measurement.commit.place:
                raise TockmarkError(
                    f"{shown(self.path)}: commit {measurement.commit.short} is on another branch",
                    "give a range of the same branch, or another file with -f",
                )

    def run(self, chosen: Sequence[tuple[Commit, str]]) -> None:
        """Measure the chosen commits, each with the name that the user gave it, if any."""
        start = time.monotonic()
        try:
            for commit, name in chosen:
                if not self._measure(commit, self.only, name):
                    self._measure_neighbour(commit)
        finally:
            self._count(start)

    def follow(self, rows: str, beyond: float = BEYOND) -> None:
        """Bisect the jumps of these rows, the largest first. A jump is done when its commit is
        known or no commit in between can be measured."""
        start, wanted = time.monotonic(), select(self.options.catalogue, rows)
        dead: set[tuple[str, str]] = set()  # pairs of commits with nothing left to measure between
        tried = set(self.data.gaps)  # without measured commits: they may lack the row
        try:
            while jump := next(self._unresolved_jumps(wanted, beyond, dead), None):
                middle = self._middle_commit(jump, tried)
                if middle is None:
                    dead.add((jump.base.sha, jump.head.sha))
                else:
                    tried.add(middle.sha)
                    self._measure(middle, rows, "", f"{jump.row} {jump.change:+.0f}")
        finally:
            self._count(start)

    def _unresolved_jumps(
        self, wanted: Selection, beyond: float, dead: set[tuple[str, str]]
    ) -> Iterator[Jump]:
        """Yield the jumps in the range whose commit is not known yet, the largest first."""
        jumps = self.data.jumps(beyond)
        first, last = (self.positions[end.sha] for end in (self.line[0], self.line[-1]))
        for jump in sorted(jumps, key=lambda jump: -abs(jump.change)):
            in_range = first <= (jump.base.place or 0) and (jump.head.place or 0) <= last
            row = next(r for m in self.data.line if (r := m.rows.get(jump.row)))
            is_dead = (jump.base.sha, jump.head.sha) in dead
            if in_range and not (jump.exact or is_dead) and wanted.includes(row):
                yield jump

    def _middle_commit(self, jump: Jump, tried: set[str]) -> Commit | None:
        """Return the untried commit nearest to the middle of a jump, or None."""
        first = self.positions[self.line[0].sha]
        low, high = (jump.base.place or 0) - first, (jump.head.place or 0) - first
        middle = (low + high) / 2
        between = [
            self.line[n] for n in sorted(range(low + 1, high), key=lambda n: abs(n - middle))
        ]
        return next((commit for commit in between if commit.sha not in tried), None)

    def _measure_neighbour(self, gap: Commit) -> None:
        """Measure the nearest commit that can be measured instead of a gap."""
        if gap.sha not in self.positions:
            return
        at, tried = self.line.index(gap), 0
        for away in range(1, self.tries + 1):
            for number in (at + away, at - away):
                if not 0 <= number < len(self.line) or tried >= self.tries:
                    continue
                tried += 1
                if self._measure(self.line[number], self.only, "", "", gap):
                    return
        self.print_line(f"none of {tried} commits next to {gap.short} can be measured")

    def _measure(
        self, commit: Commit, only: str, name: str, why: str = "", gap: Commit | None = None
    ) -> bool:
        """Measure a commit unless it is in the file. Return whether it has a measurement."""
        measurement = self.data.measured.get(commit.sha)
        if measurement is not None and (
            only in measurement.asked or self._names(only) <= measurement.rows.keys()
        ):
            return True
        if commit.sha in self.data.gaps and not self.builder.fresh:
            return False
        line_commit = self._line_commit(commit, name)
        note = f" ({why})" if why else f" (for {gap.short})" if gap else ""
        try:
            result, boots, cycles = self._simulate(commit, only)
        except (BuildError, NotMeasurableError) as error:
            cause = self._cause(commit, error)
            self._append(GapLine(FORM, COMMITS_VERSION, "gap", line_commit, cause))
            self.print_line(f"gap       {commit}{note}\n          {cause}")
            return False
        line = MeasuredLine(
            FORM,
            COMMITS_VERSION,
            "measured",
            line_commit,
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
        self.print_line(f"measured  {commit}{note}: {len(line.run.rows)} rows")
        return True

    def _names(self, only: str) -> set[str]:
        """Return the names of the requested rows, as in the file."""
        (lang,) = self.options.langs
        rows = select(self.options.catalogue, only).rows([lang])
        return {row_name(id_, params, False, lang) for id_, params in rows}

    def _line_commit(self, commit: Commit, name: str) -> LineCommit:
        """Return a commit in the form of the file."""
        channel = self._toml_value(commit, "rust-toolchain.toml", "toolchain", "channel")
        return LineCommit(
            commit.sha,
            git(
                self.repository.tree, "log", "-1", "--no-show-signature", "--format=%cI", commit.sha
            ),
            commit.subject,
            self.positions.get(commit.sha),
            (printable_text(name),) if name and not commit.sha.startswith(name) else (),
            channel,
        )

    def _toml_value(self, commit: Commit, path: str, *keys: str) -> str | None:
        """Return a value of a TOML file in a commit's tree, or None."""
        try:
            value: Any = tomllib.loads(self.repository.file(commit, path) or "")
        except ValueError:
            return None
        for key in keys:
            value = value.get(key) if isinstance(value, dict) else None
        return printable_text(str(value)) if isinstance(value, str | int) else None

    def _simulate(self, commit: Commit, only: str) -> tuple[Result, int, int]:
        """Simulate a commit. Return its result, and the boots and cycles that it took."""
        side = BuiltLinks(commit, self.builder)
        elf = side.up_to(1)[0]
        simulated = Simulated(commit.short, side, self.options, elf.parent)
        probe = self._link_result(simulated, PROBE)
        if not probe.rows:
            problem = next(iter(probe.problems), "its boot printed no row")
            _, _, why = problem.partition(": ")  # after the boot's name
            raise NotMeasurableError(f"does not boot: {(why or problem).partition(': ')[0]}")
        result = self._link_result(simulated, only)
        boots = result.provenance.boots
        spent = sum(sum(boot.cycles.values()) for boot in boots)
        if simulated.reused < simulated.boots:  # otherwise all boots came from the cache
            self.cost.cycles += spent
        self.cost.boots += simulated.boots - simulated.reused
        if not result.table:
            problem = next(iter(result.incomplete), "nothing was printed")
            raise NotMeasurableError(f"boots, but has none of the rows: {problem}")
        return result, len(boots), spent

    def _link_result(self, simulated: Simulated, only: str) -> Result:
        """Return the result of one link. NotMeasurableError if its kernel panicked; other errors
        are not the commit's fault."""
        before = simulated.boots
        try:
            (result,) = simulated.measured(0, 1, select(self.options.catalogue, only))
        except TockmarkError as error:
            if error.code == INTERRUPTED or simulated.boots == before:
                raise
            raise NotMeasurableError(error.problem) from error
        if simulated.boots - before < len(result.provenance.boots):  # an image was not booted
            problem = next(iter(result.problems), "a boot did not start")
            raise TockmarkError(problem, "run the same command again to continue", INCOMPLETE)
        return result

    def _cause(self, commit: Commit, error: TockmarkError) -> str:
        """Return in one line why a commit cannot be measured, without paths of this machine."""
        cause = error.problem
        if isinstance(error, BuildError):
            log = self.builder.elf_path(commit).with_name("build.log")
            lines = log.read_text(errors="replace").splitlines() if log.exists() else []
            errors = [line for line in lines if _ERROR.match(line)]
            cause = f"does not build: {errors[0] if errors else cause}"
        for folder in (self.builder.worktree.path, self.builder.elf_path(commit).parent):
            cause = cause.replace(f"{folder}/", "").replace(f"{shown(folder)}/", "")
        return quoted(cause.replace(str(Path.home()), "~"))

    def _append(self, line: MeasuredLine | GapLine) -> None:
        append_line(self.path, line)
        self.data.add(line)

    def _count(self, start: float) -> None:
        self.cost.seconds += time.monotonic() - start
        self.cost.builds, self.cost.building = len(self.builder.built), self.builder.seconds
