# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Links of one side of a judgement: given, or built when they are asked for."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


class Links(Protocol):
    """Links of one source, in an order that stays: the first is the plain one."""

    def upto(self, count: int) -> list[Path]:
        """The first `count` ELF files, fewer where no more can be had, and never none. What takes
        minutes is done here, once each. TockmarkError if the first cannot be had."""
        ...


@dataclass(frozen=True)
class Given:
    """Links that the user built."""

    elves: tuple[Path, ...]

    def upto(self, count: int) -> list[Path]:
        """As Links has it."""
        return list(self.elves[:count])
