# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A worker of a cluster is this script: it runs simulations on another machine for whoever writes
orders to its stdin, and answers on its stdout.

The other machine has Python 3.9 or later, and nothing of ours: the script goes there as text, and
takes from the standard library alone. An order is a fixed header and the bytes that it announces;
so is an answer, which the tool parses (cluster.py) and never evaluates. When its stdin ends, it
ends, with all that it has begun.
"""

import collections
import errno
import hashlib
import hmac
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
import time
import zlib
from concurrent.futures import ThreadPoolExecutor

KEY = "TOCKMARK_KEY"  # in a worker's own environment, if the user has put it there
HELLO = b"\ntockmark-worker 1 "  # and the number of its cores, as below
CORES = struct.Struct("!H")
# Kind (s: a simulator, b: a boot, x: a boot is not wanted any more), number of the boot, and how
# many bytes follow: options, each ended by a NUL, and what zlib made of simulator or flash image.
ORDER = struct.Struct("!cIII")
# Kind (a: a boot's answer, l: alive, f: it cannot go on), number of the boot, exit code, MAC (32
# NULs: there is no key), and how many bytes follow: what the UART printed, what stderr.
ANSWER = struct.Struct("!cIi32sII")
UART, SAID = 1 << 24, 1 << 16  # bytes of each, at most; of stderr the last ones
ALIVE = 5.0  # seconds between two signs of life
TRIES = 100  # to start a program that was just written


def seal(key: bytes, *parts: bytes) -> bytes:
    """Return the MAC of parts, none of which can be taken for a part of its neighbour."""
    made = hmac.new(key, digestmod="sha256")
    for part in parts:
        made.update(len(part).to_bytes(8, "big") + part)
    return made.digest()


def of_answer(simulator: bytes, flash: bytes, options: bytes, code: int) -> tuple[bytes, ...]:
    """Return what the MAC of an answer covers besides what was printed. Simulator and flash are
    given by their SHA-256."""
    return b"tockmark answer 1", simulator, flash, options, b"%d" % code


class Worker:
    """Runs as many boots at a time as there are cores."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.key = os.fsencode(os.environ.get(KEY, ""))
        self.cores = len(os.sched_getaffinity(0))
        self.pool = ThreadPoolExecutor(self.cores)
        self.lock = threading.Lock()  # of what follows, and of stdout
        self.running: dict[int, subprocess.Popen[bytes]] = {}
        self.unwanted: set[int] = set()
        self.over = False

    def serve(self) -> None:
        """Take orders until there are no more."""
        sys.stdout.buffer.write(HELLO + CORES.pack(min(self.cores, 0xFFFF)))
        sys.stdout.buffer.flush()
        threading.Thread(target=self.live, daemon=True).start()
        simulator = ("", b"")  # its path and its hash
        while True:
            head = sys.stdin.buffer.read(ORDER.size)
            if len(head) < ORDER.size:
                break
            kind, number, of_options, of_packed = ORDER.unpack(head)
            options = sys.stdin.buffer.read(of_options)
            packed = sys.stdin.buffer.read(of_packed)
            if kind == b"s":
                simulator = self.keep(zlib.decompress(packed))
            elif kind == b"b":
                self.pool.submit(self.boot, number, simulator, options, packed)
            elif kind == b"x":
                self.end(number)
        self.over = True
        for number in list(self.running):
            self.end(number)

    def live(self) -> None:
        """Say now and then that this worker lives."""
        while True:
            time.sleep(ALIVE)
            self.answer(b"l")

    def answer(
        self, kind: bytes, number: int = 0, code: int = 0, mac: bytes = b"", *texts: bytes
    ) -> None:
        uart, said = texts or (b"", b"")
        head = ANSWER.pack(kind, number, code, mac, len(uart), len(said))
        with self.lock:
            try:
                sys.stdout.buffer.write(head + uart + said)
                sys.stdout.buffer.flush()
            except OSError:  # nobody listens any more, and stdin will end
                pass

    def keep(self, program: bytes) -> tuple[str, bytes]:
        digest = hashlib.sha256(program)
        path = os.path.join(self.folder, digest.hexdigest())
        if not os.path.exists(path):
            with open(path, "wb") as file:
                file.write(program)
            os.chmod(path, 0o700)
        return path, digest.digest()

    def boot(
        self, number: int, simulator: tuple[str, bytes], options: bytes, packed: bytes
    ) -> None:
        """Run one boot, and answer."""
        try:
            if self.over or number in self.unwanted:
                self.answer(b"a", number, -15)
                return
            flash = zlib.decompress(packed)
            image = os.path.join(self.folder, f"{number}.flash")
            with open(image, "wb") as file:
                file.write(flash)
            words = [os.fsdecode(word) for word in options.split(b"\0")[:-1]]
            code, uart, said = self.run(number, [simulator[0], "--flash", image, *words])
            os.unlink(image)
            mac = b""
            if self.key:
                covered = of_answer(simulator[1], hashlib.sha256(flash).digest(), options, code)
                mac = seal(self.key, *covered, uart, said)
            self.answer(b"a", number, code, mac, uart, said)
        except Exception as error:
            self.answer(b"f", number, 0, b"", b"", repr(error).encode()[:SAID])

    def run(self, number: int, command: list[str]) -> tuple[int, bytes, bytes]:
        """Run a simulator to its end, or as far as it prints no more than it may."""
        pipe = subprocess.PIPE
        for left in reversed(range(TRIES)):
            try:
                process = subprocess.Popen(
                    command, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe
                )
                break
            except OSError as error:
                # Another thread was just starting its own, and held ours open.
                if error.errno != errno.ETXTBSY or not left:
                    raise
                time.sleep(0.02)
        assert process.stdout is not None
        with self.lock:
            self.running[number] = process
        if self.over or number in self.unwanted:
            process.kill()
        said: collections.deque[bytes] = collections.deque(maxlen=64)
        listening = threading.Thread(target=listen, args=(process, said))
        listening.start()
        uart = process.stdout.read(UART)
        if process.stdout.read(1):
            process.kill()
        process.stdout.close()
        code = process.wait()
        listening.join()
        with self.lock:
            del self.running[number]
        return code, uart, b"".join(said)[-SAID:]

    def end(self, number: int) -> None:
        """End a boot that is not wanted any more."""
        with self.lock:
            self.unwanted.add(number)
            if number in self.running:
                self.running[number].kill()


def listen(process: subprocess.Popen[bytes], said: collections.deque[bytes]) -> None:
    """Keep the last lines that a simulator says on stderr."""
    assert process.stderr is not None
    with process.stderr as stderr:
        while line := stderr.readline(1024):
            said.append(line)


def main() -> None:
    """Work in a folder of its own, which goes at the end."""
    folder = tempfile.mkdtemp(prefix="tockmark-")
    try:
        Worker(folder).serve()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os._exit(0)  # whatever its threads are about


if __name__ == "__main__":
    main()
