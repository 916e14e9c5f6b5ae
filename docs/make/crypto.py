# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Where crypto should live: the results in results/crypto/, kernel by kernel."""

from functools import cache

from committed import CommittedResult, committed, markdown, number
from tockmark.show import crypto, text
from tockmark.show.crypto import APP, WAYS, Ways

# In the order of the page: the results by their names, and what a kernel is called in a table.
KERNELS = {
    "baseline": "baseline",
    "tock-2.2": "Tock 2.2",
    "tock-master": "Tock master",
    "ipc-initial": "dev/ipc-initial",
    "ipc-fair": "…-fairness",
}
BASE, LEAST, MOST = "baseline", 16, 4096


@cache
def ways(name: str, icache: bool) -> Ways:
    """Return what the ways cost on one kernel."""
    return Ways(result(name).result, icache)


def result(name: str) -> CommittedResult:
    """Return a kernel's result."""
    return committed(f"crypto/{name}")


def by_size(name: str, icache: bool) -> str:
    """Return one kernel's table: cycles in the app, and what the other ways cost more."""
    return "\n".join(crypto.table(ways(name, icache)).markdown()).rstrip()


def lines(icache: bool) -> str:
    """Return for each kernel and way what it costs more: a, b, and how much that is in all at both
    ends and of a decapsulation."""
    rows = []
    for name, title in KERNELS.items():
        some = ways(name, icache)
        kem = some.decapsulate(APP)
        for way in some.measured[1:]:
            line, own, more = some.line(way), some.seal(APP), some.more(way)
            beyond = some.decapsulate(way)
            rows.append(
                [
                    title,
                    WAYS[way],
                    number(line.intercept if line else None),
                    f"{line.slope:.2f}" if line else text.NONE,
                    *(_percent(more[size], own[size]) for size in (LEAST, MOST)),
                    number(beyond - kem if beyond and kem else None),
                ]
            )
    heads = ["kernel", "way", "a, cycles", "b, a byte", "16 bytes", "4096 bytes", "ML-KEM, cycles"]
    return markdown(heads, rows, words=(0, 1))


def _percent(part: float, whole: float) -> str:
    return text.percent(part / whole, digits=1, sign="+")


def more(way: str, size: int, icache: bool = True, name: str = BASE) -> str:
    """Return the cycles that a way costs more at one size."""
    return number(ways(name, icache).more(way)[size])


def microseconds(way: str, size: int, icache: bool = True, name: str = BASE) -> str:
    """Return the same in microseconds, at 24 MHz."""
    return f"{ways(name, icache).more(way)[size] / 24:.0f}"


def of_app(way: str, size: int, icache: bool = True, name: str = BASE) -> str:
    """Return the same as a part of what the app itself takes."""
    some = ways(name, icache)
    return text.percent(some.more(way)[size] / some.seal(APP)[size], digits=1)


def span(way: str, size: int, names: tuple[str, ...], part: bool = False) -> str:
    """Return the least and most that a way costs more over kernels and both cache settings."""
    found = []
    for name in names:
        for some in (ways(name, True), ways(name, False)):
            cost = some.more(way)[size]
            found.append(cost / some.seal(APP)[size] if part else cost)
    written = (lambda one: text.percent(one, digits=1)) if part else number
    least, most = written(min(found)), written(max(found))
    return least if least == most else f"{least}–{most}"


def crossing(first: str, second: str, icache: bool = True, name: str = BASE) -> str:
    """Return the size from which on the second way is the cheaper one."""
    at = ways(name, icache).crossings()[first, second]
    return text.NONE if at is None else f"{at:.0f}"


def decapsulation(way: str, icache: bool = True, name: str = BASE) -> float:
    """Return what a decapsulation costs more by this way, as a part of the app's own."""
    some = ways(name, icache)
    own, other = some.decapsulate(APP), some.decapsulate(way)
    return 0.0 if own is None or other is None else other / own - 1


def held(way: str = "driver", icache: bool = True) -> str:
    """Return for how many milliseconds the driver keeps everybody else waiting: 4096 bytes."""
    return f"{ways(BASE, icache).seal(way)[MOST] / 24_000:.0f}"


def held_by_kem(icache: bool = True) -> str:
    """Return the same of a decapsulation."""
    return f"{(ways(BASE, icache).decapsulate('driver') or 0) / 24_000:.0f}"
