# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Files are written so that nothing is lost: whole or not at all, and over their own kind only.

A folder that is needed for a while goes even if its owner was killed. TOML is read here, too.
"""

import contextlib
import errno
import fcntl
import itertools
import os
import re
import shutil
import stat
import tempfile
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from tockmark.base.errors import TockmarkError
from tockmark.base.paths import HOME, shown

LOOKED_AT = 1 << 20  # bytes of a file that tell what it is

_FORMAT = re.compile(rb'\s*\{\s*"format"\s*:\s*"(tockmark-\w+)"')
_LOG = re.compile(rb"^(?:#tm \d|#boot )", re.MULTILINE)


def write_whole(contents: Mapping[Path, str | bytes]) -> None:
    """Write files so that all are there or all are still the old ones, also on a full disk; devices
    and pipes are written through. TockmarkError, with nothing changed, if one of them would replace
    what is of another kind (`check_writable`)."""
    check_writable(contents)
    replace_whole(contents)


def replace_whole(contents: Mapping[Path, str | bytes]) -> None:
    """Write files as `write_whole` does, whatever is there: for files that are the tool's own."""
    new: dict[Path, Path] = {}
    path = Path()
    try:
        for path, content in contents.items():
            data = content if isinstance(content, bytes) else content.encode()
            if is_device_or_pipe(path):
                path.write_bytes(data)
            else:
                new[path] = _write_beside(path.resolve(), data)
        for path in list(new):
            os.replace(new.pop(path), path.resolve())
    except OSError as error:
        untouched = "" if is_device_or_pipe(path) else "; what was there before is untouched"
        raise TockmarkError(
            f"cannot write {shown(path)}: {error.strerror}{untouched}",
            "make room or choose another place with -o",
        ) from error
    finally:
        for left in new.values():
            left.unlink(missing_ok=True)


def replace_unsynced(path: Path, data: bytes) -> None:
    """Write one file whole or not at all, without waiting for the disk to have it: for what can be
    made again. OSError if it cannot be written."""
    os.replace(_write_beside(path, data, at_once=False), path)


def read_plain(path: Path, most: int) -> bytes:
    """Read a plain file of at most so many bytes: of what else may lie in a folder that others
    write to, nothing is waited for. OSError if it is another kind of file, or a longer one."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_NOCTTY | os.O_CLOEXEC)
    try:
        about = os.fstat(handle)
        if not stat.S_ISREG(about.st_mode):
            raise OSError(errno.EINVAL, "it is no plain file", str(path))
        if about.st_size > most:
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), str(path))
        with open(handle, "rb", closefd=False) as file:
            return file.read(most)
    finally:
        os.close(handle)


def _write_beside(path: Path, data: bytes, at_once: bool = True) -> Path:
    """Write a new file in the same folder, with the rights that the user's umask leaves. With
    `at_once` the disk has it then; where that fails, nothing is left of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    for number in itertools.count():
        new = path.with_name(f".{path.name}.{os.getpid()}-{number}")
        try:
            with new.open("xb") as file:
                file.write(data)
                if at_once:
                    file.flush()
                    os.fsync(file.fileno())
            break
        except FileExistsError:
            continue
        except BaseException:
            new.unlink(missing_ok=True)
            raise
    return new


def check_writable(
    contents: Mapping[Path, str | bytes] | Iterable[Path], form: str | None = None
) -> None:
    """TockmarkError, which names it, if a file would replace what it should not: what has a format
    of ours replaces its own kind only, a log the log of the result that is written with it, and all
    else what has its suffix and is neither. Of paths alone, before there is anything to write,
    `form` (`tockmark-latency`) tells what it will be, or else the suffix: a result, or not; and
    whether their folders can be written to is tried."""
    paths = list(contents)
    for path in paths:
        if not isinstance(contents, Mapping) and not is_device_or_pipe(path):
            check_folder(Path(os.path.realpath(path)).parent, path)
        try:
            if not path.exists() or is_device_or_pipe(path):
                continue
        except OSError as error:
            raise TockmarkError(f"cannot write {shown(path)}: {error.strerror}") from error
        if path.is_dir():
            raise TockmarkError(f"{shown(path)} is a folder", "name a file in it with -o")
        old = _kind(path, _start(path))
        new = "a result" if path.suffix == ".json" else old
        new = _named(form) if form is not None else new
        if isinstance(contents, Mapping):
            new = _kind(path, contents[path][:LOOKED_AT])
        if path.suffix == ".log" and old != "nothing":
            result = path.with_suffix(".json")
            if old == "a log" and result in paths and result.is_file():
                continue
            raise TockmarkError(
                f"{shown(path)} is there, and is not the log of the result that would be written",
                "name another result with -o",
            )
        if old not in ("nothing", new):
            raise TockmarkError(
                f"{shown(path)} is there and is {old}, which {new} does not replace",
                "name another file with -o, or remove that one",
            )


def check_folder(folder: Path, path: Path | None = None) -> None:
    """TockmarkError, which names `path` or the folder, if nothing can be written to a folder that
    is there or is still to be made: found out before there is anything to write."""
    place = folder.resolve()
    try:
        while not place.exists():
            place = place.parent
        with tempfile.TemporaryFile(dir=place):
            return
    except OSError as error:
        where = shown(path or folder)
        raise TockmarkError(
            f"cannot write {where}: {error.strerror}", "choose another place with -o"
        ) from error


@contextlib.contextmanager
def reading(path: Path, todo: str = "", what: str = "") -> Iterator[None]:
    """Turn it into one line that a file cannot be read; `what` says what is read, with a space
    behind it."""
    try:
        yield
    except OSError as error:
        raise TockmarkError(f"cannot read {what}{shown(path)}: {error.strerror}", todo) from error


@contextlib.contextmanager
def replaced_folder(out: Path) -> Iterator[Path]:
    """Give a new folder that takes the place of `out` once all is in it. TockmarkError if that
    cannot be; what was there before is untouched."""
    target = out.resolve()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(
            dir=target.parent, prefix=f".{target.name}.", ignore_cleanup_errors=True
        ) as beside:
            new, old = Path(beside) / "new", Path(beside) / "old"
            new.mkdir()
            yield new
            if target.exists():
                target.rename(old)
            try:
                new.rename(target)
            except OSError:
                if old.exists():
                    old.rename(target)
                raise
    except OSError as error:
        raise TockmarkError(
            f"cannot write {shown(out)}: {error.strerror}; what was there before is untouched",
            "make room or choose another place with -o",
        ) from error


def toml(text: str) -> dict[str, Any]:
    """Read TOML. ValueError, and no other error, if it cannot be read."""
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _start(path: Path) -> bytes:
    with reading(path), path.open("rb") as file:
        return file.read(LOOKED_AT)


def _named(form: str) -> str:
    """Return in words what has a format of ours."""
    return f"a {form.partition('-')[2]}"


def _kind(path: Path, content: str | bytes) -> str:
    """Return in words what a file is."""
    start = content.encode(errors="replace") if isinstance(content, str) else content
    found = _FORMAT.match(start)
    if found:
        return _named(found[1].decode())
    if not start:
        return "nothing"
    return "a log" if _LOG.search(start) else f"a file {path.suffix or 'without a suffix'}"


def is_device_or_pipe(path: Path) -> bool:
    """Return whether it is a device, a pipe or a socket, which is written to and never replaced."""
    return os.path.exists(path) and not (os.path.isfile(path) or os.path.isdir(path))


@contextlib.contextmanager
def temporary_folder(parent: Path) -> Iterator[Path]:
    """Yield a new folder in `parent`, removed at the end. What killed processes left goes first:
    whoever uses one holds a lock on it, which ends with its process."""
    try:
        parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise TockmarkError(
            f"cannot write {shown(parent)}: {error.strerror}", f"name a folder of yours with {HOME}"
        ) from error
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
    """Hold a lock on a folder. BlockingIOError if another process has it and `how` says not to
    wait."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, how)
        yield
    finally:
        os.close(handle)
