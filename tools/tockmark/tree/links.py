# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Links of one side of a judgement: given, or built when they are asked for."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from tockmark.errors import TockmarkError
from tockmark.target import links
from tockmark.target.image import Kernel, read_kernel
from tockmark.tree.building import LINK_ARGS, Builder, Recipe
from tockmark.tree.repository import Commit, repository
from tockmark.tree.worktrees import worktree

TRIES = 3  # seeds in a row that give no new order, until there is none


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


@dataclass
class Built:
    """Links that are built of a commit, each with another seed for the order of its functions."""

    commit: Commit
    builder: Builder
    _found: dict[str | None, Kernel] = field(default_factory=dict)  # by the hash of its layout
    _seed: int = 0  # the last that was tried; 0 is the plain link
    _tries: int = 0  # that gave no new link since the last that did

    def upto(self, count: int) -> list[Path]:
        """As Links has it: fewer if the user's command does nothing with TOCKMARK_LINK_ARGS, or if
        there are no more orders. TockmarkError if a further link differs in more than its
        layout, so that it would be compared as what it is not."""
        if not self._found:
            self._add(0)
        while len(self._found) < count and self._tries < TRIES:
            self._tries = 0 if self._add(self._seed + 1) else self._tries + 1
            self._seed += 1
        return [kernel.path for kernel in list(self._found.values())[:count]]

    def _add(self, seed: int) -> bool:
        """Build the link of a seed; whether it is a new one."""
        kernel = read_kernel(self.builder.build(self.commit, link_args(seed)))
        (layout,) = links.layouts([kernel], 1)
        if layout.link in self._found:
            return False
        if first := next(iter(self._found.values()), None):
            try:
                links.layouts([first, kernel], 1)
            except TockmarkError as error:
                raise TockmarkError(
                    f"a link of {self.commit.short} with '{link_args(seed)}' differs in more than"
                    f" its layout: {error}",
                    f"let --build add {LINK_ARGS} to the flags of the tree, not replace them",
                ) from error
        self._found[layout.link] = kernel
        return True


def link_args(seed: int) -> str:
    """What the linker is told for the order of functions of a seed; nothing for the order of the
    source. For lld, which takes 0 for a seed of its own choice."""
    return f"--shuffle-sections=.text.*={seed}" if seed else ""


@contextmanager
def sides(
    tree: Path, revisions: Sequence[str], recipe: Recipe, fresh: bool = False
) -> Iterator[list[Built]]:
    """The links of commits of the user's checkout, a side each, as long as the worktrees stand in
    which they are built. TockmarkError, before anything is built, if the checkout or a revision
    will not do."""
    found = repository(tree)
    commits = [found.commit(revision) for revision in revisions]
    with ExitStack() as stack:
        # One each: in the same one each turn to the other side would compile most of it anew.
        places = [stack.enter_context(worktree(found, side)) for side, _ in enumerate(commits)]
        yield [
            Built(commit, Builder(place, recipe, fresh))
            for commit, place in zip(commits, places, strict=True)
        ]
