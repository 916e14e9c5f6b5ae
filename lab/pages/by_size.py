# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Cost by size: lines a + b · size, with their error at a size that the fit did not use. Data:
lab/studies/sizes, and the results that have IPC by size."""

from dataclasses import dataclass

from committed import committed, number
from tables import markdown
from tockmark.result.model import Row
from tockmark.result.stats import StraightLine, fit_line
from tockmark.show import text
from tockmark.suite.catalogue import Lang

KIB = 1024


@dataclass(frozen=True)
class SizeSeries:
    """Rows of one result that differ only in a size."""

    what: str
    id: str
    kernel: str
    result: str
    unit: int = 1  # bytes per unit of the parameter
    lang: Lang = "c"

    def points(self, icache: bool) -> dict[int, float]:
        """Return net cycles of one operation by size in bytes (median over layouts)."""
        return {size: cost for row in self._rows(icache) for size, cost in self._point(row)}

    def _rows(self, icache: bool) -> list[Row]:
        rows = committed(self.result, self.lang).rows.items()
        return [row for (on, _), row in rows if on is icache and row.id == self.id and row.sound]

    def _point(self, row: Row) -> list[tuple[int, float]]:
        (size,) = row.params.values()
        assert isinstance(size, int)
        return [] if row.per_op is None else [(size * self.unit, row.per_op)]

    def line(self, icache: bool) -> StraightLine:
        """Return the line through all sizes but the middle one."""
        return line_of(self.points(icache))


def line_of(points: dict[int, float]) -> StraightLine:
    """Return the line through all points but the middle one."""
    line = fit_line(list(points), list(points.values()))
    assert line is not None
    return line


NAMES = {"baseline": "baseline", "tock-2.2": "Tock 2.2", "tock-master": "Tock master"}
OLD_IPC = {"baseline-cw310": "baseline", "opt/tock-2.2-z": "Tock 2.2"}
OLD_IPC |= {"opt/tock-master-z": "Tock master"}
NEW_IPC = {"baseline-cw310": "baseline", "ipc/initial-z": "dev/ipc-initial"}
NEW_IPC |= {"ipc/relay-request-fairness-z": "…-fairness"}
WORK = {"length.aes": "AES-128", "length.sha256": "SHA-256", "length.inflate": "inflate"}
SWEEPS = (
    *(SizeSeries("loading an app", "size.load", NAMES[k], f"sizes/{k}", KIB) for k in NAMES),
    *(SizeSeries("allow", "size.allow", NAMES[k], f"sizes/{k}") for k in NAMES),
    *(
        SizeSeries("old IPC, to its copy", "ipc.bandwidth", k, result)
        for result, k in OLD_IPC.items()
    ),
    *(
        SizeSeries("new IPC, there and back", "ipc2.round_trip", k, result)
        for result, k in NEW_IPC.items()
    ),
    SizeSeries("flash read", "size.flash", "none", "sizes/bare"),
    *(SizeSeries(what, id_, "none", "sizes/bare", lang="rust") for id_, what in WORK.items()),
)


def relative_error(line: StraightLine) -> float:
    """Return the line's error at the held-out size, as a share of the measured cycles."""
    return line.held_out_error / (line.intercept + line.slope * line.held_out + line.held_out_error)


def table() -> str:
    """Return a table of each sweep's a, b and error at the held-out size, for both cache
    settings."""
    rows = []
    for sweep in SWEEPS:
        cells = []
        for icache in (True, False):
            line = sweep.line(icache)
            cells += [
                number(line.intercept),
                f"{round(line.slope, 2) + 0.0:.2f}",
                f"{round(line.held_out_error) + 0:+,} "
                f"({round(100 * relative_error(line), 1) + 0.0:+.1f} %)",
            ]
        rows.append([sweep.what, sweep.kernel, number(line.held_out), *cells])
    heads = ["cost of", "kernel", "held out", "on: a", "b", "off by", "off: a", "b", "off by"]
    return markdown(heads, rows, words=(0, 1))


def loading_growth() -> str:
    """Return the largest share that the longest app adds to a start, on any kernel."""
    points = [sweep.points(icache) for sweep in SWEEPS[: len(NAMES)] for icache in (True, False)]
    return text.percent(max(max(costs.values()) / costs[0] - 1 for costs in points), digits=1)


def largest_error(*but: str) -> str:
    """Return the largest error at a held-out size. `but` names sweeps to skip: "title, kernel"."""
    lines = [
        sweep.line(icache)
        for sweep in SWEEPS
        for icache in (True, False)
        if f"{sweep.what}, {sweep.kernel}" not in but
    ]
    return text.percent(max(abs(relative_error(line)) for line in lines), digits=1)
