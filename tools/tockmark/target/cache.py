# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The cache of simulated boots.

What a simulation prints depends only on the simulator, the image and the options. The cache stores
the output of each boot under a hash of these, so an entry never becomes stale, and you may delete
all of them at any time. The cache has a size limit: the least recently used entries go first.
"""

import contextlib
import hashlib
import os
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from tockmark.base import paths
from tockmark.base.errors import one_line, print_message
from tockmark.base.files import replace_unsynced
from tockmark.target.protocol import Replay, Session, Start, Target
from tockmark.wire.captured import Captured, Ending
from tockmark.wire.uart_line import has_all_lines

CACHE_VARIABLE = "TOCKMARK_CACHE"  # in the environment: another folder than build/cache, or "off"
LIMIT = 1 << 30  # bytes of all files, in whole blocks
BLOCK = 4096  # bytes: the unit in which most disks allocate space
WRITE_SECONDS = 60.0  # after this, a temporary file is complete or its writer was killed
KEPT_SHARE = 0.9  # of LIMIT stays after an eviction, so that not every new file causes another


@dataclass
class RecordingSession:
    """A session that is stored at its end if its suite finished or its kernel panicked, with no
    damaged line. Other boots are simulated again, so that their cause can be investigated."""

    session: Session
    keep: Callable[[Captured], None]
    printed: list[str] = field(default_factory=list)
    _is_complete: bool = False

    @property
    def cycles(self) -> int:
        return self.session.cycles

    def lines(self) -> Iterator[str]:
        for line in self.session.lines():
            self.printed.append(line)
            yield line
        self._is_complete = True

    def stop(self) -> None:
        self.session.stop()

    def ending(self) -> Ending:
        ending = self.session.ending()
        if self._is_complete and (ending.why is None or ending.panicked):
            self._is_complete = False  # store it only once
            if has_all_lines(self.printed):
                self.keep(Captured(self.printed, ending=ending))
        return ending


@dataclass
class Cache:
    """A folder with one file per boot. Several processes may use it at the same time."""

    folder: Path | None  # None: the cache is off
    fresh: bool = False  # store boots, but do not return stored ones
    limit: int = LIMIT
    _room: int = 0  # bytes that may be written before the files are counted again
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _failed: bool = False

    def begin(self, target: Target, start: Start) -> Session:
        """Return a replay of the stored boot, or start the boot and store it when it ends.

        TockmarkError if the boot cannot be started."""
        key = target.key(start) if self.folder is not None else None
        if key is None:  # the output is not reproducible, as on a board
            return target.start(start)
        if (captured := self.find(key)) is not None:
            return Replay(captured)

        def keep(captured: Captured) -> None:
            if target.key(start) == key:  # else the simulator or the image was rebuilt meanwhile
                self.keep(key, captured)

        return RecordingSession(target.start(start), keep)

    def find(self, key: str) -> Captured | None:
        """Return a stored boot, and mark it as used now; None if it is missing or damaged."""
        if self.fresh or self.folder is None:
            return None
        path = self.folder / key
        try:
            captured = _read_file(key, path.read_bytes())
        except (OSError, ValueError, zlib.error):
            return None
        if captured is not None:
            with contextlib.suppress(OSError):
                os.utime(path, follow_symlinks=False)
        return captured

    def keep(self, key: str, boot: Captured) -> None:
        """Store a boot. If this fails, print one warning and continue."""
        if self.folder is None:
            return
        data = _sealed_file(key, zlib.compress(msgspec.json.encode(boot)))
        with self._lock:
            try:
                if disk_size(len(data)) > self._room:
                    self._room = int(self.limit * KEPT_SHARE) - self._evict()
                self._room -= disk_size(len(data))
                replace_unsynced(self.folder / key, data)
            except OSError as error:
                if not self._failed:
                    self._failed = True
                    why = one_line(f"{paths.shown(self.folder)}: {error.strerror}")
                    print_message(
                        f"boots are not cached in {why}. Results are not affected; to cache boots,"
                        f" free some space or name another folder with {CACHE_VARIABLE}."
                    )

    def entries(self) -> list[tuple[float, int, Path]]:
        """Return the last use, the bytes on disk and the path of each file, except temporary files
        that may still be written. OSError if the folder cannot be read."""
        files, now = [], time.time()
        with contextlib.suppress(FileNotFoundError), os.scandir(self.folder or "") as entries:
            for entry in entries:
                with contextlib.suppress(OSError):  # another process may have removed it
                    if entry.is_file(follow_symlinks=False):
                        about = entry.stat(follow_symlinks=False)
                        if entry.name.startswith(".") and about.st_mtime > now - WRITE_SECONDS:
                            continue
                        files.append((about.st_mtime, disk_size(about.st_size), Path(entry.path)))
        return files

    def clear(self) -> list[tuple[float, int, Path]]:
        """Remove all files, and return what they were. OSError if a file cannot be removed."""
        files = self.entries()
        for _, _, path in files:
            path.unlink(missing_ok=True)
        return files

    def _evict(self) -> int:
        """Remove the least recently used files if there are too many; return the bytes left."""
        files = sorted(self.entries(), reverse=True)
        total = sum(size for _, size, _ in files)
        if total <= self.limit * KEPT_SHARE:
            return total
        while files and total > self.limit * KEPT_SHARE * KEPT_SHARE:
            _, size, path = files.pop()
            path.unlink(missing_ok=True)
            total -= size
        return total


def default_cache(fresh: bool = False) -> Cache:
    """Return the cache in the folder that the environment names, or else in the checkout."""
    folder = os.environ.get(CACHE_VARIABLE) or paths.CACHE
    return Cache(None if folder == "off" else Path(folder).absolute(), fresh)


def disk_size(size: int) -> int:
    """Return the bytes that a file of this size takes on disk."""
    return -(-size // BLOCK) * BLOCK


_FORMAT = b"tockmark boot 4"  # of the files: part of their hash


def _sealed_file(key: str, body: bytes) -> bytes:
    """Return the content of a cache file: a line with the hash of key and body, then the body."""
    digest = hashlib.sha256(_FORMAT + key.encode() + body).hexdigest().encode()
    return b"%s\n%s" % (digest, body)


def _read_file(key: str, data: bytes) -> Captured | None:
    """Return the boot in a cache file; None if it is damaged or has torn lines. ValueError, among
    others, if its format is another."""
    _, _, body = data.partition(b"\n")
    if data != _sealed_file(key, body):
        return None
    boot = msgspec.json.decode(zlib.decompress(body), type=Captured)
    is_invalid = boot.ending is None or any("\n" in line for line in boot.lines)
    return None if is_invalid or not has_all_lines(boot.lines) else boot
