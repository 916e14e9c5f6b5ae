# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Lines through sizes, checked at a size that the fit did not use: planted lines, and the lines
of the page."""

import pytest

import by_size
from committed import committed
from tockmark_lab.studies import programs


def test_a_planted_line_is_found_without_error() -> None:
    line = by_size.line_of({size: 700 + 2.5 * size for size in (0, 64, 256, 1024, 4096)})
    assert (line.intercept, line.slope, line.held_out) == pytest.approx((700, 2.5, 256))
    assert by_size.relative_error(line) == pytest.approx(0, abs=1e-9)


def test_a_curve_has_an_error() -> None:
    line = by_size.line_of({size: 700 + size**2 / 100 for size in (256, 512, 1024, 2048, 4096)})
    assert by_size.relative_error(line) < -0.5
    step = by_size.line_of({size: 700 + 90 * (size > 900) for size in (256, 512, 1024, 2048, 4096)})
    assert by_size.relative_error(step) > 0.03


def test_every_sweep_of_the_page_has_its_sizes() -> None:
    steps = "new IPC, there and back, baseline"
    for sweep in by_size.SWEEPS:
        for icache in (True, False):
            assert len(sweep.points(icache)) >= 5, sweep.what
            is_off = abs(by_size.relative_error(sweep.line(icache))) > 0.02
            assert is_off == (f"{sweep.what}, {sweep.kernel}" == steps), sweep
    assert by_size.largest_error(steps) < by_size.largest_error()


def test_the_output_of_the_study_has_the_lines() -> None:
    named = [("bare", committed("sizes/bare", "rust").result)]
    screen = programs.screen(named)
    assert screen.count("length.sha256 by size") == 2
    assert "size.flash by size" in screen
