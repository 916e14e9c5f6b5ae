# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Where crypto should live: the results in results/crypto/, kernel by kernel."""

from functools import cache

from committed import CommittedResult, between, committed, markdown, number
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
        for way in some.measured[1:]:
            line, own, more = some.line(way), some.seal(APP), some.more(way)
            rows.append(
                [
                    title,
                    WAYS[way],
                    number(line.intercept if line else None),
                    crypto.slope(line),
                    *(_percent(more[size], own[size]) for size in (LEAST, MOST)),
                    number(some.decapsulate_more(way, True)),
                ]
            )
    heads = ["kernel", "way", "a, cycles", "b, a byte", "16 bytes", "4096 bytes", "ML-KEM, instr."]
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


def crossing(first: str, second: str) -> str:
    """Return the size from which on the second way is cheaper on the baseline: least and most
    over the layouts of the apps."""
    found = committed("crypto/baseline-layouts").result
    each = [Ways(found, True, layout) for layout in range(found.layouts)]
    return between([at for some in each if (at := some.crossings()[first, second]) is not None])


def decapsulation(way: str) -> str:
    """Return the instructions that this way adds to a decapsulation, as a part of its own."""
    some = ways(BASE, True)
    own, beyond = some.decapsulate(APP, True), some.decapsulate_more(way, True)
    return text.NONE if own is None or beyond is None else text.percent(beyond / own, digits=2)


def decapsulation_moves() -> str:
    """Return by how much its cycles are less or more than the app's own, over ways and cache."""
    found = []
    for some in (ways(BASE, True), ways(BASE, False)):
        own = some.decapsulate(APP) or 1.0
        more = (some.decapsulate_more(way) for way in some.measured[1:])
        found += [one / own for one in more if one is not None]
    written = [text.percent(one, digits=1, sign="+") for one in (min(found), max(found))]
    return " to ".join(written)


def held(way: str = "driver", icache: bool = True) -> str:
    """Return for how many milliseconds the driver keeps everybody else waiting: 4096 bytes."""
    return f"{ways(BASE, icache).seal(way)[MOST] / 24_000:.0f}"


def held_by_kem(icache: bool = True) -> str:
    """Return the same of a decapsulation."""
    return f"{(ways(BASE, icache).decapsulate('driver') or 0) / 24_000:.0f}"
