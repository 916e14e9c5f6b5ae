# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Logs of the 2021 study, whole and torn, are read correctly.

study_logs.py makes the logs, since the study's own are not ours to publish. If TOCKMARK_STUDY_LOGS
names their folder, their forms and the published figures in results/ are compared with them."""

import os
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import noise_draws as drawn
import numpy as np
import pytest
import study_logs
from hypothesis import given
from hypothesis import strategies as st
from study_logs import LOGS, RESULTS, SERIES, Rows, read

from tockmark.base import paths
from tockmark.result import file
from tockmark.result.stats import effective_sizes, steady, steady_median
from tockmark.suite import catalogue
from tockmark.tests.rows import samples as samples_of
from tockmark_lab import study_log
from tockmark_lab.study_log import parse

FOLDER = os.environ.get("TOCKMARK_STUDY_LOGS", "")
needs_the_logs = pytest.mark.skipif(
    not FOLDER, reason="TOCKMARK_STUDY_LOGS names no folder with the logs of the study"
)
every_log = pytest.mark.parametrize("name", LOGS)


@every_log
def test_a_whole_log_is_read(name: str) -> None:
    log = study_logs.log(LOGS[name])
    assert read(log.text) == (log.rows, [], [])
    assert read(log.text.replace("\n", "\r\n")) == (log.rows, [], [])


@every_log
def test_a_whole_log_makes_a_complete_result(name: str, tmp_path: Path) -> None:
    log = study_logs.log(LOGS[name])
    path = tmp_path / f"{name}.log"
    path.write_text(log.text)
    result = parse(path, catalogue.load(), own=True)
    path.write_text(file.text(result))
    assert file.load(path) == result
    assert not result.incomplete
    assert result.provenance.abi == 1
    rows = {row.label: row for row in result.rows}
    added = rows.keys() - log.rows.keys()  # from the study's time.log
    assert added == (set() if name == "time" else {"time.read"})
    for label, wanted in log.rows.items():
        for counter, samples in wanted.items():
            steady = samples[1]  # study_logs.py: a third are one cycle less, a third one cycle more
            series = rows[label].series(counter)
            assert series is not None
            assert series.stats is not None
            assert series.median == steady
            assert series.stats.first == steady + 6
            overhead = 0 if name == "time" else {"cycles": 2268, "instret": 844}[counter]
            assert series.net == steady - overhead


# A short log with every form of title and sample.
MEMCPY = partial(study_logs.memory_bandwidth, sizes=(32, 64), kinds=["memcpy"])
SHORT = study_logs.log(MEMCPY, study_logs.loop, study_logs.flash_access)
TEXT, RIGHT = SHORT.text, SHORT.rows
LAST = r"(?m)^(?:99|\t31),.*\n"  # the last sample of a table
WITHIN_LAST = [match.end() - 2 for match in re.finditer(LAST, TEXT)]  # without its last digit
ANYWHERE = st.integers(1, len(TEXT) - 1) | st.sampled_from(WITHIN_LAST)


def whole(rows: Rows) -> int:
    """Return the number of tables read; each must be complete and under its own title."""
    for label, series in rows.items():
        if not label.startswith("study."):  # a torn title is another title
            for name, samples in series.items():
                assert samples == RIGHT[label][name], label
    return sum(map(len, rows.values()))


@given(cut=ANYWHERE)
def test_a_truncated_log_gives_its_complete_tables(cut: int) -> None:
    rows, problems, _ = read(TEXT[:cut])
    past = len(re.findall(LAST, TEXT[:cut]))
    ended = TEXT[cut - 1] == "\n"
    assert whole(rows) in ({past} if ended else {past, past - 1})  # a torn line is ignored
    sample = re.search(r"^\t?\d+,.*\n?\Z", TEXT[:cut], re.MULTILINE)
    within = sample and not re.fullmatch(LAST, sample[0])
    assert problems or not within


@given(lines=st.integers(1, len(SHORT.lines) - 1))
def test_the_first_complete_table_of_two_boots_counts(lines: int) -> None:
    first = "".join(f"{line}\n" for line in SHORT.lines[:lines])
    rows, problems, _ = read(first + TEXT)
    assert rows == RIGHT
    again = sum("measured before" in problem for problem in problems)
    assert again == whole(read(first)[0])


@given(cut=ANYWHERE, led=st.booleans())
def test_a_boot_within_a_line_puts_no_table_under_another_title(cut: int, led: bool) -> None:
    again = f"{RESULTS}\n{TEXT}" if led else TEXT
    rows, problems, _ = read(TEXT[:cut] + again)
    whole(rows)
    lost = {f"{row} {name}" for row in RIGHT for name in RIGHT[row]}
    lost -= {f"{row} {name}" for row in rows for name in rows[row]}
    assert len(lost) <= (0 if led else 1)
    assert problems or rows.keys() - RIGHT.keys() or not lost  # parse lists unknown titles


VALUES = st.integers(-(2**63), 2**63) | st.sampled_from([-1, 0, 2**31 - 1, 2**31])


@st.composite
def written(draw: st.DrawFn) -> tuple[str, Rows, int]:
    """Return a log of tables in random forms, its rows, and the number of samples that cannot be a
    time."""
    lines: list[str] = []
    rows: Rows = {}
    wrong = 0
    for at in range(draw(st.integers(1, 4))):
        kind = draw(st.sampled_from(["heading", "columns", "title", "description"]))
        counted = draw(st.sampled_from(sorted(SERIES)))
        words = [f"made{at}", *draw(st.lists(st.sampled_from(["of", "up", "x"]), max_size=3))]
        size = draw(st.none() | st.integers(0, 10**9 - 1))
        suffix = f"_{counted}" if kind == "title" else ""
        tail = "" if size is None else f", size {size}"
        title = "\n    ".join([" ".join(words[:2]), *words[2:]]) + suffix + tail
        lines += draw(st.sampled_from([[], [RESULTS], ["", RESULTS]]))
        lines += [f"benchmark: {title}"]
        if kind == "description":
            lines += [f"description: counts {counted}", "     of it"]
        lines += draw(st.sampled_from([[], ["Run length: 77"]]))
        lines += {"heading": [f"run, {counted}"], "columns": [f"run, bytes, {counted}, a"]}.get(
            kind, []
        )
        between = draw(st.sampled_from([", ", ",", ",\t", "\t", " , "]))
        samples = draw(st.lists(VALUES, min_size=1))
        for run, sample in enumerate(samples):
            cells = [run, 4 * run, sample, "1.5"] if kind == "columns" else [run, sample]
            lines.append(between.join(map(str, cells)))
        lines += draw(st.sampled_from([[], ["Got sum -5", ""], ["all done"]]))
        good = [sample for sample in samples if 0 <= sample <= 2**31 - 1]
        wrong += len(samples) - len(good)
        label = f"study.{'_'.join(words)}" + ("" if size is None else f" size={size}")
        rows[label] = {SERIES[counted]: good} if good else {}
    return "\n".join([*lines, ""]), rows, wrong


@given(written())
def test_a_table_of_every_form_is_read(log: tuple[str, Rows, int]) -> None:
    text, rows, wrong = log
    read_rows, problems, errors = read(text)
    assert read_rows == rows
    assert not problems
    assert len(errors) == wrong


def form(text: str) -> list[str]:
    """Return the lines without the measured numbers."""
    lines = []
    for line in text.split("\n"):
        sample = re.fullmatch(r"(\t?\d+)([,\t].*)", line)
        kept = sample[1] + re.sub(r"0x[0-9a-f]{8}|-?\d+", "N", sample[2]) if sample else line
        lines.append(re.sub(r"sum \d+", "sum N", kept))
    return lines


def its_own(name: str) -> Path:
    """Return the study's log of this name, if the folder has it."""
    path = Path(FOLDER) / f"{name}.log"
    if not path.exists():
        pytest.skip(f"{path} is not there")
    return path


@needs_the_logs
@every_log
def test_our_logs_have_the_form_of_the_studys_logs(name: str) -> None:
    assert form(study_logs.log(LOGS[name]).text) == form(its_own(name).read_text())


@needs_the_logs
@every_log
def test_the_published_figures_match_the_studys_logs(name: str) -> None:
    result = parse(its_own(name), catalogue.load(), own=True)
    assert len(result.incomplete) == (name == "ipc_threading")  # its -788861318
    mine = {row.label: row for row in result.rows}
    paper = file.load(paths.RESULTS / "paper-2021.json")
    rows_by_label = {row.label: row for row in paper.rows if row.app == name}
    alone = [row for row in paper.rows if row.app == "study-2021"]  # rows without samples
    rows_by_label |= {row.label: row for row in alone if row.label in mine}
    if name == "memory_bandwidth":  # the compiler's replacement for that memcpy
        mine["mem.copy_asm size=32"] = mine["mem.copy_memcpy size=32"]
    if name != "icache":  # published as a picture only
        assert mine.keys() - {"time.read"} == rows_by_label.keys() - {"time.read"}
    for label, row in rows_by_label.items():
        measured = mine[label]
        assert (row.net, row.instructions) == (measured.net, measured.instructions), label
        assert (row.inner, row.asked) == (measured.inner, measured.asked), label
        assert row.published is not None
        assert measured.cycles is not None
        if row.published.corrected is None:
            assert row.published.value == measured.cycles.median


def cycles(folder: Path) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield the id and the steady cycles of each row in a folder of logs."""
    for path in sorted(folder.glob("*.log")):
        text = path.read_text(encoding="latin-1")
        for _, app in study_log.measured(text, path.stem).each():
            for row in app.rows:
                if cycle_samples := samples_of(row).get("cycles"):
                    yield row.id, tuple(steady(cycle_samples))


@needs_the_logs
def test_the_noise_matches_the_studys_logs() -> None:
    every = list(cycles(Path(FOLDER)))
    ((id_, varying),) = [(id_, samples) for id_, samples in every if len(set(samples)) > 1]
    values = np.array(varying)
    assert (id_, steady_median(varying)) == ("flash.read_sporadic", drawn.RAW)
    assert values.std(ddof=1) == pytest.approx(drawn.DEVIATION, abs=0.05)
    assert effective_sizes(values) == len(varying)
    assert {samples for id_, samples in every if id_ == "time.read"} == {(drawn.READ,) * 999}
