# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What a test has made that `make build` does not make: by one test at a time."""

import fcntl
import os
import subprocess
from functools import cache
from pathlib import Path

from tockmark.base import paths


def called(
    *arguments: str, cwd: Path = paths.ROOT, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Call make, whatever comes of it."""
    # Without what an outer make would tell this one, which then talks of its job server.
    own = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}
    command = ["make", "--no-print-directory", *arguments]
    with (paths.ROOT / "build" / "tests.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return subprocess.run(
            command, cwd=cwd, env=own | variables, capture_output=True, text=True, check=False
        )


def make(*arguments: str, cwd: Path = paths.ROOT) -> None:
    """Call make; fails with all that was said if it fails."""
    done = called(*arguments, cwd=cwd)
    assert done.returncode == 0, done.stdout + done.stderr


@cache
def kernel_links() -> tuple[Path, ...]:
    """Link the baseline kernel four times by `make kernel-layouts`, once in a process: conftest.py
    runs the files that take these links in one."""
    make("kernel-layouts", "K=4")
    return tuple(sorted((paths.ROOT / "build" / "kernel-layouts").glob("*.elf")))
