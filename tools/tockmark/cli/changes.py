# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verb `judge`: from two kernels to a verdict on the change between them."""

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import typer

from tockmark import paths
from tockmark.cli import options
from tockmark.cli.options import (
    Abi,
    AsJson,
    BoardName,
    Build,
    Cluster,
    Elf,
    FreshBuilds,
    NoPatch,
    Switch,
    Tree,
    at_a_time,
    ended_once,
    print_json,
    recipe,
)
from tockmark.cli.verb import verb
from tockmark.compare.limits import load_limits
from tockmark.errors import INCOMPLETE, INTERRUPTED, KEPT, OK, REGRESSION, UNUSABLE, TockmarkError
from tockmark.files import check_writable, write_whole
from tockmark.judge import engine, evidence, report
from tockmark.judge.engine import SAMPLES, How, Simulated
from tockmark.judge.report import explained
from tockmark.result.build import joined
from tockmark.rig import board as boards
from tockmark.rig.image import AppBuild
from tockmark.rig.kernel import KernelElf, read_kernel
from tockmark.rig.protocol import Ability, require
from tockmark.suite import catalogue as catalogues
from tockmark.suite.catalogue import row_key
from tockmark.suite.selection import only_one, select
from tockmark.trees.builds import LINK_ARGS, Builder, Built, Given, Links, first_bad
from tockmark.trees.builds import sides as commits
from tockmark.trees.repository import Commit, repository, worktree

LONGEST = 12  # digits of a hash in a folder's name


@dataclass(frozen=True)
class KernelPair:
    """Both sides of a change: what to call each, its links, and its first kernel."""

    titles: tuple[str, str]
    links: tuple[Links, Links]
    builders: tuple[Builder, ...] = ()  # none if the kernels were given

    @property
    def seconds(self) -> float:
        """What building took."""
        return sum(builder.seconds for builder in self.builders)

    @property
    def kernels(self) -> list[KernelElf]:
        return [read_kernel(links.upto(1)[0]) for links in self.links]


@verb(
    (
        "tockmark judge ~/tock main my-change --build 'make -C BOARD'"
        " --elf target/TARGET/release/NAME",
        "tockmark judge --base old1.elf --base old2.elf --head new1.elf --head new2.elf"
        " --markdown comment.md",
    ),
    {
        OK: "pass",
        INCOMPLETE: "beyond a soft limit, or something is missing",
        UNUSABLE: "unusable input, wrong usage, or a kernel panicked",
        REGRESSION: "regression: beyond a hard limit, or a row is gone",
        INTERRUPTED: KEPT,
    },
)
def judge_verb(
    tree: Annotated[
        Path | None,
        typer.Argument(metavar="TREE", help="Top folder of your checkout of Tock; it stays as is."),
    ] = None,
    before: Annotated[
        str | None, typer.Argument(metavar="BASE", help="The commit before the change.")
    ] = None,
    after: Annotated[
        str | None, typer.Argument(metavar="HEAD", help="The commit with the change.")
    ] = None,
    build: Annotated[
        str | None,
        typer.Option(
            metavar="CMD",
            help="What builds a commit's kernel, for the shell, from the checkout's top folder. For"
            f" links that differ in layout it adds {LINK_ARGS} to the linker's arguments.",
        ),
    ] = None,
    elf: Annotated[
        str | None,
        typer.Option(metavar="PATH", help="Where CMD puts the kernel, from the top folder."),
    ] = None,
    no_patch: NoPatch = False,
    base: Annotated[
        list[Path] | None,
        typer.Option(
            help="In the place of commits: ELF of the kernel before the change. May be given again"
            " for links of the same source that differ in layout only."
        ),
    ] = None,
    head: Annotated[
        list[Path] | None, typer.Option(help="The same of the kernel with the change.")
    ] = None,
    only: Annotated[
        str | None,
        typer.Option(help=f"Which rows, as for --only elsewhere; default: {engine.DEFAULT}."),
    ] = None,
    most: Annotated[
        int,
        typer.Option("--links", min=1, help="Of a side at most so many links, for rows in doubt."),
    ] = engine.LINKS,
    limits: Annotated[
        Path | None, typer.Option(help="TOML file with limits; docs/comparing.md has the default.")
    ] = None,
    profiles: Annotated[
        int,
        typer.Option(
            min=0,
            help="Of so many rows that moved say where, by profiles; 0: no stacks either.",
        ),
    ] = evidence.ROWS,
    icache: Annotated[
        Switch | None, typer.Option(help="Instruction cache; default: on, and again off.")
    ] = None,
    board: BoardName = boards.DEFAULT,
    abi: Abi = 2,
    samples: Annotated[
        int, typer.Option(min=9, help="At most so many samples of a row.")
    ] = engine.SAMPLES,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Simulators at a time; default: one a core.")
    ] = None,
    cluster: Cluster = None,
    fresh: FreshBuilds = False,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="Folder for what is kept; default: in build/judge/."),
    ] = None,
    comment: Annotated[
        Path | None,
        typer.Option("--markdown", help="Write a comment for a pull request to this file, too."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Judge a change of a kernel: which rows it moves, for certain, and where."""
    if comment is not None:
        check_writable([comment])
    known = catalogues.load()
    profiled = boards.load(board).configured({"cluster": cluster})
    require(profiled.target, Ability.PARALLEL, "judge", profiled.name)
    allowed = load_limits(limits, known)
    wanted = select(known, only or engine.DEFAULT)
    how = How(
        board=profiled,
        apps=AppBuild.built(abi),
        catalogue=known,
        icaches=(True, False) if icache is None else (icache is Switch.ON,),
        samples=samples,
        jobs=at_a_time(jobs, profiled, cluster),
        fresh=fresh,
    )
    with ended_once(), pair(tree, before, after, build, elf, no_patch, fresh, base, head) as given:
        start = time.monotonic()
        kernels = given.kernels  # a build that fails shall do so before anything is simulated
        folder = output or default_folder(kernels)
        of_both = [
            Simulated(name, links, how, folder)
            for name, links in zip(("base", "head"), given.links, strict=True)
        ]
        judged = engine.judge(of_both[0], of_both[1], wanted, allowed, most)
        for side, result in zip(of_both, judged.results, strict=True):
            side.keep(result)
        said = [f"{one.name}: {one.told}" for one in of_both]
        said.append(
            f"it took {time.monotonic() - start:.0f} s, building {given.seconds:.0f} of them"
        )
        found = explained(judged, given.titles, kernels, how, folder, profiles)
        found.notes.extend(said)
    if comment is not None:
        write_whole({comment: report.markdown(found)})
    if as_json:
        print_json(report.as_json(found))
    else:
        print(report.render(found), end="")
    raise typer.Exit(found.exit_code)


@contextmanager
def pair(
    tree: Path | None,
    before: str | None,
    after: str | None,
    build: str | None,
    elf: str | None,
    no_patch: bool,
    fresh: bool,
    base: list[Path] | None,
    head: list[Path] | None,
) -> Iterator[KernelPair]:
    """What is to be judged, as long as it can be built. TockmarkError unless it is given in one of
    the two ways, and whole."""
    of_tree, of_elves = (tree, before, after, build, elf), (base, head)
    if all(of_elves) and not any(of_tree):
        assert base
        assert head
        for path in (*base, *head):
            if not path.exists():
                raise TockmarkError(f"{paths.shown(path)} is not there", "give a kernel's ELF")
        yield KernelPair((_elves(base), _elves(head)), (Given(tuple(base)), Given(tuple(head))))
    elif all(of_tree) and not any(of_elves):
        assert tree
        assert before
        assert after
        with commits(tree, (before, after), recipe(build or "", elf or "", no_patch), fresh) as two:
            old, new = two
            titles = (str(old.commit), str(new.commit))
            yield KernelPair(titles, (old, new), (old.builder, new.builder))
    else:
        raise TockmarkError(
            "what to judge is given by halves, or twice",
            "give TREE BASE HEAD --build CMD --elf PATH, or --base ELF --head ELF",
        )


def _elves(given: list[Path]) -> str:
    """What to call links of one side."""
    more = f" and {len(given) - 1} more" if len(given) > 1 else ""
    return f"{paths.shown(given[0])}{more}"


def default_folder(kernels: list[KernelElf]) -> Path:
    """Where a judgement of these kernels is kept."""
    return paths.JUDGED / "-".join(kernel.sha256[:LONGEST] for kernel in kernels)


# The verb `bisect`: the commit by which a row became dearer.


LINKS = 4  # of each commit, where cycles are looked at
_LIMIT = re.compile(r"\s*([+-])\s*(\d+(?:\.\d+)?)\s*(%?)\s*")


@dataclass(frozen=True)
class BisectLimit:
    """How far a figure may go before it counts as bad."""

    sign: int  # 1: it may not rise further; -1: nor fall, for whoever looks for what was gained
    size: float
    percent: bool

    @staticmethod
    def of(text: str) -> "BisectLimit":
        """'+2 %' or '-30'. TockmarkError if it is neither."""
        found = _LIMIT.fullmatch(text)
        if found is None:
            raise TockmarkError(f"'{text}' is no limit", "give one as '+2 %', '+33' or '-5 %'")
        return BisectLimit(-1 if found[1] == "-" else 1, float(found[2]), found[3] == "%")

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

    def is_bad(self, commit: Commit, good: float, limit: BisectLimit) -> bool | None:
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


@verb(
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
def bisect_verb(
    tree: Tree,
    good: Annotated[str, typer.Argument(metavar="GOOD", help="A commit before the change.")],
    bad: Annotated[str, typer.Argument(metavar="BAD", help="A later one, in which it is.")],
    row: Annotated[
        str,
        typer.Option(
            help="The benchmark, with its parameters if it has any: call.args:n=3.",
            autocompletion=options.one(options.benchmarks),
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
) -> None:
    """Find the commit by which a row became dearer (or cheaper), from GOOD to BAD by first parents.

    Builds each commit that it looks at in a worktree of the tool's own; your files, index and
    branches stay as they are."""
    allowed = BisectLimit.of(limit)
    how_built = recipe(build, elf, no_patch)
    known = catalogues.load()
    only_one(known, row)
    profiled = boards.load(board).configured({"cluster": cluster})
    require(profiled.target, Ability.PARALLEL, "bisect", profiled.name)
    how = How(
        board=profiled,
        apps=AppBuild.built(abi),
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
        print(f"\n{bisect_told(measuring, line, suspects)}")
    raise typer.Exit(OK if len(suspects) == 1 else INCOMPLETE)


def check_ends(measuring: Measuring, line: list[Commit], limit: BisectLimit) -> float:
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


def bisect_told(measuring: Measuring, line: list[Commit], suspects: range) -> str:
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
