# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Kernel segments to flash, and kernels that are none."""

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


def test_segments_lie_where_they_belong(tmp_path: Path) -> None:
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
def test_what_is_no_kernel_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "k.elf"
    path.write_bytes(content)
    with pytest.raises(TockmarkError):
        read_kernel(path)


def test_the_id_tells_all_apart_that_makes_another_image(tmp_path: Path) -> None:
    """And the same again is the same."""
    files = [tmp_path / name for name in ("kernel", "a.o", "libtockmark.a")]
    for path in files:
        path.write_text(path.name)
    said: list[object] = [("a", "a"), "c", 2, {"tm_scene": 1}]
    first = image.image_id(said, files)
    assert image.image_id(said, [*files, files[1]]) == first
    others = [image.image_id([*said[:3], {"tm_scene": 2}], files), image.image_id(said, files[:2])]
    files[1].write_text("another")
    others.append(image.image_id(said, files))
    assert len({first, *others}) == 4


def test_an_image_that_stops_early_has_an_id_of_its_own(tmp_path: Path) -> None:
    """Which the app's word says, too."""
    profile = boards.load(boards.DEFAULT)
    (tmp_path / "f").write_bytes(bytes(32))
    places = {image.STEADY_STOP_WORD: 4, image.IMAGE_WORD: 12}
    symbols = [(name, profile.flash.base + at) for name, at in places.items()]
    elf = tmp_path / "a.elf"
    elf.write_bytes(elves.made([elves.Segment(elves.BASE, bytes(4))], symbols))
    slots = (AppSlot("a", "a.tab", str(elf), "", 0, 0, 0, 0),)
    early = image.with_early_stop(Image(tmp_path / "f", slots, "0" * 8), profile, tmp_path / "e")
    flash = (tmp_path / "e").read_bytes()
    assert flash[4:8] == (1).to_bytes(4, "little")
    assert f"{int.from_bytes(flash[12:16], 'little'):08x}" == early.id != "0" * 8


def test_the_baseline_gets_a_boot_manifest_where_the_board_asks_for_one(tmp_path: Path) -> None:
    """And nothing else changes: no other kernel, no other board, no byte behind it."""
    path, code = tmp_path / "f", b"\x13\0\0\0"
    base = boards.load("cw310").flash.base
    user = replace(kernel((base + 0x400, code)), entry=base + 0x400)
    ours = replace(user, words={SLICE_WORD: base + 0x400})
    for board, given, manifest in (
        ("cw310", ours, boot_manifest(ours.segments, ours.entry, base)),
        ("cw310", user, b"\xff" * 0x400),
        ("earlgrey-sim", ours, b"\xff" * 0x400),
    ):
        write_flash(given, boards.load(board), path)
        assert path.read_bytes() == manifest + code
