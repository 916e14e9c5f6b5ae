# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What verbs that build commits of the user's checkout have in common: options, and our patch."""

import hashlib
from pathlib import Path, PurePosixPath
from typing import Annotated

import typer

from tockmark import paths
from tockmark.kernel_patch.change import put_in
from tockmark.tree.building import LINK_ARGS, Patch, Recipe

Tree = Annotated[
    Path,
    typer.Argument(metavar="TREE", help="Top folder of your checkout of Tock; it stays as is."),
]
Build = Annotated[
    str,
    typer.Option(
        metavar="CMD",
        help="What builds a commit's kernel, for the shell, from the checkout's top folder. For"
        f" links that differ in layout it adds {LINK_ARGS} to the linker's arguments.",
    ),
]
Elf = Annotated[
    str, typer.Option(metavar="PATH", help="Where CMD puts the kernel, from the top folder.")
]
NoPatch = Annotated[
    bool,
    typer.Option("--no-patch", help="Do not put Perf into the commits: it is there, in all."),
]
FreshBuilds = Annotated[
    bool, typer.Option("--fresh", help="Build and simulate also what is kept from before.")
]


def recipe(build: str, elf: str, no_patch: bool) -> Recipe:
    """How a kernel is made of a commit. TockmarkError if these options cannot be meant."""
    return Recipe(build, PurePosixPath(elf), None if no_patch else our_patch())


def our_patch() -> Patch:
    """What `tockmark patch` puts into a tree, where it is not there yet."""
    digest = hashlib.sha256()
    for folder in (paths.KERNEL_PATCHES, paths.PERF):
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            content = path.read_bytes()
            digest.update(f"{path.relative_to(paths.ROOT)}\0{len(content)}\0".encode() + content)
    return Patch(digest.hexdigest(), put_in)
