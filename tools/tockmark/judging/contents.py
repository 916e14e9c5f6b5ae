# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What two kernels hold in flash and in RAM, by section and by symbol. In bytes, without what only
fills up (target/contents.py)."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tockmark.profile.growth import UNNAMED, Growth, growth
from tockmark.target.contents import Piece, pieces
from tockmark.target.elf import read_elf
from tockmark.target.links import FUNCTION, beyond


@dataclass(frozen=True)
class Grown:
    """A section whose size is another; 0: it is not there."""

    name: str
    base: int
    head: int

    @property
    def change(self) -> int:
        return self.head - self.base


@dataclass(frozen=True)
class Sizes:
    """What the kernels of both sides hold."""

    whole: dict[str, tuple[int, int]]  # flash and RAM
    sections: dict[str, list[Grown]]  # those of each that are not as large
    # Symbols that came or went, and those that grew by more than a linker does by itself, which
    # takes a shorter instruction for a near call. The largest change first.
    symbols: tuple[Growth, ...] = ()


def sizes(base: Path, head: Path) -> Sizes:
    """Of two kernels. TockmarkError if one cannot be read."""
    elves = read_elf(base), read_elf(head)
    sides = [list(pieces(elf)) for elf in elves]
    whole, sections = {}, {}
    for name, there in (("flash", _in_flash), ("RAM", _in_ram)):
        before, after = (_by_section(filter(there, side)) for side in sides)
        whole[name] = (before.total(), after.total())
        sections[name] = grown(before, after)
    return Sizes(whole, sections, tuple(filter(is_more, growth(*elves))))


def is_more(one: Growth) -> bool:
    """Whether a symbol changed by more than another link would change it."""
    if one.base is None or one.new is None:
        return True
    if one.base.pieces != one.new.pieces and one.name != UNNAMED:
        return True
    sides = (one.base.flash, one.new.flash), (one.base.ram, one.new.ram)
    return any(beyond(side, FUNCTION) for side in sides)


def grown(base: Mapping[str, int], head: Mapping[str, int]) -> list[Grown]:
    """What is not as large, the largest change first."""
    found = [
        Grown(name, base.get(name, 0), head.get(name, 0))
        for name in dict.fromkeys([*base, *head])
        if base.get(name) != head.get(name)
    ]
    return sorted(found, key=lambda one: (-abs(one.change), one.name))


def _by_section(held: Iterable[Piece]) -> Counter[str]:
    found: Counter[str] = Counter()
    for piece in held:
        found[piece.section] += piece.size
    return found


def _in_flash(piece: Piece) -> bool:
    return piece.in_flash


def _in_ram(piece: Piece) -> bool:
    return piece.in_ram
