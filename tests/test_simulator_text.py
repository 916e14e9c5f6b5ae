# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What the simulator makes of the text on the UART: it ends a run by itself."""

import json
from pathlib import Path

import pytest
from test_simulator import START, simulate


def printing(text: str) -> str:
    """A program that sends a text and then loops for ever."""
    return f"""
{START}
    li   a0, 0x40000000
    li   t0, 1
    sw   t0, 0x10(a0)
    la   a1, text
1:  lbu  t0, 0(a1)
    beqz t0, 2f
3:  lw   t1, 0x14(a0)
    andi t1, t1, 1
    bnez t1, 3b
    sw   t0, 0x1c(a0)
    addi a1, a1, 1
    j    1b
2:  j    2b
text: .asciz {json.dumps(text)}
"""


def test_the_suite_closes_when_every_app_has_ended(tmp_path: Path) -> None:
    text = "kernel says hello\n#tm 0 a begin proto=1 apps=2 *0000\n#tm 1 a end ok *0000\n"
    text += "#tm 0 b begin proto=1 apps=2 *0000\n#tm 1 b end ok *0000\n"
    done = simulate(tmp_path, printing(text))
    assert done.returncode == 0, done.stderr
    assert done.stdout == text
    assert "reason=suite-closed" in done.stderr


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        (
            "panicked at boards/x/src/main.rs:12:\r\nwhat\r\n\tKernel version 2.2\r\nmore",
            7,
            "earlgrey-sim: panic: what\n",
        ),
        (
            "tockmark-kernel: panic: what at x.rs:12\n",
            7,
            "earlgrey-sim: tockmark-kernel: panic: what at x.rs:12\n",
        ),
        ("app: tockmark-kernel: panic: no\n", 4, ""),
    ],
)
def test_a_kernels_panic_ends_the_run_when_all_is_said(
    text: str, code: int, said: str, tmp_path: Path
) -> None:
    done = simulate(tmp_path, printing(text), "--max-cycles", "2000000")
    assert (done.returncode, done.stdout.replace("\r", "")) == (code, text.replace("\r", ""))
    assert said in done.stderr


# Prints a line, then sleeps until the timer wakes it, half a millisecond later, twice.
