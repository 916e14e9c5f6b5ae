# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The conformance suite checks the rules of its list; the baseline kernel passes it on both
versions of the interface, and a faulty kernel fails.

Builds with `make profile`, which takes half a minute the first time."""

import json
import re
import struct
import subprocess
import sys
from dataclasses import asdict, replace
from typing import Any

import pytest
from products import make

from tockmark.base import paths
from tockmark.target import board as boards
from tockmark.target.kernel import KernelElf, read_kernel
from tockmark.tests.encoder import Encoder
from tockmark_lab import conformance, interleavings
from tockmark_lab.folders import LAB

SOURCES = LAB / "conformance" / "apps"
CALLS = 5_000  # with each seed; `make conformance` makes 100,000
STEP = 16  # step between control registers; `make conformance` tries all 4096
FAR = 500  # step between distances of two upcalls, in cycles; test_interleavings.py has more
NOP = 0x13
CSRW_PMPADDR2 = 0x3B2 << 20 | 1 << 12 | 0x73  # csrw pmpaddr2, REGISTER
REGISTER = 31 << 15


def checked() -> list[str]:
    """Return the numbers of the rules that the C code checks."""
    reports: list[str] = []
    for path in sorted(SOURCES.rglob("*.c")):
        text = path.read_text()
        reports += re.findall(r'\brule\("(V\d-\d+)"\)', text)
        for v1, v2 in re.findall(r'\brule\(RULE\("(\d+)", "(\d+)"\)\)', text):
            reports += [f"V1-{v1}", f"V2-{v2}"]
    return reports


def test_each_rule_is_checked_and_each_check_has_a_rule() -> None:
    listed = [rule.number for rule in conformance.load_rules()]
    assert len(set(listed)) == len(listed)
    assert set(checked()) == set(listed)


@pytest.fixture(scope="session")
def report() -> dict[str, Any]:
    """Return the verb's report on version 1. test_availability.py has the attackers of each
    victim."""
    fewer = ["--seeds", "1", "--calls", str(CALLS), "--attackers", "0", "--mixes", "0"]
    fewer += ["--step", str(FAR)]
    make("profile")
    command = [sys.executable, "-m", "tockmark_lab", "conformance", "--json", "--abi", "1", *fewer]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=paths.ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    document: dict[str, Any] = json.loads(done.stdout)[0]
    return document


def test_the_worst_stretch_with_interrupts_off_is_reported_by_kind(report: dict[str, Any]) -> None:
    assert {"start", "fault", "panic", "interrupt", "system call"} <= report[
        "interrupts_off"
    ].keys()
    for worst in report["interrupts_off"].values():
        assert 0 < worst["instructions"] < worst["cycles"]


def test_the_baseline_kernel_loses_nothing(report: dict[str, Any]) -> None:
    seeds = tuple(report["seeds"])
    assert seeds[:-1] == (1,)
    latest = conformance.Plan(
        kernel(2), boards.load(boards.DEFAULT), 2, seeds, CALLS, 2, attackers=0, mixes=(), step=STEP
    )
    for abi, count in ((1, report), (2, asdict(conformance.run(latest)))):
        assert count["lost"] == []
        assert count["skipped"] == []
        assert count["rules"] == sum(rule.abi == abi for rule in conformance.load_rules())
        assert count["calls"] >= 2 * CALLS
        assert count["attempts"] == len(set(count["listed"]))
        assert count["attempts"] >= 60
        tried = 2 * 4096 // STEP if abi == 2 else 0
        assert (count["csrs"], count["open_csrs"]) == (tried, [])


def test_pairs_of_upcalls_are_tried(report: dict[str, Any]) -> None:
    assert len(report["pairs"]) == len(list(interleavings.pairs(1, own=True)))
    for pair in report["pairs"]:
        assert (pair["wrong"], pair["lost"], pair["skipped"]) == ({}, [], None)
        assert pair["distances"][0] < 0 < pair["distances"][-1]


def kernel(abi: int) -> KernelElf:
    return read_kernel(boards.load(boards.DEFAULT).kernels[abi])


def plan(tested: KernelElf) -> conformance.Plan:
    return conformance.Plan(tested, boards.load(boards.DEFAULT), 2, (1,), 1000, 2)


def without_instruction(tested: KernelElf, word: int, ignored: int) -> KernelElf:
    """Return the kernel with every instruction that equals `word`, except for some bits, replaced
    by a nop."""
    start, data = next(segment for segment in tested.segments if segment[0] == 0x2000_0400)
    changed = bytearray(data)
    removed = 0
    for at in range(0, len(data) - 3, 2):
        if struct.unpack_from("<I", data, at)[0] & ~ignored == word:
            struct.pack_into("<I", changed, at, NOP)
            removed += 1
    assert removed
    others = tuple(segment for segment in tested.segments if segment[0] != start)
    return replace(tested, segments=((start, bytes(changed)), *others), sha256="0" * 64)


def test_a_kernel_that_opens_too_much_memory_is_detected() -> None:
    """Without the start of an app's RAM in the PMP, everything below it is open."""
    tested = plan(without_instruction(kernel(2), CSRW_PMPADDR2, REGISTER))
    (hostile,) = (t for t in conformance.trials(tested) if t.boot.name == "hostile")
    count = conformance.run_trial(tested, replace(hostile, max_cycles=3_000_000))
    lost = " ".join(count.lost)
    for target in ("boot-rom", "kernel-stack", "kernel-state", "pattern-before"):
        assert f"read {target}: done, with 0 faults" in lost
    assert "read kernel-code" not in lost, "that is flash, above"


def log(*records: str, app: str = "rules", between: dict[int, str] | None = None) -> list[str]:
    encoder = Encoder(app)
    lines: list[str] = []
    for index, record in enumerate(["begin proto=1 apps=1", *records, "end ok"]):
        lines += encoder.lines(record)
        lines += [(between or {}).get(index, "")]
    return lines


def test_a_broken_rule_is_lost() -> None:
    lines = conformance.read_log(
        log("rule V2-1 ok", "rule V2-2 wrong line=7 got=1 want=0", "rule V2-3 ok", "rule V2-999 ok")
    )
    count = conformance.judge_rules(lines, ["V2-1", "V2-2", "V2-3", "V2-4"])
    assert count.rules == 2
    assert count.lost == [
        "V2-2 broken: line 7 got 1, wanted 0",
        "V2-4 not reported",
        "V2-999 is not in the list of rules",
    ]


@pytest.mark.parametrize(
    ("end", "fault", "lost"),
    [
        ("tried faulted number=1", (5, 0x100), False),
        ("tried faulted number=1", (7, 0x100), True),
        ("tried faulted number=1", (5, 0x104), True),
        ("tried faulted number=1", None, True),
        ("tried done number=1", None, True),
    ],
)
def test_an_attempt_must_end_as_announced(
    end: str, fault: tuple[int, int] | None, lost: bool
) -> None:
    report = ""
    if fault:
        cause, at = fault
        report = f"tockmark-kernel: app hostile fault mcause=0x{cause:08x} mtval=0x{at:08x} mepc="
    lines = log("try H-1 read nothing cause=5 at=256", end, app="hostile", between={1: report})
    whole = [line for name in conformance.NEIGHBOURS for line in log("neighbour whole", app=name)]
    count = conformance.judge_attempts(conformance.read_log([*lines, *whole]))
    assert bool(count.lost) == lost
    assert count.attempts == (not lost)


def test_a_damaged_neighbour_is_lost() -> None:
    lines = [*log("neighbour whole", app="neighbour"), *log("neighbour damaged", app="neighbour2")]
    done = log("fuzz done calls=1000 refused=5", app="fuzz")
    count = conformance.judge_fuzz(conformance.read_log([*lines, *done]), 1000)
    assert count.lost == ["neighbour2 is damaged or silent"]
    assert count.calls == 1000
