# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Flash images of kernels, and files that are not kernels."""

from dataclasses import replace
from pathlib import Path

import pytest

from tockmark.base.errors import TockmarkError
from tockmark.target import board as boards
from tockmark.target import image
from tockmark.target.image import AppSlot, Image, boot_manifest, write_flash
from tockmark.target.kernel import SLICE_WORD, KernelElf, read_kernel
from tockmark.tests import elves


def kernel(*segments: tuple[int, bytes]) -> KernelElf:
    return KernelElf(Path("k.elf"), None, "0" * 64, None, segments)


def test_segments_are_placed_at_their_addresses(tmp_path: Path) -> None:
    profile = boards.load(boards.DEFAULT)
    base = profile.flash.base
    write_flash(kernel((base + 12, b"cd"), (base + 4, b"ab")), profile, tmp_path / "f")
    assert (tmp_path / "f").read_bytes() == b"\xff" * 4 + b"ab" + b"\xff" * 6 + b"cd"


@pytest.mark.parametrize("address", [0, 0x1FFF_FFFF, 0x200F_FFFF, 0x1000_0000])
def test_a_segment_outside_flash_is_refused(address: int, tmp_path: Path) -> None:
    profile = boards.load(boards.DEFAULT)
    with pytest.raises(TockmarkError, match="outside the flash"):
        write_flash(kernel((address, b"abc")), profile, tmp_path / "f")


@pytest.mark.parametrize("content", [b"", b"\x7fELF", b"hello" * 100, b"\x7fELF\x01\x01\x01" * 40])
def test_a_file_that_is_not_a_kernel_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "k.elf"
    path.write_bytes(content)
    with pytest.raises(TockmarkError):
        read_kernel(path)


def test_the_id_depends_on_all_inputs_of_an_image(tmp_path: Path) -> None:
    """Equal inputs give equal ids."""
    files = [tmp_path / name for name in ("kernel", "a.o", "libtockmark.a")]
    for path in files:
        path.write_text(path.name)
    inputs: list[object] = [("a", "a"), "c", 2, {"tm_scene": 1}]
    first = image.image_id(inputs, files)
    assert image.image_id(inputs, [*files, files[1]]) == first
    others = [
        image.image_id([*inputs[:3], {"tm_scene": 2}], files),
        image.image_id(inputs, files[:2]),
    ]
    files[1].write_text("another")
    others.append(image.image_id(inputs, files))
    assert len({first, *others}) == 4


def test_an_image_with_an_early_stop_has_another_id(tmp_path: Path) -> None:
    """The app's word has the same id."""
    profile = boards.load(boards.DEFAULT)
    (tmp_path / "f").write_bytes(bytes(32))
    offsets = {image.STEADY_STOP_WORD: 4, image.IMAGE_WORD: 12}
    symbols = [(name, profile.flash.base + at) for name, at in offsets.items()]
    elf = tmp_path / "a.elf"
    elf.write_bytes(elves.make_elf([elves.Segment(elves.BASE, bytes(4))], symbols))
    slots = (AppSlot("a", "a.tab", str(elf), "", 0, 0, 0, 0),)
    early = image.with_early_stop(Image(tmp_path / "f", slots, "0" * 8), profile, tmp_path / "e")
    flash = (tmp_path / "e").read_bytes()
    assert flash[4:8] == (1).to_bytes(4, "little")
    assert f"{int.from_bytes(flash[12:16], 'little'):08x}" == early.id != "0" * 8


def test_the_baseline_gets_a_boot_manifest_if_the_board_needs_one(tmp_path: Path) -> None:
    """Other kernels and other boards get none, and the code stays unchanged."""
    path, code = tmp_path / "f", b"\x13\0\0\0"
    base = boards.load("cw310").flash.base
    user = replace(kernel((base + 0x400, code)), entry=base + 0x400)
    ours = replace(user, words={SLICE_WORD: base + 0x400})
    for board, kernel_, manifest in (
        ("cw310", ours, boot_manifest(ours.segments, ours.entry, base)),
        ("cw310", user, b"\xff" * 0x400),
        ("earlgrey-sim", ours, b"\xff" * 0x400),
    ):
        write_flash(kernel_, boards.load(board), path)
        assert path.read_bytes() == manifest + code
