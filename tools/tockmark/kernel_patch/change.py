# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Puts a family's parts into a tree or takes them out: all that was asked for, or an error and
nothing.

A tree is first brought, in memory, to what it is without the patch, and from there to what is asked
for; only then files are written.
"""

import shlex
from dataclasses import dataclass
from pathlib import Path

from tockmark.errors import TockmarkError
from tockmark.kernel_patch.family import Family, MisfitError, Part, recognise
from tockmark.kernel_patch.sources import Sources


@dataclass(frozen=True)
class Done:
    """What became of a tree, or with `check` would have."""

    family: Family
    changed: bool
    no_ipc: str | None = None  # why IPC is not in a patched tree


def put_in(tree: Path, check: bool = False) -> Done:
    """Put Perf into a tree, and IPC if it has a place there. With `check` nothing is written.

    TockmarkError, with nothing changed, if the tree is of no family, Perf does not fit, what is in
    the tree is a part of the patch only, or a file cannot be written."""
    family = recognise(tree)
    now, _ = _stripped(Sources(tree), family)
    no_ipc = None
    # Perf goes in last, and so stands before IPC where the two have one anchor.
    try:
        now = _with(now, family.ipc)
    except MisfitError as misfit:
        no_ipc = str(misfit)
    try:
        now = _with(now, family.perf)
    except MisfitError as misfit:
        raise TockmarkError(
            f"the patch does not fit {tree}: {misfit}",
            "nothing was changed; wire the board by hand: kernel-patches/ shows what it takes",
        ) from None
    return _finish(now, check, Done(family, bool(now.changes()), no_ipc))


def take_out(tree: Path, check: bool = False) -> Done:
    """Take out what `put_in` put in: every file is again, byte for byte, what it was.

    TockmarkError, with nothing changed, if what is there was changed since then."""
    family = recognise(tree)
    now, parts = _stripped(Sources(tree), family)
    if family.perf in parts and family.ipc not in parts:
        _check_absent(now, family.ipc)
    return _finish(now, check, Done(family, bool(now.changes())))


def _finish(now: Sources, check: bool, done: Done) -> Done:
    if not check:
        now.write()
    return done


def _stripped(sources: Sources, family: Family) -> tuple[Sources, list[Part]]:
    """The tree without the patch, and which parts were in it as a whole."""
    found = []
    for part in (family.perf, family.ipc):
        try:
            sources = _without(sources, part)
            found.append(part)
        except MisfitError:
            if part is family.perf:
                _check_absent(sources, part)
    return sources, found


def _check_absent(sources: Sources, part: Part) -> None:
    """TockmarkError if a part that is not there as a whole is there in pieces."""
    files = [name for name in part.copies if sources.get(name) is not None]
    edits = [edit for edit in part.edits if edit.put in (sources.get(edit.file) or "")]
    if edits:
        try:
            _without(sources, part)
        except MisfitError as misfit:
            raise TockmarkError(
                f"{sources.tree} was patched and changed since then: {misfit}",
                "nothing was changed; undo that change first",
            ) from None
    if files:
        remove = shlex.join(["rm", *(str(sources.tree / name) for name in files)])
        if all(sources.get(name) == part.copies[name] for name in files):
            raise TockmarkError(
                f"{sources.tree} has the files of the patch and nothing else of it,"
                " as after `git stash`",
                f"delete them: {remove}",
            )
        raise TockmarkError(
            f"{sources.tree} already has {', '.join(files)}, which this patch would add",
            f"nothing was changed; if you do not need them: {remove}",
        )


def _with(sources: Sources, part: Part) -> Sources:
    now = sources.copy()
    for edit in part.edits:
        now.edit(edit.file, edit.done)
    for name, content in part.copies.items():
        now.set(name, content)
    return now


def _without(sources: Sources, part: Part) -> Sources:
    now = sources.copy()
    for edit in reversed(part.edits):
        now.edit(edit.file, edit.undone)
    for name, content in part.copies.items():
        if now.get(name) != content:
            raise MisfitError(f"{name} is not what was put there")
        now.set(name, None)
    return now
