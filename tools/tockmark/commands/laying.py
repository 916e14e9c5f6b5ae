# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Verbs that lay flash images: image."""

from pathlib import Path
from typing import Annotated

import typer

from tockmark import paths
from tockmark.commands.choosing import Abi, BoardName, KernelFile, OneLanguage, one_language
from tockmark.commands.common import Debug
from tockmark.errors import TockmarkError
from tockmark.suite import catalogue as catalogues
from tockmark.target import board as boards
from tockmark.target.image import Apps, build_image, read_kernel


def register(app: typer.Typer) -> None:
    """Add these verbs to the command line."""
    app.command(
        name="image",
        epilog="Examples: `tockmark image syscall`; `tockmark image ipc --abi 1 -o out`; "
        "`tockmark image syscall --lang rust`",
    )(image_verb)


def image_verb(
    boot: Annotated[str, typer.Argument(help="A boot of the suite: a group, or one with a name.")],
    kernel: KernelFile = None,
    board: BoardName = boards.DEFAULT,
    abi: Abi = 2,
    lang: OneLanguage = "c",
    output: Annotated[
        Path, typer.Option("-o", "--output", help="Folder; default: build/image.")
    ] = paths.ROOT / "build" / "image",
    debug: Debug = False,
) -> None:
    """Write the flash image of one boot, as `run` lays it: the kernel, and the apps behind it.

    It takes all samples of the catalogue. The simulator runs it with --flash."""
    profiled = boards.load(board)
    found = {one.name: one for one in catalogues.load().boots()}
    if boot not in found:
        raise TockmarkError(f"there is no boot '{boot}'", f"choose from: {', '.join(found)}")
    elf = read_kernel(kernel if kernel is not None else profiled.kernels[abi])
    image = build_image(found[boot], Apps.built(abi, one_language(lang)), elf, profiled, output)
    print(paths.shown(image.flash))
