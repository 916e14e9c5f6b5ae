# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Kernel segments to flash, and kernels that are none."""

from pathlib import Path

import pytest

from tockmark.errors import TockmarkError
from tockmark.target import board as boards
from tockmark.target.image import Kernel, named, read_kernel, write_flash


def kernel(*segments: tuple[int, bytes]) -> Kernel:
    return Kernel(Path("k.elf"), None, "0" * 64, None, segments)


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
