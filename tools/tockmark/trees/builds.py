# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Build kernels of commits with the user's command, each once, in several links if needed.

The command runs in a worktree of the commit, where Cargo also gets its target folder. It gets the
linker arguments in the environment variable TOCKMARK_LINK_ARGS. If it fails, or does not make
exactly one kernel, BuildError has the last line of its log.

Successful builds are cached in build/commits/, one folder each with its log. The key is the commit,
the command, the path of the ELF, the patch and the linker arguments. The toolchain is not in the
key: give --fresh after you change it. The user's configuration folder has the command of
each checkout; --build replaces it.
"""

import hashlib
import os
import re
import shutil
import time
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

import msgspec
from msgspec import structs

from tockmark.base import paths, processes
from tockmark.base.errors import INTERRUPTED, TockmarkError, one_line, print_message, quoted
from tockmark.base.files import replace_whole, temporary_folder, write_whole
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

REPRODUCED = "linked.tar"  # the linker's inputs, from lld's --reproduce
LINK_ARGS = "TOCKMARK_LINK_ARGS"  # environment variable of the user's command
KEPT_NAME = "kernel.elf"
BUILDS = "builds.json"  # the build command of each checkout, by folder
BOUNDS = Bounds(seconds=4 * 3600)  # of one build
TAIL = 4096  # bytes at the end of a log that contain its last line
TARGET = "target"  # the name of Cargo's target folder
# The error of a linker that does not know --reproduce.
_REFUSED = re.compile(
    r"(?i)(?:unrecogni[sz]ed|unknown|unsupported) [a-z -]*(?:option|argument)[: '\"‘`]*--reproduce"
)
OPT_LEVEL = "CARGO_PROFILE_RELEASE_OPT_LEVEL"  # overrides the manifest
TRIES = 3  # give up after this many seeds in a row without a new order


class BuildError(TockmarkError):
    """This commit gives no kernel; others may."""


@dataclass(frozen=True)
class Patch:
    """A change to a commit's files before they are built."""

    digest: str  # of everything that determines the change
    put: Callable[[Path], object]  # raises TockmarkError, without a change, if it does not fit


@dataclass(frozen=True)
class Recipe:
    """The user's way to build a kernel of a commit."""

    command: str  # a shell command, run in the top folder of the worktree
    elf: PurePosixPath | None = None  # its output, relative to that folder; None: search for it
    patch: Patch | None = None

    def __post_init__(self) -> None:
        if not self.command.strip():
            raise TockmarkError("the build command is empty", "give one with --build")
        if self.elf is not None and (
            self.elf.is_absolute() or ".." in self.elf.parts or not self.elf.name
        ):
            raise TockmarkError(
                f"--elf {quoted(self.elf)} is not inside the checkout",
                "give the path of the kernel relative to the checkout's top folder",
            )

    def target_folder(self, top: Path) -> Path:
        """Return the folder for Cargo in a worktree, so that no build uses what another one made:
        the `target` in the path of the ELF, or that of the top folder."""
        parts = self.elf.parts if self.elf is not None else ()
        return top.joinpath(*parts[: parts.index(TARGET)] if TARGET in parts else (), TARGET)

    def find_kernels(self, top: Path) -> list[Path]:
        """Return the kernels that a build has left in this folder."""
        if self.elf is None:
            return kernels_in(top)
        return [top / self.elf] if (top / self.elf).is_file() else []


@dataclass
class Builder:
    """Builds commits and caches the kernels."""

    worktree: Worktree
    recipe: Recipe
    fresh: bool = False  # ignore cached builds
    built: set[Path] = field(default_factory=set)  # kernels built by this object
    seconds: float = 0.0  # spent on building

    def build(self, commit: Commit, link_args: str = "", extra_file: Path | None = None) -> Path:
        """Return the ELF of a commit's kernel, linked with the additional arguments `link_args`.

        `extra_file` is a file that the linker writes with these arguments; it is stored next to the
        kernel. Raise BuildError if the patch does not fit, the command fails, or a file is missing;
        raise TockmarkError after Ctrl-C."""
        elf = self.elf_path(commit, link_args)
        if elf.is_file() and (elf in self.built or not self.fresh):
            return elf
        start = time.monotonic()
        try:
            self._make(commit, link_args, elf, extra_file)
        except KeyboardInterrupt:
            raise TockmarkError(
                f"interrupted while building {commit.short}; earlier builds are cached",
                "run the same command to continue",
                INTERRUPTED,
            ) from None
        finally:
            self.seconds += time.monotonic() - start
        self.built.add(elf)
        return elf

    def build_with_inputs(self, commit: Commit) -> tuple[Path, Path]:
        """Return the ELF of a commit's kernel and an archive of the linker's inputs. Raise
        BuildError as `build` does, and UnpairedError if the linker does not write the archive."""
        # The same path for both sides, since flags may affect the names of symbols.
        archive = self.worktree.path.parent.parent / REPRODUCED
        elf = self.build(commit, f"--reproduce={archive}", archive)
        return elf, elf.with_name(REPRODUCED)

    def origin(self, commit: Commit) -> dict[str, str]:
        """Return facts that the ELF of a commit's kernel may lack: the commit, and the opt-level of
        the release profile unless the command or its environment sets another."""
        origin = {"commit": commit.sha}
        if OPT_LEVEL in self.recipe.command or OPT_LEVEL in os.environ:
            return origin
        manifest = self.worktree.repository.file(commit, "Cargo.toml")
        try:
            level = str(tomllib.loads(manifest or "")["profile"]["release"]["opt-level"])
        except (ValueError, KeyError, TypeError):  # no such file, no TOML, or no such key
            return origin
        return {**origin, "opt_level": level} if re.fullmatch("[0-3sz]", level) else origin

    def elf_path(self, commit: Commit, link_args: str = "") -> Path:
        """Return the path of a commit's kernel in the cache, built or not."""
        recipe = self.recipe
        patch = recipe.patch.digest if recipe.patch else ""
        key = (commit.sha, recipe.command, str(recipe.elf), patch, link_args, TARGET)
        digest = hashlib.sha256("\0".join(key).encode(errors="surrogateescape")).hexdigest()
        return paths.COMMITS / f"{commit.short}-{digest[:16]}" / KEPT_NAME

    def _make(self, commit: Commit, link_args: str, elf: Path, extra_file: Path | None) -> None:
        log, top = elf.with_name("build.log"), self.worktree.path
        self.worktree.check_out(commit)
        if self.recipe.patch is not None:
            try:
                self.recipe.patch.put(self.worktree.path)
            except TockmarkError as error:
                raise BuildError(f"{commit.short} cannot be built: {error}") from error
        for old in filter(None, (*self.recipe.find_kernels(top), extra_file)):
            old.unlink(missing_ok=True)  # so that no other commit's kernel is used
        elf.parent.mkdir(parents=True, exist_ok=True)
        variant = " for pairs" if extra_file else f", {link_args}" * bool(link_args)
        ended = self._run(link_args, log, f"building {commit.short}{variant}")
        if ended.why or ended.code:
            if extra_file and _REFUSED.search(log.read_text(errors="replace")):
                raise UnpairedError(f"the linker of {commit.short} does not know --reproduce")
            last = quoted(_last_line(log)) or "no output"
            failure = ended.why or f"failed with code {ended.code}"
            raise BuildError(f"the build of {commit.short} {failure}: {last}", f"see {shown(log)}")
        kernels = [path.read_bytes() for path in self.recipe.find_kernels(top)]
        if len(set(kernels)) != 1:
            output = (
                f"{len(set(kernels))} kernels" if kernels else f"no {self.recipe.elf or 'kernel'}"
            )
            raise BuildError(
                f"the build of {commit.short} succeeded, but made {output}",
                f"give the path of the kernel with --elf; see {shown(log)}",
            )
        if extra_file is not None:
            if not extra_file.is_file():
                raise UnpairedError(f"the build of {commit.short} ignores {LINK_ARGS}")
            shutil.move(extra_file, elf.with_name(REPRODUCED))
        replace_whole({elf: kernels[0]})

    def _run(self, link_args: str, log: Path, title: str) -> Child:
        """Run the user's command to its end and show the last line of its output. Its child
        processes end with it and keep the worktree locked until then."""
        top = self.worktree.path
        with log.open("wb") as out, task(title) as show:
            return processes.follow(
                ["/bin/sh", "-c", self.recipe.command],
                tick=lambda: show(_last_line(log)),
                cwd=top,
                env=environment_without_git()
                | {LINK_ARGS: link_args, "CARGO_TARGET_DIR": str(self.recipe.target_folder(top))},
                stdout=out,
                stderr=STDOUT,
                hold=[self.worktree.lock],
                bounds=BOUNDS,
            )


def kernels_in(top: Path) -> list[Path]:
    """Return the kernels that a build has made below a folder: ELF files with the symbols of Tock's
    linker script, except Cargo's own copies."""
    kernels = []
    for path in sorted(top.rglob("*")):
        parts = path.relative_to(top).parts
        if {"deps", ".git", "build", "incremental"} & set(parts) or not path.is_file():
            continue
        with path.open("rb") as file:
            if file.read(4) != b"\x7fELF":
                continue
        try:
            if read_kernel(path).room is not None:
                kernels.append(path)
        except TockmarkError:
            continue
    return kernels


def _last_line(log: Path) -> str:
    """Return the last line of a log that is not empty."""
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - TAIL))
        lines = file.read().decode(errors="replace").splitlines()
    return next((one_line(line).strip() for line in reversed(lines) if line.strip()), "")


@dataclass(frozen=True)
class GivenLinks:
    """Links of one source that the user built; the first is the plain one."""

    elves: tuple[Path, ...]

    def up_to(self, count: int) -> list[Path]:
        """Return the first `count` ELF files; fewer if the user gave fewer."""
        return list(self.elves[:count])

    def layouts(self, count: int) -> tuple[RunLayout, ...]:
        """Return the first `count` links as layouts to run."""
        return run_layouts([read_kernel(elf) for elf in self.up_to(count)], 1)

    @property
    def plain(self) -> Path:
        """The kernel as the user's command links it."""
        return self.elves[0]


@dataclass
class BuiltLinks:
    """Links of a commit that are built on demand, each with its own seed for the order of
    functions; the first is the plain one."""

    commit: Commit
    builder: Builder
    _kernels: dict[str | None, KernelElf] = field(default_factory=dict)  # by the hash of its layout
    _seed: int = 0  # the last one tried; 0 is the plain link
    _tries: int = 0  # seeds without a new link, since the last new one

    def up_to(self, count: int) -> list[Path]:
        """Return the first `count` ELF files, at least one. There are fewer if the user's command
        ignores TOCKMARK_LINK_ARGS, or if no further order exists.

        Raise TockmarkError if the first cannot be built, or if a further link differs in more than
        its layout and cannot be compared."""
        if not self._kernels:
            self._add(0)
        while len(self._kernels) < count and self._tries < TRIES:
            self._tries = 0 if self._add(self._seed + 1) else self._tries + 1
            self._seed += 1
        return [kernel.path for kernel in list(self._kernels.values())[:count]]

    def layouts(self, count: int) -> tuple[RunLayout, ...]:
        """Return the first `count` links as layouts to run."""
        origin = self.builder.origin(self.commit)
        return run_layouts([_with_origin(read_kernel(elf), origin) for elf in self.up_to(count)], 1)

    @property
    def plain(self) -> Path:
        return self.up_to(1)[0]

    def _add(self, seed: int) -> bool:
        """Build the link of a seed and return whether it is a new one."""
        kernel = read_kernel(self.builder.build(self.commit, link_args(seed)))
        (layout,) = run_layouts([kernel], 1)
        if layout.link in self._kernels:
            return False
        if first := next(iter(self._kernels.values()), None):
            try:
                run_layouts([first, kernel], 1)
            except TockmarkError as error:
                raise TockmarkError(
                    f"a link of {self.commit.short} with '{link_args(seed)}' differs in more than"
                    f" its layout: {error}",
                    f"let --build add {LINK_ARGS} to the flags of the tree, not replace them",
                ) from error
        self._kernels[layout.link] = kernel
        return True


@dataclass
class Pairs:
    """Links of two commits in pairs, made on demand (pairing.py)."""

    plain: tuple[Path, Path]  # linked by the user's command
    links: PairedLinks
    folder: Path
    origins: tuple[dict[str, str], dict[str, str]] = ({}, {})
    made: list[LinkPair] = field(default_factory=list)
    ended: str = ""  # why there are no more

    @staticmethod
    def of(sides: Sequence[BuiltLinks], folder: Path) -> "Pairs":
        """Build both commits and link the first pair. Raise BuildError if a commit cannot be built,
        and UnpairedError if its links cannot be paired."""
        built = [side.builder.build_with_inputs(side.commit) for side in sides]
        linkers = find_linkers()
        base, head = (
            RelinkInputs.unpacked(tar, folder / str(n), linkers) for n, (_, tar) in enumerate(built)
        )
        for side, (elf, _) in zip((base, head), built, strict=True):
            if side.link_again().segments != read_elf(elf).segments:
                raise UnpairedError(f"a second link of {shown(elf)} gives a different kernel")
        old, new = (side.builder.origin(side.commit) for side in sides)
        pairs = Pairs((built[0][0], built[1][0]), PairedLinks(base, head), folder, (old, new))
        if not pairs.up_to(1):
            raise UnpairedError(pairs.ended)
        return pairs

    def up_to(self, count: int) -> list[LinkPair]:
        """Return the first `count` pairs; fewer if the next one cannot be linked, for example
        because flash is too small."""
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
        """Return the first `count` links as layouts to run; each pair also has its own addresses of
        the apps."""
        origin = self.pairs.origins[self.side]
        return tuple(
            replace(layout, seed=seed)
            for seed, elf in enumerate(self.up_to(count))
            for layout in run_layouts([_with_origin(read_kernel(elf), origin)], 1)
        )

    @property
    def plain(self) -> Path:
        return self.pairs.plain[self.side]


Links = GivenLinks | BuiltLinks | PairedSide  # the links of one side


def _with_origin(kernel: KernelElf, origin: Mapping[str, str]) -> KernelElf:
    """Return a kernel with its origin; facts in its ELF take precedence."""
    return replace(kernel, **{**origin, **origin_facts(kernel)})  # type: ignore[arg-type]


def link_args(seed: int) -> str:
    """Return lld's arguments for the order of functions of a seed. Seed 0 is the order of the
    source; it has no arguments, since lld would choose a random seed for 0."""
    return f"--shuffle-sections=.text.*={seed}" if seed else ""


@contextmanager
def build_sides(
    tree: Path, revisions: Sequence[str], recipe: Recipe, fresh: bool = False
) -> Iterator[list[BuiltLinks]]:
    """Yield the links of commits of the user's checkout, one side each; their worktrees exist until
    the end. Raise TockmarkError before any build if the checkout or a revision is unusable."""
    checkout = repository(tree)
    commits = [checkout.commit(revision) for revision in revisions]
    with ExitStack() as stack:
        # A worktree per side: in a shared one, each change of side would recompile most files.
        worktrees = [
            stack.enter_context(worktree(checkout, side)) for side, _ in enumerate(commits)
        ]
        yield [
            BuiltLinks(commit, Builder(worktree_, recipe, fresh))
            for commit, worktree_ in zip(commits, worktrees, strict=True)
        ]


@dataclass(frozen=True)
class KernelPair:
    """Both sides of a change: their titles and links."""

    titles: tuple[str, str]
    links: tuple[Links, Links]
    builders: tuple[Builder, ...] = ()  # empty if the user gave ELF files
    pairs: Pairs | None = None
    unpaired: str = ""  # why there are no pairs


def pair_of_kernels(base: Sequence[Path], head: Sequence[Path]) -> KernelPair:
    """Return both sides as the user linked them. Raise TockmarkError if a file is missing."""
    for path in (*base, *head):
        if not path.exists():
            raise TockmarkError(f"{shown(path)} does not exist", "give a kernel's ELF")
    links = GivenLinks(tuple(base)), GivenLinks(tuple(head))
    titles = _title(base), _title(head)
    return KernelPair(titles, links, unpaired="linked ELF files cannot be paired")


def _title(elves: Sequence[Path]) -> str:
    """Return the title of the links of one side."""
    return shown(elves[0]) + (f" and {len(elves) - 1} more" if len(elves) > 1 else "")


@contextmanager
def pair_of_commits(
    tree: Path, revisions: tuple[str, str], recipe: Recipe, fresh: bool
) -> Iterator[KernelPair]:
    """Yield two commits of a checkout, in paired links if possible. Print how long a judgement is
    expected to take, and store how long it took."""
    last, expected = load_build_command(tree), "about ten minutes on two cores"
    if last is not None and last.seconds:
        expected = f"{last.seconds / 60:.1f} minutes last time"
    print_message(f"builds two commits and runs them: {expected}")
    start = time.monotonic()
    with (
        build_sides(tree, revisions, recipe, fresh) as (old, new),
        temporary_folder(paths.PAIRS) as folder,
    ):
        pair = KernelPair(
            (str(old.commit), str(new.commit)), (old, new), (old.builder, new.builder)
        )
        try:
            pairs = Pairs.of((old, new), folder)
        except UnpairedError as error:
            pair = replace(pair, unpaired=str(error))
        else:
            pair = replace(pair, links=(PairedSide(pairs, 0), PairedSide(pairs, 1)), pairs=pairs)
        yield pair
    if build_command := load_build_command(tree):
        seconds = round(time.monotonic() - start, 1)
        store_build_command(tree, structs.replace(build_command, seconds=seconds))


class BuildCommand(msgspec.Struct, frozen=True):
    """The user's build command, the path of its ELF (empty: search for it), and the duration of the
    last judgement including builds, in seconds (0: none yet)."""

    command: str
    elf: str = ""
    seconds: float = 0.0


def load_build_command(checkout: Path) -> BuildCommand | None:
    """Return the stored build command of a checkout; None if it is missing or unreadable."""
    return _stored_commands().get(str(checkout.resolve()))


def store_build_command(checkout: Path, build_command: BuildCommand) -> None:
    """Store the build command of a checkout. If the folder is not writable, store nothing."""
    commands = _stored_commands() | {str(checkout.resolve()): build_command}
    text = msgspec.json.format(msgspec.json.encode(commands), indent=1) + b"\n"
    with suppress(OSError):
        paths.user_folder("config").mkdir(parents=True, exist_ok=True)
        write_whole({_file(): text})


def _file() -> Path:
    return paths.user_folder("config") / BUILDS


def _stored_commands() -> dict[str, BuildCommand]:
    try:
        return msgspec.json.decode(_file().read_bytes(), type=dict[str, BuildCommand])
    except (OSError, ValueError):
        return {}
