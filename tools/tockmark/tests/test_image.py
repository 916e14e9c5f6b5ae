# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Kernel segments to flash, and kernels that are none."""

from dataclasses import replace
from pathlib import Path

import pytest

from tockmark.errors import TockmarkError
from tockmark.rig import board as boards
from tockmark.rig import image
from tockmark.rig.image import AppSlot, Image, boot_manifest, write_flash
from tockmark.rig.kernel import SLICE_WORD, KernelElf, named, read_kernel
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


def test_an_elf_of_another_machine_is_refused() -> None:
    with pytest.raises(TockmarkError, match="not a 32-bit RISC-V"):
        read_kernel(Path("/bin/sh"))


def test_a_user_names_a_kernel_in_words_that_a_result_can_hold() -> None:
    """Else the file that a run wrote would not load."""
    found = named(kernel(), "My Tock ±1", "z")
    assert (found.name, found.opt_level) == ("My Tock ±1", "z")
    for name in ("a\nb", "a\x1b[2J", "a\u202eb", "a\udc80"):
        with pytest.raises(TockmarkError, match=r"--kernel-name .* cannot be shown"):
            named(kernel(), name)
    for level in ("4", "zz", "", "z\n", "-1"):
        with pytest.raises(TockmarkError, match=r"--opt-level .* is none"):
            named(kernel(), None, level)


def test_a_boots_name_is_in_the_words_of_its_apps() -> None:
    words = image.name_words("ipc-server_first")
    held = b"".join(word.to_bytes(4, "little") for word in words.values())
    assert list(words) == [f"tm_boot_{i}" for i in range(6)]
    assert held == b"ipc-server_first" + b"\0" * 8


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
    early = image.stopping_early(Image(tmp_path / "f", slots, "0" * 8), profile, tmp_path / "e")
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


def test_a_baseline_for_another_machine_is_refused_where_a_manifest_is_asked_for(
    tmp_path: Path,
) -> None:
    """The kernel of the Nexys Video has a word in the manifest's place."""
    profile = boards.load("cw310")
    base = profile.flash.base
    other = replace(kernel((base, bytes(0x500))), words={SLICE_WORD: base + 0x400})
    with pytest.raises(TockmarkError, match="cannot have a boot manifest: it has a segment at"):
        write_flash(other, profile, tmp_path / "f")
    assert not (tmp_path / "f").exists()
