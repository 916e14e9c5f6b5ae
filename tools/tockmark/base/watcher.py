# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A process of this file ends foreign programs with the tool that started them (processes.py).

Only the tool holds the write end of a pipe: at the end of file it is gone, also by SIGKILL, or
wants them to end. Without a command the programs to end are those of the watcher's process group,
which they join before they begin. With a command the watcher starts it, and ends whatever descends
from it, daemons too, which are handed to the nearest `subreaper`. It imports nothing of ours, so
that it starts at once, and ends within GRACE and a moment.
"""

import os
import select
import shutil
import signal
import sys
import time

GRACE = 0.5  # seconds from SIGTERM to SIGKILL
PATIENCE = 10.0  # for what not even SIGKILL ends
LOOK = 0.02  # seconds between two looks at who is left
_PDEATHSIG, _SUBREAPER = 1, 36  # of prctl
_WORDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)  # that are meant for the programs


def main(pipe: int, folder: str, command: list[str]) -> int:
    """Wait for the end of the tool or of the command; end what is left, remove the folder for
    scratch, and return the command's exit code, below zero a signal."""
    for number in _WORDS:
        signal.signal(number, signal.SIG_IGN)
    os.set_inheritable(pipe, False)
    os.makedirs(folder, 0o700, exist_ok=True)
    child = _started(command, folder) if command else 0
    ends = select.poll()
    ends.register(pipe)
    if child:
        ends.register(os.pidfd_open(child))
    ends.poll()
    end()
    shutil.rmtree(folder, ignore_errors=True)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) if child else 0


def _started(command: list[str], folder: str) -> int:
    """Start the command and return its number; its files are left to it."""
    import ctypes

    prctl = ctypes.CDLL(None).prctl
    prctl(_SUBREAPER, 1, 0, 0, 0)
    child = os.fork()
    if not child:
        prctl(_PDEATHSIG, signal.SIGKILL, 0, 0, 0)  # if this watcher is killed itself
        for number in (*_WORDS, signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)
        try:
            os.execvpe(command[0], command, os.environ | {"TMPDIR": folder})
        except OSError as error:
            os.write(2, f"cannot run {command[0]}: {error.strerror}\n".encode(errors="replace"))
        os._exit(127)
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nothing, stream)
    return child


def end() -> None:
    """End all that are left: by SIGTERM, and what runs on after GRACE by SIGKILL."""
    begun = time.monotonic()
    told: set[int] = set()
    while (left := _left()) and time.monotonic() < begun + PATIENCE:
        late = time.monotonic() > begun + GRACE
        for one in left if late else left - told:
            try:
                os.kill(one, signal.SIGKILL if late else signal.SIGTERM)
            except ProcessLookupError:
                continue
        told |= left
        time.sleep(LOOK)


def _left() -> set[int]:
    """Return who runs of this process group, and of those who descend from this process."""
    own, running, ours = os.getpid(), set[int](), set[int]()
    parents: dict[int, int] = {}
    for name in os.listdir("/proc"):
        if not name.isdecimal():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                state, parent, group = file.read().rpartition(b")")[2].split()[:3]
        except OSError:  # it has just ended
            continue
        parents[int(name)] = int(parent)
        if int(group) == own:
            ours.add(int(name))
        if state not in (b"Z", b"X"):
            running.add(int(name))
    new = {own}
    while new:  # also by way of those who have ended, and whose end nobody took note of
        new = {number for number, parent in parents.items() if parent in new} - ours
        ours |= new
    return ours & running - {own}


if __name__ == "__main__":
    code = main(int(sys.argv[1]), sys.argv[2], sys.argv[3:])
    if code < 0:  # as the command did
        if -code != signal.SIGKILL:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    sys.exit(code)
