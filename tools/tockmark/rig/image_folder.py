# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A folder of laid images: what `tockmark image` writes, and `install` and `run --images` read.

manifest.json       what is here, with the sha256 of each part
README.md           how this board is loaded and measured
kernel/<its name>   the kernel's ELF: apps are linked for one kernel
c/, rust/           for each boot <boot>.flash, the whole flash; and of each of its apps
                    <boot>.<slot>.tab and .elf
"""

import hashlib
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import msgspec

from tockmark.errors import TockmarkError
from tockmark.paths import shown
from tockmark.rig.board import Slots
from tockmark.rig.elf import read_elf
from tockmark.rig.image import AppSlot, Image, KernelElf, read_kernel
from tockmark.suite.catalogue import Catalogue, Lang

VERSION = 1  # of the manifest
MANIFEST, README = "manifest.json", "README.md"

Count = Annotated[int, msgspec.Meta(ge=0, lt=2**32)]
Sha256 = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]
Id = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{8}$")]
# A file in the folder: its path does not begin at the root, and has no way out by "..".
File = Annotated[str, msgspec.Meta(pattern=r"^(?!/|(?:.*/)?\.\.(?:/|$))[^\0]+$")]


class _ManifestPart(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What all parts of a manifest have in common: nothing strange is read."""


class LaidKernel(_ManifestPart, frozen=True):
    """The kernel of all boots, and what its user said of it."""

    file: File
    sha256: Sha256
    room: Slots  # where it leaves room for apps
    name: str | None = None
    commit: str | None = None
    opt_level: str | None = None
    flags: str | None = None
    rustc: str | None = None


class LaidApp(_ManifestPart, frozen=True):
    """One app of a boot, and where it was linked (addresses and bytes)."""

    name: str
    tab: File
    elf: File
    elf_sha256: Sha256
    flash_start: Count
    flash_length: Count
    ram_start: Count
    ram_length: Count


class LaidBoot(_ManifestPart, frozen=True):
    """One boot: one flashing of the board."""

    name: str
    lang: Lang
    flash: File
    sha256: Sha256  # of that file
    image: Id  # which its app says in `begin`
    slots: tuple[LaidApp, ...]  # in the order of the flash


class LeftOut(_ManifestPart, frozen=True):
    """A boot that was not laid."""

    name: str
    rows: tuple[str, ...]  # ids of benchmarks
    why: str


class ImageManifest(_ManifestPart, frozen=True):
    """What a folder holds."""

    version: int
    tockmark: str  # the version that laid it
    board: str
    abi: Annotated[int, msgspec.Meta(ge=1, le=2)]
    catalogue_sha256: Sha256
    kernel: LaidKernel
    boots: tuple[LaidBoot, ...]
    left_out: tuple[LeftOut, ...] = ()
    # Of a row at most; None: as many as the catalogue says.
    samples: Annotated[int, msgspec.Meta(ge=9, lt=2**32)] | None = None

    def files(self) -> set[str]:
        """All that belongs to the folder."""
        apps = [app for boot in self.boots for app in boot.slots]
        flashes = [boot.flash for boot in self.boots]
        laid = {self.kernel.file, *flashes, *(a.tab for a in apps), *(a.elf for a in apps)}
        return {MANIFEST, README, *laid}

    def __post_init__(self) -> None:
        names = [(boot.name, boot.lang) for boot in self.boots]
        if len(set(names)) < len(names):
            raise ValueError("a boot stands in it twice")


class _Versioned(msgspec.Struct):
    """What a manifest of any version has."""

    version: int


@dataclass(frozen=True)
class Laid:
    """A folder that was read, whose files are what its manifest says."""

    folder: Path
    manifest: ImageManifest

    def kernel(self) -> KernelElf:
        """The kernel, as its user named it."""
        told = self.manifest.kernel
        return replace(
            read_kernel(self.folder / told.file),
            name=told.name,
            commit=told.commit,
            opt_level=told.opt_level,
            flags=told.flags,
            rustc=told.rustc,
        )

    def image(self, boot: LaidBoot) -> Image:
        """The flash image of a boot."""
        slots = tuple(
            AppSlot(
                name=app.name,
                elf=self.folder / app.elf,
                flash_start=app.flash_start,
                ram_start=app.ram_start,
                ram_length=app.ram_length,
                elf_sha256=app.elf_sha256,
                flash_length=app.flash_length,
                symbols=read_elf(self.folder / app.elf).addresses,
            )
            for app in boot.slots
        )
        return Image(self.folder / boot.flash, slots, boot.image)

    def boot(self, name: str, lang: Lang | None = None) -> LaidBoot:
        """One boot by its name, in a language if there are several. TockmarkError if it is not
        there."""
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

    def holds(self, kernel: KernelElf) -> None:
        """TockmarkError if apps here were linked for another kernel than this one."""
        if kernel.sha256 != self.manifest.kernel.sha256:
            raise TockmarkError(
                f"{shown(self.folder)} was laid for another kernel than {shown(kernel.path)}: apps"
                " are linked for one kernel's free RAM",
                "lay images of this one with `tockmark image --kernel`",
            )

    def suits(self, known: Catalogue) -> None:
        """TockmarkError if it was laid by another catalogue, whose rows may mean other things."""
        if known.sha256 != self.manifest.catalogue_sha256:
            raise TockmarkError(
                f"{shown(self.folder)} was laid by another catalogue than this tockmark's",
                "lay it anew with `tockmark image`",
            )


def read_folder(folder: Path) -> Laid:
    """Read a folder of laid images. TockmarkError if anything of it is missing or damaged."""
    laid = Laid(folder, manifest_of(folder))
    kernel, boots = laid.manifest.kernel, laid.manifest.boots
    parts = [(kernel.file, kernel.sha256), *((boot.flash, boot.sha256) for boot in boots)]
    parts += [(app.elf, app.elf_sha256) for boot in boots for app in boot.slots]
    for name, sha256 in parts:
        if sha256_of(folder / name) != sha256:
            raise TockmarkError(
                f"{shown(folder / name)} is not what {MANIFEST} says: its sha256 is another",
                "lay the folder anew with `tockmark image`",
            )
    for name in sorted(laid.manifest.files() - {README}):
        if not (folder / name).is_file():
            raise TockmarkError(
                f"{shown(folder / name)} is gone", "lay the folder anew with `tockmark image`"
            )
    return laid


def sha256_of(path: Path) -> str:
    """Of a file's content."""
    return hashlib.sha256(_bytes(path)).hexdigest()


def encode(manifest: ImageManifest) -> bytes:
    """The manifest as it stands in its file."""
    return msgspec.json.format(msgspec.json.encode(manifest), indent=1) + b"\n"


def manifest_of(folder: Path) -> ImageManifest:
    """What a folder says that it holds, without a look at its files. TockmarkError if it says
    nothing that this version reads."""
    path = folder / MANIFEST
    if not folder.is_dir():
        raise TockmarkError(f"there is no folder {shown(folder)}", "`tockmark image -o` makes one")
    if not path.exists():
        raise TockmarkError(
            f"{shown(folder)} holds no laid images: it has no {MANIFEST}",
            "give a folder that `tockmark image -o` made",
        )
    data = _bytes(path)
    try:
        version = msgspec.json.decode(data, type=_Versioned).version
        if version != VERSION:
            raise TockmarkError(
                f"{shown(path)} is of version {version}, and this tockmark reads {VERSION}",
                "lay the folder anew with `tockmark image`",
            )
        return msgspec.json.decode(data, type=ImageManifest)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise TockmarkError(
            f"{shown(path)} is damaged: {error}", "lay the folder anew with `tockmark image`"
        ) from error


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise TockmarkError(
            f"cannot read {shown(path)}: {error.strerror}",
            "lay the folder anew with `tockmark image`",
        ) from error
