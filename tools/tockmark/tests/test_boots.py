# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Apps say which boot and which image they are of: logs without marks, and marks against that."""

from itertools import product

import pytest

from tockmark.tests.conftest import encoded
from tockmark.wire.boots import Measured, assemble
from tockmark.wire.records import BootMark, Mark, decode
from tockmark.wire.rows import is_whole, samples_of

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
    return {(boot.name, boot.icache): samples_of(row, "cycles")[0] for boot, row in of}


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


def test_a_boot_whose_end_was_lost_does_not_hide_behind_the_next() -> None:
    for second in ("x", "z"):
        found = measured([*booted("a", A)[:-1], *booted("b", B, 6, second)])
        assert "stops before its 'end'" in problems_of(found)
        assert cycles(found)[("b", None)] == 6


BETWEEN = [[], booted("b", B)]  # nothing, or another boot
CAPTURES = [(between, False) for between in BETWEEN] + [([], True)]


@pytest.mark.parametrize(("between", "marks"), CAPTURES)
def test_of_a_boot_that_begins_again_the_later_run_counts(between: list[str], marks: bool) -> None:
    for first in (booted("a", A), booted("a", A)[:-2]):
        lines = [*first, *between, *booted("a", A, 7)]
        found = measured(marked(lines) if marks else lines)
        assert cycles(found)[("a", marks or None)] == 7
        assert "x: began again; what came before is set aside" in problems_of(found)


@pytest.mark.parametrize(("between", "marks"), CAPTURES)
def test_a_run_that_ended_counts_before_one_that_did_not(between: list[str], marks: bool) -> None:
    """As where a board resets once more before it is given its next image."""
    lines = [*booted("a", A), *between, *booted("a", A, 7)[:-1]]
    found = measured(marked(lines) if marks else lines)
    assert cycles(found)[("a", marks or None)] == 5
    assert "x: began again, and did not end; what came before counts" in problems_of(found)


def test_of_three_runs_the_last_that_ended_counts() -> None:
    whole = [*booted("a", A), *booted("a", A, 6)]
    found = measured([*whole, *booted("a", A, 7)[:-1], *booted("a", A, 8)[:-2]])
    assert cycles(found) == {("a", None): 6}


def test_of_two_images_of_a_boot_the_later_counts() -> None:
    found = measured([*booted("a", A), *booted("a", B, 7)])
    assert cycles(found) == {("a", None): 7}
    assert (
        "the boot a began again from another image; what came before is set aside"
        in problems_of(found)
    )


@pytest.mark.parametrize("lost", [0, 1, 2])
def test_without_its_begin_nobody_knows_of_which_boot_an_app_is(lost: int) -> None:
    """Neither that before nor its app lends it a name."""
    second = booted("b", B, 6)
    assert len(second) == 6  # two of them its begin, which counts once a line has followed
    del second[lost]
    for app in ("x", "z"):
        found = measured([*booted("a", A, 5, app), *second])
        assert cycles(found) == {("a", None): 5}
        assert "x: left out: of which boot it is was lost, or is not certain" in problems_of(found)


def test_a_piece_lost_from_within_one_boot_to_within_another_takes_both() -> None:
    """Even if the numbers of the lines go on as they should."""
    found = measured([*booted("a", A)[:3], *booted("b", B, 6)[3:]])
    assert cycles(found) == {}
    assert f"of image {B}, but its begin of {A}; what it said is left out" in problems_of(found)


def test_behind_a_gap_only_the_end_tells_that_it_is_the_same_boot() -> None:
    first, second = booted("a", A), booted("b", B, 6)
    for gap, certain in ((first[:4] + first[5:], True), (first[:3] + first[4:-1], False)):
        found = measured(gap)
        assert ("is not certain" in problems_of(found)) is not certain
        assert [len(app.rows) for _, app in found.each()] == [1] * certain
    assert cycles(measured([*first[:-2], *second[2:-1]])) == {}
    (cut,) = measured(first[:-1]).each()  # nothing lost but its end
    assert len(cut[1].rows) == 1


def test_a_begin_that_contradicts_its_mark_is_not_believed() -> None:
    """Nor is the mark: neither lends its name to what follows."""
    found = measured([*marked(booted("b", B)), *marked(booted("c", A, 6), name="c")])
    assert "x: its begin says boot=b, but the mark of its boot a" in problems_of(found)
    assert cycles(found) == {("c", True): 6}


def test_a_second_run_is_not_taken_for_the_setting_of_the_first() -> None:
    """Where the end of one boot and the mark of the next are lost, whose image is the same."""
    on, off = marked(booted("a", A)), marked(booted("a", A, 7), False)
    for tail in (off[1:], off[1:-1]):
        assert cycles(measured([*on[:-1], *tail])) == {(None, None): 7}
    assert cycles(measured([*on, *off])) == {("a", True): 5, ("a", False): 7}


def test_another_image_under_the_same_mark_tells_that_a_mark_was_lost() -> None:
    on, off = marked(booted("a", A)), marked(booted("a", B, 7), False)
    found = measured([*on[:-1], *off[1:]])
    assert "the mark of a boot is missing: x reports in the boot a" in problems_of(found)
    assert all(boot.icache is None for boot in found.boots)


def test_an_app_that_goes_back_without_a_begin_is_left_out() -> None:
    """As where a board was reset before it was given its next image, and the begin of that one was
    lost: what the mark stands before is of the image before. Seeds 28888 and 73906 of
    test_fuzz_logs came to that. If what follows begins with the very line that came last, none
    can tell that from a line that came twice."""
    before, own = booted("a", A), marked(booted("a", A, 7), False)
    for runs, lost in product((1, 2), range(1, len(before))):
        if own[1 + lost] == before[-1]:
            continue
        lines = [own[0], *before * runs, *own[1 + lost :]]
        assert cycles(measured(lines)).keys() <= {(None, None)}
        assert "x: goes on after its end without a begin" in problems_of(measured(lines))
    for kept in range(3, len(before)):  # its own end lost, too
        if own[kept] == before[kept - 1]:
            continue
        lines = [own[0], *before[:kept], *own[kept:]]
        assert cycles(measured(lines)).keys() <= {(None, None)}
        assert "x: goes back without a begin" in problems_of(measured(lines))


@pytest.mark.parametrize("say", ["boot=a", f"image={A}", "boot=a image=xyz", f"boot=a,b image={A}"])
def test_half_a_name_is_none(say: str) -> None:
    found = measured(encoded("x", [f"begin proto=1 apps=1 {say}", "end ok"]))
    assert "is no boot and its image" in problems_of(found)
    assert not any(boot.name for boot in found.boots)


def test_a_reset_takes_the_simulators_marks_along() -> None:
    """What is timed from reset is not timed from that of the run before."""
    bench = "bench x.r inner=1 n=1 clock=sim from=reset to=start"
    lines = encoded("x", [f"begin proto=1 apps=1 boot=a image={A}", bench, f"end ok image={A}"])
    seen = [Mark(0, cycle, name).encode() for cycle, name in ((1, "reset"), (9, "start"))]
    assert cycles(measured([*seen, *lines])) == {("a", None): 8}
    again = measured([*seen[:1], *booted("a", A), *seen[1:], *lines])
    assert cycles(again) == {}
