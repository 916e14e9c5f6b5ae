# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The pieces of a kernel are its functions and objects, and gaps between them, without fill."""

import struct
import subprocess
from pathlib import Path

import pytest

from tockmark.base.errors import TockmarkError
from tockmark.target import elf as elf_sizes
from tockmark.target.elf import Piece, read_elf
from tockmark.target.kernel import read_kernel

CC = ["riscv64-unknown-elf-gcc", "-march=rv32im", "-mabi=ilp32", "-nostdlib"]
LINK = ["-Wl,--build-id=none", "-Wl,-T"]
# Like Tock's linker script: it fills flash up to a multiple of 512 and puts the initial data behind
# that. `align` is the alignment of the function `second`.
SCRIPT = """
SECTIONS {
    . = 0x20000000;
    .text : { *(.text) *(.text.second) }
    .storage : { BYTE(0) . = ALIGN(512); }
    .data 0x10000000 : AT(ADDR(.storage) + SIZEOF(.storage)) { *(.data) }
    .bss : { *(.bss) }
}
"""
CODE = """
    .option norelax
    .text
    .ascii "\\0name\\0"
    .balign 4
    .globl _start
    .type _start, @function
_start:
    nop
    {more}
    ret
    .size _start, . - _start
    .section .text.second, "ax"
    .balign {align}
    .type second, @function
second:
    ret
    .size second, . - second
    .set other, second
    .type other, @function
    .size other, 4
    .data
    .type zeros, @object
zeros:
    .word 0, 0, 0
    .size zeros, 12
    .bss
    .type room, @object
room:
    .space 20
    .size room, 20
    .space 4
"""


def linked(folder: Path, more: str = "", align: int = 4) -> Path:
    source, script, elf = (folder / name for name in ("k.S", "k.ld", "k.elf"))
    source.write_text(CODE.format(more=more, align=align))
    script.write_text(SCRIPT)
    subprocess.run([*CC, *LINK, script, "-o", elf, source], check=True, capture_output=True)
    return elf


def test_a_piece_is_a_function_an_object_or_a_gap_between_them(tmp_path: Path) -> None:
    assert list(elf_sizes.pieces(read_elf(linked(tmp_path)))) == [
        Piece("", ".text", 4, True, False),
        Piece("_start", ".text", 8, True, False),
        Piece("other", ".text", 4, True, False),
        Piece("zeros", ".data", 12, True, True),
        Piece("room", ".bss", 20, False, True),
        Piece("", ".bss", 4, False, True),
    ]


@pytest.mark.parametrize("name", [".data", ".riscv.attributes"])
def test_a_section_that_is_longer_than_the_file_is_refused(name: str, tmp_path: Path) -> None:
    elf = linked(tmp_path)
    (number,) = (n for n, section in enumerate(read_elf(elf).sections) if section.name == name)
    content = bytearray(elf.read_bytes())
    table = int.from_bytes(content[32:36], "little")
    struct.pack_into("<I", content, table + 40 * number + 20, 1 << 30)
    elf.write_bytes(content)
    with pytest.raises(TockmarkError, match="is damaged"):
        read_kernel(elf)
