# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Watch the UART lines of a board while it boots.

`Watch` detects the boot that is running, the end of its suite, and panics of the kernel. It
understands no more of the protocol than this; tockmark/wire/ decodes the rest.

The suite is over when the reporting app has printed `end`, or another app has panicked. If the
reporting app is not known, it is over when as many apps have ended as the first `begin` announces.
"""

import re
from dataclasses import dataclass, field

from tockmark.wire.uart_line import START, UartLine, as_text, decode_line

_PAIR = re.compile(r"\b(apps|boot|image)=(\S+)")
_PANIC = "tockmark-kernel: panic: "  # begins the panic message of the baseline kernel
_TOCK_PANIC = "\tKernel version "  # follows the panic message of Tock
PANICKED = "the kernel or an app printed a panic"  # the text is the same


@dataclass
class Watch:
    """One boot. Its `begin` must name the image id `image`; if None, any `begin` will do."""

    image: str | None = None
    reporter: str | None = None  # the app that reports, if known
    records: int = 0  # intact lines of this boot
    messages: int = 0  # readable lines outside the protocol
    noise: int = 0  # unreadable lines
    other_boot: str | None = None  # the boot that runs instead, for messages
    panic: str | None = None  # the kernel's panic message
    resets: int = 0  # before the end of the boot
    began: bool = False  # the expected boot is running
    _begin: list[UartLine] | None = None  # the lines so far of an incomplete begin record
    _held_back: list[str] = field(default_factory=list)  # raw lines since that record began
    _expected: int = 0  # number of apps
    _begun_apps: set[str] = field(default_factory=set)
    _ended_apps: set[str] = field(default_factory=set)
    _app_panicked: bool = False
    _previous: str = ""  # line
    _last_message: str = ""

    @property
    def over(self) -> bool:
        """Whether all reporting apps have ended, or another app has panicked."""
        if self.reporter is not None:
            return self._app_panicked or self.reporter in self._ended_apps
        return 0 < self._expected <= len(self._ended_apps)

    def take(self, raw: str) -> list[str]:
        """Take a line of the UART; return lines for the log of this boot: the line itself, none, or
        lines that were held back until the image of a `begin` was known."""
        return [as_text(line) for line in self._log_lines(raw)]

    def _log_lines(self, raw: str) -> list[str]:
        line = decode_line(raw)
        before, self._previous = self._previous, raw
        if line is None:
            return self._take_message(raw)
        if raw == before:  # a repeated line counts once
            return []
        text = line.text
        if line.seq == 0 and text.startswith("begin "):
            # A begin record that this one cuts off has no known image, unless this boot runs.
            cut_off = self._held_back if self.began else []
            self._begin, self._held_back = [line], [raw]
            return cut_off + self._decide_owner(last=False)
        if self._begin is not None:
            if text.startswith("+ ") and line.app == self._begin[-1].app:
                self._begin.append(line)
                self._held_back.append(raw)
                return self._decide_owner(last=False)
            return self._decide_owner(last=True) + self._take_record(line, raw)
        return self._take_record(line, raw)

    def _take_record(self, line: UartLine, raw: str) -> list[str]:
        """Take a line of a record other than `begin`."""
        if not self.began:
            return []
        self.records += 1
        if line.text.startswith("end "):
            image = dict(_PAIR.findall(line.text)).get("image", self.image)
            if self.image in (None, image):
                self._ended_apps.add(line.app)
                self._app_panicked |= line.text == "end panicked"
        return [raw]

    def _take_message(self, raw: str) -> list[str]:
        """Take a line outside the protocol, or a damaged one."""
        readable = raw.replace("\t", " ").isprintable() and raw.isascii()
        self.messages += bool(readable and raw)
        self.noise += not readable
        if raw.startswith(_PANIC):
            self.panic = raw
        if raw.startswith(_TOCK_PANIC):
            self.panic = f"panic: {self._last_message}"
        self._last_message = raw if readable else ""
        if self._begin is not None:
            self._held_back.append(raw)
            return []
        return [raw] if self.began or START not in raw else []

    def _decide_owner(self, last: bool) -> list[str]:
        """Decide whether a `begin` is of this boot once it names its image, or ends."""
        assert self._begin is not None
        app = self._begin[0].app
        fields = dict(_PAIR.findall(" ".join(line.text for line in self._begin)))
        if "image" not in fields and not last:
            return []
        self.began = self.image is None or fields.get("image") == self.image
        lines, count = self._held_back, len(self._begin)
        self._begin, self._held_back = None, []
        if not self.began:
            self.other_boot = fields.get("boot", f"an unknown one (its app {app} does not name it)")
            return []
        self.other_boot = None
        self.records += count
        if app in self._begun_apps or not self._expected:  # the first, or a reset in the middle
            self.resets += bool(self._begun_apps)
            self._begun_apps, self._ended_apps = set(), set()
            self.panic, self._app_panicked = None, False
            self._expected = int(fields["apps"]) if fields.get("apps", "").isdecimal() else 1
        self._begun_apps.add(app)
        return lines
