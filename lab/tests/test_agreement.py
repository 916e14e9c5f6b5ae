# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Rows that no kernel affects cost the same on all kernels, also with the i-cache on: compares the
slopes of the committed runs, over passes and over sizes."""

from itertools import combinations

import pytest

from tockmark.base.paths import RESULTS
from tockmark.compare.sweeps import sweeps
from tockmark.result import file
from tockmark.result.model import Result
from tockmark.suite.catalogue import Key, load

KNOWN = load()
RUNS = ("baseline-cw310", "tock-2.2-cw310", "tock-master-cw310")
SHARE, COUNT = 0.005, 1  # of a sample; the larger one counts
LOCKED = 0.03  # tolerance of a row: docs/method.md


def result(name: str) -> Result:
    return file.load(RESULTS / f"{name}.json").of_lang("c")


def over_passes(result: Result) -> dict[Key, float]:
    """Return the cycles per sample of each slope row of the apps."""
    return {
        key: row.cycles.net
        for key, row in result.table.items()
        if KNOWN.benchmarks[row.id].touches == "app" and row.cycles and row.cycles.is_slope
        if row.cycles.net is not None
    }


def over_sizes(result: Result) -> dict[tuple[str, bool | None], float]:
    """Return the cycles per byte of each memory sweep."""
    sweeps_by_key = sweeps(result, KNOWN)
    return {(s.label, s.icache): s.line.slope for s in sweeps_by_key if s.label.startswith("mem.")}


@pytest.mark.parametrize(("first", "other"), list(combinations(RUNS, 2)))
def test_slopes_agree_between_kernels(first: str, other: str) -> None:
    here, there = over_passes(result(first)), over_passes(result(other))
    assert here.keys() == there.keys()
    assert len(here) > 40
    differing = {
        key: (net, there[key])
        for key, net in here.items()
        if abs(net - there[key]) > max(SHARE * net, COUNT)
    }
    assert all(abs(net - other) < LOCKED * net for net, other in differing.values()), differing
    assert len(differing) <= 1, differing


@pytest.mark.parametrize(("first", "other"), list(combinations(RUNS, 2)))
def test_sweeps_of_the_memory_agree_between_kernels(first: str, other: str) -> None:
    here, there = over_sizes(result(first)), over_sizes(result(other))
    assert here.keys() == there.keys()
    assert len(here) == 2 * 7
    assert here == pytest.approx(there, rel=SHARE)
