# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Draws of paired links: how often they alarm without a slower row, and how small a change they
find.

    python lab/tests/pair_draws.py make NAME BASE.tar HEAD.tar --pairs 8 --only kernel
    python lab/tests/pair_draws.py table NAME…

The first command links two kernels in pairs from the archives of lld's --reproduce, measures them,
and stores build/pair-draws/NAME-base.json and NAME-head.json. It reuses earlier simulations. The
second prints a table of such draws. If a change makes no row slower, findings beyond a limit are
false alarms.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median

import numpy as np

from tockmark.base import paths
from tockmark.base.files import temporary_folder, write_whole
from tockmark.compare.limits import Limit
from tockmark.compare.rule import Value, change_of_cycles
from tockmark.compare.spread import Spread, logs_of, paired_spread
from tockmark.judge import engine
from tockmark.judge.engine import Simulated
from tockmark.result import file
from tockmark.result.build import merge_layouts
from tockmark.result.model import Result, Row
from tockmark.suite.selection import select
from tockmark.target import board as boards
from tockmark.target.image import AppBuild
from tockmark.target.run import RunOptions, Suite
from tockmark.tests.links import KNOWN, LIMITS, layouts
from tockmark.tests.trials import Held
from tockmark.trees.builds import PairedSide, Pairs
from tockmark.trees.pairing import PairedLinks, RelinkInputs, find_linkers

FOLDER = paths.WRITTEN / "pair-draws"
PLANTED = {
    0.01: 1.0,
    0.02: 1.01,
    0.03: 1.02,
}  # added share of cycles: what the interval must exceed
MOST = 8  # pairs


def make(name: str, tars: Sequence[Path], pairs: int, only: str, jobs: int) -> None:
    """Link and measure pairs, and store both sides' results."""
    settings = RunOptions(
        layouts=(),
        board=boards.load(boards.DEFAULT),
        suites=(Suite(AppBuild.built(2), [], []),),
        catalogue=KNOWN,
        icaches=[True, False],
        all_samples=False,
        samples=engine.SAMPLES,
        jobs=jobs,
    )
    wanted = select(KNOWN, only)
    with temporary_folder(paths.PAIRS) as folder:
        linkers = find_linkers()
        base, head = (
            RelinkInputs.unpacked(tar, folder / str(side), linkers) for side, tar in enumerate(tars)
        )
        pairing = Pairs((tars[0], tars[1]), PairedLinks(base, head), folder)
        for side, which in enumerate(("base", "head")):
            simulated = Simulated(f"{name}-{which}", PairedSide(pairing, side), settings, FOLDER)
            result = merge_layouts(simulated.measured(0, pairs, wanted))
            write_whole({FOLDER / f"{name}-{which}.json": file.text(result)})
        moved = sum(len(pair.moved) for pair in pairing.made)
        print(f"{name}: {len(pairing.links.changed)} sections changed, {moved} at another address")


@dataclass(frozen=True)
class Draw:
    """The results of both sides of a change, with the same number of pairs."""

    name: str
    results: tuple[Result, Result]

    @staticmethod
    def read(name: str, folder: Path = FOLDER) -> "Draw":
        """Read the results of `make`."""
        base, head = (file.load(folder / f"{name}-{side}.json") for side in ("base", "head"))
        return Draw(name, (base, head))

    def rows(self, icache: bool) -> list[tuple[Row, Value, Value]]:
        """Return the rows that touch the kernel, with the nets of their pairs."""
        others = self.results[1].table
        moved_rows = []
        for key, row in self.results[0].table.items():
            other = others.get(key)
            touched = KNOWN.benchmarks[row.id].touches == "kernel"
            if touched and row.icache is icache and other and row.cycles and other.cycles:
                before, after = (
                    Value(pair_row.cycles.nets, len(pair_row.cycles.nets), 0, row.inner)
                    for pair_row in (row, other)
                    if pair_row.cycles
                )
                if before.links == after.links and min(*before.nets, *after.nets) > 0:
                    moved_rows.append((row, before, after))
        return moved_rows

    def limits(self) -> list[Limit]:
        """Return for each pair the limit that the cycles exceed, judged by this pair alone."""
        largest_limits = []
        for number in range(layouts(self.results[0])):
            base, head = (
                Held(side, [(result, number)])
                for side, result in zip(("base", "head"), self.results, strict=True)
            )
            wanted = select(KNOWN, "kernel")
            judged = engine.measure_and_judge(base, head, wanted, LIMITS, 1, Spread(), paired=True)
            largest_limits.append(max(row.limit for row in judged.judgement.rows))
        return largest_limits


def share_detected(
    rows: Sequence[tuple[Row, Value, Value]], pairs: int, planted: float = 0.01
) -> str:
    """Return the share of draws, of `pairs` pairs each, that detect `planted` in a row."""
    hits = [hit for row in rows for hit in is_found(*row, pairs, planted)]
    return f"{np.mean(hits):.0%}" if hits else "-"


def is_found(row: Row, base: Value, head: Value, pairs: int, planted: float) -> list[bool]:
    """Return for each draw whether its pairs detect `planted`, added to the nets of the head."""
    spread = paired_spread(Spread(), KNOWN).row_deviation(row)
    if spread is None:
        return []
    differences = logs_of(head.nets) - logs_of(base.nets)
    nets = np.exp(logs_of(head.nets) - differences.mean()) * (1 + planted)
    hits = []
    for first in range(0, len(base.nets) - pairs + 1, pairs):
        drawn = slice(first, first + pairs)
        unchanged = replace(base, nets=base.nets[drawn], links=pairs)
        changed = replace(head, nets=tuple(map(float, nets[drawn])), links=pairs)
        hits.append(change_of_cycles(unchanged, changed, spread).low > PLANTED[planted])
    return hits


def table(names: Sequence[str]) -> str:
    """Return the table in Markdown."""
    lines = [
        "| change, pairs | cache | rows, the same in all pairs | differences: median, most, % |"
        " their deviation over pairs: median, 90th, most, % | +1 % found by one pair, by eight |"
        " pairs alone beyond a limit |",
        "|---|---|---|---|---|---|---|",
    ]
    for name in names:
        draw = Draw.read(name)
        beyond = sum(limit >= Limit.SOFT for limit in draw.limits())
        for icache in (False, True):
            rows = draw.rows(icache)
            differences_by_row = [logs_of(head.nets) - logs_of(base.nets) for _, base, head in rows]
            same = sum(bool((differences == 0).all()) for differences in differences_by_row)
            means = sorted(
                abs(float(differences.mean())) * 100 for differences in differences_by_row
            )
            several = [differences for differences in differences_by_row if len(differences) > 1]
            spread = sorted(
                float(np.std(differences, ddof=1)) * 100 for differences in several
            ) or [0]
            shares = [share_detected(rows, pairs) for pairs in (1, MOST)]
            lines.append(
                f"| {name}, {layouts(draw.results[0])} | {'on' if icache else 'off'} |"
                f" {len(rows)}, {same} | {median(means):.2f}, {means[-1]:.2f} |"
                f" {median(spread):.2f}, {spread[int(0.9 * (len(spread) - 1))]:.2f},"
                f" {spread[-1]:.2f} | {shares[0]}, {shares[1]} | {beyond} |"
            )
    return "\n".join(lines)


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    verbs = parser.add_subparsers(dest="verb", required=True)
    making = verbs.add_parser("make")
    making.add_argument("name")
    making.add_argument("tars", nargs=2, type=Path)
    making.add_argument("--pairs", type=int, default=MOST)
    making.add_argument("--only", default="kernel")
    making.add_argument("--jobs", type=int, default=1)
    verbs.add_parser("table").add_argument("names", nargs="+")
    arguments = parser.parse_args()
    if arguments.verb == "make":
        make(arguments.name, arguments.tars, arguments.pairs, arguments.only, arguments.jobs)
    else:
        print(table(arguments.names))


if __name__ == "__main__":
    main()
