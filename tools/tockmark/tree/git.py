# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Calling git on the user's checkout, so that it does what is asked and nothing beside."""

import os
import subprocess
from pathlib import Path

from tockmark.errors import TockmarkError
from tockmark.plain import quoted

# No hook of the user's runs, and no daemon is started that outlives us.
QUIET = ("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false")


# By these a hook or `git bisect run` leads to a repository, or an index, that is not the folder's.
LEADING = [
    *("DIR", "WORK_TREE", "INDEX_FILE", "COMMON_DIR", "PREFIX", "NAMESPACE", "SHALLOW_FILE"),
    *("OBJECT_DIRECTORY", "ALTERNATE_OBJECT_DIRECTORIES"),
]


def outside_git() -> dict[str, str]:
    """The environment, as if no git had called us."""
    leading = {f"GIT_{name}" for name in LEADING}
    return {name: value for name, value in os.environ.items() if name not in leading}


def tried(tree: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run git in a folder, whatever comes of it. TockmarkError if there is no git."""
    # Else git writes the user's index, if only to note what it looked at.
    alone = {"GIT_OPTIONAL_LOCKS": "0", "LC_ALL": "C"}
    try:
        return subprocess.run(
            ["git", *QUIET, *command],
            cwd=tree,
            env=outside_git() | alone,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
    except FileNotFoundError as error:
        raise TockmarkError("git is not there", "install it") from error


def git(tree: Path, *command: str) -> str:
    """What git says, without the newline at its end. TockmarkError with its own reason if it
    fails."""
    done = tried(tree, *command)
    if done.returncode:
        raise TockmarkError(f"git {command[0]}: {reason(done)}")
    return done.stdout.removesuffix("\n")


def reason(done: subprocess.CompletedProcess[str]) -> str:
    """Why git failed, in its own words: the first line that says so, else the first."""
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    said = [line for line in lines if line.startswith(("fatal: ", "error: "))] or lines
    return quoted(said[0].partition(": ")[2] or said[0]) if said else f"code {done.returncode}"
