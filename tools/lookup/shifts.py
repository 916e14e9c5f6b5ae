# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The study's figures beside the range that our builds have over shifts of their code."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from lookup.figures import between, nets, number, retired
from lookup.runs import Run
from tockmark.show import text


@dataclass(frozen=True)
class Beside:
    """One row: net cycles of one operation, i-cache off."""

    name: str
    study: float
    ours: list[float]  # a shift each
    retired: tuple[float | None, float | None]  # instructions of one operation: the study's, ours

    @property
    def verdict(self) -> str:
        """Where the study's figure lies."""
        least, most = min(self.ours), max(self.ours)
        if self.study > most:
            return f"above by {text.percent(self.study / most - 1, digits=1)}"
        if self.study < least:
            return f"below by {text.percent(1 - self.study / least, digits=1)}"
        return "inside"


def beside(study: Run, ours: Run) -> Iterator[Beside]:
    """The rows that both have, and ours in several shifts."""
    for (icache, name), row in study.rows.items():
        own, found = ours.row(name, icache or False), nets(ours.row(name, icache or False))
        if icache is not False or own is None or len(found) < 2 or row.per_op is None:
            continue
        yield Beside(name, row.per_op, found, (retired(row), retired(own)))


def table(study: Run, ours: Run) -> str:
    """A line a row."""
    heads = ["row", "the study's FPGA", "ours", "the study's figure is"]
    heads += ["instructions: study", "ours"]
    lines = [f"| {' | '.join(heads)} |", "|---|--:|--:|---|--:|--:|"]
    lines += [
        f"| {one.name} | {number(one.study)} | {between(one.ours)} | {one.verdict} |"
        f" {' | '.join(map(number, one.retired))} |"
        for one in beside(study, ours)
    ]
    return "\n".join(lines)


def counts(study: Run, ours: Run) -> Counter[str]:
    """How many rows are inside, above and below."""
    return Counter(one.verdict.partition(" ")[0] for one in beside(study, ours))
