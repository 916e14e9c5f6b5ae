# SPDX-License-Identifier: Apache-2.0 OR MIT
"""How long interrupts are off: traced boots find stretches of each type, and one above the limit is
named.

Builds with `make profile`, which takes a minute the first time."""

from dataclasses import replace

import pytest
from products import make

from tockmark.base.errors import TockmarkError
from tockmark.profile.sample import HEADING
from tockmark.profile.symbols import Program
from tockmark.target import board as boards
from tockmark.target.kernel import read_kernel
from tockmark_lab import conformance, interrupts_off
from tockmark_lab.interrupts_off import (
    CALL,
    INTERRUPT,
    MOST_CYCLES,
    PANIC,
    START,
    StretchWatch,
    WorstStretch,
)

SHORT = 600_000  # cycles of a boot


@pytest.mark.parametrize("abi", [1, 2])
def test_no_stretch_exceeds_the_limit(abi: int) -> None:
    make("profile")
    board = boards.load(boards.simulated_board("cw310"))
    plan = conformance.Plan(read_kernel(board.kernels[abi]), board, abi, (), 0, 1)
    scenes = [interrupts_off.search(1), interrupts_off.SCENES[-1]]
    stretches = interrupts_off.measure(plan, [replace(scene, cycles=SHORT) for scene in scenes])
    assert stretches.keys() >= {START, CALL, INTERRUPT, PANIC}
    assert all(0 < worst.instructions < worst.cycles for worst in stretches.values())
    assert interrupts_off.too_long(stretches) == []
    assert f" of at most {MOST_CYCLES} cycles" in interrupts_off.longest(stretches)


def test_a_stretch_above_the_limit_is_named() -> None:
    worst = WorstStretch(2, MOST_CYCLES + 1, "search-1")
    (line,) = interrupts_off.too_long({CALL: worst, START: worst})
    assert line == "system call: 10001 cycles in search-1, more than 10000"


def test_a_trace_of_another_format_is_refused() -> None:
    board = boards.load(boards.simulated_board("cw310"))
    watch = StretchWatch(Program(board.kernels[2]), board.memory.rom)
    with pytest.raises(TockmarkError, match="another form"):
        watch.follow([HEADING[1:]], "a boot")
