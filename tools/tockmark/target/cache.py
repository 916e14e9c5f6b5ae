# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The cache keeps what simulated boots printed, for whoever wants the very same boot again.

What a simulation prints follows from simulator, image and options, and a boot is kept by a hash of
these. So nothing here is ever out of date, and all of it may be deleted at any time. It is bounded:
what was not used for longest goes first.
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
from tockmark.base.files import read_plain, replace_unsynced
from tockmark.target.protocol import Replay, Session, Start, Target
from tockmark.wire.captured import Captured, Ending
from tockmark.wire.uart_line import parses_whole

VARIABLE = "TOCKMARK_CACHE"  # in the environment: another folder than build/cache, or "off"
LIMIT = 1 << 30  # bytes of all files together, counted in blocks
BLOCK = 4096  # bytes, which most disks give to a file as a whole
WRITTEN = 60.0  # seconds in which a file is surely whole, or its writer was killed
LARGEST = 1 << 26  # bytes of a boot, unpacked
LEFT = 0.9  # of LIMIT stays where some must go, so that not each new file has to make room


@dataclass
class Recorded:
    """A session under way that is kept if it ends of itself, its suite closed or its kernel in a
    panic, with no line torn. Others are simulated again whenever somebody looks for their cause."""

    session: Session
    keep: Callable[[Captured], None]
    said: list[str] = field(default_factory=list)
    _all: bool = False

    @property
    def cycles(self) -> int:
        return self.session.cycles

    def lines(self) -> Iterator[str]:
        for line in self.session.lines():
            self.said.append(line)
            yield line
        self._all = True

    def stop(self) -> None:
        self.session.stop()

    def ending(self) -> Ending:
        ending = self.session.ending()
        if self._all and (ending.why is None or ending.panicked):
            self._all = False  # once is enough
            if parses_whole(self.said):
                self.keep(Captured(self.said, ending=ending))
        return ending


@dataclass
class Cache:
    """A folder with a file for each boot, which several processes may use at a time."""

    folder: Path | None  # None: nothing is kept, and nothing found
    fresh: bool = False  # find nothing, but keep what comes
    limit: int = LIMIT
    _room: int = 0  # bytes that may be written before the files there are counted again
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _failed: bool = False

    def begin(self, target: Target, start: Start) -> Session:
        """Return the boot as it was, or begin it and keep it when it ends. TockmarkError if it
        cannot be started."""
        key = target.key(start) if self.folder is not None else None
        if key is None:  # nothing tells what it prints, as on a board
            return target.start(start)
        if (found := self.find(key)) is not None:
            return Replay(found)

        def keep(captured: Captured) -> None:
            if target.key(start) == key:  # else the simulator or the image was built anew meanwhile
                self.keep(key, captured)

        return Recorded(target.start(start), keep)

    def find(self, key: str) -> Captured | None:
        """Return the boot if it is there and whole, and count it as used now."""
        if self.fresh or self.folder is None:
            return None
        path = self.folder / key
        try:
            found = _opened(key, read_plain(path, LARGEST))
        except (OSError, ValueError, zlib.error, msgspec.MsgspecError):
            return None
        if found is None:
            return None
        with contextlib.suppress(OSError):
            os.utime(path, follow_symlinks=False)
        return found

    def keep(self, key: str, boot: Captured) -> None:
        """Keep a boot, if the disk takes it: else one line says why not, and all goes on."""
        if self.folder is None:
            return
        plain = msgspec.json.encode(boot)
        if len(plain) > LARGEST:
            return
        data = _sealed(key, zlib.compress(plain))
        with self._lock:
            try:
                if disk_size(len(data)) > self._room:
                    self._room = int(self.limit * LEFT) - self._bound()
                self._room -= disk_size(len(data))
                replace_unsynced(self.folder / key, data)
            except OSError as error:
                if not self._failed:
                    self._failed = True
                    why = one_line(f"{paths.shown(self.folder)}: {error.strerror}")
                    print_message(f"boots are not kept in {why}; results lose nothing")

    def entries(self) -> list[tuple[float, int, Path]]:
        """Return of each file when it was used last, its bytes on disk, and its path. One that may
        still be under way is left to its writer. OSError if the folder cannot be read."""
        found, now = [], time.time()
        with contextlib.suppress(FileNotFoundError), os.scandir(self.folder or "") as entries:
            for entry in entries:
                with contextlib.suppress(OSError):  # another process may have removed it
                    if entry.is_file(follow_symlinks=False):
                        about = entry.stat(follow_symlinks=False)
                        if entry.name.startswith(".") and about.st_mtime > now - WRITTEN:
                            continue
                        found.append((about.st_mtime, disk_size(about.st_size), Path(entry.path)))
        return found

    def clear(self) -> list[tuple[float, int, Path]]:
        """Remove all; return what was held. OSError if it cannot be done."""
        gone = self.entries()
        for _, _, path in gone:
            path.unlink(missing_ok=True)
        return gone

    def _bound(self) -> int:
        """Remove what was not used for longest, if there is too much; return the bytes left."""
        held = sorted(self.entries(), reverse=True)
        total = sum(size for _, size, _ in held)
        if total <= self.limit * LEFT:
            return total
        while held and total > self.limit * LEFT * LEFT:
            _, size, path = held.pop()
            path.unlink(missing_ok=True)
            total -= size
        return total


def default_cache(fresh: bool = False) -> Cache:
    """Return the cache that the environment names, or the checkout's."""
    place = os.environ.get(VARIABLE) or paths.CACHE
    if place == "off":
        return Cache(None, fresh)
    return Cache(Path(place).absolute(), fresh)


def disk_size(size: int) -> int:
    """Return the bytes that a file of this size takes."""
    return -(-size // BLOCK) * BLOCK


_MADE = b"tockmark boot 4"  # what a file is, and the form of it


def _sealed(key: str, body: bytes) -> bytes:
    """Return a file: a line with a hash of its name and its content, and then the boot."""
    digest = hashlib.sha256(_MADE + key.encode() + body).hexdigest().encode()
    return b"%s\n%s" % (digest, body)


def _opened(key: str, data: bytes) -> Captured | None:
    """Return the boot that a file holds; None if it is damaged, or does not parse whole. ValueError
    and its like if it has another form."""
    _, _, body = data.partition(b"\n")
    if data != _sealed(key, body):
        return None
    unpacking = zlib.decompressobj()
    plain = unpacking.decompress(body, LARGEST)
    if not unpacking.eof:
        return None
    boot = msgspec.json.decode(plain, type=Captured)
    odd = boot.ending is None or any("\n" in line for line in boot.lines)
    return None if odd or not parses_whole(boot.lines) else boot
