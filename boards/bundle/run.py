# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Loads each boot of this bundle onto a board, and writes what the board says into one log.

It needs Python 3.8 on Linux or macOS, and nothing else; pyserial reads the port where it is there.
It captures and judges nothing: whoever made the bundle reads the log, by `tockmark board agree`.

The log holds the board's bytes as they came. Between its lines stand this script's own, `#capture`
and JSON: `t` is in seconds since the start; `cut` says that the board's line had no end yet.
"""

from __future__ import annotations

import argparse
import errno
import fcntl
import hashlib
import json
import os
import platform
import select
import shlex
import shutil
import subprocess
import sys
import tempfile
import termios
import time
import tty
from pathlib import Path
from typing import Any

try:
    import serial
except ImportError:  # then termios reads the port
    serial = None

HERE = Path(__file__).resolve().parent
IMAGE = "{image}"  # in the loader's command: the file
TRIES = 2  # of a load that fails
LOAD_S = 600  # a loader that takes longer hangs
READ_S = 0.2  # that a look at the port takes
RETRY_S = 0.5  # between two looks for a port that is gone
TICK_S = 1  # at most so often the time stands between the board's lines
LOUD = 10  # times its patience: a boot that speaks for so long without an end has none
KEPT = "what came is kept; the same command with --resume goes on"


class StopError(Exception):
    """One line for the person at the board, and the exit code."""

    def __init__(self, what: str, code: int = 2) -> None:
        super().__init__(what)
        self.code = code


class Cable:
    """The board's serial port, open for this script alone. OSError, or an error of termios, if it
    cannot be."""

    def __init__(self, path: str, baud: int) -> None:
        self.handle = os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        try:
            fcntl.flock(self.handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            tty.setraw(self.handle, termios.TCSANOW)  # and keep what came
            settings = termios.tcgetattr(self.handle)
            settings[2] = termios.CS8 | termios.CREAD | termios.CLOCAL
            settings[4] = settings[5] = getattr(termios, f"B{baud}")
            termios.tcsetattr(self.handle, termios.TCSANOW, settings)
        except BaseException:
            self.close()
            raise

    def read(self) -> bytes:
        """Return what has come, after a short wait for it. OSError if the port is gone."""
        if not select.select([self.handle], [], [], READ_S)[0]:
            return b""
        data = os.read(self.handle, 4096)
        if not data:
            raise OSError(errno.EIO, "the other side is closed")
        return data

    def close(self) -> None:
        """Let others have it."""
        os.close(self.handle)


class SerialCable(Cable):
    """The port by pyserial, which knows more rates than termios."""

    def __init__(self, path: str, baud: int) -> None:
        class Keeping(serial.Serial):  # type: ignore[misc]
            def _reset_input_buffer(self) -> None:  # pyserial would throw away what came
                pass

        self.port = Keeping(path, baud, timeout=READ_S, exclusive=True)

    def read(self) -> bytes:
        data: bytes = self.port.read(1)
        return data + self.port.read(self.port.in_waiting) if data else data

    def close(self) -> None:
        self.port.close()


CABLE = Cable if serial is None else SerialCable


class LogFile:
    """The log, to which nothing is written but at its end."""

    def __init__(self, path: Path) -> None:
        self.path, self.began, self.told = path, time.monotonic(), 0.0
        self.waiting: list[dict[str, object]] = []
        try:
            before = path.read_bytes() if path.exists() else b"\n"
            self.whole = before.endswith(b"\n")  # its last line is
            self.file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        except OSError as error:
            raise StopError(
                f"cannot write {path}: {error.strerror}; name one with --log"
            ) from error

    def take(self, data: bytes) -> None:
        """Write what the board said; once a second the time first, if no line is cut by it."""
        if self.whole and time.monotonic() - self.told > TICK_S:
            self.say()
        end = data.find(b"\n") + 1
        if self.waiting and end:
            self._write(data[:end])
            self.whole, data = True, data[end:]
            self.say_waiting()
        if data:
            self._write(data)
            self.whole = data.endswith(b"\n")

    def say_between(self, **facts: object) -> None:
        """Write a line of this script's own as soon as the board's line has its end."""
        self.waiting.append({"t": self._now(), **facts})
        if self.whole:
            self.say_waiting()

    def say(self, **facts: object) -> None:
        """Write a line of this script's own now, and cut the board's if it must be."""
        self.waiting.append({"t": self._now(), **facts})
        self.say_waiting()

    def say_waiting(self) -> None:
        """Write the lines that waited."""
        waiting, self.waiting = self.waiting, []
        for facts in waiting:
            cut = {} if self.whole else {"cut": True}
            line = f"#capture {json.dumps({**facts, **cut})}\n"
            self._write(("" if self.whole else "\n").encode() + line.encode("ascii"))
            self.whole, self.told = True, time.monotonic()

    def _now(self) -> float:
        return round(time.monotonic() - self.began, 2)

    def _write(self, data: bytes) -> None:
        try:
            while data:
                data = data[os.write(self.file, data) :]
        except OSError as error:
            what = f"cannot write {self.path}: {error.strerror}; make room: {KEPT}"
            raise StopError(what, 1) from error


class Desk:
    """What is loaded and heard."""

    def __init__(self, given: argparse.Namespace, log: LogFile, port: Cable) -> None:
        self.given, self.log, self.port = given, log, port
        self.tail = b""  # of what came last
        self.count = 0  # of bytes

    def hear(self) -> bool:
        """Write down what has come, and wait for a port that is gone. Return whether any came."""
        try:
            data = self.port.read()
        except OSError:
            self._wait()
            return True  # it gets its time anew
        if data:
            self.log.take(data)
            self.tail = (self.tail + data)[-4096:]
            self.count += len(data)
        return bool(data)

    def _wait(self) -> None:
        path, patience = self.given.port, self.given.patience
        self.log.say(gone=True)
        print(f"the port {path} is gone: plug it in again within {patience} s", flush=True)
        self.port.close()
        until = time.monotonic() + patience
        while time.monotonic() < until:
            time.sleep(RETRY_S)
            try:
                self.port = CABLE(path, self.given.baud)
            except (OSError, termios.error):
                continue
            self.log.say(back=True)
            return
        raise StopError(f"the port {path} was gone for {patience} s; plug it in: {KEPT}", 1)

    def load(self, flash: Path) -> str | None:
        """Call the loader, and hear meanwhile. Return why it failed, if it did."""
        words = [str(flash) if word == IMAGE else word for word in self.given.load]
        with tempfile.TemporaryFile() as said:
            try:
                loader = subprocess.Popen(
                    words, stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT
                )
            except OSError as error:
                return f"{words[0]} does not start: {error.strerror}"
            try:
                until = time.monotonic() + LOAD_S
                while loader.poll() is None and time.monotonic() < until:
                    self.hear()
                if loader.poll() is None:
                    return f"{words[0]} did not end in {LOAD_S} s"
            finally:
                loader.kill()
                loader.wait()
            if loader.returncode == 0:
                return None
            said.seek(0)
            lines = said.read().decode("utf-8", "replace").split("\n")
        last = next((line.strip() for line in reversed(lines) if line.strip()), "without a word")
        return f"{words[0]} failed: {last}"

    def until_end(self, image: str) -> str | None:
        """Hear until the boot says its end. Return what came instead, if it does not."""
        patience = self.given.patience
        heard = began = time.monotonic()
        while f" end ok image={image} ".encode() not in self.tail:
            heard = time.monotonic() if self.hear() else heard
            now = time.monotonic()
            if now - heard > patience:
                return f"silent for {patience} s"
            if now - began > LOUD * patience:
                return f"no end in {LOUD * patience} s"
        return None

    def boot(self, boot: dict[str, str], place: str) -> bool:
        """Load a boot and write down what it says. Return whether it came to its end."""
        name = name_of(boot)
        facts = {"image": boot["image"], "sha256": boot["sha256"]}
        for attempt in range(1, TRIES + 1):
            self.tail, self.count, began = b"", 0, time.monotonic()
            self.log.say(load=name, attempt=attempt, **facts)
            failed = self.load(HERE / "images" / boot["flash"])
            took = round(time.monotonic() - began, 1)
            self.log.say_between(loaded=name, failed=failed, s=took)
            if failed is None:
                break
            print(f"{place} {name}: NOT LOADED: {failed}", flush=True)
        else:
            return False
        why = self.until_end(boot["image"])
        self.log.say(over=name, why=why or "end")
        heard = f"{self.count} bytes, {why or 'its end came'}"
        print(f"{place} {name}: loaded in {took} s; {heard}", flush=True)
        return why is None


def name_of(boot: dict[str, str]) -> str:
    """Return what a boot is called here: its language and its name."""
    return f"{boot['lang']}/{boot['name']}"


def sha256_of(path: Path) -> str:
    """Return a file's sum; none of a file that cannot be read is right."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        return f"{error.strerror}"


def checked(bundle: dict[str, Any]) -> list[dict[str, str]]:
    """Return the boots. StopError if a file is not what the bundle was made with."""
    images, damaged = HERE / "images", "is damaged: unpack the archive again"
    if sha256_of(images / "manifest.json") != bundle["manifest_sha256"]:
        raise StopError(f"images/manifest.json {damaged}")
    boots: list[dict[str, str]] = json.loads((images / "manifest.json").read_text())["boots"]
    for boot in boots:
        if sha256_of(images / boot["flash"]) != boot["sha256"]:
            raise StopError(f"images/{boot['flash']} {damaged}")
    return boots


def opened(path: str, baud: int) -> Cable:
    """Open the port. StopError, with what to do, if that cannot be."""
    todo = {
        errno.ENOENT: "is the cable in? `ls /dev/tty*` shows the ports",
        errno.EACCES: "join the group that `ls -l` names, often dialout, and log in again",
    }
    try:
        return CABLE(path, baud)
    except (OSError, ValueError, AttributeError, termios.error) as error:
        number = getattr(error, "errno", None)
        said = os.strerror(number) if number else str(error)
        more = todo.get(
            number or 0, "end the program that has it open, or name another with --port"
        )
        raise StopError(f"the port {path} cannot be opened: {said}; {more}") from error


def earlier(path: Path, bundle_id: str) -> set[str]:
    """Return the boots that a log has to their end. StopError if it is of another bundle."""
    done, bundles = set(), set()
    for line in path.read_bytes().split(b"\n"):
        try:
            facts = json.loads(line[9:]) if line.startswith(b"#capture ") else {}
        except ValueError:  # one that a full disk cut off
            continue
        if "bundle" in facts:
            bundles.add(facts["bundle"])
        if facts.get("why") == "end":
            done.add(facts["over"])
    if bundles - {bundle_id}:
        raise StopError(f"{path} is of another bundle: name another log with --log")
    return done


def arguments(bundle: dict[str, Any]) -> argparse.Namespace:
    """Return what the command line says, with the bundle's words for what it does not."""
    parser = argparse.ArgumentParser(description="Load each boot, and log what the board says.")
    parser.add_argument("--port", required=True, help="serial port of the board's text")
    parser.add_argument("--baud", type=int, default=bundle["baud"], help="default: %(default)s")
    parser.add_argument("--check", action="store_true", help="check all, load nothing")
    parser.add_argument("--resume", action="store_true", help="go on: skip boots that ended")
    parser.add_argument("--boots", help="only these, also if they ended: c/time,c/loop")
    usual = Path(f"tockmark-{bundle['board']}.log")
    parser.add_argument("--log", type=Path, default=usual, help="default: %(default)s")
    parser.add_argument("--load", help=f"another loader: a command with {IMAGE} for the file")
    parser.add_argument("--by", help="who you are, for the report")
    parser.add_argument("--note", help="what a reader should know: the bitstream, the board")
    silence = bundle["silence_s"]
    parser.add_argument(
        "--patience", type=int, default=silence, help="seconds of silence; default: %(default)s"
    )
    given = parser.parse_args()
    given.load = shlex.split(given.load) if given.load else bundle["load"]
    if not given.load or IMAGE not in given.load:
        raise StopError(f"no loader is known: give --load 'COMMAND {IMAGE}'")
    return given


def run() -> int:
    """Do it, and return the exit code."""
    text = (HERE / "bundle.json").read_bytes()
    bundle, bundle_id = json.loads(text), hashlib.sha256(text).hexdigest()
    given = arguments(bundle)
    boots, log = checked(bundle), given.log
    tool = shutil.which(given.load[0])
    if tool is None:
        raise StopError(f"{given.load[0]} is not on PATH; install it, or name a loader with --load")
    if log.exists() and not given.resume and not given.check:
        raise StopError(f"{log} is there: go on with --resume, or name another with --log")
    done = earlier(log, bundle_id) if log.exists() else set()
    wanted = [boot for boot in boots if name_of(boot) not in done]
    if given.boots is not None:
        names = given.boots.split(",")
        wanted = [boot for boot in boots if name_of(boot) in names]
        if unknown := sorted(set(names) - set(map(name_of, boots))):
            raise StopError(f"there is no boot {unknown[0]}; images/README.md lists them")
    port = opened(given.port, given.baud)
    reader = "termios" if serial is None else f"pyserial {serial.__version__}"
    print(f"all is in place: {len(boots)} images, {tool}, {given.port} by {reader}", flush=True)
    if given.check:
        return 0
    out = LogFile(log)
    facts = {name: getattr(given, name) for name in ("port", "baud", "load", "by", "note")}
    facts["loader_sha256"], facts["reader"] = sha256_of(Path(tool)), reader
    facts["system"] = f"{platform.system()} {platform.release()} {platform.machine()}"
    facts["python"] = platform.python_version()
    at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    out.say(bundle=bundle_id, board=bundle["board"], at=at, **facts)
    desk = Desk(given, out, port)
    try:
        for number, boot in enumerate(wanted, 1):
            if desk.boot(boot, f"[{number}/{len(wanted)}]"):
                done.add(name_of(boot))
    except KeyboardInterrupt:
        out.say(over=None, why="interrupted")
        raise StopError(f"interrupted: {KEPT}", 130) from None
    missing = len(set(map(name_of, boots)) - done)
    print(f"{len(boots) - missing} of {len(boots)} boots came to their end: send {log}", flush=True)
    return 1 if missing else 0


if __name__ == "__main__":
    try:
        sys.exit(run())
    except StopError as error:
        print(f"run.py: {error}", file=sys.stderr)
        sys.exit(error.code)
    except KeyboardInterrupt:
        sys.exit(130)
