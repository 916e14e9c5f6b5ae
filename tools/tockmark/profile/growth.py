# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Which functions and objects of a kernel came, went, grew or shrank: from two ELF files."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from tockmark.profile.names import path, readable
from tockmark.target.contents import Piece, pieces
from tockmark.target.elf import Elf

UNNAMED = "what has no symbol"
# Names that number what they stand for; another build numbers it otherwise.
_NUMBERED = (
    (re.compile(r"^\.Lanon\.|^\.L__unnamed_"), "constants"),
    (re.compile(r"^OUTLINED_FUNCTION_"), "OUTLINED_FUNCTION_*"),
    (re.compile(r"^\.Lswitch\.table\."), "switch tables"),
)


@dataclass(frozen=True)
class Size:
    """What all pieces of one name take, in bytes; a function has one for each set of types."""

    pieces: int = 0
    flash: int = 0
    ram: int = 0


@dataclass(frozen=True)
class Growth:
    """One name on both sides; None: there is none of it."""

    name: str
    base: Size | None
    new: Size | None

    @property
    def flash(self) -> int:
        """Bytes of flash that it takes more."""
        return (self.new or Size()).flash - (self.base or Size()).flash

    @property
    def ram(self) -> int:
        """Bytes of RAM that it takes more."""
        return (self.new or Size()).ram - (self.base or Size()).ram


def growth(base: Elf, new: Elf) -> tuple[Growth, ...]:
    """All names whose sizes differ, the largest change first. They add up to the change of the
    kernel's `flash_bytes`."""
    sides = [list(pieces(elf)) for elf in (base, new)]
    known = readable(piece.name for side in sides for piece in side)
    before, after = (_sizes(side, known) for side in sides)
    found = [
        Growth(name, before.get(name), after.get(name)) for name in before.keys() | after.keys()
    ]
    changed = [one for one in found if one.flash or one.ram]
    return tuple(sorted(changed, key=lambda one: (-abs(one.flash) - abs(one.ram), one.name)))


def _sizes(all_pieces: Iterable[Piece], known: dict[str, str]) -> dict[str, Size]:
    found: dict[str, Size] = {}
    for piece in all_pieces:
        name = _name(known[piece.name])
        size = found.get(name, Size())
        found[name] = Size(
            size.pieces + 1,
            size.flash + piece.in_flash * piece.size,
            size.ram + piece.in_ram * piece.size,
        )
    return found


def _name(name: str) -> str:
    for numbered, together in _NUMBERED:
        if numbered.search(name):
            return together
    return path(name) if name else UNNAMED
