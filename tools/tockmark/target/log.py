# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A captured log as the target of a run.

Nothing is run. Each boot prints what the log has for its image.
"""

import os
import re
import stat
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import msgspec

from tockmark.base.errors import TockmarkError
from tockmark.base.files import reading
from tockmark.base.paths import shown
from tockmark.target.protocol import Ability, Start, target_fields
from tockmark.target.watch import PANICKED, Watch
from tockmark.wire.captured import Ending
from tockmark.wire.uart_line import BOOT_MARKS

RECENT = 2.0  # seconds: a file that was written to within these is checked twice
LOOK = 0.3  # seconds between the two checks: some 3400 bytes at 115200 baud


class FileTarget(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A log, and the instruction-cache setting that it was captured with."""

    log: Path
    icache: bool

    @property
    def can(self) -> frozenset[Ability]:
        return frozenset({Ability.CYCLES})

    def check_ready(self) -> None:
        check_settled(self.log)
        read_log(self.log)

    def configured(self, options: Mapping[str, object]) -> Self:
        return msgspec.structs.replace(self, **target_fields(options, {"log": "log"}, "log"))

    def key(self, start: Start) -> None:
        """Return None: a cache entry would only copy the log."""

    def start(self, start: Start) -> "FileSession":
        lines = read_log(self.log).split("\n")
        return FileSession(start, lines, Watch(start.image, start.reporter))

    def provenance(self, clock_hz: int) -> dict[str, object]:
        return {}


@dataclass
class FileSession:
    """One boot of the log: the lines of its image."""

    start: Start
    text: list[str]
    watch: Watch
    cycles = 0
    _stopped: bool = False

    @property
    def _panicked(self) -> bool:
        return self.watch.began and self.watch.panic is not None

    def lines(self) -> Iterator[str]:
        for line in () if self._stopped else self.text:
            if not line.startswith(BOOT_MARKS):
                yield from self.watch.take(line.rstrip("\r"))
            if self.watch.over:
                return

    def stop(self) -> None:
        self._stopped = True

    def _absent(self) -> str:
        """Return why no line of the log is from this boot."""
        images = set(re.findall(r" image=([0-9a-f]{8})", "\n".join(self.text)))
        if images and self.start.image not in images:
            return (
                f"the log is of other images ({', '.join(sorted(images))}), not {self.start.image}"
            )
        return "the boot is not in the log"

    def ending(self) -> Ending:
        watch = self.watch
        if watch.over:
            return Ending(panicked=self._panicked)
        why = "the log ends before this boot does" if watch.began else self._absent()
        if self._panicked:
            why = f"{PANICKED}: {watch.panic}"
        return Ending(why, panicked=self._panicked)


def check_settled(log: Path) -> None:
    """Raise a TockmarkError if a log is being written: half of it would pass for the whole.

    A log that was not written to recently is checked without delay."""
    try:
        before = log.stat()
        if time.time() - before.st_mtime < RECENT and stat.S_ISREG(before.st_mode):
            time.sleep(LOOK)
            _check_unchanged(log, before, log.stat())
    except OSError:
        return  # reading it reports the cause


def read_log(log: Path) -> str:
    """Return the text of a log. TockmarkError if it cannot be read, or grows meanwhile."""
    with reading(log), log.open("rb") as file:
        before = os.fstat(file.fileno())
        data = file.read()
        _check_unchanged(log, before, os.fstat(file.fileno()))
    # A damaged log may hold any byte. Latin-1 decodes all of them, and the CRC finds the damage.
    return data.decode("latin-1")


def _check_unchanged(log: Path, before: os.stat_result, after: os.stat_result) -> None:
    if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
        raise TockmarkError(
            f"{shown(log)} is still growing", "wait until it is complete, or stop its writer"
        )


Target = FileTarget
