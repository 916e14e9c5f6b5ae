# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Laying every boot of the suite into a folder (target/laid.py), whole or not at all."""

import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec

from tockmark import __version__
from tockmark.errors import INTERRUPTED, TockmarkError
from tockmark.files import is_through
from tockmark.paths import shown
from tockmark.rig import image_folder
from tockmark.rig.board import BoardProfile, ProfileFile, boot_unsuited
from tockmark.rig.image import AppBuild, Image, KernelElf, build_image, install, room_of, runs
from tockmark.rig.image_folder import ImageManifest, Laid, LaidApp, LaidBoot, LaidKernel, LeftOut
from tockmark.rig.progress import counted
from tockmark.rig.tool import call
from tockmark.suite.catalogue import Boot, Catalogue


@dataclass(frozen=True)
class Order:
    """What the user asked for."""

    board: BoardProfile
    kernel: KernelElf
    boots: tuple[tuple[AppBuild, Boot], ...]  # all for one version of the interface
    catalogue: Catalogue
    samples: int | None  # of a row, at most; None: as the catalogue says
    jobs: int


def lay(order: Order, out: Path) -> ImageManifest:
    """Lay all boots that the board's target can measure. What `out` was before stays until all
    is there; TockmarkError if that is anything else than an older folder of laid images."""
    wanted = [one for one in order.boots if _why_not(order, one[1]) is None]
    left = {boot.name: boot for _, boot in order.boots if _why_not(order, boot) is not None}
    if not wanted:
        raise TockmarkError(
            f"{order.board.name} can measure none of these boots: {', '.join(left)}",
            str(_why_not(order, next(iter(left.values())))),
        )
    for apps in {apps.abi: apps for apps, _ in wanted}.values():
        runs(order.kernel, apps.abi, order.board)
    with _replacing(out) as folder:
        images = _images(order, wanted, folder)
        manifest = ImageManifest(
            version=image_folder.VERSION,
            tockmark=__version__,
            board=order.board.name,
            abi=wanted[0][0].abi,
            catalogue_sha256=order.catalogue.sha256,
            kernel=_kernel(order, folder),
            boots=tuple(
                _boot(boot, apps, image, folder)
                for (apps, boot), image in zip(wanted, images, strict=True)
            ),
            left_out=tuple(
                LeftOut(boot.name, boot.measures, str(_why_not(order, boot)))
                for boot in left.values()
            ),
            samples=order.samples,
        )
        (folder / image_folder.MANIFEST).write_bytes(image_folder.encode(manifest))
        (folder / image_folder.README).write_text(
            readme_text(manifest, order.board), encoding="utf-8"
        )
        for path in folder.rglob("*"):  # what the steps between left
            if path.is_file() and str(path.relative_to(folder)) not in manifest.files():
                path.unlink()
    return manifest


def _why_not(order: Order, boot: Boot) -> str | None:
    return boot_unsuited(boot, order.catalogue, order.board.target)


def _images(order: Order, wanted: list[tuple[AppBuild, Boot]], folder: Path) -> list[Image]:
    """The images of these boots, several at a time."""
    symbols = {"tm_most_samples": order.samples or 0}

    def build(apps: AppBuild, boot: Boot) -> Image:
        return build_image(
            boot, apps, order.kernel, order.board, folder / apps.lang, symbols, seed=0
        )

    pool = ThreadPoolExecutor(order.jobs)
    try:
        works = [pool.submit(build, *one) for one in wanted]
        for work in counted(as_completed(works), len(works), "images laid"):
            work.result()
    except KeyboardInterrupt as error:
        raise TockmarkError("interrupted: nothing was laid", "", INTERRUPTED) from error
    finally:
        pool.shutdown(cancel_futures=True)
    return [work.result() for work in works]


def _kernel(order: Order, folder: Path) -> LaidKernel:
    """Copy the kernel's ELF and say what is known of it."""
    kernel = order.kernel
    name = kernel.path.name.encode("utf-8", "replace").decode()
    copy = folder / "kernel" / name
    copy.parent.mkdir()
    shutil.copyfile(kernel.path, copy)
    return LaidKernel(
        file=str(copy.relative_to(folder)),
        sha256=kernel.sha256,
        room=room_of(kernel, order.board),
        name=kernel.name,
        commit=kernel.commit,
        opt_level=kernel.opt_level,
        flags=kernel.flags,
        rustc=kernel.rustc,
    )


def _boot(boot: Boot, apps: AppBuild, image: Image, folder: Path) -> LaidBoot:
    return LaidBoot(
        name=boot.name,
        lang=apps.lang,
        flash=str(image.flash.relative_to(folder)),
        sha256=image_folder.sha256_of(image.flash),
        image=image.id,
        slots=tuple(
            msgspec.convert(
                {
                    **slot.layout(),
                    "tab": str(slot.elf.with_suffix(".tab").relative_to(folder)),
                    "elf": str(slot.elf.relative_to(folder)),
                },
                LaidApp,
            )
            for slot in image.slots
        ),
    )


@contextmanager
def _replacing(out: Path) -> Iterator[Path]:
    """A new folder that takes the place of `out` once all is in it."""
    out = out.resolve()
    _replaceable(out)
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}.") as beside:
            new, old = Path(beside) / "new", Path(beside) / "old"
            new.mkdir()
            yield new
            if out.exists():
                out.rename(old)
            try:
                new.rename(out)
            except OSError:
                if old.exists():
                    old.rename(out)
                raise
    except OSError as error:
        raise TockmarkError(
            f"cannot write {shown(out)}: {error.strerror}; what was there before is untouched",
            "make room or choose another place with -o",
        ) from error


def _replaceable(out: Path) -> None:
    """TockmarkError if a folder holds anything that is not of an older lay."""
    if not out.exists():
        return
    if not out.is_dir():
        raise TockmarkError(f"{shown(out)} is a file", "choose a folder with -o")
    if Path.cwd().is_relative_to(out):
        raise TockmarkError(
            f"you are in {out}, which a new folder would replace", "choose another with -o"
        )
    own = image_folder.manifest_of(out).files() if (out / image_folder.MANIFEST).exists() else set()
    there = (path.relative_to(out) for path in out.rglob("*") if not path.is_dir())
    other = next((path for path in there if str(path) not in own), None)
    if other is None:
        return
    raise TockmarkError(
        f"{shown(out)} holds something else than laid images: {other}",
        "choose another folder with -o, or move that away",
    )


# The README.md of a folder of laid images: for this board, the commands that load and measure.


PORT = "/dev/ttyUSB0"  # in examples


def readme_text(manifest: ImageManifest, board: BoardProfile) -> str:
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


def _measure(board: BoardProfile, boot: LaidBoot, install: str) -> str:
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


def _by_tockloader(
    manifest: ImageManifest, board: BoardProfile, boot: LaidBoot, install: str
) -> str:
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


# Loading a laid boot: onto a board by the tool that its profile names, or into a flash file.


def load_boot(profile: ProfileFile, flash: Path) -> bool:
    """Load a flash image onto a board. False if no tool is known for it or the tool is not on
    PATH; TockmarkError, with the last thing that the tool said, if it fails."""
    if profile.load is None or shutil.which(profile.load.command[0]) is None:
        return False
    doing = f"loading {shown(flash)} onto {profile.name}"
    call(profile.load.words(flash), doing, "see that it starts from a shell")
    return True


def load_or_ask(profile: ProfileFile, boot: str, flash: Path) -> bool:
    """Load a boot; False if a person has to, who is asked on stderr. TockmarkError if a tool
    failed."""
    if load_boot(profile, flash):
        return True
    what = f"load the boot {boot} onto {profile.name}: {by_hand(profile, flash)}"
    print(f"tockmark: {what}", file=sys.stderr, flush=True)
    return False


def no_tool(profile: ProfileFile) -> str:
    """Why `load` gave False."""
    if profile.load is None:
        return f"tockmark knows no tool that loads {profile.name}"
    return f"{profile.load.command[0]} is not on PATH"


def by_hand(profile: ProfileFile, flash: Path) -> str:
    """What a person does where `load` cannot, in one line."""
    if profile.load is None:
        return f"load {shown(flash)} to {profile.memory.flash.base:#x}, the start of its flash"
    return shlex.join(profile.load.words(flash))


def with_apps(laid: Laid, boot: LaidBoot, board: BoardProfile, file: Path) -> bytes:
    """A flash file that holds the kernel, with a boot's apps in the place of all apps there, as
    tockloader lays them. TockmarkError if it holds another kernel; the file stays as it is."""
    if is_through(file):  # of a pipe nothing may ever come, of a device no end
        raise TockmarkError(f"{shown(file)} is not a file", "give a flash file with the kernel")
    try:
        theirs = file.read_bytes()
    except OSError as error:
        raise TockmarkError(
            f"cannot read the flash file {shown(file)}: {error.strerror}",
            "give one that holds the kernel",
        ) from error
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
        install([laid.folder / app.tab for app in boot.slots], copy, board, room)
        made = copy.read_bytes()
    apps = slice(room.flash_start - base, len(ours))
    if made[apps] != ours[apps]:
        raise TockmarkError(
            f"tockloader laid the apps of '{boot.name}' into {shown(file)} elsewhere than they"
            " were linked for",
            f"take {shown(laid.folder / boot.flash)}, which is whole",
        )
    return made
