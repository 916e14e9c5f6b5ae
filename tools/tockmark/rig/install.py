# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Loads a laid boot: onto a board by the tool that its profile names, or into a flash file."""

import shlex
import shutil
import sys
import tempfile
from pathlib import Path

from tockmark.errors import TockmarkError
from tockmark.files import is_through, reading
from tockmark.paths import shown
from tockmark.rig.board import BoardProfile
from tockmark.rig.image import call, lay_by_tockloader
from tockmark.rig.image_folder import Laid, LaidBoot


def load_boot(board: BoardProfile, flash: Path) -> bool:
    """Load a flash image onto a board. False if no tool is known for it or the tool is not on
    PATH; TockmarkError, with the last thing that the tool said, if it fails."""
    if board.load is None or shutil.which(board.load.command[0]) is None:
        return False
    doing = f"loading {shown(flash)} onto {board.name}"
    call(board.load.words(flash), doing, "see that it starts from a shell")
    return True


def load_or_ask(board: BoardProfile, boot: str, flash: Path) -> bool:
    """Load a boot; False if a person has to, who is asked on stderr. TockmarkError if a tool
    failed."""
    if load_boot(board, flash):
        return True
    what = f"load the boot {boot} onto {board.name}: {by_hand(board, flash)}"
    print(f"tockmark: {what}", file=sys.stderr, flush=True)
    return False


def no_tool(board: BoardProfile) -> str:
    """Why `load` gave False."""
    if board.load is None:
        return f"tockmark knows no tool that loads {board.name}"
    return f"{board.load.command[0]} is not on PATH"


def by_hand(board: BoardProfile, flash: Path) -> str:
    """What a person does where `load` cannot, in one line."""
    if board.load is None:
        return f"load {shown(flash)} to {board.memory.flash.base:#x}, the start of its flash"
    return shlex.join(board.load.words(flash))


def with_apps(laid: Laid, boot: LaidBoot, board: BoardProfile, file: Path) -> bytes:
    """A flash file that holds the kernel, with a boot's apps in the place of all apps there, as
    tockloader lays them. TockmarkError if it holds another kernel; the file stays as it is."""
    if is_through(file):  # of a pipe nothing may ever come, of a device no end
        raise TockmarkError(f"{shown(file)} is not a file", "give a flash file with the kernel")
    with reading(file, "give one that holds the kernel", "the flash file "):
        theirs = file.read_bytes()
    ours = (laid.folder / boot.flash).read_bytes()
    base, room = board.flash.base, laid.manifest.kernel.room
    for address, data in laid.kernel().segments:
        start = address - base
        end = min(start + len(data), room.flash_start - base)
        if theirs[start:end] != ours[start:end]:
            raise TockmarkError(
                f"{shown(file)} holds another kernel than {shown(laid.folder)} was laid for,"
                f" or one with other words for '{boot.name}'",
                f"take {shown(laid.folder / boot.flash)}, which is whole",
            )
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "flash"
        copy.write_bytes(theirs)
        lay_by_tockloader([laid.folder / app.tab for app in boot.slots], copy, board, room)
        made = copy.read_bytes()
    apps = slice(room.flash_start - base, len(ours))
    if made[apps] != ours[apps]:
        raise TockmarkError(
            f"tockloader laid the apps of '{boot.name}' into {shown(file)} elsewhere than they"
            " were linked for",
            f"take {shown(laid.folder / boot.flash)}, which is whole",
        )
    return made
