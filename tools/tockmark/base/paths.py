# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Where things are, and of which commit they are. The tool works inside a checkout, beside what the
Makefile builds, or installed from a wheel, which brings a folder that is laid out as a checkout is
(tools/wheel.py): everything is found below ROOT in both.

What the tool writes is in build/ of the checkout, where that can be written, else, and always of an
installed tool, in the user's own folders, or in the one that TOCKMARK_HOME names.
"""

import functools
import os
import sys
from pathlib import Path

from tockmark.base import processes
from tockmark.base.errors import TockmarkError, printable_text

_BROUGHT = Path(__file__).resolve().parents[1] / "installed"
INSTALLED = _BROUGHT.is_dir()  # from a wheel; else this is a checkout
ROOT = _BROUGHT if INSTALLED else Path(__file__).resolve().parents[3]
VENVS = ".venvs"  # environments, of which .venv links to one (tools/setup.sh)
HOME = "TOCKMARK_HOME"  # in the environment: the folder for all that the tool writes


def _own(kind: str) -> Path:
    """Return the user's own folder for the tool's `cache`, `config` or `data`."""
    if home := os.environ.get(HOME):
        return Path(home).absolute() / kind
    import platformdirs  # only where it is needed: it takes a while to load

    given: str = getattr(platformdirs, f"user_{kind}_dir")("tockmark")
    return Path(given)


def _written(folder: Path, kind: str) -> Path:
    """Return a folder of a checkout if it can be written and nobody names another one, else the
    user's own with the same name."""
    if not INSTALLED and not os.environ.get(HOME) and writable(folder):
        return folder
    return _own(kind) / folder.name


def writable(folder: Path) -> bool:
    """Return whether a folder can be written to, or made."""
    return os.access(next(path for path in (folder, *folder.parents) if path.exists()), os.W_OK)


def config() -> Path:
    """Return the folder for what the user's own tool must remember, such as keys; it may not be
    there yet."""
    return _own("config")


BOARDS = ROOT / "boards"
SIMULATOR = BOARDS / "earlgrey-sim"
CATALOGUE = ROOT / "apps" / "catalogue.toml"
LINKER_SCRIPT = ROOT / "apps" / "runtime" / "app.ld"
APPS = ROOT / "build" / "apps"  # one folder for each way to build them, such as c-abi2
LIBRARIES = APPS / "lib"  # what the compiler has apps linked with
KERNEL_PATCHES = ROOT / "kernel-patches"
PERF = ROOT / "capsules" / "perf"
RESULTS = ROOT / "results"
DOCS = ROOT / "docs"
ELF2TAB = ROOT / ("bin" if INSTALLED else ".tools/bin") / "elf2tab"
GCC = "riscv64-unknown-elf-gcc"  # which no installed tool has
_BINUTILS = (f"{ROOT}/bin/" if INSTALLED else "") + "riscv64-unknown-elf-"
LD, OBJCOPY, OBJDUMP, FILT = (_BINUTILS + name for name in ("ld", "objcopy", "objdump", "c++filt"))

WRITTEN = _written(ROOT / "build", "cache")  # what can be made again
RUNS = WRITTEN / "run"  # a folder for each run while it lasts
CACHE = WRITTEN / "cache"  # what was simulated once (target/cache.py)
JUDGED = WRITTEN / "judge"  # a folder for each judgement
COMMITS = WRITTEN / "commits"  # kernels built from commits of the user's checkout
PAIRS = WRITTEN / "pairs"  # links of two of them, while they are judged
PROFILES = WRITTEN / "profile"
NEW_RESULTS = _written(ROOT / "build" / "results", "data")  # where a verb puts what nobody names
COMMIT = ROOT / "commit"  # brought by a wheel: that of the checkout it was made of

DIRTY = "-dirty"  # behind a commit: files of the checkout differ from it
GENERATED = (":!results", ":!docs")  # what git is not to look at: runs write it, nothing reads it


def make_command(target: str) -> str:
    """Return what to do about a thing that is not there and that a target of the Makefile makes."""
    if INSTALLED:
        return f"an installed tockmark has it not: clone tockmark, and run `make {target}` there"
    return f"run `make {target}`"


def shown(path: Path) -> str:
    """Return a path as the user would write it: relative to where they stand, if it is below."""
    try:
        # Which, unlike `resolve`, takes a loop of links.
        return printable_text(str(Path(os.path.realpath(path)).relative_to(Path.cwd())))
    except ValueError:
        return printable_text(str(path))


def worktrees() -> Path:
    """Return where commits of the user's checkout are checked out: in the user's folder for what
    can be made again, since a folder of this checkout has Cargo's settings of ours."""
    return _own("cache")


def check_environment(script: str) -> None:
    """TockmarkError if this environment, or the script that was called, lies in another checkout
    than the code that it runs: one that was copied would silently use the original."""
    if INSTALLED:
        return
    given = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    if ROOT / "tools" in (Path(folder).resolve() for folder in given):
        return  # somebody knows what they do
    for venv in (Path(sys.prefix), Path(script).absolute().parent.parent):
        ours = venv.name == ".venv" or venv.parent.name == VENVS
        if ours and _holder(venv.resolve()) != ROOT:
            raise TockmarkError(
                f"{venv} runs the code of {ROOT}: it is a copy",
                f"run `make setup` in {_holder(venv)}",
            )


def _holder(venv: Path) -> Path:
    """Return the checkout of an environment: .venv, or one in .venvs/ that this links to."""
    return venv.parent.parent if venv.parent.name == VENVS else venv.parent


@functools.cache
def commit_of_checkout() -> str | None:
    """Return the commit of this checkout, or of the one that the wheel was made of, with -dirty
    behind it if files differ from it; None where git cannot tell. Results and what is made of them
    do not count: a run may write them anew, and is not changed by them."""
    if INSTALLED:
        return COMMIT.read_text(encoding="ascii").strip() or None
    head = _git("rev-parse", "--show-cdup", "HEAD")
    changed = _git("status", "--porcelain", "--untracked-files=no", "--", ".", *GENERATED)
    if head is None or changed is None or not head.startswith("\n"):  # the checkout of another
        return None
    return head.strip() + (DIRTY if changed else "")


def _git(*arguments: str) -> str | None:
    """Return what git says of this checkout; None if it fails or is not there."""
    command = ["git", "--no-optional-locks", "-C", str(ROOT), *arguments]
    try:
        done = processes.run(command)
    except TockmarkError:
        return None
    return done.text if done.code == 0 else None
