# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Options of the verbs that run the suite or make images, and how these verbs handle Ctrl-C.

A bundle is a dataclass of options that several verbs have; program.py makes its fields options of
the verb. The methods of a bundle interpret the options.
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
from tockmark.result.provenance import Engine
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
    """Turn the first Ctrl-C or SIGTERM into a KeyboardInterrupt, and ignore further ones.

    So nothing interrupts the verb while it saves its work."""
    before = [signal.signal(number, _interrupt) for number in _SIGNALS]
    try:
        yield
    finally:
        for number, handler in zip(_SIGNALS, before, strict=True):
            signal.signal(number, handler)


def ignore_interrupts() -> None:
    """Ignore Ctrl-C and SIGTERM from now on."""
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def _interrupt(number: int, frame: object) -> None:
    ignore_interrupts()
    raise KeyboardInterrupt


def benchmarks() -> list[str]:
    """Return the ids of the catalogue, for completion."""
    return list(catalogues.load().benchmarks)


KernelFile = Annotated[
    Path | None, Option(help="ELF of the kernel to measure (default: the baseline's).")
]
KernelName = Annotated[
    str | None, Option(help="Name of the kernel (default: the name in its image, or its file's).")
]
KernelManifest = Annotated[
    Path | None,
    Option(help="TOML file that describes the kernel: name, commit, opt_level, flags, rustc."),
]
BoardName = Annotated[str, name_option(boards.names, "Board profile, a file in boards/.")]
OneLanguage = Annotated[
    str, name_option(lambda: catalogues.LANGS, "Language of the apps, c or rust.")
]
MaxCycles = Annotated[
    int | None, Option(min=1, help="Stop a boot after N cycles (default: 200,000,000).")
]
Abi = Annotated[int, Option(min=1, max=2, help="Version of the system-call interface.")]
ICaches = Annotated[Switch | None, Option(help="Instruction cache (default: on, then off).")]
ICache = Annotated[Switch | None, Option(help="Instruction cache (default: the board's setting).")]
Jobs = Annotated[
    int | None, Option(min=1, help="Run N simulators at once (default: one per core).")
]
Dask = Annotated[
    str | None,
    Option(
        metavar="ADDRESS",
        help="Simulate on the workers of this Dask scheduler, such as tcp://HOST:8786 (default: on"
        " this machine).",
    ),
]
EngineName = Annotated[
    Engine | None,
    Option(
        "--engine",
        help="What simulates the core: fast, our C++, or rtl, built with `make sim-rtl`; both give"
        " the same cycles (default: fast if the machine has it).",
    ),
]
Fresh = Annotated[
    bool, Option("--fresh", help="Ignore earlier simulations in the cache (`tockmark doctor`).")
]


@dataclass(frozen=True)
class KernelClaims:
    """The user's description of a kernel, added to its ELF."""

    kernel_name: KernelName = None
    opt_level: Annotated[
        str | None,
        Option(help="Optimization level of a kernel that does not record it: 0 to 3, s or z."),
    ] = None
    kernel_manifest: KernelManifest = None

    def read(self, path: Path) -> KernelElf:
        """Read a kernel's ELF and add this description."""
        return with_origin(
            read_kernel(path), self.kernel_name, self.opt_level, self.kernel_manifest
        )


def parallel_jobs(jobs: int | None, board: BoardProfile) -> int:
    """Return how many boots run at once.

    The default is one per core, plus one per thread of the Dask workers. TockmarkError if --jobs
    exceeds 1 on a board that runs one boot at a time."""
    if Ability.PARALLEL in board.target.can:
        address = getattr(board.target, "dask", None)
        threads = sum(dask.connect(address).nthreads().values()) if address and not jobs else 0
        return jobs or threads + (os.cpu_count() or 1)
    if jobs not in (None, 1):
        raise TockmarkError(f"--jobs {jobs}: {board.name} runs one boot at a time", "omit --jobs")
    return 1


def single_language(names: str) -> Lang:
    """Return the language of a verb's --lang. TockmarkError if it names several."""
    first, *others = languages(names)
    if others:
        raise TockmarkError(f"--lang {names} names several languages", "give one of them")
    return first
