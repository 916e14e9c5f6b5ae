# SPDX-License-Identifier: Apache-2.0 OR MIT
"""`differences` ignores the changes that a linker makes, and names every other change."""

import subprocess
from pathlib import Path

import pytest

from tockmark.target.code import LinkedCode, differences
from tockmark.target.elf import read_elf
from tockmark.target.rv32 import Kind, steps

GCC = ["riscv64-unknown-elf-gcc", "-march=rv32imc", "-mabi=ilp32", "-nostdlib", "-ffreestanding"]
FLAGS = ["-Os", "-ffunction-sections", "-fdata-sections", "-fno-builtin", "-x", "c"]
ORDERS = (("first", "second", "third"), ("third", "first", "second"))
# Calls, jumps in both directions, a jump table, merged constants, initial data with addresses, the
# end of an array, and an indexed array.
SOURCE = {
    "first": """
        extern int count, table[8]; int first(int); int second(int); int third(const char *, int);
        int (*const calls[])(int) = {second, second};
        int first(int n) {
            for (int *at = table; at != table + 8; at++) count += *at;
            return n ? calls[n & 1](n) + third("some words", count) : first(second(n)); }
    """,
    "second": """
        extern int count, table[8]; int first(int);
        int second(int n) {
            switch (n) { case 0: return first(5); case 1: return count; case 2: count = 7; break;
                case 3: return table[n]; case 4: table[2] = n; break; case 5: return n * 9; }
            return table[n & 7]; }
    """,
    "third": """
        int count = 5, table[8]; const char *words = "other words", *const more[] = {"a", "b"};
        int second(int);
        int third(const char *text, int n) {
            return second(text[n]) + more[n & 1][0] + words[n]; }
    """,
}
SCRIPT = """
ENTRY(first)
SECTIONS {
    .text 0x20000000 : { *(.text.* .text) *(.rodata .rodata.* .srodata .srodata.*) }
    .data 0x10000000 : { __global_pointer$ = . + 0x800; *(.data .data.* .sdata .sdata.*) }
    .bss : { *(.sbss .sbss.* .bss .bss.*) }
}
"""


class Linker:
    """A linker of three objects in a folder."""

    def __init__(self, folder: Path, *flags: str) -> None:
        self.folder, self.flags = folder, flags
        (folder / "link.ld").write_text(SCRIPT)

    def link(self, order: tuple[str, ...], *options: str, **changed: str) -> LinkedCode:
        """Link the sources in an order; `changed` replaces sources by name."""
        for name in order:
            command = [*GCC, *FLAGS, *self.flags, "-c", "-", "-o", f"{name}.o"]
            source = changed.get(name, SOURCE[name])
            subprocess.run(command, cwd=self.folder, input=source, text=True, check=True)
        objects = [f"{name}.o" for name in order]
        command = [*GCC, "-Wl,-T,link.ld", *options, *objects, "-o", "linked.elf"]
        subprocess.run(command, cwd=self.folder, check=True)
        return LinkedCode(read_elf(self.folder / "linked.elf"))


@pytest.mark.parametrize("flags", ["-mcmodel=medlow", "-mcmodel=medany -fno-jump-tables"])
def test_changes_that_the_linker_made_are_ignored(flags: str, tmp_path: Path) -> None:
    linker = Linker(tmp_path, *flags.split())
    links = [
        linker.link(order, f"-Wl,{relax}")
        for order in ORDERS
        for relax in ("--relax", "--no-relax")
    ]
    sizes = {sum(len(unit.content) for unit in image.units if unit.is_code) for image in links}
    assert len(sizes) > 1  # so the linker has relaxed
    for image in links:
        assert differences(links[0], image) == []


@pytest.mark.parametrize(
    ("name", "old", "new", "different"),
    [
        ("first", "count += *at", "count -= *at", ["first"]),
        ("first", "table + 8", "table + 7", ["first"]),
        ("first", "first(second(n))", "first(first(n))", ["first"]),
        ("first", "{second, second}", "{second, first}", ["calls"]),
        ("first", "some words", "some birds", ["first"]),
        ("second", "return first(5)", "return first(6)", ["second"]),
        ("second", "table[2]", "table[3]", ["second"]),
        ("third", '{"a", "b"}', '{"a", "c"}', ["more"]),
        ("third", "other words", "other birds", ["words"]),
        ("third", "int count = 5", "int count = 6", ["count"]),
        (
            "third",
            "int second(int);",
            "int second(int); int fourth(void) { return 4; }",
            ["fourth"],
        ),
    ],
)
@pytest.mark.parametrize("relax", ["--relax", "--no-relax"])
def test_a_change_is_found_by_name(
    name: str, old: str, new: str, different: list[str], relax: str, tmp_path: Path
) -> None:
    linker = Linker(tmp_path)
    base = linker.link(ORDERS[0])
    assert old in SOURCE[name]
    head = linker.link(ORDERS[1], f"-Wl,{relax}", **{name: SOURCE[name].replace(old, new)})
    names = differences(base, head)
    assert [name_ for name_ in names if not name_.startswith("data in ")] == different


def test_a_number_that_is_an_address_in_a_function_by_chance_is_no_jump_table(
    tmp_path: Path,
) -> None:
    """In one link it is the address of the second half of a pair, which loads an address."""
    linker, more = Linker(tmp_path), "const unsigned number[3] = {{1, {}, 1}};"

    def linked(number: int) -> list[LinkedCode]:
        third = SOURCE["third"] + more.format(number)
        return [linker.link(order, "-Wl,--no-relax", third=third) for order in ORDERS]

    (function,) = (unit for unit in linked(1)[0].units if unit.name == "second")
    halves = [at for at, insn, _ in function.steps if insn.kind is Kind.LO and insn.rs1 == insn.rd]
    assert differences(*linked(halves[-1])) == []


def test_a_far_call_is_recognised_by_all_its_bits() -> None:
    """`auipc ra, 0; jalr ra, 4(ra)`. With another bit in the second word it is no jalr."""
    auipc, jalr = 0x0000_0097, 0x0040_80E7
    for other in (0, 1 << 12, 1 << 13, 1 << 14):
        code = b"".join(word.to_bytes(4, "little") for word in (auipc, jalr ^ other))
        assert len(list(steps(code, 0))) == (2 if other else 1)
