# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What `run --images` takes from a folder of laid images, and what it then cannot be told."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from tockmark.errors import TockmarkError
from tockmark.paths import shown
from tockmark.suite.catalogue import Boot, Catalogue, Lang
from tockmark.target import laid as laid_images
from tockmark.target.board import Board
from tockmark.target.image import read_kernel
from tockmark.target.kinds.file import Target as Captured
from tockmark.target.laid import Laid
from tockmark.target.protocol import Ability
from tockmark.target.suited import boot_unsuited


def folder_of(
    path: Path,
    known: Catalogue,
    given: Mapping[str, object],
    kernels: Sequence[Path],
    langs: Sequence[Lang],
) -> Laid:
    """The folder. TockmarkError where an option contradicts it; `given` has them by their names
    without dashes, None: not given."""
    laid = laid_images.read(path)
    laid.suits(known)
    told = laid.manifest
    own = {"board": told.board, "abi": told.abi, "samples": told.samples}
    own["all-samples"] = told.samples is None
    for option, value in given.items():
        if value is not None and value != own.get(option):
            raise TockmarkError(
                f"--{option} does not go with {shown(path)}: it was laid for {told.board},"
                f" --abi {told.abi}, {told.samples or 'all'} samples, and knows its kernel",
                f"leave out --{option}",
            )
    for lang in langs:
        if all(boot.lang != lang for boot in told.boots):
            raise TockmarkError(f"{shown(path)} has no apps in --lang {lang}", "leave it out")
    for kernel in kernels:
        laid.holds(read_kernel(kernel))
    return laid


def langs_of(laid: Laid) -> str:
    """The languages of its apps, as --lang takes them."""
    return ",".join(dict.fromkeys(boot.lang for boot in laid.manifest.boots))


def boots_there(
    laid: Laid, boots: Sequence[Boot], lang: Lang, board: Board, known: Catalogue, only: str | None
) -> list[Boot]:
    """Of the boots that are meant, those that were laid, and those whose rows this board cannot
    give. TockmarkError if --only needs another."""
    there = {boot.name for boot in laid.manifest.boots if boot.lang == lang}
    found = [
        boot
        for boot in boots
        if boot.name in there or boot_unsuited(boot, known, board.target) is not None
    ]
    if only is not None and (gone := [boot.name for boot in boots if boot not in found]):
        raise TockmarkError(
            f"'{only}' needs the boot {gone[0]}{f' in {lang}' if lang != 'c' else ''}, which is not"
            f" in {shown(laid.folder)}",
            "lay the folder anew with `tockmark image`",
        )
    return found


def needs_folder(board: Board) -> None:
    """TockmarkError for a board: what runs one boot at a time is loaded boot by boot."""
    if Ability.PARALLEL not in board.target.can:
        raise TockmarkError(
            f"{board.name} is loaded boot by boot, from images that must be there",
            f"lay them with `tockmark image --board {board.name} -o DIR`, then give --images DIR",
        )


def of_log(board: Board, log: Path, laid: Laid | None) -> Board:
    """The board, with a log captured of it in the place of its port."""
    if laid is None:
        raise TockmarkError("--log alone tells no boots", "give their --images, or use `parse`")
    return replace(board, kind="file", target=Captured(log, board.target.icache))
