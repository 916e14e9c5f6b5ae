# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Paths of the checkout or the installed tool, and the commit.

The tool runs in a checkout, or installed from a wheel that contains a folder with the layout of a
checkout (tools/wheel.py). In both cases everything is below ROOT.

Output goes to build/ of a writable checkout. Otherwise, and for an installed tool, it goes to the
user's own folders. TOCKMARK_HOME names another folder for all output.
"""

import functools
import os
import sys
from pathlib import Path

from tockmark.base import processes
from tockmark.base.errors import TockmarkError, printable_text

_PACKED = Path(__file__).resolve().parents[1] / "installed"
INSTALLED = _PACKED.is_dir()  # from a wheel; else this is a checkout
ROOT = _PACKED if INSTALLED else Path(__file__).resolve().parents[3]
VENVS = ".venvs"  # environments; .venv is a link to one of them (tools/setup.sh)
HOME = "TOCKMARK_HOME"  # the environment variable with the folder for all output


def user_folder(kind: str) -> Path:
    """Return the user's folder for the tool's `cache`, `config` or `data`; it may not exist."""
    if home := os.environ.get(HOME):
        return Path(home).absolute() / kind
    import platformdirs  # here, because it loads slowly

    folder: str = getattr(platformdirs, f"user_{kind}_dir")("tockmark")
    return Path(folder)


def _output_folder(folder: Path, kind: str) -> Path:
    """Return this folder of the checkout if it is writable and TOCKMARK_HOME is not set, else the
    user's folder of the same name."""
    if not INSTALLED and not os.environ.get(HOME) and writable(folder):
        return folder
    return user_folder(kind) / folder.name


def writable(folder: Path) -> bool:
    """Return whether a folder can be written to or created."""
    return os.access(next(path for path in (folder, *folder.parents) if path.exists()), os.W_OK)


BOARDS = ROOT / "boards"
SIMULATOR = BOARDS / "earlgrey-sim"
CATALOGUE = ROOT / "apps" / "catalogue.toml"
LINKER_SCRIPT = ROOT / "apps" / "runtime" / "app.ld"
APPS = ROOT / "build" / "apps"  # one folder per build, such as c-abi2
LIBRARIES = APPS / "lib"  # libraries that the compiler links apps with
KERNEL_PATCHES = ROOT / "kernel-patches"
PERF = ROOT / "capsules" / "perf"
RESULTS = ROOT / "results"
DOCS = ROOT / "docs"
ELF2TAB = ROOT / ("bin" if INSTALLED else ".tools/bin") / "elf2tab"
GCC = "riscv64-unknown-elf-gcc"  # an installed tool does not have it
_BINUTILS = (f"{ROOT}/bin/" if INSTALLED else "") + "riscv64-unknown-elf-"
LD, OBJCOPY, OBJDUMP, FILT = (_BINUTILS + name for name in ("ld", "objcopy", "objdump", "c++filt"))

WRITTEN = _output_folder(ROOT / "build", "cache")  # files that can be made again
RUNS = WRITTEN / "run"  # one folder per run, while it lasts
CACHE = WRITTEN / "cache"  # simulated boots (target/cache.py)
JUDGED = WRITTEN / "judge"  # one folder per judgement
COMMITS = WRITTEN / "commits"  # kernels built from commits of the user's checkout
PAIRS = WRITTEN / "pairs"  # paired links, while they are judged
PROFILES = WRITTEN / "profile"
NEW_RESULTS = _output_folder(ROOT / "build" / "results", "data")  # results without -o
COMMIT = ROOT / "commit"  # in a wheel: the commit of its checkout

DIRTY = "-dirty"  # suffix of a commit: files of the checkout differ
GENERATED = (":!results", ":!docs")  # written by runs, so changes in them do not count


def make_command(target: str) -> str:
    """Return the advice to run a target of the Makefile."""
    if INSTALLED:
        return f"run `make {target}` in a clone of tockmark; an installed tockmark does not have it"
    return f"run `make {target}`"


def shown(path: Path) -> str:
    """Return a path for a message, relative to the current directory if it is below it."""
    try:
        # Unlike `resolve`, realpath accepts a loop of links.
        return printable_text(str(Path(os.path.realpath(path)).relative_to(Path.cwd())))
    except ValueError:
        return printable_text(str(path))


def check_environment(script: str) -> None:
    """Raise TockmarkError if the Python environment or the script belongs to another checkout.

    A copied environment would silently run the code of the original checkout."""
    if INSTALLED:
        return
    folders = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    if ROOT / "tools" in (Path(folder).resolve() for folder in folders):
        return  # the user chose this code
    for venv in (Path(sys.prefix), Path(script).absolute().parent.parent):
        ours = venv.name == ".venv" or venv.parent.name == VENVS
        if ours and _checkout_of(venv.resolve()) != ROOT:
            raise TockmarkError(
                f"{venv} is a copy and runs the code of {ROOT}",
                f"run `make setup` in {_checkout_of(venv)}",
            )


def _checkout_of(venv: Path) -> Path:
    """Return the checkout of an environment, which is .venv or in .venvs/."""
    return venv.parent.parent if venv.parent.name == VENVS else venv.parent


@functools.cache
def commit_of_checkout() -> str | None:
    """Return the commit of this checkout or of the wheel's, with -dirty if files differ; None
    without git.

    Changed results and pages do not count, because no run reads them."""
    if INSTALLED:
        return COMMIT.read_text(encoding="ascii").strip() or None
    head = _git("rev-parse", "--show-cdup", "HEAD")
    changed = _git("status", "--porcelain", "--untracked-files=no", "--", ".", *GENERATED)
    if head is None or changed is None or not head.startswith("\n"):  # a checkout around ours
        return None
    return head.strip() + (DIRTY if changed else "")


def _git(*arguments: str) -> str | None:
    """Return the output of git in this checkout; None if it fails or is missing."""
    command = ["git", "--no-optional-locks", "-C", str(ROOT), *arguments]
    try:
        done = processes.run(command)
    except TockmarkError:
        return None
    return done.text if done.code == 0 else None
