# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A line of the UART: its format, its checksum, and the escaping of text that looks like a mark.

Every line with numbers ends with a checksum. Apps print `#tm <seq> <app> <text> *<crc>`. Marks have
other formats: `#boot` and `#end` from the tool that captures a log, `#sim` from the simulator.
`as_text` escapes lines of apps that look like a mark.
"""

import binascii
import re
from collections.abc import Iterable
from dataclasses import dataclass

LINE_LIMIT = 64  # bytes with the newline: a Tock console writes this many in one piece
START = "#tm "  # of a line of an app
BOOT_MARKS = ("#boot ", "#end ")  # written by the tool that captures a log
SIM_MARK = "#sim "  # of a mark of the simulator's clock
LOG_MARKS = (*BOOT_MARKS, SIM_MARK)  # in a log; apps cannot write them
ESCAPE = "\\"  # precedes a line of an app that looks like a mark
RESET = "reset"  # the simulator's mark at the start, once per boot

_LINE = re.compile(
    r"#tm (?P<seq>0|[1-9][0-9]{0,8}) (?P<app>[a-z][a-z0-9_]{0,11}) (?P<text>\S+(?: \S+)*) "
    r"\*(?P<crc>[0-9a-f]{4})"
)


@dataclass(frozen=True)
class UartLine:
    """An intact line of the protocol."""

    seq: int
    app: str
    text: str

    def encode(self) -> str:
        """Return the line without its newline."""
        return with_checksum(f"#tm {self.seq} {self.app} {self.text} ")


def decode_line(raw: str) -> UartLine | None:
    """Return the intact protocol line at the end of `raw`, or None.

    A kernel message without a newline may precede it; the CRC decides. Spaces may follow it, if
    the app filled up the line to write it together with the next one.
    """
    raw = raw.rstrip("\r\n").rstrip(" ")
    if not (raw.isascii() and raw.isprintable()):
        return None
    start = raw.find(START)
    while start >= 0:
        match = _LINE.fullmatch(raw, start) if len(raw) - start < LINE_LIMIT else None
        if match:
            line = UartLine(int(match["seq"]), match["app"], match["text"])
            if line.encode() == raw[start:]:
                return line
        start = raw.find(START, start + 1)
    return None


def as_text(line: str) -> str:
    """Return a line of the UART as a log keeps it, with ESCAPE before a line that looks like a
    mark, even a damaged one, or that begins with ESCAPE."""
    is_mark = "#" in line and any(prefix in line for prefix in LOG_MARKS)
    return f"{ESCAPE}{line}" if is_mark or line.startswith(ESCAPE) else line


def crc16(data: bytes) -> int:
    """Return CRC-16/CCITT-FALSE: polynomial 0x1021, initial value 0xffff, not reflected."""
    return binascii.crc_hqx(data, 0xFFFF)


def with_checksum(head: str) -> str:
    """Return a line of the log: its text, which ends with a space, and its checksum."""
    return f"{head}*{crc16(head.encode('ascii')):04x}"


def has_all_lines(lines: Iterable[str]) -> bool:
    """Return whether all lines of the apps are intact, complete and in order."""
    expected: dict[str, int] = {}
    for raw in lines:
        line = decode_line(raw)
        if line is None:
            if START in raw:
                return False
            continue
        restarts = line.seq == 0 and line.text.startswith("begin ")
        if line.seq != expected.get(line.app, 0) and not restarts:
            return False
        expected[line.app] = line.seq + 1
    return True
