# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The README.md of a folder of laid images: for this board, the commands that load and measure."""

import shlex
from pathlib import Path

from tockmark.target.board import Board
from tockmark.target.laid import LaidBoot, Manifest

PORT = "/dev/ttyUSB0"  # in examples


def text(manifest: Manifest, board: Board) -> str:
    """The whole page. Its commands are for a shell that stands in the folder."""
    kernel, first = manifest.kernel, manifest.boots[0]
    install = f"tockmark install --images . {first.name}"
    if len({boot.lang for boot in manifest.boots}) > 1:
        install += f" --lang {first.lang}"
    parts = [
        f"# Flash images for {board.name}",
        f"tockmark {manifest.tockmark} laid this for: {board.profile.description}.\n"
        f"The kernel is {kernel.name or kernel.file}, sha256 {kernel.sha256}.\n"
        f"All apps are linked for this kernel: version {manifest.abi} of the system-call"
        " interface, its free flash and RAM. With another kernel they do not run.",
        _measure(board, first, install),
        _by_tockloader(manifest, board, first, install),
        "## What is here",
        f"Images: {len(manifest.boots)}, each of them one flashing. A `.flash` file is the whole"
        f" flash from {board.flash.base:#x} on.\n`manifest.json` has the sha256 of each, and where"
        " each app lies.",
        _table(["boot", "flash file", "image", "apps"], [_row(boot) for boot in manifest.boots]),
    ]
    if manifest.left_out:
        rows = [[one.name, ", ".join(one.rows), one.why] for one in manifest.left_out]
        parts += ["Left out:", _table(["boot", "rows", "why"], rows)]
    if known := board.profile.not_working:
        parts += ["## What is known not to work", "\n".join(f"- {one}" for one in known)]
    return "\n\n".join(parts) + "\n"


def _measure(board: Board, boot: LaidBoot, install: str) -> str:
    run = f"    tockmark run --board {board.name} --images ."
    load = board.profile.load
    if load is None:
        return f"## Measure\n\n{run}"
    return "\n".join(
        [
            "## Measure",
            "",
            f"{run} --port {PORT}",
            "",
            "with the port of the board's UART. It loads each image where"
            f" `{load.command[0]}` is on PATH, and else asks for it by name.",
            "",
            "## Load one image",
            "",
            f"    {install}",
            "",
            "which checks its sha256 and then calls",
            "",
            f"    {shlex.join(load.words(Path(boot.flash)))}",
            "",
            "`--dry-run` shows the command only.",
        ]
    )


def _by_tockloader(manifest: Manifest, board: Board, boot: LaidBoot, install: str) -> str:
    address = f"{manifest.kernel.room.flash_start:#x}"
    where = f"--board {board.profile.tockloader_board} --app-address {address}"
    tabs = " ".join(app.tab for app in boot.slots)
    return "\n".join(
        [
            "## Apps and tockloader",
            "",
            "tockloader 1.19.0 has no way to this board but through flash files:",
            "",
            f"    tockloader list --flash-file {boot.flash} {where}",
            f"    tockloader install --erase --flash-file FILE {where} {tabs}",
            "",
            "The second puts the apps of a boot into a flash file of your own. "
            f"`{install} --flash-file FILE` does the same, and refuses a file with"
            " another kernel.",
        ]
    )


def _row(boot: LaidBoot) -> list[str]:
    return [boot.name, boot.flash, boot.image, ", ".join(app.name for app in boot.slots)]


def _table(heading: list[str], rows: list[list[str]]) -> str:
    lines = [heading, ["---"] * len(heading), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
