# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Builds kernels of commits by a command of the user's, each once, in several links if need be.

What was built is kept in build/commits/, a folder each with its log, by all that is known to decide
it: the commit, the command, the patch and what the linker was told. The toolchain is not known, so
who changes it has to say that nothing kept is to be taken. The tool remembers each checkout's
command in the user's own folder; --build replaces it.
"""

import hashlib
import json
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from tockmark.base import paths, processes
from tockmark.base.errors import INTERRUPTED, TockmarkError, one_line, print_message, quoted
from tockmark.base.files import replace_whole, temporary_folder, toml, write_whole
from tockmark.base.paths import shown
from tockmark.base.processes import STDOUT, Bounds, Child
from tockmark.target.elf import read_elf
from tockmark.target.kernel import KernelElf, RunLayout, origin_facts, read_kernel, run_layouts
from tockmark.target.progress import task
from tockmark.trees.pairing import LinkPair, PairedLinks, RelinkInputs, UnpairedError, find_linkers
from tockmark.trees.repository import (
    Commit,
    Worktree,
    environment_without_git,
    repository,
    worktree,
)

REPRODUCED = "linked.tar"  # all that the linker got, by lld's --reproduce
LINK_ARGS = "TOCKMARK_LINK_ARGS"  # in the environment of the user's command
KEPT_NAME = "kernel.elf"
BUILDS = "builds.json"  # by the checkout's folder
BOUNDS = Bounds(seconds=4 * 3600)  # of one build
TAIL = 4096  # bytes at the end of a log that hold its last line
OPT_LEVEL = "CARGO_PROFILE_RELEASE_OPT_LEVEL"  # which Cargo takes before the manifest's
BUILDS = "builds.json"  # what builds the kernels of each checkout, by its folder
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
    elf: PurePosixPath | None = None  # what it makes, from there; None: it is looked for
    patch: Patch | None = None

    def __post_init__(self) -> None:
        if not self.command.strip():
            raise TockmarkError("the build command is empty", "give one with --build")
        if self.elf is not None and (
            self.elf.is_absolute() or ".." in self.elf.parts or not self.elf.name
        ):
            raise TockmarkError(
                f"'{quoted(self.elf)}' is not a file within the checkout",
                "give with --elf where the build puts the kernel, from the checkout's top folder",
            )

    def made_in(self, top: Path) -> list[Path]:
        """Return the kernels that are there of a build in this folder."""
        if self.elf is None:
            return kernels_in(top)
        return [top / self.elf] if (top / self.elf).is_file() else []


@dataclass
class Builder:
    """Builds commits, and keeps what it built."""

    worktree: Worktree
    recipe: Recipe
    fresh: bool = False  # build also what is kept
    built: set[Path] = field(default_factory=set)  # by this one
    seconds: float = 0.0  # that building took

    def build(self, commit: Commit, link_args: str = "", more: Path | None = None) -> Path:
        """Return the ELF of a commit's kernel, linked with these arguments besides; `more` is a
        file that they have the linker write, which is kept beside it. BuildError if the patch does
        not fit, the command fails, or makes no ELF or nothing more; TockmarkError after Ctrl-C."""
        kept = self.elf_path(commit, link_args)
        if kept.is_file() and (kept in self.built or not self.fresh):
            return kept
        start = time.monotonic()
        try:
            self._make(commit, link_args, kept, more)
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

    def build_with_inputs(self, commit: Commit) -> tuple[Path, Path]:
        """Return the ELF of a commit's kernel, and all that lld got to link it. BuildError as
        `build` says."""
        # One name for both sides: it is among the flags, which may enter the names of symbols.
        made = self.worktree.path.parent.parent / REPRODUCED
        kept = self.build(commit, f"--reproduce={made}", made)
        return kept, kept.with_name(REPRODUCED)

    def origin(self, commit: Commit) -> dict[str, str]:
        """Return what is known of a commit's kernel that its ELF may not say: the commit, and the
        opt-level of the release profile, unless the command or its environment sets another."""
        found = {"commit": commit.sha}
        if OPT_LEVEL in self.recipe.command or OPT_LEVEL in os.environ:
            return found
        manifest = self.worktree.repository.file(commit, "Cargo.toml")
        try:
            level = str(toml(manifest or "")["profile"]["release"]["opt-level"])
        except (ValueError, KeyError, TypeError):  # no such file, no TOML, or no such key
            return found
        return {**found, "opt_level": level} if re.fullmatch("[0-3sz]", level) else found

    def elf_path(self, commit: Commit, link_args: str = "") -> Path:
        """Return where a commit's kernel is, or will be."""
        recipe = self.recipe
        patch = recipe.patch.digest if recipe.patch else ""
        said = (commit.sha, recipe.command, str(recipe.elf), patch, link_args)
        digest = hashlib.sha256("\0".join(said).encode(errors="surrogateescape")).hexdigest()
        return paths.COMMITS / f"{commit.short}-{digest[:16]}" / KEPT_NAME

    def _make(self, commit: Commit, link_args: str, kept: Path, more: Path | None) -> None:
        log, top = kept.with_name("build.log"), self.worktree.path
        self.worktree.check_out(commit)
        if self.recipe.patch is not None:
            try:
                self.recipe.patch.put(self.worktree.path)
            except TockmarkError as error:
                raise BuildError(f"{commit.short} cannot be built: {error}") from error
        for old in filter(None, (*self.recipe.made_in(top), more)):
            old.unlink(missing_ok=True)  # or that of another commit might be taken for this one's
        kept.parent.mkdir(parents=True, exist_ok=True)
        linked = " for pairs" if more else f", {link_args}" * bool(link_args)
        ended = self._run(link_args, log, f"building {commit.short}{linked}")
        if ended.why or ended.code:
            last = quoted(_last_line(log)) or "without a word"
            how = ended.why or f"failed with code {ended.code}"
            raise BuildError(
                f"the build of {commit.short} {how}: {last}",
                f"all that it said is in {shown(log)}",
            )
        made = [path.read_bytes() for path in self.recipe.made_in(top)]
        if len(set(made)) != 1:
            what = f"{len(set(made))} kernels" if made else f"no {self.recipe.elf or 'kernel'}"
            raise BuildError(
                f"the build of {commit.short} ended well, but made {what}",
                f"give with --elf what it makes; all that it said is in {shown(log)}",
            )
        if more is not None:
            if not more.is_file():
                raise BuildError(f"the build of {commit.short} does nothing with {LINK_ARGS}")
            shutil.move(more, kept.with_name(REPRODUCED))
        replace_whole({kept: made[0]})

    def _run(self, link_args: str, log: Path, what: str) -> Child:
        """Run the user's command to its end, while its last line is shown. What it began ends with
        it, and keeps the worktree locked until then."""
        with log.open("wb") as out, task(what) as show:
            return processes.follow(
                ["/bin/sh", "-c", self.recipe.command],
                tick=lambda: show(_last_line(log)),
                cwd=self.worktree.path,
                env=environment_without_git() | {LINK_ARGS: link_args},
                stdout=out,
                stderr=STDOUT,
                hold=[self.worktree.lock],
                bounds=BOUNDS,
            )


def kernels_in(top: Path) -> list[Path]:
    """Return the kernels that a build has made below a folder: ELF files with the symbols of
    Tock's linker script. Cargo's own copies, in deps, are none of them."""
    found = []
    for path in sorted(top.rglob("*")):
        parts = path.relative_to(top).parts
        if {"deps", ".git", "build", "incremental"} & set(parts) or not path.is_file():
            continue
        with path.open("rb") as file:
            if file.read(4) != b"\x7fELF":
                continue
        try:
            if read_kernel(path).room is not None:
                found.append(path)
        except TockmarkError:
            continue
    return found


def _last_line(log: Path) -> str:
    """Return the last line of a log that says anything."""
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - TAIL))
        lines = file.read().decode(errors="replace").splitlines()
    return next((one_line(line).strip() for line in reversed(lines) if line.strip()), "")


@dataclass(frozen=True)
class GivenLinks:
    """Links of one source that the user built: the first is the plain one."""

    elves: tuple[Path, ...]

    def up_to(self, count: int) -> list[Path]:
        """Return the first `count` ELF files, or as many as there are."""
        return list(self.elves[:count])

    def layouts(self, count: int) -> tuple[RunLayout, ...]:
        """Return them as they are run."""
        return run_layouts([read_kernel(elf) for elf in self.up_to(count)], 1)

    @property
    def plain(self) -> Path:
        """The kernel as it is linked without us."""
        return self.elves[0]


@dataclass
class BuiltLinks:
    """Links that are built of a commit when they are asked for, each with another seed for the
    order of its functions: the first is the plain one."""

    commit: Commit
    builder: Builder
    _found: dict[str | None, KernelElf] = field(default_factory=dict)  # by the hash of its layout
    _seed: int = 0  # the last that was tried; 0 is the plain link
    _tries: int = 0  # that gave no new link since the last that did

    def up_to(self, count: int) -> list[Path]:
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

    def layouts(self, count: int) -> tuple[RunLayout, ...]:
        """Return them as they are run."""
        origin = self.builder.origin(self.commit)
        return run_layouts([_of(read_kernel(elf), origin) for elf in self.up_to(count)], 1)

    @property
    def plain(self) -> Path:
        """The kernel as it is linked without us."""
        return self.up_to(1)[0]

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


@dataclass
class Pairs:
    """Links of two commits in pairs, made when they are asked for (pairing.py)."""

    plain: tuple[Path, Path]  # as the user's command links them
    links: PairedLinks
    folder: Path
    origins: tuple[dict[str, str], dict[str, str]] = ({}, {})
    made: list[LinkPair] = field(default_factory=list)
    ended: str = ""  # why there are no more

    @staticmethod
    def of(sides: Sequence[BuiltLinks], folder: Path) -> "Pairs":
        """Build both commits, and link the first pair. UnpairedError if that cannot be."""
        try:
            built = [side.builder.build_with_inputs(side.commit) for side in sides]
        except BuildError as error:
            raise UnpairedError(str(error)) from error
        known = find_linkers()
        base, head = (
            RelinkInputs.unpacked(tar, folder / str(n), known) for n, (_, tar) in enumerate(built)
        )
        for side, (elf, _) in zip((base, head), built, strict=True):
            if side.link_again().segments != read_elf(elf).segments:
                raise UnpairedError(f"linking {shown(elf)} again gives another kernel")
        old, new = (side.builder.origin(side.commit) for side in sides)
        found = Pairs((built[0][0], built[1][0]), PairedLinks(base, head), folder, (old, new))
        if not found.up_to(1):
            raise UnpairedError(found.ended)
        return found

    def up_to(self, count: int) -> list[LinkPair]:
        """Return the first `count` pairs; fewer if the next one cannot be linked, for which flash
        may be too small."""
        while len(self.made) < count and not self.ended:
            number = len(self.made)
            base, head = (self.folder / f"{name}-{number}.elf" for name in ("base", "head"))
            try:
                self.made.append(self.links.pair(number, (base, head)))
            except UnpairedError as error:
                self.ended = str(error)
        return self.made[:count]


@dataclass(frozen=True)
class PairedSide:
    """One side of the pairs."""

    pairs: Pairs
    side: int

    def up_to(self, count: int) -> list[Path]:
        """Return the first `count` ELF files."""
        return [pair.elves[self.side] for pair in self.pairs.up_to(count)]

    def layouts(self, count: int) -> tuple[RunLayout, ...]:
        """Return them as they are run: with each pair the apps lie elsewhere, too."""
        origin = self.pairs.origins[self.side]
        return tuple(
            replace(layout, seed=seed)
            for seed, elf in enumerate(self.up_to(count))
            for layout in run_layouts([_of(read_kernel(elf), origin)], 1)
        )

    @property
    def plain(self) -> Path:
        """The kernel as it is linked without us."""
        return self.pairs.plain[self.side]


Links = GivenLinks | BuiltLinks | PairedSide  # of one side of a judgement


def _of(kernel: KernelElf, origin: Mapping[str, str]) -> KernelElf:
    """Return a kernel with what is known of its origin beside what its ELF says."""
    return replace(kernel, **{**origin, **origin_facts(kernel)})  # type: ignore[arg-type]


def link_args(seed: int) -> str:
    """Return what lld is told for the order of functions of a seed; nothing for the order of the
    source, since it takes 0 for a seed of its own choice."""
    return f"--shuffle-sections=.text.*={seed}" if seed else ""


@contextmanager
def build_sides(
    tree: Path, revisions: Sequence[str], recipe: Recipe, fresh: bool = False
) -> Iterator[list[BuiltLinks]]:
    """Give the links of commits of the user's checkout, a side each, as long as the worktrees stand
    in which they are built. TockmarkError, before anything is built, if the checkout or a revision
    will not do."""
    found = repository(tree)
    commits = [found.commit(revision) for revision in revisions]
    with ExitStack() as stack:
        # One each: in the same one each turn to the other side would compile most of it anew.
        places = [stack.enter_context(worktree(found, side)) for side, _ in enumerate(commits)]
        yield [
            BuiltLinks(commit, Builder(place, recipe, fresh))
            for commit, place in zip(commits, places, strict=True)
        ]


@dataclass(frozen=True)
class KernelPair:
    """Both sides of a change: what to call each, and its links."""

    titles: tuple[str, str]
    links: tuple[Links, Links]
    builders: tuple[Builder, ...] = ()  # none if the kernels were given
    pairs: Pairs | None = None
    unpaired: str = ""  # why there are no pairs


def pair_of_kernels(base: Sequence[Path], head: Sequence[Path]) -> KernelPair:
    """Return both sides as the user linked them. TockmarkError if a file is not there."""
    for path in (*base, *head):
        if not path.exists():
            raise TockmarkError(f"{shown(path)} is not there", "give a kernel's ELF")
    links = GivenLinks(tuple(base)), GivenLinks(tuple(head))
    titles = _title(base), _title(head)
    return KernelPair(titles, links, unpaired="ELF files that are linked cannot be paired")


def _title(elves: Sequence[Path]) -> str:
    """Return what to call links of one side."""
    return shown(elves[0]) + (f" and {len(elves) - 1} more" if len(elves) > 1 else "")


@contextmanager
def pair_of_commits(
    tree: Path, revisions: tuple[str, str], recipe: Recipe, fresh: bool
) -> Iterator[KernelPair]:
    """Yield two commits of a checkout in paired links, or unpaired where that cannot be, as long as
    they can be built; and say how long that may take."""
    print_message(_expected(tree))
    start = time.monotonic()
    with (
        build_sides(tree, revisions, recipe, fresh) as (old, new),
        temporary_folder(paths.PAIRS) as to,
    ):
        found = KernelPair(
            (str(old.commit), str(new.commit)), (old, new), (old.builder, new.builder)
        )
        try:
            pairs = Pairs.of((old, new), to)
        except UnpairedError as error:
            found = replace(found, unpaired=str(error))
        else:
            found = replace(found, links=(PairedSide(pairs, 0), PairedSide(pairs, 1)), pairs=pairs)
        yield found
    store_duration(tree, time.monotonic() - start)


def _expected(tree: Path) -> str:
    """Say how long a judgement takes."""
    known = load_build_command(tree)
    if known is not None and known.seconds:
        return f"builds two commits and runs them: {known.seconds / 60:.1f} minutes the last time"
    return "builds two commits and runs them: some ten minutes on two cores"


@dataclass(frozen=True)
class BuildCommand:
    """The user's command, where it puts the ELF (empty: it is looked for), and how many seconds the
    last judgement took, builds with it (0: there was none)."""

    command: str
    elf: str = ""
    seconds: float = 0.0


def load_build_command(checkout: Path) -> BuildCommand | None:
    """Return what was said of a checkout; None if nothing was, or it cannot be read."""
    found = _known().get(str(checkout.resolve()))
    if not isinstance(found, dict):
        return None
    try:
        return BuildCommand(str(found["command"]), str(found["elf"]), float(found["seconds"]))
    except (KeyError, TypeError, ValueError):
        return None


def store_build_command(checkout: Path, how: BuildCommand) -> None:
    """Keep what was said of a checkout; where the folder cannot be written, nothing is kept."""
    known = _known() | {str(checkout.resolve()): vars(how)}
    try:
        paths.config().mkdir(parents=True, exist_ok=True)
        write_whole({_file(): json.dumps(known, indent=1) + "\n"})
    except OSError:
        return


def store_duration(checkout: Path, seconds: float) -> None:
    """Keep how long a judgement of a checkout took."""
    if how := load_build_command(checkout):
        store_build_command(checkout, replace(how, seconds=round(seconds)))


def _file() -> Path:
    return paths.config() / BUILDS


def _known() -> dict[str, object]:
    try:
        found = json.loads(_file().read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
