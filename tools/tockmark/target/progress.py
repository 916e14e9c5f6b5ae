# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Progress of long verbs, on stderr.

On a terminal they show bars, or one line that is updated. Otherwise they print a line from time to
time.
"""

import math
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn

Thing = TypeVar("Thing")
PLAIN_EVERY = 10.0  # seconds between the lines where stderr is not a terminal
MIN_SHARE = 0.05  # of the work must be done before the time left is estimated


class ProgressLine:
    """A line that shows the progress of a verb, but nothing in the first `quiet` seconds. Without a
    terminal, it prints a line every `every` seconds."""

    def __init__(self, quiet: float = 0.0, every: float = PLAIN_EVERY) -> None:
        self.quiet, self.every = quiet, every
        self.began = self.last = time.monotonic()
        self.live = sys.stderr.isatty()

    def show(self, text: str, last: bool = False) -> None:
        """Show the progress if it is due. The last text stays on a terminal."""
        now = time.monotonic()
        if now - self.began < self.quiet:
            return
        if self.live:
            width = shutil.get_terminal_size().columns - 1
            end = "\n" if last else "\r"
            print(f"\r\x1b[K{text[:width]}", end=end, file=sys.stderr, flush=True)
        elif now - self.last >= self.every:
            self.last = now
            _print(text)

    def count(self, what: str, done: int, total: int) -> None:
        """Show how many things are done."""
        self.show(f"{done} of {total} {what}")


def show_count(things: Iterable[Thing], total: int, what: str) -> Iterator[Thing]:
    """Yield the things, and show their number so far."""
    line = ProgressLine()
    for count, thing in enumerate(things, 1):
        yield thing
        line.show(f"{count} of {total} {what}", last=count == total)


@contextmanager
def task(what: str) -> Iterator[Callable[[str], None]]:
    """Show a task and its duration. Yield a function that shows a message on a terminal."""
    line = ProgressLine(every=math.inf)

    def so_far() -> str:
        return f"{what}: {time.monotonic() - line.began:.0f} s"

    if not line.live:
        _print(f"{what} …")
    early = ", ended early"
    try:
        yield lambda message: line.show(f"{so_far()}  {message}")
        early = ""
    finally:
        line.every = 0
        line.show(f"{so_far()}{early}", last=True)


def progress_bars(*columns: ProgressColumn) -> Progress:
    """Return progress bars, which show nothing if stderr is not a terminal."""
    return Progress(*columns, console=Console(stderr=True), disable=not sys.stderr.isatty())


@dataclass
class Status:
    """The progress of one boot. The thread that runs it writes it, the display reads it."""

    title: str
    rows_expected: int
    state: str = "waiting"
    rows: int = 0
    cycles: int = 0
    weight: float = 1  # its share of the work, in any unit
    began: float | None = None
    over: float | None = None
    done: bool = False

    @property
    def running(self) -> bool:
        """Whether it has begun and is not done."""
        return self.began is not None and not self.done

    @property
    def seconds(self) -> float:
        """The duration so far, or of the whole."""
        return 0.0 if self.began is None else (self.over or time.monotonic()) - self.began

    @property
    def share(self) -> float:
        """The share of it that is done, from 0 to 1."""
        return 1.0 if self.done else min(self.rows / max(self.rows_expected, 1), 1.0)

    def report(self) -> str:
        """Return its progress in words."""
        return (
            f"{self.state}, {min(self.rows, self.rows_expected)} of {self.rows_expected} rows,"
            f"{format_cycles(self.cycles)} {self.seconds:.0f} s"
        )


class Display:
    """The progress of a run: on a terminal a bar for each boot and one for all, otherwise a line
    for all from time to time."""

    def __init__(self, statuses: Sequence[Status]) -> None:
        self.statuses = statuses
        self.line = ProgressLine()
        name, line = TextColumn("{task.description:16}"), TextColumn("{task.fields[line]}")
        self.bars = progress_bars(name, BarColumn(bar_width=24), line)
        total = sum(status.rows_expected for status in statuses)
        self.all = self.bars.add_task("all", total=total, line="")
        self.tasks = [
            self.bars.add_task(status.title, total=status.rows_expected, line="", visible=False)
            for status in statuses
        ]
        self.bars.start()

    def show(self) -> None:
        """Show the current progress."""
        if self.bars.disable:
            self.line.show(self._format_all())
            return
        for task_id, status in zip(self.tasks, self.statuses, strict=True):
            line, visible = status.report(), status.running
            self.bars.update(task_id, completed=status.rows, line=line, visible=visible)
        rows = sum(status.rows for status in self.statuses)
        self.bars.update(self.all, completed=rows, line=self._format_all())

    def close(self) -> None:
        """Show the final progress."""
        self.show()
        self.bars.stop()

    def _format_all(self) -> str:
        done = sum(status.done for status in self.statuses)
        cycles = format_cycles(sum(status.cycles for status in self.statuses))
        wall = time.monotonic() - self.line.began
        return (
            f"{done} of {len(self.statuses)} boots done,{cycles} {wall:.0f} s"
            f"{format_time_left(self.statuses, wall)}"
        )


def format_cycles(cycles: int) -> str:
    """Return cycles in millions with a comma; nothing for 0, since a board does not report them."""
    return f" {cycles / 1e6:.1f} M cycles," if cycles else ""


def format_time_left(statuses: Sequence[Status], seconds: float) -> str:
    """Return the estimated time left of the whole run, by the weight that is done."""
    total = sum(status.weight for status in statuses)
    done = sum(status.weight * status.share for status in statuses) / total if total else 1.0
    if done >= 1 or done < MIN_SHARE:
        return ""
    left = seconds * (1 - done) / done
    return f", {left:.0f} s left" if left < 100 else f", {left / 60:.0f} min left"


def _print(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
