# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verbs for changes of a kernel: judge says what one costs, bisect which one costs it."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from tockmark import paths
from tockmark.cli import options
from tockmark.cli.options import AsJson, Limits, Switch, show
from tockmark.cli.run_options import (
    BUILD,
    ELF,
    TREE,
    Abi,
    BoardName,
    FreshBuilds,
    ICaches,
    NoPatch,
    Workers,
    benchmarks,
    ended_once,
    recipe,
)
from tockmark.cli.verb import verb
from tockmark.compare.limits import load_limits
from tockmark.errors import INCOMPLETE, INTERRUPTED, KEPT, OK, REGRESSION, UNUSABLE, TockmarkError
from tockmark.files import check_writable, write_whole
from tockmark.judge import engine, evidence, report
from tockmark.judge.engine import SAMPLES, BisectLimit, CommitSearch, Simulated
from tockmark.rig import board as boards
from tockmark.rig.image import AppBuild
from tockmark.rig.kernel import read_kernel
from tockmark.rig.protocol import Ability, require
from tockmark.rig.run import RunOptions, Suite
from tockmark.suite import catalogue as catalogues
from tockmark.suite.selection import only_one, select
from tockmark.trees.builds import Builder, Given, Links, sides
from tockmark.trees.repository import repository, worktree

LONGEST = 12  # digits of a hash in a folder's name
LINKS = 4  # of each commit, where bisect looks at cycles


def _run_options(
    name: str,
    board: str,
    abi: int,
    icaches: list[bool],
    samples: int,
    workers: Workers,
    fresh: bool,
) -> RunOptions:
    """Return how a verb runs kernels. TockmarkError unless the board runs boots in parallel."""
    profiled = boards.load(board).configured({"cluster": workers.cluster})
    require(profiled.target, Ability.PARALLEL, name, profiled.name)
    return RunOptions(
        layouts=(),
        board=profiled,
        suites=(Suite(AppBuild.built(abi), [], []),),
        catalogue=catalogues.load(),
        icaches=icaches,
        all_samples=False,
        samples=samples,
        jobs=workers.at_a_time(profiled),
        fresh=fresh,
    )


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
    *,
    tree: Annotated[Path | None, TREE] = None,
    before: Annotated[
        str | None, typer.Argument(metavar="BASE", help="The commit before the change.")
    ] = None,
    after: Annotated[
        str | None, typer.Argument(metavar="HEAD", help="The commit with the change.")
    ] = None,
    build: Annotated[str | None, BUILD] = None,
    elf: Annotated[str | None, ELF] = None,
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
    limits: Limits = None,
    profiles: Annotated[
        int,
        typer.Option(
            min=0,
            help="Of so many rows that moved say where, by profiles; 0: no stacks either.",
        ),
    ] = evidence.ROWS,
    icache: ICaches = None,
    board: BoardName = boards.DEFAULT,
    abi: Abi = 2,
    samples: Annotated[
        int, typer.Option(min=9, help="At most so many samples of a row.")
    ] = engine.SAMPLES,
    workers: Workers,
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
    icaches = [True, False] if icache is None else [icache is Switch.ON]
    run_options = _run_options("judge", board, abi, icaches, samples, workers, fresh)
    allowed = load_limits(limits, run_options.catalogue)
    wanted = select(run_options.catalogue, only or engine.DEFAULT)
    with ended_once(), _pair(tree, before, after, build, elf, no_patch, fresh, base, head) as pair:
        start = time.monotonic()
        # A build that fails shall do so before anything is simulated.
        kernels = [read_kernel(links.upto(1)[0]) for links in pair.links]
        folder = output or paths.JUDGED / "-".join(kernel.sha256[:LONGEST] for kernel in kernels)
        of_both = [
            Simulated(name, links, run_options, folder)
            for name, links in zip(("base", "head"), pair.links, strict=True)
        ]
        judged = engine.judge(of_both[0], of_both[1], wanted, allowed, most)
        for side, result in zip(of_both, judged.results, strict=True):
            side.keep(result)
        seconds, building = time.monotonic() - start, sum(one.seconds for one in pair.builders)
        found = report.explain(judged, pair.titles, kernels, run_options, folder, profiles)
        found.notes.extend(f"{one.name}: {one.effort}" for one in of_both)
        found.notes.append(f"it took {seconds:.0f} s, building {building:.0f} of them")
    if comment is not None:
        write_whole({comment: report.markdown(found)})
    show(report.as_json(found) if as_json else report.render(found))
    raise typer.Exit(found.exit_code)


@dataclass(frozen=True)
class KernelPair:
    """Both sides of a change: what to call each, and its links."""

    titles: tuple[str, str]
    links: tuple[Links, Links]
    builders: tuple[Builder, ...] = ()  # none if the kernels were given


@contextmanager
def _pair(
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
    """Yield what is to be judged, as long as it can be built. TockmarkError unless it is given in
    one of the two ways, and whole."""
    of_tree = tree, before, after, build, elf
    if base and head and not any(of_tree):
        for path in (*base, *head):
            if not path.exists():
                raise TockmarkError(f"{paths.shown(path)} is not there", "give a kernel's ELF")
        yield KernelPair((_elves(base), _elves(head)), (Given(tuple(base)), Given(tuple(head))))
    elif tree and before and after and build and elf and not (base or head):
        with sides(tree, (before, after), recipe(build, elf, no_patch), fresh) as (old, new):
            titles = (str(old.commit), str(new.commit))
            yield KernelPair(titles, (old, new), (old.builder, new.builder))
    else:
        raise TockmarkError(
            "what to judge is given by halves, or twice",
            "give TREE BASE HEAD --build CMD --elf PATH, or --base ELF --head ELF",
        )


def _elves(given: list[Path]) -> str:
    """Return what to call links of one side."""
    more = f" and {len(given) - 1} more" if len(given) > 1 else ""
    return f"{paths.shown(given[0])}{more}"


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
    *,
    tree: Annotated[Path, TREE],
    good: Annotated[str, typer.Argument(metavar="GOOD", help="A commit before the change.")],
    bad: Annotated[str, typer.Argument(metavar="BAD", help="A later one, in which it is.")],
    row: Annotated[
        str,
        typer.Option(
            help="The benchmark, with its parameters if it has any: call.args:n=3.",
            autocompletion=options.one(benchmarks),
        ),
    ],
    limit: Annotated[
        str,
        typer.Option(help="A commit is bad whose figure is that far from GOOD's: '+2 %', '+33'."),
    ],
    build: Annotated[str, BUILD],
    elf: Annotated[str, ELF],
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
    workers: Workers,
    no_patch: NoPatch = False,
    fresh: FreshBuilds = False,
    as_json: AsJson = False,
) -> None:
    """Find the commit by which a row became dearer (or cheaper), from GOOD to BAD by first parents.

    Builds each commit that it looks at in a worktree of the tool's own; your files, index and
    branches stay as they are."""
    allowed, how_built = BisectLimit.read(limit), recipe(build, elf, no_patch)
    only_one(catalogues.load(), row)
    run_options = _run_options("bisect", board, abi, [icache is Switch.ON], SAMPLES, workers, fresh)
    found = repository(tree)
    line = found.line(found.commit(good), found.commit(bad))
    with ended_once(), worktree(found) as place:
        search = CommitSearch(
            row=row,
            series="cycles" if cycles else "instret",
            limit=allowed,
            links=links or (LINKS if cycles else 1),
            options=run_options,
            builder=Builder(place, how_built, fresh),
            line=line,
            say=(lambda text: None) if as_json else lambda text: print(text, flush=True),
        )
        suspects = search.suspects()
    show(search.as_json(suspects) if as_json else search.text(suspects))
    raise typer.Exit(OK if len(suspects) == 1 else INCOMPLETE)
