# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Debugging information: the functions at an address, and one-line errors for damaged files.

TOCKMARK_FUZZ=100000 damages a file 100,000 times.
"""

import os
import random
import subprocess
from pathlib import Path

import pytest

from tockmark.base.errors import TockmarkError
from tockmark.profile.run import load_kernel_program
from tockmark.profile.symbols import Program
from tockmark.target.elf import read_elf
from tockmark.target.kernel import read_kernel

COUNT = int(os.environ.get("TOCKMARK_FUZZ", "2000")) // 5  # each file takes milliseconds
CC = ["riscv64-unknown-elf-gcc", "-march=rv32imc", "-mabi=ilp32", "-nostdlib", "-O2", "-g"]
SOURCE = """
volatile int x;
static inline __attribute__((always_inline)) void inner(int a) { if (a) x = a; }
static inline __attribute__((always_inline)) void outer(int a) { inner(a); inner(x); }
void _start(void) { x = 1; outer(x); }
"""


@pytest.fixture(scope="module")
def elf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dwarf")
    (folder / "k.c").write_text(SOURCE)
    made = folder / "k.elf"
    subprocess.run([*CC, "-Wl,-Ttext=0x20000000", "-o", made, folder / "k.c"], check=True)
    return made


def names(path: Path) -> set[tuple[str, ...]]:
    """Return the functions at each instruction of _start."""
    program = Program(path)
    start, size = program.symbol("_start")
    program.look_up(range(start, start + size, 2))
    return {tuple(f.name for f in program.frames(at)) for at in range(start, start + size, 2)}


def test_inlined_functions_are_found(elf: Path) -> None:
    functions = names(elf)
    assert ("_start", "outer", "inner") in functions
    assert ("_start",) in functions
    assert {chain[0] for chain in functions} == {"_start"}


def test_without_debugging_information_the_symbol_is_used(elf: Path, tmp_path: Path) -> None:
    bare = tmp_path / "k.elf"
    subprocess.run(["riscv64-unknown-elf-strip", "-g", "-o", bare, elf], check=True)
    assert names(bare) == {("_start",)}


def test_a_kernel_is_read_again_only_if_its_file_changed(elf: Path, tmp_path: Path) -> None:
    path = tmp_path / "release" / "k.elf"
    path.parent.mkdir()
    path.write_bytes(elf.read_bytes())
    first = load_kernel_program(read_kernel(path))
    assert load_kernel_program(read_kernel(path)) is first
    assert read_elf(path) is read_elf(path)
    subprocess.run(["riscv64-unknown-elf-strip", "-g", path], check=True)
    assert load_kernel_program(read_kernel(path)) is not first


@pytest.mark.whole
def test_damaged_debugging_information_is_read_or_ends_in_one_line(
    elf: Path, tmp_path: Path
) -> None:
    """Change random bytes of its sections. No exception of pyelftools may escape."""
    path = tmp_path / "k.elf"
    whole = elf.read_bytes()
    places = [
        at
        for section in read_elf(elf).sections
        if section.name.startswith(".debug")
        for at in range(section.start, section.start + section.size)
    ]
    refused = 0
    for seed in range(COUNT):
        rng = random.Random(seed)
        content = bytearray(whole)
        for _ in range(rng.choice([1, 2, 4])):
            content[rng.choice(places)] = rng.choice([0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)])
        path.write_bytes(content)
        try:
            shown = "".join(name for chain in names(path) for name in chain)
        except TockmarkError as error:
            refused += 1
            shown = str(error)
        assert shown.isprintable(), f"seed {seed}"
    assert COUNT / 20 < refused < COUNT
