# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The study crypto: where crypto should live. What it costs by size in the app, and what each other
way costs more.

A way's cost is a + b · size. The app's own comes with the work; of the others only what they cost
more than it is fitted, since the work is the same. Two ways cross at the size where their lines do.
"""

from dataclasses import dataclass
from itertools import combinations
from statistics import median

from tockmark.result.model import Result
from tockmark.result.stats import StraightLine, fit_line
from tockmark.show import text
from tockmark.show.table import layout_nets
from tockmark.show.text import LINE, NONE, Table, TableColumn, figures
from tockmark.suite.catalogue import ICACHE

SEAL, COMMAND, DECAPSULATE = "crypto.seal", "crypto.command", "crypto.decapsulate"
APP = "app"
# The ways as the catalogue calls them, and by what they are known to people; the last is a row of
# its own.
WAYS = {
    APP: "in the app",
    "ipc": "old IPC",
    "ipc2": "new IPC",
    "driver": "driver, four crossings",
    "command": "driver, one",
}


LEGEND = (
    "Net cycles, {}; + is what another way costs more than the app itself, with the same code, and"
    " a + b · size is the line through it, without the size that it is held against. Where it is"
    " less than the app itself, the same code lies better in flash: its instructions are more."
)


@dataclass(frozen=True)
class Ways:
    """What the ways cost on one kernel with one cache setting: net cycles."""

    result: Result
    icache: bool | None
    layout: int | None = None  # of the apps; None: the median over all

    def seal(self, way: str) -> dict[int, float]:
        """Return what the cipher costs by this way, by size; nothing where it was not measured."""
        found = {}
        for row in self.result.rows:
            own = row.id == COMMAND if way == "command" else row.params.get("way") == way
            size = row.params.get("size")
            if own and row.icache == self.icache and row.sound and isinstance(size, int):
                nets = layout_nets(row)
                if nets:
                    found[size] = median(nets) if self.layout is None else nets[self.layout]
        return dict(sorted(found.items()))

    @property
    def clock(self) -> str:
        """Say what a cycle is in time."""
        hertz = next((row.clock_hz for row in self.result.rows if row.clock_hz), None)
        return f"1000 of which are {1e9 / hertz:.1f} µs" if hertz else "on a clock not known"

    def decapsulate(self, way: str, instructions: bool = False) -> float | None:
        """Return what ML-KEM's decapsulation costs by this way: cycles, or instructions."""
        wanted = DECAPSULATE, way, self.icache
        return next(
            (
                row.instructions if instructions else row.per_op
                for row in self.result.rows
                if (row.id, row.params.get("way"), row.icache) == wanted and row.sound
            ),
            None,
        )

    def decapsulate_more(self, way: str, instructions: bool = False) -> float | None:
        """Return what that costs more than the app's own."""
        own, other = (self.decapsulate(one, instructions) for one in (APP, way))
        return None if own is None or other is None else other - own

    def more(self, way: str) -> dict[int, float]:
        """Return what this way costs more than the app's own, by size."""
        own = self.seal(APP)
        return {size: cost - own[size] for size, cost in self.seal(way).items() if size in own}

    def line(self, way: str) -> StraightLine | None:
        """Return the line of that, or of the app's own cost; None: too few sizes."""
        costs = self.seal(way) if way == APP else self.more(way)
        return fit_line(list(costs), list(costs.values()))

    @property
    def measured(self) -> list[str]:
        """The ways that this kernel has."""
        return [way for way in WAYS if self.seal(way)]

    def crossings(self) -> dict[tuple[str, str], float | None]:
        """Return for each two ways besides the app's own the size from which on the second is the
        cheaper one; None: the first is cheaper at every size."""
        lines = {way: line for way in self.measured[1:] if (line := self.line(way)) is not None}
        found: dict[tuple[str, str], float | None] = {}
        for one, other in combinations(lines, 2):
            first, second = sorted((one, other), key=lambda way: lines[way].intercept)
            gain = lines[first].slope - lines[second].slope
            fixed = lines[second].intercept - lines[first].intercept
            found[first, second] = fixed / gain if gain > 0 else None
        return found


def ways(result: Result) -> list[Ways]:
    """Return what a result has of the ways, for each cache setting; nothing of one without."""
    if not any(row.id == SEAL for row in result.rows):
        return []
    return [Ways(result, icache) for icache in result.icaches]


def table(some: Ways) -> Table:
    """Return cycles in the app, and what other ways cost more: by size, as a line, of ML-KEM."""
    shown = some.measured
    heads = {APP: WAYS[APP]} | {way: f"+ {WAYS[way]}" for way in shown[1:]}
    widths = {head: max(12, len(head)) for head in heads.values()}
    made = Table([TableColumn("", 22, 0, left=True), *figures(widths)])
    own = some.seal(APP)
    mores = {way: some.more(way) for way in shown[1:]}
    for size, cost in own.items():
        cells = [_cycles(mores[way].get(size), "+") for way in shown[1:]]
        made.add(f"{size} bytes", _cycles(cost), *cells)
    lines = [some.line(way) for way in shown]
    made.add("a", *(NONE if line is None else _cycles(line.intercept) for line in lines))
    made.add("b, a byte", *(slope(line.slope if line else None) for line in lines))
    held = next((line.held_out for line in lines if line is not None), 0)
    offs = [NONE if line is None else f"{line.held_out_error:+,.0f}" for line in lines]
    made.add(f"line off at {held:.0f}", *offs)
    for what, counted in (("ML-KEM-768", False), ("ML-KEM, instructions", True)):
        if some.decapsulate(APP) is None:
            break
        beyond = [some.decapsulate_more(way, counted) for way in shown[1:]]
        made.add(
            what, _cycles(some.decapsulate(APP, counted)), *(_cycles(one, "+") for one in beyond)
        )
    return made


def slope(value: float | None) -> str:
    """Write what a byte costs; without the sign of a zero."""
    return NONE if value is None else f"{round(value, 2) + 0.0:.2f}"


def _cycles(value: float | None, sign: str = "") -> str:
    return NONE if value is None else f"{value:{sign},.0f}"


def crossing_lines(some: Ways) -> list[str]:
    """Say where the ways cross."""
    return [
        f"{WAYS[first]} is cheaper than {WAYS[second]}"
        + (" at every size" if at is None or at > max(some.seal(APP)) else f" below {at:.0f} bytes")
        for (first, second), at in some.crossings().items()
    ]


def blocks(result: Result, width: int = LINE) -> list[str]:
    """Return the lines of a result's screen: none, if it has nothing of crypto."""
    out: list[str] = []
    kernel = result.provenance.kernel.title
    for some in ways(result):
        title = f"ChaCha20-Poly1305, ML-KEM-768: {kernel}, i-cache {ICACHE[some.icache]}"
        out += [*table(some).text(*text.wrap(title, "", width), ""), ""]
        out += text.wrap(LEGEND.format(some.clock), "", width)
        out += [*crossing_lines(some), ""]
    return out
