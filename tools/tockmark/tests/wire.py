# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A simulated board: a pseudo-terminal with a writer, and a simulated clock."""

import array
import fcntl
import os
import pty
import select
import termios
import threading
import tty
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tockmark.target import serial
from tockmark.target import serial as ports
from tockmark.target.protocol import Start

SOON = 0.02  # seconds that a read waits


class Wire:
    """A writer of pieces of bytes, one after the other. A piece may also be a function to call."""

    def __init__(self, pieces: Sequence[bytes | Callable[[], None]]) -> None:
        self.master, self.slave = pty.openpty()
        tty.setraw(self.slave)
        self.port = os.ttyname(self.slave)
        self._pieces = pieces
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._write, daemon=True)
        self._thread.start()

    def _write(self) -> None:
        for piece in self._pieces:
            if callable(piece):
                piece()
            while not callable(piece) and piece and not self._closing.is_set():
                if select.select([], [self.master], [], SOON)[1]:
                    piece = piece[os.write(self.master, piece) :]

    def is_silent(self) -> bool:
        """Return whether everything was written and read. The kernel may deliver more a moment
        later, so check several times."""
        return not self._thread.is_alive() and not any(self._unread() for _ in range(5))

    def _unread(self) -> int:
        select.select([self.slave], [], [], 0.001)
        count = array.array("i", [0])
        fcntl.ioctl(self.slave, termios.FIONREAD, count)
        return count[0]

    def close(self) -> None:
        """Close both sides after the writer has ended."""
        self._closing.set()
        self._thread.join()
        for side in (self.slave, self.master):
            os.close(side)


class Clock:
    """A clock for timeouts. Each reading adds an hour once the wire is silent."""

    def __init__(self, is_silent: Callable[[], bool]) -> None:
        self.is_silent = is_silent
        self.now = 0.0

    def monotonic(self) -> float:
        self.now += 3600 if self.is_silent() else 0
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@contextmanager
def session(
    monkeypatch: pytest.MonkeyPatch,
    pieces: Sequence[bytes | Callable[[], None]],
    image: str | None = None,
    boot: str = "loop",
) -> Iterator[serial.SerialSession]:
    """Return a session with a board that sends these pieces."""
    with monkeypatch.context() as patch, closing(Wire(pieces)) as wire:
        patch.setattr(serial, "time", Clock(wire.is_silent))
        patch.setattr(ports, "WAIT", SOON)
        target = serial.SerialTarget(icache=True, baud=115_200, silence_s=60, port=wire.port)
        yield target.start(Start(boot, Path("x.flash"), True, image=image, boot=boot))
