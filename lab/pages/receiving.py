# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The figures of the study receive: bytes lost, the fastest rate without loss, and how long the
core is awake (lab/studies/receive/data)."""

from collections.abc import Callable
from functools import cache

from committed import committed, number, per_op
from tables import markdown
from tockmark.show.text import NONE
from tockmark.suite.catalogue import Lang
from tockmark_lab.folders import STUDIES
from tockmark_lab.studies import receive
from tockmark_lab.studies.receive import COMPANY, FASTEST, RATES, STANDARD, Rate, StoredRates

KERNELS = {"baseline": "our baseline", "tock-2.2": "Tock 2.2", "tock-master": "Tock master"}
LANGS: dict[Lang, str] = {"c": "C", "rust": "Rust"}
TITLES = {"alone": "alone", "compute": "two compute", "ipc": "two do IPC", "write": "one writes"}
STALLED = "stops"
CLOCK_HZ = 24_000_000
ASLEEP_UA, AWAKE_UA = 50, 5_000  # assumed, for no chip in particular
ROWS = ("console.read size=1", "console.read size=16", "console.read size=64")
AWAKE = ("awake.alarm period_ms=1", "awake.alarm period_ms=10", "awake.receive", "awake.ipc")


@cache
def rates(kernel: str) -> StoredRates:
    """Return the committed rates of a kernel."""
    return receive.load(STUDIES / "receive" / "data" / f"{kernel}.json")


def of_company(kernel: str, lang: str, company: str) -> dict[int, Rate]:
    """Return what was received, by pace."""
    return {
        rate.pace: rate
        for rate in rates(kernel).rates
        if (rate.lang, rate.company) == (lang, company)
    }


def lost(kernel: str, lang: str, company: str, pace: int) -> str:
    """Format the bytes that were lost at a rate."""
    rate = of_company(kernel, lang, company).get(pace)
    if rate is None:
        return NONE
    return STALLED if rate.lost is None else str(rate.lost)


def fastest(kernel: str, lang: str, company: str) -> str:
    """Format the fastest rate below the first loss."""
    best = 0
    for pace, rate in sorted(of_company(kernel, lang, company).items(), reverse=True):
        if rate.lost != 0:
            break
        best = RATES[pace]
    return f"{best:,}" if best else "none"


def _by_company(cell: Callable[[str, str, str], str]) -> str:
    columns = [(kernel, lang) for kernel in KERNELS for lang in LANGS]
    heads = ["next to it", *(f"{KERNELS[kernel]}, {LANGS[lang]}" for kernel, lang in columns)]
    return markdown(
        heads,
        [
            [TITLES[company], *(cell(kernel, lang, company) for kernel, lang in columns)]
            for company in COMPANY
        ],
    )


def fastest_table() -> str:
    """Return the table of the fastest rates without loss, in baud."""
    return _by_company(fastest)


def lost_table() -> str:
    """Return the table of the bytes lost at 115,200 and at 375,000 baud."""
    return _by_company(
        lambda kernel, lang, company: " / ".join(
            lost(kernel, lang, company, pace) for pace in (STANDARD, FASTEST)
        )
    )


def awake_share(kernel: str, lang: str = "c", pace: int = STANDARD) -> float:
    """Return the share of time that the core is awake while an app receives alone."""
    rate = of_company(kernel, lang, "alone")[pace]
    return min(1.0, (rate.awake or 0) / (rate.came or 1) / pace)


def awake_percent(kernel: str) -> str:
    """Format that share in percent."""
    return f"{100 * awake_share(kernel):.0f}"


def rows_table() -> str:
    """Return the table of the suite's rows about reading and waking: cycles awake, by kernel and
    language, i-cache on."""
    columns = {
        f"{title}, {LANGS[lang]}": committed(f"receive/rows-{name}", lang)
        for name, title in KERNELS.items()
        for lang in LANGS
    }
    lines = [[row, *(per_op(of.row(row)) for of in columns.values())] for row in (*ROWS, *AWAKE)]
    return markdown(["row", *columns], lines)


def awake(kernel: str) -> float:
    """Return the share of time awake for an alarm each 10 ms, in C, i-cache on."""
    row = committed(f"receive/rows-{kernel}", "c").row(AWAKE[1])
    return ((row.per_op if row else None) or 0.0) / (CLOCK_HZ / 100)


def share(kernel: str) -> str:
    """Format that share in percent."""
    return f"{100 * awake(kernel):.1f} %"


def microamperes(kernel: str) -> str:
    """Format the mean current, from the assumed currents of a core asleep and awake."""
    return number(ASLEEP_UA + awake(kernel) * (AWAKE_UA - ASLEEP_UA))
