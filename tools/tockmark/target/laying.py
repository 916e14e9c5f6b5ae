# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Laying every boot of the suite into a folder (target/laid.py), whole or not at all."""

import shutil
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec

from tockmark import __version__
from tockmark.errors import INTERRUPTED, TockmarkError
from tockmark.paths import shown
from tockmark.suite.catalogue import Boot, Catalogue
from tockmark.target import laid, readme
from tockmark.target.board import Board
from tockmark.target.image import Apps, Image, Kernel, build_image, room_of, runs
from tockmark.target.laid import LaidApp, LaidBoot, LaidKernel, LeftOut, Manifest
from tockmark.target.progress import counted
from tockmark.target.suited import boot_unsuited


@dataclass(frozen=True)
class Order:
    """What the user asked for."""

    board: Board
    kernel: Kernel
    boots: tuple[tuple[Apps, Boot], ...]  # all for one version of the interface
    catalogue: Catalogue
    samples: int | None  # of a row, at most; None: as the catalogue says
    jobs: int


def lay(order: Order, out: Path) -> Manifest:
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
        manifest = Manifest(
            version=laid.VERSION,
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
        (folder / laid.MANIFEST).write_bytes(laid.encode(manifest))
        (folder / laid.README).write_text(readme.text(manifest, order.board), encoding="utf-8")
        for path in folder.rglob("*"):  # what the steps between left
            if path.is_file() and str(path.relative_to(folder)) not in manifest.files():
                path.unlink()
    return manifest


def _why_not(order: Order, boot: Boot) -> str | None:
    return boot_unsuited(boot, order.catalogue, order.board.target)


def _images(order: Order, wanted: list[tuple[Apps, Boot]], folder: Path) -> list[Image]:
    """The images of these boots, several at a time."""
    symbols = {"tm_most_samples": order.samples or 0}

    def build(apps: Apps, boot: Boot) -> Image:
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


def _boot(boot: Boot, apps: Apps, image: Image, folder: Path) -> LaidBoot:
    return LaidBoot(
        name=boot.name,
        lang=apps.lang,
        flash=str(image.flash.relative_to(folder)),
        sha256=laid.sha256_of(image.flash),
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
    own = laid.manifest_of(out).files() if (out / laid.MANIFEST).exists() else set()
    there = (path.relative_to(out) for path in out.rglob("*") if not path.is_dir())
    other = next((path for path in there if str(path) not in own), None)
    if other is None:
        return
    raise TockmarkError(
        f"{shown(out)} holds something else than laid images: {other}",
        "choose another folder with -o, or move that away",
    )
