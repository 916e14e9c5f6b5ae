# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Builds products for tests that `make build` does not build, for one test at a time."""

import fcntl
import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

from tockmark.base import paths


def called(
    *arguments: str, cwd: Path = paths.ROOT, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run make and return its exit code and output."""
    # An outer make passes its job server in these variables, and make would warn about it.
    own = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}
    command = ["make", "--no-print-directory", *arguments]
    with (paths.ROOT / "build" / "tests.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return subprocess.run(
            command, cwd=cwd, env=own | variables, capture_output=True, text=True, check=False
        )


@cache
def make(*arguments: str, cwd: Path = paths.ROOT) -> None:
    """Run make, once per process for the same arguments. The test fails with its output if it
    fails."""
    done = called(*arguments, cwd=cwd)
    assert done.returncode == 0, done.stdout + done.stderr


def copy_dependencies(target: Path) -> None:
    """Make a target folder of cargo, if it does not exist, with the crates that `make kernel`
    compiled, except our own. To compile them takes three times as long as the kernel."""
    if not target.exists():
        source, ours = paths.ROOT / "build" / "cargo", shutil.ignore_patterns("*tockmark*")
        shutil.copytree(source, target, ignore=ours)


@cache
def kernel_links() -> tuple[Path, ...]:
    """Return four links of the baseline kernel, made once per process by `make kernel-layouts`.
    conftest.py runs the files that use them in one process."""
    links = paths.ROOT / "build" / "kernel-layouts"
    copy_dependencies(links / "cargo")
    make("kernel-layouts", "K=4")
    return tuple(sorted(links.glob("*.elf")))
