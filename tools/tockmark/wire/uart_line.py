# SPDX-License-Identifier: Apache-2.0 OR MIT
"""One line of the UART: its form, its checksum, and what keeps text from passing as a mark.

A checksum ends every line that has numbers in it. What an app prints is `#tm <seq> <app> <text>
*<crc>`. Marks of a log have a form of their own: who captures a log writes `#boot` and `#end`, the
simulator `#sim`. `as_text` keeps what apps print from passing as one of them.
"""

import binascii
import re
from collections.abc import Iterable
from dataclasses import dataclass

LINE_LIMIT = 64  # bytes, newline included: what a Tock console writes in one piece
START = "#tm "  # begins a line of an app
BOOT_MARKS = ("#boot ", "#end ")  # begin marks of whoever captures a log
BY_SIMULATOR = "#sim "  # begins a mark of the simulator's clock
OWN = (*BOOT_MARKS, BY_SIMULATOR)  # begin marks of a log: no app writes one
TEXT = "\\"  # stands before a line of an app that could pass as one
RESET = "reset"  # the simulator's mark of where it began; the core comes by once

_LINE = re.compile(
    r"#tm (?P<seq>0|[1-9][0-9]{0,8}) (?P<app>[a-z][a-z0-9_]{0,11}) (?P<text>\S+(?: \S+)*) "
    r"\*(?P<crc>[0-9a-f]{4})"
)


@dataclass(frozen=True)
class UartLine:
    """One intact protocol line."""

    seq: int
    app: str
    text: str

    def encode(self) -> str:
        """Return the line as it goes over the wire, without its newline."""
        return sealed(f"#tm {self.seq} {self.app} {self.text} ")


def decode_line(raw: str) -> UartLine | None:
    """Return the intact protocol line that `raw` ends with, if there is one.

    A kernel message without a newline may stand before it on the same line; the CRC decides. The
    spaces that fill up a line which another follows in the same write stand behind it.
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
    """Return a line of the UART as a log keeps it: one that could pass as a mark, whole or torn, or
    that begins as what follows does, has TEXT before it."""
    is_odd = line.startswith(TEXT) or ("#" in line and any(own in line for own in OWN))
    return f"{TEXT}{line}" if is_odd else line


def crc16(data: bytes) -> int:
    """Return CRC-16/CCITT-FALSE: polynomial 0x1021, initial value 0xffff, nothing reflected."""
    return binascii.crc_hqx(data, 0xFFFF)


def sealed(head: str) -> str:
    """Return a line of the log: what it says, up to the space behind it, and its checksum."""
    return f"{head}*{crc16(head.encode('ascii')):04x}"


def parses_whole(lines: Iterable[str]) -> bool:
    """Return whether no line of an app is torn, lost or out of order."""
    expected: dict[str, int] = {}
    for raw in lines:
        line = decode_line(raw)
        if line is None:
            if START in raw:
                return False
            continue
        again = line.seq == 0 and line.text.startswith("begin ")  # the app began anew
        if line.seq != expected.get(line.app, 0) and not again:
            return False
        expected[line.app] = line.seq + 1
    return True
