# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Links of the baseline kernel that differ only in layout: `make kernel-layouts`, docs/method.md.

Needs the products of `make build`.
"""

import itertools
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection
from hypothesis import given, settings, strategies
from products import kernel_links

from tockmark.base import paths
from tockmark.result import file
from tockmark.result.model import Row
from tockmark.target.code import LinkedCode, differences
from tockmark.target.elf import read_elf

KERNEL = paths.ROOT / "build/cargo/riscv32imc-unknown-none-elf/release/tockmark-kernel"
LAYOUTS = 4
FIXED = ("_start", "trap_vector")  # the targets of reset and traps: aligned, so never shifted
PADDING = 6 + 2  # at most: before the first function, and after the last one up to a whole word


@dataclass(frozen=True)
class Link:
    """The functions, symbols and sections of one link."""

    path: Path
    functions: tuple[tuple[str, int, int], ...]  # name, address, bytes
    symbols: dict[str, int]
    sections: dict[str, int]  # bytes of each loaded section

    @staticmethod
    def read(path: Path) -> "Link":
        with path.open("rb") as elf_file:
            elf = ELFFile(elf_file)
            table = elf.get_section_by_name(".symtab")
            assert isinstance(table, SymbolTableSection)
            entries = [(s.name, s["st_value"], s["st_size"], s) for s in table.iter_symbols()]
            functions = [e[:3] for e in entries if e[3]["st_info"]["type"] == "STT_FUNC"]
            symbols = {name: address for name, address, *_ in entries}
            sections = {s.name: s["sh_size"] for s in elf.iter_sections() if s["sh_addr"]}
        return Link(path, tuple(sorted(functions)), symbols, sections)


@pytest.fixture(scope="module")
def links() -> list[Link]:
    link_paths = kernel_links()
    assert [path.name for path in link_paths] == [f"{i}.elf" for i in range(LAYOUTS)]
    return [Link.read(path) for path in link_paths]


def test_the_first_link_is_the_default_kernel(links: list[Link]) -> None:
    assert links[0].path.read_bytes() == KERNEL.read_bytes()


def test_each_link_has_its_functions_at_other_addresses(links: list[Link]) -> None:
    assert len({link.functions for link in links}) == LAYOUTS
    for link, other in itertools.pairwise(links):
        moved = [a for a, b in zip(link.functions, other.functions, strict=True) if a != b]
        assert len(moved) > len(link.functions) / 2


def test_nothing_else_differs(links: list[Link]) -> None:
    first = links[0]
    for link in links[1:]:
        same = [Counter((name, size) for name, _, size in each.functions) for each in (first, link)]
        assert same[0] == same[1]
        sizes = {name: size - first.sections[name] for name, size in link.sections.items()}
        assert 0 <= sizes.pop(".text") <= PADDING
        # Its items also move, and each aligned item has up to 3 bytes of padding before it.
        assert abs(sizes.pop(".rodata")) < 16
        assert set(sizes.values()) == {0}
        for name in FIXED:
            assert link.symbols[name] == first.symbols[name]


@pytest.fixture(scope="module")
def images(links: list[Link]) -> list[LinkedCode]:
    return [LinkedCode(read_elf(link.path)) for link in links]


def test_all_are_links_of_one_source(images: list[LinkedCode]) -> None:
    assert [differences(images[0], image) for image in images] == [[]] * LAYOUTS


@given(data=strategies.data())
@settings(max_examples=60, deadline=None)
def test_one_changed_instruction_is_found_by_name(
    images: list[LinkedCode], links: list[Link], data: strategies.DataObject
) -> None:
    elf = read_elf(links[1].path)
    unit = data.draw(strategies.sampled_from([unit for unit in images[1].units if unit.is_code]))
    step = data.draw(strategies.sampled_from(unit.steps))
    bit = data.draw(strategies.integers(0, 8 * min(step.insn.size, unit.end - step.at) - 1))
    (section,) = (section for section in elf.sections if section.name == unit.section)
    changed = bytearray(elf.data)
    changed[section.start + step.at - section.address + bit // 8] ^= 1 << bit % 8
    assert unit.name in differences(images[0], LinkedCode(replace(elf, data=bytes(changed))))


def test_links_retire_the_same_instructions(links: list[Link], tmp_path: Path) -> None:
    measured = [measure(link.path, tmp_path / f"{i}.json") for i, link in enumerate(links[:3])]
    assert len({link["instret"] for link in measured}) == 1
    assert len({link["cycles"] for link in measured}) > 1  # the layouts differ


def measure(kernel: Path, output: Path) -> dict[str, float | None]:
    """Return the net of syscall.command with the cache off, in cycles and in instructions."""
    command = [sys.executable, "-m", "tockmark", "run", "--kernel", str(kernel), "-o", str(output)]
    command += ["--only", "syscall.command", "--icache", "off"]
    done = subprocess.run(command, cwd=paths.ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    [row] = [row for row in file.load(output).rows if row.id == "syscall.command"]
    return {name: net(row, name) for name in ("cycles", "instret")}


def net(row: Row, name: str) -> float | None:
    series = row.series(name)
    assert series is not None
    return series.net
