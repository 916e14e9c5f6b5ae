# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The cost of crypto in an app, a service and a driver, by kernel (lab/studies/crypto)."""

from collections.abc import Sequence
from functools import cache

from committed import CommittedResult, between, committed, number, path_of, percents
from tables import markdown
from tockmark.show import text
from tockmark_lab.studies import crypto
from tockmark_lab.studies.crypto import APP, WAYS, Ways

# The title of each kernel by result name, in the order of the page.
KERNELS = {
    "baseline": "baseline",
    "tock-2.2": "Tock 2.2",
    "tock-master": "Tock master",
    "ipc-initial": "dev/ipc-initial",
    "ipc-fair": "…-fairness",
}
BASE, LEAST, MOST = "baseline", 16, 4096


@cache
def costs(name: str, icache: bool) -> Ways:
    """Return the costs of all ways on one kernel."""
    return Ways(result(name).result, icache)


def result(name: str) -> CommittedResult:
    """Return a kernel's result."""
    return committed(f"crypto/{name}")


def by_size(name: str, icache: bool) -> str:
    """Return one kernel's table: cycles in the app, and extra cycles of the other ways."""
    return "\n".join(crypto.table(costs(name, icache)).markdown()).rstrip()


@cache
def costs_by_layout(name: str, icache: bool) -> tuple[Ways, ...]:
    """Return the costs on one kernel in each layout of the apps that was measured."""
    if not icache or not _has_layouts(name):
        return (costs(name, icache),)
    result = committed(f"crypto/{name}-layouts").result
    return tuple(Ways(result, icache, layout) for layout in range(result.layouts))


def _has_layouts(name: str) -> bool:
    return path_of(f"crypto/{name}-layouts").exists()


def cost_lines(icache: bool) -> str:
    """Return a table by kernel and way: a and b of the extra cost and its share at both ends
    (ranges over layouts), and the extra cost of a decapsulation."""
    rows = []
    for name, title in KERNELS.items():
        some = costs(name, icache)
        for way in some.measured[1:]:
            fitted = [
                line
                for costs in costs_by_layout(name, icache)
                if (line := costs.line(way)) is not None
            ]
            rows.append(
                [
                    title,
                    WAYS[way],
                    between([line.intercept for line in fitted]),
                    between([line.slope for line in fitted], crypto.slope),
                    *(percents(_shares(name, icache, way, size)) for size in (LEAST, MOST)),
                    *(number(some.decapsulate_more(way, counted)) for counted in (False, True)),
                ]
            )
    heads = ["kernel", "way", "a, cycles", "b, per byte", "16 bytes", "4096 bytes"]
    return markdown([*heads, "ML-KEM, cycles", "instr."], rows, words=(0, 1))


def _shares(name: str, icache: bool, way: str, size: int) -> list[float]:
    return [
        costs.more(way)[size] / costs.seal(APP)[size] for costs in costs_by_layout(name, icache)
    ]


def extra_cycles(way: str, size: int, icache: bool = True, name: str = BASE) -> str:
    """Format the extra cycles of a way at one size (range over layouts)."""
    return between([costs.more(way)[size] for costs in costs_by_layout(name, icache)])


def extra_microseconds(way: str, size: int, icache: bool = True, name: str = BASE) -> str:
    """Format the extra microseconds of a way at one size, at 24 MHz (range over layouts)."""
    return between(
        [costs.more(way)[size] / 24 for costs in costs_by_layout(name, icache)], "{:.0f}".format
    )


def extra_share(way: str, size: int, icache: bool = True, name: str = BASE) -> str:
    """Format the extra cost of a way as a share of the app's own cycles."""
    return percents(_shares(name, icache, way, size))


def span(way: str, size: int, names: Sequence[str], part: bool = False) -> str:
    """Format the range of a way's extra cycles over kernels, layouts and both cache settings; with
    `part` as a share of the app's own cycles."""
    places = [(name, icache) for name in names for icache in (True, False)]
    if part:
        return percents([share for at in places for share in _shares(*at, way, size)])
    return between([costs.more(way)[size] for at in places for costs in costs_by_layout(*at)])


def crossing(first: str, second: str) -> str:
    """Format the size at which the second way gets cheaper on the baseline (range over layouts)."""
    return between(crossings(first, second))


def crossings(first: str, second: str, name: str = BASE) -> list[float]:
    """Return the sizes at which the lines of two ways cross, at most one per layout."""
    each = [some.crossings().get((first, second)) for some in costs_by_layout(name, True)]
    return [at for at in each if at is not None]


def cheaper_range(first: str, second: str, names: Sequence[str]) -> str:
    """Say at which sizes the first way is cheaper on these kernels, over all layouts."""
    sizes = [at for name in names for at in crossings(first, second, name)]
    return f"below {between(sizes)} bytes" if sizes else "at every size"


def decapsulation(way: str, names: Sequence[str] = (BASE,)) -> str:
    """Format the share of instructions that this way adds to a decapsulation."""
    shares = []
    for some in (costs(name, icache) for name in names for icache in (True, False)):
        own, beyond = some.decapsulate(APP, True), some.decapsulate_more(way, True)
        if own is not None and beyond is not None:
            shares.append(beyond / own)
    return percents(shares, 2)


def decapsulation_range() -> str:
    """Format the range of a decapsulation's extra cycles over ways and cache settings, as a share
    of the app's own."""
    shares = []
    for some in (costs(BASE, True), costs(BASE, False)):
        own = some.decapsulate(APP) or 1.0
        more = (some.decapsulate_more(way) for way in some.measured[1:])
        shares += [extra / own for extra in more if extra is not None]
    written = [text.percent(share, digits=1, sign="+") for share in (min(shares), max(shares))]
    return " to ".join(written)


def blocked_ms(way: str = "driver", icache: bool = True) -> str:
    """Format how long the driver blocks everything else for 4096 bytes, in milliseconds."""
    return f"{costs(BASE, icache).seal(way)[MOST] / 24_000:.0f}"


def blocked_ms_decapsulating(icache: bool = True) -> str:
    """Format how long the driver blocks everything else for a decapsulation, in milliseconds."""
    return f"{(costs(BASE, icache).decapsulate('driver') or 0) / 24_000:.0f}"
