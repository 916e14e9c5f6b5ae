# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Long verbs show how far they are: by plain lines in a file, on a terminal by one line or bars."""

import sys
import time

import pytest

from tockmark.rig import progress


def test_a_task_says_that_it_begins_and_how_long_it_took(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with progress.task("building x") as show:
        show("not in a file")
    with pytest.raises(KeyError), progress.task("again"):
        raise KeyError
    said = ["building x …", "building x: 0 s", "again …", "again: 0 s, ended early"]
    assert capsys.readouterr().err.splitlines() == said


def test_a_line_of_a_terminal_is_written_anew(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "19")
    assert list(progress.counted("ab", 2, "images laid that are many")) == ["a", "b"]
    ends = [f"\r\x1b[K{n} of 2 images laid{end}" for n, end in ((1, "\r"), (2, "\n"))]
    assert capsys.readouterr().err == "".join(ends)


def test_in_a_file_a_count_comes_now_and_then(capsys: pytest.CaptureFixture[str]) -> None:
    assert list(progress.counted("ab", 2, "images laid")) == ["a", "b"]
    progress.ProgressLine(quiet=1, every=0).count("pages", 1, 2)
    progress.ProgressLine(quiet=0, every=0).count("pages", 2, 2)
    assert capsys.readouterr().err == "2 of 2 pages\n"


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
