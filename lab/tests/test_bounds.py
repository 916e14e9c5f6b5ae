# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Walks and bounds of small programs whose longest paths are known."""

import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from tockmark.errors import TockmarkError
from tockmark.profile.symbols import Program
from tockmark.rig.elf import read_elf
from tockmark_lab import bounds
from tockmark_lab.bounds import BoundedKernel, Constants, Fact, LoopNote, Model, Notes, Root
from tockmark_lab.paths import Walker

START = """
    .option norelax
    .globl _start
    .type _start, @function
_start:
"""


def program(folder: Path, code: str) -> Program:
    """Assemble and link a program."""
    source, elf = folder / "a.S", folder / "a.elf"
    source.write_text(START + code)
    command = ["riscv64-unknown-elf-gcc", "-march=rv32imc_zicsr", "-mabi=ilp32", "-nostdlib"]
    subprocess.run([*command, "-Wl,-Ttext=0x20000000", "-o", elf, source], check=True)
    return Program(elf)


class SmallKernel(BoundedKernel):
    """A program with notes of its own, whose loops are known by their labels."""

    def __init__(
        self,
        made: Program,
        loops: Mapping[str, str],
        facts: list[Fact],
    ) -> None:
        self.program = made
        self.notes = Notes(
            constants=[], deepening="", panics=[], flash=frozenset(), others={}, own={},
            explained={}, pointer=[], loop=[LoopNote(at, most) for at, most in loops.items()],
            fact=facts,
        )  # fmt: skip
        self.constants = Constants([], read_elf(made.path).addresses)
        self.walker = Walker(made)

    def scopes(self, pc: int) -> list[str]:
        """Return the label at an address."""
        return [self.program.name_at(pc)]


def longest(
    folder: Path,
    code: str,
    loops: Mapping[str, str] | None = None,
    facts: list[Fact] | None = None,
    **known: int,
) -> int:
    """Return the bound of a program in instructions."""
    made = program(folder, code)
    kernel = SmallKernel(made, loops or {}, facts or [])
    root = Root("all", ((made.symbol("_start")[0],),), tuple(known.items()))
    found = Model(kernel, root).bound()
    assert found.cycles >= found.instructions
    return found.instructions


FORK = "beqz a0, short\n nop\n nop\n nop\nshort: ret\n"
LOOP = "li a1, 0\nagain: addi a1, a1, 1\n bne a1, a2, again\n ret\n"


def test_the_longer_way_counts(tmp_path: Path) -> None:
    assert longest(tmp_path, FORK) == 5


def test_a_way_that_a_known_word_closes_does_not_count(tmp_path: Path) -> None:
    assert longest(tmp_path, FORK, a0=0) == 2
    assert longest(tmp_path, FORK, a0=1) == 5


def test_a_loop_runs_as_often_as_is_noted(tmp_path: Path) -> None:
    assert longest(tmp_path, LOOP, {"again": "7"}) == 1 + 7 * 2 + 1


def test_loops_in_loops_multiply(tmp_path: Path) -> None:
    code = """
outer: li a1, 0
inner: addi a1, a1, 1
    bne a1, a2, inner
    addi a3, a3, 1
    bne a3, a4, outer
    ret
"""
    assert longest(tmp_path, code, {"outer": "3", "inner": "5"}) == 3 * (1 + 5 * 2 + 2) + 1


def test_a_loop_that_is_entered_in_two_places_is_one(tmp_path: Path) -> None:
    code = """
    beqz a0, second
first: nop
second: addi a1, a1, 1
    bne a1, a2, first
    ret
"""
    assert longest(tmp_path, code, {"first": "4", "second": "4"}) == 1 + 4 * 3 + 1


def test_calls_count_each_time(tmp_path: Path) -> None:
    code = """
    mv s1, ra
    call help
    call help
    mv ra, s1
    ret
    .type help, @function
help: nop
    ret
"""
    assert longest(tmp_path, code) == 1 + 2 * (2 + 2) + 2


def test_a_function_is_told_its_arguments(tmp_path: Path) -> None:
    code = f"""
    mv s1, ra
    li a0, 0
    call help
    mv ra, s1
    ret
    .type help, @function
help: {FORK}
"""
    assert longest(tmp_path, code) == 1 + 1 + 2 + 2 + 2


def test_a_jump_table_is_followed(tmp_path: Path) -> None:
    code = """
    li a1, 2
    bltu a1, a0, none
    slli a0, a0, 2
    la a2, table
    add a2, a2, a0
    lw a2, 0(a2)
    jr a2
zero: nop
one: nop
two: nop
none: ret
    .section .rodata
table: .word zero, one, two
"""
    assert longest(tmp_path, code) == 8 + 3 + 1
    assert longest(tmp_path, code, a0=2) == 8 + 1 + 1


def test_a_fact_shuts_ways_that_exclude_each_other(tmp_path: Path) -> None:
    code = """
    beqz a0, over
first: nop
    nop
over: beqz a1, end
second: nop
    nop
    nop
end: ret
"""
    fact = Fact(runs=["first", "second"], most="1", why="")
    assert longest(tmp_path, code) == 8
    assert longest(tmp_path, code, facts=[fact]) == 6


WRONG = {
    "a loop without a note": (LOOP, "the loop at .* has no bound"),
    "a function that calls itself": ("call _start\n ret\n", "is recursive"),
    "a call by an unknown pointer": ("jalr a0\n ret\n", "by an unknown pointer"),
    "the end of the code": ("nop\n", "where no code is"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_cannot_be_bounded_is_an_error_by_name(what: str, tmp_path: Path) -> None:
    code, why = WRONG[what]
    with pytest.raises(TockmarkError, match=why):
        longest(tmp_path, code)


def test_constants_are_those_of_the_source(tmp_path: Path) -> None:
    source = tmp_path / "a.rs"
    source.write_text(
        'pub const MOST: usize = if cfg!(feature = "eight") { 8 } else { 4 };\n'
        "const ALL: usize = OWN + (MOST - 1) * other::PER;\npub const OWN: u32 = 1 << 1;\n"
        "const PER: usize = 3;\n"
    )
    constants = Constants([source], {"_end": 64})
    assert constants.value("ALL + 1") == 12
    assert constants.value("_end / 4 + a2", {"a2": 5}) == 21
    with pytest.raises(TockmarkError, match="`NONE` is no number"):
        constants.value("NONE")


def test_a_known_device_is_dear(tmp_path: Path) -> None:
    made = program(tmp_path, "lui a1, 0x40000\n lw a0, 0(a1)\n lw a0, 0(a2)\n mv a1, a0\n ret\n")
    kernel = SmallKernel(made, {}, [])
    walked = kernel.walker.walk(made.symbol("_start")[0])
    _, device, ram, *_ = kernel.cycles(walked.blocks[walked.entry])
    assert (device, ram) == (bounds.PERIPHERAL, bounds.RAM_READ)
