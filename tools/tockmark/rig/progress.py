# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What a long run shows while it goes: bars on a terminal, a plain line now and then elsewhere."""

import shutil
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn

Thing = TypeVar("Thing")
PLAIN_EVERY = 10.0  # seconds between the lines of a run whose output goes to a file


@dataclass
class Status:
    """How far one app is; the thread that runs it writes here, the display reads."""

    app: str
    rows_expected: int
    state: str = "waiting"
    rows: int = 0
    cycles: int = 0
    weight: float = 1  # its share of the whole work, in any unit
    started: float | None = None
    seconds: float = 0.0
    done: bool = False

    def line(self) -> str:
        if self.started is not None and not self.done:
            self.seconds = time.monotonic() - self.started
        return (
            f"{self.state}, {min(self.rows, self.rows_expected)} of {self.rows_expected} rows,"
            f"{millions(self.cycles)} {self.seconds:.0f} s"
        )

    @property
    def share(self) -> float:
        """How much of it is done."""
        return 1.0 if self.done else min(self.rows / max(self.rows_expected, 1), 1.0)


def millions(cycles: int) -> str:
    """Cycles for people, with a comma; nothing on a board, which does not tell them."""
    return f" {cycles / 1e6:.1f} M cycles," if cycles else ""


LEAST = 0.05  # of the work must be done before the time left can be told


def left(statuses: Sequence[Status], seconds: float) -> str:
    """The time left of the whole run, from what is done of it by weight."""
    whole = sum(status.weight for status in statuses)
    done = sum(status.weight * status.share for status in statuses) / whole if whole else 1.0
    if done >= 1 or done < LEAST:
        return ""
    rest = seconds * (1 - done) / done
    return f", {rest:.0f} s left" if rest < 100 else f", {rest / 60:.0f} min left"


def counted(things: Iterable[Thing], total: int, what: str) -> Iterator[Thing]:
    """The things, while stderr shows how many there were: on one line of a terminal, and now and
    then elsewhere."""
    last = time.monotonic()
    live = sys.stderr.isatty()
    for count, thing in enumerate(things, 1):
        yield thing
        if live:
            end = "\n" if count == total else ""
            print(f"\r{count} of {total} {what}", end=end, file=sys.stderr, flush=True)
        elif time.monotonic() - last >= PLAIN_EVERY:
            last = time.monotonic()
            print(f"{count} of {total} {what}", file=sys.stderr, flush=True)


class ProgressLine:
    """One task that says what it does: on a line of a terminal that is written anew, elsewhere when
    it begins and when it has ended."""

    def __init__(self, what: str) -> None:
        self.what = what
        self.began = time.monotonic()
        self.live = sys.stderr.isatty()

    def __enter__(self) -> "ProgressLine":
        if not self.live:
            print(f"{self.what} …", file=sys.stderr, flush=True)
        return self

    def show(self, said: str) -> None:
        """What it said last."""
        if self.live:
            self._write(f"{self._told()}  {said}")

    def __exit__(self, *error: object) -> None:
        self._write(f"{self._told()}{', ended early' * (error[0] is not None)}")
        if self.live:
            print(file=sys.stderr)

    def _told(self) -> str:
        return f"{self.what}: {time.monotonic() - self.began:.0f} s"

    def _write(self, text: str) -> None:
        if self.live:
            width = shutil.get_terminal_size().columns - 1
            print(f"\r\x1b[K{text[:width]}", end="", file=sys.stderr, flush=True)
        else:
            print(text, file=sys.stderr, flush=True)


class Display(Protocol):
    """Either way of showing it."""

    def show(self) -> None: ...

    def close(self) -> None: ...


def display(statuses: Sequence[Status]) -> Display:
    """The display that fits where stderr goes."""
    return Bars(statuses) if sys.stderr.isatty() else Lines(statuses)


@dataclass
class Lines:
    """Plain lines: when an app is done, and every PLAIN_EVERY seconds what still runs."""

    statuses: Sequence[Status]
    reported: set[str] = field(default_factory=set)
    last: float = field(default_factory=time.monotonic)
    began: float = field(default_factory=time.monotonic)

    def show(self) -> None:
        due = time.monotonic() - self.last >= PLAIN_EVERY
        for status in self.statuses:
            running = status.started is not None and not status.done
            if (status.done and status.app not in self.reported) or (due and running):
                print(f"{status.app}: {status.line()}", file=sys.stderr, flush=True)
            if status.done:
                self.reported.add(status.app)
        if due:
            self.last = time.monotonic()
            done = sum(status.done for status in self.statuses)
            rest = left(self.statuses, self.last - self.began)
            print(f"all: {done} of {len(self.statuses)} boots{rest}", file=sys.stderr, flush=True)

    def close(self) -> None:
        self.show()


class Bars:
    """One bar an app, and one for all."""

    def __init__(self, statuses: Sequence[Status]) -> None:
        self.statuses = statuses
        self.started = time.monotonic()
        self.progress = Progress(
            TextColumn("{task.description:16}"),
            BarColumn(bar_width=24),
            TextColumn("{task.fields[line]}"),
            console=Console(stderr=True),
        )
        total = sum(status.rows_expected for status in statuses)
        self.all: TaskID = self.progress.add_task("all", total=total, line="")
        self.tasks = {
            status.app: self.progress.add_task(
                status.app, total=status.rows_expected, line="", visible=False
            )
            for status in statuses
        }
        self.progress.start()

    def show(self) -> None:
        for status in self.statuses:
            self.progress.update(
                self.tasks[status.app],
                completed=status.rows,
                line=status.line(),
                visible=status.started is not None and not status.done,
            )
        done = sum(status.done for status in self.statuses)
        cycles = millions(sum(status.cycles for status in self.statuses))
        wall = time.monotonic() - self.started
        line = f"{done} of {len(self.statuses)} boots done,{cycles} {wall:.0f} s"
        line += left(self.statuses, wall)
        rows = sum(status.rows for status in self.statuses)
        self.progress.update(self.all, completed=rows, line=line)

    def close(self) -> None:
        self.show()
        self.progress.stop()
