# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What verbs that run or lay the suite have in common: options, and what they mean."""

import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from tockmark.commands import completing
from tockmark.errors import TockmarkError
from tockmark.suite import catalogue as catalogues
from tockmark.suite.catalogue import Lang
from tockmark.suite.select import of_names
from tockmark.target import board as boards
from tockmark.target.board import Board
from tockmark.target.cluster import at_a_time as there
from tockmark.target.protocol import Ability


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
        autocompletion=completing.several(lambda: catalogues.LANGS),
    ),
]
OneLanguage = Annotated[
    str,
    typer.Option(
        "--lang",
        help="Language of the apps: c or rust.",
        autocompletion=completing.one(lambda: catalogues.LANGS),
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
        autocompletion=completing.one(boards.names),
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


def at_a_time(jobs: int | None, board: Board, cluster: str | None) -> int:
    """How many boots run at a time, here or on a cluster. TockmarkError if it is not there, or runs
    one only."""
    if Ability.PARALLEL in board.target.can:
        return jobs or (there(cluster) if cluster else os.cpu_count() or 1)
    if jobs not in (None, 1):
        raise TockmarkError(f"{board.name} runs one boot at a time", "leave out --jobs")
    return 1
