# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The spread σ of a row: how much its cycles vary over links of one kernel.

The symbols are in docs/method.md, "The rule".

- `Spread` has the log nets of committed results of several links, from which σ₀ and z(L) are
  computed.
- `PairedSpread` is the spread of paired links (trees/pairing.py; docs/method.md, "Paired links").
"""

import itertools
import math
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
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
Z = 3.5  # z where there are too few known links to calibrate it
CANDIDATES = [z / 20 for z in range(40, 161)]
ALARMS = 1 / 200  # at most, of the judgements of one source, for each cache setting
LIMIT = 0.01  # the soft limit of cycles
DRAWS = 200
ENOUGH = 12  # links, so that some are left when two sets of them are drawn


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
    # Rows that the simulator's clock times. Few links move them far, so they have a z of their own.
    timed: frozenset[AnyKey] = frozenset()

    @property
    def title(self) -> str:
        """The source of the spread, in words."""
        title = f"{self.source}, {self.links} links" if self.logs else "not known"
        return f"{title}; {self.unfit}" if self.unfit else title

    def z(self, icache: bool | None, links: int, timed: bool = False) -> float:
        """Return z(L), in standard deviations: the smallest that keeps false alarms between known
        links at 1 in 200 for such rows; Z if there are too few known links."""
        side = min(links, self.links // 4)
        return self._calibrated.get((icache is not False, side, timed), Z)

    @cached_property
    def _calibrated(self) -> dict[tuple[bool, int, bool], float]:
        if self.links < ENOUGH:
            return {}
        groups: dict[tuple[bool, bool], list[Floats]] = {}
        for key, logs in self.logs.items():
            groups.setdefault((key[2] is not False, key in self.timed), []).append(logs)
        return {
            (icache, side, timed): _calibrated_z(np.stack(rows), side)
            for (icache, timed), rows in groups.items()
            for side in range(1, self.links // 4 + 1)
        }

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


def _calibrated_z(logs: Floats, side: int) -> float:
    """Return the smallest z with which sets of `side` links hardly ever differ: all pairs of single
    links, else random sets. `logs` has one line per row and one column per link."""
    links = logs.shape[1]
    drawn: list[tuple[int, ...]] = list(itertools.permutations(range(links), 2))
    if side > 1:
        draw = random.Random(links)
        drawn = [tuple(draw.sample(range(links), 2 * side)) for _ in range(DRAWS)]
    beyond = []
    for chosen in drawn:
        base, new = logs[:, chosen[:side]], logs[:, chosen[side:]]
        left = np.delete(logs, chosen, axis=1).std(axis=1, ddof=1)
        sigma = np.maximum(
            left, np.sqrt((base.var(axis=1) + new.var(axis=1)) * side / max(2 * side - 2, 1))
        )
        growth = new.mean(axis=1) - base.mean(axis=1) - math.log1p(LIMIT)
        beyond.append(float((growth / (np.maximum(sigma, ROUNDING) * math.sqrt(2 / side))).max()))
    dof = links - 2 * side - 1 + 2 * side - 2
    return next(
        (z for z in CANDIDATES if np.mean(np.array(beyond) > student(z, dof)) <= ALARMS),
        CANDIDATES[-1],
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
    timed = frozenset(row.key[:3] for row in result.rows if row.series("instret") is None)
    return Spread(source, result.links, logs, timed=timed)


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
    timed = frozenset[AnyKey]().union(*(spread.timed for spread in filled))
    return Spread(source, links, logs, "; ".join(unfit), timed)


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
    fields = unpaired.source, unpaired.links, unpaired.logs, unpaired.unfit, unpaired.timed
    return PairedSpread(*fields, clocked)
