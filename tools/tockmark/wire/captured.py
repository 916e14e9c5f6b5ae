# SPDX-License-Identifier: Apache-2.0 OR MIT
"""`Captured`: what one boot printed and how it ended. It passes from what runs boots to what reads
them.

A simulator, the cache, QEMU and a board behind a serial port each give one for a boot. A log file
is one, too: marks among its lines, or the apps themselves, say which boots are in it.
"""

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from tockmark.base.documents import Count
from tockmark.suite.catalogue import Lang
from tockmark.wire.records import BootMark, decode_boot_mark
from tockmark.wire.uart_line import BOOT_MARKS, as_text


class Ending(msgspec.Struct, frozen=True, omit_defaults=True):
    """How a boot ended."""

    why: str | None = None  # what went wrong, in one line; None: the suite closed
    cycles: Count = 0  # until then, by the target's own clock; 0 where it has none
    panicked: bool = False  # the kernel did; where there is text only, an app may have printed it
    # Nothing more came: the core sleeps for good, or a limit was reached. That is wrong in the
    # suite; another app may just be done.
    idle: bool = False
    killed: bool = False  # from outside, before it was over
    host: str | None = None  # the machine that simulated it; None: this one, or it is a board


BootKey = tuple[str, bool, Lang]  # a boot by its name, the cache's setting and its apps' language


class Captured(msgspec.Struct, frozen=True, omit_defaults=True):
    """The lines of one boot, as a log keeps them, or all lines of a log."""

    lines: Sequence[str]  # without newlines
    boot: str | None = None  # as the catalogue calls it; None: it is a log
    icache: bool | None = None  # None: a log says it
    app: str = ""  # the only app that reports
    lang: Lang | None = None  # of its apps; None: all apps are in C
    image: str | None = None  # the id that its app says in `begin`
    layout: int = 0
    ending: Ending | None = None  # None: more may have come

    @property
    def key(self) -> BootKey:
        """What tells the boot from the others of its layout."""
        return self.mark().name, self.mark().icache, self.lang or "c"

    def mark(self, ends: bool = False) -> BootMark:
        """Return what a log has before the boot's lines, or behind them."""
        assert self.boot is not None
        assert self.icache is not None
        return BootMark(self.boot, self.icache, self.app, ends, self.lang)


def log_lines(boots: Iterable[Captured]) -> list[str]:
    """Return the lines of a log that holds all of these, each boot between its marks. A line of a
    boot that looks like such a mark becomes text."""
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
    """Yield each boot of a log that lies between its mark and the end that fits it."""
    begin: BootMark | None = None
    inside: list[str] = []
    for line in lines:
        mark = decode_boot_mark(line)
        if mark is None:
            inside.append(line)
        elif not mark.ends:
            begin, inside = mark, []
        elif begin is not None:
            captured = Captured(
                inside, begin.name, begin.icache, begin.app, begin.lang, ending=Ending()
            )
            if mark == captured.mark(ends=True):
                yield captured
            begin = None
