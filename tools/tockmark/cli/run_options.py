# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What verbs share that run or lay the suite: options, what they mean, and how Ctrl-C ends them.

A bundle is a dataclass of options that stand together in the signatures of several verbs
(app.py splices it in); its methods say what they mean.
"""

import hashlib
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Annotated

import typer
from typer import Argument, Option

from tockmark import paths
from tockmark.cli.options import Switch, languages, one_of
from tockmark.errors import TockmarkError
from tockmark.rig import board as boards
from tockmark.rig import dask
from tockmark.rig.board import BoardProfile
from tockmark.rig.kernel import KernelElf, named, read_kernel
from tockmark.rig.protocol import Ability
from tockmark.suite import catalogue as catalogues
from tockmark.suite.catalogue import Lang
from tockmark.trees import builds
from tockmark.trees.builds import LINK_ARGS, Patch, Recipe
from tockmark.trees.patch import put_in

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def ended_once() -> Iterator[None]:
    """Within, the first Ctrl-C or SIGTERM is a KeyboardInterrupt, which ends the run; further ones
    are ignored, so that none of them loses what the run keeps."""
    before = [signal.signal(number, _end) for number in _SIGNALS]
    try:
        yield
    finally:
        for number, handler in zip(_SIGNALS, before, strict=True):
            signal.signal(number, handler)


def end_no_more() -> None:
    """From here on Ctrl-C and SIGTERM are ignored."""
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def _end(number: int, frame: object) -> None:
    end_no_more()
    raise KeyboardInterrupt


def benchmarks() -> list[str]:
    """Return the ids of the catalogue, for the shell to complete."""
    return list(catalogues.load().benchmarks)


KernelFile = Annotated[
    Path | None, Option(help="ELF of the kernel to measure; default: the baseline's.")
]
KernelName = Annotated[str | None, Option(help="What to call a kernel that does not say its name.")]
KernelManifest = Annotated[
    Path | None,
    Option(help="TOML file that says of a kernel: name, commit, opt_level, flags, rustc."),
]
BoardName = Annotated[str, one_of(boards.names, "Board profile: the name of a file in boards/.")]
OneLanguage = Annotated[str, one_of(lambda: catalogues.LANGS, "Language of the apps: c or rust.")]
MaxCycles = Annotated[int | None, Option(min=1, help="Give the app up after so many cycles.")]
Abi = Annotated[int, Option(min=1, max=2, help="Version of the system-call interface.")]
ICaches = Annotated[Switch | None, Option(help="Instruction cache; default: on, and again off.")]
ICache = Annotated[Switch | None, Option(help="Instruction cache; default: as on the board.")]
Jobs = Annotated[int | None, Option(min=1, help="Simulators at a time; default: one a core.")]
Dask = Annotated[
    str | None,
    Option(
        metavar="ADDRESS",
        help="Simulate on the workers of this Dask scheduler, such as tcp://HOST:8786; default: on"
        " this machine.",
    ),
]
Fresh = Annotated[
    bool, Option("--fresh", help="Simulate also what was simulated before (`tockmark doctor`).")
]
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


@dataclass(frozen=True)
class KernelClaims:
    """What the user says of a kernel besides its ELF."""

    kernel_name: KernelName = None
    opt_level: Annotated[
        str | None,
        Option(help="What a kernel was built with that does not say it: 0 to 3, s or z."),
    ] = None
    kernel_manifest: KernelManifest = None

    def read(self, path: Path) -> KernelElf:
        """Read a kernel's ELF, and say of it what is said here."""
        return named(read_kernel(path), self.kernel_name, self.opt_level, self.kernel_manifest)


def at_a_time(jobs: int | None, board: BoardProfile) -> int:
    """Return how many boots run at a time: with Dask workers as many as these have threads, and
    one for each core here that makes images. TockmarkError if the board runs only one."""
    if Ability.PARALLEL in board.target.can:
        address = getattr(board.target, "dask", None)
        threads = sum(dask.connect(address).nthreads().values()) if address and not jobs else 0
        return jobs or threads + (os.cpu_count() or 1)
    if jobs not in (None, 1):
        raise TockmarkError(f"{board.name} runs one boot at a time", "leave out --jobs")
    return 1


def one_language(given: str) -> Lang:
    """Return the language that --lang names where there can be only one."""
    first, *others = languages(given)
    if others:
        raise TockmarkError(f"--lang {given} names several languages", "name one of them")
    return first


def recipe(tree: Path, build: str | None, elf: str | None, no_patch: bool) -> Recipe:
    """Return how a kernel is made of a commit of a checkout: as these options say, or as was said
    of it before, or as the user says now, at a terminal. It is remembered. TockmarkError if these
    options cannot be meant, or nothing is known."""
    known = builds.recall(tree)
    if build is None and known is None:
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise TockmarkError(
                f"what builds a kernel of {paths.shown(tree)} is not known",
                "give the command once with --build; later it is remembered",
            )
        build = typer.prompt("What builds the kernel, from the checkout's top folder", err=True)
    how = builds.HowBuilt(build, elf or "") if build is not None else known
    assert how is not None
    if elf is not None:
        how = replace(how, elf=elf)
    found = Recipe(
        how.command, PurePosixPath(how.elf) if how.elf else None, None if no_patch else our_patch()
    )
    builds.remember(tree, how)
    return found


def our_patch() -> Patch:
    """Return what `tockmark patch` puts into a tree, where it is not there yet."""
    digest = hashlib.sha256()
    for folder in (paths.KERNEL_PATCHES, paths.PERF):
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            content = path.read_bytes()
            digest.update(f"{path.relative_to(paths.ROOT)}\0{len(content)}\0".encode() + content)
    return Patch(digest.hexdigest(), put_in)
