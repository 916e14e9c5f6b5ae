# SPDX-License-Identifier: Apache-2.0 OR MIT
"""`tockmark board image` writes a folder of laid images, which `install` and `run --images` read.

manifest.json       what is here, with the sha256 of each part
README.md           how this board is loaded and measured
kernel/<its name>   the kernel's ELF: apps are linked for one kernel
c/, rust/           for each boot <boot>.flash, the whole flash; and of each of its apps
                    <boot>.<slot>.tab and .elf

It is written whole or not at all, and read only if nothing of it is missing or damaged. A boot of
it is loaded onto a board by the tool that the profile names, or into a flash file.
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
from typing import Annotated

import msgspec

from tockmark import __version__
from tockmark.base import processes
from tockmark.base.documents import Part, Sha256
from tockmark.base.errors import INTERRUPTED, TockmarkError, print_message
from tockmark.base.files import is_device_or_pipe, reading, replaced_folder
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

VERSION = 1  # of the manifest
MANIFEST, README = "manifest.json", "README.md"
REMAKE = "lay the folder anew with `tockmark board image`"
PORT = "/dev/ttyUSB0"  # in examples

Id = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{8}$")]


class FolderKernel(Part, frozen=True, omit_defaults=False):
    """The kernel of all boots, and what its user said of it."""

    file: File
    sha256: Sha256
    room: Room  # where it leaves room for apps
    name: str | None = None
    commit: str | None = None
    opt_level: str | None = None
    flags: str | None = None
    rustc: str | None = None


class FolderBoot(Part, frozen=True):
    """One boot: one flashing of the board."""

    name: str
    lang: Lang
    flash: File
    sha256: Sha256  # of that file
    image: Id  # which its app says in `begin`
    slots: tuple[AppSlot, ...]  # in the order of the flash


class SkippedBoot(Part, frozen=True):
    """A boot that was not laid."""

    name: str
    rows: tuple[str, ...]  # ids of benchmarks
    why: str


class ImageManifest(Part, frozen=True, omit_defaults=False):
    """Says what a folder holds."""

    version: int
    tockmark: str  # the version that laid it
    board: str
    abi: Annotated[int, msgspec.Meta(ge=1, le=2)]
    catalogue_sha256: Sha256
    kernel: FolderKernel
    boots: tuple[FolderBoot, ...]
    left_out: tuple[SkippedBoot, ...] = ()
    # Of a row at most; None: as many as the catalogue says.
    samples: Annotated[int, msgspec.Meta(ge=9, lt=2**32)] | None = None

    def files(self) -> set[str]:
        """Return the names of all that belongs to the folder."""
        apps = [app for boot in self.boots for app in boot.slots]
        flashes = [boot.flash for boot in self.boots]
        laid = {self.kernel.file, *flashes, *(a.tab for a in apps), *(a.elf for a in apps)}
        return {MANIFEST, README, *laid}

    def __post_init__(self) -> None:
        names = [(boot.name, boot.lang) for boot in self.boots]
        if len(set(names)) < len(names):
            raise ValueError("a boot stands in it twice")


class _Versioned(msgspec.Struct):
    """Holds what a manifest of any version has."""

    version: int


@dataclass(frozen=True)
class ImageFolder:
    """A folder that was read, whose files are what its manifest says."""

    folder: Path
    manifest: ImageManifest

    def kernel(self) -> KernelElf:
        """Return the kernel, as its user named it."""
        laid = self.manifest.kernel
        facts = {key: getattr(laid, key) for key in Origin.__struct_fields__}
        return replace(read_kernel(self.folder / laid.file), **facts)

    def image(self, boot: FolderBoot) -> Image:
        """Return the flash image of a boot."""
        slots = tuple(slot.renamed(lambda name: str(self.folder / name)) for slot in boot.slots)
        return Image(self.folder / boot.flash, slots, boot.image)

    def boot(self, name: str, lang: Lang | None = None) -> FolderBoot:
        """Return one boot by its name, in a language if there are several. TockmarkError if it is
        not there."""
        named = [boot for boot in self.manifest.boots if boot.name == name]
        found = [boot for boot in named if lang in (None, boot.lang)]
        if not found:
            raise TockmarkError(
                f"{shown(self.folder)} has no boot '{name}'" + f" in {lang}" * (lang is not None),
                f"it has: {', '.join(dict.fromkeys(boot.name for boot in self.manifest.boots))}",
            )
        if len(found) > 1:
            raise TockmarkError(
                f"{shown(self.folder)} has '{name}' in {len(found)} languages",
                f"say which with --lang: {', '.join(boot.lang for boot in found)}",
            )
        return found[0]

    def tab(self, boot: FolderBoot, slot: int) -> Path | None:
        """Return the TAB in this place of the boot that is called as another folder's, if any."""
        named = (
            one for one in self.manifest.boots if (one.name, one.lang) == (boot.name, boot.lang)
        )
        return next((self.folder / one.slots[slot].tab for one in named), None)

    @property
    def langs(self) -> list[Lang]:
        """Return the languages of its apps."""
        return list(dict.fromkeys(boot.lang for boot in self.manifest.boots))

    def boots(
        self,
        wanted: Sequence[Boot],
        lang: Lang,
        board: BoardProfile,
        known: Catalogue,
        only: str | None,
    ) -> list[Boot]:
        """Return those of the wanted boots that were laid, and those whose rows this board cannot
        give. TockmarkError if --only needs another."""
        there = {boot.name for boot in self.manifest.boots if boot.lang == lang}
        found = [
            boot
            for boot in wanted
            if boot.name in there or unmeasurable_reason(boot, known, board.target) is not None
        ]
        if only is not None and (gone := [boot.name for boot in wanted if boot not in found]):
            raise TockmarkError(
                f"'{only}' needs the boot {gone[0]}{f' in {lang}' if lang != 'c' else ''}, which is"
                f" not in {shown(self.folder)}",
                REMAKE,
            )
        return found

    def check_kernel(self, kernel: KernelElf) -> None:
        """TockmarkError if apps here were linked for another kernel than this one."""
        if kernel.sha256 != self.manifest.kernel.sha256:
            raise TockmarkError(
                f"{shown(self.folder)} was laid for another kernel than {shown(kernel.path)}: apps"
                " are linked for one kernel's free RAM",
                "lay images of this one with `tockmark board image --kernel`",
            )

    def check_catalogue(self, known: Catalogue) -> None:
        """TockmarkError if it was laid by another catalogue, whose rows may mean other things."""
        if known.sha256 != self.manifest.catalogue_sha256:
            raise TockmarkError(
                f"{shown(self.folder)} was laid by another catalogue than this tockmark's",
                "lay it anew with `tockmark board image`",
            )


def read_folder(folder: Path) -> ImageFolder:
    """Read a folder of laid images. TockmarkError if anything of it is missing or damaged."""
    laid = ImageFolder(folder, read_manifest(folder))
    kernel, boots = laid.manifest.kernel, laid.manifest.boots
    parts = [(kernel.file, kernel.sha256), *((boot.flash, boot.sha256) for boot in boots)]
    parts += [(app.elf, app.elf_sha256) for boot in boots for app in boot.slots]
    for name, sha256 in parts:
        if sha256_of(folder / name) != sha256:
            raise TockmarkError(
                f"{shown(folder / name)} is not what {MANIFEST} says: its sha256 is another",
                REMAKE,
            )
    for name in sorted(laid.manifest.files() - {README}):
        if not (folder / name).is_file():
            raise TockmarkError(f"{shown(folder / name)} is gone", REMAKE)
    return laid


def read_folder_to_run(
    path: Path,
    known: Catalogue,
    given: Mapping[str, object],
    kernels: Sequence[Path],
    langs: Sequence[Lang],
) -> ImageFolder:
    """Read the folder for `run --images`. TockmarkError where an option contradicts it: `given` has
    them by their names, None for what was not given."""
    laid = read_folder(path)
    laid.check_catalogue(known)
    manifest = laid.manifest
    own = {"board": manifest.board, "abi": manifest.abi, "samples": manifest.samples}
    own["all_samples"] = manifest.samples is None
    for name, value in given.items():
        if value is not None and value != own.get(name):
            option = f"--{name.replace('_', '-')}"
            raise TockmarkError(
                f"{option} does not go with {shown(path)}: it was laid for {manifest.board},"
                f" --abi {manifest.abi}, {manifest.samples or 'all'} samples, and knows its kernel",
                f"leave out {option}",
            )
    for lang in langs:
        if lang not in laid.langs:
            raise TockmarkError(f"{shown(path)} has no apps in --lang {lang}", "leave it out")
    for kernel in kernels:
        laid.check_kernel(read_kernel(kernel))
    return laid


def read_manifest(folder: Path) -> ImageManifest:
    """Read what a folder says that it holds, without a look at its files. TockmarkError if it says
    nothing that this version reads."""
    path = folder / MANIFEST
    if not folder.is_dir():
        raise TockmarkError(
            f"there is no folder {shown(folder)}", "`tockmark board image -o` makes one"
        )
    if not path.exists():
        raise TockmarkError(
            f"{shown(folder)} holds no laid images: it has no {MANIFEST}",
            "give a folder that `tockmark board image -o` made",
        )
    with reading(path, REMAKE):
        data = path.read_bytes()
    try:
        version = msgspec.json.decode(data, type=_Versioned).version
        if version != VERSION:
            raise TockmarkError(
                f"{shown(path)} is of version {version}, and this tockmark reads {VERSION}",
                REMAKE,
            )
        return msgspec.json.decode(data, type=ImageManifest)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise TockmarkError(f"{shown(path)} is damaged: {error}", REMAKE) from error


def sha256_of(path: Path) -> str:
    """Return the hash of what a file of a folder holds."""
    with reading(path, REMAKE):
        return hashlib.sha256(path.read_bytes()).hexdigest()


def encode_manifest(manifest: ImageManifest) -> bytes:
    """Return the manifest as it stands in its file."""
    return msgspec.json.format(msgspec.json.encode(manifest), indent=1) + b"\n"


def write_folder(
    board: BoardProfile,
    kernel: KernelElf,
    boots: Sequence[tuple[AppBuild, Boot]],
    known: Catalogue,
    samples: int | None,
    out: Path,
    also: Sequence[Path] = (),
) -> ImageManifest:
    """Lay those boots, all for one version of the interface, that the board's target can measure,
    with so many samples of a row at most; TABs also with the programs that the folders `also` have
    of the same boots. What `out` was before stays until all is there;
    TockmarkError if that is anything else than an older folder of laid images."""
    left = {
        boot.name: SkippedBoot(boot.name, boot.measures, why)
        for _, boot in boots
        if (why := unmeasurable_reason(boot, known, board.target)) is not None
    }
    wanted = [(apps, boot) for apps, boot in boots if boot.name not in left]
    if not wanted:
        raise TockmarkError(
            f"{board.name} can measure none of these boots: {', '.join(left)}",
            next(iter(left.values())).why,
        )
    abi = wanted[0][0].abi
    check_runs(kernel, abi, board)
    out = out.resolve()
    _check_replaceable(out)
    others = [read_folder(folder) for folder in also]
    with replaced_folder(out) as folder:
        laid = _lay_boots(board, kernel, wanted, samples, folder)
        for boot in laid if others else ():
            for slot, app in enumerate(boot.slots):
                merge_tabs(
                    folder / app.tab, list(filter(None, (o.tab(boot, slot) for o in others)))
                )
        copy = folder / "kernel" / kernel.path.name.encode("utf-8", "replace").decode()
        copy.parent.mkdir()
        shutil.copyfile(kernel.path, copy)
        manifest = ImageManifest(
            version=VERSION,
            tockmark=__version__,
            board=board.name,
            abi=abi,
            catalogue_sha256=known.sha256,
            kernel=FolderKernel(
                _within(folder, copy),
                kernel.sha256,
                app_room(kernel, board),
                **origin_facts(kernel),
            ),
            boots=laid,
            left_out=tuple(left.values()),
            samples=samples,
        )
        (folder / MANIFEST).write_bytes(encode_manifest(manifest))
        (folder / README).write_text(render_readme(manifest, board), encoding="utf-8")
        for path in folder.rglob("*"):  # what the steps between left
            if path.is_file() and _within(folder, path) not in manifest.files():
                path.unlink()
    return manifest


def _lay_boots(
    board: BoardProfile,
    kernel: KernelElf,
    wanted: Sequence[tuple[AppBuild, Boot]],
    samples: int | None,
    folder: Path,
) -> tuple[FolderBoot, ...]:
    """Lay these boots, several at a time."""
    symbols = {"tm_most_samples": samples or 0}

    def build(apps: AppBuild, boot: Boot) -> FolderBoot:
        out = folder / apps.lang
        image = build_image(boot, apps, kernel, board, out, symbols)
        slots = tuple(slot.renamed(partial(_within, folder)) for slot in image.slots)
        flash = _within(folder, image.flash), sha256_of(image.flash)
        return FolderBoot(boot.name, apps.lang, *flash, image.id, slots)

    try:
        with processes.thread_pool(os.cpu_count()) as pool:
            works = [pool.submit(build, *one) for one in wanted]
            for work in show_count(as_completed(works), len(works), "images laid"):
                work.result()
    except KeyboardInterrupt as error:
        raise TockmarkError("interrupted: nothing was laid", "", INTERRUPTED) from error
    return tuple(work.result() for work in works)


def _within(folder: Path, path: Path | str) -> str:
    """Return a file's name as a manifest of this folder has it."""
    return str(Path(path).relative_to(folder))


def _check_replaceable(out: Path) -> None:
    """TockmarkError if a folder holds anything that is not of an older lay."""
    if not out.exists():
        return
    if not out.is_dir():
        raise TockmarkError(f"{shown(out)} is a file", "choose a folder with -o")
    if Path.cwd().is_relative_to(out):
        raise TockmarkError(
            f"you are in {out}, which a new folder would replace", "choose another with -o"
        )
    own = read_manifest(out).files() if (out / MANIFEST).exists() else set()
    for path in out.rglob("*"):
        if not path.is_dir() and _within(out, path) not in own:
            raise TockmarkError(
                f"{shown(out)} holds something else than laid images: {_within(out, path)}",
                "choose another folder with -o, or move that away",
            )


def render_readme(manifest: ImageManifest, board: BoardProfile) -> str:
    """Write the README.md of a folder: for this board, the commands that load and measure. They are
    for a shell that stands in the folder."""
    kernel, boot = manifest.kernel, manifest.boots[0]
    install = f"tockmark board install --images . {boot.name}"
    if len({boot.lang for boot in manifest.boots}) > 1:
        install += f" --lang {boot.lang}"
    run = f"tockmark run --board {board.name} --images ."
    where = f"--board {board.tockloader_board} --app-address {kernel.room.flash_start:#x}"
    tabs = " ".join(app.tab for app in boot.slots)
    parts = [
        f"# Flash images for {board.name}",
        f"tockmark {manifest.tockmark} laid this for: {board.description}.\n"
        f"The kernel is {kernel.name or kernel.file}, sha256 {kernel.sha256}.\n"
        f"All apps are linked for this kernel: version {manifest.abi} of the system-call"
        " interface, its free flash and RAM. With another kernel they do not run.",
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
            "with the port of the board's UART. It loads each image where"
            f" `{board.load.command[0]}` is on PATH, and else asks for it by name.",
            "## Load one image",
            f"    {install}",
            "which checks its sha256 and then calls",
            f"    {shlex.join(board.load.words(Path(boot.flash)))}",
            "`--dry-run` shows the command only.",
        ]
    parts += ["## Apps and tockloader"]
    if board.load is not None and board.load.command[0] == TOCKLOADER.name:
        parts += [
            "An image has kernel and apps in it. Where the kernel is there already, tockloader puts"
            " the apps of a boot behind it, here by J-Link:",
            f"    tockloader install --erase --jlink {where} {tabs}",
        ]
    else:
        parts += [
            "tockloader 1.19.0 has no way to this board but through flash files:",
            f"    tockloader list --flash-file {boot.flash} {where}\n"
            f"    tockloader install --erase --flash-file FILE {where} {tabs}",
            "The second puts the apps of a boot into a flash file of your own. "
            f"`{install} --flash-file FILE` does the same, and refuses a file with another kernel.",
        ]
    parts += [
        "## What is here",
        f"Images: {len(manifest.boots)}, each of them one flashing. A `.flash` file is the whole"
        f" flash from {board.flash.base:#x} on.\n`manifest.json` has the sha256 of each, and where"
        " each app lies.",
        _table(
            ["boot", "flash file", "image", "apps"],
            [
                [one.name, one.flash, one.image, ", ".join(app.name for app in one.slots)]
                for one in manifest.boots
            ],
        ),
    ]
    if manifest.left_out:
        rows = [[one.name, ", ".join(one.rows), one.why] for one in manifest.left_out]
        parts += ["Left out:", _table(["boot", "rows", "why"], rows)]
    if board.not_working:
        parts += ["## What is known not to work"]
        parts += ["\n".join(f"- {one}" for one in board.not_working)]
    return "\n\n".join(parts) + "\n"


def _table(heading: list[str], rows: list[list[str]]) -> str:
    lines = [heading, ["---"] * len(heading), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def load_boot(board: BoardProfile, flash: Path) -> bool:
    """Load a flash image onto a board. False if no tool is known for it or the tool is not on
    PATH; TockmarkError, with the last thing that the tool said, if it fails."""
    if board.load is None or shutil.which(board.load.command[0]) is None:
        return False
    doing = f"loading {shown(flash)} onto {board.name}"
    run_tool(board.load.words(flash), doing, "see that it starts from a shell")
    return True


def load_or_ask(board: BoardProfile, boot: str, flash: Path) -> bool:
    """Load a boot; False if a person has to, who is asked on stderr. TockmarkError if a tool
    failed."""
    if load_boot(board, flash):
        return True
    print_message(f"load the boot {boot} onto {board.name}: {manual_load(board, flash)}")
    return False


def missing_tool(board: BoardProfile) -> str:
    """Say why `load_boot` gave False."""
    if board.load is None:
        return f"tockmark knows no tool that loads {board.name}"
    return f"{board.load.command[0]} is not on PATH"


def manual_load(board: BoardProfile, flash: Path) -> str:
    """Say in one line what a person does where `load_boot` cannot."""
    if board.load is None:
        return f"load {shown(flash)} to {board.memory.flash.base:#x}, the start of its flash"
    return shlex.join(board.load.words(flash))


def flash_with_apps(laid: ImageFolder, boot: FolderBoot, board: BoardProfile, file: Path) -> bytes:
    """Return a flash file that holds the kernel with a boot's apps in the place of all apps there,
    as tockloader lays them. TockmarkError if it holds another kernel; the file stays as it is."""
    if is_device_or_pipe(file):  # of a pipe nothing may ever come, of a device no end
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
        install_with_tockloader([laid.folder / app.tab for app in boot.slots], copy, board, room)
        made = copy.read_bytes()
    apps = slice(room.flash_start - base, len(ours))
    if made[apps] != ours[apps]:
        raise TockmarkError(
            f"tockloader laid the apps of '{boot.name}' into {shown(file)} elsewhere than they"
            " were linked for",
            f"take {shown(laid.folder / boot.flash)}, which is whole",
        )
    return made
