# SPDX-License-Identifier: Apache-2.0 OR MIT
"""One line of the UART protocol (docs/protocol.md): its form, and whether it came in intact.

A checksum ends every line of a log that has numbers in it. What lines mean together is for
tockmark/log/; who waits for a boot's end needs no more than this.
"""

import binascii
import re
from dataclasses import dataclass

LINE_LIMIT = 64  # bytes, newline included: what a Tock console writes in one piece
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
    start = raw.find("#tm ")
    while start >= 0:
        match = _LINE.fullmatch(raw, start) if len(raw) - start < LINE_LIMIT else None
        if match:
            line = UartLine(int(match["seq"]), match["app"], match["text"])
            if line.encode() == raw[start:]:
                return line
        start = raw.find("#tm ", start + 1)
    return None


def crc16(data: bytes) -> int:
    """Return CRC-16/CCITT-FALSE: polynomial 0x1021, initial value 0xffff, nothing reflected."""
    return binascii.crc_hqx(data, 0xFFFF)


def sealed(head: str) -> str:
    """Return a line of the log: what it says, up to the space behind it, and its checksum."""
    return f"{head}*{crc16(head.encode('ascii')):04x}"
