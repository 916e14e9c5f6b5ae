# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Apps say which boot and which image they are of: logs without marks, and marks against that."""

import pytest

from tockmark.tests.conftest import encoded
from tockmark.wire.boots import Measured, assemble
from tockmark.wire.records import BootMark, decode
from tockmark.wire.rows import is_whole, series_samples

A, B = "0000000a", "0000000b"  # images


def booted(boot: str, image: str, cycles: int = 5, app: str = "x", end: str = "") -> list[str]:
    """What a boot with one app prints, whose row has this many cycles."""
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
    """Return the lines between the marks of their boot."""
    first, last = (BootMark(name, icache, "x", end).encode() for end in (False, True))
    return [first, *lines, last]


def measured(lines: list[str]) -> Measured:
    return assemble(decode(lines))


def cycles(found: Measured) -> dict[tuple[str | None, bool | None], int]:
    """Of each boot that has a row."""
    of = [(boot, row) for boot, app in found.each() for row in app.rows if is_whole(row)]
    assert len({(boot.name, boot.icache) for boot, _ in of}) == len(of)
    return {(boot.name, boot.icache): series_samples(row, "cycles")[0] for boot, row in of}


def problems_of(found: Measured) -> str:
    return "\n".join(map(str, found.problems))


@pytest.mark.parametrize("second", ["x", "z"])
def test_without_marks_a_boot_is_the_one_that_its_app_names(second: str) -> None:
    """Of the same app again, or of another."""
    found = measured([*booted("a", A), *booted("b", B, 6, second)])
    assert not found.problems
    assert cycles(found) == {("a", None): 5, ("b", None): 6}
    assert [boot.image for boot in found.boots] == [A, B]


def test_under_a_mark_the_image_is_known_too() -> None:
    found = measured(marked(booted("a", A)))
    assert not found.problems
    assert found.boots[0].image == A
    assert cycles(found) == {("a", True): 5}


BETWEEN = [[], booted("b", B)]  # nothing, or another boot
CAPTURES = [(between, False) for between in BETWEEN] + [([], True)]


@pytest.mark.parametrize(("between", "marks"), CAPTURES)
def test_of_a_boot_that_begins_again_the_later_run_counts(between: list[str], marks: bool) -> None:
    for first in (booted("a", A), booted("a", A)[:-2]):
        lines = [*first, *between, *booted("a", A, 7)]
        found = measured(marked(lines) if marks else lines)
        assert cycles(found)[("a", marks or None)] == 7
        assert "began" in problems_of(found)


def test_of_three_runs_the_last_that_ended_counts() -> None:
    whole = [*booted("a", A), *booted("a", A, 6)]
    found = measured([*whole, *booted("a", A, 7)[:-1], *booted("a", A, 8)[:-2]])
    assert cycles(found) == {("a", None): 6}


def test_of_two_images_of_a_boot_the_later_counts() -> None:
    found = measured([*booted("a", A), *booted("a", B, 7)])
    assert cycles(found) == {("a", None): 7}
    assert "another" in problems_of(found)


@pytest.mark.parametrize("lost", [0, 1, 2])
def test_without_its_begin_nobody_knows_of_which_boot_an_app_is(lost: int) -> None:
    """Neither that before nor its app lends it a name."""
    second = booted("b", B, 6)
    assert len(second) == 6  # two of them its begin, which counts once a line has followed
    del second[lost]
    for app in ("x", "z"):
        found = measured([*booted("a", A, 5, app), *second])
        assert cycles(found) == {("a", None): 5}
        assert "certain" in problems_of(found)


def test_a_begin_that_contradicts_its_mark_is_not_believed() -> None:
    """Nor is the mark: neither lends its name to what follows."""
    found = measured([*marked(booted("b", B)), *marked(booted("c", A, 6), name="c")])
    assert "names the boot b" in problems_of(found)
    assert cycles(found) == {("c", True): 6}
