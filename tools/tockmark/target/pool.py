# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Boots that were simulated once and ended whole: a run of many layouts takes them from here, and
one that was interrupted goes on where it was.

A boot is known by all that decides what it prints, so nothing in the pool is ever out of date; it
may be deleted at any time.
"""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from tockmark.files import replace_whole

HEAD = "#pool"


@dataclass(frozen=True)
class Pooled:
    """What a boot printed on its UART, and how it ended."""

    lines: tuple[str, ...]  # without their newlines
    cycles: int
    panicked: bool = False

    def text(self) -> str:
        body = "".join(f"{line}\n" for line in self.lines)
        told = f"cycles={self.cycles} panicked={int(self.panicked)}"
        return f"{HEAD} {told} {_digest(told + body)}\n{body}"


@dataclass(frozen=True)
class Pool:
    """A folder with a file a boot."""

    folder: Path
    fresh: bool = False  # find nothing, but keep what comes

    def find(self, key: str) -> Pooled | None:
        """The boot, if it is there and undamaged."""
        if self.fresh:
            return None
        try:
            text = self._path(key).read_bytes().decode("latin-1")  # as the UART was read
        except OSError:
            return None
        head, _, body = text.partition("\n")
        match head.split(" "):
            case [word, cycles, panicked, digest] if word == HEAD:
                told = f"{cycles} {panicked}"
                if _digest(told + body) == digest:
                    lines = tuple(body.split("\n")[:-1])
                    return Pooled(lines, int(cycles.partition("=")[2]), panicked[-1] == "1")
        return None

    def keep(self, key: str, boot: Pooled) -> None:
        """Keep a boot. TockmarkError if it cannot be written."""
        replace_whole({self._path(key): boot.text().encode("latin-1")})

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}.log"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("latin-1")).hexdigest()
