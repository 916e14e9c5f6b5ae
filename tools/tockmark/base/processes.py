# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Starting external programs: compilers, simulators, git, the user's commands.

Every program ends with the tool, also if the tool is killed. The tool holds the write end of a
pipe; when it is closed, a watcher (watcher.py) ends its process group, which each program joins
before exec. Until exec the new process also holds the write end, so a tool that is killed meanwhile
leaves no program behind. A program that starts further programs (`family`) gets a watcher of its
own as its parent, which ends all its descendants. (PR_SET_PDEATHSIG alone would not do: it reaches
only the program, not its children, and acts when the starting thread ends.)

Each program has a scratch folder, its TMPDIR, which the watcher removes. A program that exceeds its
`Bounds` is ended. Locks that it inherits are held until it and all its children have ended.
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
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from tockmark.base import watcher
from tockmark.base.errors import INCOMPLETE, TockmarkError

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

DEVNULL, PIPE, STDOUT = subprocess.DEVNULL, subprocess.PIPE, subprocess.STDOUT
TICK = 0.2  # seconds between checks for the end of a program
LONGEST_LINE = 1 << 16  # characters; longer lines arrive in parts


@dataclass(frozen=True)
class Bounds:
    """The limits of a program: its time, and its output on each stream."""

    seconds: float = 600.0
    size: int = 64 << 20  # bytes


@dataclass(frozen=True)
class Output:
    """The exit code and the output of a program that has ended."""

    code: int  # negative: a signal
    out: bytes
    err: bytes

    @property
    def text(self) -> str:
        """The text on stdout."""
        return self.out.decode(errors="replace")

    @property
    def error_text(self) -> str:
        """The text on stderr."""
        return self.err.decode(errors="replace")


@dataclass(eq=False)
class Child:
    """A running program."""

    name: str
    bounds: Bounds
    process: "subprocess.Popen[bytes]"  # the program, or the watcher of its family
    watcher: "_Watcher | None"  # of its family
    why: str | None = None  # the bound that it exceeded, in words: "took more than 600 s"
    _timer: threading.Timer | None = None
    _texts: dict[IO[bytes], io.TextIOWrapper] = field(default_factory=dict)

    @property
    def stdout(self) -> IO[bytes]:
        """The pipe from its stdout, if it was started with PIPE; `lines` also checks the bounds."""
        assert self.process.stdout is not None
        return self.process.stdout

    @property
    def stderr(self) -> IO[bytes]:
        """The pipe from its stderr, if it was started with PIPE."""
        assert self.process.stderr is not None
        return self.process.stderr

    @property
    def code(self) -> int | None:
        """Its exit code, negative for a signal; None while it runs."""
        code = self.process.poll()
        if code is not None:
            self._clean_up()
        return code

    def lines(self, stream: IO[bytes] | None = None) -> Iterator[str]:
        """Yield its output line by line, without newlines; `stream` is stdout (default) or stderr.

        Each byte is a character, and only a newline ends a line. Lines longer than LONGEST_LINE
        arrive in parts. A program that exceeds its bounds is ended (`why`)."""
        stream = stream or self.stdout
        if stream not in self._texts:  # keep it: a deleted wrapper closes the stream
            self._texts[stream] = io.TextIOWrapper(stream, encoding="latin-1", newline="\n")
        text = self._texts[stream]
        remaining = self.bounds.size
        while line := text.readline(LONGEST_LINE):
            remaining -= len(line)
            if remaining < 0:
                self.too_much()
                return
            yield line[:-1].rstrip("\r") if line.endswith("\n") else line

    def wait(self, seconds: float | None = None) -> int | None:
        """Wait at most `seconds` for its end; return its exit code, or None if it still runs."""
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None
        return self.code

    def stop(self) -> None:
        """Send SIGTERM, and SIGKILL after GRACE; do not wait for its end."""
        if self.watcher is not None:
            self.watcher.end()  # it ends the whole family
        elif self.process.poll() is None:
            self.process.terminate()
            _later(watcher.GRACE, self.process.kill)

    def end(self) -> int:
        """End it with all programs of its family, and wait until they have ended."""
        self.stop()
        self.process.wait()
        self._clean_up()
        return self.process.returncode

    def within(self, seconds: float) -> None:
        """End it after this time; replaces an earlier limit."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = _later(seconds, self._end_because, f"took more than {seconds:g} s")

    def too_much(self) -> None:
        """End it because its output exceeds the limit."""
        self._end_because(f"printed more than {self.bounds.size >> 10} KiB")

    def _end_because(self, why: str) -> None:
        self.why = self.why or why
        self.stop()

    def _clean_up(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        with _lock:
            _running.discard(self)
        if self.watcher is not None:
            self.watcher.end()


class _Watcher:
    """A process of watcher.py, and the write end of its pipe."""

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
        """Close the pipe, so that the watcher ends its programs."""
        with _lock:
            if self._pipe >= 0:
                os.close(self._pipe)
            self._pipe = -1


_lock = threading.RLock()  # for _running and _shared
_running: set[Child] = set()
_shared: _Watcher | None = None


def _watcher() -> _Watcher:
    """Return the watcher of all programs without a family; start it if necessary."""
    global _shared
    with _lock:
        if _shared is None or _shared.process.poll() is not None:
            quiet = {"stdin": DEVNULL, "stdout": DEVNULL, "stderr": DEVNULL}
            _shared = _Watcher([], [], process_group=0, cwd="/", **quiet)
            os.makedirs(_shared.folder, 0o700, exist_ok=True)
        return _shared


@atexit.register
def _leave() -> None:
    """Wait for the watcher, so that no process remains after the tool."""
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
    """Start a program. TockmarkError if it is not there or cannot be run; its message starts with
    `doing` and ends with `todo`.

    `family`: the program may start others, which end with it; it has no terminal.
    `hold`: descriptors to inherit, such as locks."""
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
    """Run a program to its end and return its output.

    TockmarkError if it cannot be run, or if it exceeds its bounds."""
    with tempfile.TemporaryFile() as stdin:
        stdin.write(input)
        stdin.seek(0)
        child = start(command, doing=doing, todo=todo, stdin=stdin if input else DEVNULL, **how)
    try:
        output = _read(child)
    except BaseException:
        child.end()
        raise
    if child.why is not None:
        child.end()
        before = f"{doing}: " if doing else ""
        raise TockmarkError(f"{before}{child.name} {child.why}", "it was ended", INCOMPLETE)
    return output


def follow(
    command: Sequence[str | Path], tick: Callable[[], object] | None = None, **how: Any
) -> Child:
    """Run a program and its family to the end, and return it; call `tick` every TICK seconds.

    If its stdout is a file, limit the file's size also."""
    child = start(command, family=True, **how)
    try:
        while child.wait(TICK) is None:
            if tick is not None:
                tick()
            _limit_log(child, how.get("stdout"))
    except BaseException:
        child.end()
        raise
    _limit_log(child, how.get("stdout"))
    return child


@contextmanager
def thread_pool(jobs: int | None) -> Iterator["ThreadPoolExecutor"]:
    """Yield a pool of threads that start programs.

    After an error or Ctrl-C no further job starts, and all running programs are ended."""
    from concurrent.futures import ThreadPoolExecutor  # few verbs need it

    with ThreadPoolExecutor(jobs) as pool:
        try:
            yield pool
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            end_all()
            raise


def end_all() -> None:
    """Stop all running programs, as after Ctrl-C, without waiting for their end."""
    with _lock:
        running = list(_running)
    for child in running:
        child.stop()


def _read(child: Child) -> Output:
    """Read both streams within the bounds, and wait for the end of the program."""
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
                break  # its children may keep the streams open
    return Output(child.end() if child.why else child.wait() or 0, bytes(out), bytes(err))


def _limit_log(child: Child, log: object) -> None:
    """End a program whose log is too long, and truncate the log."""
    if isinstance(log, io.BufferedWriter) and os.fstat(log.fileno()).st_size > child.bounds.size:
        child.too_much()
        child.end()
        log.truncate(child.bounds.size)


def _later(seconds: float, act: Callable[..., None], *words: str) -> threading.Timer:
    """Call `act` after this time, if the tool still runs."""
    timer = threading.Timer(seconds, act, words)
    timer.daemon = True
    timer.start()
    return timer


def _not_started(
    name: str, doing: str, todo: str, error: OSError, cwd: Path | None
) -> TockmarkError:
    """Return the error for a program that cannot be run."""
    before = f"{doing}: " if doing else ""
    if cwd is not None and str(error.filename) == str(cwd):
        return TockmarkError(f"{before}cannot enter {cwd}: {error.strerror}", todo)
    if isinstance(error, FileNotFoundError) and error.filename == name:
        return TockmarkError(f"{before}{Path(name).name} was not found", todo)
    return TockmarkError(f"{before}cannot run {name}: {error.strerror}", todo, INCOMPLETE)
