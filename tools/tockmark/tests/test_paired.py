# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Paired links: sections are matched by name and content, and every shared section gets the same
address on both sides, despite the linker's relaxation."""

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import pytest
from msgspec import structs

from tockmark.compare.rule import Value, change_of_cycles
from tockmark.compare.spread import Spread, logs_of, paired_spread
from tockmark.result.model import Row
from tockmark.suite.catalogue import load
from tockmark.target.elf import Elf, Symbol
from tockmark.target.elf import Section as Output
from tockmark.tests.of_samples import made, steady
from tockmark.trees import pairing as engine
from tockmark.trees.pairing import (
    MARK,
    InputSection,
    PairedLinks,
    match,
    set_digests,
    without_numbers,
)

TEXT, BSS = (1, 6), (8, 3)  # sh_type and sh_flags
ORIGIN = 0x2000_0000


@pytest.mark.parametrize(
    ("name", "plain_name"),
    [
        (".text._ZN6kernel4main17h0123456789abcdefE", ".text._ZN6kernel4mainE"),
        (".text._ZN6kernel4main17h0123456789abcdefE.llvm.77", ".text._ZN6kernel4mainE"),
        (".text.OUTLINED_FUNCTION_12", ".text.OUTLINED_FUNCTION"),
        (".rodata..Lanon.a53033d6094ffa.146", ".rodata..Lanon"),
        (".rodata..L__unnamed_9", ".rodata..L__unnamed"),
        ("_RNvXs8_NtCs3xQ30Ue3M98_4core3fmt5write", "_RNvXs8_NtC4core3fmt5write"),
        ("handler.136", "handler"),
        (".text.kernel_main", ".text.kernel_main"),
    ],
)
def test_compiler_numbers_are_removed_from_names(name: str, plain_name: str) -> None:
    assert without_numbers(name) == plain_name


def section(
    mark: str, name: str = ".text.f", data: bytes = b"", size: int = 0, align: int = 2
) -> InputSection:
    kind, flags = TEXT
    return InputSection(mark, name, name, kind, flags, align, 0, data, size or len(data))


def matched(base: Sequence[InputSection], head: Sequence[InputSection]) -> set[tuple[str, str]]:
    set_digests([*base])
    set_digests([*head])
    return {(old.mark, new.mark) for old, new in match(base, head)}


def test_sections_with_equal_names_are_matched_by_content_first() -> None:
    base = [section(f"b{n}", data=bytes([n])) for n in (1, 2, 3)]
    head = [section(f"h{n}", data=bytes([n])) for n in (9, 3, 1)]
    assert matched(base, head) == {("b1", "h1"), ("b3", "h3"), ("b2", "h9")}
    assert matched(base[:1], [section("h", ".text.other", b"\1")]) == set()


@dataclass
class FakeLinker:
    """A linker that puts sections one after the other. A call to a near section takes 4 bytes less,
    and padding aligns each section."""

    parts: list[InputSection]
    calls: Mapping[str, str] = field(default_factory=dict)
    links: int = 0

    def ordered_sections(self) -> list[InputSection]:
        return self.parts

    def link(self, order: Sequence[str], room: Mapping[str, int]) -> Elf:
        self.links += 1
        part_by_mark = {part.mark: part for part in self.parts}
        shorter: set[str] = set()
        for _ in range(3):
            places, at = {}, ORIGIN
            for mark in order:
                at += -at % part_by_mark[mark].align
                places[mark] = at
                at += part_by_mark[mark].size + room.get(mark, 0) - 4 * (mark in shorter)
            shorter = {
                caller
                for caller, callee in self.calls.items()
                if abs(places[caller] - places[callee]) < 200
            }
        size = at - ORIGIN + -at % 4
        symbols = tuple(Symbol(mark, place, 0, 0, 1) for mark, place in places.items())
        text = Output(".text", *TEXT, ORIGIN, 0, size)
        return Elf(bytes(size), ORIGIN, (), (Output("", "SHT_NULL", 0, 0, 0, 0), text), symbols)


def side(letter: str, sizes: Mapping[str, int], rng: random.Random) -> FakeLinker:
    parts = [
        section(f"{MARK}{letter}{name}", f".text.{name}", rng.randbytes(size))
        for name, size in sizes.items()
    ]
    names = [part.mark for part in parts]
    return FakeLinker(parts, {caller: rng.choice(names) for caller in names[::2]})


@pytest.fixture
def unwritten(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Elf, Elf]]:
    """Return the list of kernels that would be written."""
    kept: list[tuple[Elf, Elf]] = []
    monkeypatch.setattr(engine, "without_marks", lambda elf: elf)
    monkeypatch.setattr(engine, "replace_whole", lambda files: kept.append(tuple(files.values())))
    return kept


@pytest.mark.parametrize("seed", range(8))
def test_shared_sections_begin_at_the_same_address(
    seed: int, unwritten: list[tuple[Elf, Elf]]
) -> None:
    draw = random.Random(seed)
    sizes = {f"f{n}": 2 * draw.randint(4, 60) for n in range(40)}
    other = {
        name: size + (2 * draw.randint(0, 20) if draw.random() < 0.2 else 0)
        for name, size in sizes.items()
    }
    for gone in draw.sample(sorted(other), 3):
        del other[gone]
    other |= {"new1": 30, "new2": 64}
    links = PairedLinks(side("b", sizes, random.Random(1)), side("h", other, random.Random(1)))
    first: dict[str, int] = {}
    residues: dict[str, set[int]] = {}
    for number in range(4):
        pair = links.pair(number, (Path("b"), Path("h")))
        assert pair.moved == ()
        base, head = (
            {symbol.name[len(MARK) + 1 :]: symbol.address for symbol in elf.symbols}
            for elf in unwritten[-1]
        )
        assert {name: base[name] for name in base.keys() & head.keys()} == {
            name: head[name] for name in base.keys() & head.keys()
        }
        assert len(base.keys() & head.keys()) == 37
        assert unwritten[-1][0].sections[1].size == unwritten[-1][1].sections[1].size
        first = first or base
        assert (list(base) == list(first)) is (number == 0)
        for name in base.keys() & head.keys():
            residues.setdefault(name, set()).add((base[name] - first[name]) % 8)
    # There is no room before the first section.
    assert sum(positions == {0, 2, 4, 6} for positions in residues.values()) >= len(residues) - 4


# The spread of paired links


def row_of(name: str, icache: bool = False) -> Row:
    rows = made(load(), {name: steady(9)}, instret={name: 100}, icache=(icache,)).rows
    return next(row for row in rows if not row.is_overhead)


DEARER = (172, 172, 168, 164, 172, 176, 172, 164)  # 40 loop turns more in the baseline's restart


def test_a_row_without_instructions_has_the_interval_of_its_own_differences() -> None:
    """Its spread over unpaired links is wide, and counts only in few pairs."""
    row = structs.replace(row_of("syscall.command"), samples=({"cycles": (3500,) * 12},))
    wide = Spread(logs={row.key[:3]: logs_of([3400, 3600] * 8)})
    sigma = paired_spread(wide, load()).row_deviation(row)
    nets = tuple(3460.0 + 90 * n for n in range(-4, 4))
    draw = random.Random(1)
    for _ in range(20):
        differences = draw.sample(DEARER, len(DEARER))
        later = tuple(net + more for net, more in zip(nets, differences, strict=True))
        assert change_of_cycles(Value(nets), Value(later), sigma).low > 1.02
        assert change_of_cycles(Value(nets[:3]), Value(later[:3]), sigma).contains_one
    same = change_of_cycles(Value(nets), Value(nets), sigma)
    assert (same.low, same.high) == (1, 1)
    unknown = paired_spread(Spread(), load()).row_deviation(row)
    assert change_of_cycles(Value(nets), Value(later), unknown).low > 1.02
    assert change_of_cycles(Value(nets[:1]), Value(later[:1]), unknown).high == math.inf


def test_the_interval_of_pairs_shrinks_with_their_number_to_a_point_if_equal() -> None:
    off = paired_spread(Spread(), load()).row_deviation(row_of("syscall.command"))
    assert off is not None
    same = change_of_cycles(Value((1000.0,)), Value((1000.0,)), off)
    assert (same.low, same.high) == (1, 1)
    halves = []
    for pairs in (1, 2, 4, 8):
        bases = tuple(1000.0 + 50 * n for n in range(pairs))
        change_ = change_of_cycles(Value(bases), Value(tuple(net * 1.01 for net in bases)), off)
        assert change_.ratio == pytest.approx(1.01)
        halves.append(math.log(change_.high / change_.low) / 2)
    assert all(later < before / 1.35 for before, later in pairwise(halves))
    assert halves[2] == pytest.approx(0, abs=1e-12)  # four equal pairs
