# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Untrusted text becomes a safe file name, or a safe line on a terminal."""

from pathlib import Path

import pytest

from tockmark.base import paths
from tockmark.base.errors import file_name, printable_text, quoted
from tockmark.profile.run import default_out
from tockmark.target import board as boards
from tockmark.target.kernel import KernelElf

HOSTILE = [
    "../../../../x",
    "/etc/passwd",
    "..",
    ".",
    "",
    "   ",
    "a\0b",
    "-rf",
    "\x1b[2J",
    "ü",
    "x/y",
]


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("My Tock ±1", "My-Tock-1"),
        ("tock-2.2_z", "tock-2.2-z"),
        ("../../../../x", "x"),
        (" ", "unnamed"),
        ("ü", "unnamed"),
        ("a" * 5000, "a" * 100),
    ],
)
def test_a_name_becomes_a_safe_file_name(name: str, file: str) -> None:
    assert file_name(name) == file


@pytest.mark.parametrize("name", HOSTILE)
def test_a_profile_stays_in_its_folder(name: str) -> None:
    board = boards.load(boards.DEFAULT)
    for path, kernel_name in (("k.elf", name), (name, None)):
        kernel = KernelElf(Path(path), kernel_name, "0" * 64, None, ())
        out = default_out("call.args", {"n": 3}, kernel, board, True, "c")
        assert out.resolve().parent == paths.PROFILES
        assert out.name.isascii()
        assert out.name.isprintable()


def test_control_characters_are_not_shown() -> None:
    text = "a\x1b[2J\x9b\u202e\ud800\n"
    assert printable_text(text) == "a?[2J????"
    assert quoted(text).isprintable()
    assert len(quoted("x" * 1000)) == 301
