# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verbs for the user's own checkout of Tock: patch readies it for the suite, judge says what a
change of it costs, bisect which change it is that costs."""

import hashlib
import shlex
import sys
import time
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Annotated

import typer
from typer import Argument, Exit, Option

from tockmark.base import paths
from tockmark.base.errors import (
    INCOMPLETE,
    INTERRUPTED,
    KEPT,
    OK,
    REGRESSION,
    UNUSABLE,
    TockmarkError,
)
from tockmark.base.files import check_folder, check_writable, write_whole
from tockmark.cli import options, run_options
from tockmark.cli.program import verb
from tockmark.compare.limits import load_limits
from tockmark.judge import engine, report
from tockmark.judge.bisect import BisectLimit, CommitSearch
from tockmark.judge.engine import SAMPLES
from tockmark.latency import run as latency
from tockmark.show import text
from tockmark.suite import catalogue as catalogues
from tockmark.suite.selection import select, single_row, split_names
from tockmark.target import board as boards
from tockmark.target.image import AppBuild
from tockmark.target.protocol import Ability, require_ability
from tockmark.target.run import RunOptions, Suite
from tockmark.trees import builds, patch
from tockmark.trees.builds import (
    LINK_ARGS,
    Builder,
    KernelPair,
    Patch,
    Recipe,
    pair_of_commits,
    pair_of_kernels,
)
from tockmark.trees.patch import PatchResult, apply_patch, remove_patch, tock_release
from tockmark.trees.repository import repository, run_git, worktree

WIDEST = 120  # columns of a table
LINKS = 4  # of each commit, where bisect looks at cycles
# What a kernel without a part of the patch cannot run, as `--only` has it.
NEED_IPC = (
    "boot.restart, ctx.ring, fault.stop, ipc, some of sched.alarm_lateness,"
    " some of syscall.by_regions"
)
NEED = {"IPC": NEED_IPC, "the new IPC": "ipc2"}
PUT_IN: dict[str, str] = {
    name: catalogues.COUNTERS[name] for name in (catalogues.PERF, catalogues.CYCLECOUNT)
}
FreshBuilds = Annotated[
    bool,
    Option(
        "--fresh/--resume",
        help="Build and simulate also what is kept from before, or go on from there.",
    ),
]
NoPatch = Annotated[
    bool, Option("--no-patch", help="Do not put Perf into the commits: it is there, in all.")
]
# Options of judge, which may be left out, and of bisect, which may not.
TREE = Argument(
    metavar="TREE",
    help="Top folder of your checkout of Tock; it stays as is. Default: where you stand.",
)
BUILD = Option(
    metavar="CMD",
    help="What builds a commit's kernel, for the shell, from the checkout's top folder; it is"
    f" remembered. For links that differ in layout it adds {LINK_ARGS} to the linker's arguments.",
)
ELF = Option(
    metavar="PATH",
    help="Where CMD puts the kernel, from the top folder; default: the kernel that it made.",
)


def recipe(tree: Path, build: str | None, elf: str | None, no_patch: bool) -> Recipe:
    """Return how a kernel is made of a commit of a checkout: as these options say, or as was said
    of it before, or as the user says now, at a terminal. It is remembered. TockmarkError if these
    options cannot be meant, or nothing is known."""
    known = builds.load_build_command(tree)
    if build is None and known is None:
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise TockmarkError(
                f"what builds a kernel of {paths.shown(tree)} is not known",
                "give the command once with --build; later it is remembered",
            )
        build = typer.prompt("What builds the kernel, from the checkout's top folder", err=True)
    how = builds.BuildCommand(build, elf or "") if build is not None else known
    assert how is not None
    if elf is not None:
        how = replace(how, elf=elf)
    found = Recipe(
        how.command, PurePosixPath(how.elf) if how.elf else None, None if no_patch else our_patch()
    )
    builds.store_build_command(tree, how)
    return found


def our_patch() -> Patch:
    """Return what `tockmark patch` puts into a tree, where it is not there yet."""
    digest = hashlib.sha256()
    for folder in (paths.KERNEL_PATCHES, paths.PERF):
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            content = path.read_bytes()
            digest.update(f"{path.relative_to(paths.ROOT)}\0{len(content)}\0".encode() + content)
    return Patch(digest.hexdigest(), apply_patch)


@verb(
    "tockmark patch ~/tock",
    "tockmark patch ~/tock --check",
    "tockmark patch ~/tock --reverse",
    "tockmark patch ~/tock --board nrf52840dk --counter cyclecount",
    exits={
        OK: "the tree is as was asked for, or with --check can be brought there",
        UNUSABLE: "it cannot, and nothing was changed; or wrong usage",
    },
)
def patch_verb(
    tree: Annotated[Path, Argument(metavar="DIR", help="Top folder of a Tock checkout.")],
    check: Annotated[
        bool, Option("--check", help="Change nothing; say whether it could be done.")
    ] = False,
    reverse: Annotated[bool, Option("--reverse", help="Take the patch out again.")] = False,
    counter: Annotated[
        str | None,
        options.names_option(
            lambda: PUT_IN,
            "What apps shall read, separated by commas: perf, or cyclecount, Tock's own driver;"
            " default: perf, or what the board takes.",
        ),
    ] = None,
    board: Annotated[
        str | None,
        options.name_option(
            patch.board_names, "The board to wire; default: the one with Earl Grey."
        ),
    ] = None,
) -> None:
    """Put the Perf capsule into a checkout of Tock, and wire it and IPC into the Earl Grey board.
    Other boards take CycleCount.

    The whole patch goes in, or nothing is changed; only IPC is left out, and that is said, where it
    has no place. A tree with the new IPC's capsules has these wired, too. Building Tock is left to
    you."""
    if not tree.is_dir():
        raise TockmarkError(f"{tree} is not a folder", "give the top folder of a Tock checkout")
    given = split_names("counter", counter, PUT_IN) if counter is not None else []
    counters = [PUT_IN[name] for name in given]
    if board is not None and board not in (known := patch.board_names()):
        raise TockmarkError(
            f"the patch knows no board '{board}'", f"choose one of: {', '.join(known)}"
        )
    done = (
        remove_patch(tree, check, board) if reverse else apply_patch(tree, check, counters, board)
    )
    commit = _commit(tree)
    print(f"{tree}: {tock_release(tree)}{f', at {commit[:9]}' if commit else ''}")
    if not done.changed:
        print(f"It is {'not patched' if reverse else 'patched already'}; nothing was changed.")
    elif check:
        what = "The patch can be taken out" if reverse else f"{_wired(done)} can be put in"
        print(f"{what}; nothing was changed.")
    else:
        print("The patch is out again." if reverse else _what_is_in(done))
    if not reverse:
        for name, why in done.left_out.items():
            print(f"{name[0].upper()}{name[1:]} is left out: {why}.")
            print(f"Rows that need it fail unless the tree wires it itself: {NEED[name]}.")
        if not check:
            print(_next(tree, done))


def _wired(done: PatchResult) -> str:
    """Return the parts that a tree takes."""
    *others, last = done.wired
    return f"{', '.join(others)} and {last}" if others else last


def _what_is_in(done: PatchResult) -> str:
    """Say what was put into the tree."""
    copies = [file for name in done.wired for file in done.family.parts[name].copies]
    added = " Added:" + "".join(f"\n  {file}" for file in copies) if copies else ""
    return f"{_wired(done)} wired into {done.family.board}.{added}"


def _next(tree: Path, done: PatchResult) -> str:
    """Say what to do with the tree now."""
    command = ["tockmark", "run", *done.family.run, "--kernel", str(done.family.elf(tree))]
    return (
        f"Next, build {done.family.board} as Tock's own documentation says, then\n"
        f"  {shlex.join(command)}"
    )


def _commit(tree: Path) -> str | None:
    """Return the commit that is checked out in a tree; None where git does not know."""
    if not (tree / ".git").exists():
        return None
    try:
        done = run_git(tree, "rev-parse", "--verify", "HEAD")
    except TockmarkError:  # there is no git, and none is needed
        return None
    return done.text.strip() or None


def parallel_options(
    name: str,
    board: str,
    abi: int,
    icaches: list[bool],
    samples: int,
    jobs: int | None,
    fresh: bool,
    dask: str | None = None,
) -> RunOptions:
    """Return how a verb runs kernels. TockmarkError unless the board runs boots in parallel."""
    profiled = boards.load(board).configured({"dask": dask})
    require_ability(profiled.target, Ability.PARALLEL, name, profiled.name)
    return RunOptions(
        layouts=(),
        board=profiled,
        suites=(Suite(AppBuild.built(abi), [], []),),
        catalogue=catalogues.load(),
        icaches=icaches,
        all_samples=False,
        samples=samples,
        jobs=run_options.parallel_jobs(jobs, profiled),
        fresh=fresh,
    )


@dataclass(frozen=True)
class PairGiven:
    """What `judge` is to compare: two commits of a tree, or the ELFs of both sides."""

    tree: Annotated[Path | None, TREE] = None
    before: Annotated[
        str | None, Argument(metavar="BASE", help="The commit before the change.")
    ] = None
    after: Annotated[str | None, Argument(metavar="HEAD", help="The commit with the change.")] = (
        None
    )
    build: Annotated[str | None, BUILD] = None
    elf: Annotated[str | None, ELF] = None
    no_patch: NoPatch = False
    base: Annotated[
        list[Path] | None,
        Option(
            help="In the place of commits: ELF of the kernel before the change. May be given again"
            " for links of the same source that differ in layout only."
        ),
    ] = None
    head: Annotated[
        list[Path] | None,
        Option(help="ELF of the kernel with the change. May be given again, too."),
    ] = None

    def built(self, fresh: bool) -> AbstractContextManager[KernelPair]:
        """Return both sides, as long as they can be built. TockmarkError unless they are given in
        one of the two ways, and whole."""
        tree, before, after, build, elf = self.tree, self.before, self.after, self.build, self.elf
        if tree and before and not after:  # the checkout is where the user stands
            tree, before, after = Path.cwd(), str(tree), before
        if self.base and self.head and not (tree or before or after or build or elf):
            return nullcontext(pair_of_kernels(self.base, self.head))
        if tree and before and after and not (self.base or self.head):
            how_built = recipe(tree, build, elf, self.no_patch)
            return pair_of_commits(tree, (before, after), how_built, fresh)
        raise TockmarkError(
            "give two commits or two kernels, not a mix",
            "as in `tockmark judge main HEAD`, or `tockmark judge --base a.elf --head b.elf`",
        )


@verb(
    "tockmark judge main HEAD --build 'make -C BOARD'  # the first time, in your checkout",
    "tockmark judge main HEAD",
    "tockmark judge ~/tock main my-change",
    "tockmark judge --base old1.elf --base old2.elf --head new1.elf --head new2.elf"
    " --markdown comment.md",
    "tockmark judge ~/tock main my-change --only irq --waits nothing,console",
    exits={
        OK: "pass, or beyond a soft limit alone",
        INCOMPLETE: "something failed or is missing",
        UNUSABLE: "unusable input, wrong usage, or a kernel panicked",
        REGRESSION: "regression: beyond a hard limit, a row is gone, or an alarm waits longer",
        INTERRUPTED: KEPT,
    },
)
def judge_verb(
    *,
    given: PairGiven,
    only: Annotated[
        str | None, Option(help=f"Which rows, as for --only elsewhere; default: {engine.DEFAULT}.")
    ] = None,
    most: Annotated[
        int | None,
        Option(
            "--links",
            min=1,
            help="Of a side at most so many links, for rows in doubt; default:"
            f" {engine.PAIRS} of paired ones, else {engine.LINKS}.",
        ),
    ] = None,
    limits: options.Limits = None,
    profiles: Annotated[
        int,
        Option(
            min=0, help="Of so many rows that moved say where, by profiles; 0: no stacks either."
        ),
    ] = report.ROWS,
    waits: Annotated[
        str | None,
        options.names_option(
            lambda: [load.name for load in latency.read_loads()],
            "How long an alarm waits beside these loads of `tockmark latency`, too, before and"
            " after.",
        ),
    ] = None,
    icache: run_options.ICaches = None,
    board: run_options.BoardName = boards.DEFAULT,
    abi: run_options.Abi = 2,
    samples: Annotated[
        int, Option(min=9, help="At most so many samples of a row.")
    ] = engine.SAMPLES,
    jobs: run_options.Jobs = None,
    dask: run_options.Dask = None,
    fresh: FreshBuilds = False,
    output: Annotated[
        Path | None, options.output_option("Folder for what is kept; default: in build/judge/.")
    ] = None,
    comment: Annotated[
        Path | None,
        Option("--markdown", help="Write a comment for a pull request to this file, too."),
    ] = None,
    every: options.EveryRow = False,
    as_json: options.AsJson = False,
) -> None:
    """Judge a change of a kernel: what each operation costs before and after, and where."""
    if comment is not None:
        check_writable([comment])
    if output is not None:
        check_folder(output)
    icaches = [True, False] if icache is None else [icache is options.Switch.ON]
    settings = parallel_options("judge", board, abi, icaches, samples, jobs, fresh, dask)
    allowed = load_limits(limits, settings.catalogue)
    wanted = select(settings.catalogue, only or engine.DEFAULT)
    asked = report.JudgeOptions(settings, wanted, allowed, most, profiles, waits, output)
    start = time.monotonic()
    with run_options.interruptible_once(), given.built(fresh) as pair:
        found = report.judge_change(pair, asked, start)
    if comment is not None:
        write_whole({comment: report.markdown(found)})
    options.show(
        report.as_json(found)
        if as_json
        else report.render(found, text.width_of_terminal(WIDEST), every)
    )
    raise Exit(found.exit_code)


@verb(
    "tockmark bisect ~/tock release-2.2 master --row syscall.command --limit '+2 %'"
    " --build 'make -C BOARD' --elf target/TARGET/release/NAME",
    exits={
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
    good: Annotated[str, Argument(metavar="GOOD", help="A commit before the change.")],
    bad: Annotated[str, Argument(metavar="BAD", help="A later one, in which it is.")],
    row: Annotated[
        str,
        options.name_option(
            run_options.benchmarks,
            "The benchmark, with its parameters if it has any: call.args:n=3.",
        ),
    ],
    limit: Annotated[
        str, Option(help="A commit is bad whose figure is that far from GOOD's: '+2 %', '+33'.")
    ],
    build: Annotated[str | None, BUILD] = None,
    elf: Annotated[str | None, ELF] = None,
    cycles: Annotated[
        bool, Option("--cycles", help="Look at cycles; default: instructions.")
    ] = False,
    links: Annotated[
        int | None,
        Option(
            min=1, help=f"Links of each commit, for their median; default: 1, {LINKS} of --cycles."
        ),
    ] = None,
    icache: Annotated[options.Switch, Option(help="Instruction cache.")] = options.Switch.OFF,
    board: run_options.BoardName = boards.DEFAULT,
    abi: run_options.Abi = 2,
    jobs: run_options.Jobs = None,
    no_patch: NoPatch = False,
    fresh: FreshBuilds = False,
    as_json: options.AsJson = False,
) -> None:
    """Find the commit by which a row became dearer (or cheaper), from GOOD to BAD by first parents.

    Builds each commit that it looks at in a worktree of the tool's own; your files, index and
    branches stay as they are."""
    allowed = BisectLimit.read(limit)
    how_built = recipe(tree, build, elf, no_patch)
    single_row(catalogues.load(), row)
    settings = parallel_options(
        "bisect", board, abi, [icache is options.Switch.ON], SAMPLES, jobs, fresh
    )
    found = repository(tree)
    line = found.commits_between(found.commit(good), found.commit(bad))
    with run_options.interruptible_once(), worktree(found) as place:
        search = CommitSearch(
            row=row,
            series="cycles" if cycles else "instret",
            limit=allowed,
            links=links or (LINKS if cycles else 1),
            options=settings,
            builder=Builder(place, how_built, fresh),
            line=line,
            print_line=(lambda text: None) if as_json else lambda text: print(text, flush=True),
        )
        suspects = search.suspects()
    options.show(search.as_json(suspects) if as_json else search.text(suspects))
    raise Exit(OK if len(suspects) == 1 else INCOMPLETE)
