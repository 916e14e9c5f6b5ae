# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What two kernels hold, in flash and in RAM, by section and by symbol, and how deep their stacks
get. All in bytes, without what only fills up (target/contents.py).
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from tockmark.profile.symbols import demangled
from tockmark.target.contents import Piece, pieces
from tockmark.target.elf import read_elf
from tockmark.target.links import FUNCTION, beyond

# What differs from build to build in the names that a Rust compiler gives: a hash behind a path,
# that of a crate, numbers of what has no name.
_HASHES = re.compile(
    r"(?<=17h)[0-9a-f]{16}(?=E)|(?<=Cs)[0-9A-Za-z]{5,}_|\.llvm\.\d+$|(?<=^OUTLINED_FUNCTION)_\d+$"
    r"|(?<=\.)[0-9a-f]{32}(?=\.|$)|(?<=\.)\d+$"
)
_SHOWN = re.compile(r"::h[0-9a-f]{16}$|\[[0-9a-f]+\]")  # likewise as a person writes names


@dataclass(frozen=True)
class Grown:
    """What is not as large on both sides; None: it is not there."""

    name: str
    base: int | None
    head: int | None

    @property
    def change(self) -> int:
        return (self.head or 0) - (self.base or 0)


@dataclass(frozen=True)
class Sizes:
    """What the kernels of both sides hold."""

    whole: dict[str, tuple[int, int]]  # of flash and RAM, and of the stacks
    sections: dict[str, list[Grown]]  # those of each that are not as large
    # By more than a linker does by itself, which takes a shorter instruction for a near call; the
    # largest change first.
    symbols: list[Grown] = field(default_factory=list)


def sizes(base: Path, head: Path) -> Sizes:
    """Of two kernels. TockmarkError if one cannot be read."""
    sides = [list(pieces(read_elf(path))) for path in (base, head)]
    whole, sections = {}, {}
    for name, there in (("flash", _in_flash), ("RAM", _in_ram)):
        before, after = (_sums(filter(there, side), lambda piece: piece.section) for side in sides)
        whole[name] = (before.total(), after.total())
        sections[name] = grown(before, after)
    before, after = (_sums(filter(_named, side), _steady) for side in sides)
    symbols = [
        one
        for one in grown(before, after)
        if None in (one.base, one.head) or beyond((one.base or 0, one.head or 0), FUNCTION)
    ]
    names = {_steady(piece): piece.name for side in sides for piece in side}
    readable = demangled([names[one.name] for one in symbols])
    return Sizes(
        whole,
        sections,
        [replace(one, name=_SHOWN.sub("", readable[names[one.name]])) for one in symbols],
    )


def grown(base: Mapping[str, int], head: Mapping[str, int]) -> list[Grown]:
    """What is not as large, the largest change first."""
    found = [
        Grown(name, base.get(name), head.get(name))
        for name in dict.fromkeys([*base, *head])
        if base.get(name) != head.get(name)
    ]
    return sorted(found, key=lambda one: (-abs(one.change), one.name))


def steady(symbol: str) -> str:
    """A symbol's name without what differs from build to build."""
    return _HASHES.sub("", symbol)


def _sums(held: Iterable[Piece], name: Callable[[Piece], str]) -> Counter[str]:
    found: Counter[str] = Counter()
    for piece in held:
        found[name(piece)] += piece.size
    return found


def _steady(piece: Piece) -> str:
    return steady(piece.name)


def _named(piece: Piece) -> bool:
    return bool(piece.name)


def _in_flash(piece: Piece) -> bool:
    return piece.in_flash


def _in_ram(piece: Piece) -> bool:
    return piece.in_ram
