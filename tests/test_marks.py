# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Samples from the simulator's marks, and marks that are refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tockmark.wire import records
from tockmark.wire.records import Mark


def listed(*names_and_cycles: tuple[str, int]) -> list[Mark]:
    return [Mark(line, cycle, name) for line, (name, cycle) in enumerate(names_and_cycles)]


def test_only_an_exact_line_is_a_mark() -> None:
    whole = Mark(7, 1200, "irq").encode()
    assert records.decode_mark(whole + "\n", 7) == Mark(7, 1200, "irq")
    for raw in (f" {whole}", f"{whole} x", whole.replace("1200", "1201"), whole[:-1], "#sim 1 irq"):
        assert records.decode_mark(raw, 7) is None


def durations(marks: list[Mark], start: str, end: str, count: int) -> list[int]:
    return [last - first for first, last in records.intervals(marks, start, end, count)]


def test_a_sample_is_the_first_start_and_the_first_end_after_each_arm() -> None:
    marks = listed(
        ("irq", 5),  # of earlier output
        ("arm", 10),
        ("upcall", 12),  # nothing started yet
        ("irq", 20),
        ("irq", 25),  # another one, later
        ("upcall", 32),
        ("upcall", 40),
        ("arm", 50),
        ("irq", 60),
        ("upcall", 73),
        ("irq", 90),
    )
    assert durations(marks, "irq", "upcall", 2) == [12, 13]
    assert durations(marks, "irq", "upcall", 1) == [12]


@pytest.mark.parametrize(
    ("marks", "word"),
    [
        (listed(("arm", 1), ("arm", 2), ("irq", 3), ("upcall", 4)), "sample 1 has no mark irq"),
        (listed(("arm", 1), ("irq", 2), ("arm", 3)), "sample 1 has no mark upcall"),
        (listed(("arm", 1), ("irq", 2)), "0 of 1 samples have their marks: no mark upcall"),
        (listed(("irq", 2), ("upcall", 3)), "0 of 1 samples"),
        (listed(("arm", 1), ("irq", 2), ("full", 3), ("upcall", 4)), "stopped marking"),
    ],
)
def test_an_incomplete_sample_invalidates_the_row(marks: list[Mark], word: str) -> None:
    with pytest.raises(ValueError, match=word):
        durations(marks, "irq", "upcall", 1)


def test_the_start_from_reset_is_one_sample_without_arm() -> None:
    marks = listed(("reset", 0), ("start", 4000), ("arm", 5000), ("start", 6000))
    assert durations(marks, "reset", "start", 1) == [4000]


def test_only_marks_between_two_records_belong_to_a_row() -> None:
    marks = records.Marks()
    for line in (3, 4, 8, 9):
        marks.append(Mark(line, 0, "arm"))
    assert [mark.line for mark in marks.row_marks("irq", "upcall", 4, 9)] == [8]


def test_a_row_from_reset_has_the_first_marks_after_it() -> None:
    marks = records.Marks()
    for line, name in enumerate(["start", "reset", "arm", "start", "start", "full"], 1):
        marks.append(Mark(line, 0, name))
    assert [mark.line for mark in marks.row_marks("reset", "start", 5, 9)] == [2, 4, 6]
    assert [mark.line for mark in marks.row_marks("reset", "start", 5, 6)] == [2, 4]
    assert marks.row_marks("reset", "start", 1, 2) == []


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 99), st.integers(0, 9)), max_size=20))
def test_other_marks_do_not_change_the_samples(
    spans: list[tuple[int, int, int]],
) -> None:
    marks: list[tuple[str, int]] = []
    now = 0
    for before, length, after in spans:
        start = now + 1 + before
        marks += [("upcall", now), ("arm", now + 1), ("trap", start), ("irq", start)]
        marks += [("irq", start + length), ("upcall", start + length), ("irq", start + length)]
        now = start + length + after
    expected = [length for _, length, _ in spans]
    assert durations(listed(*marks), "irq", "upcall", len(spans)) == expected
