# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Ctrl-C, and SIGTERM like it: the first ends a run, and no other one loses what the run keeps."""

import hashlib
import json
import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path, PurePosixPath
from typing import Annotated

import typer

from tockmark import paths
from tockmark.errors import INCOMPLETE, OK, TockmarkError
from tockmark.files import check_writable, is_through
from tockmark.paths import shown
from tockmark.result.model import Result
from tockmark.rig import board as boards
from tockmark.rig.board import BoardProfile
from tockmark.rig.cluster import at_a_time as there
from tockmark.rig.protocol import Ability
from tockmark.suite import catalogue as catalogues
from tockmark.suite.catalogue import Catalogue, Lang, Params
from tockmark.suite.selection import TOUCHES, Selection, of_names, select
from tockmark.trees.builds import LINK_ARGS, Patch, Recipe
from tockmark.trees.patch import put_in

_BY = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def ended_once() -> Iterator[None]:
    """Within, the first is a KeyboardInterrupt; those behind it are ignored."""
    before = [signal.signal(number, _end) for number in _BY]
    try:
        yield
    finally:
        for number, handler in zip(_BY, before, strict=True):
            signal.signal(number, handler)


def end_no_more() -> None:
    """From here on all are ignored."""
    for number in _BY:
        signal.signal(number, signal.SIG_IGN)


def _end(number: int, frame: object) -> None:
    end_no_more()
    raise KeyboardInterrupt


# What the shell may complete besides verbs, options and files: names that the checkout knows.


Completer = Callable[[str], list[str]]


def one(names: Callable[[], Iterable[str]]) -> Completer:
    """Completes one of these names."""
    return lambda incomplete: [name for name in names() if name.startswith(incomplete)]


def several(names: Callable[[], Iterable[str]]) -> Completer:
    """Completes the last of several names that stand between commas."""

    def completed(incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",")
        return [f"{before}{comma}{name}" for name in names() if name.startswith(last)]

    return completed


def rows() -> list[str]:
    """What --only takes: ids, groups, and what a benchmark touches. Parameters are typed by hand:
    a colon ends a word for some shells."""
    known = catalogues.load()
    return [*known.benchmarks, *known.groups(), *TOUCHES]


def benchmarks() -> list[str]:
    """The ids of the catalogue."""
    return list(catalogues.load().benchmarks)


def machines() -> list[str]:
    """Those that are simulated."""
    return sorted({one.machine for one in map(boards.load, boards.names()) if one.kind == "sim"})


# What verbs that run or lay the suite have in common: options, and what they mean.


class Switch(StrEnum):
    """on or off."""

    ON = "on"
    OFF = "off"


KernelFile = Annotated[
    Path | None, typer.Option(help="ELF of the kernel to measure; default: the baseline's.")
]
KernelName = Annotated[
    str | None, typer.Option(help="What to call a kernel that does not say its name.")
]
OptLevel = Annotated[
    str | None,
    typer.Option(help="What a kernel was built with that does not say it: 0 to 3, s or z."),
]
KernelManifest = Annotated[
    Path | None,
    typer.Option(help="TOML file that says of a kernel: name, commit, opt_level, flags, rustc."),
]
Abi = Annotated[int, typer.Option(min=1, max=2, help="Version of the system-call interface.")]
Languages = Annotated[
    str,
    typer.Option(
        "--lang",
        help="Languages of the apps, separated by commas: c, rust.",
        autocompletion=several(lambda: catalogues.LANGS),
    ),
]
OneLanguage = Annotated[
    str,
    typer.Option(
        "--lang",
        help="Language of the apps: c or rust.",
        autocompletion=one(lambda: catalogues.LANGS),
    ),
]
Cluster = Annotated[
    str | None,
    typer.Option(help="Simulate on a Dask cluster: address of its scheduler, tcp://HOST:8786."),
]
Fresh = Annotated[
    bool,
    typer.Option("--fresh", help="Simulate also what was simulated before (`tockmark cache`)."),
]
BoardName = Annotated[
    str,
    typer.Option(
        help="Board profile: the name of a file in boards/.",
        autocompletion=one(boards.names),
    ),
]


def languages(given: str) -> list[Lang]:
    """Those that --lang names."""
    return [catalogues.language(name) for name in of_names("lang", given, catalogues.LANGS)]


def one_language(given: str) -> Lang:
    """The one that --lang names where there can be only one."""
    first, *others = languages(given)
    if others:
        raise TockmarkError(f"--lang {given} names several languages", "name one of them")
    return first


def at_a_time(jobs: int | None, board: BoardProfile, cluster: str | None) -> int:
    """How many boots run at a time, here or on a cluster. TockmarkError if it is not there, or runs
    one only."""
    if Ability.PARALLEL in board.target.can:
        return jobs or (there(cluster) if cluster else os.cpu_count() or 1)
    if jobs not in (None, 1):
        raise TockmarkError(f"{board.name} runs one boot at a time", "leave out --jobs")
    return 1


# What verbs that build commits of the user's checkout have in common: options, and our patch.


Tree = Annotated[
    Path,
    typer.Argument(metavar="TREE", help="Top folder of your checkout of Tock; it stays as is."),
]
Build = Annotated[
    str,
    typer.Option(
        metavar="CMD",
        help="What builds a commit's kernel, for the shell, from the checkout's top folder. For"
        f" links that differ in layout it adds {LINK_ARGS} to the linker's arguments.",
    ),
]
Elf = Annotated[
    str, typer.Option(metavar="PATH", help="Where CMD puts the kernel, from the top folder.")
]
NoPatch = Annotated[
    bool,
    typer.Option("--no-patch", help="Do not put Perf into the commits: it is there, in all."),
]
FreshBuilds = Annotated[
    bool,
    typer.Option(
        "--fresh/--resume",
        help="Build and simulate also what is kept from before, or go on from there.",
    ),
]


def recipe(build: str, elf: str, no_patch: bool) -> Recipe:
    """How a kernel is made of a commit. TockmarkError if these options cannot be meant."""
    return Recipe(build, PurePosixPath(elf), None if no_patch else our_patch())


def our_patch() -> Patch:
    """What `tockmark patch` puts into a tree, where it is not there yet."""
    digest = hashlib.sha256()
    for folder in (paths.KERNEL_PATCHES, paths.PERF):
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            content = path.read_bytes()
            digest.update(f"{path.relative_to(paths.ROOT)}\0{len(content)}\0".encode() + content)
    return Patch(digest.hexdigest(), put_in)


# What several verbs share: options that mean the same everywhere, and how a result is judged.


SHOWN_REASONS = 20  # of an incomplete result, on stderr; the file has them all

Only = Annotated[
    str | None,
    typer.Option(
        help="Which rows: ids, groups, patterns, kernel or app, separated by commas:"
        " 'syscall,call.args:n=3'.",
        autocompletion=several(rows),
    ),
]
Force = Annotated[
    bool,
    typer.Option(
        "--force", help="Even if machine, clock or timing differ, or are not valid at all."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="For other programs.")]


def log_beside(path: Path) -> Path | None:
    """Where the log of a result goes: beside it, or nowhere if that is a device or a pipe.
    TockmarkError if the result, or the log, would replace what it should not."""
    not_a_log(path)
    log = None if is_through(path) else path.with_suffix(".log")
    check_writable([path] if log is None else [log, path])
    return log


def not_a_log(path: Path) -> None:
    """TockmarkError if a result would be called as a log is."""
    if path.suffix == ".log":
        raise TockmarkError(f"{shown(path)} is the name of a log", "end it in .json with -o")


def judge(result: Result) -> int:
    """Name on stderr what is wrong with a result; the exit code that it deserves."""
    reasons = result.incomplete
    for reason in reasons[:SHOWN_REASONS]:
        print(f"tockmark: {reason}", file=sys.stderr)
    if len(reasons) > SHOWN_REASONS:
        print(f"tockmark: and {len(reasons) - SHOWN_REASONS} more", file=sys.stderr)
    return INCOMPLETE if reasons else OK


def rows_of(results: Iterable[Result]) -> list[tuple[str, Params]]:
    """The rows that results have, in the catalogue or not: what can be selected besides it."""
    return [(row.id, row.params) for result in results for row in result.rows]


def selected(
    known: Catalogue, only: str | None, results: Iterable[Result]
) -> tuple[Selection, list[Result]]:
    """What --only means, and what is left of results by it, which is not nothing."""
    results = list(results)
    wanted = select(known, only, rows_of(results))
    left = [result.only(wanted) for result in results]
    if wanted and not any(one.rows or one.failed or one.skipped or one.missing for one in left):
        raise TockmarkError(
            f"these results have no row of '{only}'", "`tockmark table --all` shows what they have"
        )
    return wanted, left


def print_json(told: object) -> None:
    """What --json prints."""
    print(json.dumps(told, indent=1, ensure_ascii=False, allow_nan=False))
