# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Logs of the 2021 study's form: the parser names and skips bad parts; and the published
figures."""

from pathlib import Path

import pytest
from study_logs import read

from tockmark.base import paths
from tockmark.base.errors import TockmarkError
from tockmark.result import file
from tockmark.result.model import Result
from tockmark.suite import catalogue
from tockmark.tests.conftest import seconds
from tockmark.wire import records
from tockmark_lab import study_log
from tockmark_lab.study_log import parse

KNOWN = study_log.facts()


def table(heading: str, values: list[int | str], sep: str = ", ") -> str:
    return "".join([heading, *(f"{i}{sep}{value}\n" for i, value in enumerate(values))])


def log(*parts: str) -> str:
    return "".join(parts)


MADE_UP = "### RESULTS ###\nbenchmark: made_up"
CYCLES = "run, cycles\n"


def test_two_benchmarks_in_one_file_make_one_row_with_both_series() -> None:
    text = log(
        "kernel 1.6: initialised 3 capsules\n",
        f"{MADE_UP}_cycles, size 48\n",
        table(CYCLES, [31, 30, 30]),
        "benchmark: made_up_instructions, size 48\n",
        table("run, instructions\n", [9, 9, 9]),
    )
    rows, problems, _ = read(text)
    assert rows == {"study.made_up size=48": {"cycles": [31, 30, 30], "instret": [9, 9, 9]}}
    assert not problems


def test_titles_over_several_lines_tabs_and_tests() -> None:
    text = log(
        f"{MADE_UP} title that\n           goes on, with 2 words\n",
        "description: counts cycles\n  of it\n",
        table("Test 1: short\n", [5, 5], ",\t"),
        table("Test 2: long\n", [7, 7], "\t"),
    )
    rows, problems, _ = read(text.replace("\n0", "\n\t0").replace("\n1", "\n\t1"))
    name = "study.made_up_title_that_goes_on_with_2_words"
    assert rows == {f"{name}_short": {"cycles": [5, 5]}, f"{name}_long": {"cycles": [7, 7]}}
    assert not problems


def test_line_ends_of_a_terminal() -> None:
    text = log(f"{MADE_UP}\n", table(CYCLES, [5, 6]))
    assert read(text.replace("\n", "\r\n")) == read(text)
    assert not read(text.replace("6\n", "6\r\n"))[0]


def test_remarks_and_columns_that_measure_nothing_are_skipped() -> None:
    text = log(
        f"{MADE_UP}\nRun length: 77\n",
        table("run, bytes_read, cycles, cycles / byte\n", ["4, 20, 5", "8, 40, 5.5"]),
        "Got sum -12\nall done\n\n",
        f"{MADE_UP} too\n{table('run, cycles, instructions' + chr(10), ['3, 2', '4, 2'])}",
    )
    rows, problems, _ = read(text)
    assert rows == {
        "study.made_up": {"cycles": [20, 40]},
        "study.made_up_too": {"cycles": [3, 4], "instret": [2, 2]},
    }
    assert not problems


@pytest.mark.parametrize("value", [-788861318, 2**32 - 788861318])
def test_an_impossible_value_is_an_error(value: int) -> None:
    rows, problems, errors = read(log(f"{MADE_UP}\n", table(CYCLES, [value, 20, 21])))
    assert rows == {"study.made_up": {"cycles": [20, 21]}}
    assert not problems
    assert len(errors) == 1
    assert str(value) in errors[0]
    assert "the cold one" in errors[0]


def test_a_lost_first_sample_leaves_no_cold_sample(tmp_path: Path) -> None:
    """Only in its own series. The file records this."""
    path = tmp_path / "made.log"
    path.write_text(
        log(
            f"{MADE_UP}_cycles\n",
            table(CYCLES, [-1, 21, 20, 22, 20, 22]),
            "benchmark: made_up_instructions\n",
            table("run, instructions\n", [9, 7, 7, 7, 7, 7]),
        )
    )
    result = parse(path, catalogue.load())
    (row,) = result.rows
    assert row.cycles is not None
    assert row.cycles.stats is not None
    assert row.instret is not None
    assert row.instret.stats is not None
    assert row.cycles.steady == (21, 20, 22, 20, 22)
    assert (row.cycles.stats.first, row.cycles.stats.min, row.cycles.stats.max) == (None, 20, 22)
    assert (row.cycles.median, row.cycles.stats.mean) == (21, 21)
    assert (row.instret.stats.first, row.instret.median) == (9, 7)
    assert not row.sound
    path.write_text(file.text(result))
    assert file.load(path) == result


SPORADIC = "### RESULTS ###\nbenchmark: flash_random_bandwidth\n"


def test_the_number_of_loads_comes_from_the_log(tmp_path: Path) -> None:
    def inner(heading: str, cells: str) -> int:
        path = tmp_path / "sporadic.log"
        lines = [f"{run}, {5000 + run}{cells.format(4 * (88 + run % 3))}\n" for run in range(100)]
        path.write_text(log(SPORADIC, heading, *lines))
        return next(row.inner for row in parse(path, catalogue.load(), own=True).rows[1:])

    assert inner("run, cycles, bytes_read, cycles / byte\n", ", {}, 9") == 89
    assert inner("run, cycles, bytes_read\n", ", 40") == 10
    for heading, cells in (("run, cycles\n", ""), ("run, cycles, bytes_read\n", ", 3")):
        with pytest.raises(TockmarkError, match="does not show how much a sample loads"):
            inner(heading, cells)
    with pytest.raises(TockmarkError, match="0x30 is not a whole number of bytes_read"):
        inner("run, cycles, bytes_read\n", ", 0x30")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{MADE_UP}\n{CYCLES}0, 5\n2, 5\n", "line 5: sample 1 expected, but sample 2 found"),
        (f"{MADE_UP}\n{CYCLES}0, 5\n0, 5\n", "line 5: sample 1 expected, but sample 0 found"),
        (f"{MADE_UP}\n{CYCLES}1, 5\n2, 5\n", "line 4: sample 0 expected, but sample 1 found"),
        (f"{MADE_UP}\n{CYCLES}0, 5\n1, 5, 5\n", "line 5: 3 columns, but 2"),
        (f"{MADE_UP}\n{CYCLES}0, 5\n1, 5x\n", "line 5: '1, 5x' is not a sample"),
        (f"{MADE_UP}\n{CYCLES}0, 5\n1, 5 5\n", "line 5: '1, 5 5' is not a sample"),
        (f"{MADE_UP}\n{CYCLES}0, 5\n1, 5 \n", "line 5: '1, 5' is not a sample"),
        (f"{MADE_UP}\n{CYCLES}0, 5\n1,  5\n", "line 5: '1,  5' has other separators"),
        (f"{MADE_UP}\n{CYCLES}0, 5.5\n", "line 4: 5.5 is not a whole number"),
        (f"{MADE_UP}\nrun, bytes\n0, 5\n", "must name cycles or instructions"),
        (f"{MADE_UP}\nrun, cycles, cycles\n0, 5, 5\n", "must name cycles or instructions"),
        (f"{MADE_UP}_cycles\nrun, instructions\n0, 5\n", "the title counts cycles"),
        (f"{MADE_UP}\n0, 5, 5\n", "line 3: 3 columns without a heading"),
        (f"{MADE_UP}\n0, 5\n", "does not name its counter"),
        (f"{MADE_UP}\n{CYCLES}", "line 3: no samples under 'made_up'"),
        (f"{MADE_UP}\n{CYCLES}0, 5\n1, 5", "the last line has no line end"),
        (f"{CYCLES}0, 5\n", "line 1: a table without a title"),
        (
            "### RESULTS ###\nbenchmark: plain_proc_cycles\nrun, cycles\n0, 5\n",
            "the study took 1000",
        ),
    ],
)
def test_bad_lines_are_named_and_skipped(text: str, message: str) -> None:
    rows, problems, _ = read(text)
    assert not rows
    assert len(problems) == 1
    assert message in problems[0]


def test_a_second_measurement_is_named_and_the_first_kept() -> None:
    text = log(*(f"{MADE_UP}\n{table(CYCLES, [value] * 3)}" for value in (5, 6)))
    rows, problems, _ = read(text)
    assert rows == {"study.made_up": {"cycles": [5, 5, 5]}}
    assert "line 9: 'made_up' was measured before" in problems[0]


def test_a_title_after_a_torn_line_owns_no_table() -> None:
    text = log(f"{MADE_UP}\n{CYCLES}0, 5\n1, ", "benchmark: other\n", table(CYCLES, [6, 6]))
    rows, problems, _ = read(text)
    assert not rows
    assert (
        "line 5: a title within the line '1, benchmark: other'; the table 'made_up'" in problems[0]
    )
    assert "line 6: a table without a title" in problems[1]


def test_text_with_numbers_after_a_table_is_named() -> None:
    rows, problems, _ = read(log(f"{MADE_UP}\n", table(CYCLES, [5, 5]), "mean 5\n"))
    assert rows
    assert problems == ["line 6: unexpected line 'mean 5'; delete it if it measures nothing"]


def test_every_listed_title_is_a_row_of_the_catalogue() -> None:
    loaded = catalogue.load()
    for entry in KNOWN.benchmark:
        rows = loaded.benchmarks[entry.id].params
        assert entry.params.keys() <= rows.keys(), entry.title
        assert all(value in rows[name] for name, value in entry.params.items()), entry.title


def test_nothing_usable_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "empty.log"
    path.write_text(f"{MADE_UP}\n")
    with pytest.raises(TockmarkError, match="nothing in empty can be used"):
        parse(path, catalogue.load())


@pytest.fixture(scope="module")
def paper() -> Result:
    return file.load(paths.RESULTS / "paper-2021.json")


def test_published_rows_exclude_the_overhead(paper: Result) -> None:
    overhead = KNOWN.overhead
    unlogged = [row for row in paper.rows if row.app == "study-2021"]
    assert {row.id.partition(".")[0] for row in unlogged} == {"ipc", "syscall"}
    for row in paper.rows:
        assert row.net is not None
        assert row.published is not None
        if row.id == "time.read":
            assert (row.net, row.instructions) == (overhead["cycles"], overhead["instret"])
        else:
            assert row.us == pytest.approx(row.net / row.inner / 10)
            if row.published.unit == "cycles":
                assert row.net == row.published.value - overhead["cycles"]


def test_corrections_are_arithmetically_right(paper: Result) -> None:
    rows = {row.label: row for row in paper.rows}
    net = {name: row.net or 0 for name, row in rows.items()}
    value = {name: row.published.value for name, row in rows.items() if row.published}
    overhead = KNOWN.overhead["cycles"]
    assert value["syscall.command"] == pytest.approx((net["syscall.command"] + overhead) / 10)
    assert rows["syscall.command"].us == 226.7
    trip = value["ipc.round_trip"] * 10_000  # ms at 10 MHz
    legs = net["ipc.client_to_server"] + net["ipc.server_to_client_late"]
    assert net["ipc.round_trip"] - legs == -34
    assert trip - overhead - legs == pytest.approx(956, abs=1)
    raw = net["flash.read_seq"] + overhead
    assert value["flash.read_seq"] == pytest.approx(7936 / (raw / 1e7) / 2**20, abs=1e-3)
    corrected = {n for n, row in rows.items() if row.published and row.published.corrected}
    assert corrected == {
        "syscall.command",
        "ipc.client_to_server",
        "mem.copy_asm size=32",
        "ipc.round_trip",
        "mem.copy_memcpy size=32",
        "flash.read_seq",
        "flash.read_sporadic",
    }


def test_time_is_proportional_to_the_length_of_the_table() -> None:
    rows = [f"{i}, {2000 + i % 7}\n" for i in range(records.MAX_SAMPLES // 8)]
    text = f"{MADE_UP}\n{CYCLES}"
    quarter = seconds(lambda: read(text + "".join(rows[: len(rows) // 4])))
    assert seconds(lambda: read(text + "".join(rows))) < 2 * 4 * quarter
    tables, problems, _ = read(text + "".join(rows))
    assert len(tables["study.made_up"]["cycles"]) == len(rows)
    assert not problems


def test_the_paper_has_the_tools_format(paper: Result) -> None:
    stored = (paths.RESULTS / "paper-2021.json").read_text(encoding="utf-8")
    assert file.text(paper) == stored
    assert not any(s.samples for row in paper.rows for s in (row.cycles, row.instret) if s)


def test_a_heading_may_start_with_the_parameter_of_its_rows() -> None:
    """A table can have a whole sweep. Each value of its parameter is a row."""
    text = log(
        f"{MADE_UP}_cycles\n",
        "nop_bytes, run, cycles\n",
        *(f"{size}, {run}, {size + 9 - (run > 0)}\n" for size in (0, 64) for run in range(3)),
    )
    rows, problems, _ = read(text)
    assert not problems
    assert rows == {
        "study.made_up nop_bytes=0": {"cycles": [9, 8, 8]},
        "study.made_up nop_bytes=64": {"cycles": [73, 72, 72]},
    }


def test_only_damaged_rows_of_a_sweep_are_skipped() -> None:
    text = log(
        f"{MADE_UP}_cycles\nnop_bytes, run, cycles\n",
        "0, 0, 9\n0, 2, 8\n0, 3, 8\n64, 0, 73\n64, 1, 72\n-1, 0, 3\n128, 1, 4\n256, 0, 5\n",
    )
    rows, problems, _ = read(text)
    assert rows == {
        "study.made_up nop_bytes=64": {"cycles": [73, 72]},
        "study.made_up nop_bytes=256": {"cycles": [5]},
    }
    assert len(problems) == 3


def test_a_column_may_have_addresses() -> None:
    text = log(
        f"{MADE_UP}\nrun, break, cycles\n",
        *(f"{run}, 0x{0x20004000 + 8 * run:08x}, {700 - run}\n" for run in range(3)),
    )
    rows, problems, _ = read(text)
    assert not problems
    assert rows == {"study.made_up": {"cycles": [700, 699, 698]}}
    _, problems, _ = read(text.replace("700", "0x700"))
    assert "0x700 is not a whole number of cycles" in problems[0]
