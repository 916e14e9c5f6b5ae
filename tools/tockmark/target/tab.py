# SPDX-License-Identifier: Apache-2.0 OR MIT
"""TABs (Tock application bundles), and the apps in them.

A TAB is an archive of `metadata.toml` and programs. A program is named after its architecture, with
an optional suffix after a dot, and tockloader installs the one that fits a board. Our apps are
linked for fixed addresses. So each board needs its own program, and one TAB can serve several
boards.

In flash, apps follow one another. Each begins with a header of the Tock Binary Format (TBF,
`tock/doc/TockBinaryFormat.md`): a base header of 16 bytes, then word-aligned elements of a type, a
length and a value. The TABs and the kernel may be from anybody. An app that the kernel would skip
silently is refused.
"""

import functools
import io
import operator
import struct
import tarfile
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tockmark.base.errors import TockmarkError
from tockmark.base.files import check_ends, reading
from tockmark.base.paths import shown
from tockmark.target.board import BoardProfile, Room
from tockmark.target.elf import ISAS
from tockmark.target.image import HEADER, RAM_ALIGN, install_with_tockloader, write_flash
from tockmark.target.kernel import KernelElf, app_room

VERSION = 2
BASE = 16  # bytes of the base header
MAIN, NAME, FIXED, PROGRAM = 1, 3, 5, 9  # types of elements
ANYWHERE = 0xFFFFFFFF  # instead of a fixed address

TODO = "give folders that `tockmark board image` wrote"
TABS = "give TABs, as elf2tab makes them"


@dataclass(frozen=True)
class Tbf:
    """A TBF in flash: addresses and sizes in bytes."""

    start: int
    length: int  # including its header
    name: str | None  # None: padding
    ram: int | None = None  # address of its RAM, if fixed
    flash: int | None = None  # address of its code after the header, if fixed
    entry: int | None = field(default=None, compare=False)  # address of its first instruction

    @property
    def end(self) -> int:
        return self.start + self.length


def parse_tbfs(flash: bytes, base: int, start: int) -> list[Tbf]:
    """Return the TBFs from the address `start` on, in flash that begins at `base`, up to the first
    bytes that are not one."""
    parsed: list[Tbf] = []
    at = start - base
    while (tbf := _parse_tbf(flash, at, base + at)) is not None:
        parsed.append(tbf)
        at += tbf.length
    return parsed


def _parse_tbf(flash: bytes, at: int, address: int) -> Tbf | None:
    if len(flash) - at < BASE:
        return None
    version, header, total, _flags, checksum = struct.unpack_from("<HHIII", flash, at)
    if version != VERSION or not BASE <= header <= total <= len(flash) - at:
        return None
    words = struct.unpack_from(f"<{header // 4}I", flash, at)
    if functools.reduce(operator.xor, words, checksum) != checksum:
        return None
    elements = _parse_elements(flash[at + BASE : at + header])
    if not {MAIN, PROGRAM} & elements.keys():
        return Tbf(address, total, None)
    name = elements.get(NAME, b"").decode("utf-8", "replace")
    fixed = elements.get(FIXED, b"").ljust(8, b"\xff")
    ram, code = (None if at == ANYWHERE else at for at in struct.unpack_from("<2I", fixed))
    main = elements.get(PROGRAM, elements.get(MAIN, b"")).ljust(4, b"\0")
    entry = address + header + int.from_bytes(main[:4], "little")
    return Tbf(address, total, name, ram, code, entry)


def _parse_elements(data: bytes) -> dict[int, bytes]:
    """Return the elements of a header by type; the last one of each type counts."""
    elements: dict[int, bytes] = {}
    at = 0
    while len(data) - at >= 4:
        type_, length = struct.unpack_from("<HH", data, at)
        elements[type_] = data[at + 4 : at + 4 + length]
        at += 4 + -(-length // 4) * 4
    return elements


def write_tab_image(
    tabs: Sequence[Path], kernel: KernelElf, board: BoardProfile, flash: Path
) -> list[Tbf]:
    """Write the flash image of a kernel with TABs, which tockloader lays out; return its TBFs.

    TockmarkError for a TAB that this kernel would not run."""
    room = app_room(kernel, board)
    for tab in tabs:
        _check_ram(_read_programs(tab, board), room)
    write_flash(kernel, board, flash)
    install_with_tockloader([tab.resolve() for tab in tabs], flash, board, room)
    laid_tbfs = parse_tbfs(flash.read_bytes(), board.flash.base, room.flash_start)
    apps = [tbf for tbf in laid_tbfs if tbf.name is not None]
    if len(apps) < len(tabs):
        names = ", ".join(str(app.name) for app in apps)
        raise TockmarkError(
            f"tockloader installed {len(apps)} of {len(tabs)} TABs: {names or 'none'}",
            "give each app a different name",
        )
    for app in apps:
        if app.end > room.flash_end:
            raise TockmarkError(
                f"{app.name} ends at {app.end:#x}, and this kernel looks for apps up to"
                f" {room.flash_end:#x}",
                "give fewer or smaller apps",
            )
        _check_ram([app], room)
    return laid_tbfs


def _read_programs(tab: Path, board: BoardProfile) -> list[Tbf]:
    """Return the programs of a TAB for a board: one, or one per address.

    TockmarkError if it has none, or is not a TAB."""
    check_ends(tab, TABS)
    files = _read_members(tab, TABS)
    _check_metadata(tab, files, board)
    isa = board.isa
    programs: list[Tbf] = []
    archs: dict[str, None] = {}
    for name, content in files.items():
        arch, _, rest = name.partition(".")
        if rest.endswith("tbf"):
            archs[arch] = None
            if arch in ISAS[isa].aliases:
                programs += parse_tbfs(content, 0, 0)[:1]
    if programs:
        return programs
    if archs.keys() & set(ISAS[isa].aliases):
        raise TockmarkError(
            f"{shown(tab)} is damaged: its program for {isa} has no valid header, or is cut short",
            "build it again",
        )
    raise TockmarkError(
        f"{shown(tab)} has no program for {isa}; it has: {', '.join(archs) or 'none'}",
        f"build it for {isa}",
    )


def _check_metadata(tab: Path, files: Mapping[str, bytes], board: BoardProfile) -> None:
    """Raise a TockmarkError if tockloader would not install a TAB by its metadata.toml."""
    try:
        metadata = tomllib.loads(files["metadata.toml"].decode())
        names = str(metadata.get("only-for-boards", ""))
        _ = metadata["name"], metadata["tab-version"]
    except (KeyError, ValueError) as error:
        problem = f"its metadata.toml is missing or not valid: {error}"
        raise TockmarkError(f"{shown(tab)}: not a TAB: {problem}", TABS) from error
    if names and board.tockloader_board not in (name.strip() for name in names.split(",")):
        problem = f"{shown(tab)} is only for {names}, not for {board.tockloader_board}"
        raise TockmarkError(problem, "build it for this board")


def _check_ram(programs: Sequence[Tbf], room: Room) -> None:
    """Raise a TockmarkError if an app is linked for RAM that this kernel does not give to apps. Of
    several programs for different addresses one has to fit."""
    if any(app.ram is None or room.ram_start <= app.ram < room.ram_end for app in programs):
        return
    app, ram = programs[0], -(-room.ram_start // RAM_ALIGN) * RAM_ALIGN
    raise TockmarkError(
        f"{app.name} is linked for RAM at {app.ram:#x}, and this kernel leaves apps"
        f" {room.ram_start:#x} to {room.ram_end:#x}",
        f"link it for RAM at {ram:#x} and flash at {room.flash_start + HEADER:#x}",
    )


def merge_tabs(tab: Path, others: Sequence[Path]) -> None:
    """Add the programs of other TABs to a TAB, with their addresses in their names. TockmarkError
    if two are for the same addresses."""
    members = _read_members(tab)
    for other in others:
        for name, content in _read_members(other).items():
            if not name.endswith(".tbf"):
                continue
            arch, (program,) = name.partition(".")[0], parse_tbfs(content, 0, 0)[:1]
            address_name = f"{arch}.{program.flash or 0:#010x}.{program.ram or 0:#010x}.tbf"
            if address_name in members:
                raise TockmarkError(f"{shown(other)}: another TAB has the same addresses", TODO)
            members[address_name] = content
    with tarfile.open(tab, "w", format=tarfile.USTAR_FORMAT) as archive:
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))


def _read_members(tab: Path, todo: str = TODO) -> dict[str, bytes]:
    """Return the files in a TAB by name. TockmarkError if it is not a TAB."""
    try:
        with reading(tab, todo), tarfile.open(tab, "r:") as archive:
            members = [member for member in archive if member.isfile()]
            files = [(member.name, archive.extractfile(member)) for member in members]
            return {name: content.read() for name, content in files if content is not None}
    except (tarfile.TarError, EOFError, ValueError) as error:
        raise TockmarkError(f"{shown(tab)}: not a TAB: {error}", todo) from error
