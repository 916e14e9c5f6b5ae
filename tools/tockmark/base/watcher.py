# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The watcher process, which ends external programs with the tool that started them (processes.py).

Only the tool holds the write end of a pipe. At the end of file the tool has ended, also by SIGKILL,
or wants its programs to end. Without a command the watcher ends the programs in its process group,
which they join before exec. With a command it starts the command, and ends all its descendants;
daemons also, because orphans are handed to the nearest `subreaper`. This file imports no other
module of tockmark, so that it starts quickly.
"""

import os
import select
import shutil
import signal
import sys
import time

GRACE = 0.5  # seconds from SIGTERM to SIGKILL
PATIENCE = 10.0  # seconds to wait for programs after SIGKILL
LOOK = 0.02  # seconds between checks for running programs
_PDEATHSIG, _SUBREAPER = 1, 36  # options of prctl
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)  # for the programs, not the watcher


def main(pipe: int, folder: str, command: list[str]) -> int:
    """Wait for the end of the tool or of the command, then end all programs.

    Remove the scratch folder, and return the command's exit code, negative for a signal."""
    for number in _SIGNALS:
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
    """Start the command and return its process id; it keeps the standard streams."""
    import ctypes

    prctl = ctypes.CDLL(None).prctl
    prctl(_SUBREAPER, 1, 0, 0, 0)
    child = os.fork()
    if not child:
        prctl(_PDEATHSIG, signal.SIGKILL, 0, 0, 0)  # in case the watcher is killed
        for number in (*_SIGNALS, signal.SIGPIPE, signal.SIGXFSZ):
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
    """End all programs: SIGTERM, then SIGKILL after GRACE."""
    begun = time.monotonic()
    signalled: set[int] = set()
    while (running := _running()) and time.monotonic() < begun + PATIENCE:
        late = time.monotonic() > begun + GRACE
        for process in running if late else running - signalled:
            try:
                os.kill(process, signal.SIGKILL if late else signal.SIGTERM)
            except ProcessLookupError:
                continue
        signalled |= running
        time.sleep(LOOK)


def _running() -> set[int]:
    """Return the running processes of this process group and the descendants of this process."""
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
    while new:  # also through zombies
        new = {number for number, parent in parents.items() if parent in new} - ours
        ours |= new
    return ours & running - {own}


if __name__ == "__main__":
    code = main(int(sys.argv[1]), sys.argv[2], sys.argv[3:])
    if code < 0:  # end by the same signal
        if -code != signal.SIGKILL:
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    sys.exit(code)
