# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Damaged and odd logs of the study's form: the reader succeeds or fails with one line, in time
proportional to the log, and every row that survives has the numbers of the undamaged log.

These logs have no checksums. A changed or lost digit within a number cannot be detected, so no test
tries it. TOCKMARK_FUZZ=100000 damages this many logs."""

import random
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
import study_logs
from study_logs import Rows
from test_fuzz_logs import BLUNT, COUNT, Lines, loads
from test_linear import in_proportion

from tockmark.base.errors import TockmarkError
from tockmark.suite import catalogue
from tockmark.tests.rows import samples
from tockmark_lab import study_log


def whole() -> Lines:
    """Return a log of benchmarks whose length the tool knows, some with a heading, some without."""
    log = study_logs.log(
        partial(study_logs.memory_bandwidth, sizes=(32, 64), kinds=["memcpy"]),
        study_logs.flash_access,
        study_logs.loop,
    )
    return ["OpenTitan initialisation complete", *log.lines, ""]


def sound(lines: Lines) -> Rows:
    """Return the rows that are not marked as wrong."""
    measured = study_log.measured("\n".join(lines), "log")
    return {
        catalogue.label(row.id, row.params): samples(row)
        for _, app in measured.each()
        for row in app.rows
        if not row.faults and row.id != catalogue.OVERHEAD
    }


def test_surviving_rows_of_a_damaged_log_are_right() -> None:
    right = sound(whole())
    touched = 0
    for seed in range(COUNT):
        rng = random.Random(seed)
        lines = whole()
        for _ in range(rng.choice([1, 1, 1, 2, 4])):
            rng.choice(BLUNT)(rng, lines)
        rows = sound(lines)
        touched += rows != right
        for label, series in rows.items():
            if label in right:
                assert all(right[label].get(name) == series[name] for name in series), seed
            else:  # a changed title is another title
                assert label.startswith("study."), f"seed {seed}: {label}"
    assert touched > COUNT / 4


def test_any_bytes_give_a_result_or_one_line(tmp_path: Path) -> None:
    path, loaded = tmp_path / "any.log", catalogue.load()
    for seed in range(COUNT // 10):
        rng = random.Random(seed)
        content = bytearray("\n".join(whole()).encode())
        for _ in range(rng.randrange(1, 60)):
            content[rng.randrange(len(content))] = rng.randrange(256)
        path.write_bytes(content)
        refused = ""
        try:
            loads(study_log.parse(path, loaded))
        except TockmarkError as error:
            refused = str(error)
        assert len(refused.splitlines()) <= 1, f"seed {seed}"


TITLE = "benchmark: made up\nrun, cycles\n0, 7\n"
LONG: dict[str, Callable[[int], str]] = {
    "blank lines": lambda n: "\n" * n,
    "blank lines behind a title": lambda n: TITLE + "\n" * n,
    "tabs in a sample": lambda n: TITLE + "1" + "\t" * n + "x\n",
    "commas in a sample": lambda n: TITLE + "1" + " ,\t" * n + "x\n",
    "a title of many lines": lambda n: "benchmark: x\n" + "more of it\n" * n + TITLE,
    "a title with many parameters": lambda n: f"benchmark: x{', a 1' * n}\nrun, cycles\n",
    "tables under a long title": lambda n: (
        "benchmark: x\n" + "and so on\n" * n + "Test 1: a\nrun, cycles\n0, 7\n" * n
    ),
}


@pytest.mark.parametrize("what", LONG)
def test_eight_times_as_much_takes_eight_times_as_long(what: str) -> None:
    def read_time(n: int) -> None:
        text = LONG[what](n)
        study_log.recognise(text)
        study_log.measured(text, "log")

    assert in_proportion(read_time)
