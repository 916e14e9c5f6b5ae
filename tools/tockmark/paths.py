# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Where things are: the tool works inside a checkout, beside what the Makefile builds. And of which
commit that checkout is.
"""

import functools
import os
import subprocess
import sys
from pathlib import Path

from tockmark.errors import TockmarkError, showable

ROOT = Path(__file__).resolve().parents[2]

BOARDS = ROOT / "boards"
CATALOGUE = ROOT / "apps" / "catalogue.toml"
LINKER_SCRIPT = ROOT / "apps" / "runtime" / "app.ld"
APPS = ROOT / "build" / "apps"  # one folder for each way to build them, such as c-abi2
KERNEL_PATCHES = ROOT / "kernel-patches"
PERF = ROOT / "capsules" / "perf"
RUNS = ROOT / "build" / "run"  # a folder for each run while it lasts
CACHE = ROOT / "build" / "cache"  # what was simulated once (rig/cache.py)
JUDGED = ROOT / "build" / "judge"  # a folder for each judgement
COMMITS = ROOT / "build" / "commits"  # kernels built from commits of the user's checkout
PROFILES = ROOT / "build" / "profile"
RESULTS = ROOT / "results"
DOCS = ROOT / "docs"
DATA = DOCS / "data"  # what pages are made from and is no result
VALIDATION = ROOT / "validation"
ELF2TAB = ROOT / ".tools" / "bin" / "elf2tab"

DIRTY = "-dirty"  # behind a commit: files of the checkout differ from it
GENERATED = (":!results", ":!docs")  # what git is not to look at: runs write it, nothing reads it


def shown(path: Path) -> str:
    """Return a path as the user would write it: relative to where they stand, if it is below."""
    try:
        return showable(str(path.resolve().relative_to(Path.cwd())))
    except ValueError:
        return showable(str(path))


def worktrees() -> Path:
    """Return where commits of the user's checkout are checked out: in the user's folder for what
    can be made again, since a folder of this checkout has Cargo's settings of ours."""
    cache = os.environ.get("XDG_CACHE_HOME", "")  # to be ignored unless absolute, as XDG has it
    return (Path(cache) if cache.startswith("/") else Path.home() / ".cache") / "tockmark"


def check_environment(script: str) -> None:
    """TockmarkError if this environment, or the script that was called, lies in another checkout
    than the code that it runs: one that was copied would silently use the original."""
    given = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    if ROOT / "tools" in (Path(folder).resolve() for folder in given):
        return  # somebody knows what they do
    for venv in (Path(sys.prefix), Path(script).absolute().parent.parent):
        if venv.name == ".venv" and venv.resolve().parent != ROOT:
            raise TockmarkError(
                f"{venv} runs the code of {ROOT}: it is a copy",
                f"run `make setup` in {venv.parent}",
            )


@functools.cache
def commit_of_checkout() -> str | None:
    """Return the commit of this checkout, with -dirty behind it if files differ from it; None where
    git cannot tell. Results and what is made of them do not count: a run may write them anew, and
    is not changed by them."""
    head = _git("rev-parse", "--show-cdup", "HEAD")
    changed = _git("status", "--porcelain", "--untracked-files=no", "--", ".", *GENERATED)
    if head is None or changed is None or not head.startswith("\n"):  # the checkout of another
        return None
    return head.strip() + (DIRTY if changed else "")


def _git(*arguments: str) -> str | None:
    """Return what git says of this checkout; None if it fails or is not there."""
    command = ["git", "--no-optional-locks", "-C", str(ROOT), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return None
    return done.stdout if done.returncode == 0 else None
