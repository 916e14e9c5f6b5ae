# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Long verbs show how far they are: by plain lines in a file, on a terminal by one line or bars."""

import time

import pytest

from tockmark.target import progress


def test_in_a_file_a_run_says_a_line_every_ten_seconds_at_most(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1000.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    boots = [progress.Status(f"{number}, on", 2) for number in range(94)]
    display = progress.Display(boots)
    for boot in boots:  # one a second
        boot.done, boot.rows, boot.cycles = True, 2, 500_000
        now += 1
        display.show()
    display.close()
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 9
    assert said[0] == "10 of 94 boots done, 5.0 M cycles, 10 s, 84 s left"
    assert said[-1] == "90 of 94 boots done, 45.0 M cycles, 90 s, 4 s left"
