# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Lines of the UART protocol are taken here as they come from a board. They tell
which boot speaks, when its suite is over, whether the kernel panicked.

What lines mean together is for tockmark/wire/; who waits for a boot's end needs no more than this.
The suite is over when the app that reports has said `end`, or another has panicked; where it is not
known which reports, when as many apps have ended as the first `begin` says.
"""

import re
from dataclasses import dataclass, field

from tockmark.wire.uart_line import START, UartLine, as_text, decode_line

_PAIR = re.compile(r"\b(apps|boot|image)=(\S+)")
_PANIC = "tockmark-kernel: panic: "  # of the baseline kernel; Tock's goes on with this line
_PANIC_OF_TOCK = "\tKernel version "
PANICKED = "the kernel or an app printed a panic"  # which of them, text does not tell


@dataclass
class Watch:
    """Follows one boot. `image` is what its `begin` must say; None: any begin will do."""

    image: str | None = None
    reporter: str | None = None  # the app that reports, if it is known
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
    _fallen: bool = False  # an app has panicked
    _before: str = ""  # the line before
    _last: str = ""

    @property
    def over(self) -> bool:
        """Whether all apps that report have ended, or one has panicked beside them."""
        if self.reporter is not None:
            return self._fallen or self.reporter in self._ended
        return 0 < self._expected <= len(self._ended)

    @property
    def began(self) -> bool:
        """Whether the expected boot speaks."""
        return self._own

    def take(self, raw: str) -> list[str]:
        """Return the lines of this boot that one line of the UART lets out, as a log keeps them:
        itself, nothing, or what was held back until it was known whose it is."""
        return [as_text(line) for line in self._taken(raw)]

    def _taken(self, raw: str) -> list[str]:
        line = decode_line(raw)
        before, self._before = self._before, raw
        if line is None:
            return self._message(raw)
        if raw == before:  # it came twice
            return []
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
            return self._decide(last=True) + self._record(line, raw)
        return self._record(line, raw)

    def _record(self, line: UartLine, raw: str) -> list[str]:
        """Take a line of a record that is no `begin`."""
        if not self._own:
            return []
        self.records += 1
        if line.text.startswith("end "):
            image = dict(_PAIR.findall(line.text)).get("image", self.image)
            if self.image in (None, image):
                self._ended.add(line.app)
                self._fallen |= line.text == "end panicked"
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
        return [raw] if self._own or START not in raw else []

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
            self._begun, self._ended, self.panic, self._fallen = set(), set(), None, False
            self._expected = int(said["apps"]) if said.get("apps", "").isdecimal() else 1
        self._begun.add(app)
        return held
