# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The log of a bundle: what a board said, and between its lines those of boards/bundle/run.py,
which say what was loaded when. A boot may stand in it several times; the last that came to its end
counts.

    #capture {"t": 0.0, "bundle": "<sha256>", "board": "cw310", "at": "2026-11-26T10:00:00Z", …}
    #capture {"t": 0.1, "load": "c/time", "attempt": 1, "image": "0a1b2c3d", "sha256": "…"}
    #capture {"t": 4.2, "loaded": "c/time", "failed": null, "s": 4.1}
    #capture {"t": 5.0, "over": "c/time", "why": "end"}

`gone` and `back` are of the port; a line of the time alone stands there once a second.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec

MARK = "#capture "
ENDED = "end"  # why a boot was over that came to its end


class CaptureLine(msgspec.Struct, frozen=True):
    """What a line of the script's own says; which keys it has says what it is."""

    t: float
    bundle: str | None = None  # it began: its facts
    board: str | None = None
    at: str | None = None
    by: str | None = None
    note: str | None = None
    port: str | None = None
    baud: int | None = None
    load: str | list[str] | None = None  # a boot is loaded; or, in the facts, the loader's words
    reader: str | None = None
    system: str | None = None
    python: str | None = None
    attempt: int | None = None
    image: str | None = None
    sha256: str | None = None
    loaded: str | None = None  # the loader ended
    failed: str | None = None
    s: float | None = None
    over: str | None = None
    why: str | None = None
    gone: bool = False


@dataclass
class Loading:
    """One boot that was loaded, or was to be, and what came from then on."""

    said: CaptureLine
    lines: list[str] = field(default_factory=list)  # of the board
    seconds: float | None = None  # that loading took
    failed: str | None = None  # why it was not loaded
    over: str | None = None  # why it was over; None: the script was
    gone: int = 0  # how often the port was


@dataclass
class Captured:
    """All that a log holds."""

    begins: list[CaptureLine] = field(default_factory=list)  # one of each start of the script
    loadings: list[Loading] = field(default_factory=list)

    def of_image(self, image: str) -> Loading | None:
        """Return the last loading of an image that came to its end, or the last of it that was
        heard at all, or the last."""
        own = [one for one in self.loadings if one.said.image == image]
        ended = [one for one in own if one.over == ENDED]
        heard = [one for one in own if any(one.lines)]
        return next((some[-1] for some in (ended, heard, own) if some), None)


def captured(lines: Sequence[str]) -> Captured:
    """Return what a log holds. What is no line of the script is the board's."""
    found = Captured()
    for line in lines:
        said = _said(line)
        last = found.loadings[-1] if found.loadings else None
        if said is None:
            if last is not None:
                last.lines.append(line)
        elif said.bundle is not None:
            found.begins.append(said)
        elif said.load is not None:
            found.loadings.append(Loading(said))
        elif last is not None:
            last.gone += said.gone
            if said.loaded is not None:
                last.seconds, last.failed = said.s, said.failed
            if said.why is not None:
                last.over = said.why
    return found


def lines_of(lines: list[str], image: str | None) -> list[str]:
    """Return what a log has of an image: of one that has no lines of the script, all."""
    if image is None or not any(line.startswith(MARK) for line in lines):
        return lines
    loading = captured(lines).of_image(image)
    return loading.lines if loading else []


def _said(line: str) -> CaptureLine | None:
    """Return what a line of the script says; None of any other, and of one that was cut off."""
    if not line.startswith(MARK):
        return None
    try:
        return msgspec.json.decode(line.removeprefix(MARK).encode("latin-1"), type=CaptureLine)
    except (msgspec.DecodeError, UnicodeError):
        return None
