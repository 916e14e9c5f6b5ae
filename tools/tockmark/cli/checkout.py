# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verbs for the user's checkout of Tock.

`patch` prepares the checkout for the suite, `judge` measures what a change costs, and `bisect`
finds the commit that changed a cost."""

import shlex
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Annotated

import typer
from msgspec import structs
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
    one_line,
)
from tockmark.base.files import check_folder, check_writable, write_whole
from tockmark.cli import options, run_options
from tockmark.cli.program import verb
from tockmark.compare.limits import load_limits
from tockmark.judge import engine, report
from tockmark.judge.bisect import BisectLimit, CommitSearch
from tockmark.judge.engine import SAMPLES
from tockmark.latency import run as latency
from tockmark.result.provenance import Engine
from tockmark.show import text
from tockmark.suite import catalogue as catalogues
from tockmark.suite.selection import select, single_row, split_names
from tockmark.target import board as boards
from tockmark.target.image import AppBuild
from tockmark.target.protocol import Ability, require_ability
from tockmark.target.run import RunOptions, Suite
from tockmark.target.sources import digest_of
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

LINKS = 4  # links per commit when bisect compares cycles
# Rows that need a part of the patch, as terms of --only.
NEED_IPC = (
    "boot.restart, ctx.ring, fault.stop, ipc, some of sched.alarm_lateness,"
    " some of syscall.by_regions"
)
NEED = {"IPC": NEED_IPC, "the new IPC": "ipc2"}
DRIVERS: dict[str, str] = {
    name: catalogues.COUNTERS[name] for name in (catalogues.PERF, catalogues.CYCLECOUNT)
}
FreshBuilds = Annotated[
    bool,
    Option(
        "--fresh/--resume",
        help="Ignore (or reuse) earlier builds and simulations.",
    ),
]
NoPatch = Annotated[
    bool, Option("--no-patch", help="Do not patch the commits: all of them contain Perf.")
]
TREE = Argument(metavar="TREE", help="Your Tock checkout; it is not modified.")
BUILD = Option(
    metavar="CMD",
    help="Shell command that builds a kernel, run in the checkout's top folder; it is remembered."
    f" To build several links, it must pass ${LINK_ARGS} to the linker.",
)
ELF = Option(
    metavar="PATH",
    help="ELF that CMD builds, relative to the top folder (default: the only ELF that it wrote).",
)


def recipe(tree: Path, build: str | None, elf: str | None, no_patch: bool) -> Recipe:
    """Return how to build a kernel from a commit of a checkout, and store it.

    The command comes from --build, from an earlier call, or from a prompt at a terminal.
    TockmarkError if no command is known."""
    stored = builds.load_build_command(tree)
    if build is None and stored is None:
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise TockmarkError(
                f"{paths.shown(tree)}: no build command is known",
                "give the command with --build; it is remembered",
            )
        build = typer.prompt("Command that builds the kernel, from the top folder", err=True)
    command = builds.BuildCommand(build, elf or "") if build is not None else stored
    assert command is not None
    if elf is not None:
        command = structs.replace(command, elf=elf)
    elf_path = PurePosixPath(command.elf) if command.elf else None
    steps = Recipe(command.command, elf_path, None if no_patch else our_patch())
    builds.store_build_command(tree, command)
    return steps


def our_patch() -> Patch:
    """Return the patch of `tockmark patch`, for trees that do not have it yet."""
    files = (path for top in (paths.KERNEL_PATCHES, paths.PERF) for path in top.rglob("*"))
    return Patch(digest_of(filter(Path.is_file, files)), apply_patch)


@verb(
    "tockmark patch ~/tock",
    "tockmark patch ~/tock --check",
    "tockmark patch ~/tock --reverse",
    "tockmark patch ~/tock --board nrf52840dk --counter cyclecount",
    exits={
        OK: "the tree is patched (with --check: can be), or no longer with --reverse",
        UNUSABLE: "the patch does not fit, and nothing was changed; or wrong usage",
    },
)
def patch_verb(
    tree: Annotated[Path, Argument(metavar="DIR", help="Top folder of a Tock checkout.")],
    check: Annotated[
        bool, Option("--check", help="Change nothing; report whether the patch fits.")
    ] = False,
    reverse: Annotated[bool, Option("--reverse", help="Remove the patch.")] = False,
    counter: Annotated[
        str | None,
        options.names_option(
            lambda: DRIVERS,
            "Drivers to add, separated by commas: perf, or cyclecount, Tock's own driver"
            " (default: perf, or the driver that the board can have).",
        ),
    ] = None,
    board: Annotated[
        str | None,
        options.name_option(patch.board_names, "Board to wire (default: the Earl Grey board)."),
    ] = None,
) -> None:
    """Add the Perf capsule to a checkout of Tock, and wire it and IPC into the Earl Grey board.
    Other boards get CycleCount.

    Either the whole patch is applied or nothing changes. Only IPC is optional: if the tree has no
    place for it, the verb skips it and reports that. If the tree has the capsules of the new IPC,
    they are wired also. The verb does not build Tock."""
    if not tree.is_dir():
        raise TockmarkError(f"{tree}: not a folder", "give the top folder of a Tock checkout")
    names = split_names("counter", counter, DRIVERS) if counter is not None else []
    counters = [DRIVERS[name] for name in names]
    if board is not None and board not in (board_names := patch.board_names()):
        raise TockmarkError(
            f"--board {board}: the patch does not support this board",
            f"choose from: {', '.join(board_names)}",
        )
    done = (
        remove_patch(tree, check, board) if reverse else apply_patch(tree, check, counters, board)
    )
    commit = _commit(tree)
    print(f"{tree}: {tock_release(tree)}{f', at {commit[:9]}' if commit else ''}")
    if not done.changed:
        print(f"It is {'not patched' if reverse else 'patched already'}; nothing was changed.")
    elif check:
        possible = "The patch can be removed" if reverse else f"{_wired(done)} can be added"
        print(f"{possible}; nothing was changed.")
    else:
        print("The patch is removed." if reverse else _additions(done))
    if not reverse:
        for name, why in done.left_out.items():
            print(f"{name[0].upper()}{name[1:]} is not added: {why}.")
            print(f"These rows fail unless the tree itself wires it: {NEED[name]}.")
        if not check:
            print(_next_step(tree, done))


def _wired(done: PatchResult) -> str:
    """Return the names of the wired parts, in words."""
    *others, last = done.wired
    return f"{', '.join(others)} and {last}" if others else last


def _additions(done: PatchResult) -> str:
    """Return what was added to the tree, in words."""
    copies = [file for name in done.wired for file in done.family.parts[name].copies]
    added = " Added:" + "".join(f"\n  {file}" for file in copies) if copies else ""
    return f"{_wired(done)} wired into {done.family.board}.{added}"


def _next_step(tree: Path, done: PatchResult) -> str:
    """Return the next step for the user: build, then run."""
    command = ["tockmark", "run", *done.family.run, "--kernel", str(done.family.elf(tree))]
    return (
        f"Next, build {done.family.board} (see Tock's documentation), then run\n"
        f"  {shlex.join(command)}"
    )


def _commit(tree: Path) -> str | None:
    """Return the commit that is checked out in a tree, or None without git."""
    if not (tree / ".git").exists():
        return None
    try:
        done = run_git(tree, "rev-parse", "--verify", "HEAD")
    except TockmarkError:  # git is not installed, and not needed
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
    engine: Engine | None = None,
) -> RunOptions:
    """Return the options of a run. TockmarkError unless the board runs boots in parallel."""
    profile = boards.load(board).configured({"dask": dask, "engine": engine})
    require_ability(profile.target, Ability.PARALLEL, name, profile.name)
    return RunOptions(
        layouts=(),
        board=profile,
        suites=(Suite(AppBuild.built(abi), [], []),),
        catalogue=catalogues.load(),
        icaches=icaches,
        all_samples=False,
        samples=samples,
        jobs=run_options.parallel_jobs(jobs, profile),
        fresh=fresh,
    )


@dataclass(frozen=True)
class PairArguments:
    """The two sides of `judge`: two commits of a tree, or ELFs for each side."""

    tree: Annotated[
        Path | None,
        Argument(
            metavar="TREE",
            help="Your Tock checkout; it is not modified (default: the current directory).",
        ),
    ] = None
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
            help="Kernel ELF before the change, instead of commits. Repeat it for further links of"
            " the same source."
        ),
    ] = None
    head: Annotated[
        list[Path] | None,
        Option(help="Kernel ELF with the change, instead of commits. Repeatable."),
    ] = None

    def built(self, fresh: bool) -> AbstractContextManager[KernelPair]:
        """Return a context with both sides. TockmarkError unless they are complete in one form."""
        tree, before, after, build, elf = self.tree, self.before, self.after, self.build, self.elf
        if tree and before and not after:  # `judge BASE HEAD`, in the checkout
            tree, before, after = Path.cwd(), str(tree), before
        if self.base and self.head and not (tree or before or after or build or elf):
            return nullcontext(pair_of_kernels(self.base, self.head))
        if tree and before and after and not (self.base or self.head):
            steps = recipe(tree, build, elf, self.no_patch)
            return pair_of_commits(tree, (before, after), steps, fresh)
        raise TockmarkError(
            "give two commits or two kernels, not a mix",
            "for example `tockmark judge main HEAD`, or `tockmark judge --base a.elf --head b.elf`",
        )


@verb(
    "tockmark judge main HEAD --build 'make -C BOARD'  # the first time, in your checkout",
    "tockmark judge main HEAD",
    "tockmark judge ~/tock main my-change",
    "tockmark judge --base old1.elf --base old2.elf --head new1.elf --head new2.elf"
    " --markdown comment.md",
    "tockmark judge ~/tock main my-change --only irq --waits nothing,console",
    exits={
        OK: "pass, or only beyond a soft limit",
        INCOMPLETE: "something failed or is missing",
        UNUSABLE: "unusable input, wrong usage, or a kernel panicked",
        REGRESSION: "a regression: beyond a hard limit, a missing row, or a longer wait",
        INTERRUPTED: KEPT,
    },
)
def judge_verb(
    *,
    sides: PairArguments,
    only: Annotated[
        str | None,
        Option(help=f"Select rows, as --only of `tockmark run` (default: {engine.DEFAULT})."),
    ] = None,
    max_links: Annotated[
        int | None,
        Option(
            "--links",
            min=1,
            help="Build at most N links per side for rows in doubt (default:"
            f" {engine.MAX_PAIRS} if links can be paired, {engine.PAIRS} of them for every row;"
            f" else {engine.MAX_LINKS}).",
        ),
    ] = None,
    limits: options.Limits = None,
    profiles: Annotated[
        int,
        Option(min=0, help="Profile the N rows that changed most; 0 also skips stack depths."),
    ] = report.ROWS,
    waits: Annotated[
        str | None,
        options.names_option(
            lambda: [load.name for load in latency.read_loads()],
            "Also compare how long an alarm waits under these loads of `tockmark latency`"
            " (default: none).",
        ),
    ] = None,
    icache: run_options.ICaches = None,
    board: run_options.BoardName = boards.DEFAULT,
    abi: run_options.Abi = 2,
    samples: Annotated[int, Option(min=9, help="Take at most N samples per row.")] = engine.SAMPLES,
    jobs: run_options.Jobs = None,
    dask: run_options.Dask = None,
    core_engine: run_options.EngineName = None,
    fresh: FreshBuilds = False,
    output: Annotated[
        Path | None,
        options.output_option("Folder for the results (default: in build/judge/)."),
    ] = None,
    comment: Annotated[
        Path | None,
        Option("--markdown", help="Also write a comment for a pull request here, in Markdown."),
    ] = None,
    every: options.EveryRow = False,
    as_json: options.AsJson = False,
) -> None:
    """Judge a change of a kernel: the cost of each operation before and after, and where it
    changed."""
    if comment is not None:
        check_writable([comment])
    with _commented_error(comment), run_options.interruptible_once():
        if output is not None:
            check_folder(output)
        icaches = [True, False] if icache is None else [icache is options.Switch.ON]
        settings = parallel_options(
            "judge", board, abi, icaches, samples, jobs, fresh, dask, core_engine
        )
        allowed = load_limits(limits, settings.catalogue)
        wanted = select(settings.catalogue, only or engine.DEFAULT)
        request = report.JudgeOptions(settings, wanted, allowed, max_links, profiles, waits, output)
        start = time.monotonic()
        with sides.built(fresh) as pair:
            judged = report.judge_change(pair, request, start)
    if comment is not None:
        write_whole({comment: report.markdown(judged)})
    options.show(report.as_json(judged) if as_json else report.render(judged, every))
    raise Exit(judged.judgement.exit_code)


@contextmanager
def _commented_error(comment: Path | None) -> Iterator[None]:
    """Write an error also into the comment for a pull request."""
    try:
        yield
    except (TockmarkError, OSError) as error:
        if comment is not None:
            reason = text.escaped(one_line(error))
            write_whole({comment: f"### ❌ tockmark: nothing was judged\n\n{reason}\n"})
        raise


@verb(
    "tockmark bisect ~/tock release-2.2 master --row syscall.command --limit '+2 %'"
    " --build 'make -C BOARD' --elf target/TARGET/release/NAME",
    exits={
        OK: "the commit is found",
        INCOMPLETE: "several commits remain, and none between them can be measured",
        UNUSABLE: "unusable input, wrong usage, BAD is not bad, or GOOD or BAD cannot be measured",
        INTERRUPTED: KEPT,
    },
)
def bisect_verb(
    *,
    tree: Annotated[Path, TREE],
    good: Annotated[str, Argument(metavar="GOOD", help="A commit before the change.")],
    bad: Annotated[str, Argument(metavar="BAD", help="A later commit with the change.")],
    row: Annotated[
        str,
        options.name_option(
            run_options.benchmarks,
            "Benchmark with its parameters, such as call.args:n=3.",
        ),
    ],
    limit: Annotated[
        str,
        Option(
            help="A commit is bad if it differs from GOOD by more than this: '+2 %', '-2 %', '+33'."
        ),
    ],
    build: Annotated[str | None, BUILD] = None,
    elf: Annotated[str | None, ELF] = None,
    cycles: Annotated[
        bool, Option("--cycles", help="Compare cycles (default: instructions).")
    ] = False,
    links: Annotated[
        int | None,
        Option(min=1, help=f"Take the median of N links (default: 1, or {LINKS} with --cycles)."),
    ] = None,
    icache: Annotated[options.Switch, Option(help="Instruction cache.")] = options.Switch.OFF,
    board: run_options.BoardName = boards.DEFAULT,
    abi: run_options.Abi = 2,
    jobs: run_options.Jobs = None,
    no_patch: NoPatch = False,
    fresh: FreshBuilds = False,
    as_json: options.AsJson = False,
) -> None:
    """Find the commit that made a row more expensive (or cheaper), from GOOD to BAD by first
    parents.

    Commits are built in a worktree of the tool; your files, index and branches do not change."""
    allowed = BisectLimit.read(limit)
    steps = recipe(tree, build, elf, no_patch)
    single_row(catalogues.load(), row)
    settings = parallel_options(
        "bisect", board, abi, [icache is options.Switch.ON], SAMPLES, jobs, fresh
    )
    tree_repository = repository(tree)
    commits = tree_repository.commits_between(
        tree_repository.commit(good), tree_repository.commit(bad)
    )
    with run_options.interruptible_once(), worktree(tree_repository) as folder:
        search = CommitSearch(
            row=row,
            series="cycles" if cycles else "instret",
            limit=allowed,
            links=links or (LINKS if cycles else 1),
            options=settings,
            builder=Builder(folder, steps, fresh),
            line=commits,
            print_line=(lambda text: None) if as_json else lambda text: print(text, flush=True),
        )
        suspects = search.suspects()
    options.show(search.as_json(suspects) if as_json else search.text(suspects))
    raise Exit(OK if len(suspects) == 1 else INCOMPLETE)
