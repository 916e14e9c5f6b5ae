# SPDX-License-Identifier: Apache-2.0 OR MIT
"""External programs end with the tool, even if it is killed, and keep within their bounds."""

import fcntl
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tockmark.base import processes
from tockmark.base.errors import TockmarkError
from tockmark.base.processes import STDOUT, Bounds
from tockmark.base.watcher import GRACE

SOON = GRACE + 20.0  # seconds, enough on a busy machine
MARK = "TOCKMARK_TEST_MARK"  # in the environment of all programs of a test
STEPS = 12  # random lines at which a tool is killed while it starts programs

# A tool that starts programs, and kills itself before a given line of processes.py.
TOOL = """
import os, signal, sys
from tockmark.base import processes
left = int(sys.argv[1])

def step(frame, event, _):
    global left
    if frame.f_code.co_filename != processes.__file__:
        return None
    if event == "line":
        left -= 1
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)
    return step

sys.settrace(step)
simulator = processes.start(["sleep", "1000"])
build = processes.start(["sh", "-c", "sleep 1000 & setsid sleep 1000 & wait"], family=True)
processes.run(["true"])
print(next(processes.start(["sh", "-c", "echo up; sleep 1000"]).lines()))
build.end()
sys.settrace(None)
print(int(sys.argv[1]) - left)
"""


def marked(mark: str) -> dict[int, str]:
    """Return the command line of every process with the mark in its environment, by process id."""
    processes_ = {}
    for folder in Path("/proc").iterdir():
        try:
            if f"{MARK}={mark}".encode() in (folder / "environ").read_bytes().split(b"\0"):
                processes_[int(folder.name)] = (folder / "cmdline").read_text().replace("\0", " ")
        except (OSError, ValueError):
            continue
    return processes_


def left_of(mark: str) -> dict[int, str]:
    """Return the marked processes that still run after some time. There should be none."""
    until = time.monotonic() + SOON
    while (remaining := marked(mark)) and time.monotonic() < until:
        time.sleep(0.02)
    return remaining


def tool(script: str, mark: str, *words: str, scratch: Path) -> "subprocess.Popen[str]":
    environment = os.environ | {MARK: mark, "TMPDIR": str(scratch)}
    command = [sys.executable, "-c", script, *words]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)


def test_no_process_is_left_at_any_step_of_a_kill(tmp_path: Path) -> None:
    with tool(TOOL, "whole", "0", scratch=tmp_path) as whole:
        output, _ = whole.communicate()
        assert output.startswith("up\n")
        steps = int(output.removeprefix("up\n"))
    assert left_of("whole") == {}
    assert steps > 50
    for step in random.Random(28).sample(range(1, steps), STEPS):
        with tool(TOOL, f"step {step}", str(step), scratch=tmp_path) as killed:
            assert killed.wait() == -signal.SIGKILL, step
        assert left_of(f"step {step}") == {}, step
    assert list(tmp_path.iterdir()) == []  # and no scratch folder


def test_a_program_that_ignores_sigterm_is_killed(tmp_path: Path) -> None:
    deaf = "trap '' TERM INT HUP; while :; do sleep 0.1; done"
    script = (
        "from tockmark.base import processes as p\n"
        f"one = p.start(['sh', '-c', {deaf!r}])\n"
        f"two = p.start(['sh', '-c', {deaf!r}], family=True)\n"
        "print('up', flush=True); one.wait()"
    )
    with tool(script, "deaf", scratch=tmp_path) as deafened:
        assert deafened.stdout is not None
        assert deafened.stdout.readline() == "up\n"
        deafened.kill()
    assert left_of("deaf") == {}


def test_a_family_ends_while_the_tool_continues(monkeypatch: pytest.MonkeyPatch) -> None:
    """This includes a child that left the session and the process group."""
    monkeypatch.setenv(MARK, "family")
    script = "sleep 1000 & setsid sh -c 'sleep 1000 & sleep 1000' & echo up; wait"
    child = processes.start(["sh", "-c", script], family=True)
    assert next(iter(child.lines())) == "up"
    assert child.end() == -signal.SIGTERM  # SIGTERM was enough
    assert marked("family") == {}


def test_orphans_of_a_family_end_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MARK, "daemon")
    done = processes.run(["sh", "-c", "setsid sleep 1000 >&- 2>&- & exit 3"], family=True)
    assert done.code == 3
    assert marked("daemon") == {}


def test_a_program_holds_the_lock_that_it_inherits(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        child = processes.start(["sleep", "1000"], hold=[file.fileno()])
    with lock.open("w") as file:
        with pytest.raises(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        child.end()
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


@pytest.mark.parametrize("family", [False, True])
def test_a_program_beyond_its_bounds_is_ended(family: bool, tmp_path: Path) -> None:
    with pytest.raises(TockmarkError, match=r"64 KiB"):
        processes.run(["yes"], doing="working", family=family, bounds=Bounds(size=1 << 16))
    with pytest.raises(TockmarkError, match=r"0\.2 s"):
        processes.run(["sleep", "1000"], family=family, bounds=Bounds(0.2))
    child = processes.start(["yes"], family=family, bounds=Bounds(size=1 << 16))
    assert len(list(child.lines())) == 1 << 15
    assert child.end() != 0
    assert child.why == "printed more than 64 KiB"


def test_a_line_without_an_end_arrives_in_parts() -> None:
    child = processes.start(["head", "-c", "200000", "/dev/zero"])
    parts = list(child.lines())
    assert max(map(len, parts)) <= processes.LONGEST_LINE
    assert sum(map(len, parts)) == 200_000


def test_the_size_of_a_log_is_limited(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with log.open("wb") as out:
        child = processes.follow(["yes"], stdout=out, stderr=STDOUT, bounds=Bounds(size=1 << 20))
    assert child.why == "printed more than 1024 KiB"
    assert log.stat().st_size == 1 << 20


@pytest.mark.parametrize("family", [False, True])
def test_a_program_that_cannot_start_is_one_line(family: bool, tmp_path: Path) -> None:
    with pytest.raises(TockmarkError, match=r"no-such"):
        processes.run(["no-such"], doing="working", todo="install it", family=family)
    with pytest.raises(TockmarkError, match=f"^cannot enter {tmp_path}/no: "):
        processes.run(["true"], cwd=tmp_path / "no", family=family)


def test_a_file_that_is_not_a_program_is_refused(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_bytes(b"\x7fELF, but no more")
    program.chmod(0o755)
    with pytest.raises(TockmarkError, match=f"^cannot run {program}: Exec format error"):
        processes.run([program])


def test_each_program_has_a_temporary_scratch_folder(tmp_path: Path) -> None:
    done = processes.run(["sh", "-c", "touch $TMPDIR/x; echo $TMPDIR"], family=True)
    assert not Path(done.text.strip()).exists()


def test_input_and_both_streams_are_complete() -> None:
    given = bytes(range(256)) * 2000
    done = processes.run(["sh", "-c", "tee /dev/stderr"], input=given)
    assert (done.out, done.err, done.code) == (given, given, 0)


def test_a_killed_watcher_is_replaced() -> None:
    processes.run(["true"])
    watcher = processes._watcher().process
    watcher.kill()
    watcher.wait()
    assert processes.run(["echo", "on"]).text == "on\n"
