# SPDX-License-Identifier: Apache-2.0 OR MIT
"""False alarms between fresh links of one source: the committed outcome, and how it is counted."""

from dataclasses import replace
from pathlib import Path

from link_tables import changed

from tockmark.base.paths import RESULTS
from tockmark.compare.spread import OWN, TOCK, committed_spread
from tockmark.result import file
from tockmark.tests.links import at, judged
from tockmark.wire.rows import Absent
from tockmark_lab import false_alarms

FURTHER = RESULTS / "links" / "further.json"  # links that no spread has
KERNELS = {("tockmark-baseline 0.1.0 abi2 cw310", level) for level in "32sz"}
KERNELS |= {("Tock 2.2", "z"), ("Tock master", "z")}


def test_hard_findings_between_fresh_links_are_rare() -> None:
    stored = false_alarms.load()
    assert {kernel.key for kernel in stored} >= KERNELS
    spread = {
        layout.sha256
        for path in (*TOCK, *OWN.glob("*.json"))
        for layout in file.load(path).provenance.layouts
    }
    for kernel in stored:
        assert kernel.single.pairs == len(kernel.links) * (len(kernel.links) - 1) >= 400
        assert not {sha256 for _, sha256 in kernel.links} & spread
        for part in (kernel.single, kernel.sets):
            assert part.hard <= false_alarms.ALLOWED * part.pairs, false_alarms.text_of(kernel)


def test_a_link_that_differs_is_counted(tmp_path: Path) -> None:
    """The sides of two links are the same source, or one has more instructions in every row."""
    same = at(file.load(FURTHER), [0, 1])
    single, sets = false_alarms.between_links(same, 1, sets=0)
    assert (single.pairs, single.hard, single.rows, sets.pairs) == (2, 0, {}, 0)
    failed = (Absent("ipc2.register", "ipc2-server_first", why="none"),)
    lacks_ipc2 = replace(same, failed=failed, problems=("layout 1: failed: ipc2.register",))
    assert false_alarms.between_links(lacks_ipc2, 1, sets=0) == (single, sets)
    more = changed(at(same, [1]), instructions=20)
    judgement = judged(at(same, [0]), more, committed_spread(same))
    counted = false_alarms.alarms([judgement])
    assert (counted.pairs, counted.hard) == (1, 1)
    assert len(counted.rows) > 10
    outcome = false_alarms.outcome_of(same, "Tock 2.2")
    for _ in range(2):
        false_alarms.keep(outcome, tmp_path / "a.json")
    assert false_alarms.load(tmp_path / "a.json") == (outcome,)
