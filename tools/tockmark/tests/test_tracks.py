# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The stages of alarms in a made-up trace: which of its interrupts are alarms, and whose the
upcalls are."""

from pathlib import Path
from typing import Any

import pytest

from tockmark.base.errors import TockmarkError
from tockmark.latency import chain
from tockmark.latency.chain import KernelFamily
from tockmark.profile.sample import Step
from tockmark.profile.symbols import Program
from tockmark.profile.timeline import TracedSteps
from tockmark.target import board as boards
from tockmark.target.image import Image
from tockmark.tests.test_waits import FAMILY

TIMER, SERVE, QUEUE, CHOOSE, UPCALL, OTHER = 0x1C, 0x100, 0x200, 0x300, 0x4000, 0x5000
POINTS = {
    (False, SERVE): ["served"],
    (False, QUEUE): ["queued"],
    (False, CHOOSE): ["chosen"],
    (True, UPCALL): ["upcall"],
}
WHOLE = (TIMER, SERVE, QUEUE, CHOOSE, UPCALL)


@pytest.fixture(autouse=True)
def toy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chain, "find_family", lambda kernel: FAMILY)
    monkeypatch.setattr(chain, "_points", lambda *about: POINTS)


def told(*ran: int, raised: tuple[int, ...], upcalls: tuple[int, ...] = ()) -> list[Any]:
    """Track, name, begin and end of what is found where instructions at these addresses leave every
    ten cycles, from cycle 10 on."""
    steps = [
        (10 * n, Step(0, at >= UPCALL, at, 0x13, 10, (), handler=at == TIMER))
        for n, at in enumerate(ran, 1)
    ]
    image = Image(Path("none"), (), "0")
    program = Program(boards.load(boards.DEFAULT).kernels[2])
    traced = TracedSteps(program, image, steps, raised, upcalls)
    return [(one.track, one.name, one.begin, one.end) for one in chain.alarm_tracks(traced)]


def test_an_alarm_has_its_stages_inside() -> None:
    assert told(OTHER, *WHOLE, raised=(12,)) == [
        ("alarms", "alarm", 12, 60),
        ("alarms", "taken", 12, 20),
        ("alarms", "served", 20, 30),
        ("alarms", "queued", 30, 40),
        ("alarms", "chosen", 40, 50),
        ("alarms", "upcall", 50, 60),
    ]


def test_alarms_that_overlap_have_a_track_each() -> None:
    both = (TIMER, SERVE, QUEUE, TIMER, SERVE, QUEUE, CHOOSE, UPCALL, CHOOSE, UPCALL, *WHOLE)
    found = [one for one in told(OTHER, *both, raised=(12, 45, 115)) if one[1] == "alarm"]
    assert found == [
        ("alarms", "alarm", 12, 90),
        ("alarms 2", "alarm", 45, 110),
        ("alarms", "alarm", 115, 160),
    ]


def test_a_kernel_of_no_family_has_no_such_track(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def unknown(kernel: Program) -> KernelFamily:
        raise TockmarkError("k.elf is of no kernel whose stages are known", "do this")

    monkeypatch.setattr(chain, "find_family", unknown)
    assert told(OTHER, *WHOLE, raised=(12,)) == []
    said = "tockmark: the trace has no stages of alarms: k.elf is of no kernel whose stages"
    assert capsys.readouterr().err.startswith(said)
