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
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from tockmark import paths
from tockmark.documents import Count
from tockmark.errors import one_line, say
from tockmark.files import read_plain, replace_soon
from tockmark.rig.protocol import Session, Start, Target
from tockmark.wire.uart_line import parses_whole

PLACE = "TOCKMARK_CACHE"  # in the environment: another folder than build/cache, or "off"
LIMIT = 1 << 30  # bytes of all files together, counted in blocks
BLOCK = 4096  # bytes, which most disks give to a file as a whole
WRITTEN = 60.0  # seconds in which a file is surely whole, or its writer was killed
LARGEST = 1 << 26  # bytes of a boot, unpacked
LEFT = 0.9  # of LIMIT stays where some must go, so that not each new file has to make room


class CachedBoot(msgspec.Struct, frozen=True):
    """A boot as it is kept: what it printed on its UART, and how it ended. It is a session of which
    all is there at once."""

    printed: tuple[str, ...] = msgspec.field(name="lines")  # without their newlines
    cycles: Count
    why: str | None = msgspec.field(default=None, name="ending")
    panicked: bool = False
    host: str | None = None
    idle = killed = False  # such boots are not kept

    def lines(self) -> Iterator[str]:
        yield from self.printed

    def stop(self) -> None:
        pass

    def ending(self) -> str | None:
        return self.why


@dataclass
class Recorded:
    """A session under way that is kept if it ends of itself, its suite closed or its kernel in a
    panic, with no line torn. Others are simulated again whenever somebody looks for their cause."""

    session: Session
    cache: "Cache"
    target: Target
    start: Start
    key: str
    said: list[str] = field(default_factory=list)
    _all: bool = False

    @property
    def cycles(self) -> int:
        return self.session.cycles

    @property
    def host(self) -> str | None:
        return self.session.host

    @property
    def panicked(self) -> bool:
        return self.session.panicked

    @property
    def idle(self) -> bool:
        return self.session.idle

    @property
    def killed(self) -> bool:
        return self.session.killed

    def lines(self) -> Iterator[str]:
        for line in self.session.lines():
            self.said.append(line)
            yield line
        self._all = True

    def stop(self) -> None:
        self.session.stop()

    def ending(self) -> str | None:
        ending = self.session.ending()
        if self._all and (ending is None or self.panicked):
            self._all = False  # once is enough
            # Who builds anew while it runs may have replaced what the key was made of.
            if parses_whole(self.said) and self.target.key(self.start) == self.key:
                printed = tuple(self.said)
                kept = CachedBoot(printed, self.cycles, ending, self.panicked, self.host)
                self.cache.keep(self.key, kept)
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
        return self.find(key) or Recorded(target.start(start), self, target, start, key)

    def find(self, key: str) -> CachedBoot | None:
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

    def keep(self, key: str, boot: CachedBoot) -> None:
        """Keep a boot, if the disk takes it: else one line says why not, and all goes on."""
        if self.folder is None:
            return
        plain = msgspec.json.encode(boot)
        if len(plain) > LARGEST:
            return
        data = _sealed(key, zlib.compress(plain))
        with self._lock:
            try:
                if on_disk(len(data)) > self._room:
                    self._room = int(self.limit * LEFT) - self._bound()
                self._room -= on_disk(len(data))
                replace_soon(self.folder / key, data)
            except OSError as error:
                if not self._failed:
                    self._failed = True
                    why = one_line(f"{paths.shown(self.folder)}: {error.strerror}")
                    say(f"boots are not kept in {why}; results lose nothing")

    def held(self) -> list[tuple[float, int, Path]]:
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
                        found.append((about.st_mtime, on_disk(about.st_size), Path(entry.path)))
        return found

    def clear(self) -> list[tuple[float, int, Path]]:
        """Remove all; return what was held. OSError if it cannot be done."""
        gone = self.held()
        for _, _, path in gone:
            path.unlink(missing_ok=True)
        return gone

    def _bound(self) -> int:
        """Remove what was not used for longest, if there is too much; return the bytes left."""
        held = sorted(self.held(), reverse=True)
        total = sum(size for _, size, _ in held)
        if total <= self.limit * LEFT:
            return total
        while held and total > self.limit * LEFT * LEFT:
            _, size, path = held.pop()
            path.unlink(missing_ok=True)
            total -= size
        return total


def default(fresh: bool = False) -> Cache:
    """Return the cache that the environment names, or the checkout's."""
    place = os.environ.get(PLACE) or paths.CACHE
    if place == "off":
        return Cache(None, fresh)
    return Cache(Path(place).absolute(), fresh)


def on_disk(size: int) -> int:
    """Return the bytes that a file of this size takes."""
    return -(-size // BLOCK) * BLOCK


_MADE = b"tockmark boot 3"  # what a file is, and the form of it


def _sealed(key: str, body: bytes) -> bytes:
    """Return a file: a line with a hash of its name and its content, and then the boot."""
    digest = hashlib.sha256(_MADE + key.encode() + body).hexdigest().encode()
    return b"%s\n%s" % (digest, body)


def _opened(key: str, data: bytes) -> CachedBoot | None:
    """Return the boot that a file holds; None if it is damaged, or does not parse whole. ValueError
    and its like if it has another form."""
    _, _, body = data.partition(b"\n")
    if data != _sealed(key, body):
        return None
    unpacking = zlib.decompressobj()
    plain = unpacking.decompress(body, LARGEST)
    if not unpacking.eof:
        return None
    boot = msgspec.json.decode(plain, type=CachedBoot)
    if any("\n" in line for line in boot.printed) or not parses_whole(boot.printed):
        return None
    return boot
