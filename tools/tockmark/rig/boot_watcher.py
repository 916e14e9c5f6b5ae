# SPDX-License-Identifier: Apache-2.0 OR MIT
"""This watches a board's UART lines: which boot speaks, when its suite is over, whether the kernel
panicked. Its twin, boards/earlgrey-sim/model/suite_watch.h, need not check checksums.

The first `begin` of a run says apps=N, and the suite is over when N apps have said `end`
(docs/protocol.md). A `begin` says boot and image, too. Until the expected one is there nothing is
passed on that an app may have said: a port may hold what the boot before it printed.
"""

import re
from dataclasses import dataclass, field

from tockmark.line import UartLine, decode_line

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
            given_up = self._give_up()
            self._begin, self._held = [line], [raw]
            return given_up + self._decide(last=False)
        if self._begin is not None:
            if text.startswith("+ ") and line.app == self._begin[-1].app:
                self._begin.append(line)
                self._held.append(raw)
                return self._decide(last=False)
            return self._decide(last=True) + self.take(raw)
        if not self._own:
            return []
        self.records += 1
        if text.startswith("end ") and self._is_of_this_image(text):
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

    def _give_up(self) -> list[str]:
        """Drop a begin that another cut off: whose it was is never known, but for a boot's own."""
        held, self._begin, self._held = self._held, None, []
        return held if self._own else []

    def _is_of_this_image(self, text: str) -> bool:
        said = dict(_PAIR.findall(text)).get("image")
        return said in (None, self.image) or self.image is None
