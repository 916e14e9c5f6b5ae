# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The quick part of `tockmark-lab validate`, and the stored results of all of it.

The memory system of cw310 against the RTL's 674 counts, some of the conformance tests, and the
floor. `make validate` runs everything."""

from tockmark_lab import validation
from tockmark_lab import validation_parts as programs
from tockmark_lab.folders import DATA
from tockmark_lab.validation import JudgedRow, ValidationVerdict, judge_rows, load_unexplained


def judged_now() -> list[JudgedRow]:
    few = programs.riscv_tests(("rv32um", "rv32uc"), ("cw310",))
    jobs = [*programs.PARTS["memory"].jobs(), *few, *programs.PARTS["limit"].jobs()]
    return judge_rows([row for job in jobs for row in job], load_unexplained())


def test_the_quick_part_holds_and_equals_the_stored_one() -> None:
    now = judged_now()
    assert len(now) == 674 + 2 * 9 + 47
    wrong = [item for item in now if item.verdict is ValidationVerdict.WRONG]
    assert not wrong, validation.validation_text(wrong)
    stored = {row.key: row.measured for row in validation.load_validation(DATA / "validation.json")}
    assert {item.row.key: item.row.measured for item in now}.items() <= stored.items()


def test_the_stored_validation_is_complete_and_holds() -> None:
    files = (DATA / "validation.json", DATA / "validation-chip.json")
    rows = [row for file in files for row in validation.load_validation(file)]
    stored = judge_rows(rows, load_unexplained())
    assert len(stored) > 900
    assert not [item for item in stored if item.verdict is ValidationVerdict.WRONG]
    unexplained = {item.row.key for item in stored if item.verdict is ValidationVerdict.UNEXPLAINED}
    assert unexplained == set(load_unexplained())
