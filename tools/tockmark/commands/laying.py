# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Verbs that lay flash images and load them: image, install."""

import os
from pathlib import Path
from typing import Annotated

import typer

from tockmark import paths
from tockmark.commands.choosing import (
    Abi,
    BoardName,
    KernelFile,
    KernelManifest,
    KernelName,
    Languages,
    OptLevel,
    languages,
    one_language,
)
from tockmark.commands.common import Debug, Only
from tockmark.commands.ending import ended_once
from tockmark.commands.verb import Group, add
from tockmark.errors import INCOMPLETE, TockmarkError
from tockmark.files import write_whole
from tockmark.suite import catalogue as catalogues
from tockmark.suite.select import select
from tockmark.target import board as boards
from tockmark.target import laid
from tockmark.target.image import Apps, named, read_kernel
from tockmark.target.laying import Order, lay
from tockmark.target.load import by_hand, load, no_tool, with_apps


def register(app: typer.Typer) -> None:
    """Add these verbs to the command line."""
    add(
        app,
        "image",
        image_verb,
        Group.KERNELS,
        (
            "tockmark image --board cw310 -o out",
            "tockmark image --board cw310 --kernel ~/tock/earlgrey-cw310.elf --lang c,rust -o out",
            "tockmark image syscall  # one boot for the simulator",
        ),
    )
    add(
        app,
        "install",
        install_verb,
        Group.KERNELS,
        (
            "tockmark install --images out syscall",
            "tockmark install --images out syscall --dry-run",
            "tockmark install --images out syscall --flash-file mine.flash",
        ),
        {INCOMPLETE: "nothing was loaded: the board's tool is not on PATH"},
    )


def image_verb(
    boot: Annotated[
        str | None, typer.Argument(help="One boot: a group, or one with a name; default: all.")
    ] = None,
    kernel: KernelFile = None,
    kernel_name: KernelName = None,
    opt_level: OptLevel = None,
    kernel_manifest: KernelManifest = None,
    only: Only = None,
    board: BoardName = boards.DEFAULT,
    abi: Abi = 2,
    lang: Languages = "c",
    samples: Annotated[
        int | None,
        typer.Option(min=9, help="Take at most so many samples of a row; default: all."),
    ] = None,
    output: Annotated[
        Path, typer.Option("-o", "--output", help="Folder; default: build/image.")
    ] = paths.ROOT / "build" / "image",
    debug: Debug = False,
) -> None:
    """Lay the suite for a board: a flash image a boot, a TAB an app, a manifest, a README.

    An older folder of laid images is replaced once the new one is whole."""
    profiled = boards.load(board)
    known = catalogues.load()
    found = {one.name: one for one in known.boots()}
    if boot is not None and boot not in found:
        raise TockmarkError(f"there is no boot '{boot}'", f"choose from: {', '.join(found)}")
    wanted = select(known, only)
    chosen = tuple(
        (Apps.built(abi, one), found[measured.name])  # with all their rows
        for one in languages(lang)
        for measured in wanted.boots(one)
        if boot in (None, measured.name)
    )
    if not chosen:
        meant = f"--lang {lang}" if boot is None else f"the boot {boot} in --lang {lang}"
        raise TockmarkError(f"--only {only} leaves nothing of {meant}", "leave out one of them")
    elf = read_kernel(kernel if kernel is not None else profiled.kernels[abi])
    elf = named(elf, kernel_name, opt_level, kernel_manifest)
    order = Order(profiled, elf, chosen, known, samples, os.cpu_count() or 1)
    with ended_once():
        manifest = lay(order, output)
    count, left = len(manifest.boots), manifest.left_out
    boots = len({one.name for one in manifest.boots}) + len(left)
    for why in dict.fromkeys(one.why for one in left):
        names = [one.name for one in left if one.why == why]
        print(f"left out {len(names)} of {boots} boots, {', '.join(names)}: {why}")
    print(f"{count} image{'s' * (count > 1)}, each one flashing: {paths.shown(output)}/")


def install_verb(
    boot: Annotated[str, typer.Argument(help="A boot of the folder: its README lists them.")],
    images: Annotated[Path, typer.Option(help="Folder that `tockmark image` laid.")],
    kernel: Annotated[
        Path | None, typer.Option(help="Refuse images that were not laid for this kernel's ELF.")
    ] = None,
    lang: Annotated[
        str | None, typer.Option(help="Language of the apps, where the folder has several.")
    ] = None,
    flash_file: Annotated[
        Path | None,
        typer.Option(
            help="In place of a board: a flash file that holds the kernel. tockloader lays the"
            " apps into it."
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Check, and print the command only.")
    ] = False,
    debug: Debug = False,
) -> None:
    """Load one laid boot onto its board, by the tool that the board's profile names."""
    folder = laid.read(images)
    found = folder.boot(boot, None if lang is None else one_language(lang))
    if kernel is not None:
        folder.holds(read_kernel(kernel))
    profiled = boards.load(folder.manifest.board)
    flash = folder.image(found).flash
    print(f"image {found.image}: {found.name}, {paths.shown(flash)}")
    if flash_file is not None:
        made = with_apps(folder, found, profiled, flash_file)
        if not dry_run:
            write_whole({flash_file: made})
        print(f"{'fits into' if dry_run else 'laid into'} {paths.shown(flash_file)}")
    elif dry_run:
        print(by_hand(profiled.profile, flash))
    elif load(profiled.profile, flash):
        print(f"loaded onto {profiled.name}")
    else:
        raise TockmarkError(
            f"nothing was loaded: {no_tool(profiled.profile)}",
            f"do it by hand: {by_hand(profiled.profile, flash)}",
            INCOMPLETE,
        )
