# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Lines of the UART protocol (docs/protocol.md) are taken here as they come from a board. They tell
whether they came in intact, which boot speaks, when its suite is over, whether the kernel panicked.

A checksum ends every line that has numbers in it. What lines mean together is for tockmark/log/;
who waits for a boot's end needs no more than this. The first `begin` of a run says apps=N, and the
suite is over when N apps have said `end` or given up.
"""

import binascii
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

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


def parses_whole(lines: Iterable[str]) -> bool:
    """Return whether no line of an app is torn, lost or out of order."""
    expected: dict[str, int] = {}
    for raw in lines:
        line = decode_line(raw)
        if line is None:
            if _START in raw:
                return False
            continue
        again = line.seq == 0 and line.text.startswith("begin ")  # the app began anew
        if line.seq != expected.get(line.app, 0) and not again:
            return False
        expected[line.app] = line.seq + 1
    return True


_PAIR = re.compile(r"\b(apps|boot|image)=(\S+)")
_PANIC = "tockmark-kernel: panic: "  # of the baseline kernel; Tock's goes on with this line
_PANIC_OF_TOCK = "\tKernel version "
_START = "#tm "  # of whatever an app says


@dataclass
class Watch:
    """Follows one boot. `image` is what its `begin` must say; None: any begin will do."""

    image: str | None = None
    records: int = 0  # intact lines of this boot
    messages: int = 0  # readable lines that no app printed
    noise: int = 0  # lines that no text can be
    other: str | None = None  # the boot that speaks instead, for people
    panic: str | None = None  # what the kernel says of it
    resets: int = 0  # that came before the end
    _own: bool = False
    _begin: list[UartLine] | None = None  # of a begin record that is not read to its end
    _held: list[str] = field(default_factory=list)  # raw lines since that began
    _expected: int = 0
    _begun: set[str] = field(default_factory=set)
    _ended: set[str] = field(default_factory=set)
    _last: str = ""

    @property
    def over(self) -> bool:
        """Whether all apps that were announced have ended."""
        return 0 < self._expected <= len(self._ended)

    @property
    def began(self) -> bool:
        """Whether the expected boot speaks."""
        return self._own

    def take(self, raw: str) -> list[str]:
        """Return the lines of this boot that one line of the UART lets out: itself, nothing, or
        what was held back until it was known whose it is."""
        line = decode_line(raw)
        if line is None:
            return self._message(raw)
        text = line.text
        if line.seq == 0 and text.startswith("begin "):
            # Whose a begin was that this one cut off is never known, but for a boot's own.
            cut_off = self._held if self._own else []
            self._begin, self._held = [line], [raw]
            return cut_off + self._decide(last=False)
        if self._begin is not None:
            if text.startswith("+ ") and line.app == self._begin[-1].app:
                self._begin.append(line)
                self._held.append(raw)
                return self._decide(last=False)
            return self._decide(last=True) + self.take(raw)
        if not self._own:
            return []
        self.records += 1
        if text.startswith("end "):
            image = dict(_PAIR.findall(text)).get("image", self.image)
            if self.image in (None, image):
                self._ended.add(line.app)
        return [raw]

    def _message(self, raw: str) -> list[str]:
        """Take a line that no app said, or what is left of one."""
        readable = raw.replace("\t", " ").isprintable() and raw.isascii()
        self.messages += bool(readable and raw)
        self.noise += not readable
        if raw.startswith(_PANIC):
            self.panic = raw
        if raw.startswith(_PANIC_OF_TOCK):
            self.panic = f"panic: {self._last}"
        self._last = raw if readable else ""
        if self._begin is not None:
            self._held.append(raw)
            return []
        return [raw] if self._own or _START not in raw else []

    def _decide(self, last: bool) -> list[str]:
        """Say whose a begin is, as soon as it says its image, at the latest with its last line."""
        assert self._begin is not None
        app = self._begin[0].app
        said = dict(_PAIR.findall(" ".join(line.text for line in self._begin)))
        if "image" not in said and not last:
            return []
        self._own = self.image is None or said.get("image") == self.image
        held, lines = self._held, len(self._begin)
        self._begin, self._held = None, []
        if not self._own:
            self.other = said.get("boot", f"unknown: its app {app} does not say")
            return []
        self.other = None
        self.records += lines
        if app in self._begun or not self._expected:  # the first, or a reset in the middle
            self.resets += bool(self._begun)
            self._begun, self._ended, self.panic = set(), set(), None
            self._expected = int(said["apps"]) if said.get("apps", "").isdecimal() else 1
        self._begun.add(app)
        return held
