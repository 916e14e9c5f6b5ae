# SPDX-License-Identifier: Apache-2.0 OR MIT
"""This runs simulations on other machines, each of which a command of the user's reaches:
`tockmark run --cluster "ssh build1" --cluster "ssh build2"`.

A command runs the shell line that is its last argument on a machine. What it runs is our own script
(cluster_worker.py), which goes there through its stdin, as do simulator and images. What comes back
is taken for no more than bytes: a fixed header, which is checked, and as many bytes as it says. A
worker that sends anything else, falls silent or ends is discarded, and what it had goes to others.
What it answers may still be false: an answer counts as the user's own if it has a MAC by their key
(trust.py), and all others are marked, and a share of them is simulated again here (run.py).
"""

import atexit
import contextlib
import functools
import hashlib
import os
import re
import selectors
import shlex
import threading
import time
import zlib
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile

from tockmark import paths, processes
from tockmark.errors import INCOMPLETE, TockmarkError, one_line, say
from tockmark.paths import shown
from tockmark.processes import PIPE, Bounds, Child
from tockmark.rig import cluster_worker, trust
from tockmark.rig.cluster_worker import ANSWER, CORES, HELLO, ORDER, SAID, UART
from tockmark.wire.records import Elsewhere

CONNECT = 30.0  # seconds for a worker to say hello
SILENCE = 60.0  # seconds without a sign of life
FAREWELL = 2.0  # for its command to end, when its pipes have
A_CAMPAIGN = 7 * 24 * 3600.0  # that any command may run
SIGNS = 10  # of them in a second, at most
SLOWEST = 100_000  # simulated cycles a second, of the slowest machine that is waited for
LEAST = 120.0  # seconds that any boot may take
BEFORE_HELLO = 1 << 16  # bytes that a machine may print before our script begins
MOST_CORES = 1024
AHEAD = 1  # boots that a worker has beside those that it runs, so that no core waits
LONGEST_NAME = 80  # characters of a command
TICK = 1.0  # seconds between looks at the clock
_SCRIPT = Path(cluster_worker.__file__)
_NOT_PRINTED = re.compile(r"[^ -~]")
_ADDRESS = re.compile(r"[a-z]+://")


class DiscardedError(Exception):
    """Why a worker is discarded."""


@dataclass(frozen=True)
class Outcome:
    """What came of a simulation."""

    code: int  # below zero: a signal
    uart: bytes
    said: bytes  # on stderr
    elsewhere: Elsewhere


@dataclass(frozen=True)
class WorkerAnswer:
    """One record of a worker, of the right form."""

    kind: bytes
    number: int
    code: int
    mac: bytes
    uart: bytes
    said: bytes


@dataclass
class AnswerReader:
    """Takes what a worker sends, in pieces as they come, and holds no more than one record."""

    cores: int = 0  # 0: it has not said hello
    _held: bytearray = field(default_factory=bytearray)

    def feed(self, data: bytes) -> Iterator[WorkerAnswer]:
        """Yield the answers that are whole now. DiscardedError if something has not their form."""
        self._held += data
        if not self.cores and not self._hello():
            return
        while len(self._held) >= ANSWER.size:
            kind, number, code, mac, uart, said = ANSWER.unpack_from(self._held)
            if kind not in (b"a", b"l", b"f"):
                raise DiscardedError("it sent what is no record")
            if uart > UART or said > SAID or (kind == b"l" and uart + said):
                raise DiscardedError(f"it announced a record of {uart + said:,} bytes")
            end = ANSWER.size + uart + said
            if len(self._held) < end:
                return
            texts = bytes(self._held[ANSWER.size : end])
            del self._held[:end]
            yield WorkerAnswer(kind, number, code, mac, texts[:uart], texts[uart:])

    def _hello(self) -> bool:
        """Return whether the worker has said hello; what its machine printed before is left."""
        at = self._held.find(HELLO)
        end = at + len(HELLO) + CORES.size
        if at < 0 or len(self._held) < end:
            if len(self._held) > BEFORE_HELLO:
                raise DiscardedError("it printed without end in the place of our script's hello")
            return False
        (cores,) = CORES.unpack_from(self._held, end - CORES.size)
        if not 0 < cores <= MOST_CORES:
            raise DiscardedError(f"it says that it has {cores} cores")
        self.cores = cores
        del self._held[:end]
        return True


@dataclass(eq=False)
class ClusterRun:
    """A simulation under way somewhere on a cluster."""

    cluster: "Cluster"
    program: bytes  # the simulator
    flash: bytes
    options: tuple[str, ...]
    patience: float  # seconds for a worker to answer
    stopped: bool = False
    since: float = 0  # when a worker got it
    _over: threading.Event = field(default_factory=threading.Event)
    _outcome: Outcome | None = None
    _why: str = ""

    def outcome(self) -> Outcome | None:
        """Wait for what comes of it; None if it was stopped. TockmarkError if it is lost."""
        self._over.wait()
        if self._outcome is None and not self.stopped:
            raise TockmarkError(
                f"no worker simulated it: {self._why}",
                "run it again: what was simulated is kept",
                INCOMPLETE,
            )
        return None if self.stopped else self._outcome

    def stop(self) -> None:
        """Give it up: it does not begin any more, or nobody takes what it prints."""
        self.stopped = True
        self._over.set()
        self.cluster.forget(self)

    def finish(self, outcome: Outcome) -> None:
        self._outcome = outcome
        self._over.set()

    def lose(self, why: str) -> None:
        self._why = why
        self._over.set()

    @functools.cached_property
    def words(self) -> bytes:
        """The options, as an order has them."""
        return b"".join(os.fsencode(word) + b"\0" for word in self.options)

    def vouched(self, found: WorkerAnswer) -> bool:
        """Return whether an answer has a MAC by the user's key."""
        program, flash = (hashlib.sha256(one).digest() for one in (self.program, self.flash))
        covered = cluster_worker.of_answer(program, flash, self.words, found.code)
        return trust.holds(found.mac, *covered, found.uart, found.said)


class RemoteWorker(threading.Thread):
    """One command, and the thread that talks with what it runs."""

    def __init__(self, cluster: "Cluster", command: str) -> None:
        super().__init__(daemon=True)
        self.cluster, self.command = cluster, command
        self.name = _NOT_PRINTED.sub("?", command)[:LONGEST_NAME]
        self.reader = AnswerReader()
        self.under_way: dict[int, ClusterRun] = {}
        self.gone: str | None = None  # why it is discarded
        self.greeted = threading.Event()  # or it is gone
        self.closing: str | None = None  # why it is to end
        self._signs = 0  # of life
        self._program: bytes | None = None  # the simulator that it has
        self._numbers = 0
        self._out: deque[memoryview] = deque()
        self._said = b""
        self._wake, self._woken = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)

    @property
    def room(self) -> int:
        """How many boots it takes now."""
        return self.reader.cores + AHEAD - len(self.under_way) if self.reader.cores else 0

    def wake(self) -> None:
        """Let it look for boots, and at who is to end."""
        with contextlib.suppress(BlockingIOError):
            os.write(self._woken, b".")

    def run(self) -> None:
        """Talk with the worker until it is discarded, or not needed any more."""
        try:
            child = self._start()
        except (TockmarkError, ValueError) as error:
            self._leave(str(error))
            return
        try:
            self._serve(child)
            self._leave(str(self.closing))
        except DiscardedError as error:
            self._leave(str(error))
        except Exception as error:  # a defect of ours loses this worker, and none of its boots
            self._leave(f"{type(error).__name__}: {error}")
        finally:
            with contextlib.suppress(OSError):
                child.stdin.close()
            child.wait(FAREWELL)
            child.end()

    def _start(self) -> Child:
        """Start the command with our script behind it."""
        script = _SCRIPT.read_bytes()
        bootstrap = f"import sys;exec(sys.stdin.buffer.read({len(script)}))"
        self._out.append(memoryview(script))
        return processes.start(
            [*shlex.split(self.command), f"exec python3 -I -c '{bootstrap}'"],
            todo="--cluster takes a command that runs its last argument as a shell line elsewhere",
            family=True,  # with a session of its own: without a terminal ssh ends and does not ask
            env={name: text for name, text in os.environ.items() if name != cluster_worker.KEY},
            stdin=PIPE,
            bounds=Bounds(seconds=A_CAMPAIGN),
        )

    def _serve(self, child: Child) -> None:
        """Write orders and read answers. DiscardedError if it does not go on."""
        stdin, stdout, stderr = child.stdin, child.stdout, child.stderr
        began = heard = time.monotonic()
        with selectors.DefaultSelector() as ready:
            for pipe in (stdin, stdout, stderr):
                os.set_blocking(pipe.fileno(), False)
            for source in (self._wake, stdout, stderr):
                ready.register(source, selectors.EVENT_READ)
            writing = False
            while self.closing is None:
                self.cluster.hand_out(self)
                if writing != bool(self._out):
                    writing = not writing
                    if writing:
                        ready.register(stdin, selectors.EVENT_WRITE)
                    else:
                        ready.unregister(stdin)
                for key, _ in ready.select(TICK):
                    if key.fileobj is self._wake or key.fd == self._wake:
                        os.read(self._wake, 4096)
                    elif key.fileobj is stdin:
                        self._write(stdin.fileno())
                    elif key.fileobj is stderr:
                        if not self._hear(stderr.fileno()):
                            ready.unregister(stderr)
                    else:
                        self._read(child)
                        heard = time.monotonic()
                self._check_time(began, heard)

    def _write(self, pipe: int) -> None:
        """Write what is to be written, as far as the pipe takes it."""
        try:
            while self._out:
                done = os.write(pipe, self._out[0])
                self._out[0] = self._out[0][done:]
                if not self._out[0]:
                    self._out.popleft()
        except BlockingIOError:
            pass
        except BrokenPipeError:
            self._out.clear()  # what it said last comes by stdout and stderr

    def _read(self, child: Child) -> None:
        data = os.read(child.stdout.fileno(), 1 << 16)
        if not data:
            code = child.wait(FAREWELL)
            with contextlib.suppress(BlockingIOError):
                while self._hear(child.stderr.fileno()):
                    pass
            last = self._said.decode(errors="replace").strip().splitlines()
            raise DiscardedError(f"it ended: {last[-1] if last else f'exit code {code}'}")
        for answer in self.reader.feed(data):
            self._take(answer)
        if self.reader.cores and not self.greeted.is_set():
            self.greeted.set()

    def _hear(self, stderr: int) -> bool:
        """Keep the end of what the command says on stderr; return whether there is more to come."""
        data = os.read(stderr, 1 << 16)
        self._said = (self._said + data)[-4096:]
        return bool(data)

    def _take(self, answer: WorkerAnswer) -> None:
        """Take a whole record. DiscardedError if it answers nothing."""
        if answer.kind == b"l":
            self._signs += 1
            return
        if answer.kind == b"f":
            raise DiscardedError(f"it cannot simulate: {answer.said.decode(errors='replace')}")
        run = self.under_way.get(answer.number)
        if run is None:
            raise DiscardedError(f"it answered boot {answer.number}, which it does not have")
        with self.cluster.lock:
            del self.under_way[answer.number]
        vouched = "mac" if run.vouched(answer) else None
        elsewhere = Elsewhere(self.name, vouched)  # type: ignore[arg-type]
        run.finish(Outcome(answer.code, answer.uart, answer.said, elsewhere))

    def _check_time(self, began: float, heard: float) -> None:
        now = time.monotonic()
        if not self.reader.cores and now - began > CONNECT:
            raise DiscardedError(f"it says nothing that our script says within {CONNECT:.0f} s")
        if now - heard > max(SILENCE, CONNECT if not self.reader.cores else 0):
            raise DiscardedError(f"it is silent since {SILENCE:.0f} s")
        if self._signs > SIGNS * (1 + now - began):
            raise DiscardedError("it sends signs of life without end")
        if late := [run for run in self.under_way.values() if now - run.since > run.patience]:
            raise DiscardedError(f"a boot takes it more than {late[0].patience:.0f} s")

    def order(self, run: ClusterRun) -> None:
        """Give it a boot, and its simulator if that is another than before. The cluster's lock is
        held."""
        if self._program != run.program:
            self._program = run.program
            self._send(b"s", 0, b"", zlib_of(run.program))
        self._numbers += 1
        run.since = time.monotonic()
        self.under_way[self._numbers] = run
        self._send(b"b", self._numbers, run.words, zlib.compress(run.flash, 1))

    def _send(self, kind: bytes, number: int, options: bytes = b"", packed: bytes = b"") -> None:
        head = ORDER.pack(kind, number, len(options), len(packed))
        self._out.append(memoryview(head + options + packed))

    def forget(self, run: ClusterRun) -> None:
        """Tell it that a boot is not wanted any more. The cluster's lock is held."""
        for number, own in self.under_way.items():
            if own is run:
                self._send(b"x", number)
                self.wake()

    def _leave(self, why: str) -> None:
        self.gone = one_line(why)[:200]
        self.cluster.left(self)
        self.greeted.set()


class Cluster:
    """The workers that there are, and the boots that wait for one."""

    def __init__(self, commands: tuple[str, ...]) -> None:
        self.lock = threading.RLock()
        self.waiting: deque[ClusterRun] = deque()
        self.workers = [RemoteWorker(self, command) for command in commands]
        for worker in self.workers:
            worker.start()

    @property
    def there(self) -> list[RemoteWorker]:
        """The workers that are not discarded."""
        return [worker for worker in self.workers if worker.gone is None]

    def threads(self) -> int:
        """Return how many simulations it runs at a time."""
        return sum(worker.reader.cores for worker in self.there)

    def run(self, simulator: Path, flash: Path, options: tuple[str, ...], most: int) -> ClusterRun:
        """Begin a simulation of at most so many cycles. TockmarkError if it cannot be sent."""
        try:
            program, image = simulator.read_bytes(), flash.read_bytes()
        except OSError as error:
            raise TockmarkError(f"cannot read {shown(flash)}: {error.strerror}") from error
        found = ClusterRun(self, program, image, options, LEAST + most / SLOWEST)
        with self.lock:
            self.waiting.append(found)
            self._lose_if_alone()
        self._wake()
        return found

    def hand_out(self, worker: RemoteWorker) -> None:
        """Give a worker as many boots as it takes."""
        with self.lock:
            while self.waiting and worker.room > 0:
                run = self.waiting.popleft()
                if not run.stopped:
                    worker.order(run)

    def forget(self, run: ClusterRun) -> None:
        """Take back a boot that is not wanted any more."""
        with self.lock:
            if run in self.waiting:
                self.waiting.remove(run)
            for worker in self.there:
                worker.forget(run)

    def left(self, worker: RemoteWorker) -> None:
        """Say that a worker is discarded, and give its boots to others."""
        with self.lock:
            its = [run for run in worker.under_way.values() if not run.stopped]
            worker.under_way.clear()
            self.waiting.extendleft(reversed(its))
            if worker.closing is None:
                lost = f"; {len(its)} boots that it had go to others" if its else ""
                say(f"worker '{worker.name}' is discarded: {worker.gone}{lost}")
            self._lose_if_alone()
        self._wake()

    def distrust(self, name: str, why: str) -> None:
        """Give no more boots to the workers of this name."""
        for worker in self.there:
            if worker.name == name:
                worker.closing = why
                worker.wake()
                worker.join()

    def close(self) -> None:
        """End all workers."""
        for worker in self.there:
            worker.closing = "the run is over"
            worker.wake()
        for worker in self.workers:
            worker.join(5)

    def _lose_if_alone(self) -> None:
        if not self.there:
            why = "; ".join(f"'{worker.name}': {worker.gone}" for worker in self.workers)
            while self.waiting:
                self.waiting.popleft().lose(f"no worker is left ({why})")

    def _wake(self) -> None:
        for worker in self.there:
            worker.wake()


_CONNECTED: list[Cluster] = []


def distrust(name: str, why: str) -> None:
    """Give no more boots, in this process, to the workers of this name."""
    for cluster in _CONNECTED:
        cluster.distrust(name, why)


@atexit.register
def close_all() -> None:
    """End all workers."""
    for cluster in _CONNECTED:
        cluster.close()


@functools.lru_cache(maxsize=8)
def connect(commands: tuple[str, ...]) -> Cluster:
    """Return the workers that these commands reach. TockmarkError if there is none."""
    for command in commands:
        if _ADDRESS.match(command):
            raise TockmarkError(
                f"--cluster {one_line(command)} is an address, and no scheduler is used any more",
                'give a command that runs a shell line elsewhere: --cluster "ssh HOST"',
            )
    trust.key()  # if that is of no use, nothing is sent
    found = Cluster(commands)
    _CONNECTED.append(found)
    for worker in found.workers:
        worker.greeted.wait()
    if not found.there:
        first = found.workers[0]
        raise TockmarkError(
            f"no worker of --cluster can be used; '{first.name}': {first.gone}",
            f"try: {first.name} 'python3 --version'",
        )
    return found


def at_a_time(commands: tuple[str, ...]) -> int:
    """Return how many boots to have under way: as many as the workers take, and one for each core
    here that lays the next ones."""
    found = connect(commands)
    return found.threads() + AHEAD * len(found.there) + (os.cpu_count() or 1)


def check_static(simulator: Path) -> None:
    """TockmarkError if a simulator would need libraries of the machine that it comes to."""
    try:
        with simulator.open("rb") as file:
            loaded = any(part["p_type"] == "PT_INTERP" for part in ELFFile(file).iter_segments())
    except ELFError:
        loaded = False  # no program of this kind, but one that runs may be a script
    if loaded:
        raise TockmarkError(
            f"{shown(simulator)} is linked to libraries, which workers may not have",
            paths.by_make("sim"),
        )


@functools.lru_cache(maxsize=4)
def zlib_of(program: bytes) -> bytes:
    """Return a simulator as it travels."""
    return zlib.compress(program)
