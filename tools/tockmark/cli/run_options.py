# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What verbs share that run or lay the suite: options, what they mean, and how Ctrl-C ends them.

A bundle is a dataclass of options that stand together in the signatures of several verbs
(app.py splices it in); its methods say what they mean.
"""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from typer import Option

from tockmark.base.errors import TockmarkError
from tockmark.cli.options import Switch, languages, name_option
from tockmark.suite import catalogue as catalogues
from tockmark.suite.catalogue import Lang
from tockmark.target import board as boards
from tockmark.target import dask
from tockmark.target.board import BoardProfile
from tockmark.target.kernel import KernelElf, read_kernel, with_origin
from tockmark.target.protocol import Ability

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def interruptible_once() -> Iterator[None]:
    """Within, the first Ctrl-C or SIGTERM is a KeyboardInterrupt, which ends the run; further ones
    are ignored, so that none of them loses what the run keeps."""
    before = [signal.signal(number, _end) for number in _SIGNALS]
    try:
        yield
    finally:
        for number, handler in zip(_SIGNALS, before, strict=True):
            signal.signal(number, handler)


def ignore_interrupts() -> None:
    """From here on Ctrl-C and SIGTERM are ignored."""
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def _end(number: int, frame: object) -> None:
    ignore_interrupts()
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
BoardName = Annotated[str, name_option(boards.names, "Board profile, a file in boards/.")]
OneLanguage = Annotated[str, name_option(lambda: catalogues.LANGS, "Apps' language: c or rust.")]
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
        return with_origin(
            read_kernel(path), self.kernel_name, self.opt_level, self.kernel_manifest
        )


def parallel_jobs(jobs: int | None, board: BoardProfile) -> int:
    """Return how many boots run at a time: with Dask workers as many as these have threads, and
    one for each core here that makes images. TockmarkError if the board runs only one."""
    if Ability.PARALLEL in board.target.can:
        address = getattr(board.target, "dask", None)
        threads = sum(dask.connect(address).nthreads().values()) if address and not jobs else 0
        return jobs or threads + (os.cpu_count() or 1)
    if jobs not in (None, 1):
        raise TockmarkError(f"{board.name} runs one boot at a time", "leave out --jobs")
    return 1


def single_language(given: str) -> Lang:
    """Return the language that --lang names where there can be only one."""
    first, *others = languages(given)
    if others:
        raise TockmarkError(f"--lang {given} names several languages", "name one of them")
    return first
