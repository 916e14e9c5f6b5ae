# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The budget (apps/budget.toml): how many cycles of the simulator each benchmark may take.

It keeps the suite short enough to be run after every change, and tells which boots take long, so
that these are started first. A test holds a run against it.
"""

import tomllib
from dataclasses import dataclass

from tockmark import paths
from tockmark.log.protocol import expand
from tockmark.result.result import Json
from tockmark.suite.catalogue import Boot

MILLION = 1_000_000


@dataclass(frozen=True)
class Budget:
    """In millions of simulated cycles, the cache on and off together."""

    total: float  # of all boots, from reset to end
    samples: dict[str, float]  # inside the samples of a benchmark, all its rows together

    def of(self, boot: Boot) -> float:
        """What a boot may take, more or less: which to start first."""
        return sum(self.samples.get(id_, 0.0) for id_ in boot.measures)


def load() -> Budget:
    """Read the file."""
    data = tomllib.loads(paths.BUDGET.read_text(encoding="utf-8"))
    return Budget(data["total"], data["samples"])


def spent(result: Json) -> dict[str, float]:
    """What the samples of each benchmark took, in millions of cycles."""
    taken: dict[str, float] = {}
    for row in result["rows"]:
        if row["cycles"]:
            cycles = sum(expand(row["cycles"]["samples"]))
            taken[row["id"]] = taken.get(row["id"], 0.0) + cycles / MILLION
    return taken


def total(result: Json) -> float:
    """What all boots took, in millions of cycles."""
    return sum(boot["cycles"] or 0 for boot in result["provenance"]["boots"]) / MILLION
