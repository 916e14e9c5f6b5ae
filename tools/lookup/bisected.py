# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What single commits of Tock changed: instructions of a few rows, from builds by hand
(docs/data/bisect.json; results/README.md says how)."""

from collections.abc import Iterable
from functools import cache
from typing import Literal

import msgspec

from lookup.figures import number
from tockmark.documents import Count, Part
from tockmark.paths import DATA
from tockmark.result.provenance import OptLevel


class Build(Part, frozen=True):
    """One commit as it was built, and net instructions of one operation, i-cache off, one link."""

    name: str  # as the page calls it
    commit: str
    toolchain: str
    opt_level: OptLevel
    instructions: tuple[Count, ...]  # of the rows, in their order
    date: str | None = None


class Bisect(Part, frozen=True):
    """The whole file."""

    format: Literal["tockmark-bisect"]
    rows: tuple[str, ...]
    builds: tuple[Build, ...]

    def of(self, row: str, name: str) -> int:
        """Instructions of a row in a build."""
        return self.named(name).instructions[self.rows.index(row)]

    def named(self, name: str) -> Build:
        """KeyError if there is no such build."""
        return {build.name: build for build in self.builds}[name]


@cache
def held() -> Bisect:
    return msgspec.json.decode((DATA / "bisect.json").read_bytes(), type=Bisect)


def _lines(first: str, rows: Iterable[tuple[str, list[str]]]) -> str:
    heads = [first, *(f"`{row}`" for row in held().rows)]
    lines = [f"| {' | '.join(heads)} |", "|---|" + "--:|" * len(held().rows)]
    return "\n".join([*lines, *(f"| {title} | {' | '.join(cells)} |" for title, cells in rows)])


def steps(titles: Iterable[tuple[str, str, str]]) -> str:
    """What a commit adds to its first parent: (the parent, the commit, what it is)."""

    def more(before: str, after: str) -> list[str]:
        both = (held().named(name).instructions for name in (before, after))
        pairs = zip(*both, strict=True)
        return [f"{b - a:+d}" if a != b else "0" for a, b in pairs]

    return _lines("commit", ((title, more(a, b)) for a, b, title in titles))


def builds(titles: Iterable[tuple[str, str]]) -> str:
    """Instructions of builds: (the build, what it is)."""
    return _lines(
        "kernel",
        ((title, [*map(number, held().named(name).instructions)]) for name, title in titles),
    )
