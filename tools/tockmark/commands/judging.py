# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verb `judge`: from two kernels to a verdict on the change between them."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from tockmark import paths
from tockmark.commands.choosing import Abi, BoardName, Cluster, Switch, at_a_time
from tockmark.commands.commits import FreshBuilds, NoPatch, recipe
from tockmark.commands.common import AsJson, Debug, print_json
from tockmark.commands.ending import ended_once
from tockmark.commands.verb import Group, add
from tockmark.errors import (
    INCOMPLETE,
    INTERRUPTED,
    KEPT,
    OK,
    REGRESSION,
    UNUSABLE,
    TockmarkError,
)
from tockmark.files import check_writable, write_whole
from tockmark.judge import gate
from tockmark.judging import engine, markdown, report, sides, where
from tockmark.judging.explain import explained
from tockmark.judging.sides import How, Simulated
from tockmark.suite import catalogue as catalogues
from tockmark.suite.select import select
from tockmark.target import board as boards
from tockmark.target.image import Apps, Kernel, read_kernel
from tockmark.target.protocol import Ability, require
from tockmark.tree.building import LINK_ARGS, Builder
from tockmark.tree.links import Given, Links
from tockmark.tree.links import sides as commits

LONGEST = 12  # digits of a hash in a folder's name


def register(app: typer.Typer) -> None:
    """Add this verb to the command line."""
    add(
        app,
        "judge",
        judge_verb,
        Group.COMPARE,
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


@dataclass(frozen=True)
class Pair:
    """Both sides of a change: what to call each, its links, and its first kernel."""

    titles: tuple[str, str]
    links: tuple[Links, Links]
    builders: tuple[Builder, ...] = ()  # none if the kernels were given

    @property
    def seconds(self) -> float:
        """What building took."""
        return sum(builder.seconds for builder in self.builders)

    @property
    def kernels(self) -> list[Kernel]:
        return [read_kernel(links.upto(1)[0]) for links in self.links]


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
        typer.Option(help=f"Which rows, as for --only elsewhere; default: {sides.DEFAULT}."),
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
    ] = where.ROWS,
    icache: Annotated[
        Switch | None, typer.Option(help="Instruction cache; default: on, and again off.")
    ] = None,
    board: BoardName = boards.DEFAULT,
    abi: Abi = 2,
    samples: Annotated[
        int, typer.Option(min=9, help="At most so many samples of a row.")
    ] = sides.SAMPLES,
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
    debug: Debug = False,
) -> None:
    """Judge a change of a kernel: which rows it moves, for certain, and where."""
    if comment is not None:
        check_writable([comment])
    known = catalogues.load()
    profiled = boards.load(board).configured({"cluster": cluster})
    require(profiled.target, Ability.PARALLEL, "judge", profiled.name)
    rules = gate.load_limits(limits, known)
    wanted = select(known, only or sides.DEFAULT)
    how = How(
        board=profiled,
        apps=Apps.built(abi),
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
        judged = engine.judge(of_both[0], of_both[1], wanted, rules, most)
        for side, result in zip(of_both, judged.results, strict=True):
            side.keep(result)
        said = [f"{one.name}: {one.told}" for one in of_both]
        said.append(
            f"it took {time.monotonic() - start:.0f} s, building {given.seconds:.0f} of them"
        )
        found = explained(judged, given.titles, kernels, how, folder, profiles)
        found.notes.extend(said)
    if comment is not None:
        write_whole({comment: markdown.markdown(found)})
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
) -> Iterator[Pair]:
    """What is to be judged, as long as it can be built. TockmarkError unless it is given in one of
    the two ways, and whole."""
    of_tree, of_elves = (tree, before, after, build, elf), (base, head)
    if all(of_elves) and not any(of_tree):
        assert base
        assert head
        for path in (*base, *head):
            if not path.exists():
                raise TockmarkError(f"{paths.shown(path)} is not there", "give a kernel's ELF")
        yield Pair((_elves(base), _elves(head)), (Given(tuple(base)), Given(tuple(head))))
    elif all(of_tree) and not any(of_elves):
        assert tree
        assert before
        assert after
        with commits(tree, (before, after), recipe(build or "", elf or "", no_patch), fresh) as two:
            old, new = two
            titles = (str(old.commit), str(new.commit))
            yield Pair(titles, (old, new), (old.builder, new.builder))
    else:
        raise TockmarkError(
            "what to judge is given by halves, or twice",
            "give TREE BASE HEAD --build CMD --elf PATH, or --base ELF --head ELF",
        )


def _elves(given: list[Path]) -> str:
    """What to call links of one side."""
    more = f" and {len(given) - 1} more" if len(given) > 1 else ""
    return f"{paths.shown(given[0])}{more}"


def default_folder(kernels: list[Kernel]) -> Path:
    """Where a judgement of these kernels is kept."""
    return paths.JUDGED / "-".join(kernel.sha256[:LONGEST] for kernel in kernels)
