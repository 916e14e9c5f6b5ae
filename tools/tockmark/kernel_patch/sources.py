# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A tree's files with changes that are not written yet, and writing them all or none."""

import contextlib
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from tockmark.errors import TockmarkError
from tockmark.kernel_patch.family import MisfitError


class Sources:
    """Text files of a tree as they shall be; None is one that is not there."""

    def __init__(self, tree: Path) -> None:
        self.tree = tree
        self._was: dict[Path, str | None] = {}
        self._now: dict[Path, str | None] = {}

    def copy(self) -> "Sources":
        """Another one, to try something in."""
        other = Sources(self.tree)
        other._was, other._now = dict(self._was), dict(self._now)
        return other

    def get(self, name: str) -> str | None:
        """A file's text; MisfitError if it is beyond reach or no text."""
        path = self._path(name)
        if path not in self._now:
            try:
                found = path.read_bytes().decode() if path.exists() else None
            except OSError as error:
                raise MisfitError(f"{name} cannot be read: {error.strerror}") from error
            except UnicodeDecodeError as error:
                raise MisfitError(f"{name} is not UTF-8") from error
            self._was[path] = self._now[path] = found
        return self._now[path]

    def set(self, name: str, text: str | None) -> None:
        """Have a file, or have it no more."""
        self.get(name)  # what it was is kept
        self._now[self._path(name)] = text

    def edit(self, name: str, change: Callable[[str], str]) -> None:
        """Change a file; MisfitError, which names it, if it is not there or does not fit."""
        text = self.get(name)
        if text is None:
            raise MisfitError(f"{name} is not there")
        try:
            self.set(name, change(text))
        except MisfitError as misfit:
            raise MisfitError(f"{name} {misfit}") from None

    def changes(self) -> dict[Path, str | None]:
        """The files that are to be other than they are."""
        return {path: now for path, now in self._now.items() if now != self._was[path]}

    def write(self) -> None:
        """Write the changes. TockmarkError, or Ctrl-C, and all is as it was."""
        changes = self.changes()
        try:
            _write(changes)
        except BaseException as error:
            _write({path: self._was[path] for path in changes})
            if isinstance(error, OSError):
                raise TockmarkError(
                    f"{self.tree} could not be changed: {error.strerror}", "nothing was changed"
                ) from error
            raise

    def _path(self, name: str) -> Path:
        # The board's folder of sources was a symbolic link to another one of the tree until 2025.
        path = (self.tree / name).resolve()
        if not path.is_relative_to(self.tree.resolve()):
            raise MisfitError(f"{name} leaves {self.tree} by a symbolic link")
        return path


def _write(contents: Mapping[Path, str | None]) -> None:
    """First all that needs room, and then what hardly fails."""
    beside = {path: path.with_name(f".{path.name}.tockmark") for path in contents}
    try:
        for path, content in contents.items():
            if content is not None:
                path.parent.mkdir(parents=True, exist_ok=True)
                beside[path].write_bytes(content.encode())
                if path.exists():
                    shutil.copymode(path, beside[path])
        for path, content in contents.items():
            if content is not None:
                os.replace(beside[path], path)
            else:
                path.unlink(missing_ok=True)
                with contextlib.suppress(OSError):  # it holds more, or is not there
                    path.parent.rmdir()
    finally:
        for path in beside.values():
            path.unlink(missing_ok=True)
