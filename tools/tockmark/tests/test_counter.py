# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Apps print how they read the counters, and a result records it.

Results with different ways of reading are not compared. CycleCount counts no instructions, so rows
that it read have none.
"""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from tockmark.cli.app import app
from tockmark.result import file
from tockmark.result.model import Result
from tockmark.show import table
from tockmark.suite.catalogue import COUNTERS, Catalogue, CounterName
from tockmark.tests.conftest import encoded
from tockmark.tests.of_samples import SIMULATED, exit_code, of_log, with_provenance

BEGIN_VALUES: dict[CounterName, str] = {
    "perf": "perf=0x90010",
    "cyclecount": "cyclecount=0x90008",
    "csr": "csr=user",
}


def log(begin_values: str, instret: bool, app: str = "loop") -> list[str]:
    """Return what an app prints for a row with passes."""
    records = [f"begin proto=1 apps=1 {begin_values}"]
    for row, cycles in (("time.read inner=1", 300), (f"{app}.empty inner=1000", 12300)):
        records.append(f"bench {row} n=9 passes=1")
        for series in ("", "short_", "long_"):
            records.append(f"data {series}cycles {cycles}*9")
            records += [f"data {series}instret {cycles // 3}*9"] * instret
    return encoded(app, [*records, "end ok"])


def result(catalogue: Catalogue, counter: CounterName) -> Result:
    result = of_log(log(BEGIN_VALUES[counter], counter != "cyclecount"), catalogue)
    return with_provenance(result, board=SIMULATED, counter=counter)


@pytest.mark.parametrize("counter", COUNTERS)
def test_apps_print_how_they_read_the_counters(counter: CounterName, catalogue: Catalogue) -> None:
    result = of_log(log(BEGIN_VALUES[counter], counter != "cyclecount"), catalogue)
    assert result.provenance.counter == counter
    assert not result.problems
    (row,) = (row for row in result.table.values() if row.id == "loop.empty")
    assert row.net == 0  # equal samples have the slope 0
    assert (row.instructions is None) == (counter == "cyclecount")
    assert row.missing_series == []


def test_apps_that_print_no_counter_read_perf(catalogue: Catalogue) -> None:
    result = of_log(log("", True), catalogue)
    assert result.provenance.counter == "perf"
    assert "counter" not in file.text(result)


def test_missing_instructions_are_a_problem_if_they_are_counted(
    catalogue: Catalogue,
) -> None:
    result = of_log(log(BEGIN_VALUES["perf"], False), catalogue)
    assert any("loop.empty" in problem for problem in result.problems)


def test_apps_with_different_counters_are_a_problem(catalogue: Catalogue) -> None:
    lines = [*log(BEGIN_VALUES["perf"], True), *log(BEGIN_VALUES["cyclecount"], False, "call")]
    assert "cyclecount" in of_log(lines, catalogue).problems[0]


def test_the_file_records_the_counter(tmp_path: Path, catalogue: Catalogue) -> None:
    path = tmp_path / "r.json"
    path.write_text(file.text(result(catalogue, "cyclecount")))
    again = file.load(path)
    assert again.provenance.counter == "cyclecount"
    assert {row.counter for row in again.rows} == {"cyclecount"}


def test_headings_name_the_counter_and_missing_instructions_are_a_dash(
    catalogue: Catalogue,
) -> None:
    shown = table.every_row(result(catalogue, "cyclecount"), catalogue)
    assert "instructions" in " ".join(shown.split())
    (line,) = (line for line in shown.splitlines() if line.startswith("time.read"))
    assert line.split()[1:3] == ["300", "-"]
    assert "CycleCount" not in table.every_row(result(catalogue, "perf"), catalogue)
    assert "read by CycleCount" in result(catalogue, "cyclecount").provenance.line


@pytest.mark.parametrize("limits", [[], ["--limits"]])
def test_results_of_different_counters_are_not_compared(
    limits: list[str], tmp_path: Path, catalogue: Catalogue
) -> None:
    paths = []
    for counter in ("perf", "cyclecount"):
        path = tmp_path / f"{counter}.json"
        path.write_text(file.text(result(catalogue, counter)))
        paths.append(str(path))
    done = CliRunner().invoke(app, ["compare", *paths, *limits])
    assert exit_code(done) == 2
    assert "CycleCount" in str(done.exception)
    same = CliRunner().invoke(app, ["compare", paths[1], paths[1], *limits])
    assert "CycleCount" in same.output
