# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A board is heard here behind its serial port, or the simulator behind a pseudo-terminal.

A port is opened for this program alone, and read in lines until it is gone.
"""

import contextlib
import errno
import os
import stat
import sys
import termios
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Self

import msgspec
import serial

from tockmark.base.errors import TockmarkError
from tockmark.target import sim
from tockmark.target.protocol import Ability, Start, target_fields
from tockmark.target.watch import PANICKED, Watch
from tockmark.wire.captured import Ending

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
    """Says that the port is there no more: unplugged, or the other side closed it."""


class _Serial(serial.Serial):  # type: ignore[misc]
    """Keeps what came before it was open, a boot's first lines, which pyserial throws away."""

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
        """Return the lines that have come (latin-1, without their ends), and how many bytes they
        took. Waits for the first byte, but not for long. GoneError if the port is gone."""
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
        """Return what came behind the last end of a line, if anything did."""
        rest, self._rest = self._rest, ""
        return [rest] if rest else []

    def close(self) -> None:
        """Let others have it."""
        self._port.close()


def _pieces(line: str) -> list[str]:
    """Cut a line that is too long."""
    return [line[at : at + LONGEST] for at in range(0, max(len(line), 1), LONGEST)]


def _refused(path: str, number: int | None) -> TockmarkError:
    what, todo = _REASONS.get(number or 0, ("is no serial port", "give one with --port /dev/tty…"))
    return TockmarkError(f"the port {path} {what}", todo)


Positive = Annotated[int, msgspec.Meta(ge=1)]

BITS_PER_BYTE = 10  # on the line: start, eight, stop
BY_HAND_S = 900  # a boot that a person is asked to load begins within so many seconds
PANIC_S = 3  # in which a kernel has said why it panicked
RESETS = 10  # in the middle of a boot, after which it will not end
RETRY_S = 0.5  # between two looks for a port that is gone


class SerialTarget(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Says how to talk to a board, as its profile has it."""

    icache: bool
    baud: Positive
    silence_s: Positive  # without a record, or without its port, end a boot
    port: str | None = None
    simulator: sim.SimTarget | None = None  # that is the board

    @property
    def can(self) -> frozenset[Ability]:
        if self.simulator is None:
            return frozenset({Ability.CYCLES})
        return self.simulator.can - {Ability.MARKS, Ability.RETIREMENT}

    def check_ready(self) -> None:
        if self.simulator is not None:
            self.simulator.check_ready()
        elif self.port is None:
            raise TockmarkError("no port is named", "give the board's with --port /dev/tty…")
        else:
            Port(self.port, self.baud).close()

    def configured(self, options: Mapping[str, object]) -> Self:
        if self.simulator is not None:
            simulator = self.simulator.configured(options)
            return msgspec.structs.replace(self, simulator=simulator)
        return msgspec.structs.replace(
            self, **target_fields(options, {"port": "port", "baud": "baud"}, "serial")
        )

    def key(self, start: Start) -> None:
        """Return None: a board never prints the same twice for certain."""

    def start(self, start: Start) -> "SerialSession":
        if self.simulator is not None:
            simulation = self.simulator.start_here(start, "--uart", "pty")
            path = simulation.terminal()
            return SerialSession(self, start, Port(path, self.baud), self.silence_s, simulation)
        assert self.port is not None  # check_ready() ensures it
        port = Port(self.port, self.baud)
        try:
            by_hand = start.load is not None and not start.load()
        except BaseException:
            port.close()
            raise
        return SerialSession(self, start, port, BY_HAND_S if by_hand else self.silence_s)

    def provenance(self, clock_hz: int) -> dict[str, object]:
        if self.simulator is not None:
            return self.simulator.provenance(clock_hz)
        return {"uart_cycles_per_byte": round(BITS_PER_BYTE * clock_hz / self.baud)}


@dataclass
class SerialSession:
    """One boot on a board. It is over when its suite is, or when nothing more is to be expected."""

    target: SerialTarget
    start: Start
    port: Port
    first_s: float  # within which it begins
    simulation: sim.Simulation | None = None
    watch: Watch = field(init=False)
    _bytes: int = 0
    _heard: float = 0  # when it last said something that counts
    _stopped: bool = False
    _done: bool = False
    _why: str | None = None  # it is over, though its suite is not
    _said: str | None = None  # of another boot, on stderr

    def __post_init__(self) -> None:
        self.watch = Watch(self.start.image, self.start.reporter)

    @property
    def cycles(self) -> int:
        return self.simulation.cycles if self.simulation else 0

    def stop(self) -> None:
        self._stopped = not self._done
        if self.simulation is not None:
            self.simulation.stop()

    def lines(self) -> Iterator[str]:
        self._heard = time.monotonic()
        try:
            while not (self._stopped or self._done):
                yield from self._more()
        finally:
            self._done = True
            self.port.close()

    def ending(self) -> Ending:
        """Only a simulator says that it is idle: the silence of a board has many causes."""
        of_simulator = self.simulation.ending() if self.simulation else Ending()
        why = of_simulator.why
        if why is None and self.watch.panic:
            why = f"{PANICKED}: {self.watch.panic}"
        if why is None and (self._stopped or not self.watch.over):
            why = self._why or "it was stopped before its end"
        ours = self.watch.began or self.simulation is not None
        return Ending(
            why,
            of_simulator.cycles,
            panicked=ours and self.watch.panic is not None,
            idle=of_simulator.idle,
            killed=self._stopped or of_simulator.killed,
        )

    def _more(self) -> Iterator[str]:
        """Yield what comes next; or nothing, and whether to go on is settled."""
        try:
            lines, count = self.port.read()
        except GoneError:
            yield from self._taken(self.port.rest())
            self._done = self.watch.over or not self._is_back()
            return
        now = time.monotonic()
        self._bytes += count
        before = self.watch.records, self.watch.panic
        yield from self._taken(lines)
        if before != (self.watch.records, self.watch.panic):  # noise is no sign of a boot
            self._heard = now
        # A simulator ends by itself, once all that it printed was read.
        if self.watch.over and self.simulation is None:
            self._done = True
        elif self.watch.resets > RESETS:
            times = self.watch.resets
            self._why, self._done = f"it was reset {times} times; is its power steady?", True
        elif now - self._heard >= self._patience:
            yield from self._taken(self.port.rest())
            self._why, self._done = self._silence(now - self._heard), True

    def _taken(self, lines: list[str]) -> Iterator[str]:
        for line in lines:
            yield from self.watch.take(line)
            if self.watch.over and self.simulation is None:
                return
            if self.watch.other not in (None, self._said):
                self._said = self.watch.other
                _say(f"this is the boot {self._said}: load {self.start.boot}")

    @property
    def _patience(self) -> float:
        """How many seconds without a record end the boot. A panic before it began may be of the
        boot that was there before."""
        if not self.watch.began:
            return self.first_s
        return PANIC_S if self.watch.panic else self.target.silence_s

    def _is_back(self) -> bool:
        """Wait for a port that is gone, saying so once; return whether it comes back in time."""
        self.port.close()
        if self.simulation is not None:
            self._why = "the simulator ended before the suite did"
            return False
        patience = self.target.silence_s
        _say(f"the port {self.port.path} is gone: plug it in again within {patience} s")
        until = time.monotonic() + patience
        while not self._stopped and time.monotonic() < until:
            time.sleep(RETRY_S)
            try:
                self.port = Port(self.port.path, self.target.baud)
            except TockmarkError:
                continue
            self._heard = time.monotonic()
            return True
        self._why = (
            f"the port {self.port.path} was gone for {patience} s;"
            " plug it in and go on with --resume"
        )
        return False

    def _silence(self, seconds: float) -> str:
        """Say why no more records came, as far as what did come tells."""
        watch, boot, rate = self.watch, self.start.boot, self.target.baud
        silent = f"{'no record' if self._bytes else 'silent'} for {seconds:.0f} s"
        if watch.records:
            return f"{silent} behind {watch.records} records; load or reset it, then --resume"
        if watch.other is not None:
            return f"this is the boot {watch.other}; load {boot}"
        if not self._bytes:
            return f"{silent}; is this the board's port, is it on, was {boot} loaded?"
        if watch.noise > watch.messages:
            return f"only noise came; is {rate} baud the rate of this kernel? --baud sets another"
        return (
            f"{silent}, and before it only the kernel spoke; was {boot} loaded, and has this"
            " kernel a console and Perf?"
        )


def _say(what: str) -> None:
    """Tell the person at the board."""
    print(f"tockmark: {what}", file=sys.stderr, flush=True)


Target = SerialTarget
