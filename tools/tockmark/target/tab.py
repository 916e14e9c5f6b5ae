# SPDX-License-Identifier: Apache-2.0 OR MIT
"""TABs, and the apps in them.

A TAB is an archive of `metadata.toml` and of programs, each called as its architecture, with
anything behind a dot: tockloader installs the one that fits a board. Our apps are linked for fixed
addresses, so that each board has a program of its own, and one TAB may be for several boards.

In flash each app begins with a header of Tock's binary format (TBF), one behind another
(`tock/doc/TockBinaryFormat.md`): a base header of 16 bytes, then elements of a type, a length and a
value, each at a word. Anybody's TABs are laid behind anybody's kernel; what the kernel would pass
over without a word is refused.
"""

import functools
import io
import operator
import struct
import tarfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tockmark.base.errors import TockmarkError
from tockmark.base.files import reading
from tockmark.base.paths import shown
from tockmark.target.board import BoardProfile, Room
from tockmark.target.elf import ISAS
from tockmark.target.image import HEADER, RAM_ALIGN, install_with_tockloader, write_flash
from tockmark.target.kernel import KernelElf, app_room

VERSION = 2
BASE = 16  # bytes of the base header
MAIN, NAME, FIXED, PROGRAM = 1, 3, 5, 9  # types of elements
ANYWHERE = 0xFFFFFFFF  # in the place of a fixed address

TODO = "give folders that `tockmark board image` laid"


@dataclass(frozen=True)
class Tbf:
    """One TBF in flash; addresses and bytes."""

    start: int
    length: int  # with its header
    name: str | None  # None: it is padding
    ram: int | None = None  # where its RAM has to be; None: it does not say
    flash: int | None = None  # where its code, behind the header

    @property
    def end(self) -> int:
        return self.start + self.length


def parse_tbfs(flash: bytes, base: int, start: int) -> list[Tbf]:
    """Read the TBFs from the address `start` on, in flash that begins at `base`, up to what is
    none."""
    found: list[Tbf] = []
    at = start - base
    while (tbf := _read(flash, at, base + at)) is not None:
        found.append(tbf)
        at += tbf.length
    return found


def _read(flash: bytes, at: int, address: int) -> Tbf | None:
    if len(flash) - at < BASE:
        return None
    version, header, total, _flags, checksum = struct.unpack_from("<HHIII", flash, at)
    if version != VERSION or not BASE <= header <= total or header > len(flash) - at:
        return None
    words = struct.unpack_from(f"<{header // 4}I", flash, at)
    if functools.reduce(operator.xor, words, checksum) != checksum:
        return None
    elements = _elements(flash[at + BASE : at + header])
    if not {MAIN, PROGRAM} & elements.keys():
        return Tbf(address, total, None)
    name = elements.get(NAME, b"").decode("utf-8", "replace")
    fixed = elements.get(FIXED, b"").ljust(8, b"\xff")
    ram, code = (None if at == ANYWHERE else at for at in struct.unpack_from("<2I", fixed))
    return Tbf(address, total, name, ram, code)


def _elements(data: bytes) -> dict[int, bytes]:
    """Return the elements behind a base header by their types; of several of one type the last."""
    found: dict[int, bytes] = {}
    at = 0
    while len(data) - at >= 4:
        kind, length = struct.unpack_from("<HH", data, at)
        found[kind] = data[at + 4 : at + 4 + length]
        at += 4 + -(-length // 4) * 4
    return found


def write_tab_image(
    tabs: Sequence[Path], kernel: KernelElf, board: BoardProfile, flash: Path
) -> list[Tbf]:
    """Write the flash image of a kernel and TABs, which tockloader lays; return what lies there in
    the apps' flash. TockmarkError for a TAB that this kernel would not run."""
    room = app_room(kernel, board)
    for tab in tabs:
        _check_ram(_programs(tab, board.isa), room)
    write_flash(kernel, board, flash)
    install_with_tockloader([tab.resolve() for tab in tabs], flash, board, room)
    found = parse_tbfs(flash.read_bytes(), board.flash.base, room.flash_start)
    apps = [one for one in found if one.name is not None]
    if len(apps) < len(tabs):
        laid = ", ".join(str(app.name) for app in apps)
        raise TockmarkError(
            f"of {len(tabs)} TABs tockloader laid {len(apps)}: {laid or 'none'}",
            "each needs a name of its own",
        )
    for app in apps:
        if app.end > room.flash_end:
            raise TockmarkError(
                f"{app.name} ends at {app.end:#x}, and this kernel looks for apps up to"
                f" {room.flash_end:#x}",
                "lay fewer or smaller apps",
            )
        _check_ram([app], room)
    return found


def _programs(tab: Path, isa: str) -> list[Tbf]:
    """Read what a TAB has for this ISA: one program, or one for each of several places.
    TockmarkError if it has none, or is none."""
    todo = "give TABs, as elf2tab makes them"
    if tab.exists() and not tab.is_file():  # of a pipe nothing may ever come
        raise TockmarkError(f"{shown(tab)} is not a file", todo)
    found: list[Tbf] = []
    archs: dict[str, None] = {}
    ours = ISAS[isa].aliases
    try:
        with reading(tab, todo), tarfile.open(tab, "r:") as archive:
            for member in archive:
                arch, _, rest = member.name.partition(".")
                content = archive.extractfile(member) if member.isfile() else None
                if rest.endswith("tbf") and content is not None:
                    archs[arch] = None
                    if arch in ours:
                        found += parse_tbfs(content.read(), 0, 0)[:1]
    except (tarfile.TarError, EOFError, ValueError) as error:
        raise TockmarkError(f"{shown(tab)} is no TAB: {error}", todo) from error
    if found:
        return found
    if archs.keys() & set(ours):
        raise TockmarkError(
            f"{shown(tab)} is damaged: its program for {isa} has no header that Tock would take",
            "build it anew",
        )
    raise TockmarkError(
        f"{shown(tab)} has no program for {isa}; it has: {', '.join(archs) or 'none'}",
        f"build it for {isa}",
    )


def _check_ram(programs: Sequence[Tbf], room: Room) -> None:
    """TockmarkError if an app is linked for other RAM than a kernel with this room has. Of the
    programs that it has for several places one has to fit."""
    if any(one.ram is None or room.ram_start <= one.ram < room.ram_end for one in programs):
        return
    app, ram = programs[0], -(-room.ram_start // RAM_ALIGN) * RAM_ALIGN
    raise TockmarkError(
        f"{app.name} is linked for RAM at {app.ram:#x}, and this kernel leaves apps"
        f" {room.ram_start:#x} to {room.ram_end:#x}",
        f"link it for RAM at {ram:#x} and flash at {room.flash_start + HEADER:#x}",
    )


def merge_tabs(tab: Path, others: Sequence[Path]) -> None:
    """Put the programs of other TABs into this one, called by their addresses, too. TockmarkError
    for one that has its addresses already."""
    held = _members(tab)
    for other in others:
        for name, content in _members(other).items():
            if not name.endswith(".tbf"):
                continue
            arch, (program,) = name.partition(".")[0], parse_tbfs(content, 0, 0)[:1]
            called = f"{arch}.{program.flash or 0:#010x}.{program.ram or 0:#010x}.tbf"
            if called in held:
                raise TockmarkError(f"{shown(other)} is for the addresses of another", TODO)
            held[called] = content
    with tarfile.open(tab, "w", format=tarfile.USTAR_FORMAT) as archive:
        for name, content in held.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))


def _members(tab: Path) -> dict[str, bytes]:
    """Return what a TAB holds, by name."""
    try:
        with reading(tab, TODO), tarfile.open(tab, "r:") as archive:
            files = [(one.name, archive.extractfile(one)) for one in archive if one.isfile()]
            return {name: content.read() for name, content in files if content is not None}
    except (tarfile.TarError, EOFError, ValueError) as error:
        raise TockmarkError(f"{shown(tab)} is no TAB: {error}", TODO) from error
