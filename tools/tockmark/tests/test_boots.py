# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Logs without marks, where apps name their boot and image, and marks that contradict the apps."""

import pytest

from tockmark.tests.conftest import encoded
from tockmark.wire.boots import Measured, MeasuredBoot, assemble
from tockmark.wire.records import BootMark, decode
from tockmark.wire.rows import is_whole, series_samples

A, B = "0000000a", "0000000b"  # images


def booted(boot: str, image: str, cycles: int = 5, app: str = "x", end: str = "") -> list[str]:
    """Return the output of a boot whose app has one row of this many cycles."""
    return encoded(
        app,
        [
            f"begin proto=1 lang=c abi=2 apps=1 perf=0x90010 boot={boot} image={image} cc=gcc",
            "bench x.y inner=1 n=5",
            f"data cycles {cycles}*5",
            "data instret 1*5",
            f"end ok image={end or image}",
        ],
    )


def marked(lines: list[str], icache: bool = True, name: str = "a") -> list[str]:
    """Return the lines between the marks of a boot."""
    first, last = (BootMark(name, icache, "x", end).encode() for end in (False, True))
    return [first, *lines, last]


def measured(lines: list[str]) -> Measured:
    return assemble(decode(lines))


def cycles(content: Measured) -> dict[tuple[str | None, bool | None], int]:
    """Return the cycles of each boot with a row."""
    whole_rows = [(boot, row) for boot, app in content.each() for row in app.rows if is_whole(row)]
    assert len({(boot.name, boot.icache) for boot, _ in whole_rows}) == len(whole_rows)
    return {(boot.name, boot.icache): series_samples(row, "cycles")[0] for boot, row in whole_rows}


def problems_of(content: Measured) -> str:
    return "\n".join(map(str, content.problems))


@pytest.mark.parametrize("second", ["x", "z"])
def test_without_marks_an_app_names_its_boot(second: str) -> None:
    """Two boots of the same app, or of two apps."""
    content = measured([*booted("a", A), *booted("b", B, 6, second)])
    assert not content.problems
    assert cycles(content) == {("a", None): 5, ("b", None): 6}
    assert [boot.image for boot in content.boots] == [A, B]


def test_an_app_names_its_image_after_a_mark() -> None:
    content = measured(marked(booted("a", A)))
    assert not content.problems
    assert content.boots[0].image == A
    assert cycles(content) == {("a", True): 5}


BETWEEN = [[], booted("b", B)]  # nothing, or another boot
CAPTURES = [(between, False) for between in BETWEEN] + [([], True)]


@pytest.mark.parametrize(("between", "marks"), CAPTURES)
def test_the_later_run_of_a_boot_counts(between: list[str], marks: bool) -> None:
    for first in (booted("a", A), booted("a", A)[:-2]):
        lines = [*first, *between, *booted("a", A, 7)]
        content = measured(marked(lines) if marks else lines)
        assert cycles(content)[("a", marks or None)] == 7
        assert "began" in problems_of(content)


def test_the_last_of_three_runs_that_ended_counts() -> None:
    whole = [*booted("a", A), *booted("a", A, 6)]
    content = measured([*whole, *booted("a", A, 7)[:-1], *booted("a", A, 8)[:-2]])
    assert cycles(content) == {("a", None): 6}


def test_the_later_image_of_a_boot_counts() -> None:
    content = measured([*booted("a", A), *booted("a", B, 7)])
    assert cycles(content) == {("a", None): 7}
    assert "another" in problems_of(content)


@pytest.mark.parametrize("lost", [0, 1, 2])
def test_an_app_without_its_begin_has_no_known_boot(lost: int) -> None:
    """It gets neither the name of the previous boot nor that of its app."""
    second = booted("b", B, 6)
    assert len(second) == 6  # begin has two lines, and counts only if another line follows
    del second[lost]
    for app in ("x", "z"):
        content = measured([*booted("a", A, 5, app), *second])
        assert cycles(content) == {("a", None): 5}
        assert "certain" in problems_of(content)


def test_a_begin_and_its_mark_that_contradict_each_other_are_both_ignored() -> None:
    """The rows get neither name."""
    content = measured([*marked(booted("b", B)), *marked(booted("c", A, 6), name="c")])
    assert "names the boot b" in problems_of(content)
    assert cycles(content) == {("c", True): 6}


def test_many_boots_that_come_and_go_are_read_in_linear_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A search through all boots at each change of boot would compare them quadratically."""
    comparisons = 0

    def compared(self: MeasuredBoot, other: object) -> bool:
        nonlocal comparisons
        comparisons += 1
        return self is other

    monkeypatch.setattr(MeasuredBoot, "__eq__", compared)
    number = 300
    boots = [*range(number), *(number - 1 - i % 2 for i in range(1, number))]
    lines = [
        line
        for n in boots
        for line in encoded(
            "x", [f"begin proto=1 lang=c apps=1 boot=b{n} image={n:08x} cc=gcc", "end ok"]
        )
    ]
    content = measured(lines)
    assert len(content.boots) == number
    assert [boot.name for boot in content.boots][-2:] == [f"b{n}" for n in boots[-2:]]
    assert comparisons <= len(boots)
