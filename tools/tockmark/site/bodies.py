# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The measured bodies, disassembled: bodies.txt beside this file, which tools/bodies.py makes from
the apps that are built, so that a page can show a body where nothing is built."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

FILE = Path(__file__).with_name("bodies.txt")
BOTH = (1, 2)


@dataclass(frozen=True)
class Body:
    """One procedure in assembly, as it is for one version of the interface or for all."""

    name: str
    abis: tuple[int, ...]  # versions of the system-call interface that it is for
    listing: str  # an instruction a line: its offset in bytes, and what it is

    @property
    def heading(self) -> str:
        """Its name, and for which version it is if there are two."""
        return self.name + (f", interface version {self.abis[0]}" if self.abis != BOTH else "")

    @property
    def text(self) -> str:
        """As the file has it."""
        versions = " ".join(map(str, self.abis))
        return f"{self.name} {versions}\n{self.listing}\n"


@cache
def load() -> dict[str, tuple[Body, ...]]:
    """All bodies by name. One that differs between the versions of the interface is there twice."""
    found: dict[str, tuple[Body, ...]] = {}
    for block in FILE.read_text(encoding="utf-8").split("\n\n")[1:]:
        head, _, listing = block.strip("\n").partition("\n")
        name, *abis = head.split()
        body = Body(name, tuple(map(int, abis)), listing)
        found[name] = (*found.get(name, ()), body)
    return found
