# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The part study of `tockmark-lab validate`: its stored figures still hold, and the address of the
study's alternating loop in flash explains its figure. Builds the Nexys Video simulator if it is
missing."""

import subprocess

import pytest

from tockmark.base import paths
from tockmark_lab import validation
from tockmark_lab import validation_parts as programs
from tockmark_lab.folders import DATA

LOOP = "loop.alternating"
TAILS = {0: LOOP, **{tail: f"{LOOP}, odd counts at {tail} mod 8" for tail in (2, 4, 6)}}


@pytest.fixture(scope="module", autouse=True)
def simulator() -> None:
    if programs.simulator("nexysvideo").exists():
        return
    make = ["make", "--silent", "sim-nexysvideo"]
    subprocess.run(make, cwd=paths.ROOT, check=True, capture_output=True)


@pytest.fixture(scope="module")
def placements() -> dict[tuple[int, int], float]:
    """Return the cycles per iteration, by the position of the loop in its flash word and the
    position of its code for odd counts."""
    return {
        (offset, tail): cycles[name] / 1000
        for offset in programs.data_of("study")["offsets"]
        for cycles in [programs.study_cycles(offset)[0]]
        for tail, name in TAILS.items()
    }


def test_the_part_equals_the_stored_one() -> None:
    now = {row.key: row.measured for job in programs.PARTS["study"].jobs() for row in job}
    stored = validation.load_validation(DATA / "validation.json")
    assert now == {row.key: row.measured for row in stored if row.part == "study"}


def test_a_placement_of_16_gives_the_figure_of_the_study(
    placements: dict[tuple[int, int], float],
) -> None:
    data = programs.data_of("study")
    (judged,) = [entry for entry in data["row"] if entry["name"] == LOOP]
    theirs = judged["expected"] / 1000
    near = [
        at for at, ours in placements.items() if abs(ours / theirs - 1) <= data["bound"]["relative"]
    ]
    assert near == [(judged["offset"], 0)]


def test_the_page_has_the_range_of_the_16(
    placements: dict[tuple[int, int], float],
) -> None:
    page = (paths.ROOT / "docs" / "trust.md").read_text()
    low, high = min(placements.values()), max(placements.values())
    assert len(placements) == 16
    assert f"from {low:.1f} to {high:.1f} cycles an iteration" in " ".join(page.split())
