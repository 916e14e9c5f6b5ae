# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Folders of flash images: `tockmark board image` writes them, `install` and `run --images` read
them.

manifest.json       lists the content, with the sha256 of each part
README.md           how to load and measure this board
kernel/<its name>   the kernel's ELF; all apps are linked for it
c/, rust/           for each boot <boot>.flash, an image of the whole flash, and for each of its
                    apps <boot>.<slot>.tab and .elf

A folder is written as a whole or not at all, and is read only if nothing is missing or damaged. The
tool that the board profile names loads a boot onto the board; a boot can also go into a flash file.
"""

import hashlib
import os
import shlex
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import as_completed
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from tockmark import __version__
from tockmark.base import processes
from tockmark.base.documents import Part, Sha256
from tockmark.base.errors import INTERRUPTED, TockmarkError, print_message
from tockmark.base.files import check_ends, reading, replaced_folder
from tockmark.base.paths import shown
from tockmark.suite.catalogue import Boot, Catalogue, Lang
from tockmark.target.board import BoardProfile, Room, unmeasurable_reason
from tockmark.target.image import (
    TOCKLOADER,
    AppBuild,
    AppSlot,
    File,
    Image,
    build_image,
    install_with_tockloader,
    run_tool,
)
from tockmark.target.kernel import (
    KernelElf,
    Origin,
    app_room,
    check_runs,
    origin_facts,
    read_kernel,
)
from tockmark.target.progress import show_count
from tockmark.target.tab import merge_tabs

VERSION: Literal[1] = 1  # of the manifest
MANIFEST, README = "manifest.json", "README.md"
REMAKE = "make the folder again with `tockmark board image`"
PORT = "/dev/ttyUSB0"  # in examples

Id = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{8}$")]


class FolderKernel(Part, frozen=True, omit_defaults=False):
    """The kernel of all boots, and its origin as the user stated it."""

    file: File
    sha256: Sha256
    room: Room  # for apps
    name: str | None = None
    commit: str | None = None
    opt_level: str | None = None
    flags: str | None = None
    rustc: str | None = None


class FolderBoot(Part, frozen=True):
    """The image of one boot."""

    name: str
    lang: Lang
    flash: File
    sha256: Sha256  # of the flash file
    image: Id  # which its app prints in `begin`
    slots: tuple[AppSlot, ...]  # in the order in flash


class SkippedBoot(Part, frozen=True):
    """A boot without an image."""

    name: str
    rows: tuple[str, ...]  # ids of benchmarks
    why: str


class ImageManifest(Part, frozen=True, omit_defaults=False):
    """The content of a folder."""

    version: Literal[1]
    tockmark: str  # the version that wrote it
    board: str
    abi: Annotated[int, msgspec.Meta(ge=1, le=2)]
    catalogue_sha256: Sha256
    kernel: FolderKernel
    boots: tuple[FolderBoot, ...]
    left_out: tuple[SkippedBoot, ...] = ()
    # Per row, at most; None: the catalogue's number.
    samples: Annotated[int, msgspec.Meta(ge=9, lt=2**32)] | None = None

    def files(self) -> set[str]:
        """Return the names of all files in the folder."""
        apps = [app for boot in self.boots for app in boot.slots]
        flashes = [boot.flash for boot in self.boots]
        contents = {self.kernel.file, *flashes, *(a.tab for a in apps), *(a.elf for a in apps)}
        return {MANIFEST, README, *contents}


@dataclass(frozen=True)
class ImageFolder:
    """A folder whose files have been checked against its manifest."""

    folder: Path
    manifest: ImageManifest

    def kernel(self) -> KernelElf:
        """Return the kernel with its stated origin."""
        stored = self.manifest.kernel
        facts = {key: getattr(stored, key) for key in Origin.__struct_fields__}
        return replace(read_kernel(self.folder / stored.file), **facts)

    def image(self, boot: FolderBoot) -> Image:
        """Return the flash image of a boot."""
        slots = tuple(slot.renamed(lambda name: str(self.folder / name)) for slot in boot.slots)
        return Image(self.folder / boot.flash, slots, boot.image)

    def boot(self, name: str, lang: Lang | None = None) -> FolderBoot:
        """Return a boot by its name, and its language if there are several. TockmarkError if there
        is no such boot."""
        boots = [boot for boot in self.manifest.boots if boot.name == name]
        matches = [boot for boot in boots if lang in (None, boot.lang)]
        if not matches:
            names = dict.fromkeys(boot.name for boot in self.manifest.boots)
            raise TockmarkError(
                f"{shown(self.folder)} has no boot '{name}'" + f" in {lang}" * (lang is not None),
                f"choose one of: {', '.join(names)}",
            )
        if len(matches) > 1:
            raise TockmarkError(
                f"{shown(self.folder)} has '{name}' in {len(matches)} languages",
                f"choose one with --lang: {', '.join(boot.lang for boot in matches)}",
            )
        return matches[0]

    def tab(self, boot: FolderBoot, slot: int) -> Path | None:
        """Return the TAB in a slot of the boot with the same name and language, or None."""
        key = boot.name, boot.lang
        matches = (own for own in self.manifest.boots if (own.name, own.lang) == key)
        return next((self.folder / own.slots[slot].tab for own in matches), None)

    @property
    def langs(self) -> list[Lang]:
        """The languages of its apps."""
        return list(dict.fromkeys(boot.lang for boot in self.manifest.boots))

    def boots(
        self,
        wanted: Sequence[Boot],
        lang: Lang,
        board: BoardProfile,
        catalogue: Catalogue,
        only: str | None,
    ) -> list[Boot]:
        """Return the wanted boots that have an image here, and those that this board cannot
        measure. TockmarkError if --only needs another boot."""
        built = {boot.name for boot in self.manifest.boots if boot.lang == lang}
        available = [
            boot
            for boot in wanted
            if boot.name in built or unmeasurable_reason(boot, catalogue, board.target) is not None
        ]
        if only is not None and (gone := [boot.name for boot in wanted if boot not in available]):
            raise TockmarkError(
                f"'{only}' needs the boot {gone[0]}{f' in {lang}' if lang != 'c' else ''}, which is"
                f" not in {shown(self.folder)}",
                REMAKE,
            )
        return available

    def check_kernel(self, kernel: KernelElf) -> None:
        """Raise a TockmarkError if the apps are linked for another kernel."""
        if kernel.sha256 != self.manifest.kernel.sha256:
            raise TockmarkError(
                f"{shown(self.folder)} was built for another kernel than {shown(kernel.path)}",
                "make images for this one with `tockmark board image --kernel`",
            )

    def check_catalogue(self, catalogue: Catalogue) -> None:
        """Raise a TockmarkError if another catalogue was used: its rows may mean other things."""
        if catalogue.sha256 != self.manifest.catalogue_sha256:
            raise TockmarkError(
                f"{shown(self.folder)} was built with another catalogue than this tockmark's",
                REMAKE,
            )


def read_folder(folder: Path) -> ImageFolder:
    """Read a folder of images. TockmarkError if a file is missing or damaged."""
    images = ImageFolder(folder, read_manifest(folder))
    kernel, boots = images.manifest.kernel, images.manifest.boots
    parts = [(kernel.file, kernel.sha256), *((boot.flash, boot.sha256) for boot in boots)]
    parts += [(app.elf, app.elf_sha256) for boot in boots for app in boot.slots]
    for name, sha256 in parts:
        if sha256_of(folder / name) != sha256:
            raise TockmarkError(
                f"{shown(folder / name)} does not have the sha256 that {MANIFEST} lists",
                REMAKE,
            )
    for name in sorted(images.manifest.files() - {README}):
        if not (folder / name).is_file():
            raise TockmarkError(f"{shown(folder / name)} is missing", REMAKE)
    return images


def read_folder_to_run(
    path: Path,
    catalogue: Catalogue,
    options: Mapping[str, object],
    kernels: Sequence[Path],
    langs: Sequence[Lang],
) -> ImageFolder:
    """Read a folder for `run --images`. TockmarkError if it contradicts an option: `options` maps
    their names to values, None if absent."""
    images = read_folder(path)
    images.check_catalogue(catalogue)
    manifest = images.manifest
    stored = {"board": manifest.board, "abi": manifest.abi, "samples": manifest.samples}
    stored["all_samples"] = manifest.samples is None
    for name, value in options.items():
        if value is not None and value != stored.get(name):
            option = f"--{name.replace('_', '-')}"
            raise TockmarkError(
                f"{option} contradicts {shown(path)}, which was built for {manifest.board},"
                f" --abi {manifest.abi}, {manifest.samples or 'all'} samples and its own kernel",
                f"omit {option}",
            )
    for lang in langs:
        if lang not in images.langs:
            raise TockmarkError(f"{shown(path)} has no apps in {lang}", f"omit --lang {lang}")
    for kernel in kernels:
        images.check_kernel(read_kernel(kernel))
    return images


def read_manifest(folder: Path) -> ImageManifest:
    """Read the manifest of a folder, but not the other files. TockmarkError if there is no manifest
    that this version can read."""
    path = folder / MANIFEST
    if not folder.is_dir():
        raise TockmarkError(
            f"there is no folder {shown(folder)}", "make one with `tockmark board image -o`"
        )
    if not path.exists():
        raise TockmarkError(
            f"{shown(folder)} is not a folder of images: it has no {MANIFEST}",
            "give a folder that `tockmark board image -o` wrote",
        )
    with reading(path, REMAKE):
        data = path.read_bytes()
    try:
        return msgspec.json.decode(data, type=ImageManifest)
    except ValueError as error:
        problem = f"{shown(path)} is damaged, or of another version of tockmark: {error}"
        raise TockmarkError(problem, REMAKE) from error


def sha256_of(path: Path) -> str:
    """Return the sha256 of a file in a folder."""
    with reading(path, REMAKE):
        return hashlib.sha256(path.read_bytes()).hexdigest()


def encode_manifest(manifest: ImageManifest) -> bytes:
    """Return the content of the manifest's file."""
    return msgspec.json.format(msgspec.json.encode(manifest), indent=1) + b"\n"


def write_folder(
    board: BoardProfile,
    kernel: KernelElf,
    boots: Sequence[tuple[AppBuild, Boot]],
    catalogue: Catalogue,
    samples: int | None,
    out: Path,
    also: Sequence[Path] = (),
) -> ImageManifest:
    """Build the images of boots, all for one version of the interface, into a folder.

    Boots that the board's target cannot measure are skipped. `samples` limits the samples per row.
    TABs also get the programs of the same boots in the folders `also`. An older folder at `out` is
    replaced at the end. TockmarkError if `out` is anything else."""
    skipped = {
        boot.name: SkippedBoot(boot.name, boot.measures, why)
        for _, boot in boots
        if (why := unmeasurable_reason(boot, catalogue, board.target)) is not None
    }
    wanted = [(apps, boot) for apps, boot in boots if boot.name not in skipped]
    if not wanted:
        raise TockmarkError(
            f"{board.name} can measure none of these boots: {', '.join(skipped)}",
            next(iter(skipped.values())).why,
        )
    abi = wanted[0][0].abi
    check_runs(kernel, abi, board)
    room, out = app_room(kernel, board), out.resolve()
    _check_replaceable(out)
    others = [read_folder(folder) for folder in also]
    with replaced_folder(out) as folder:
        built = _build_boots(board, kernel, wanted, samples, folder)
        for boot in built if others else ():
            for slot, app in enumerate(boot.slots):
                tabs = [other.tab(boot, slot) for other in others]
                merge_tabs(folder / app.tab, list(filter(None, tabs)))
        copy = folder / "kernel" / kernel.path.name.encode("utf-8", "replace").decode()
        copy.parent.mkdir()
        shutil.copyfile(kernel.path, copy)
        manifest = ImageManifest(
            version=VERSION,
            tockmark=__version__,
            board=board.name,
            abi=abi,
            catalogue_sha256=catalogue.sha256,
            kernel=FolderKernel(
                _relative(folder, copy), kernel.sha256, room, **origin_facts(kernel)
            ),
            boots=built,
            left_out=tuple(skipped.values()),
            samples=samples,
        )
        (folder / MANIFEST).write_bytes(encode_manifest(manifest))
        (folder / README).write_text(render_readme(manifest, board), encoding="utf-8")
        for path in folder.rglob("*"):  # intermediate files
            if path.is_file() and _relative(folder, path) not in manifest.files():
                path.unlink()
    return manifest


def _build_boots(
    board: BoardProfile,
    kernel: KernelElf,
    wanted: Sequence[tuple[AppBuild, Boot]],
    samples: int | None,
    folder: Path,
) -> tuple[FolderBoot, ...]:
    """Build the images of boots in parallel."""
    symbols = {"tm_most_samples": samples or 0}

    def build(apps: AppBuild, boot: Boot) -> FolderBoot:
        out = folder / apps.lang
        image = build_image(boot, apps, kernel, board, out, symbols)
        slots = tuple(slot.renamed(partial(_relative, folder)) for slot in image.slots)
        flash = _relative(folder, image.flash), sha256_of(image.flash)
        return FolderBoot(boot.name, apps.lang, *flash, image.id, slots)

    try:
        with processes.thread_pool(os.cpu_count()) as pool:
            works = [pool.submit(build, *arguments) for arguments in wanted]
            for work in show_count(as_completed(works), len(works), "images built"):
                work.result()
    except KeyboardInterrupt as error:
        raise TockmarkError("interrupted: nothing was written", "", INTERRUPTED) from error
    return tuple(work.result() for work in works)


def _relative(folder: Path, path: Path | str) -> str:
    """Return the path of a file relative to the folder."""
    return str(Path(path).relative_to(folder))


def _check_replaceable(out: Path) -> None:
    """Raise a TockmarkError if `out` has anything but an older folder of images."""
    if not out.exists():
        return
    if not out.is_dir():
        raise TockmarkError(f"{shown(out)} is a file", "choose a folder with -o")
    if Path.cwd().is_relative_to(out):
        raise TockmarkError(
            f"you are in {out}, which would be replaced", "choose another folder with -o"
        )
    files = read_manifest(out).files() if (out / MANIFEST).exists() else set()
    for path in out.rglob("*"):
        if not path.is_dir() and _relative(out, path) not in files:
            raise TockmarkError(
                f"{shown(out)} has a file that is not part of its images: {_relative(out, path)}",
                "choose another folder with -o, or move the file away",
            )


def render_readme(manifest: ImageManifest, board: BoardProfile) -> str:
    """Return the README.md of a folder, with the commands to load and measure this board. They work
    in the folder."""
    kernel, boot = manifest.kernel, manifest.boots[0]
    install = f"tockmark board install --images . {boot.name}"
    if len({boot.lang for boot in manifest.boots}) > 1:
        install += f" --lang {boot.lang}"
    run = f"tockmark run --board {board.name} --images ."
    where = f"--board {board.tockloader_board} --app-address {kernel.room.flash_start:#x}"
    tabs = " ".join(app.tab for app in boot.slots)
    parts = [
        f"# Flash images for {board.name}",
        f"tockmark {manifest.tockmark} built these images for: {board.description}.\n"
        f"The kernel is {kernel.name or kernel.file}, sha256 {kernel.sha256}.\n"
        f"All apps are linked for this kernel: for version {manifest.abi} of the system-call"
        " interface, and for the flash and RAM that it leaves free. They do not run on another.",
    ]
    if board.connect:
        steps = enumerate(board.connect, 1)
        parts += ["## Connect", "\n".join(f"{number}. {step}" for number, step in steps)]
    parts += ["## Measure"]
    if board.load is None:
        parts += [f"    {run}"]
    else:
        parts += [
            f"    {run} --port {PORT}",
            "with the port of the board's UART. It loads each image if"
            f" `{board.load.command[0]}` is on PATH, and otherwise asks you to load it.",
            "## Load one image",
            f"    {install}",
            "which checks its sha256 and then runs",
            f"    {shlex.join(board.load.words(Path(boot.flash)))}",
            "`--dry-run` only shows the command.",
        ]
    parts += ["## Apps and tockloader"]
    if board.load is not None and board.load.command[0] == TOCKLOADER.name:
        parts += [
            "An image has the kernel and the apps. If the board has the kernel already, tockloader"
            " can install the apps of a boot, here by J-Link:",
            f"    tockloader install --erase --jlink {where} {tabs}",
        ]
    else:
        parts += [
            "tockloader 1.19.0 supports this board only through flash files:",
            f"    tockloader list --flash-file {boot.flash} {where}\n"
            f"    tockloader install --erase --flash-file FILE {where} {tabs}",
            "The second command puts the apps of a boot into your own flash file. "
            f"`{install} --flash-file FILE` does the same, and refuses a file with another kernel.",
        ]
    parts += [
        "## Content",
        f"Images: {len(manifest.boots)}. The board is flashed once for each. A `.flash` file is the"
        f" whole flash from {board.flash.base:#x} on.\n`manifest.json` has the sha256 of each, and"
        " the addresses of the apps.",
        _table(
            ["boot", "flash file", "image", "apps"],
            [
                [each.name, each.flash, each.image, ", ".join(app.name for app in each.slots)]
                for each in manifest.boots
            ],
        ),
    ]
    if manifest.left_out:
        rows = [[each.name, ", ".join(each.rows), each.why] for each in manifest.left_out]
        parts += ["Left out:", _table(["boot", "rows", "why"], rows)]
    if board.not_working:
        parts += ["## Known limitations"]
        parts += ["\n".join(f"- {limitation}" for limitation in board.not_working)]
    return "\n\n".join(parts) + "\n"


def _table(heading: list[str], rows: list[list[str]]) -> str:
    lines = [heading, ["---"] * len(heading), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def load_boot(board: BoardProfile, flash: Path) -> bool:
    """Load a flash image onto a board. Return False if no tool is known, or it is not on PATH.
    TockmarkError if the tool fails."""
    if board.load is None or shutil.which(board.load.command[0]) is None:
        return False
    doing = f"loading {shown(flash)} onto {board.name}"
    run_tool(board.load.words(flash), doing, "check that it runs in a shell")
    return True


def load_or_ask(board: BoardProfile, boot: str, flash: Path) -> bool:
    """Load a boot, or ask the user on stderr to do it; return whether it was loaded. TockmarkError
    if the tool fails."""
    if load_boot(board, flash):
        return True
    print_message(f"load the boot {boot} onto {board.name}: {manual_load(board, flash)}")
    return False


def manual_load(board: BoardProfile, flash: Path) -> str:
    """Return what the user has to do if `load_boot` returns False, in one line."""
    if board.load is None:
        return f"load {shown(flash)} to {board.memory.flash.base:#x}, the start of its flash"
    return shlex.join(board.load.words(flash))


def flash_with_apps(
    folder: ImageFolder, boot: FolderBoot, board: BoardProfile, file: Path
) -> bytes:
    """Return the content of a flash file with its apps replaced by a boot's, as tockloader
    does it. TockmarkError if it has another kernel. The file is not changed."""
    check_ends(file, "give a flash file with the kernel")
    with reading(file, "give a flash file with the kernel", "the flash file "):
        present = file.read_bytes()
    expected = (folder.folder / boot.flash).read_bytes()
    base, room = board.flash.base, folder.manifest.kernel.room
    for address, data in folder.kernel().segments:
        start = address - base
        end = min(start + len(data), room.flash_start - base)
        if present[start:end] != expected[start:end]:
            raise TockmarkError(
                f"{shown(file)} has another kernel than the one of {shown(folder.folder)},"
                f" or another kernel setting than '{boot.name}' needs",
                f"use the complete image {shown(folder.folder / boot.flash)}",
            )
    with tempfile.TemporaryDirectory() as temporary:
        copy = Path(temporary) / "flash"
        copy.write_bytes(present)
        install_with_tockloader([folder.folder / app.tab for app in boot.slots], copy, board, room)
        content = copy.read_bytes()
    apps = slice(room.flash_start - base, len(expected))
    if content[apps] != expected[apps]:
        raise TockmarkError(
            f"tockloader put the apps of '{boot.name}' into {shown(file)} at other addresses than"
            " they are linked for",
            f"use the complete image {shown(folder.folder / boot.flash)}",
        )
    return content
