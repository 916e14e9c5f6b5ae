# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The output of a boot, as it passes from a target to the decoder.

A simulator, the cache, QEMU and a board each give a `Captured` per boot. A log file is one too:
its boots are named by marks in the log, or by the apps.
"""

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from tockmark.base.documents import Count
from tockmark.suite.catalogue import Lang
from tockmark.wire.records import BootMark, decode_boot_mark
from tockmark.wire.uart_line import BOOT_MARKS, as_text


class Ending(msgspec.Struct, frozen=True, omit_defaults=True):
    """The ending of a boot."""

    why: str | None = None  # what went wrong, in one line; None: the suite finished
    cycles: Count = 0  # until the end, by the target's own clock; 0 if it has none
    panicked: bool = False  # the kernel did; if only text tells, it may have been an app
    # Nothing more happened: the core slept for good, or a limit was reached. That is an error in
    # the suite, but another app may just have finished.
    idle: bool = False
    killed: bool = False  # from outside, before its end
    host: str | None = None  # the machine that simulated it; None: this one, or a board


BootKey = tuple[str, bool, Lang]  # name of the boot, i-cache setting, language of the apps


class Captured(msgspec.Struct, frozen=True, omit_defaults=True):
    """The lines of one boot, or of a whole log."""

    lines: Sequence[str]  # without newlines
    boot: str | None = None  # its name in the catalogue; None: a whole log
    icache: bool | None = None  # None: the log tells
    app: str = ""  # the only app that reports
    lang: Lang | None = None  # of its apps; None: all apps are in C
    image: str | None = None  # the image id in the app's `begin`
    layout: int = 0
    ending: Ending | None = None  # None: more lines may have followed

    @property
    def key(self) -> BootKey:
        """The key of the boot in its layout."""
        return self.mark().name, self.mark().icache, self.lang or "c"

    def mark(self, ends: bool = False) -> BootMark:
        """Return the mark before, or after, the boot in a log."""
        assert self.boot is not None
        assert self.icache is not None
        return BootMark(self.boot, self.icache, self.app, ends, self.lang)


def log_lines(boots: Iterable[Captured]) -> list[str]:
    """Return the lines of a log of these boots, each between its marks. A line of a boot that looks
    like such a mark is escaped."""
    log: list[str] = []
    for captured in boots:
        if captured.boot is None:
            log += captured.lines
            continue
        log.append(captured.mark().encode())
        log += [as_text(line) if line.startswith(BOOT_MARKS) else line for line in captured.lines]
        log += [] if captured.ending is None else [captured.mark(ends=True).encode()]
    return log


def marked_boots(lines: Iterable[str]) -> Iterator[Captured]:
    """Yield the boots of a log that have a mark and an end mark that fits it."""
    begin: BootMark | None = None
    boot_lines: list[str] = []
    for line in lines:
        mark = decode_boot_mark(line)
        if mark is None:
            boot_lines.append(line)
        elif not mark.ends:
            begin, boot_lines = mark, []
        elif begin is not None:
            captured = Captured(
                boot_lines, begin.name, begin.icache, begin.app, begin.lang, ending=Ending()
            )
            if mark == captured.mark(ends=True):
                yield captured
            begin = None
