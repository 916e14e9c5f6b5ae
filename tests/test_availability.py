# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The conformance suite's part on availability: it says what it must of what victims finish, and a
kernel without a fix fails it.

Builds such kernels from a copy of the source with a line of it undone: half a minute each.
"""

import re
from dataclasses import replace
from pathlib import Path

import pytest
import variants

from tockmark import paths
from tockmark.check import conformance
from tockmark.rig import board as boards
from tockmark.rig.kernel import read_kernel
from tockmark.tests.encoder import Encoder

UNDONE = {  # what it was before: where, the line that is, the line that was, the case that fails
    "a turn is given to a write without bytes": (
        "drivers/console.rs",
        ".find(|process| self.send(*process, processes));",
        ".find(|next| { let has = *next != last && self.writes[*next].is_some();"
        " self.send(*next, processes) || has });",
        ("lines", "take-back-buffer"),
        "the victim was not heard of",
    ),
    "one sender may take all places": (
        "upcall.rs",
        "sender(other) == sender(&upcall)",
        "sender(other).0 == sender(&upcall).0",
        ("answers", "notify"),
        "answers with 1, not",
    ),
}


@pytest.mark.parametrize("what", UNDONE)
def test_a_kernel_without_a_fix_is_found_out(what: str, tmp_path: Path) -> None:
    file, now, before, (work, attack), said = UNDONE[what]
    shares = run(variants.build(tmp_path, {file: (now, before)}), work, attack)
    (lost,) = conformance.lost(shares)
    assert said in lost


def run(kernel: Path, work: str, attack: str) -> list[conformance.VictimShare]:
    """One case on this kernel, alone and beside one attacker; two are not run."""
    board = boards.load(boards.DEFAULT)
    plan = conformance.Plan(replace(read_kernel(kernel), sha256="0" * 64), board, 2, (1,), 1, 1)
    names = [conformance.boot(work, *how).name for how in (("none", 0), (attack, 1))]
    trials = [trial for trial in conformance.availability_trials() if trial.boot.name in names]
    done: dict[str, int] = {}
    for trial in trials:
        done |= conformance.run_trial(plan, trial).done
    found = [s for s in conformance.shares(done) if (s.work, s.attack) == (work, attack)]
    return [replace(share, attacked=(share.attacked[0], share.alone)) for share in found]


def test_the_apps_have_the_same_lists() -> None:
    header = (paths.ROOT / "apps" / "conformance" / "availability.h").read_text()
    for name, listed in (("work", conformance.WORKS), ("attack", conformance.ATTACKS)):
        found = re.search(rf"enum {name} {{(.*?)}};", header, re.DOTALL)
        assert found
        names = re.sub(r"/\*.*?\*/", "", found[1], flags=re.DOTALL).replace(",", " ").split()
        *own, end = [word.lower().replace("_", "-").replace("no-attack", "none") for word in names]
        assert (tuple(own), end) == (listed, f"{name}s")


@pytest.mark.parametrize(
    ("alone", "attacked", "lost"),
    [
        (12, (3, 2), []),
        (12, (2, 2), ["2 lines with 1, not 3 of 12"]),
        (12, (3, 1), ["1 lines with 2, not 2 of 12"]),
        (12, (3, None), ["the victim was not heard of with 2, not 2 of 12"]),
        (0, (3, 2), ["no lines even alone"]),
        (None, (3, 2), ["no lines even alone"]),
    ],
)
def test_what_is_not_its_due_is_lost(
    alone: int | None, attacked: tuple[int | None, ...], lost: list[str]
) -> None:
    share = conformance.VictimShare("console", "lines", "write", alone, attacked)
    said = conformance.lost([share])
    assert said == [f"console, while others write: {what}" for what in lost]


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
