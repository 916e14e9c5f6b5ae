# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The stages of alarms in a synthetic trace: which interrupts are alarms, and which upcalls belong
to them.
"""

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


def alarm_slices(*ran: int, raised: tuple[int, ...], upcalls: tuple[int, ...] = ()) -> list[Any]:
    """Return the track, name, begin and end of the slices of a trace whose instructions are at
    these addresses, ten cycles apart, from cycle 10 on."""
    steps = [
        (10 * n, Step(0, at >= UPCALL, at, 0x13, 10, (), handler=at == TIMER))
        for n, at in enumerate(ran, 1)
    ]
    image = Image(Path("none"), (), "0")
    program = Program(boards.load(boards.DEFAULT).kernels[2])
    traced = TracedSteps(program, image, steps, raised, upcalls)
    return [(part.track, part.name, part.begin, part.end) for part in chain.alarm_tracks(traced)]


def test_an_alarm_contains_its_stages() -> None:
    assert alarm_slices(OTHER, *WHOLE, raised=(12,)) == [
        ("alarms", "alarm", 12, 60),
        ("alarms", "taken", 12, 20),
        ("alarms", "served", 20, 30),
        ("alarms", "queued", 30, 40),
        ("alarms", "chosen", 40, 50),
        ("alarms", "upcall", 50, 60),
    ]


def test_overlapping_alarms_have_separate_tracks() -> None:
    both = (TIMER, SERVE, QUEUE, TIMER, SERVE, QUEUE, CHOOSE, UPCALL, CHOOSE, UPCALL, *WHOLE)
    alarms = [
        part for part in alarm_slices(OTHER, *both, raised=(12, 45, 115)) if part[1] == "alarm"
    ]
    assert alarms == [
        ("alarms", "alarm", 12, 90),
        ("alarms 2", "alarm", 45, 110),
        ("alarms", "alarm", 115, 160),
    ]


def test_a_kernel_without_a_family_has_no_alarm_track(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def unknown(kernel: Program) -> KernelFamily:
        raise TockmarkError("k.elf is of no kernel whose stages are known", "do this")

    monkeypatch.setattr(chain, "find_family", unknown)
    assert alarm_slices(OTHER, *WHOLE, raised=(12,)) == []
    warning = "tockmark: the trace has no stages of alarms: k.elf is of no kernel whose stages"
    assert capsys.readouterr().err.startswith(warning)
