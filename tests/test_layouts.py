# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Kernels that are links of one source, and the layout of an app's code by its seed."""

import subprocess
from pathlib import Path

import pytest

from tockmark.base.errors import TockmarkError
from tockmark.suite import catalogue as catalogues
from tockmark.target import board as boards
from tockmark.target.image import AppBuild, AppSlot, build_image
from tockmark.target.kernel import KernelElf, read_kernel, run_layouts

GCC = "riscv64-unknown-elf-gcc"
A = ".type a, @function\na: " + "nop\n" * 20 + ".size a, . - a\n"
B = ".type b, @function\nb: nop\nret\n.size b, . - b\n"
A_BIT_LONGER = A.replace("nop\n", "nop\n" * 2, 1)


def linked(folder: Path, name: str, source: str, *options: str) -> KernelElf:
    elf = folder / f"{name}.elf"
    command = [GCC, "-march=rv32imc", "-mabi=ilp32", "-nostdlib", "-Wl,-e,0", "-Ttext=0x20000000"]
    command += [*options, "-x", "assembler", "-", "-o", str(elf)]
    subprocess.run(command, input=source, text=True, check=True)
    return read_kernel(elf)


def test_links_and_seeds_are_used_in_turn(tmp_path: Path) -> None:
    kernels = [linked(tmp_path, "ab", A + B), linked(tmp_path, "ba", B + A)]
    layouts = run_layouts(kernels, 3)
    assert [(layout.kernel.path.stem, layout.seed) for layout in layouts] == [
        ("ab", 0),
        ("ba", 1),
        ("ab", 2),
    ]
    assert layouts[0].link == layouts[2].link != layouts[1].link
    assert [layout.seed for layout in run_layouts(kernels, 1)] == [0, 0]
    assert [layout.seed for layout in run_layouts(kernels[:1], 2)] == [0, 1]


@pytest.mark.parametrize(
    ("source", "options", "why"),
    [
        (
            A + B,
            [],
            "other.elf has the same layout as .*base.elf. Give links with the functions",
        ),
        (B + A_BIT_LONGER, [], "other.elf is not a link of the source of .*base.elf: `a` differs"),
        (B + B.replace("b", "c") + A, [], "`c` is in only one of them"),
        (B, [], "`a` is in only one of them"),
        (B + A, ["-s"], "other.elf has no symbols to compare"),
        (B + A + ".data\n.zero 2000\n", [], r"section \.data has 2000 bytes, not 0"),
        (
            B + A + '.globl TOCKMARK_KERNEL\nTOCKMARK_KERNEL: .asciz "x 1"',
            [],
            "it is x 1",
        ),
    ],
)
def test_kernels_that_are_not_links_of_one_source_are_refused(
    source: str, options: list[str], why: str, tmp_path: Path
) -> None:
    kernels = [linked(tmp_path, "base", A + B), linked(tmp_path, "other", source, *options)]
    with pytest.raises(TockmarkError, match=why):
        run_layouts(kernels, 1)


def reporter(folder: Path, seed: int) -> AppSlot:
    """Build an app with all kinds of code, with the layout of a seed."""
    profile = boards.load(boards.DEFAULT)
    kernel = read_kernel(profile.kernels[2])
    (boot,) = (boot for boot in catalogues.load().boots() if boot.name == "syscall")
    out = folder / str(seed)
    (slot,) = build_image(boot, AppBuild.built(2), kernel, profile, out, None, seed).slots
    return slot


def test_a_seed_only_moves_the_code(tmp_path: Path) -> None:
    slots = [reporter(tmp_path, seed) for seed in range(5)]
    first = slots[0].symbols
    assert {slot.symbols["tm_sample"] % 8 for slot in slots[1:]} == {0, 2, 4, 6}
    assert len({slot.symbols["tm_sample"] // 8 % 256 for slot in slots}) == 5
    assert len({slot.symbols["main"] - slot.symbols["tm_record"] for slot in slots}) == 5
    for slot in slots:
        assert slot.symbols.keys() == first.keys()  # the same objects
        bodies = [name for name in first if name.startswith(("tm_syscall_", "tm_body_"))]
        assert len(bodies) > 5
        assert all(slot.symbols[name] % 8 == 0 for name in bodies)
        assert slot.symbols["_start"] == first["_start"]
        assert slot.ram_length == slots[0].ram_length
    assert all(first[name] % 8 == 0 for name in ("tm_sample", "main", "tm_record"))
    assert reporter(tmp_path, 3).elf_sha256 == slots[3].elf_sha256
