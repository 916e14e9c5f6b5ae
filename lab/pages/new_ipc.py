# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The cost of Tock's old and new IPC by size, on the branches that bring the new one, over the
links in results/ipc/."""

from collections.abc import Iterable
from statistics import median

from committed import CommittedResult, between, committed, longer, number, retired, share_left
from tables import markdown
from tockmark.result.model import layout_nets, microseconds

BRANCHES = ("initial", "relay-request-fairness")
LEVELS = ("z", "2")
BACK = "ipc2.round_trip"


def run(branch: str, level: str) -> CommittedResult:
    """Return the result of one branch at one opt-level."""
    return committed(f"ipc/{branch}-{level}")


def rows(names: Iterable[str], icache: bool) -> str:
    """Return a table of net cycles of one operation (range over links) by branch and opt-level, and
    of each branch's instructions at z (i-cache off)."""
    lines = []
    for name in names:
        cells = [run(*column).span(name, icache) for column in _columns()]
        counts = [number(retired(run(branch, "z").row(name, False))) for branch in BRANCHES]
        lines.append([name, *cells, *counts])
    heads = [f"{branch.split('-')[-1]}, {level}" for branch, level in _columns()]
    return markdown(
        ["row", *heads, *(f"{branch.split('-')[-1]}, instr." for branch in BRANCHES)], lines
    )


def _columns() -> list[tuple[str, str]]:
    return [(branch, level) for branch in BRANCHES for level in LEVELS]


def cycles_per_byte(branch: str, level: str, id_: str, icache: bool, least: int, most: int) -> str:
    """Format the cycles per byte between two sizes (range over links)."""
    ends = [run(branch, level).row(f"{id_} size={size}", icache) for size in (least, most)]
    pairs = zip(*map(layout_nets, ends), strict=True)
    return between([(high - low) / (most - least) for low, high in pairs], "{:.1f}".format)


def instructions_a_byte(branch: str, level: str, least: int = 1024, most: int = 8192) -> float:
    """Return the instructions per byte, there and back."""
    ends = [retired(run(branch, level).row(f"{BACK} size={size}", False)) for size in (most, least)]
    high, low = (end or 0.0 for end in ends)
    return (high - low) / (most - least)


def extra_instructions(name: str, level: str) -> str:
    """Format the instructions that the branch with fairness adds to a row."""
    return _added(_branches(level), name)


def iterator_alone(variant: str, name: str) -> str:
    """Format the instructions that the rotated iterator alone adds to a row at z: `stored` keeps
    its offset, `tuple` returns one with each item."""
    return _added(_iterators(variant), name)


def extra_cycles(name: str, level: str, icache: bool) -> str:
    """Format by how many percent the cycles with fairness differ (range over pairs of links)."""
    return longer(*(each.row(name, icache) for each in _branches(level)))


def iterator_cycles(variant: str, name: str, icache: bool) -> str:
    """Format by how many percent the cycles at z differ with the rotated iterator alone (range over
    pairs of links)."""
    return longer(*(each.row(name, icache) for each in _iterators(variant)))


def _branches(level: str) -> list[CommittedResult]:
    return [run(branch, level) for branch in BRANCHES]


def _iterators(variant: str) -> list[CommittedResult]:
    return [committed(f"ladder/iterator/{variant}-{side}") for side in ("base", "head")]


def new_by_old(size: int, branch: str = "initial", level: str = "z") -> str:
    """Format the cycles of a message by the new IPC relative to the old one, i-cache on."""
    nets = [
        layout_nets(run(branch, level).row(f"{id_} size={size}"))
        for id_ in ("ipc.bandwidth", "ipc2.bandwidth")
    ]
    return between([new / old for old, new in zip(*nets, strict=True)], "{:.1f}".format)


def by_size(sizes: Iterable[int] = (64, 256, 1024, 8192), branch: str = "initial") -> str:
    """Return a table of one message by size, i-cache on: µs at z, and cycles of the old and the new
    IPC at each opt-level (range over links)."""
    old, new = "ipc.bandwidth", "ipc2.bandwidth"
    release = committed("opt/tock-2.2-z")
    hertz = release.board.clock_hz or 0
    lines = []
    for size in sizes:
        nets = [_nets(run(branch, level), id_, size) for level in LEVELS for id_ in (old, new)]
        micros = [_nets(release, old, size), *nets[:2]]
        lines.append(
            [
                f"{size:,}",
                *(f"{microseconds(median(own), hertz):,.0f}" for own, _ in micros),
                *(f"{'' if measured else 'about '}{between(own)}" for own, measured in nets),
            ]
        )
    micros_heads = ["2.2, old, µs", "old, µs", "new, µs"]
    names = [f"{name}, {level}" for level in LEVELS for name in ("old", "new")]
    return markdown(["bytes", *micros_heads, *names], lines)


def _nets(result: CommittedResult, id_: str, size: int) -> tuple[list[float], bool]:
    """Return the net cycles of a message over links, and whether this size was measured. If not,
    they are on the line between 64 and 1024 bytes."""
    own, low, high = (
        list(layout_nets(result.row(f"{id_} size={each}"))) for each in (size, 64, 1024)
    )
    share = (size - 64) / (1024 - 64)
    line = [before + share * (after - before) for before, after in zip(low, high, strict=True)]
    return own or line, bool(own)


def _added(pair: Iterable[CommittedResult], name: str) -> str:
    before, after = (retired(each.row(name, False)) for each in pair)
    return f"{(after or 0.0) - (before or 0.0):+.0f}"


def left_by_memmove(name: str, icache: bool) -> str:
    """Format the share of a row's cycles that remains with memmove (range over pairs of links)."""
    return share_left("ipc/memmove", name, icache)
