# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Interrupts runs and set-ups at seeded moments. A part of `make robustness`.

It checks that a result is complete or absent, that no process keeps running, and that the next run
or set-up cleans up or continues. Every process of an experiment has a unique word in its
environment, so it can be found in /proc even if its parent has ended. This needs Linux.
"""

import contextlib
import os
import random
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tockmark.base.errors import TockmarkError
from tockmark.base.paths import ROOT, RUNS
from tockmark.result import file

WORD = "TOCKMARK_EXPERIMENT"
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
PATIENCE = 60  # seconds in which an interrupted command must end; the machine may be busy
SETUP_MOMENTS = 30  # a set-up is interrupted within this many seconds, so that each makes progress

PrintLine = Callable[[str], None]


def last_line(output: str) -> str:
    """Return the last line of a command's output."""
    return (output.strip().splitlines() or ["no output"])[-1]


@dataclass
class Tally:
    """The outcome of an experiment: how often each ending occurred, and what must not happen."""

    tried: int = 0
    endings: Counter[str] = field(default_factory=Counter)
    lost: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class End:
    """The end of a command. `code` is None if it had to be killed."""

    code: int | None
    in_time: bool  # the signal was sent before the command ended
    output: str
    running: list[str]  # commands that were still running

    def faults(self, where: str) -> Iterator[str]:
        """Yield a message for each effect that an interruption must not have."""
        if self.code is None:
            yield f"{where}: it did not end within {PATIENCE} s"
        for command in self.running:
            yield f"{where}: `{command}` kept running"
        if (
            "/tockmark/" in self.output.partition("Traceback")[2]
        ):  # otherwise Python had not loaded tockmark yet
            yield f"{where}: it ended in a traceback"


def with_word(word: str) -> dict[int, str]:
    """Return the commands of the processes with this word in their environment, by process
    number."""
    commands = {}
    for process in Path("/proc").iterdir():
        with contextlib.suppress(OSError):  # it has ended, or is another user's
            if process.name.isdigit() and word.encode() in _environment(process):
                words = (process / "cmdline").read_bytes().split(b"\0")
                commands[int(process.name)] = b" ".join(words).decode(errors="replace").strip()
    return commands


def _environment(process: Path) -> bytes:
    """Return the environment of a process. It is empty during an `exec`, and always empty in a
    process that has ended and in a kernel thread."""
    while not (environment := (process / "environ").read_bytes()):
        state, parent = (process / "stat").read_text().rpartition(")")[2].split()[:2]
        if state in "ZX" or parent in ("0", "2"):
            break
        time.sleep(0.001)
    return environment


def interrupt(
    command: list[str],
    folder: Path,
    environment: Mapping[str, str],
    moment: float,
    which: signal.Signals | None,
    everyone: bool,
) -> End:
    """Start a command and send it a signal after `moment` seconds (None: no signal). The signal
    goes to the command alone, or to all processes that it started (`everyone`), as from a terminal.
    Processes that keep running are reported and killed."""
    word = f"{WORD}={secrets.token_hex(8)}"
    marked_environment = {**environment, WORD: word.partition("=")[2]}
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            command, cwd=folder, env=marked_environment, stdin=subprocess.DEVNULL,
            stdout=output, stderr=output, start_new_session=True,
        )  # fmt: skip
        in_time, code = False, None
        try:
            if which is not None:
                try:
                    process.wait(moment)
                except subprocess.TimeoutExpired:
                    in_time = True
                    (os.killpg if everyone else os.kill)(process.pid, which)
            with contextlib.suppress(subprocess.TimeoutExpired):
                code = process.wait(PATIENCE if which is not None else None)
            latest = time.monotonic() + PATIENCE
            while (running := with_word(word)) and code is not None and time.monotonic() < latest:
                time.sleep(0.05)
        finally:  # also if the experiment itself is interrupted
            while left := with_word(word):  # repeat: they may have started others
                for number in left:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(number, signal.SIGKILL)
                process.poll()  # a zombie has no environment, so it is not in `left`
            process.wait()
        output.seek(0)
        text = output.read().decode(errors="replace")
    others = [command for number, command in running.items() if number != process.pid]
    return End(code, in_time, text, others)


def runs(trials: int, seed: int, print_line: PrintLine) -> Tally:
    """Interrupt `tockmark run --only time`, by each signal in turn: Ctrl-C goes to all of its
    processes, the other signals to the tool alone. Every second run has an older result to
    replace."""
    tally = Tally(trials)
    rng = random.Random(seed)
    left: set[Path] = set()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        begun = time.monotonic()
        old = _whole_run(folder / "old.json")
        length = time.monotonic() - begun
        for number in range(trials):
            which = SIGNALS[number % len(SIGNALS)]
            where = f"run {number} of seed {seed}, {which.name}"
            path = folder / str(number) / "result.json"
            path.parent.mkdir()
            if number % 2:
                path.write_bytes(old)
            folders_before = _folders()
            end = interrupt(
                _run(path), ROOT, os.environ, rng.uniform(0, length), which,
                which == signal.SIGINT,
            )  # fmt: skip
            left |= _folders() - folders_before
            tally.lost += end.faults(where)
            state, fault = _state(path, old if number % 2 else None)
            tally.endings[f"left {state}" if end.in_time else "ended before the signal"] += 1
            tally.lost += [f"{where}: {fault}"] if fault else []
            hidden = [file for file in path.parent.iterdir() if file.name.startswith(".")]
            tally.endings["left a partial file next to it"] += bool(hidden)
            print_line(f"{number + 1} of {trials}, {which.name}: {state}")
        _whole_run(folder / "last.json")
        tally.endings["left a folder in build/run/"] += len(left)
        tally.lost += [
            f"{path.name} is still in build/run/ after the next run" for path in left & _folders()
        ]
    return tally


def _run(path: Path) -> list[str]:
    command = [sys.executable, "-m", "tockmark", "run", "--fresh", "--only", "time"]
    return [*command, "-o", str(path)]


def _folders() -> set[Path]:
    return set(RUNS.iterdir()) if RUNS.exists() else set()


def _whole_run(path: Path) -> bytes:
    """Run without an interruption and return the result's bytes."""
    done = subprocess.run(_run(path), cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise TockmarkError(f"a run failed: {last_line(done.stderr)}", "run `make build`")
    return path.read_bytes()


def _state(path: Path, old: bytes | None) -> tuple[str, str]:
    """Return what is at a result's path, and what is wrong with it (empty if nothing is)."""
    if not path.exists():
        return "no result", "the older result is gone" if old is not None else ""
    if path.read_bytes() == old:
        return "the older result", ""
    try:
        result = file.load(path)
    except TockmarkError as error:
        return "a damaged result", str(error)
    log = path.with_suffix(".log")
    fault = "" if log.exists() else "a result without its log"
    return ("an incomplete result" if result.incomplete else "a complete result"), fault


def setups(trials: int, seed: int, print_line: PrintLine) -> Tally:
    """Interrupt tools/setup.sh in a copy of the checkout. SIGTERM goes to the script alone, the
    other signals to all of its processes. Each set-up continues from what the last one left; after
    one that completed, the next starts in a new copy. At the end let a set-up complete and check
    it."""
    tally = Tally(trials)
    rng = random.Random(seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "copy"
        copy_checkout(folder)
        for number in range(trials):
            which = SIGNALS[number % len(SIGNALS)]
            where = f"set-up {number} of seed {seed}, {which.name}"
            moment = rng.uniform(0, SETUP_MOMENTS)
            everyone = which != signal.SIGTERM
            end = interrupt(["tools/setup.sh"], folder, bare_environment(), moment, which, everyone)
            tally.endings["stopped" if end.in_time else "ended before the signal"] += 1
            tally.lost += end.faults(where)
            print_line(f"{number + 1} of {trials}, {which.name} after {moment:.0f} s")
            if not end.in_time:
                shutil.rmtree(folder)
                copy_checkout(folder)
        last = interrupt(["tools/setup.sh"], folder, bare_environment(), 0, None, False)
        if last.code or "all is in place" not in last.output:
            tally.lost.append(f"the final set-up failed: {last_line(last.output)}")
            return tally
        print_line("the final set-up completed")
        for check, command in CHECKS.items():
            done = subprocess.run(
                command,
                cwd=folder,
                env=bare_environment(),
                capture_output=True,
                text=True,
                check=False,
            )
            good = done.returncode == 0 and "installing" not in done.stdout
            tally.lost += [] if good else [f"after the set-ups, {check} failed"]
    return tally


# Commands that must succeed after a set-up. A second set-up installs nothing.
CHECKS = {
    "pip check": [".venv/bin/python", "-m", "pip", "check"],
    "tockmark list": [".venv/bin/tockmark", "list"],
    "elf2tab": [".tools/bin/elf2tab", "--version"],
    "setup.sh": ["tools/setup.sh"],
}


def copy_checkout(folder: Path, root: Path = ROOT) -> None:
    """Copy the tracked files of the working tree."""

    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=root, capture_output=True, text=True, check=True
    ).stdout
    for name in filter(None, listed.split("\0")):
        if (root / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(root / name, folder / name)


def bare_environment() -> dict[str, str]:
    """Return the environment without variables that point to this checkout."""
    ours = ("PYTHONPATH", "VIRTUAL_ENV", "CARGO_TARGET_DIR", "MAKE", "MFLAGS")
    return {name: value for name, value in os.environ.items() if not name.startswith(ours)}
