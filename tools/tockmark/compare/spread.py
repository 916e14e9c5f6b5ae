# SPDX-License-Identifier: Apache-2.0 OR MIT
"""How far the cycles of a row spread over links of one kernel, which a difference between two
kernels is held against.

- Links of one source differ in layout only. How far they spread is computed from committed results
  of several links. `Spread.z` calibrates how many deviations an interval reaches: known
  links that are judged by each other are hardly ever told apart.
- In paired links (trees/pairing.py) every function begins at the same address on both sides. Where
  nothing that runs has changed, both sides have the same cycles, and the interval is that point.
  Where something has changed, the code behind it in its function lies at another place in the flash
  word; with the cache on, the replacement pointer differs, too. How far that goes was drawn
  (docs/method.md): some cycles a sample, whatever its length, and a share of it. A row whose length
  a clock sets, or that begins with one and so has no instructions, has the spread of its links.
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
from tockmark.result.provenance import same_simulator
from tockmark.result.stats import Floats
from tockmark.suite.catalogue import Catalogue

ROUNDING = 1e-9  # of logarithms


def student(z: float, free: int) -> float:
    """Return what z standard deviations of a normal distribution become where the deviation is
    estimated with so many degrees of freedom: Student's t of the same probability, by its expansion
    in 1/free (Abramowitz and Stegun 26.7.5), which for a z of 3.5 is within 2 % from 7 up."""
    if free < 1:
        return math.inf
    return (
        z
        + (z**3 + z) / (4 * free)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * free**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * free**3)
    )


def mean_over_benchmarks(logs: Iterable[tuple[Row, Floats]]) -> Floats:
    """Return the mean of the logarithms of rows: a benchmark with parameters or cache settings
    weighs as one, with the mean of its rows."""
    found: dict[str, list[Floats]] = {}
    for row, log in logs:
        found.setdefault(row.id, []).append(log)
    return _mean([_mean(of_one) for of_one in found.values()])


def _mean(values: list[Floats]) -> Floats:
    found: Floats = sum(values, np.zeros(1)) / len(values)
    return found


# The spread: how far the cycles of a row differ over links of one kernel that differ in layout
# only, which a difference between two kernels has to be held against, even where each was linked
# but once. It is computed from committed results of several links.


TOCK = (RESULTS / "links" / "tock-2.2.json", RESULTS / "opt" / "tock-master-z.json")
OWN = RESULTS / "opt"  # of our own kernel, by opt-level: it is small and mostly fits into the cache
LEAST = 4  # nets that a row's own spread is computed from
# Of how many deviations an interval is, as docs/method.md tells: the number that is found by the
# judgements of known links by each other, or Z where these are too few.
Z = 3.5
CANDIDATES = [z / 20 for z in range(40, 161)]
ALARMS = 1 / 200  # of the judgements of one source, at most, with either cache setting
LIMIT = 0.01  # the soft limit of cycles
DRAWS = 200
ENOUGH = 12  # links, of which some are left when two sets of them are drawn
UPPER = 0.9  # a row that was not measured spreads as this share of the others does at most


AnyKey = tuple[str, frozenset[tuple[str, int | str]], bool | None]  # a row, in any language


class Deviation(NamedTuple):
    """A standard deviation of logarithms, and the degrees of freedom that it is estimated with."""

    value: float
    free: int
    paired: bool = False  # of the differences over paired links


@dataclass(frozen=True)
class Spread:
    """What is known of how rows spread: the logarithms of their nets over links."""

    source: str = ""
    links: int = 0
    # Of a row's net, link by link; whatever its language, since the links are the kernel's.
    logs: Mapping[AnyKey, Floats] = field(default_factory=dict)
    unfit: str = ""  # why it says nothing of all rows, or of some

    @property
    def title(self) -> str:
        """Say where it comes from."""
        said = f"{self.source}, {self.links} links" if self.logs else "not known"
        return f"{said}; {self.unfit}" if self.unfit else said

    def z(self, icache: bool | None, links: int) -> float:
        """Return how many deviations an interval reaches to either side, where the side that has
        fewer has so many links: the least number at which of the judgements of known links by each
        other, each by the spread of those that are left, at most one in 200 finds anything with
        this cache setting. It is Z where known links are too few to tell."""
        side = min(links, self.links // 4)
        return self._calibrated.get((icache is not False, side), Z)

    @cached_property
    def _calibrated(self) -> dict[tuple[bool, int], float]:
        if self.links < ENOUGH:
            return {}
        found = {}
        for icache in (True, False):
            rows = [logs for key, logs in self.logs.items() if key[2] is icache]
            for side in range(1, self.links // 4 + 1) if rows else ():
                found[icache, side] = _calibrated(np.stack(rows), side)
        return found

    def row_deviation(self, row: Row) -> Deviation | None:
        """Return the deviation of a row, or what most others keep within; None if nothing is known.
        Where the cache setting is not known, it counts as on: that spreads further."""
        icache = row.icache is not False
        found = self.logs.get((*row.key[:2], icache))
        return deviation(found) if found is not None else self.others.get(icache)

    @cached_property
    def others(self) -> dict[bool, Deviation]:
        """What rows that were not measured may spread, by the cache setting."""
        of_all = {
            icache: sorted(deviation(logs) for key, logs in self.logs.items() if key[2] is icache)
            for icache in (True, False)
        }
        return {
            icache: found[int(UPPER * (len(found) - 1))]
            for icache, found in of_all.items()
            if found
        }

    def mean_deviation(self, rows: Sequence[Row]) -> Deviation | None:
        """Return the deviation of the mean of several rows, which one link may move together. If
        none of them was measured, it is no less than that of any of them."""
        logs = [(row, self.logs[row.key[:3]]) for row in rows if row.key[:3] in self.logs]
        if logs:
            return deviation(mean_over_benchmarks(logs))
        return max(
            (found for row in rows if (found := self.row_deviation(row)) is not None), default=None
        )


def _calibrated(logs: Floats, side: int) -> float:
    """Return the deviations at which sets of so many links, judged by each other, are hardly ever
    told apart: all pairs of single links, else random sets. `logs` has a row for each row, and a
    column for each link."""
    links = logs.shape[1]
    drawn: list[tuple[int, ...]] = list(itertools.permutations(range(links), 2))
    if side > 1:
        draw = random.Random(links)
        drawn = [tuple(draw.sample(range(links), 2 * side)) for _ in range(DRAWS)]
    beyond = []
    for chosen in drawn:
        base, new = logs[:, chosen[:side]], logs[:, chosen[side:]]
        left = np.delete(logs, chosen, axis=1).std(axis=1, ddof=1)
        s = np.maximum(
            left, np.sqrt((base.var(axis=1) + new.var(axis=1)) * side / max(2 * side - 2, 1))
        )
        growth = new.mean(axis=1) - base.mean(axis=1) - math.log1p(LIMIT)
        beyond.append(float((growth / (np.maximum(s, ROUNDING) * math.sqrt(2 / side))).max()))
    free = links - 2 * side - 1 + 2 * side - 2
    return next(
        (z for z in CANDIDATES if np.mean(np.array(beyond) > student(z, free)) <= ALARMS),
        CANDIDATES[-1],
    )


def logs_of(nets: Sequence[float]) -> Floats:
    """Return the logarithms of nets; less than one count cannot be told from none."""
    return np.log(np.maximum(np.array(nets, dtype=np.float64), 1))


def deviation(logs: Floats) -> Deviation:
    """Return the standard deviation of two values or more."""
    return Deviation(float(np.std(logs, ddof=1)), len(logs) - 1)


def spread_over_links(result: Result, source: str) -> Spread:
    """Return what a result of several links says of the rows that each of them has."""
    most = max((len(row.cycles.nets) for row in result.rows if row.cycles), default=0)
    found = {
        row.key[:3]: logs_of(row.cycles.nets)
        for row in result.leading.table.values()
        if row.cycles and LEAST <= len(row.cycles.nets) == most
    }
    return Spread(source, result.links, found)


def committed_spread(base: Result) -> Spread:
    """Return the spread that committed runs of several links show of a kernel such as a result's:
    of the same machine, and of each row that was measured in the same way. Of a kernel that is not
    ours, each row may spread as far as it does in any release that was measured."""
    kernel = base.provenance.kernel
    own = OWN / f"baseline-{kernel.opt_level or '3'}.json"
    paths = (own,) if kernel.is_baseline else TOCK
    return _wider([_fitting(path, base) for path in paths if path.exists()])


def _wider(spreads: Sequence[Spread]) -> Spread:
    """Return of each row what the spread says in which it goes furthest."""
    known = [one for one in spreads if one.logs]
    if len(known) < 2:
        return next(iter([*known, *spreads]), Spread())
    links = min(one.links for one in known)
    logs: dict[AnyKey, Floats] = {}
    for one in known:
        for key, found in one.logs.items():
            if key not in logs or found[:links].std() > logs[key].std():
                logs[key] = found[:links]
    source = f"{' or '.join(one.source for one in known)}, whichever is wider"
    unfit = dict.fromkeys(one.unfit for one in known if one.unfit)
    return Spread(source, links, logs, "; ".join(unfit))


def _fitting(path: Path, base: Result) -> Spread:
    """Return what a committed result says of the rows that were measured as in `base`."""
    known, name = _loaded(path), path.relative_to(RESULTS.parent).as_posix()
    board = known.provenance.board
    if board.machine != base.provenance.board.machine:
        return Spread(unfit=f"{name} is of the machine {board.machine}")
    spread, made = spread_over_links(known, name), _made_from(base)
    unfit = []
    simulator = base.provenance.board.simulator_sha256  # of a board none is asked
    if simulator is not None and not same_simulator(board.simulator_sha256, simulator):
        unfit.append("of a simulator that is not proved to be the same")
    others = {key for key, parts in _made_from(known).items() if made.get(key, parts) != parts}
    unlike = {row.key[:3] for row in known.rows if {row.id, (row.boot, row.lang)} & others}
    left = {key: logs for key, logs in spread.logs.items() if key not in unlike}
    if many := len(spread.logs) - len(left):
        unfit.append(f"{many} of its rows are measured otherwise now")
    return replace(spread, logs=left, unfit=", ".join(unfit))


@cache
def _loaded(path: Path) -> Result:
    return file.load(path)


def _made_from(result: Result) -> dict[object, object]:
    """Return what rows hang on besides kernel and machine: by the id of a benchmark, its entry of
    the catalogue, and by boot and language, what its apps were linked of."""
    said = result.provenance
    linked = {
        (boot.boot, boot.lang): [slot.parts_sha256 for slot in boot.slots] for boot in said.boots
    }
    made: dict[object, object] = {key: parts for key, parts in linked.items() if all(parts)}
    made.update(said.entries)
    return made


# Paired links


# The deviation of a difference, by the cache setting: in cycles of a sample, and as a share of it.
STRAY = {False: (2.7, 0.001), True: (13.0, 0.003)}
FREE = 60  # degrees of freedom that they were estimated with, at least


@dataclass(frozen=True)
class PairedSpread(Spread):
    """The spread of paired links; what is known of links otherwise is that of rows by the clock."""

    clocked: frozenset[str] = frozenset()  # benchmarks

    @property
    def title(self) -> str:
        """Say where it comes from."""
        return f"paired links; of rows whose length a clock sets, {super().title}"

    def row_deviation(self, row: Row) -> Deviation | None:
        """Return the deviation of a row's differences, as Spread says."""
        if row.id in self.clocked or row.instret is None:
            return super().row_deviation(row)
        return stray(row)

    def mean_deviation(self, rows: Sequence[Row]) -> Deviation | None:
        """Return the deviation of the mean of several rows: no less than that of any of them."""
        return max(map(stray, rows), default=None)


def stray(row: Row) -> Deviation:
    """Return the deviation of a row's differences where what has changed runs."""
    cycles, share = STRAY[row.icache is not False]
    return Deviation(math.hypot(cycles / max(row.net or 0, 1), share), FREE, paired=True)


def paired_spread(known: Spread, catalogue: Catalogue) -> PairedSpread:
    """Return the spread of paired links of kernels whose links otherwise spread as is known."""
    clocked = frozenset(one.id for one in catalogue.benchmarks.values() if one.waits)
    return PairedSpread(known.source, known.links, known.logs, known.unfit, clocked)
