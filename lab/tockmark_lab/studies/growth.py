# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The study growth, its part that no catalogue can hold: how long a boot takes with more and more
entries in the headers of its apps.

An app's header (Tock Binary Format) is a list of entries: type, length, value. Each boot's image
is built as usual. Then each header gets more entries of a type that no kernel knows, and shorter
padding, so that no code moves.
"""

import re
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import msgspec

from tockmark.base import documents, paths
from tockmark.base.documents import Part
from tockmark.base.errors import TockmarkError
from tockmark.base.files import check_writable, write_whole
from tockmark.cli import options
from tockmark.cli.program import verb
from tockmark.cli.run_options import KernelClaims, KernelFile
from tockmark.result.provenance import Kernel
from tockmark.show.text import Table, figures
from tockmark.suite import catalogue
from tockmark.target import board as profiles
from tockmark.target.board import BoardProfile
from tockmark.target.image import HEADER, AppBuild, build_image
from tockmark.target.kernel import KernelElf
from tockmark.target.protocol import Start
from tockmark.target.results import kernel_provenance, simulator_provenance
from tockmark.target.run import mark_options
from tockmark_lab.folders import STUDIES

CATALOGUE = STUDIES / "growth" / "catalogue.toml"
APPS = (1, 4)  # of a boot
ENTRIES = (0, 2, 4, 6, 8)  # more per header: all that fit
UNKNOWN = 0x7000  # the type of the first one
MAX_CYCLES = 5_000_000  # of a boot

FORM, VERSION = "tockmark-growth", 1

_STARTED = re.compile(r"^#sim (\d+) start\b")
_BASE, _CHECKSUM = 16, 12  # bytes of a header before its entries; where its checksum is
_MAIN, _PROGRAM = 1, 9  # types of the entries that say where the code begins


class MeasuredStart(Part, frozen=True):
    """A boot: the number of its apps, of the further entries of each header, and the cycles from
    reset to the first instruction of the first app."""

    apps: int
    entries: int
    icache: bool
    cycles: int


class StoredBoots(Part, frozen=True):
    """The file of one kernel."""

    format: str
    version: int
    kernel: Kernel
    board: str
    simulator: dict[str, str]
    tool: str | None  # the commit of the checkout
    boots: tuple[MeasuredStart, ...]


def load(path: Path) -> StoredBoots:
    """Read such a file. TockmarkError if it is not one."""
    make = "give a file that `tockmark-lab growth` made"
    return documents.read(path, StoredBoots, FORM, VERSION, make)


def with_entries(header: bytes, count: int) -> bytes:
    """Return the first HEADER bytes of an app with `count` more entries in its header. ValueError
    if they do not fit."""
    version, length, total, flags, _ = struct.unpack_from("<HHIII", header)
    added = 4 * count
    if length + added > HEADER:
        raise ValueError(f"{count} entries do not fit")
    new = bytearray(header[:length])
    at = _BASE
    while at < length:
        kind, size = struct.unpack_from("<HH", header, at)
        if kind in (_MAIN, _PROGRAM):
            # Both count from the end of the header.
            start, protected = struct.unpack_from("<II", header, at + 4)
            struct.pack_into("<II", new, at + 4, start - added, protected - added)
        at += 4 + -(-size // 4) * 4
    for i in range(count):
        new += struct.pack("<HH", UNKNOWN + i, 0)
    struct.pack_into("<HHIII", new, 0, version, length + added, total, flags, 0)
    checksum = 0
    for (word,) in struct.iter_unpack("<I", new):
        checksum ^= word
    struct.pack_into("<I", new, _CHECKSUM, checksum)
    return bytes(new.ljust(HEADER, b"\0"))


def boots(
    kernel: KernelElf, board: BoardProfile, apps: int, icaches: Sequence[bool] = (True, False)
) -> Iterator[MeasuredStart]:
    """Start this many apps with each number of entries. TockmarkError if the first app does not
    start."""
    by_name = {each.name: each for each in catalogue.load(CATALOGUE).boots()}
    out = paths.WRITTEN / "growth" / kernel.sha256[:8]
    built = AppBuild.built(2, catalogue="growth")
    image = build_image(by_name[f"growth-{apps}"], built, kernel, board, out)
    flash = image.flash.read_bytes()
    marks = tuple(mark_options([slot.symbols for slot in image.slots]))
    for entries in ENTRIES:
        changed = bytearray(flash)
        for slot in image.slots:
            at = slot.flash_start - HEADER - board.flash.base
            changed[at : at + HEADER] = with_entries(flash[at : at + HEADER], entries)
        path = out / f"growth-{apps}-{entries}.flash"
        path.write_bytes(changed)
        for icache in icaches:
            start = Start(path.stem, path, icache, marks, panics=kernel.panics)
            yield MeasuredStart(apps, entries, icache, _cycles(board, start))


def _cycles(board: BoardProfile, start: Start) -> int:
    """Run a boot, and return the cycles from reset to its first app."""
    limits = {"max-cycles": MAX_CYCLES, "silence": MAX_CYCLES}
    session = board.target.configured(limits).start(start)
    started = None
    for line in session.lines():
        if started := _STARTED.match(line):
            session.stop()
            break
    session.ending()
    if started is None:
        raise TockmarkError(f"the apps of {start.name} did not start", "give another kernel")
    return int(started[1])


def format_boots(measured: list[MeasuredStart]) -> str:
    """Return the table of boots."""
    table = Table(figures({"apps": 6, "entries": 9, "i-cache on": 12, "off": 12}))
    for apps, entries in dict.fromkeys((each.apps, each.entries) for each in measured):
        cycles = {
            each.icache: f"{each.cycles:,}"
            for each in measured
            if (each.apps, each.entries) == (apps, entries)
        }
        table.add(str(apps), str(entries), cycles[True], cycles[False])
    title = "Cycles from reset to the first instruction of the first app"
    return "\n".join(table.text(title, ""))


@verb(
    "make growth && tockmark-lab growth",
    "tockmark-lab growth --kernel ~/tock/earlgrey-cw310.elf --opt-level z -o tock.json",
)
def growth_verb(
    *,
    kernel: KernelFile = None,
    claims: KernelClaims,
    as_json: options.AsJson = False,
    output: Annotated[Path | None, options.output_option("Also store the boots in a file.")] = None,
) -> None:
    """Show how long a boot of one and of four apps takes, with more and more entries in the header
    of each."""
    if output is not None:
        check_writable([output], FORM)
    board = profiles.load(profiles.DEFAULT)
    elf = claims.read(kernel or board.kernels[2])
    measured = [each for apps in APPS for each in boots(elf, board, apps)]
    if as_json:
        options.show(msgspec.to_builtins(measured))
    else:
        print(format_boots(measured))
    if output is not None:
        stored = StoredBoots(
            FORM,
            VERSION,
            kernel_provenance(elf, None),
            board.name,
            simulator_provenance(board),
            paths.commit_of_checkout(),
            tuple(measured),
        )
        write_whole({output: documents.text_of(stored, ("boots",))})
