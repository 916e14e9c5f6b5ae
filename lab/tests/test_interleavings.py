# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Pairs of upcalls are tried to the cycle. The baseline loses none, and a kernel that loses or
doubles one is detected with the pair, the order and the distance.

Builds such a kernel from a copy of the source: half a minute."""

from dataclasses import replace
from pathlib import Path

import pytest
import variants

from tockmark.target import board as boards
from tockmark.target.kernel import read_kernel
from tockmark_lab import conformance, interleavings
from tockmark_lab.interleavings import (
    ALARM,
    ANY,
    CONSOLE,
    FIRST,
    OWN,
    SECOND,
    EventPair,
    PairSweep,
)

FAULTY = {
    # As in tock#5195: another upcall clears the ready flag of the awaited one.
    "process.rs": (
        """        if self.state == State::YieldedFor(id) {
            self.state = State::Awaited(id);
        }""",
        """        if let State::YieldedFor(wanted) | State::Awaited(wanted) = self.state {
            self.state = match wanted == id {
                true => State::Awaited(wanted),
                false => State::YieldedFor(wanted),
            };
        }""",
    ),
    # A notification stays in the queue after its delivery.
    "upcall.rs": ("self.remove(at, 1);", "self.remove(at, usize::from(id.driver < 0x1_0000));"),
}
STEP = 200
SAMPLE = {
    1: [EventPair(ALARM, CONSOLE, held=True), EventPair(SECOND, FIRST)],
    2: [
        EventPair(ALARM, CONSOLE, CONSOLE),
        EventPair(ALARM, FIRST, ALARM, held=True),
        EventPair(CONSOLE, FIRST, FIRST),
        EventPair(SECOND, FIRST, SECOND),
    ],
}


def plan(kernel: Path, abi: int = 2) -> conformance.Plan:
    return conformance.Plan(read_kernel(kernel), boards.load(boards.DEFAULT), abi, (), 0, 2)


def baseline(abi: int = 2) -> conformance.Plan:
    return plan(boards.load(boards.DEFAULT).kernels[abi], abi)


@pytest.mark.parametrize("abi", [1, 2])
def test_the_baseline_loses_and_doubles_no_upcall(abi: int) -> None:
    for sweep in interleavings.run(baseline(abi), STEP, SAMPLE[abi]):
        assert list(sweep.lines()) == []
        assert not sweep.skipped
        half = OWN.half(sweep.pair)
        assert len(sweep.distances) == 2 * half // STEP + 2
        assert min(sweep.distances) <= STEP - half
        assert max(sweep.distances) >= half - STEP
        assert sweep.together or abi == 1


def test_a_delay_beyond_the_hold_is_not_a_lost_wake_up() -> None:
    sweep = interleavings.sweep(baseline(1), OWN, 200, EventPair(CONSOLE, FIRST, held=True))
    assert list(sweep.lines()) == []
    assert max(sweep.distances) > OWN.window_held + 200


def test_a_step_of_one_cycle_is_exact() -> None:
    near = replace(OWN, window=9)
    sweep = interleavings.sweep(baseline(), near, 1, EventPair(ALARM, CONSOLE))
    assert list(sweep.lines()) == []
    first = sweep.distances[1]
    assert sweep.distances[1:] == list(range(first, first + 19))


def test_a_kernel_that_loses_or_doubles_an_upcall_is_detected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        interleavings, "OWN", replace(OWN, wake=2300)
    )  # the faulty kernel is slower
    faulty = plan(variants.build(tmp_path, FAULTY))
    lost = EventPair(ALARM, CONSOLE, ALARM, held=True)
    other = EventPair(ALARM, CONSOLE, CONSOLE, held=True)
    doubled = EventPair(ALARM, FIRST, FIRST)
    spared = EventPair(ALARM, CONSOLE, held=True)
    sweeps = dict(
        zip(
            (lost, other, doubled, spared),
            interleavings.run(faulty, STEP, (lost, other, doubled, spared)),
            strict=True,
        )
    )
    (line,) = sweeps[lost].lines()
    assert line.startswith(
        "alarm and console, yield-wait-for alarm, both before the waiter runs:"
        " alarm, then console: sleeps for good, "
    )
    at = sweeps[lost].wrong["alarm, then console: sleeps for good"]
    assert len(at) == sum(distance > 0 for distance in sweeps[lost].distances)
    (line,) = sweeps[other].lines()
    assert ": console, then alarm: sleeps for good, " in line
    left = [
        what for what in sweeps[doubled].wrong if what.endswith(": an unknown event: left-over")
    ]
    assert {what.partition(":")[0] for what in left} >= {"alarm, then first sender"}
    assert list(sweeps[spared].lines()) == []


def test_a_round_that_is_too_short_is_not_a_lost_wake_up() -> None:
    hurried = replace(OWN, rest_held=0)
    sweep = interleavings.sweep(baseline(), hurried, STEP, EventPair(SECOND, FIRST))
    assert not sweep.wrong
    assert sweep.lost


def test_all_pairs_are_tried() -> None:
    own, other = (list(interleavings.pairs(2, own)) for own in (True, False))
    assert len(set(own)) == len(own) == 21
    seen = {pair for pair in own if pair.awaited in (ALARM, CONSOLE, ANY)}
    assert {pair for pair in seen if not pair.held} == set(other)
    assert list(interleavings.pairs(1, own=True)) == [p for p in own if p.awaited == ANY]
    assert len({pair.boot.name for pair in own}) == len({pair.boot.scene for pair in own}) == 21


def test_each_error_is_one_line() -> None:
    sweep = PairSweep(EventPair(ALARM, CONSOLE, ALARM), [-30, 0, 30, 60])
    sweep.wrong["alarm, then console: sleeps for good"] = [30, 60]
    assert list(sweep.lines()) == [
        "alarm and console, yield-wait-for alarm: alarm, then console: sleeps for good,"
        " 30 to 60 cycles apart, 2 of 4 rounds"
    ]
    assert interleavings.span([-7]) == "7 cycles apart"
    assert sweep.gap == 30
