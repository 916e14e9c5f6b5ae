# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A serial port: opened for this program alone, read in lines, and told when it is gone."""

import contextlib
import errno
import os
import stat
import termios

import serial

from tockmark.errors import TockmarkError

LONGEST = 512  # characters; what comes without an end is cut there
WAIT = 0.2  # seconds that a read waits for the first byte
_PIECE = 4096  # bytes of a read

_REASONS = {
    errno.ENOENT: ("is not there", "`ls /dev/tty*` shows the ports; is the cable in?"),
    errno.EACCES: ("may not be opened by you", "join the group that `ls -l` names, often dialout"),
    errno.EAGAIN: ("is in use", "end the program that has it open: `fuser` names it"),
    errno.EBUSY: ("is in use", "end the program that has it open: `fuser` names it"),
}


class GoneError(Exception):
    """The port is there no more: unplugged, or the other side closed it."""


class _Serial(serial.Serial):  # type: ignore[misc]
    """pyserial's, which would throw away what came before it was open: a boot's first lines."""

    def _reset_input_buffer(self) -> None:
        pass


class Port:
    """An open port. TockmarkError if it cannot be opened."""

    def __init__(self, path: str, baud: int) -> None:
        self.path = path
        self._rest = ""
        try:
            if not stat.S_ISCHR(os.stat(path).st_mode):
                raise _refused(path, None)
            self._port = _Serial(path, baud, timeout=WAIT, exclusive=True)
        except (ValueError, OverflowError) as error:
            raise TockmarkError(
                f"{path} cannot run at {baud} baud", "give a usual rate with --baud"
            ) from error
        except (OSError, termios.error) as error:  # serial.SerialException is an OSError
            raise _refused(path, getattr(error, "errno", None)) from error

    def read(self) -> tuple[list[str], int]:
        """The lines that have come (latin-1, without their ends), and how many bytes that took.
        Waits for the first byte, but not for long. GoneError if the port is."""
        try:
            data: bytes = self._port.read(1)
        except OSError as error:
            raise GoneError(self.path) from error
        with contextlib.suppress(OSError):  # the next call tells
            data += self._port.read(min(self._port.in_waiting, _PIECE)) if data else b""
        *lines, self._rest = (self._rest + data.decode("latin-1")).split("\n")
        *cut, self._rest = _pieces(self._rest)
        whole = [piece for line in lines for piece in _pieces(line.rstrip("\r"))]
        return whole + cut, len(data)

    def rest(self) -> list[str]:
        """What came behind the last end of a line, if anything did."""
        rest, self._rest = self._rest, ""
        return [rest] if rest else []

    def close(self) -> None:
        """Let others have it."""
        self._port.close()


def _pieces(line: str) -> list[str]:
    """A line, or what it is cut into."""
    return [line[at : at + LONGEST] for at in range(0, max(len(line), 1), LONGEST)]


def _refused(path: str, number: int | None) -> TockmarkError:
    what, todo = _REASONS.get(number or 0, ("is no serial port", "give one with --port /dev/tty…"))
    return TockmarkError(f"the port {path} {what}", todo)
