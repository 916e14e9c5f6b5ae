# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verb that prepares a checkout of Tock: patch."""

from pathlib import Path
from typing import Annotated

import typer

from tockmark.commands import patch
from tockmark.commands.common import Debug
from tockmark.errors import TockmarkError


def register(app: typer.Typer) -> None:
    """Add this verb to the command line."""
    app.command(
        name="patch",
        epilog="Examples: `tockmark patch ~/tock`; `tockmark patch ~/tock --check`;"
        " `tockmark patch ~/tock --reverse`. Exit codes: 0 the tree is as was asked for, or with"
        " --check can be brought there; 2 it cannot, and nothing was changed.",
    )(patch_verb)


def patch_verb(
    tree: Annotated[Path, typer.Argument(metavar="DIR", help="Top folder of a Tock checkout.")],
    check: Annotated[
        bool, typer.Option("--check", help="Change nothing; say whether it could be done.")
    ] = False,
    reverse: Annotated[bool, typer.Option("--reverse", help="Take the patch out again.")] = False,
    debug: Debug = False,
) -> None:
    """Put the Perf capsule into a checkout of Tock, and wire it and IPC into the Earl Grey board.

    The whole patch goes in, or nothing is changed. Building Tock is left to you."""
    if not tree.is_dir():
        raise TockmarkError(f"{tree} is not a folder", "give the top folder of a Tock checkout")
    version = patch.recognise(tree, patch.versions())
    print(f"{tree}: {version.name}{_distance(tree, version)}")
    present = patch.state(tree, version)
    wanted = patch.State.CLEAN if reverse else patch.State.PATCHED
    if present is wanted:
        print(f"It is {present}; nothing was changed.")
    elif check:
        print(f"The patch can be {'taken out' if reverse else 'put in'}; nothing was changed.")
    else:
        patch.change(tree, version, reverse)
        print("The patch is out again." if reverse else _said(version))
    if not check and not reverse:
        print(_next(tree, version))


def _distance(tree: Path, version: patch.Version) -> str:
    commit = patch.head(tree)
    if commit is None:
        return ", as its files say"
    if commit == version.commit:
        return f", {commit[:9]}"
    return f", at {commit[:9]}; the patch was made for {version.commit[:9]}"


def _said(version: patch.Version) -> str:
    added = "".join(f"\n  {file}" for file in version.files)
    return f"Perf and IPC are wired into {version.board}. Added:{added}"


def _next(tree: Path, version: patch.Version) -> str:
    options = f" {version.run}" if version.run else ""
    return (
        f"Next, build {version.board} as Tock's own documentation says, then\n"
        f"  tockmark run{options} --kernel {patch.elf(tree, version)}"
    )
