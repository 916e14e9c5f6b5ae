# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The UART protocol (docs/contributing.md): lines to records, nothing guessed; and marks of a log.

A line is `#tm <seq> <app> <text> *<crc>`. The decoder takes a log line by line, with any kernel
messages in between. A line that comes twice in a row counts once. A record is kept only when all
its lines came in intact and the line after it did too, because only then is it certain that no
continuation was lost; everything else becomes a `Problem` that says what was lost. Two kinds need
no line after them: `end`, behind which none comes, and `data` that closes with a full stop.

Marks say what no app can. A `BootMark` says which boot printed what follows. A `Mark` is of the
simulator's own clock: the core's counters stand still while it sleeps, and an app cannot see when
an interrupt rose. The simulator can: a log has `#sim <cycle> <name> *<crc>` between the UART's
lines where the core came by an address that has a name, or where an interrupt rose or was taken.
docs/contributing.md says how a row whose `bench` record has `clock=sim from=<name> to=<name>` gets
its samples from them.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from operator import attrgetter

from tockmark.suite.catalogue import ICACHE, LANGS, Lang, language
from tockmark.wire.uart_line import (
    BY_SIMULATOR,
    OWN,
    RESET,
    START,
    TEXT,
    UartLine,
    decode_line,
    sealed,
)

STARTS = (START, *OWN)  # a line with one that is none of ours is damaged
CLOSED = "."  # the last word of a data record, which is whole then
ARM = "arm"  # passed before each sample: what was marked before does not count
FULL = "full"  # the simulator's last mark: it prints no more
MAX_SAMPLES = 1_000_000  # in one series: keeps a damaged or hostile count from filling memory

_COUNT = "[0-9]{1,10}"  # as 32 bits need; int() refuses some thousands, in words of its own
_RUN = re.compile(rf"(?:({_COUNT})|\(({_COUNT}(?:,{_COUNT}){{1,3}})\))(?:\*([1-9][0-9]{{0,9}}))?")
BOOT_NAME = "[A-Za-z0-9_-]{1,40}"
_BOOT = re.compile(
    rf"#(?P<what>boot|end) (?P<name>{BOOT_NAME}) icache=(?P<icache>on|off) "
    rf"app=(?P<app>[a-z][a-z0-9_]{{0,11}})(?: lang=(?P<lang>{'|'.join(LANGS)}))? "
    r"\*(?P<crc>[0-9a-f]{4})"
)
_MARK = re.compile(r"#sim (?P<cycle>\d{1,20}) (?P<name>[a-z0-9_]+) \*(?P<crc>[0-9a-f]{4})")
_PART = re.compile(  # of a record, and the space behind it
    r"""(?:(?P<key>[a-z_][a-z0-9_]*)=(?:"(?P<quoted>[^"]*)"|(?P<plain>[^\s"]+))"""
    r"""|(?P<word>[^ ="]+))(?: |$)"""
)


@dataclass(frozen=True)
class BootMark:
    """Written by whoever captures a log, before what a boot prints: what was booted, and how; and
    again behind it, as an end.

    Checksum and end keep a boot from lending its cache setting to what another one printed.
    """

    name: str
    icache: bool
    app: str  # the only one that reports in this boot
    ends: bool = False
    lang: Lang | None = None  # of its apps; said in every mark of a log unless all are in C

    def encode(self) -> str:
        what = "end" if self.ends else "boot"
        lang = f"lang={self.lang} " if self.lang else ""
        return sealed(f"#{what} {self.name} icache={ICACHE[self.icache]} app={self.app} {lang}")


@dataclass(frozen=True)
class Problem:
    """Something that was lost, torn, altered or out of place, in words."""

    app: str | None
    what: str
    line: int | None = None

    def __str__(self) -> str:
        where = f"line {self.line}: " if self.line is not None else ""
        return f"{where}{self.app}: {self.what}" if self.app else f"{where}{self.what}"


class Gap(Problem):
    """A problem after which the app's data no longer belong to the bench record seen last."""


class Cut(Gap):
    """The log, or this boot of it, is over before the app's end."""


class Back(Gap):
    """The app's lines went back to a smaller number, and its begin is not among them."""


class Restart(Gap):
    """The app began a second time in the same log, as after a reset."""


@dataclass(frozen=True)
class Record:
    """One record: its kind (`begin`, `bench`, …), its plain words and its `key=value` pairs.

    A parameter may have the name of one of the record's own keys, which come last.
    """

    app: str
    kind: str
    words: tuple[str, ...]
    pairs: tuple[tuple[str, str], ...]
    line: int


@dataclass(frozen=True)
class Mark:
    """One mark: its line in the log, the simulator's cycle, and what was passed."""

    line: int
    cycle: int
    name: str

    def encode(self) -> str:
        """Return it as a log has it, without its newline."""
        return sealed(f"{BY_SIMULATOR}{self.cycle} {self.name} ")


def decode_mark(raw: str, line: int) -> Mark | None:
    """Return the mark that a line of the log is, if it is one."""
    match = _MARK.fullmatch(raw.rstrip("\r\n"))
    mark = Mark(line, int(match["cycle"]), match["name"]) if match else None
    return mark if mark and mark.encode() == raw.rstrip("\r\n") else None


@dataclass
class Marks:
    """The marks of a boot in the order of the log. A row takes a look at its own only."""

    every: list[Mark] = field(default_factory=list)
    since_reset: dict[str, Mark] = field(default_factory=dict)  # the first of each name

    def __len__(self) -> int:
        return len(self.every)

    def append(self, mark: Mark) -> None:
        self.every.append(mark)
        if mark.name == RESET or RESET in self.since_reset:
            self.since_reset.setdefault(mark.name, mark)

    def of_row(self, start: str, end: str, before: int, line: int) -> list[Mark]:
        """Return the marks of a row: they stand between the record before it, at line `before` of
        the log, and its own; those of a start from reset stand anywhere before the row."""
        if start == RESET:
            found = [
                self.since_reset[name] for name in (RESET, end, FULL) if name in self.since_reset
            ]
            return sorted((mark for mark in found if mark.line < line), key=attrgetter("line"))
        first = bisect_right(self.every, before, key=attrgetter("line"))
        return self.every[first : bisect_left(self.every, line, key=attrgetter("line"))]


def durations(marks: Sequence[Mark], start: str, end: str, count: int) -> list[int]:
    """Return `count` samples, in cycles. ValueError as of `intervals`."""
    return [stop - begin for begin, stop in intervals(marks, start, end, count)]


def intervals(marks: Sequence[Mark], start: str, end: str, count: int) -> list[tuple[int, int]]:
    """Return the first and the last cycle of `count` samples: after each `arm` from the first
    `start` to the next `end`.

    From `reset` there is one, and no `arm`. ValueError if a sample lacks one of its marks, or there
    are too few: then none of the row can be believed.
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


Item = Record | Problem | BootMark | Mark  # what a log is made of


def decode_boot_mark(raw: str) -> BootMark | None:
    """Return the intact boot mark that a line is, if it is one."""
    match = _BOOT.fullmatch(raw.rstrip("\r\n"))
    if not match:
        return None
    ends = match["what"] == "end"
    lang = language(match["lang"]) if match["lang"] else None
    icache = match["icache"] == ICACHE[True]
    mark = BootMark(match["name"], icache, match["app"], ends, lang)
    return mark if mark.encode() == match[0] else None


def parse_record(app: str, text: str, line: int) -> Record:
    """Return the parts of one joined record; ValueError if it does not follow the grammar."""
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


@lru_cache(1 << 16)  # layouts of one kernel have many in common
def expand(runs: str) -> tuple[int, ...]:
    """Return the samples that `a`, `a*n` and `(a,b)*n` stand for."""
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
    """Encode samples, by the shortest of these notations at each step; `expand` takes it back."""
    words: list[str] = []
    at = 0
    while at < len(samples):
        best, size = 1, 1
        for period in range(1, 5):
            if samples[at] != samples[min(at + period, len(samples) - 1)]:
                continue
            group = samples[at : at + period]
            count = 1
            while samples[at + count * period : at + (count + 1) * period] == group:
                count += 1
            if count > 1 and count * period > best * size:
                best, size = count, period
        group = samples[at : at + size]
        word = str(group[0]) if size == 1 else f"({','.join(map(str, group))})"
        words.append(f"{word}*{best}" if best > 1 else word)
        at += best * size
    return " ".join(words)


@dataclass
class _AppLines:
    """What the decoder knows of one app: the next seq, and the record that is not yet closed."""

    expected: int = 0
    parts: list[str] = field(default_factory=list)
    first_line: int = 0
    torn: bool = False  # a gap has been named, and no record has begun since
    ended: bool = False

    @property
    def closed(self) -> bool:
        """Whether the open record says that no more of it comes."""
        return bool(self.parts) and (
            self.parts[0].startswith("data ") and self.parts[-1].split(" ")[-1] == CLOSED
        )


class Decoder:
    """Turns a stream of log lines into records, problems, and `Gap`s where something is lost."""

    def __init__(self) -> None:
        self._apps: dict[str, _AppLines] = {}
        self._number = 0
        self._before = ""  # the line before this one

    def feed(self, raw: str) -> Iterator[Item]:
        """Take one line of the log."""
        self._number += 1
        raw = raw.rstrip("\r\n")
        before, self._before = self._before, raw
        if raw == before:
            return
        line = decode_line(raw)
        if line is not None:
            yield from self._take(line)
        elif raw.startswith(TEXT):
            if START in raw:
                yield self._torn(raw)
        elif (seen := decode_mark(raw, self._number)) is not None:
            yield seen
        elif (mark := decode_boot_mark(raw)) is not None:
            yield from self.close()
            self._apps = {}
            yield mark
        elif any(start in raw for start in STARTS):
            yield self._torn(raw)

    def close(self) -> Iterator[Record | Problem]:
        """The log is over: name what was cut off."""
        for app, state in self._apps.items():
            if state.parts:
                yield Cut(app, f"cut off in or after '{_start(state.parts)}'", state.first_line)
                state.parts = []
            if not state.ended:
                yield Cut(app, "the log stops before its 'end'", None)

    def _torn(self, raw: str) -> Problem:
        return Problem(None, f"torn or altered: {raw.strip()[:70]!r}", self._number)

    def _take(self, line: UartLine) -> Iterator[Record | Problem]:
        state = self._apps.setdefault(line.app, _AppLines())
        if line.seq == 0 and line.text.startswith("begin "):
            if state.expected:
                yield Restart(line.app, "began again; what came before is set aside", self._number)
            state = self._apps[line.app] = _AppLines()
        elif line.seq != state.expected:
            yield self._gap(line, state)
        state.expected = line.seq + 1
        text = line.text.removeprefix("+ ")
        ends = line.text.startswith("end ")  # nothing can follow it
        state.ended |= ends
        if text == line.text:
            yield from self._flush(line.app, state)
            state.parts, state.first_line, state.torn = [text], self._number, False
        elif state.parts:
            state.parts.append(text)
        elif not state.torn:
            yield Gap(line.app, "a continuation with nothing before it", self._number)
        if ends or state.closed:
            yield from self._flush(line.app, state)

    def _gap(self, line: UartLine, state: _AppLines) -> Problem:
        """Lines of an app are missing: the open record may lack its end, so it goes too."""
        if line.seq < state.expected:
            what = f"line {line.seq} again or out of order, {state.expected} expected"
        elif line.seq == state.expected + 1:
            what = f"lost line {state.expected}"
        else:
            what = f"lost lines {state.expected} to {line.seq - 1}"
        if state.parts:
            what += f"; with it '{_start(state.parts)}'"
            state.parts = []
        state.torn = True
        kind = Back if line.seq < state.expected else Gap
        return kind(line.app, what, self._number)

    def _flush(self, app: str, state: _AppLines) -> Iterator[Record | Problem]:
        if not state.parts:
            return
        text, state.parts = " ".join(state.parts), []
        try:
            yield parse_record(app, text, state.first_line)
        except ValueError as error:
            yield Gap(app, f"unreadable record: {error}", state.first_line)


def _start(parts: list[str]) -> str:
    return " ".join(parts[0].split(" ")[:2])


def decode(lines: Iterable[str]) -> list[Item]:
    """Return what all of a log is made of."""
    decoder = Decoder()
    out: list[Item] = []
    for line in lines:
        out += decoder.feed(line)
    return out + list(decoder.close())
