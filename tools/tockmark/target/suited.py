# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What of the suite a target cannot measure, and why: one answer for `image`, `run` and `parse`."""

from tockmark.suite.catalogue import Benchmark, Boot, Catalogue
from tockmark.target.protocol import Ability, Target

NO_MARKS = "this target has no clock that sees interrupts: only the simulator's can time it"


def row_unsuited(benchmark: Benchmark, target: Target) -> str | None:
    """Why the rows of a benchmark cannot be had from this target; None: they can."""
    return NO_MARKS if benchmark.by == "mark" and Ability.MARKS not in target.can else None


def boot_unsuited(boot: Boot, known: Catalogue, target: Target) -> str | None:
    """Why a boot gives no row of its own on this target; None: it gives some."""
    reasons = [row_unsuited(known.benchmarks[id_], target) for id_ in boot.measures]
    return None if None in reasons else reasons[0]
