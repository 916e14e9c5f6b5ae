# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The study crypto: where cryptography should run. It shows what a cipher costs by size in the app
itself, and how much more each other way costs.

The cost of a way is a + b · size. The line of the app itself includes the work. The lines of the
other ways are fitted to their extra cost only, since the work is the same. Two ways cross at the
size at which their lines do.
"""

from dataclasses import dataclass
from itertools import combinations
from statistics import median

from tockmark.result.model import Result, layout_nets
from tockmark.result.stats import StraightLine, fit_line
from tockmark.show import text
from tockmark.show.text import LINE, NONE, Table, TableColumn, figures
from tockmark.suite.catalogue import ICACHE

SEAL, COMMAND, DECAPSULATE = "crypto.seal", "crypto.command", "crypto.decapsulate"
APP = "app"
# The ways by their names in the catalogue, with their names for readers. The last way has a row of
# its own.
WAYS = {
    APP: "in the app",
    "ipc": "old IPC",
    "ipc2": "new IPC",
    "driver": "driver, four crossings",
    "command": "driver, one",
}


LEGEND = (
    "Net cycles, {}. + is the extra cost of another way over the app itself, with the same code,"
    " and a + b · size is the line through it, fitted without the size at which its error is shown."
    " If it is negative, the same code has better addresses in flash: it retires more instructions."
)


@dataclass(frozen=True)
class Ways:
    """The costs of the ways on one kernel with one cache setting, in net cycles."""

    result: Result
    icache: bool | None
    layout: int | None = None  # of the apps; None: the median over all

    def seal(self, way: str) -> dict[int, float]:
        """Return the cost of the cipher by size, this way; sizes that were not measured are
        missing."""
        costs = {}
        for row in self.result.rows:
            own = row.id == COMMAND if way == "command" else row.params.get("way") == way
            size = row.params.get("size")
            if own and row.icache == self.icache and row.sound and isinstance(size, int):
                nets = layout_nets(row)
                if nets:
                    costs[size] = median(nets) if self.layout is None else nets[self.layout]
        return dict(sorted(costs.items()))

    @property
    def clock(self) -> str:
        """The duration of a cycle, in words."""
        hertz = next((row.clock_hz for row in self.result.rows if row.clock_hz), None)
        return f"{1e9 / hertz:.1f} µs per 1000" if hertz else "of an unknown duration"

    def decapsulate(self, way: str, instructions: bool = False) -> float | None:
        """Return the cost of ML-KEM's decapsulation this way, in cycles or instructions."""
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
        """Return how much more it costs than in the app itself."""
        own, other = (self.decapsulate(name, instructions) for name in (APP, way))
        return None if own is None or other is None else other - own

    def more(self, way: str) -> dict[int, float]:
        """Return how much more the cipher costs this way than in the app itself, by size."""
        own = self.seal(APP)
        return {size: cost - own[size] for size, cost in self.seal(way).items() if size in own}

    def line(self, way: str) -> StraightLine | None:
        """Return the line through this, or through the app's own cost; None with too few sizes."""
        costs = self.seal(way) if way == APP else self.more(way)
        return fit_line(list(costs), list(costs.values()))

    @property
    def measured(self) -> list[str]:
        """The ways that were measured on this kernel."""
        return [way for way in WAYS if self.seal(way)]

    def crossings(self) -> dict[tuple[str, str], float | None]:
        """Return the size at which the second of two ways gets cheaper, for each pair of ways other
        than the app itself. None: the first is cheaper at every size."""
        lines = {way: line for way in self.measured[1:] if (line := self.line(way)) is not None}
        sizes: dict[tuple[str, str], float | None] = {}
        for way, other_way in combinations(lines, 2):
            first, second = sorted((way, other_way), key=lambda way: lines[way].intercept)
            gain = lines[first].slope - lines[second].slope
            fixed = lines[second].intercept - lines[first].intercept
            sizes[first, second] = fixed / gain if gain > 0 else None
        return sizes


def ways(result: Result) -> list[Ways]:
    """Return the costs of a result for each cache setting; empty without crypto."""
    if not any(row.id == SEAL for row in result.rows):
        return []
    return [Ways(result, icache) for icache in result.icaches]


def table(costs: Ways) -> Table:
    """Return a table of the cycles in the app and the extra cycles of other ways: by size, as a
    line, and for ML-KEM."""
    shown = costs.measured
    heads = {APP: WAYS[APP]} | {way: f"+ {WAYS[way]}" for way in shown[1:]}
    widths = {head: max(12, len(head)) for head in heads.values()}
    cost_table = Table([TableColumn("", 22, 0, left=True), *figures(widths)])
    own = costs.seal(APP)
    mores = {way: costs.more(way) for way in shown[1:]}
    for size, cost in own.items():
        cells = [_cycles(mores[way].get(size), "+") for way in shown[1:]]
        cost_table.add(f"{size} bytes", _cycles(cost), *cells)
    lines = [costs.line(way) for way in shown]
    cost_table.add("a", *(NONE if line is None else _cycles(line.intercept) for line in lines))
    cost_table.add("b, a byte", *(slope(line.slope if line else None) for line in lines))
    checked_size = next((line.held_out for line in lines if line is not None), 0)
    errors = [NONE if line is None else f"{line.held_out_error:+,.0f}" for line in lines]
    cost_table.add(f"line error at {checked_size:.0f}", *errors)
    for label, counted in (("ML-KEM-768", False), ("ML-KEM, instructions", True)):
        if costs.decapsulate(APP) is None:
            break
        extra = [costs.decapsulate_more(way, counted) for way in shown[1:]]
        cost_table.add(
            label,
            _cycles(costs.decapsulate(APP, counted)),
            *(_cycles(value, "+") for value in extra),
        )
    return cost_table


def slope(value: float | None) -> str:
    """Format the cost per byte, without the sign of a zero."""
    return NONE if value is None else f"{round(value, 2) + 0.0:.2f}"


def _cycles(value: float | None, sign: str = "") -> str:
    return NONE if value is None else f"{value:{sign},.0f}"


def crossing_lines(costs: Ways) -> list[str]:
    """Return a line of text for each pair of ways, with the size at which they cross."""
    return [
        f"{WAYS[first]} is cheaper than {WAYS[second]}"
        + (
            " at every size"
            if at is None or at > max(costs.seal(APP))
            else f" below {at:.0f} bytes"
        )
        for (first, second), at in costs.crossings().items()
    ]


def blocks(result: Result, width: int = LINE) -> list[str]:
    """Return the lines of a result's screen; empty without crypto."""
    out: list[str] = []
    kernel = result.provenance.kernel.title
    for costs in ways(result):
        title = f"ChaCha20-Poly1305, ML-KEM-768: {kernel}, i-cache {ICACHE[costs.icache]}"
        out += [*table(costs).text(*text.wrap(title, "", width), ""), ""]
        out += text.wrap(LEGEND.format(costs.clock), "", width)
        out += [*crossing_lines(costs), ""]
    return out
