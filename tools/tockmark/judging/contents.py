# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What two kernels hold, flash and RAM, by section and by symbol."""

from collections import Counter
from dataclasses import dataclass


@dataclass(frozen=True)
class Grown:
    """A section or symbol whose size is another; None: it is not there. In bytes."""

    name: str
    base: int | None
    head: int | None

    @property
    def change(self) -> int:
        return (self.head or 0) - (self.base or 0)


@dataclass(frozen=True)
class Sizes:
    """What the kernels of both sides hold, in bytes."""

    whole: dict[str, tuple[int, int]]  # flash and RAM
    sections: dict[str, list[Grown]]  # those of each that are not as large
    symbols: list[Grown]  # the largest change first
