# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The UART protocol (docs/contributing.md): decode the lines of a log into records and marks.

A line is `#tm <seq> <app> <text> *<crc>`, and kernel messages may come between lines. A line that
is repeated at once counts once. A record is kept only if all its lines and the line after it are
intact, since only then no continuation was lost. Everything else becomes a `Problem`. Two kinds of
records need no line after them: `end`, since nothing follows it, and `data` that ends with a full
stop.

Marks add what an app cannot print. A `BootMark` names the boot that printed the lines after it. A
`Mark`, a line `#sim <cycle> <name> *<crc>`, is a time on the simulator's own clock. The core's
counters stop while it sleeps, and an app cannot see when an interrupt rises. The simulator marks
when the core reaches an address with a name, and when an interrupt rises or is taken.
docs/contributing.md describes how a row gets its samples from marks, if its `bench` record has
`clock=sim from=<name> to=<name>`.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from operator import attrgetter

from tockmark.suite.catalogue import ICACHE, LANGS, Lang, parse_language
from tockmark.wire.uart_line import (
    ESCAPE,
    LOG_MARKS,
    RESET,
    SIM_MARK,
    START,
    UartLine,
    decode_line,
    with_checksum,
)

STARTS = (START, *LOG_MARKS)  # any other line with one of these is damaged
CLOSED = "."  # the last word of a data record that is complete
ARM = "arm"  # the mark before each sample; earlier marks do not count
FULL = "full"  # the simulator's last mark, when it stops marking
MAX_SAMPLES = 1_000_000  # of a series, so that a damaged or hostile count does not fill the memory

_COUNT = "[0-9]{1,10}"  # enough for 32 bits; int() fails for thousands of digits
_RUN = re.compile(rf"(?:({_COUNT})|\(({_COUNT}(?:,{_COUNT}){{1,3}})\))(?:\*([1-9][0-9]{{0,9}}))?")
BOOT_NAME = "[A-Za-z0-9_-]{1,40}"
_BOOT = re.compile(
    rf"#(?P<what>boot|end) (?P<name>{BOOT_NAME}) icache=(?P<icache>on|off) "
    rf"app=(?P<app>[a-z][a-z0-9_]{{0,11}})(?: lang=(?P<lang>{'|'.join(LANGS)}))? "
    r"\*(?P<crc>[0-9a-f]{4})"
)
_MARK = re.compile(r"#sim (?P<cycle>\d{1,20}) (?P<name>[a-z0-9_]+) \*(?P<crc>[0-9a-f]{4})")
_PART = re.compile(  # a word or pair of a record, and the space after it
    r"""(?:(?P<key>[a-z_][a-z0-9_]*)=(?:"(?P<quoted>[^"]*)"|(?P<plain>[^\s"]+))"""
    r"""|(?P<word>[^ ="]+))(?: |$)"""
)


@dataclass(frozen=True)
class BootMark:
    """A mark before and after the output of a boot: what was booted, and with which settings.

    The program that captures a log writes it. With the checksum and the second mark, a boot's cache
    setting is never applied to the output of another boot.
    """

    name: str
    icache: bool
    app: str  # the reporting app of this boot
    ends: bool = False
    lang: Lang | None = None  # of its apps; in every mark of a log, unless all apps are in C

    def encode(self) -> str:
        what = "end" if self.ends else "boot"
        lang = f"lang={self.lang} " if self.lang else ""
        icache = ICACHE[self.icache]
        return with_checksum(f"#{what} {self.name} icache={icache} app={self.app} {lang}")


@dataclass(frozen=True)
class Problem:
    """Something in a log that was lost, damaged or in the wrong place."""

    app: str | None
    message: str
    line: int | None = None

    def __str__(self) -> str:
        where = f"line {self.line}: " if self.line is not None else ""
        return f"{where}{self.app}: {self.message}" if self.app else f"{where}{self.message}"


class Gap(Problem):
    """A loss of lines of an app: `data` after it does not belong to the `bench` before it."""


class Cut(Gap):
    """The log or the boot ends before the app does."""


class Back(Gap):
    """The sequence number of an app went back without a `begin`."""


class Restart(Gap):
    """An app began again in the same log, for example after a reset."""


@dataclass(frozen=True)
class Record:
    """A record: its kind (`begin`, `bench`, …), its words and its `key=value` pairs.

    The record's own keys come last; a parameter may have the same name.
    """

    app: str
    kind: str
    words: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]
    line: int


@dataclass(frozen=True)
class Mark:
    """A mark of the simulator: its line in the log, the cycle, and its name."""

    line: int
    cycle: int
    name: str

    def encode(self) -> str:
        """Return the line of the mark, without its newline."""
        return with_checksum(f"{SIM_MARK}{self.cycle} {self.name} ")


def decode_mark(raw: str, line: int) -> Mark | None:
    """Return the simulator's mark in a line of a log, or None."""
    match = _MARK.fullmatch(raw.rstrip("\r\n"))
    mark = Mark(line, int(match["cycle"]), match["name"]) if match else None
    return mark if mark and mark.encode() == raw.rstrip("\r\n") else None


@dataclass
class Marks:
    """The simulator's marks of a boot, in the order of the log."""

    marks: list[Mark] = field(default_factory=list)
    since_reset: dict[str, Mark] = field(default_factory=dict)  # the first of each name

    def __len__(self) -> int:
        return len(self.marks)

    def append(self, mark: Mark) -> None:
        self.marks.append(mark)
        if mark.name == RESET or RESET in self.since_reset:
            self.since_reset.setdefault(mark.name, mark)

    def row_marks(self, start: str, end: str, before: int, line: int) -> list[Mark]:
        """Return the marks of a row. They are between the record before it, at line `before`, and
        its own, at `line`; for a row that starts at reset, anywhere before its record."""
        if start == RESET:
            marks = [
                self.since_reset[name] for name in (RESET, end, FULL) if name in self.since_reset
            ]
            return sorted((mark for mark in marks if mark.line < line), key=attrgetter("line"))
        first = bisect_right(self.marks, before, key=attrgetter("line"))
        return self.marks[first : bisect_left(self.marks, line, key=attrgetter("line"))]


def intervals(marks: Sequence[Mark], start: str, end: str, count: int) -> list[tuple[int, int]]:
    """Return the first and the last cycle of `count` samples: after each mark `arm`, from the first
    mark `start` to the next mark `end`.

    A start from `reset` is a single sample, without `arm`. ValueError if a sample lacks a mark, or
    there are too few: then no sample of the row can be trusted.
    """
    samples: list[tuple[int, int]] = []
    started: int | None = None
    armed = start == RESET
    for mark in marks:
        if len(samples) == count:
            break
        if mark.name == FULL:
            raise ValueError("the simulator stopped marking: the boot has too many marks")
        if mark.name == ARM and start != RESET:
            if armed:
                raise ValueError(
                    f"sample {len(samples) + 1} has no {_missing(start, end, started)}"
                )
            armed, started = True, None
        elif armed and started is None and mark.name == start:
            started = mark.cycle
        elif armed and started is not None and mark.name == end:
            samples.append((started, mark.cycle))
            if not 0 <= mark.cycle - started < 2**32:
                raise ValueError(f"sample {len(samples)} has {mark.cycle - started} cycles")
            armed = False
    if len(samples) < count:
        missing = f": no {_missing(start, end, started)}" if armed else ""
        raise ValueError(f"{len(samples)} of {count} samples have their marks{missing}")
    return samples


def _missing(start: str, end: str, started: int | None) -> str:
    return f"mark {start if started is None else end}"


Item = Record | Problem | BootMark | Mark  # in a log


def decode_boot_mark(raw: str) -> BootMark | None:
    """Return the intact boot mark in a line, or None."""
    match = _BOOT.fullmatch(raw.rstrip("\r\n"))
    if not match:
        return None
    ends = match["what"] == "end"
    lang = parse_language(match["lang"]) if match["lang"] else None
    icache = match["icache"] == ICACHE[True]
    mark = BootMark(match["name"], icache, match["app"], ends, lang)
    return mark if mark.encode() == match[0] else None


def parse_record(app: str, text: str, line: int) -> Record:
    """Parse the joined text of a record. ValueError if it does not follow the grammar."""
    kind, _, rest = text.partition(" ")
    words: list[str] = []
    pairs: list[tuple[str, str]] = []
    at = 0
    while at < len(rest):
        part = _PART.match(rest, at)
        if part is None:
            raise ValueError(f"{rest[at : at + 40]!r} is neither a word nor key=value")
        if part["word"] is not None:
            words.append(part["word"])
        else:
            value = part["plain"] if part["quoted"] is None else part["quoted"]
            pairs.append((part["key"], value))
        at = part.end()
    if rest.endswith(" "):
        raise ValueError("a space at its end")
    return Record(app, kind, tuple(words), tuple(pairs), line)


@lru_cache(1 << 16)  # the layouts of a kernel share many
def expand(runs: str) -> tuple[int, ...]:
    """Decode samples from the notations `a`, `a*n` and `(a,b)*n`."""
    samples: list[int] = []
    for word in runs.split(" "):
        match = _RUN.fullmatch(word)
        if not match:
            raise ValueError(f"{word[:40]!r} is not a run of samples")
        group = list(map(int, (match[1] or match[2]).split(",")))
        if max(group) > 0xFFFF_FFFF:
            raise ValueError(f"{word!r} does not fit in 32 bits")
        count = int(match[3] or "1")
        if len(samples) + count * len(group) > MAX_SAMPLES:
            raise ValueError(f"{word!r} makes more than {MAX_SAMPLES} samples")
        samples += group * count
    return tuple(samples)


def compress(samples: Sequence[int]) -> str:
    """Encode samples in the shortest notation at each step. `expand` decodes them."""
    words: list[str] = []
    at = 0
    while at < len(samples):
        best_count, size = 1, 1
        for period in range(1, 5):
            if samples[at] != samples[min(at + period, len(samples) - 1)]:
                continue
            group = samples[at : at + period]
            count = 1
            while samples[at + count * period : at + (count + 1) * period] == group:
                count += 1
            if count > 1 and count * period > best_count * size:
                best_count, size = count, period
        group = samples[at : at + size]
        word = str(group[0]) if size == 1 else f"({','.join(map(str, group))})"
        words.append(f"{word}*{best_count}" if best_count > 1 else word)
        at += best_count * size
    return " ".join(words)


@dataclass
class _AppLines:
    """The decoder's state for an app: the next sequence number, and the open record."""

    expected: int = 0
    parts: list[str] = field(default_factory=list)
    first_line: int = 0
    has_gap: bool = False  # a gap was reported, and no record has begun since
    ended: bool = False

    @property
    def closed(self) -> bool:
        """Whether the open record is complete without a further line."""
        return bool(self.parts) and (
            self.parts[0].startswith("data ") and self.parts[-1].split(" ")[-1] == CLOSED
        )


class Decoder:
    """Decodes the lines of a log into records, marks and problems; `Gap`s where lines were lost."""

    def __init__(self) -> None:
        self._apps: dict[str, _AppLines] = {}
        self._number = 0
        self._previous = ""  # line

    def feed(self, raw: str) -> Iterator[Item]:
        """Decode one line of the log."""
        self._number += 1
        raw = raw.rstrip("\r\n")
        before, self._previous = self._previous, raw
        if raw == before:
            return
        line = decode_line(raw)
        if line is not None:
            yield from self._take(line)
        elif raw.startswith(ESCAPE):
            if START in raw:
                yield self._damaged_line(raw)
        elif (mark := decode_mark(raw, self._number)) is not None:
            yield mark
        elif (boot_mark := decode_boot_mark(raw)) is not None:
            yield from self.close()
            self._apps = {}
            yield boot_mark
        elif any(start in raw for start in STARTS):
            yield self._damaged_line(raw)

    def close(self) -> Iterator[Record | Problem]:
        """Report what is incomplete at the end of the log."""
        for app, state in self._apps.items():
            if state.parts:
                yield Cut(app, f"cut off in or after '{_start(state.parts)}'", state.first_line)
                state.parts = []
            if not state.ended:
                yield Cut(app, "the log stops before its 'end'", None)

    def _damaged_line(self, raw: str) -> Problem:
        return Problem(None, f"damaged line: {raw.strip()[:70]!r}", self._number)

    def _take(self, line: UartLine) -> Iterator[Record | Problem]:
        state = self._apps.setdefault(line.app, _AppLines())
        if line.seq == 0 and line.text.startswith("begin "):
            if state.expected:
                message = "began again; its earlier records are ignored"
                yield Restart(line.app, message, self._number)
            state = self._apps[line.app] = _AppLines()
        elif line.seq != state.expected:
            yield self._gap(line, state)
        state.expected = line.seq + 1
        text = line.text.removeprefix("+ ")
        ends = line.text.startswith("end ")  # nothing can follow it
        state.ended |= ends
        if text == line.text:
            yield from self._flush(line.app, state)
            state.parts, state.first_line, state.has_gap = [text], self._number, False
        elif state.parts:
            state.parts.append(text)
        elif not state.has_gap:
            yield Gap(line.app, "a continuation without its beginning", self._number)
        if ends or state.closed:
            yield from self._flush(line.app, state)

    def _gap(self, line: UartLine, state: _AppLines) -> Problem:
        """Report lost lines of an app. The open record may lack its end, so drop it too."""
        if line.seq < state.expected:
            message = f"line {line.seq} is repeated or out of order, {state.expected} was expected"
        elif line.seq == state.expected + 1:
            message = f"lost line {state.expected}"
        else:
            message = f"lost lines {state.expected} to {line.seq - 1}"
        if state.parts:
            message += f"; with it '{_start(state.parts)}'"
            state.parts = []
        state.has_gap = True
        kind = Back if line.seq < state.expected else Gap
        return kind(line.app, message, self._number)

    def _flush(self, app: str, state: _AppLines) -> Iterator[Record | Problem]:
        if not state.parts:
            return
        text, state.parts = " ".join(state.parts), []
        try:
            yield parse_record(app, text, state.first_line)
        except ValueError as error:
            yield Gap(app, f"invalid record: {error}", state.first_line)


def _start(parts: list[str]) -> str:
    return " ".join(parts[0].split(" ")[:2])


def decode(lines: Iterable[str]) -> list[Item]:
    """Decode a whole log."""
    decoder = Decoder()
    out: list[Item] = []
    for line in lines:
        out += decoder.feed(line)
    return out + list(decoder.close())
