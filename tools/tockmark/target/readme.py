# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The README.md of a folder of laid images: for this board, the commands that load and measure."""

from tockmark.target.board import Board
from tockmark.target.kinds import sim
from tockmark.target.laid import LaidBoot, Manifest

PORT = "/dev/ttyUSB0"  # in examples


def text(manifest: Manifest, board: Board) -> str:
    """The whole page. Its commands are for a shell that stands in the folder."""
    kernel, first = manifest.kernel, manifest.boots[0]
    measure = _simulated if board.kind == "sim" else _on_a_board
    parts = [
        f"# Flash images for {board.name}",
        f"tockmark {manifest.tockmark} laid this for: {board.profile.description}.\n"
        f"The kernel is {kernel.name or kernel.file}, sha256 {kernel.sha256}.\n"
        f"All apps are linked for this kernel: version {manifest.abi} of the system-call"
        " interface, its free flash and RAM. With another kernel they do not run.",
        measure(board, first),
        _by_tockloader(manifest, board, first),
        "## What is here",
        f"{len(manifest.boots)} images, so the board is loaded {len(manifest.boots)} times. Each"
        f" `.flash` file is the whole flash from {board.flash.base:#x} on.\n`manifest.json` has"
        " the sha256 of each, and where each app lies.",
        _table(["boot", "flash file", "image", "apps"], [_row(boot) for boot in manifest.boots]),
    ]
    if manifest.left_out:
        rows = [[one.name, ", ".join(one.rows), one.why] for one in manifest.left_out]
        parts += ["Left out:", _table(["boot", "rows", "why"], rows)]
    return "\n\n".join(parts) + "\n"


def _simulated(board: Board, boot: LaidBoot) -> str:
    assert isinstance(board.target, sim.Target)
    return "\n".join(
        [
            "## Measure",
            "",
            f"`tockmark run --board {board.name}` lays images like these by itself. One alone, from"
            " tockmark's checkout, with its path before the file:",
            "",
            f"    {board.target.binary.name} --flash {boot.flash}",
        ]
    )


def _on_a_board(board: Board, boot: LaidBoot) -> str:
    load = board.profile.load
    lines = [
        "## Measure",
        "",
        f"    tockmark run --board {board.name} --images . --port {PORT}",
        "",
        "with the port of the board's UART. ",
    ]
    if load is None:
        lines[-1] += "It asks for each image by name."
        return "\n".join(lines)
    tool = load.command[0]
    lines[-1] += f"It loads each image where `{tool}` is on PATH, and else asks for it by name."
    return "\n".join(
        [
            *lines,
            "",
            "## Load one image",
            "",
            f"    tockmark install --images . {boot.name}",
            "",
            "which checks its sha256 and then calls",
            "",
            f"    {' '.join(word.format(image=boot.flash) for word in load.command)}",
            "",
            "`--dry-run` shows the command only.",
        ]
    )


def _by_tockloader(manifest: Manifest, board: Board, boot: LaidBoot) -> str:
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
            "The second puts the apps of a boot into a flash file of your own. `tockmark install"
            f" --images . {boot.name} --flash-file FILE` does the same, and refuses a file with"
            " another kernel.",
        ]
    )


def _row(boot: LaidBoot) -> list[str]:
    return [boot.name, boot.flash, boot.image, ", ".join(app.name for app in boot.slots)]


def _table(heading: list[str], rows: list[list[str]]) -> str:
    lines = [heading, ["---"] * len(heading), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
