# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Where crypto should live: the results in lab/studies/crypto, kernel by kernel."""

from collections.abc import Sequence
from functools import cache

from committed import CommittedResult, between, committed, number, path_of, percents
from tables import markdown
from tockmark.show import text
from tockmark_lab.studies import crypto
from tockmark_lab.studies.crypto import APP, WAYS, Ways

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
def costs(name: str, icache: bool) -> Ways:
    """Return what the ways cost on one kernel."""
    return Ways(result(name).result, icache)


def result(name: str) -> CommittedResult:
    """Return a kernel's result."""
    return committed(f"crypto/{name}")


def by_size(name: str, icache: bool) -> str:
    """Return one kernel's table: cycles in the app, and what the other ways cost more."""
    return "\n".join(crypto.table(costs(name, icache)).markdown()).rstrip()


@cache
def costs_by_layout(name: str, icache: bool) -> tuple[Ways, ...]:
    """Return the same in each layout of the apps in which the ways of the cipher were measured."""
    if not icache or not _has_layouts(name):
        return (costs(name, icache),)
    result = committed(f"crypto/{name}-layouts").result
    return tuple(Ways(result, icache, layout) for layout in range(result.layouts))


def _has_layouts(name: str) -> bool:
    return path_of(f"crypto/{name}-layouts").exists()


def kernels_with_layouts() -> str:
    """Return of which kernels there are several layouts."""
    return ", ".join(title for name, title in KERNELS.items() if _has_layouts(name))


def cost_lines(icache: bool) -> str:
    """Return for each kernel and way what it costs more: a, b, and how much that is in all at both
    ends, least to most over layouts; and of a decapsulation."""
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
    heads = ["kernel", "way", "a, cycles", "b, a byte", "16 bytes", "4096 bytes"]
    return markdown([*heads, "ML-KEM, cycles", "instr."], rows, words=(0, 1))


def _shares(name: str, icache: bool, way: str, size: int) -> list[float]:
    return [
        costs.more(way)[size] / costs.seal(APP)[size] for costs in costs_by_layout(name, icache)
    ]


def extra_cycles(way: str, size: int, icache: bool = True, name: str = BASE) -> str:
    """Return the cycles that a way costs more at one size, least to most over layouts."""
    return between([costs.more(way)[size] for costs in costs_by_layout(name, icache)])


def extra_microseconds(way: str, size: int, icache: bool = True, name: str = BASE) -> str:
    """Return the same in microseconds, at 24 MHz."""
    return between(
        [costs.more(way)[size] / 24 for costs in costs_by_layout(name, icache)], "{:.0f}".format
    )


def extra_share(way: str, size: int, icache: bool = True, name: str = BASE) -> str:
    """Return the same as a part of what the app itself takes."""
    return percents(_shares(name, icache, way, size))


def span(way: str, size: int, names: Sequence[str], part: bool = False) -> str:
    """Return the least and most that a way costs more over kernels, layouts and both cache
    settings."""
    places = [(name, icache) for name in names for icache in (True, False)]
    if part:
        return percents([share for at in places for share in _shares(*at, way, size)])
    return between([costs.more(way)[size] for at in places for costs in costs_by_layout(*at)])


def crossing(first: str, second: str) -> str:
    """Return the size from which on the second way is cheaper on the baseline: least and most
    over the layouts of the apps."""
    return between(crossings(first, second))


def crossings(first: str, second: str, name: str = BASE) -> list[float]:
    """Return the sizes in the layouts in which the lines cross."""
    each = [some.crossings().get((first, second)) for some in costs_by_layout(name, True)]
    return [at for at in each if at is not None]


def cheaper_range(first: str, second: str, names: Sequence[str]) -> str:
    """Say where the first way is the cheaper one on these kernels, in each layout."""
    sizes = [at for name in names for at in crossings(first, second, name)]
    return f"below {between(sizes)} bytes" if sizes else "at every size"


def decapsulation(way: str, names: Sequence[str] = (BASE,)) -> str:
    """Return the instructions that this way adds to a decapsulation, as a part of its own."""
    shares = []
    for some in (costs(name, icache) for name in names for icache in (True, False)):
        own, beyond = some.decapsulate(APP, True), some.decapsulate_more(way, True)
        if own is not None and beyond is not None:
            shares.append(beyond / own)
    return percents(shares, 2)


def decapsulation_range() -> str:
    """Return by how much its cycles are less or more than the app's own, over ways and cache."""
    shares = []
    for some in (costs(BASE, True), costs(BASE, False)):
        own = some.decapsulate(APP) or 1.0
        more = (some.decapsulate_more(way) for way in some.measured[1:])
        shares += [extra / own for extra in more if extra is not None]
    written = [text.percent(share, digits=1, sign="+") for share in (min(shares), max(shares))]
    return " to ".join(written)


def blocked_ms(way: str = "driver", icache: bool = True) -> str:
    """Return for how many milliseconds the driver keeps everybody else waiting: 4096 bytes."""
    return f"{costs(BASE, icache).seal(way)[MOST] / 24_000:.0f}"


def blocked_ms_decapsulating(icache: bool = True) -> str:
    """Return the same of a decapsulation."""
    return f"{(costs(BASE, icache).decapsulate('driver') or 0) / 24_000:.0f}"
