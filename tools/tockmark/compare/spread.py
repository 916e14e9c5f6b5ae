# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The spread σ of a row: how much its cycles vary over links of one kernel.

The symbols are in docs/method.md, "The rule".

- `Spread` has the log nets of committed results of several links, and computes σ₀.
- `PairedSpread` is the spread of paired links (trees/pairing.py; docs/method.md, "Paired links").
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tockmark.base.paths import RESULTS
from tockmark.result import file
from tockmark.result.model import Result, Row
from tockmark.result.provenance import unlike_benchmarks
from tockmark.result.stats import Floats
from tockmark.suite.catalogue import Catalogue

ROUNDING = 1e-9  # of logarithms


def student(z: float, dof: int) -> float:
    """Return t(z, ν): Student's t for `dof` degrees of freedom, at the tail probability of z
    deviations of a normal distribution.

    It is the expansion in 1/ν of Abramowitz and Stegun 26.7.5, which for a z of 3.5 is within 2 %
    from ν = 7 up."""
    if dof < 1:
        return math.inf
    return (
        z
        + (z**3 + z) / (4 * dof)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * dof**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * dof**3)
    )


def mean_over_benchmarks(logs: Iterable[tuple[Row, Floats]]) -> Floats:
    """Return the mean of the logarithms of rows, in each layout. The rows of one benchmark count
    together as one."""
    logs_by_benchmark: dict[str, list[Floats]] = {}
    for row, log in logs:
        logs_by_benchmark.setdefault(row.id, []).append(log)
    return _mean([_mean(rows) for rows in logs_by_benchmark.values()])


def _mean(values: list[Floats]) -> Floats:
    mean: Floats = sum(values, np.zeros(1)) / len(values)
    return mean


# The spread over links of one kernel, from committed results of several links


TOCK = (RESULTS / "links" / "tock-2.2.json", RESULTS / "opt" / "tock-master-z.json")
OWN = RESULTS / "opt"  # of our own kernel, by opt-level: it is small and mostly fits into the cache
LEAST = 4  # nets that a row's own spread is computed from
# z: how many deviations an interval reaches. Fewer would do for the known links, but 16 of them may
# lack a position of a loop in a flash word (docs/method.md, "How many deviations").
Z = 3.5


AnyKey = tuple[str, frozenset[tuple[str, int | str]], bool | None]  # a row, in any language


class Deviation(NamedTuple):
    """A standard deviation σ of logarithms, and its degrees of freedom ν."""

    value: float
    dof: int
    paired: bool = False  # of the differences over paired links


@dataclass(frozen=True)
class Spread:
    """The known spread of rows: the logarithms of their nets over links."""

    source: str = ""
    links: int = 0
    # Each row has one log net per link, for all languages, since the links are the kernel's.
    logs: Mapping[AnyKey, Floats] = field(default_factory=dict)
    unfit: str = ""  # why it does not fit all rows, or some

    @property
    def title(self) -> str:
        """The source of the spread, in words."""
        title = f"{self.source}, {self.links} links" if self.logs else "not known"
        return f"{title}; {self.unfit}" if self.unfit else title

    def row_deviation(self, row: Row) -> Deviation | None:
        """Return σ₀ of a row; None without data. An unknown cache setting counts as on, which
        spreads further."""
        logs = self.logs.get((*row.key[:2], row.icache is not False))
        return deviation(logs) if logs is not None else None

    def mean_deviation(self, rows: Sequence[Row]) -> Deviation | None:
        """Return the deviation of the mean of several rows over links: one link may move many
        together. Without data for any row, return the largest single deviation."""
        logs = [(row, self.logs[row.key[:3]]) for row in rows if row.key[:3] in self.logs]
        if logs:
            return deviation(mean_over_benchmarks(logs))
        return max(
            (sigma for row in rows if (sigma := self.row_deviation(row)) is not None),
            default=None,
        )


def logs_of(nets: Sequence[float]) -> Floats:
    """Return the logarithms of nets; a net below one count counts as one."""
    return np.log(np.maximum(np.array(nets, dtype=np.float64), 1))


def deviation(logs: Floats) -> Deviation:
    """Return the standard deviation of two values or more."""
    return Deviation(float(np.std(logs, ddof=1)), len(logs) - 1)


def spread_over_links(result: Result, source: str) -> Spread:
    """Return the spread of the rows that every link of a result has."""
    most = max((len(row.cycles.nets) for row in result.rows if row.cycles), default=0)
    logs = {
        row.key[:3]: logs_of(row.cycles.nets)
        for row in result.leading.table.values()
        if row.cycles and LEAST <= len(row.cycles.nets) == most
    }
    return Spread(source, result.links, logs)


def committed_spread(base: Result) -> Spread:
    """Return the spread that committed results of several links show for the kernel of a result, on
    the same machine and for each row that was measured in the same way. For a kernel that is not
    ours, each row has the wider spread of the measured releases."""
    kernel = base.provenance.kernel
    own = OWN / f"baseline-{kernel.opt_level or '3'}.json"
    paths = (own,) if kernel.is_baseline else TOCK
    return _widest([_fitting(path, base) for path in paths if path.exists()])


def _widest(spreads: Sequence[Spread]) -> Spread:
    """Return a spread with the widest of the given spreads for each row."""
    filled = [spread for spread in spreads if spread.logs]
    if len(filled) < 2:
        return next(iter([*filled, *spreads]), Spread())
    links = min(spread.links for spread in filled)
    logs: dict[AnyKey, Floats] = {}
    for spread in filled:
        for key, row_logs in spread.logs.items():
            if key not in logs or row_logs[:links].std() > logs[key].std():
                logs[key] = row_logs[:links]
    source = f"{' or '.join(spread.source for spread in filled)}, whichever is wider"
    unfit = dict.fromkeys(spread.unfit for spread in filled if spread.unfit)
    return Spread(source, links, logs, "; ".join(unfit))


def _fitting(path: Path, base: Result) -> Spread:
    """Return the spread of a committed result, for the rows that were measured as in `base`."""
    stored, name = _loaded(path), path.relative_to(RESULTS.parent).as_posix()
    board = stored.provenance.board
    if board.machine != base.provenance.board.machine:
        return Spread(unfit=f"{name} is of the machine {board.machine}")
    spread, parts_now = spread_over_links(stored, name), _row_parts(base)
    unfit = []
    simulator = base.provenance.board.simulator_sha256  # None: a board
    resimulated = unlike_benchmarks(board.simulator_sha256, simulator)
    if simulator is not None and resimulated is None:
        unfit.append("of a simulator that is not proved to be the same")
    others = {
        key for key, parts in _row_parts(stored).items() if parts_now.get(key, parts) != parts
    }
    others |= resimulated or set()
    unlike = {row.key[:3] for row in stored.rows if {row.id, (row.boot, row.lang)} & others}
    left = {key: logs for key, logs in spread.logs.items() if key not in unlike}
    if many := len(spread.logs) - len(left):
        unfit.append(f"{many} of its rows are measured differently now")
    return replace(spread, logs=left, unfit=", ".join(unfit))


@cache
def _loaded(path: Path) -> Result:
    return file.load(path)


def _row_parts(result: Result) -> dict[object, object]:
    """Return what rows depend on, other than kernel and machine: by the id of a benchmark its
    catalogue entry, and by boot and language the parts of its apps."""
    provenance = result.provenance
    linked = {
        (boot.boot, boot.lang): [slot.parts_sha256 for slot in boot.slots]
        for boot in provenance.boots
    }
    parts_by_key: dict[object, object] = {key: parts for key, parts in linked.items() if all(parts)}
    parts_by_key.update(provenance.entries)
    return parts_by_key


# Paired links


# The deviation of a difference, by the cache setting: in cycles of a sample, and as a share of it.
STRAY = {False: (2.7, 0.001), True: (13.0, 0.003)}
FREE = 60  # degrees of freedom that they were estimated with, at least


@dataclass(frozen=True)
class PairedSpread(Spread):
    """The spread of paired links."""

    clocked: frozenset[str] = frozenset()  # benchmarks

    @property
    def title(self) -> str:
        """The source of the spread, in words."""
        return f"paired links; for rows that a clock times in few pairs, {super().title}"

    def row_deviation(self, row: Row) -> Deviation | None:
        """Return the deviation of a row's differences; if a clock times it, that of unpaired
        links, which has no bound if it is not known."""
        if row.id not in self.clocked and row.instret is not None:
            return paired_deviation(row)
        value, dof, _ = super().row_deviation(row) or Deviation(math.inf, FREE)
        return Deviation(value * math.sqrt(2), dof, paired=True)

    def mean_deviation(self, rows: Sequence[Row]) -> Deviation | None:
        """Return the largest deviation of any of the rows."""
        return max(map(paired_deviation, rows), default=None)


def paired_deviation(row: Row) -> Deviation:
    """Return the deviation of the differences of a row that executes changed code."""
    cycles, share = STRAY[row.icache is not False]
    return Deviation(math.hypot(cycles / max(row.net or 0, 1), share), FREE, paired=True)


def paired_spread(unpaired: Spread, catalogue: Catalogue) -> PairedSpread:
    """Return the spread of paired links of kernels with this spread over unpaired links."""
    clocked = frozenset(entry.id for entry in catalogue.benchmarks.values() if entry.waits)
    fields = unpaired.source, unpaired.links, unpaired.logs, unpaired.unfit
    return PairedSpread(*fields, clocked)
