# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Builds kernels of commits by a command of the user's, each once, in several links if need be.

What was built is kept in build/commits/, a folder each with its log, by all that is known to decide
it: the commit, the command, the patch and what the linker was told. The toolchain is not known, so
who changes it has to say that nothing kept is to be taken.
"""

import hashlib
import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from tockmark import paths, processes
from tockmark.errors import INTERRUPTED, TockmarkError, one_line, quoted
from tockmark.files import replace_whole
from tockmark.paths import shown
from tockmark.processes import STDOUT, Bounds, Child
from tockmark.rig.kernel import KernelElf, read_kernel, run_layouts
from tockmark.rig.progress import task
from tockmark.trees.repository import Commit, Worktree, outside_git, repository, worktree

LINK_ARGS = "TOCKMARK_LINK_ARGS"  # in the environment of the user's command
KEPT_NAME = "kernel.elf"
BOUNDS = Bounds(seconds=4 * 3600)  # of one build
TAIL = 4096  # bytes at the end of a log that hold its last line
TRIES = 3  # seeds in a row that give no new order, until there is none


class BuildError(TockmarkError):
    """No kernel comes of this commit; others may be well."""


@dataclass(frozen=True)
class Patch:
    """Says what is changed in a commit's files before they are built."""

    digest: str  # of all that decides what is changed
    put: Callable[[Path], object]  # TockmarkError, and nothing changed, if it does not fit


@dataclass(frozen=True)
class Recipe:
    """Says how the user makes a kernel of a commit."""

    command: str  # for the shell, in the top folder of the worktree
    elf: PurePosixPath  # what it makes, from there
    patch: Patch | None = None

    def __post_init__(self) -> None:
        if not self.command.strip():
            raise TockmarkError("the build command is empty", "give one with --build")
        if self.elf.is_absolute() or ".." in self.elf.parts or not self.elf.name:
            raise TockmarkError(
                f"'{quoted(self.elf)}' is not a file within the checkout",
                "give with --elf where the build puts the kernel, from the checkout's top folder",
            )


@dataclass
class Builder:
    """Builds commits, and keeps what it built."""

    worktree: Worktree
    recipe: Recipe
    fresh: bool = False  # build also what is kept
    built: set[Path] = field(default_factory=set)  # by this one
    seconds: float = 0.0  # that building took

    def build(self, commit: Commit, link_args: str = "") -> Path:
        """Return the ELF of a commit's kernel, linked with these arguments besides. BuildError if
        the patch does not fit, the command fails, or makes no ELF; TockmarkError after Ctrl-C."""
        kept = self.kept(commit, link_args)
        if kept.is_file() and (kept in self.built or not self.fresh):
            return kept
        start = time.monotonic()
        try:
            self._make(commit, link_args, kept)
        except KeyboardInterrupt:
            raise TockmarkError(
                f"interrupted while {commit.short} was built: what was built before it is kept",
                "the same command goes on from there",
                INTERRUPTED,
            ) from None
        finally:
            self.seconds += time.monotonic() - start
        self.built.add(kept)
        return kept

    def kept(self, commit: Commit, link_args: str = "") -> Path:
        """Return where a commit's kernel is, or will be."""
        recipe = self.recipe
        patch = recipe.patch.digest if recipe.patch else ""
        said = (commit.sha, recipe.command, str(recipe.elf), patch, link_args)
        digest = hashlib.sha256("\0".join(said).encode(errors="surrogateescape")).hexdigest()
        return paths.COMMITS / f"{commit.short}-{digest[:16]}" / KEPT_NAME

    def _make(self, commit: Commit, link_args: str, kept: Path) -> None:
        log, made = kept.with_name("build.log"), self.worktree.path / self.recipe.elf
        self.worktree.check_out(commit)
        if self.recipe.patch is not None:
            try:
                self.recipe.patch.put(self.worktree.path)
            except TockmarkError as error:
                raise BuildError(f"{commit.short} cannot be built: {error}") from error
        made.unlink(missing_ok=True)  # or that of another commit might be taken for this one's
        kept.parent.mkdir(parents=True, exist_ok=True)
        what = f"building {commit.short}" + f", {link_args}" * bool(link_args)
        ended = self._run(link_args, log, what)
        if ended.why or ended.code:
            last = quoted(_last_line(log)) or "without a word"
            how = ended.why or f"failed with code {ended.code}"
            raise BuildError(
                f"the build of {commit.short} {how}: {last}",
                f"all that it said is in {shown(log)}",
            )
        if not made.is_file():
            raise BuildError(
                f"the build of {commit.short} ended well, but made no {self.recipe.elf}",
                f"give with --elf what it makes; all that it said is in {shown(log)}",
            )
        replace_whole({kept: made.read_bytes()})

    def _run(self, link_args: str, log: Path, what: str) -> Child:
        """Run the user's command to its end, while its last line is shown. What it began ends with
        it, and keeps the worktree locked until then."""
        with log.open("wb") as out, task(what) as show:
            return processes.follow(
                ["/bin/sh", "-c", self.recipe.command],
                tick=lambda: show(_last_line(log)),
                cwd=self.worktree.path,
                env=outside_git() | {LINK_ARGS: link_args},
                stdout=out,
                stderr=STDOUT,
                hold=[self.worktree.lock],
                bounds=BOUNDS,
            )


def _last_line(log: Path) -> str:
    """Return the last line of a log that says anything."""
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - TAIL))
        lines = file.read().decode(errors="replace").splitlines()
    return next((one_line(line).strip() for line in reversed(lines) if line.strip()), "")


@dataclass(frozen=True)
class Given:
    """Links of one source that the user built: the first is the plain one."""

    elves: tuple[Path, ...]

    def upto(self, count: int) -> list[Path]:
        """Return the first `count` ELF files, or as many as there are."""
        return list(self.elves[:count])


@dataclass
class Built:
    """Links that are built of a commit when they are asked for, each with another seed for the
    order of its functions: the first is the plain one."""

    commit: Commit
    builder: Builder
    _found: dict[str | None, KernelElf] = field(default_factory=dict)  # by the hash of its layout
    _seed: int = 0  # the last that was tried; 0 is the plain link
    _tries: int = 0  # that gave no new link since the last that did

    def upto(self, count: int) -> list[Path]:
        """Return the first `count` ELF files, and never none; fewer if the user's command does
        nothing with TOCKMARK_LINK_ARGS, or if there are no more orders. TockmarkError if the first
        cannot be had, or a further link differs in more than its layout, so that it would be
        compared as what it is not."""
        if not self._found:
            self._add(0)
        while len(self._found) < count and self._tries < TRIES:
            self._tries = 0 if self._add(self._seed + 1) else self._tries + 1
            self._seed += 1
        return [kernel.path for kernel in list(self._found.values())[:count]]

    def _add(self, seed: int) -> bool:
        """Build the link of a seed; whether it is a new one."""
        kernel = read_kernel(self.builder.build(self.commit, link_args(seed)))
        (layout,) = run_layouts([kernel], 1)
        if layout.link in self._found:
            return False
        if first := next(iter(self._found.values()), None):
            try:
                run_layouts([first, kernel], 1)
            except TockmarkError as error:
                raise TockmarkError(
                    f"a link of {self.commit.short} with '{link_args(seed)}' differs in more than"
                    f" its layout: {error}",
                    f"let --build add {LINK_ARGS} to the flags of the tree, not replace them",
                ) from error
        self._found[layout.link] = kernel
        return True


Links = Given | Built  # of one side of a judgement


def link_args(seed: int) -> str:
    """Return what lld is told for the order of functions of a seed; nothing for the order of the
    source, since it takes 0 for a seed of its own choice."""
    return f"--shuffle-sections=.text.*={seed}" if seed else ""


@contextmanager
def sides(
    tree: Path, revisions: Sequence[str], recipe: Recipe, fresh: bool = False
) -> Iterator[list[Built]]:
    """Give the links of commits of the user's checkout, a side each, as long as the worktrees stand
    in which they are built. TockmarkError, before anything is built, if the checkout or a revision
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


def first_bad(count: int, is_bad: Callable[[int], bool | None]) -> range:
    """Find the first bad one of so many commits in as few steps as may be, if the first is good and
    the last is bad.

    `is_bad` is asked of each at most once; None: it cannot be told of this one. Several come back
    where all before the last of them cannot be told."""
    good, bad = 0, count - 1
    unknown: list[int] = []
    while True:
        marks = [good, *(n for n in sorted(unknown) if good < n < bad), bad]
        # Behind what cannot be told there is often more of that: away from it, by halves again.
        below, above = max(itertools.pairwise(marks), key=lambda gap: gap[1] - gap[0])
        middle = (below + above) // 2
        if middle == below:
            return range(good + 1, bad + 1)
        match is_bad(middle):
            case None:
                unknown.append(middle)
            case True:
                bad = middle
            case False:
                good = middle
