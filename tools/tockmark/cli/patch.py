# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verb `patch` prepares a checkout of Tock for the suite."""

import shlex
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from tockmark.cli.verb import verb
from tockmark.errors import OK, UNUSABLE, TockmarkError
from tockmark.trees.patch import Done, put_in, release, take_out
from tockmark.trees.repository import tried

# What a kernel without IPC cannot run, as `--only` has it.
NEED_IPC = (
    "boot.restart, ctx.ring, fault.stop, ipc, some of sched.alarm_lateness,"
    " some of syscall.by_regions"
)


@verb(
    "tockmark patch ~/tock",
    "tockmark patch ~/tock --check",
    "tockmark patch ~/tock --reverse",
    exits={
        OK: "the tree is as was asked for, or with --check can be brought there",
        UNUSABLE: "it cannot, and nothing was changed; or wrong usage",
    },
)
def patch_verb(
    tree: Annotated[Path, Argument(metavar="DIR", help="Top folder of a Tock checkout.")],
    check: Annotated[
        bool, Option("--check", help="Change nothing; say whether it could be done.")
    ] = False,
    reverse: Annotated[bool, Option("--reverse", help="Take the patch out again.")] = False,
) -> None:
    """Put the Perf capsule into a checkout of Tock, and wire it and IPC into the Earl Grey board.

    The whole patch goes in, or nothing is changed; only IPC is left out, and that is said, where it
    has no place. Building Tock is left to you."""
    if not tree.is_dir():
        raise TockmarkError(f"{tree} is not a folder", "give the top folder of a Tock checkout")
    done = (take_out if reverse else put_in)(tree, check)
    commit = _commit(tree)
    print(f"{tree}: {release(tree)}{f', at {commit[:9]}' if commit else ''}")
    if not done.changed:
        print(f"It is {'not patched' if reverse else 'patched already'}; nothing was changed.")
    elif check:
        print(f"The patch can be {'taken out' if reverse else 'put in'}; nothing was changed.")
    else:
        print("The patch is out again." if reverse else _put_in(done))
    if not reverse:
        if done.no_ipc is not None:
            print(f"IPC is left out: {done.no_ipc}.\nRows that need it will fail: {NEED_IPC}.")
        if not check:
            print(_next(tree, done))


def _put_in(done: Done) -> str:
    """Say what was put into the tree."""
    wired = "Perf" if done.no_ipc else "Perf and IPC"
    added = "".join(f"\n  {file}" for file in done.family.perf.copies)
    return f"{wired} wired into {done.family.board}. Added:{added}"


def _next(tree: Path, done: Done) -> str:
    """Say what to do with the tree now."""
    command = ["tockmark", "run", *done.family.run, "--kernel", str(done.family.elf(tree))]
    return (
        f"Next, build {done.family.board} as Tock's own documentation says, then\n"
        f"  {shlex.join(command)}"
    )


def _commit(tree: Path) -> str | None:
    """Return the commit that is checked out in a tree; None where git does not know."""
    if not (tree / ".git").exists():
        return None
    try:
        done = tried(tree, "rev-parse", "--verify", "HEAD")
    except TockmarkError:  # there is no git, and none is needed
        return None
    return done.text.strip() or None
