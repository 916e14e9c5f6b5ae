# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The simulator behind a pseudo-terminal (--uart pty): no byte is altered or lost, and a
signal always ends it. tockloader reads it like a board."""

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from test_simulator import CC, LINK, MAILBOX, SIMULATOR, START, STOP

PATIENCE = 60  # seconds; the machine may be busy
LINES = 12_000  # more than the buffers of a pseudo-terminal

# Sends every value of a byte through the UART, and ends when the last is sent.
BYTES = f"""
{START}
    li   a0, 0x40000000
    li   t0, 1
    sw   t0, 0x10(a0)
    li   t2, 256
1:  lw   t1, 0x14(a0)
    andi t1, t1, 1
    bnez t1, 1b
    sw   t0, 0x1c(a0)
    addi t0, t0, 1
    addi t2, t2, -1
    bnez t2, 1b
2:  lw   t1, 0x14(a0)
    andi t1, t1, 8
    beqz t1, 2b
{STOP}
"""
# Sends numbers through the mailbox: a line takes a few cycles.
NUMBERS = f"""
{START}
    li   t0, 1000000
    li   t1, {1_000_000 + LINES}
1:  sw   t0, 0(gp)
    addi t0, t0, 1
    bne  t0, t1, 1b
{STOP}
"""


class Started:
    """A simulator behind a pseudo-terminal that has printed its port."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        word, self.port = self.next_line().split("uart ")
        assert word == "earlgrey-sim: "

    def next_line(self) -> str:
        """Wait for its next line on standard error."""
        assert self.process.stderr is not None
        assert select.select([self.process.stderr], [], [], PATIENCE)[0]
        return self.process.stderr.readline().rstrip("\n")

    def is_blocked(self) -> bool:
        """Return whether it sleeps, waiting for a client; it never sleeps while it simulates."""
        stat = Path(f"/proc/{self.process.pid}/stat").read_text(encoding="ascii")
        return stat.rpartition(")")[2].split()[0] == "S"

    def end(self, sent: int) -> None:
        """Send the signal, and check that it ends the process."""
        assert self.process.poll() is None
        self.process.send_signal(sent)
        assert self.process.wait(PATIENCE) == -sent


@contextmanager
def started(folder: Path, source: str, *options: str, uart: str = "pty") -> Iterator[Started]:
    program, elf = folder / "program.S", folder / "program.elf"
    program.write_text(source)
    subprocess.run([*CC, *LINK, str(program), "-o", str(elf)], check=True)
    command = [str(SIMULATOR), "--elf", str(elf), "--boot", "0x20000400", "--uart", uart]
    command += ["--mailbox", hex(MAILBOX), "--max-cycles", "1000000", *options]
    # Unbuffered reads of standard error, so that select reports every line.
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, bufsize=1) as process:
        try:
            yield Started(process)
        finally:
            process.kill()


def open_port(port: str) -> int:
    return os.open(port, os.O_RDWR | os.O_NOCTTY)


def read(fd: int, most: int = sys.maxsize, end: bytes | None = None) -> bytes:
    """Read until there are `most` bytes, or they end with `end`, or the other side closes."""
    received = b""
    while len(received) < most and not (end and received.endswith(end)):
        assert select.select([fd], [], [], PATIENCE)[0], f"silent after {received[-1000:]!r}"
        try:
            more = os.read(fd, min(4096, most - len(received)))
        except OSError:  # EIO: it is closed
            break
        if not more:
            break
        received += more
    return received


def test_every_byte_arrives_unaltered(tmp_path: Path) -> None:
    """ENQ (5) to the newline is a request to the other end of the line."""
    with started(tmp_path, BYTES) as simulator:
        fd = open_port(simulator.port)
        assert read(fd) == bytes([*range(1, 5), *range(11, 256), 0])
        os.close(fd)
        assert simulator.process.wait(PATIENCE) == 0
        assert simulator.next_line().startswith("earlgrey-sim: end reason=suite-closed")


def test_a_client_may_connect_late_and_reconnect(tmp_path: Path) -> None:
    with started(tmp_path, NUMBERS) as simulator:
        received = b""
        for most in (1, 5000, 50_000, sys.maxsize):
            time.sleep(0.2)
            fd = open_port(simulator.port)
            received += read(fd, most)
            os.close(fd)
        assert received == b"".join(b"%d\n" % n for n in range(1_000_000, 1_000_000 + LINES))
        assert simulator.process.wait(PATIENCE) == 0


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_while_nobody_reads(sent: int, tmp_path: Path) -> None:
    link = tmp_path / "port"
    with started(tmp_path, NUMBERS, uart=f"pty:{link}") as simulator:
        assert os.readlink(link) == simulator.port
        since = time.monotonic()
        while time.monotonic() < since + 0.5:  # it has been blocked for this long
            if not simulator.is_blocked():
                since = time.monotonic()
            time.sleep(0.01)
        simulator.end(sent)
        assert simulator.next_line() == ""
        assert not link.is_symlink()
