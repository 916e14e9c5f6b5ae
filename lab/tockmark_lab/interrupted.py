# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Runs and set-ups that are interrupted at seeded moments: is a result whole or absent, does
nothing go on running, does the next one clear up or go on? A part of `make robustness`.

Whatever an experiment starts carries a word of its own in its environment, by which it is found
again in /proc, also if its parent is gone. Needs Linux.
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
PATIENCE = 60  # seconds for what was interrupted to end; a machine may be busy
SETUP_MOMENTS = 30  # seconds within which a set-up is interrupted, so that it gets on meanwhile

Say = Callable[[str], None]


def last_line(said: str) -> str:
    """Return the last line of what a command said."""
    return (said.strip().splitlines() or ["without a word"])[-1]


@dataclass
class Tally:
    """The outcome of an experiment: how often each end came, and what should not have come."""

    tried: int = 0
    came: Counter[str] = field(default_factory=Counter)
    lost: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class End:
    """How a command ended that may have been interrupted. `code` is None if it had to be killed."""

    code: int | None
    in_time: bool  # the signal came before its end
    said: str
    running: list[str]  # commands that still ran

    def wrong(self, where: str) -> Iterator[str]:
        """Yield what no interruption may lead to."""
        if self.code is None:
            yield f"{where}: it did not end within {PATIENCE} s"
        for command in self.running:
            yield f"{where}: `{command}` went on running"
        if "/tockmark/" in self.said.partition("Traceback")[2]:  # else Python had not loaded it
            yield f"{where}: it ended in a traceback"


def with_word(word: str) -> dict[int, str]:
    """Return the commands of the processes that have this word, by process number."""
    found = {}
    for process in Path("/proc").iterdir():
        with contextlib.suppress(OSError):  # it has ended, or is another user's
            if process.name.isdigit() and word.encode() in _environment(process):
                words = (process / "cmdline").read_bytes().split(b"\0")
                found[int(process.name)] = b" ".join(words).decode(errors="replace").strip()
    return found


def _environment(process: Path) -> bytes:
    """Return the environment of a process. It is empty while an `exec` puts a new one in place, as
    it is for good in a process that has ended and in one of Linux itself."""
    while not (found := (process / "environ").read_bytes()):
        state, parent = (process / "stat").read_text().rpartition(")")[2].split()[:2]
        if state in "ZX" or parent in ("0", "2"):
            break
        time.sleep(0.001)
    return found


def interrupt(
    command: list[str],
    folder: Path,
    environment: Mapping[str, str],
    moment: float,
    which: signal.Signals | None,
    everyone: bool,
) -> End:
    """Start a command and send it a signal (None: none) after so many seconds: to it alone, or to
    all that it started too, as a terminal does. What runs on is told and then killed."""
    word = f"{WORD}={secrets.token_hex(8)}"
    own = {**environment, WORD: word.partition("=")[2]}
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(
            command, cwd=folder, env=own, stdin=subprocess.DEVNULL, stdout=said, stderr=said,
            start_new_session=True,
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
        finally:  # also if the experiment is interrupted itself
            while left := with_word(word):  # again, for what they began meanwhile
                for number in left:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(number, signal.SIGKILL)
                process.poll()  # a zombie has no environment, so it is not among them
            process.wait()
        said.seek(0)
        text = said.read().decode(errors="replace")
    others = [command for number, command in running.items() if number != process.pid]
    return End(code, in_time, text, others)


def runs(trials: int, seed: int, say: Say) -> Tally:
    """Interrupt `tockmark run --only time` so many times, by each signal in turn: Ctrl-C to all of
    it, the others to the tool alone. Every second one has an older result in its place."""
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
            place = folder / str(number) / "result.json"
            place.parent.mkdir()
            if number % 2:
                place.write_bytes(old)
            there = _folders()
            end = interrupt(
                _run(place), ROOT, os.environ, rng.uniform(0, length), which,
                which == signal.SIGINT,
            )  # fmt: skip
            left |= _folders() - there
            tally.lost += end.wrong(where)
            state, wrong = _state(place, old if number % 2 else None)
            tally.came[f"left {state}" if end.in_time else "ended before the signal"] += 1
            tally.lost += [f"{where}: {wrong}"] if wrong else []
            hidden = [path for path in place.parent.iterdir() if path.name.startswith(".")]
            tally.came["left a part of a file beside it"] += bool(hidden)
            say(f"{number + 1} of {trials}, {which.name}: {state}")
        _whole_run(folder / "last.json")
        tally.came["left a folder in build/run/"] += len(left)
        tally.lost += [
            f"{path.name} is in build/run/ behind the next run" for path in left & _folders()
        ]
    return tally


def _run(place: Path) -> list[str]:
    command = [sys.executable, "-m", "tockmark", "run", "--fresh", "--only", "time"]
    return [*command, "-o", str(place)]


def _folders() -> set[Path]:
    return set(RUNS.iterdir()) if RUNS.exists() else set()


def _whole_run(place: Path) -> bytes:
    """Run without an interruption; return the result's bytes."""
    done = subprocess.run(_run(place), cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise TockmarkError(f"a run failed: {last_line(done.stderr)}", "run `make build`")
    return place.read_bytes()


def _state(place: Path, old: bytes | None) -> tuple[str, str]:
    """Say what is at the place of a result, and what is wrong with that, if anything."""
    if not place.exists():
        return "no result", "the older result is gone" if old is not None else ""
    if place.read_bytes() == old:
        return "the older result", ""
    try:
        result = file.load(place)
    except TockmarkError as error:
        return "a torn result", str(error)
    log = place.with_suffix(".log")
    wrong = "" if log.exists() else "a result without its log"
    return ("a result that says what is missing" if result.incomplete else "a whole result"), wrong


def setups(trials: int, seed: int, say: Say) -> Tally:
    """Interrupt tools/setup.sh so many times in a copy of the checkout, where each goes on from
    what the last one left: SIGTERM to the script alone, the others to all of it. One that came to
    its end is followed by one in a new copy. Then let one end, and look whether all is there."""
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
            tally.came["stopped" if end.in_time else "ended before the signal"] += 1
            tally.lost += end.wrong(where)
            say(f"{number + 1} of {trials}, {which.name} after {moment:.0f} s")
            if not end.in_time:
                shutil.rmtree(folder)
                copy_checkout(folder)
        last = interrupt(["tools/setup.sh"], folder, bare_environment(), 0, None, False)
        if last.code or "all is in place" not in last.said:
            tally.lost.append(f"the set-up behind them failed: {last_line(last.said)}")
            return tally
        say("the one behind them came to its end")
        for what, command in CHECKS.items():
            done = subprocess.run(
                command,
                cwd=folder,
                env=bare_environment(),
                capture_output=True,
                text=True,
                check=False,
            )
            good = done.returncode == 0 and "installing" not in done.stdout
            tally.lost += [] if good else [f"behind the set-ups, {what} failed"]
    return tally


# What must do after a set-up; its second time installs nothing.
CHECKS = {
    "pip check": [".venv/bin/python", "-m", "pip", "check"],
    "tockmark list": [".venv/bin/tockmark", "list"],
    "elf2tab": [".tools/bin/elf2tab", "--version"],
    "setup.sh": ["tools/setup.sh"],
}


def copy_checkout(folder: Path, root: Path = ROOT) -> None:
    """Copy the files that git has, as they are here."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=root, capture_output=True, text=True, check=True
    ).stdout
    for name in filter(None, listed.split("\0")):
        if (root / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(root / name, folder / name)


def bare_environment() -> dict[str, str]:
    """Return the environment without what would lead back here."""
    ours = ("PYTHONPATH", "VIRTUAL_ENV", "CARGO_TARGET_DIR", "MAKE", "MFLAGS")
    return {name: value for name, value in os.environ.items() if not name.startswith(ours)}
