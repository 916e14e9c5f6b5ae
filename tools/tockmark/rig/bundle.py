# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A bundle is one archive for a person who has a board and no tockmark: laid images, a script that
loads them and keeps what the board says, and a page.

tockmark-cw310/README.md      the page
tockmark-cw310/run.py         boards/bundle/run.py, as it is
tockmark-cw310/bundle.json    how this board is loaded and heard
tockmark-cw310/images/        as `tockmark board image` lays them: rig/image_folder.py

The same inputs give the same bytes. Its id is the sha256 of bundle.json, which has that of the
images' manifest: the log says it.
"""

import gzip
import hashlib
import io
import re
import tarfile
import textwrap
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import msgspec

from tockmark import BASELINE, __version__, paths
from tockmark.documents import Part, Positive, Sha256
from tockmark.errors import TockmarkError
from tockmark.files import check_writable, folder_for_a_while, reading, write_whole
from tockmark.paths import shown
from tockmark.rig import board as boards
from tockmark.rig.board import BoardProfile
from tockmark.rig.image import AppBuild
from tockmark.rig.image_folder import MANIFEST, README, ImageManifest, Laid, lay, read_folder
from tockmark.rig.kernel import KernelElf
from tockmark.rig.kinds.serial import BITS_PER_BYTE
from tockmark.suite.catalogue import Boot, Catalogue

VERSION = 1
SCRIPT = paths.BOARDS / "bundle" / "run.py"
ABOUT, IMAGES = "bundle.json", "images"
SILENCE_S = 600  # of a board whose profile says none: a simulator may be slow
LARGEST = 1 << 30  # bytes that an archive may unpack to
LOAD = " --load 'COMMAND {image}'"  # where no tool is known
COLUMNS = 90  # of the page
ANEW = "pack it anew with `tockmark board bundle`"

_NAME = re.compile(r"tockmark-[A-Za-z0-9.-]+/(?P<file>(?:[A-Za-z0-9_.-]+/)*[A-Za-z0-9_.-]+)")


class BundleFile(Part, frozen=True, omit_defaults=False):
    """Says how the images of a bundle are loaded, and how the board is heard."""

    version: Annotated[int, msgspec.Meta(ge=VERSION, le=VERSION)]
    tockmark: str  # the version that packed it
    board: str
    load: tuple[str, ...] | None  # as the board's profile has it; None: no tool is known
    baud: Positive
    silence_s: Positive
    manifest_sha256: Sha256
    commit: str | None = None  # of that tockmark, if git tells


@dataclass(frozen=True)
class Bundle:
    """A bundle that was unpacked, whose files are what it says."""

    id: str  # the sha256 of bundle.json
    about: BundleFile
    laid: Laid
    board: BoardProfile


def pack(
    board: BoardProfile,
    kernel: KernelElf,
    boots: Sequence[tuple[AppBuild, Boot]],
    known: Catalogue,
    samples: int | None,
    out: Path,
) -> ImageManifest:
    """Lay those boots as image_folder.lay does, and write them as one archive. TockmarkError if
    nobody could run it, or it cannot be written."""
    baud, silence = heard(board)
    check_writable([out])
    with folder_for_a_while(paths.RUNS) as folder:
        laid = folder / IMAGES
        manifest = lay(board, kernel, boots, known, samples, laid)
        files = {f"{IMAGES}/{name}": (laid / name).read_bytes() for name in manifest.files()}
    load = board.load.command if board.load else None
    sum_ = hashlib.sha256(files[f"{IMAGES}/{MANIFEST}"]).hexdigest()
    commit = paths.commit_of_checkout()
    about = BundleFile(VERSION, __version__, board.name, load, baud, silence, sum_, commit)
    files[ABOUT] = msgspec.json.format(msgspec.json.encode(about), indent=1) + b"\n"
    files[SCRIPT.name] = SCRIPT.read_bytes()
    files[README] = readme_text(manifest, board).encode()
    write_whole({out: archive(f"tockmark-{board.name}", files)})
    return manifest


def heard(board: BoardProfile) -> tuple[int, int]:
    """Return the rate of a board's port, and the seconds of silence that end a boot. TockmarkError
    if it has no port."""
    target = board.target
    pace = board.target.provenance(board.clock_hz).get("uart_cycles_per_byte")
    if not isinstance(pace, int):
        raise TockmarkError(
            f"{board.name} is heard by no serial port", "choose another with --board"
        )
    baud = getattr(target, "baud", round(BITS_PER_BYTE * board.clock_hz / pace))
    return baud, getattr(target, "silence_s", SILENCE_S)


def archive(top: str, files: Mapping[str, bytes]) -> bytes:
    """Return a .tar.gz of these files, below a folder: the same bytes whenever it is made."""
    tarred, packed = io.BytesIO(), io.BytesIO()
    with tarfile.open(fileobj=tarred, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name in sorted(files):
            member = tarfile.TarInfo(f"{top}/{name}")  # of no date and no owner
            member.size, member.mode = len(files[name]), 0o644
            tar.addfile(member, io.BytesIO(files[name]))
    with gzip.GzipFile(filename="", fileobj=packed, mode="wb", mtime=0) as zipped:
        zipped.write(tarred.getvalue())
    return packed.getvalue()


def unpack(path: Path, folder: Path) -> Bundle:
    """Unpack a bundle into an empty folder. TockmarkError if it is none, or damaged."""
    size = 0
    try:
        with reading(path, ANEW), tarfile.open(path, mode="r:gz") as tar:
            for member in tar:
                name = _NAME.fullmatch(member.name)
                size += member.size
                if not member.isreg() or name is None or ".." in member.name or size > LARGEST:
                    raise ValueError(f"{member.name[:80]!r} is in no bundle")
                to, content = folder / name["file"], tar.extractfile(member)
                to.parent.mkdir(parents=True, exist_ok=True)
                to.write_bytes(content.read() if content else b"")
        about = (folder / ABOUT).read_bytes()
        known = msgspec.json.decode(about, type=BundleFile)
        laid = read_folder(folder / IMAGES)
        sums = hashlib.sha256((folder / IMAGES / MANIFEST).read_bytes()).hexdigest()
        if sums != known.manifest_sha256 or laid.manifest.board != known.board:
            raise ValueError(f"its {MANIFEST} is another")
    except (OSError, EOFError, ValueError, tarfile.TarError, zlib.error) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise TockmarkError(f"{shown(path)} is not a whole bundle: {why}", ANEW) from error
    return Bundle(hashlib.sha256(about).hexdigest(), known, laid, boards.load(known.board))


def readme_text(manifest: ImageManifest, board: BoardProfile) -> str:
    """Write the page of a bundle, one screen: for a person who has the board and knows nothing of
    tockmark."""
    laid = manifest.kernel
    kernel = f"{laid.name or Path(laid.file).name}, sha256 {laid.sha256[:12]}"
    kernel += ", which is not Tock" * (laid.name or "").startswith(BASELINE)
    count, log = len(manifest.boots), f"tockmark-{board.name}.log"
    loader, load = (board.load.command[0], "") if board.load else ("the loader", LOAD)
    connect = board.connect or (f"Have {board.description} ready, and know its serial port PORT.",)
    parts = [
        f"# What system calls cost on a {board.name}: one archive, one log back",
        *_wrapped(
            f"For: {board.description}. `images/` has {count} programs, called boots. Each counts"
            f" what calls and code cost on one kernel: {kernel}. `run.py` loads one after the other"
            " and keeps what the board says. It needs Python 3.8 and nothing else."
        ),
        "## Connect",
        "\n".join(_wrapped(*connect, numbered=True)),
        "## Run",
        f"    python3 run.py --port PORT{load} --check      # loads nothing\n"
        f"    python3 run.py --port PORT{load} --by 'your name' --note 'bitstream, board'\n"
        f"    python3 run.py --port PORT{load} --resume     # if anything came between",
        *_wrapped(
            f"It says of each boot how it went. A boot runs for seconds; {count} loads take what"
            f" {loader} takes, which we do not know. A boot that says nothing for"
            f" {heard(board)[1]} s is left, and the next one comes."
        ),
        "## Send back",
        *_wrapped(
            f"`{log}`, one file. It holds the board's bytes and when they came, the sha256 of each"
            " image and of the loader, how it was called, the port, your system and Python, and"
            " what --by and --note say; nothing else. From it we publish one report: which boots"
            " ran, which lines came whole, and each count beside the simulator's."
        ),
        "## What is not known",
        "\n".join(_wrapped(*board.not_working or ("nothing that we know of",), numbered=False)),
    ]
    return "\n\n".join(parts) + "\n"


def _wrapped(*texts: str, numbered: bool | None = None) -> list[str]:
    """Break texts into lines that a terminal shows; as a list, numbered or not, if it is said."""
    found = []
    for number, text in enumerate(texts, 1):
        mark = "" if numbered is None else f"{number}. " if numbered else "- "
        found.append(
            textwrap.fill(
                f"{mark}{text}",
                COLUMNS,
                subsequent_indent=" " * len(mark),
                break_on_hyphens=False,
                break_long_words=False,
            )
        )
    return found
