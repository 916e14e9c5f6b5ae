# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Compute the stages of an alarm from marks, and the stretches from a trace. A missing point of a
stage is an error.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace as replace_part

from tockmark.base.errors import REGRESSION, TockmarkError
from tockmark.compare.verdict import Judgement, RowVerdict, Verdict, sorted_verdicts
from tockmark.latency import chain, report
from tockmark.latency.chain import KernelFamily, Passings, Stage, WaitSpread
from tockmark.latency.report import (
    CALL,
    CORE,
    LOOK,
    OFF,
    LoadWaits,
    LongestStretch,
    StackPart,
    StoredLatency,
    WorstAlarm,
)
from tockmark.latency.run import Follower
from tockmark.result.provenance import Kernel
from tockmark.show.judgement import first_line, table_lines
from tockmark.target.rv32 import MRET
from tockmark.tests.encoder import Encoder
from tockmark.wire.records import Mark

FAMILY = KernelFamily(
    "toy",
    "main",
    served="served",
    by_process="chosen",
    looks="served",
    stage=(
        Stage("taken", "", own=("trap", "wake")),
        Stage("served", "", symbol="serve"),
        Stage("queued", "", symbol="queue"),
        Stage("chosen", "", symbol="choose"),
        Stage("upcall", "", app="tm_mark_upcall"),
    ),
)


def passings(*seen: tuple[str, int]) -> Passings:
    return Passings(Mark(0, cycle, name) for name, cycle in seen)


def stages(due: int, *seen: tuple[str, int]) -> tuple[int, ...]:
    return chain.find_stages(FAMILY, passings(*seen), due, max(at for _, at in seen)).stages


WHOLE = (("trap", 103), ("served", 110), ("queued", 130), ("chosen", 190), ("upcall", 200))


def test_each_stage_ends_at_its_point() -> None:
    assert stages(100, *WHOLE) == (3, 7, 20, 60, 10)
    assert stages(100, ("wake", 101), *WHOLE) == (1, 9, 20, 60, 10)


@given(st.lists(st.tuples(st.sampled_from([name for name, _ in WHOLE]), st.integers(0, 300))))
def test_stages_always_add_up_to_the_whole(seen: list[tuple[str, int]]) -> None:
    alarm = chain.find_stages(
        FAMILY, passings(*sorted(seen, key=lambda passing: passing[1])), 100, 250
    )
    assert sum(alarm.stages) == alarm.whole == 150
    assert min(alarm.stages) >= 0


def log(count: int = 3, drop: str = "", full: bool = False) -> list[str]:
    """Return a boot's log with alarms, at 100 cycles per tick. Each stage takes ten cycles."""
    encoder, lines = Encoder("sleeper"), list[str]()
    dues = [10 * n for n in range(1, 3 + count)]
    for due in dues:
        names = ["arm", "irq", *(name for name, _ in WHOLE)]
        for number, name in enumerate(names):
            at = due * 100 + 10 * (number - 1) - (name == "arm") * 50
            if name != drop:
                lines.append(Mark(0, at, name).encode())
    if full:
        lines.append(Mark(0, 10**6, "full").encode())
    lines += encoder.lines("begin proto=1 apps=1")
    lines += encoder.lines("quiet 10 10")  # distances in ticks
    lines += encoder.lines("due" + count * " 10")
    return [*lines, *encoder.lines("end ok")]


def test_alarms_are_read_from_a_log() -> None:
    alarms = chain.alarms_in_log(FAMILY, log(), "nothing")
    assert [alarm.due for alarm in alarms] == [3000, 4000, 5000]
    assert {alarm.stages for alarm in alarms} == {(10, 10, 10, 10, 10)}
    assert chain.stage_spreads(FAMILY, alarms)["served"] == chain.WaitSpread(10, 10, 10, 3)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (log(drop="served"), "beside ipc: .* stage 'served'"),
        (log(drop="upcall"), "0 alarms came"),
        (log(full=True), "more points than the simulator prints"),
        (log()[:-1], "is incomplete"),
    ],
)
def test_an_incomplete_log_is_refused_with_its_load(lines: Sequence[str], message: str) -> None:
    with pytest.raises(TockmarkError, match=message):
        chain.alarms_in_log(FAMILY, lines, "beside ipc")


def test_stage_names_of_each_family_are_valid_marks() -> None:
    both = [
        family.for_chain(name)
        for family in chain.load_families()
        for name in (chain.ALARM, chain.UART)
    ]
    for family in chain.load_families():
        (other,) = family.chain
        assert {stage.name for stage in other.stage} < {stage.name for stage in family.stage}
    for family in both:
        names = [stage.mark for stage in family.stage]
        assert len({*names}) == len(names)
        assert family.stage[-1].app == "tm_mark_upcall"
        assert names[-1] == chain.UPCALL
        assert family.served_number < family.first_process_stage
        assert all(re.fullmatch("[a-z0-9_]+", name) for name in names)


U, M = "U", "M"
CSRCI, CSRSI, NOP = 0x30047073, 0x30046073, 0x00000013
CSRC_A0, CSRS_A0, CSRW_A0 = 0x30053073, 0x30052073, 0x30051073


def trace(*steps: tuple[int, str, int, int] | tuple[int, str, int, int, str]) -> list[str]:
    """Return lines of a trace: cycle, mode, address, instruction, and optional effects."""
    return [
        f"{cycle:10d} {cycle:10d} {mode} {pc:08x} {insn:8x} {1:3d} {'-':8} {''.join(effects)}"
        for cycle, mode, pc, insn, *effects in steps
    ]


def followed(*steps: tuple[int, str, int, int] | tuple[int, str, int, int, str]) -> dict[str, int]:
    watch = Follower({0x80}, {0x90}, {0x94}, lambda address: address >> 12)
    spans = watch.follow(trace((1, U, 0x1000, NOP), *steps))
    return {kind: span.cycles for kind, span in spans.items()}


def test_interrupts_are_off_from_a_trap_to_the_return() -> None:
    spans = followed((11, M, 0x40, NOP, "handler"), (31, M, 0x44, MRET), (40, U, 0x1004, NOP))
    assert spans == {OFF: 30, LOOK: 30, CALL: 0, CORE: 0}


@pytest.mark.parametrize(
    ("off", "on"),
    [(CSRCI, CSRSI), (CSRC_A0, CSRS_A0), (CSRW_A0 | 0 << 15, CSRSI)],
)
def test_mstatus_turns_interrupts_off_and_on(off: int, on: int) -> None:
    if off == CSRW_A0:  # from x0, which is 0
        off &= ~(31 << 15)
    spans = followed(
        (5, M, 0x40, NOP, "x10=00000008"),
        (10, M, 0x44, off),
        (50, M, 0x48, NOP),
        (60, M, 0x4C, on),
        (90, M, 0x50, NOP),
        (95, U, 0x1000, NOP),
    )
    assert spans[OFF] == 50


def test_a_deferred_call_waits_until_it_is_served() -> None:
    spans = followed((5, M, 0x90, NOP), (9, M, 0x90, NOP), (45, M, 0x94, NOP), (70, M, 0x94, NOP))
    assert spans[CALL] == 8


def test_a_process_has_the_core_until_another_runs() -> None:
    spans = followed(
        (5, M, 0x40, NOP), (9, U, 0x1004, NOP), (45, M, 0x40, NOP), (50, U, 0x2000, NOP)
    )
    assert spans[CORE] == 44


def load_waits(worst: int, name: str = "nothing", count: int = 9) -> LoadWaits:
    """Return the waits under a load. The stage `served` takes all but 100 cycles of the worst."""
    stages = {
        "taken": WaitSpread(90, 95, 100, count),
        "served": WaitSpread(10, 20, worst - 100, count),
    }
    return LoadWaits(name, name, WaitSpread(100, 110, worst, count), stages)


def stored(worst: int = 500, **changes: Any) -> StoredLatency:
    """Return a measurement with one load."""
    parts = (StackPart(("main", "serve"), worst),)
    latency = StoredLatency(
        "tockmark-latency",
        1,
        "2026-11-26",
        Kernel("toy"),
        "earlgrey-sim",
        24_000_000,
        True,
        {"simulator_sha256": "0"},
        "toy",
        10**6,
        {"taken": "interrupts are off", "served": "it is served"},
        (load_waits(worst),),
        WorstAlarm("nothing", worst, {"taken": 100, "served": worst - 100}, parts),
        (LongestStretch(OFF, 90, "nothing", parts),),
    )
    return replace_part(latency, **changes)


def test_a_latency_file_round_trips(tmp_path: Path) -> None:
    path = tmp_path / "waits.json"
    path.write_text(report.format_file(stored()))
    assert report.load(path) == stored()
    path.write_text("{}")
    with pytest.raises(TockmarkError, match="`tockmark latency -o` made"):
        report.load(path)


def regressions(base: StoredLatency, new: StoredLatency) -> list[RowVerdict]:
    """Return the waits that are a regression."""
    return [row for row in report.wait_verdicts(base, new) if row.limit]


def test_a_longer_worst_alarm_is_reported_with_its_stage() -> None:
    (verdict,) = regressions(stored(10_000), stored(12_000))
    assert verdict.row.name == "wait.alarm load=nothing of=worst icache=on"
    assert (verdict.before, verdict.after, verdict.verdict) == (10_000, 12_000, Verdict.WORSE)
    assert verdict.where == "served +2,000, most in serve"
    assert regressions(stored(10_000), stored(10_500)) == []
    assert regressions(stored(1000), stored(1200)) == []
    assert regressions(stored(12_000), stored(10_000)) == []
    (shorter, _) = report.wait_verdicts(stored(12_000), stored(10_000))
    assert (shorter.verdict, shorter.where) == (Verdict.BETTER, "served -2,000, most in serve")


def test_waits_are_in_the_table_of_a_judgement() -> None:
    rows = report.wait_verdicts(stored(10_000), stored(12_000))
    judgement = Judgement(sorted_verdicts(rows))
    assert judgement.exit_code == REGRESSION
    assert "+20.0 %" in first_line(judgement)
    (line,) = (line for line in table_lines(judgement, 120) if " worse !!" in line)
    assert line.endswith("served +2,000, most in serve")


def test_the_clock_comes_from_the_rises_that_agree() -> None:
    exact = [1000, 1240, 1720, 2200]
    assert chain.clock_from([10, 20, 40, 60], exact) == chain.Clock(1000, 10, 24)
    late = [1000, 1240, 1752, 2200]  # the kernel set its timer again just before
    assert chain.clock_from([10, 20, 40, 60], late) == chain.Clock(1000, 10, 24)
    for rises in ([1000, 1240, 1700, 2200], [1000, 1241, 1730, 2233]):  # early; all differ
        with pytest.raises(TockmarkError, match="do not rise at their due ticks"):
            chain.clock_from([10, 20, 40, 60], rises)
