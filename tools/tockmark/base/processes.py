# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Every foreign program is started here: compilers, simulators, git, the user's own commands.

A program ends with the tool, however the tool ends: it joins the process group of a watcher
(watcher.py) before it begins, and the watcher ends that group once nobody holds the other end of a
pipe. Until a program has begun it holds that end as the tool does, so no moment is left in which a
killed tool would leave it behind. One that starts further programs (`family`) has a watcher of its
own as its parent, so that it can be ended with all of them while the tool goes on. (By itself
PR_SET_PDEATHSIG reaches a program only, not what it starts, and ends it with the thread that
started it.)

Each has a folder for scratch, its TMPDIR, which goes with the watcher; it takes only so long and
says only so much (`Bounds`). It holds the locks that it is given until it, and all that it started,
has ended.
"""

import atexit
import io
import os
import secrets
import selectors
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from tockmark.base import watcher
from tockmark.base.errors import INCOMPLETE, TockmarkError, quoted

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

DEVNULL, PIPE, STDOUT = subprocess.DEVNULL, subprocess.PIPE, subprocess.STDOUT
TICK = 0.2  # seconds between two looks at one that is waited for
LONGEST_LINE = 1 << 16  # characters; what is longer comes in parts


@dataclass(frozen=True)
class Bounds:
    """How long a program may take, and how much it may say on each stream."""

    seconds: float = 600.0
    size: int = 64 << 20  # bytes


@dataclass(frozen=True)
class Output:
    """What came of a program that has ended."""

    code: int  # below zero a signal
    out: bytes
    err: bytes

    @property
    def text(self) -> str:
        """What it printed."""
        return self.out.decode(errors="replace")

    @property
    def error_text(self) -> str:
        """What it said on stderr."""
        return self.err.decode(errors="replace")


@dataclass(eq=False)
class Child:
    """A foreign program that was started."""

    name: str
    bounds: Bounds
    process: "subprocess.Popen[bytes]"  # the program, or its own watcher
    own: "_Watcher | None"  # of a family
    why: str | None = None  # the tool ended it: "took more than 600 s"
    _timer: threading.Timer | None = None
    _texts: dict[IO[bytes], io.TextIOWrapper] = field(default_factory=dict)

    @property
    def stdin(self) -> IO[bytes]:
        """Where it reads, if it was started with PIPE."""
        assert self.process.stdin is not None
        return self.process.stdin

    @property
    def stdout(self) -> IO[bytes]:
        """What it prints, if it was started with PIPE; `lines` has the bounds besides."""
        assert self.process.stdout is not None
        return self.process.stdout

    @property
    def stderr(self) -> IO[bytes]:
        """What it complains of, if it was started with PIPE."""
        assert self.process.stderr is not None
        return self.process.stderr

    @property
    def code(self) -> int | None:
        """Its exit code; below zero a signal; None: it runs."""
        code = self.process.poll()
        if code is not None:
            self._ended()
        return code

    def lines(self, stream: IO[bytes] | None = None) -> Iterator[str]:
        """Yield what it prints line by line as it comes, without the newlines; `stream` is one of
        its streams. Any byte is a character, and only a newline ends a line; a part of a longer
        one has LONGEST_LINE characters. What says too much is ended (`why`)."""
        stream = stream or self.stdout
        if stream not in self._texts:  # kept, or the stream is closed before the program has ended
            self._texts[stream] = io.TextIOWrapper(stream, encoding="latin-1", newline="\n")
        text = self._texts[stream]
        left = self.bounds.size
        while line := text.readline(LONGEST_LINE):
            left -= len(line)
            if left < 0:
                self.too_much()
                return
            yield strip_newline(line)

    def wait(self, seconds: float | None = None) -> int | None:
        """Wait for its end, or so long; return its exit code, or None while it runs."""
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None
        return self.code

    def stop(self) -> None:
        """Begin to end it: SIGTERM, and after GRACE SIGKILL."""
        if self.own is not None:
            self.own.end()  # which does it to all that it started
        elif self.process.poll() is None:
            self.process.terminate()
            _later(watcher.GRACE, self.process.kill)

    def end(self) -> int:
        """End it, and wait until it has ended with all that it started."""
        self.stop()
        self.process.wait()
        self._ended()
        return self.process.returncode

    def within(self, seconds: float) -> None:
        """End it in so many seconds, no matter what it was given before."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = _later(seconds, self._over, f"took more than {seconds:g} s")

    def too_much(self) -> None:
        """End it, for it said more than it may."""
        self._over(f"said more than {self.bounds.size >> 10} KiB")

    def _over(self, why: str) -> None:
        self.why = self.why or why
        self.stop()

    def _ended(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        with _lock:
            _running.discard(self)
        if self.own is not None:
            self.own.end()


class _Watcher:
    """A process of watcher.py, and the end of the pipe that keeps it waiting."""

    def __init__(self, command: Sequence[str], hold: Sequence[int], **settings: Any) -> None:
        name = f"tockmark-{os.getpid()}-{secrets.token_hex(4)}"
        self.folder = os.path.join(tempfile.gettempdir(), name)
        end, self._pipe = os.pipe()
        words = [sys.executable, "-I", "-S", watcher.__file__, str(end), self.folder, *command]
        try:
            self.process = subprocess.Popen(words, pass_fds=(end, *hold), **settings)
        except BaseException:
            self.end()
            raise
        finally:
            os.close(end)

    def end(self) -> None:
        """Tell it to end what it watches."""
        with _lock:
            if self._pipe >= 0:
                os.close(self._pipe)
            self._pipe = -1


_lock = threading.RLock()  # of these two
_running: set[Child] = set()
_shared: _Watcher | None = None


def _watcher() -> _Watcher:
    """Return the watcher of all that start no further programs."""
    global _shared
    with _lock:
        if _shared is None or _shared.process.poll() is not None:
            quiet = {"stdin": DEVNULL, "stdout": DEVNULL, "stderr": DEVNULL}
            _shared = _Watcher([], [], process_group=0, cwd="/", **quiet)
            os.makedirs(_shared.folder, 0o700, exist_ok=True)
        return _shared


@atexit.register
def _leave() -> None:
    """Wait for the watcher, so that nothing of ours is left when the tool is gone."""
    if _shared is not None:
        _shared.end()
        _shared.process.wait()


def start(
    command: Sequence[str | Path],
    *,
    doing: str = "",
    todo: str = "",
    family: bool = False,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    stdin: int | IO[bytes] = DEVNULL,
    stdout: int | IO[bytes] = PIPE,
    stderr: int | IO[bytes] = PIPE,
    hold: Sequence[int] = (),
    bounds: Bounds = Bounds(),
) -> Child:
    """Start a program. TockmarkError if it cannot be run; `doing` and `todo` are for its line.

    `family`: it may start programs of its own, which end with it; it has no terminal. `hold`:
    descriptors, of locks say, that it keeps open till its end."""
    words = [str(word) for word in command]
    environment = dict(os.environ if env is None else env)
    streams: dict[str, Any] = {"stdin": stdin, "stdout": stdout, "stderr": stderr}
    own: _Watcher | None = None
    try:
        if family:
            if shutil.which(words[0], path=environment.get("PATH")) is None:
                raise FileNotFoundError(2, "it is not there", words[0])
            own = _Watcher(words, hold, start_new_session=True, cwd=cwd, env=environment, **streams)
            process = own.process
        else:
            shared = _watcher()
            environment["TMPDIR"] = shared.folder
            process = subprocess.Popen(
                words,
                cwd=cwd,
                env=environment,
                process_group=shared.process.pid,
                pass_fds=hold,
                **streams,
            )
    except OSError as error:
        raise _not_started(words[0], doing, todo, error, cwd) from error
    child = Child(Path(words[0]).name, bounds, process, own)
    with _lock:
        _running.add(child)
    child.within(bounds.seconds)
    return child


def run(
    command: Sequence[str | Path],
    *,
    input: bytes = b"",
    doing: str = "",
    todo: str = "",
    **how: Any,
) -> Output:
    """Run a program to its end, and return what it said. TockmarkError if it cannot be run, or goes
    beyond its bounds."""
    with tempfile.TemporaryFile() as given:
        given.write(input)
        given.seek(0)
        child = start(command, doing=doing, todo=todo, stdin=given if input else DEVNULL, **how)
    try:
        found = _read(child)
    except BaseException:
        child.end()
        raise
    if child.why is not None:
        child.end()
        before = f"{doing}: " if doing else ""
        raise TockmarkError(f"{before}{child.name} {child.why}", "it was ended", INCOMPLETE)
    return found


def follow(
    command: Sequence[str | Path], tick: Callable[[], object] | None = None, **how: Any
) -> Child:
    """Run a program with its family to its end, and return it; `tick` is called now and then. Where
    its stdout is a file, that is bounded, too."""
    child = start(command, family=True, **how)
    try:
        while child.wait(TICK) is None:
            if tick is not None:
                tick()
            _bound(child, how.get("stdout"))
    except BaseException:
        child.end()
        raise
    _bound(child, how.get("stdout"))
    return child


def process_holding(path: Path) -> str:
    """Say which process holds a file or folder open, the oldest of several; nothing if none of the
    user's does."""
    there, own = os.path.realpath(path), os.getpid()
    for number in sorted(int(name) for name in os.listdir("/proc") if name.isdecimal()):
        with suppress(OSError):
            for handle in os.listdir(f"/proc/{number}/fd"):
                if number != own and os.readlink(f"/proc/{number}/fd/{handle}") == there:
                    words = Path(f"/proc/{number}/cmdline").read_text(errors="replace")
                    return f"process {number} ({quoted(words.replace(chr(0), ' ').strip())})"
    return ""


def strip_newline(line: str) -> str:
    """Return a line without its newline; a part of one stays as it is."""
    return line[:-1].rstrip("\r") if line.endswith("\n") else line


@contextmanager
def thread_pool(jobs: int | None) -> Iterator["ThreadPoolExecutor"]:
    """Give threads that start programs. Where one fails, or Ctrl-C comes, none begins any more, and
    what runs is ended."""
    from concurrent.futures import ThreadPoolExecutor  # few verbs need it, and all load this module

    with ThreadPoolExecutor(jobs) as pool:
        try:
            yield pool
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            end_all()
            raise


def end_all() -> None:
    """Begin to end all that run, as after Ctrl-C."""
    with _lock:
        running = list(_running)
    for child in running:
        child.stop()


def _read(child: Child) -> Output:
    """Read both streams to their ends, within the bounds, and wait for the program's end."""
    out, err = bytearray(), bytearray()
    with child.process, selectors.DefaultSelector() as ready:
        ready.register(child.stdout, selectors.EVENT_READ, out)
        ready.register(child.stderr, selectors.EVENT_READ, err)
        while ready.get_map():
            for key, _ in ready.select(1.0):
                data = os.read(key.fd, LONGEST_LINE)
                key.data.extend(data)
                if not data:
                    ready.unregister(key.fileobj)
                elif len(key.data) > child.bounds.size:
                    child.too_much()
            if child.why is not None and child.code is not None:
                break  # what it started may hold the streams
    return Output(child.end() if child.why else child.wait() or 0, bytes(out), bytes(err))


def _bound(child: Child, log: object) -> None:
    """End a program whose log has grown too long, and cut the log."""
    if isinstance(log, io.BufferedWriter) and os.fstat(log.fileno()).st_size > child.bounds.size:
        child.too_much()
        child.end()
        log.truncate(child.bounds.size)


def _later(seconds: float, act: Callable[..., None], *words: str) -> threading.Timer:
    """Do something after so many seconds, if the tool is still there."""
    timer = threading.Timer(seconds, act, words)
    timer.daemon = True
    timer.start()
    return timer


def _not_started(
    name: str, doing: str, todo: str, error: OSError, cwd: Path | None
) -> TockmarkError:
    """Say in one line why a program cannot be run."""
    before = f"{doing}: " if doing else ""
    if cwd is not None and str(error.filename) == str(cwd):
        return TockmarkError(f"{before}cannot enter {cwd}: {error.strerror}", todo)
    if isinstance(error, FileNotFoundError) and error.filename == name:
        return TockmarkError(f"{before}{Path(name).name} is not there", todo)
    return TockmarkError(f"{before}cannot run {name}: {error.strerror}", todo, INCOMPLETE)
