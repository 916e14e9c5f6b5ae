# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Writing files so that nothing is lost: whole or not at all, and over its own kind only;
folders for a while, which go even if their owner was killed; and reading TOML.
"""

import contextlib
import fcntl
import os
import re
import shutil
import stat
import tempfile
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from tockmark.errors import TockmarkError
from tockmark.paths import shown

LOOKED_AT = 1 << 20  # bytes of a file that tell what it is

_FORMAT = re.compile(rb'\s*\{\s*"format"\s*:\s*"tockmark-(\w+)"')
_LOG = re.compile(rb"^(?:#tm \d|#boot )", re.MULTILINE)


def write_whole(contents: Mapping[Path, str | bytes]) -> None:
    """Write files so that all are there or all are still the old ones, also on a full disk; devices
    and pipes are written through. TockmarkError, with nothing changed, if one of them would replace
    what is of another kind (`check_writable`)."""
    check_writable(contents)
    replace_whole(contents)


def replace_whole(contents: Mapping[Path, str | bytes]) -> None:
    """The same, whatever is there: for files that are the tool's own."""
    temporary: dict[Path, str] = {}
    path = Path()
    try:
        for path, content in contents.items():
            data = content if isinstance(content, bytes) else content.encode()
            if is_through(path):
                with path.open("wb") as file:
                    file.write(data)
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, temporary[path] = _new_beside(path)
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
        for path in list(temporary):
            os.replace(temporary.pop(path), path.resolve())
    except OSError as error:
        untouched = "" if is_through(path) else "; what was there before is untouched"
        raise TockmarkError(
            f"cannot write {shown(path)}: {error.strerror}{untouched}",
            "make room or choose another place with -o",
        ) from error
    finally:
        for name in temporary.values():
            with contextlib.suppress(OSError):
                os.unlink(name)


def replace_soon(path: Path, data: bytes) -> None:
    """Write one file whole or not at all, without waiting for the disk to have it: for what can be
    made again. OSError if it cannot be written."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = _new_beside(path)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.replace(name, path)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


def check_writable(contents: Mapping[Path, str | bytes] | Iterable[Path]) -> None:
    """TockmarkError, which names it, if a file would replace what it should not: a result replaces
    a result only, a log the log of the result that is written with it, and all else what has its
    suffix and is neither. Of paths alone, before there is anything to write, the suffix tells."""
    paths = list(contents)
    for path in paths:
        try:
            there = path.stat() if path.exists() else None
        except OSError as error:
            raise TockmarkError(f"cannot write {shown(path)}: {error.strerror}") from error
        if there is None or not (stat.S_ISREG(there.st_mode) or stat.S_ISDIR(there.st_mode)):
            continue
        if stat.S_ISDIR(there.st_mode):
            raise TockmarkError(f"{shown(path)} is a folder", "name a file in it with -o")
        old = _kind(path, _start(path))
        content = contents[path] if isinstance(contents, Mapping) else None
        new = _kind(path, content[:LOOKED_AT]) if content is not None else old
        if path.suffix == ".log" and old != "nothing":
            result = path.with_suffix(".json")
            if old == "a log" and result in paths and result.is_file():
                continue
            raise TockmarkError(
                f"{shown(path)} is there, and is not the log of the result that would be written",
                "name another result with -o",
            )
        if content is None and path.suffix == ".json":
            new = "a result"
        if old not in ("nothing", new):
            raise TockmarkError(
                f"{shown(path)} is there and is {old}, which {new} does not replace",
                "name another file with -o, or remove that one",
            )


def toml(text: str) -> dict[str, Any]:
    """TOML, for which a ValueError is the only one, whatever it is that cannot be read."""
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _start(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(LOOKED_AT)
    except OSError as error:
        raise TockmarkError(f"cannot read {shown(path)}: {error.strerror}") from error


def _kind(path: Path, content: str | bytes) -> str:
    """What a file is, in words."""
    start = content.encode(errors="replace") if isinstance(content, str) else content
    found = _FORMAT.match(start)
    if found:
        return f"a {found[1].decode()}"
    if not start:
        return "nothing"
    return "a log" if _LOG.search(start) else f"a file {path.suffix or 'without a suffix'}"


def is_through(path: Path) -> bool:
    """Whether it is a device, a pipe or a socket, which is written to and never replaced."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _new_beside(path: Path) -> tuple[int, str]:
    """A new file in the same folder, with the rights that the user's umask leaves."""
    number = 0
    while True:
        name = path.resolve().with_name(f".{path.name}.{os.getpid()}-{number}")
        try:
            return os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), str(name)
        except FileExistsError:
            number += 1


@contextlib.contextmanager
def folder_for_a_while(parent: Path) -> Iterator[Path]:
    """A new folder in `parent`, removed at the end. What killed processes left goes first: whoever
    uses one holds a lock on it, which ends with its process."""
    parent.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as held:
        with _locked(parent, fcntl.LOCK_EX):  # nobody else clears while ours has no lock yet
            for left in parent.iterdir():
                if left.is_dir():
                    with contextlib.suppress(OSError), _locked(left, fcntl.LOCK_EX | fcntl.LOCK_NB):
                        shutil.rmtree(left, ignore_errors=True)
            made = tempfile.TemporaryDirectory(dir=parent, ignore_cleanup_errors=True)
            folder = Path(held.enter_context(made))
            held.enter_context(_locked(folder, fcntl.LOCK_EX))
        yield folder


@contextlib.contextmanager
def _locked(folder: Path, how: int) -> Iterator[None]:
    """BlockingIOError if another process holds it and `how` says not to wait."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, how)
        yield
    finally:
        os.close(handle)
