# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The conformance suite's part on availability: it reports the victims' work correctly, and a
kernel without a fix fails.

Builds such kernels from a copy of the source with one line undone: half a minute each."""

import re
from pathlib import Path

import pytest
import variants
from products import make

from tockmark.base import paths
from tockmark.target import board as boards
from tockmark.target.kernel import read_kernel
from tockmark.tests.encoder import Encoder
from tockmark_lab import conformance
from tockmark_lab.conformance import AttackCase, VictimShare
from tockmark_lab.folders import LAB

UNDONE = {  # file, its text, a text that lets an app take too much, the case that detects this
    "a write keeps the turn for lines behind it": (
        "drivers/console.rs",
        "let first = turn.process + 1;",
        "let first = turn.process + usize::from(self.lines[turn.process].is_none());",
        AttackCase("lines", ("write-print",)),
    ),
    "one sender may take all places": (
        "upcall.rs",
        "|other: &&Upcall| sender(other) == sender(&upcall)",
        "|other: &&Upcall| sender(other).0 == sender(&upcall).0",
        AttackCase("answers", ("notify",) * 2),
    ),
    "fewer places than kinds of own upcalls": (
        "upcall.rs",
        "OWN_UPCALLS.len() + REPEATS +",
        "4 +",
        AttackCase("upcalls", ("notify",) * 3),
    ),
    "a name may be as long as an app likes": (
        "tbf.rs",
        "if length > NAME_BYTES =>",
        "if length > usize::MAX / 2 =>",
        AttackCase("sums", ("discover",)),
    ),
}
KEPT = (  # each work and each attack at least once; `make conformance` runs all pairs
    AttackCase("lines", ("write-print", "take-print")),
    AttackCase("lines", ("write", "restarts", "print")),
    AttackCase("prints", ("write", "take-back-buffer")),
    AttackCase("answers", ("notify", "subscribe-all")),
    AttackCase("sums", ("compute", "set-alarms")),
    AttackCase("alarms", ("discover", "set-alarms")),
    AttackCase("upcalls", ("notify", "write-print")),
    AttackCase("upcalls", ("notify",) * 3),
    *conformance.built_slice_cases(3),
    conformance.mixed_case(1),
)

EIGHT = paths.ROOT / "build" / "cargo-eight" / variants.IMAGE


def plan(kernel: Path, abi: int = 2) -> conformance.Plan:
    return conformance.Plan(read_kernel(kernel), boards.load(boards.DEFAULT), abi, (), 0, 2)


@pytest.mark.parametrize("what", UNDONE)
def test_a_kernel_without_a_fix_is_detected(what: str, tmp_path: Path) -> None:
    file, now, before, case = UNDONE[what]
    kernel = variants.build(tmp_path, {file: (now, before)})
    lost = conformance.run_cases(plan(kernel), [case]).lost
    assert any(message.startswith(f"{case}: ") for message in lost)


@pytest.mark.parametrize("abi", [1, 2])
def test_the_baseline_kernel_gives_each_app_its_share(abi: int) -> None:
    kernel = boards.load(boards.DEFAULT).kernels[abi]
    count = conformance.run_cases(plan(kernel, abi), KEPT)
    assert count.lost == []
    assert [share.case for share in count.shares] == list(KEPT)


def test_eight_apps_take_no_upcall_of_another() -> None:
    make("kernel-eight")
    eight = conformance.run_cases(plan(EIGHT), [AttackCase("upcalls", ("notify",) * 7)])
    assert eight.lost == []


def test_victim_and_kernel_have_the_same_own_upcalls() -> None:
    kernel = (paths.ROOT / "kernel" / "src" / "slots.rs").read_text()
    victim = (LAB / "conformance" / "apps" / "victim.c").read_text()
    listed = re.search(r"OWN_UPCALLS: &\[UpcallId\] = &\[(.*?)\n\];", kernel, re.DOTALL)
    tried = re.search(r"own_upcalls\[\] = \{(.*?)\n\};", victim, re.DOTALL)
    assert listed
    assert tried
    kinds = re.findall(r"\bid\((\w+), (\d)\)", listed[1])
    assert kinds == re.findall(r"\{(\w+), (\d)\}", tried[1])
    assert len(kinds) > 4


def test_a_victim_that_sleeps_has_one_alarm_for_each_turn_of_the_others() -> None:
    cases = {len(case.attacks): case for case in conformance.built_slice_cases(3)}
    assert [VictimShare(cases[number], 176, 0).due for number in (1, 3)] == [13, 4]
    assert VictimShare(AttackCase("alarms", ("compute",)), 44, 0).due == 11


def test_all_pairs_are_tried_on_each_resource() -> None:
    tried = list(conformance.attack_cases(2, ()))
    number = len(conformance.SINGLE)
    assert len(tried) == len(set(tried)) == len(conformance.WORKS) * number * (number + 1) // 2
    triples = [case for case in conformance.attack_cases(3, ()) if len(case.attacks) == 3]
    assert len(triples) == number * (number - 1) * (number - 2) // 6
    names = [case.name for case in (*conformance.attack_cases(3, conformance.MIXES),)]
    assert len(names) == len(set(names))
    assert len(conformance.MIXES) == 20
    assert all(len(case.boot.slots) <= 4 for case in conformance.attack_cases(3, conformance.MIXES))


def test_the_apps_have_the_same_lists() -> None:
    header = (LAB / "conformance" / "apps" / "availability.h").read_text()
    lists = {"work": tuple(conformance.WORKS), "attack": conformance.ATTACKS}
    for name, listed in lists.items():
        match = re.search(rf"enum {name} {{(.*?)}};", header, re.DOTALL)
        assert match
        names = re.sub(r"/\*.*?\*/", "", match[1], flags=re.DOTALL).replace(",", " ").split()
        *own, end = [word.lower().replace("_", "-").replace("no-attack", "none") for word in names]
        assert (tuple(own), end) == (listed, f"{name}s")


@pytest.mark.parametrize(
    ("alone", "attackers", "done", "lost"),
    [
        (48, 1, 12, None),
        (48, 1, 11, "11 lines, not 12 of 48"),
        (48, 2, 8, None),
        (48, 3, 5, "5 lines, not 6 of 48"),
        (48, 3, None, "the victim reported nothing"),
        (39, 1, 39, "39 lines even alone"),
        (None, 1, 3, "0 lines even alone"),
    ],
)
def test_less_than_the_minimum_share_is_lost(
    alone: int | None, attackers: int, done: int | None, lost: str | None
) -> None:
    case = AttackCase("lines", ("write", "print", "notify")[:attackers])
    report = conformance.check_shares([VictimShare(case, alone, done)])
    assert report == ([] if lost is None else [f"{case}: {lost}"])


def test_the_worst_case_has_the_smallest_part_of_an_equal_share() -> None:
    shares = [
        VictimShare(AttackCase("lines", ("write",)), 48, 20),
        VictimShare(AttackCase("lines", ("print",)), 48, 19),
        VictimShare(AttackCase("lines", ("print", "write")), 48, 14),
        VictimShare(AttackCase("lines", ("mix",), 5), 48, 3),
    ]
    worst = conformance.worst_shares(shares)
    assert worst == {("lines", 1): shares[1], ("lines", 2): shares[2], ("lines", 0): shares[3]}
    assert "19 (12)" in "".join(conformance.share_lines(shares))


def log(*lines: str) -> conformance.Log:
    encoder = Encoder("csrs")
    records = [line for line in lines if not line.startswith("tockmark")]
    coded = {line: encoder.lines(line) for line in ["begin proto=1 apps=1", *records, "end ok"]}
    text = [*coded.pop("begin proto=1 apps=1")]
    for line in [*lines, "end ok"]:
        text += coded.get(line, [line])
    return conformance.read_log(text)


def test_each_register_is_named() -> None:
    fault = "tockmark-kernel: app csrs fault mcause=0x{:08x} mtval=0x{:08x} mepc="
    insn = conformance.ACCESSES["read"]
    faults = {n: fault.format(conformance.ILLEGAL, n << 20 | insn) for n in range(conformance.CSRS)}
    count = conformance.judge_csrs(log(*faults.values()), insn)
    assert (count.csrs, count.open_csrs, count.lost) == (conformance.CSRS, [], [])
    del faults[0xC00]
    assert conformance.judge_csrs(
        log(*faults.values(), "csr open number=3072"), insn
    ).open_csrs == ["0xc00"]
    del faults[0x300]
    faults[0xC00] = fault.format(5, 0xC00 << 20 | insn)
    count = conformance.judge_csrs(log(*faults.values(), "csr open number=768"), insn)
    assert count.lost == ["0x300 is open", "1 registers not tried, 0xc00 the first"]
