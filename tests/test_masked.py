# SPDX-License-Identifier: Apache-2.0 OR MIT
"""How long interrupts are off, from the instruction trace: each stretch has its cause, and the
baseline kernel's are short but for what it prints itself.

Builds what `make sim-retire` makes, which takes half a minute the first time.
"""

from typing import cast

import pytest
from products import make

from tockmark.check import interrupts_off
from tockmark.check.interrupts_off import Stretch
from tockmark.errors import TockmarkError
from tockmark.profile.symbols import Program
from tockmark.profile.trace import HEADING

EXCEPTION, INTERRUPT, FAULT, SWITCH, PANIC, CODE = range(0x100, 0x700, 0x100)
WFI, OTHER = 0x10500073, 0x13


class Labels:
    """The symbols of a kernel."""

    def symbol(self, name: str) -> tuple[int, int]:
        named = {"exception": EXCEPTION, "interrupt": INTERRUPT, "fault": FAULT, "switch": SWITCH}
        return named[name], 4

    def address_of(self, part: str) -> int:
        assert part == "rust_begin_unwind"
        return PANIC


def longest(*steps: tuple[int, str, int, int]) -> dict[str, Stretch]:
    lines = [f"{cycle:10} {cycle:10} {mode} {pc:08x} {insn:8x}" for cycle, mode, pc, insn in steps]
    return interrupts_off.longest([HEADING, *lines], cast(Program, Labels()))


def kernel(*steps: tuple[int, int]) -> list[tuple[int, str, int, int]]:
    return [(cycle, "M", pc, OTHER) for cycle, pc in steps]


APP = "U", 0x1000, OTHER


def test_each_stretch_has_its_cause() -> None:
    found = longest(
        *kernel((5, CODE), (9, CODE)),
        (10, *APP),
        *kernel((12, EXCEPTION), (30, CODE)),
        (31, *APP),
        *kernel((33, INTERRUPT), (40, SWITCH), (50, CODE)),
        (51, *APP),
        *kernel((52, EXCEPTION), (53, FAULT), (99, CODE)),
        (100, *APP),
        *kernel((102, EXCEPTION), (125, CODE)),
        (126, *APP),
        *kernel((130, EXCEPTION), (140, PANIC), (150, FAULT), (200, CODE)),
        (201, "M", CODE, WFI),
    )
    assert found == {
        "start": Stretch(9, 9),
        "system call": Stretch(25, 125),
        "interrupt, another process goes on": Stretch(19, 50),
        "fault": Stretch(48, 99),
        "panic": Stretch(75, 201),
    }


def test_a_sleep_is_no_stretch() -> None:
    found = longest(
        (10, *APP),
        *kernel((12, EXCEPTION)),
        (20, "M", CODE, WFI),
        *kernel((900, CODE), (930, SWITCH), (940, CODE)),
        (941, *APP),
    )
    assert found == {
        "system call": Stretch(10, 20),
        "after sleep, another process goes on": Stretch(41, 940),
    }


def test_another_traces_form_is_refused() -> None:
    with pytest.raises(TockmarkError, match="another form"):
        interrupts_off.longest(["# pc cycle"], cast(Program, Labels()))


def test_the_baseline_keeps_interrupts_off_briefly() -> None:
    make("sim-retire")
    found = interrupts_off.measure(2)
    brief = {
        cause: s.cycles for cause, s in found.items() if cause not in ("start", "fault", "panic")
    }
    assert len(found) - len(brief) == 3
    assert "system call" in brief
    assert "interrupt" in brief
    assert max(brief.values()) < 10_000
