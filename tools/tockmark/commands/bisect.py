# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verb `bisect`: the commit by which a row became dearer."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated

import typer

from tockmark.commands import completing
from tockmark.commands.choosing import Abi, BoardName, Cluster, Switch, at_a_time
from tockmark.commands.commits import Build, Elf, FreshBuilds, NoPatch, Tree, recipe
from tockmark.commands.common import AsJson, Debug, print_json
from tockmark.commands.ending import ended_once
from tockmark.commands.verb import Group, add
from tockmark.errors import INCOMPLETE, INTERRUPTED, KEPT, OK, UNUSABLE, TockmarkError
from tockmark.judging.sides import SAMPLES, How, Simulated
from tockmark.result.layouts import joined
from tockmark.suite import catalogue as catalogues
from tockmark.suite.catalogue import row_key
from tockmark.suite.select import only_one, select
from tockmark.target import board as boards
from tockmark.target.image import Apps
from tockmark.target.protocol import Ability, require
from tockmark.tree.building import LINK_ARGS, Builder
from tockmark.tree.links import Built
from tockmark.tree.repository import Commit, repository
from tockmark.tree.search import first_bad
from tockmark.tree.worktrees import worktree

LINKS = 4  # of each commit, where cycles are looked at
_LIMIT = re.compile(r"\s*([+-])\s*(\d+(?:\.\d+)?)\s*(%?)\s*")


def register(app: typer.Typer) -> None:
    """Add this verb to the command line."""
    add(
        app,
        "bisect",
        bisect_verb,
        Group.COMPARE,
        (
            "tockmark bisect ~/tock release-2.2 master --row syscall.command --limit '+2 %'"
            " --build 'make -C BOARD' --elf target/TARGET/release/NAME",
        ),
        {
            OK: "found",
            INCOMPLETE: "it is one of several commits, of which no others can be measured",
            UNUSABLE: "unusable input, wrong usage, nothing to be found, or an end that cannot be"
            " measured",
            INTERRUPTED: KEPT,
        },
    )


@dataclass(frozen=True)
class Limit:
    """How far a figure may go before it counts as bad."""

    sign: int  # 1: it may not rise further; -1: nor fall, for whoever looks for what was gained
    size: float
    percent: bool

    @staticmethod
    def of(text: str) -> "Limit":
        """'+2 %' or '-30'. TockmarkError if it is neither."""
        found = _LIMIT.fullmatch(text)
        if found is None:
            raise TockmarkError(f"'{text}' is no limit", "give one as '+2 %', '+33' or '-5 %'")
        return Limit(-1 if found[1] == "-" else 1, float(found[2]), found[3] == "%")

    def exceeded(self, good: float, figure: float) -> bool:
        """Whether a figure is beyond the limit, seen from the good one."""
        room = abs(good) * self.size / 100 if self.percent else self.size
        return (figure - good) * self.sign > room

    def __str__(self) -> str:
        return f"{'+' if self.sign > 0 else '-'}{self.size:g}{' %' * self.percent}"


@dataclass
class Measuring:
    """Measures one row of commits, and says what came of each."""

    row: str  # as the catalogue's one row is called
    series: str  # instret or cycles
    links: int
    how: How
    builder: Builder
    say: Callable[[str], None]
    figures: dict[str, float] = field(default_factory=dict)  # of one operation, by commit
    reasons: dict[str, str] = field(default_factory=dict)  # why there is none

    @property
    def unit(self) -> str:
        return "instructions" if self.series == "instret" else "cycles"

    def of(self, commit: Commit) -> float:
        """The row's figure. TockmarkError if there is none."""
        side = Built(commit, self.builder)
        elves = side.upto(self.links)
        if len(elves) < self.links:
            raise TockmarkError(
                f"--cycles needs {self.links} links that differ in layout; {commit.short} gives"
                f" {len(elves)}",
                f"let --build hand {LINK_ARGS} to lld (docs/trees.md), or give --links 1",
            )
        known = self.how.catalogue
        wanted = select(known, self.row)
        simulated = Simulated(commit.short, side, self.how, elves[0].parent)
        result = joined(simulated.measured(0, self.links, wanted))
        column = result.column(self.how.icaches[0], self.how.apps.lang)
        row = column.get(row_key(*only_one(known, self.row)))
        if row is None:
            said = next(iter(result.incomplete), "its boot did not print it")
            raise TockmarkError(f"{commit.short} has no {self.row}: {said}")
        series = row.series(self.series)
        if row.unsound or series is None or series.per_op is None:
            said = row.unsound or f"nothing counted its {self.unit}"
            raise TockmarkError(f"{self.row} of {commit.short} is of no use: {said}")
        self.figures[commit.sha] = series.per_op
        return series.per_op

    def is_bad(self, commit: Commit, good: float, limit: Limit) -> bool | None:
        """Whether a commit is beyond the limit; None, with the reason said, if it has no figure."""
        try:
            figure = self.of(commit)
        except TockmarkError as error:
            if error.code == INTERRUPTED:
                raise
            self.reasons[commit.sha] = str(error)
            self.say(f"skipped  {commit}\n         {error}")
            return None
        bad = limit.exceeded(good, figure)
        self.tell("bad" if bad else "good", commit, good)
        return bad

    def tell(self, verdict: str, commit: Commit, good: float) -> None:
        figure = self.figures[commit.sha]
        change = difference(good, figure) if figure != good else ""
        self.say(f"{verdict:8} {commit}\n         {figure:,g} {self.unit}{change}")


def difference(base: float, figure: float) -> str:
    """By how much a figure is another."""
    share = f" ({100 * (figure / base - 1):+.2f} %)" if base > 0 else ""
    return f", {figure - base:+,g}{share}"


def bisect_verb(
    tree: Tree,
    good: Annotated[str, typer.Argument(metavar="GOOD", help="A commit before the change.")],
    bad: Annotated[str, typer.Argument(metavar="BAD", help="A later one, in which it is.")],
    row: Annotated[
        str,
        typer.Option(
            help="The benchmark, with its parameters if it has any: call.args:n=3.",
            autocompletion=completing.one(completing.benchmarks),
        ),
    ],
    limit: Annotated[
        str,
        typer.Option(help="A commit is bad whose figure is that far from GOOD's: '+2 %', '+33'."),
    ],
    build: Build,
    elf: Elf,
    cycles: Annotated[
        bool, typer.Option("--cycles", help="Look at cycles; default: instructions.")
    ] = False,
    links: Annotated[
        int | None,
        typer.Option(
            min=1, help=f"Links of each commit, for their median; default: 1, {LINKS} of --cycles."
        ),
    ] = None,
    icache: Annotated[Switch, typer.Option(help="Instruction cache.")] = Switch.OFF,
    board: BoardName = boards.DEFAULT,
    abi: Abi = 2,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Simulators at a time; default: one a core.")
    ] = None,
    cluster: Cluster = None,
    no_patch: NoPatch = False,
    fresh: FreshBuilds = False,
    as_json: AsJson = False,
    debug: Debug = False,
) -> None:
    """Find the commit by which a row became dearer (or cheaper), from GOOD to BAD by first parents.

    Builds each commit that it looks at in a worktree of the tool's own; your files, index and
    branches stay as they are."""
    allowed = Limit.of(limit)
    how_built = recipe(build, elf, no_patch)
    known = catalogues.load()
    only_one(known, row)
    profiled = boards.load(board).configured({"cluster": cluster})
    require(profiled.target, Ability.PARALLEL, "bisect", profiled.name)
    how = How(
        board=profiled,
        apps=Apps.built(abi),
        catalogue=known,
        icaches=(icache is Switch.ON,),
        samples=SAMPLES,
        jobs=at_a_time(jobs, profiled, cluster),
        fresh=fresh,
    )
    found = repository(tree)
    line = found.line(found.commit(good), found.commit(bad))
    with ended_once(), worktree(found) as place:
        measuring = Measuring(
            row=row,
            series="cycles" if cycles else "instret",
            links=links or (LINKS if cycles else 1),
            how=how,
            builder=Builder(place, how_built, fresh),
            say=(lambda text: None) if as_json else lambda text: print(text, flush=True),
        )
        steps = (len(line) - 2).bit_length()
        measuring.say(f"{len(line)} commits, of which {2 + steps} or so are to be measured\n")
        reference = check_ends(measuring, line, allowed)
        suspects = first_bad(
            len(line), lambda number: measuring.is_bad(line[number], reference, allowed)
        )
    if as_json:
        print_json(as_dict(measuring, line, suspects))
    else:
        print(f"\n{told(measuring, line, suspects)}")
    raise typer.Exit(OK if len(suspects) == 1 else INCOMPLETE)


def check_ends(measuring: Measuring, line: list[Commit], limit: Limit) -> float:
    """The figure of the first commit, by which all are judged. TockmarkError unless the last one is
    beyond the limit."""
    reference = measuring.of(line[0])
    measuring.tell("good", line[0], reference)
    last = measuring.of(line[-1])
    if not limit.exceeded(reference, last):
        raise TockmarkError(
            f"{line[-1].short} is within {limit} of {line[0].short}: {measuring.row} takes"
            f" {last:,g} {measuring.unit}{difference(reference, last)}",
            "there is no change to look for; give another limit, row or range",
        )
    measuring.tell("bad", line[-1], reference)
    return reference


def told(measuring: Measuring, line: list[Commit], suspects: range) -> str:
    """What was found."""
    if len(suspects) > 1:
        shown = "\n".join(f"  {line[number]}" for number in suspects)
        return (
            f"The first bad commit is one of these {len(suspects)}; all but the last cannot be"
            f" measured:\n{shown}"
        )
    commit, before = line[suspects[0]], line[suspects[0] - 1]
    figures = measuring.figures
    change = difference(figures[before.sha], figures[commit.sha])
    return (
        f"The first bad commit is {commit}\n"
        f"  {measuring.row}: {figures[commit.sha]:,g} {measuring.unit}; {before.short}, its parent,"
        f" has {figures[before.sha]:,g}{change}"
    )


def as_dict(measuring: Measuring, line: list[Commit], suspects: range) -> dict[str, object]:
    """The same for other programs: the suspects, and what came of every commit that was looked
    at."""
    looked_at = [c for c in line if c.sha in measuring.figures or c.sha in measuring.reasons]
    return {
        "row": measuring.row,
        "unit": measuring.unit,
        "first_bad": [line[number].sha for number in suspects],
        "commits": [
            {
                "commit": commit.sha,
                "subject": commit.subject,
                "figure": measuring.figures.get(commit.sha),
                "skipped": measuring.reasons.get(commit.sha),
            }
            for commit in looked_at
        ],
    }
