# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A board behind its serial port, or the simulator behind a pseudo-terminal, as a target.

The tool opens the port for itself alone and reads lines from it until the boot is over. If the port
disappears, it waits for it to come back.
"""

import contextlib
import errno
import os
import stat
import termios
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Self

import msgspec
import serial

from tockmark.base.documents import Positive
from tockmark.base.errors import TockmarkError, print_message
from tockmark.target import sim
from tockmark.target.protocol import Ability, Start, target_fields
from tockmark.target.watch import PANICKED, Watch
from tockmark.wire.captured import Ending

LONGEST = 512  # characters: a longer line is cut into pieces
WAIT = 0.2  # seconds that a read waits for the first byte
_PIECE = 4096  # bytes of a read

_REASONS = {
    errno.ENOENT: ("does not exist", "plug in the board, or look for its port: `ls /dev/tty*`"),
    errno.EACCES: ("may not be opened by you", "join the group that `ls -l` shows, often dialout"),
    errno.EAGAIN: ("is in use", "end the program that has it open: `fuser` names it"),
    errno.EBUSY: ("is in use", "end the program that has it open: `fuser` names it"),
}


class PortGoneError(Exception):
    """The port has disappeared: it was unplugged, or the other side closed it."""


class _Serial(serial.Serial):  # type: ignore[misc]
    """A port that keeps what arrived before it was opened: the first lines of a boot."""

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
                f"{path} does not support {baud} baud", "give a usual rate with --baud"
            ) from error
        except (OSError, termios.error) as error:  # serial.SerialException is an OSError
            raise _refused(path, getattr(error, "errno", None)) from error

    def read(self) -> tuple[list[str], int]:
        """Return the lines that have arrived (latin-1, without newlines), and their bytes.

        Waits a moment for the first byte. PortGoneError if the port has disappeared."""
        try:
            data: bytes = self._port.read(1)
        except OSError as error:
            raise PortGoneError(self.path) from error
        with contextlib.suppress(OSError):  # the next call reports it
            data += self._port.read(min(self._port.in_waiting, _PIECE)) if data else b""
        *lines, self._rest = (self._rest + data.decode("latin-1")).split("\n")
        *cut, self._rest = _pieces(self._rest)
        whole = [piece for line in lines for piece in _pieces(line.rstrip("\r"))]
        return whole + cut, len(data)

    def rest(self) -> list[str]:
        """Return the text after the last newline, if any."""
        rest, self._rest = self._rest, ""
        return [rest] if rest else []

    def close(self) -> None:
        """Close the port."""
        self._port.close()


def _pieces(line: str) -> list[str]:
    """Cut a line into pieces of at most LONGEST characters."""
    return [line[at : at + LONGEST] for at in range(0, max(len(line), 1), LONGEST)]


def _refused(path: str, number: int | None) -> TockmarkError:
    unknown = "is not a serial port", "give one with --port /dev/tty…"
    problem, todo = _REASONS.get(number or 0, unknown)
    return TockmarkError(f"the port {path} {problem}", todo)


BITS_PER_BYTE = 10  # on the line: a start bit, eight data bits, a stop bit
BY_HAND_S = 900  # in which a boot must begin that a person is asked to load
PANIC_S = 3  # in which a kernel prints its panic
RESETS = 10  # more of them during a boot end it
RETRY_S = 0.5  # between two attempts to open a port that has disappeared


class SerialTarget(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The connection to a board, as its profile describes it."""

    icache: bool
    baud: Positive
    silence_s: Positive  # a boot ends after this time without a record, or without its port
    port: str | None = None
    simulator: sim.SimTarget | None = None  # takes the role of the board

    @property
    def can(self) -> frozenset[Ability]:
        if self.simulator is None:
            return frozenset({Ability.CYCLES})
        return self.simulator.can - {Ability.MARKS, Ability.RETIREMENT}

    def check_ready(self) -> None:
        if self.simulator is not None:
            self.simulator.check_ready()
        elif self.port is None:
            raise TockmarkError("no port is given", "give the board's with --port /dev/tty…")
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
        """Return None: the output of a board is not reproducible."""

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
    """One boot on a board. It ends with its suite, or when nothing more can be expected."""

    target: SerialTarget
    start: Start
    port: Port
    first_s: float  # time limit for its first record
    simulation: sim.Simulation | None = None
    watch: Watch = field(init=False)
    _bytes: int = 0
    _last_record: float = 0  # time of the last record or panic
    _stopped: bool = False
    _done: bool = False
    _why: str | None = None  # why it ended before its suite
    _reported_boot: str | None = None  # another boot that was reported

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
        self._last_record = time.monotonic()
        try:
            while not (self._stopped or self._done):
                yield from self._more()
        finally:
            self._done = True
            self.port.close()

    def ending(self) -> Ending:
        """Return how it ended. Only a simulator is ever idle: a silent board has many causes."""
        of_simulator = self.simulation.ending() if self.simulation else Ending()
        why = of_simulator.why
        if why is None and self.watch.panic:
            why = f"{PANICKED}: {self.watch.panic}"
        if why is None and (self._stopped or not self.watch.over):
            why = self._why or "the boot was stopped before its end"
        ours = self.watch.began or self.simulation is not None
        return Ending(
            why,
            of_simulator.cycles,
            panicked=ours and self.watch.panic is not None,
            idle=of_simulator.idle,
            killed=self._stopped or of_simulator.killed,
        )

    def _more(self) -> Iterator[str]:
        """Yield the lines that arrive next, and decide whether the boot is over."""
        try:
            lines, count = self.port.read()
        except PortGoneError:
            yield from self._log_lines(self.port.rest())
            self._done = self.watch.over or not self._reopen()
            return
        now = time.monotonic()
        self._bytes += count
        before = self.watch.records, self.watch.panic
        yield from self._log_lines(lines)
        if before != (self.watch.records, self.watch.panic):  # noise does not count
            self._last_record = now
        # A simulator ends by itself, when all that it printed has been read.
        if self.watch.over and self.simulation is None:
            self._done = True
        elif self.watch.resets > RESETS:
            times = self.watch.resets
            self._why = f"the board was reset {times} times during the boot; check its power supply"
            self._done = True
        elif now - self._last_record >= self._patience:
            yield from self._log_lines(self.port.rest())
            self._why, self._done = self._silence_cause(now - self._last_record), True

    def _log_lines(self, lines: list[str]) -> Iterator[str]:
        for line in lines:
            yield from self.watch.take(line)
            if self.watch.over and self.simulation is None:
                return
            if self.watch.other_boot not in (None, self._reported_boot):
                self._reported_boot = self.watch.other_boot
                print_message(f"this is the boot {self._reported_boot}: load {self.start.boot}")

    @property
    def _patience(self) -> float:
        """The seconds without a record after which the boot ends. A panic before it begins may
        come from the boot before."""
        if not self.watch.began:
            return self.first_s
        return PANIC_S if self.watch.panic else self.target.silence_s

    def _reopen(self) -> bool:
        """Wait for a port that has disappeared; return whether it came back in time."""
        self.port.close()
        if self.simulation is not None:
            self._why = "the simulator ended before the suite did"
            return False
        patience = self.target.silence_s
        print_message(
            f"the port {self.port.path} has disappeared: plug it in again within {patience} s"
        )
        until = time.monotonic() + patience
        while not self._stopped and time.monotonic() < until:
            time.sleep(RETRY_S)
            try:
                self.port = Port(self.port.path, self.target.baud)
            except TockmarkError:
                continue
            self._last_record = time.monotonic()
            return True
        self._why = (
            f"the port {self.port.path} was missing for {patience} s;"
            " plug it in and continue with --resume"
        )
        return False

    def _silence_cause(self, seconds: float) -> str:
        """Return the likely reason why no more records came."""
        watch, boot, rate = self.watch, self.start.boot, self.target.baud
        silent = f"{'no record' if self._bytes else 'silent'} for {seconds:.0f} s"
        if watch.records:
            return f"{silent} after {watch.records} records; load or reset it, then use --resume"
        if watch.other_boot is not None:
            return f"this is the boot {watch.other_boot}; load {boot}"
        if not self._bytes:
            return (
                f"{silent}; check that this is the board's port, that the board is on, and that"
                f" {boot} was loaded"
            )
        if watch.noise > watch.messages:
            return f"only noise arrived at {rate} baud; give the rate of this kernel with --baud"
        return (
            f"{silent}, and before that only kernel messages; check that {boot} was loaded, and"
            " that this kernel has a console and Perf"
        )


Target = SerialTarget
