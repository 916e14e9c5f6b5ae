# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Long verbs show here how far they are, on stderr: on a terminal with bars or on a line that is
written anew, elsewhere with a plain line now and then.
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
PLAIN_EVERY = 10.0  # seconds between the lines of a verb whose output goes to a file
LEAST = 0.05  # of the work must be done before the time left can be told


class ProgressLine:
    """One line that says how far a verb is. It stays silent for the first `quiet` seconds, and
    where no terminal shows it, says something every so many seconds only."""

    def __init__(self, quiet: float = 0.0, every: float = PLAIN_EVERY) -> None:
        self.quiet, self.every = quiet, every
        self.began = self.last = time.monotonic()
        self.live = sys.stderr.isatty()

    def show(self, text: str, last: bool = False) -> None:
        """Say how far it is, if it is time to; the last text stays on a terminal."""
        now = time.monotonic()
        if now - self.began < self.quiet:
            return
        if self.live:
            width = shutil.get_terminal_size().columns - 1
            end = "\n" if last else "\r"
            print(f"\r\x1b[K{text[:width]}", end=end, file=sys.stderr, flush=True)
        elif now - self.last >= self.every:
            self.last = now
            _say(text)

    def count(self, what: str, done: int, total: int) -> None:
        """Say how many of all things are done."""
        self.show(f"{done} of {total} {what}")


def show_count(things: Iterable[Thing], total: int, what: str) -> Iterator[Thing]:
    """Yield the things, and show how many there were."""
    line = ProgressLine()
    for count, thing in enumerate(things, 1):
        yield thing
        line.show(f"{count} of {total} {what}", last=count == total)


@contextmanager
def task(what: str) -> Iterator[Callable[[str], None]]:
    """Show a task while it goes on, and how long it took; yields what takes its latest words, which
    a terminal alone shows."""
    line = ProgressLine(every=math.inf)

    def so_far() -> str:
        return f"{what}: {time.monotonic() - line.began:.0f} s"

    if not line.live:
        _say(f"{what} …")
    early = ", ended early"
    try:
        yield lambda said: line.show(f"{so_far()}  {said}")
        early = ""
    finally:
        line.every = 0
        line.show(f"{so_far()}{early}", last=True)


def progress_bars(*columns: ProgressColumn) -> Progress:
    """Return bars for a terminal; where stderr is none, they show nothing."""
    return Progress(*columns, console=Console(stderr=True), disable=not sys.stderr.isatty())


@dataclass
class Status:
    """How far one boot is; the thread that runs it writes here, the display reads."""

    title: str
    rows_expected: int
    state: str = "waiting"
    rows: int = 0
    cycles: int = 0
    weight: float = 1  # its share of the whole work, in any unit
    began: float | None = None
    over: float | None = None
    done: bool = False

    @property
    def running(self) -> bool:
        """Whether it has begun, and is not done."""
        return self.began is not None and not self.done

    @property
    def seconds(self) -> float:
        """How long it took, or takes until now."""
        return 0.0 if self.began is None else (self.over or time.monotonic()) - self.began

    @property
    def share(self) -> float:
        """How much of it is done, from 0 to 1."""
        return 1.0 if self.done else min(self.rows / max(self.rows_expected, 1), 1.0)

    def report(self) -> str:
        """Say how far it is."""
        return (
            f"{self.state}, {min(self.rows, self.rows_expected)} of {self.rows_expected} rows,"
            f"{format_cycles(self.cycles)} {self.seconds:.0f} s"
        )


class Display:
    """Shows how far each boot of a run is: a bar each and one for all; where no terminal shows
    them, a plain line for all, now and then."""

    def __init__(self, statuses: Sequence[Status]) -> None:
        self.statuses = statuses
        self.line = ProgressLine()
        name, line = TextColumn("{task.description:16}"), TextColumn("{task.fields[line]}")
        self.bars = progress_bars(name, BarColumn(bar_width=24), line)
        total = sum(status.rows_expected for status in statuses)
        self.all = self.bars.add_task("all", total=total, line="")
        self.tasks = [
            self.bars.add_task(one.title, total=one.rows_expected, line="", visible=False)
            for one in statuses
        ]
        self.bars.start()

    def show(self) -> None:
        """Show how far all are now."""
        if self.bars.disable:
            self.line.show(self._all())
        else:
            self._show_bars()

    def close(self) -> None:
        """Show it for the last time."""
        self.show()
        self.bars.stop()

    def _show_bars(self) -> None:
        for task_id, one in zip(self.tasks, self.statuses, strict=True):
            self.bars.update(task_id, completed=one.rows, line=one.report(), visible=one.running)
        rows = sum(one.rows for one in self.statuses)
        self.bars.update(self.all, completed=rows, line=self._all())

    def _all(self) -> str:
        done = sum(one.done for one in self.statuses)
        cycles = format_cycles(sum(one.cycles for one in self.statuses))
        wall = time.monotonic() - self.line.began
        return (
            f"{done} of {len(self.statuses)} boots done,{cycles} {wall:.0f} s"
            f"{format_time_left(self.statuses, wall)}"
        )


def format_cycles(cycles: int) -> str:
    """Return cycles for people, with a comma; nothing on a board, which does not tell them."""
    return f" {cycles / 1e6:.1f} M cycles," if cycles else ""


def format_time_left(statuses: Sequence[Status], seconds: float) -> str:
    """Return the time left of the whole run, from what is done of it by weight."""
    whole = sum(status.weight for status in statuses)
    done = sum(status.weight * status.share for status in statuses) / whole if whole else 1.0
    if done >= 1 or done < LEAST:
        return ""
    rest = seconds * (1 - done) / done
    return f", {rest:.0f} s left" if rest < 100 else f", {rest / 60:.0f} min left"


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
