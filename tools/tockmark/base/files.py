# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Writing files safely, and temporary folders.

A file is written completely or not at all, and only over a file of its own type. Temporary folders
of killed processes are removed by the next process that makes one.
"""

import contextlib
import fcntl
import itertools
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from tockmark.base.errors import TockmarkError
from tockmark.base.paths import HOME, shown

LOOKED_AT = 1 << 20  # bytes of a file that are read to find its type

_FORMAT = re.compile(rb'\s*\{\s*"format"\s*:\s*"(tockmark-\w+)"')
_LOG = re.compile(rb"^(?:#tm \d|#boot )", re.MULTILINE)


def write_whole(contents: Mapping[Path, str | bytes]) -> None:
    """Write all files or none of them, also on a full disk; write directly to devices and pipes.

    TockmarkError, with nothing changed, if a file would replace one of another type
    (`check_writable`)."""
    check_writable(contents)
    replace_whole(contents)


def replace_whole(contents: Mapping[Path, str | bytes]) -> None:
    """Write files like `write_whole`, over files of any type: for the tool's own files."""
    new: dict[Path, Path] = {}
    path = Path()
    try:
        for path, content in contents.items():
            data = content if isinstance(content, bytes) else content.encode()
            if is_device_or_pipe(path):
                path.write_bytes(data)
            else:
                new[path] = _write_new(path.resolve(), data)
        for path in list(new):
            os.replace(new.pop(path), path.resolve())
    except OSError as error:
        untouched = "" if is_device_or_pipe(path) else "; the old file is unchanged"
        raise TockmarkError(
            f"cannot write {shown(path)}: {error.strerror}{untouched}",
            "free some space, or give another file",
        ) from error
    finally:
        for unused in new.values():
            unused.unlink(missing_ok=True)


def replace_unsynced(path: Path, data: bytes) -> None:
    """Write one file completely or not at all, without fsync: for data that can be made again.

    OSError if it cannot be written."""
    os.replace(_write_new(path, data, sync=False), path)


def _write_new(path: Path, data: bytes, sync: bool = True) -> Path:
    """Write a new file in the folder of `path`, with permissions by the umask; return its path.

    `sync` waits for the disk. After an error nothing of the file remains."""
    path.parent.mkdir(parents=True, exist_ok=True)
    for number in itertools.count():
        new = path.with_name(f".{path.name}.{os.getpid()}-{number}")
        try:
            with new.open("xb") as file:
                file.write(data)
                if sync:
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
    """Raise TockmarkError if a file would replace a file of another type.

    A document of the tool replaces only its own type, a log only the log of the result written with
    it, and any other file only a file with its suffix that is neither.

    Without contents, before there is anything to write, the type follows from `form` (such as
    `tockmark-latency`), or from the suffix (a result or not). Then the folders are also checked."""
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
            raise TockmarkError(f"{shown(path)}: it is a folder", "give the name of a file")
        with reading(path), path.open("rb") as file:
            old = _type_of(path, file.read(LOOKED_AT))
        new = "a result" if path.suffix == ".json" else old
        new = _named(form) if form is not None else new
        if isinstance(contents, Mapping):
            new = _type_of(path, contents[path][:LOOKED_AT])
        if path.suffix == ".log" and old != "nothing":
            result = path.with_suffix(".json")
            if old == "a log" and result in paths and result.is_file():
                continue
            raise TockmarkError(
                f"{shown(path)}: it exists, and is not the log of the result to write",
                "give another result",
            )
        if old not in ("nothing", new):
            raise TockmarkError(
                f"{shown(path)}: it exists and is {old}; {new} does not replace it",
                "give another file, or remove this one",
            )


def check_folder(folder: Path, path: Path | None = None) -> None:
    """Raise TockmarkError if a folder cannot be written to, or created.

    The message names `path`, or else the folder."""
    existing = folder.resolve()
    try:
        while not existing.exists():
            existing = existing.parent
        with tempfile.TemporaryFile(dir=existing):
            return
    except OSError as error:
        where = shown(path or folder)
        raise TockmarkError(
            f"cannot write {where}: {error.strerror}", "give another folder"
        ) from error


@contextlib.contextmanager
def reading(path: Path, todo: str = "", what: str = "") -> Iterator[None]:
    """Turn an OSError into a TockmarkError: the file cannot be read.

    `what` names the file's content, followed by a space."""
    try:
        yield
    except OSError as error:
        raise TockmarkError(f"cannot read {what}{shown(path)}: {error.strerror}", todo) from error


@contextlib.contextmanager
def replaced_folder(out: Path) -> Iterator[Path]:
    """Yield a new folder that replaces `out` at the end. After an error `out` is unchanged."""
    target = out.resolve()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(
            dir=target.parent, prefix=f".{target.name}.", ignore_cleanup_errors=True
        ) as scratch:
            new, old = Path(scratch) / "new", Path(scratch) / "old"
            new.mkdir()
            yield new
            if target.exists():
                target.rename(old)
            new.rename(target)
    except OSError as error:
        raise TockmarkError(
            f"cannot write {shown(out)}: {error.strerror}; the old folder is unchanged",
            "free some space, or give another folder",
        ) from error


def _named(form: str) -> str:
    """Return the name of a type of document: "a result"."""
    return f"a {form.partition('-')[2]}"


def _type_of(path: Path, content: str | bytes) -> str:
    """Return the type of a file in words."""
    start = content.encode(errors="replace") if isinstance(content, str) else content
    if match := _FORMAT.match(start):
        return _named(match[1].decode())
    if not start:
        return "nothing"
    return "a log" if _LOG.search(start) else f"a file {path.suffix or 'without a suffix'}"


def is_device_or_pipe(path: Path) -> bool:
    """Return whether a path is a device, pipe or socket, which is written to, never replaced."""
    return os.path.exists(path) and not (os.path.isfile(path) or os.path.isdir(path))


def check_ends(path: Path, todo: str) -> None:
    """Raise TockmarkError for a device, pipe or socket: reading it whole may never end."""
    if is_device_or_pipe(path):
        raise TockmarkError(f"{shown(path)} is not a file", todo)


@contextlib.contextmanager
def temporary_folder(parent: Path) -> Iterator[Path]:
    """Yield a new folder in `parent`, and remove it at the end.

    First remove the folders of killed processes. A process holds a lock on its folder, so a folder
    without a lock is not in use."""
    try:
        parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise TockmarkError(
            f"cannot write {shown(parent)}: {error.strerror}", f"set {HOME} to a writable folder"
        ) from error
    with contextlib.ExitStack() as stack:
        with _locked(parent, fcntl.LOCK_EX):  # no one removes ours before it is locked
            for old in parent.iterdir():
                if old.is_dir():
                    with contextlib.suppress(OSError), _locked(old, fcntl.LOCK_EX | fcntl.LOCK_NB):
                        shutil.rmtree(old, ignore_errors=True)
            new = tempfile.TemporaryDirectory(dir=parent, ignore_cleanup_errors=True)
            folder = Path(stack.enter_context(new))
            stack.enter_context(_locked(folder, fcntl.LOCK_EX))
        yield folder


@contextlib.contextmanager
def _locked(folder: Path, mode: int) -> Iterator[None]:
    """Hold a lock on a folder. With LOCK_NB, BlockingIOError if it is not free."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, mode)
        yield
    finally:
        os.close(handle)
