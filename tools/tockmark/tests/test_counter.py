# SPDX-License-Identifier: Apache-2.0 OR MIT
"""What reads the counters: apps say it, a result keeps it, and figures of two kinds are not taken
for one kind. CycleCount counts no instructions, and no row has any then.
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

SAID: dict[CounterName, str] = {
    "perf": "perf=0x90010",
    "cyclecount": "cyclecount=0x90008",
    "csr": "csr=user",
}


def log(begin_values: str, instret: bool, app: str = "loop") -> list[str]:
    """What an app prints of a row with passes."""
    records = [f"begin proto=1 apps=1 {begin_values}"]
    for row, cycles in (("time.read inner=1", 300), (f"{app}.empty inner=1000", 12300)):
        records.append(f"bench {row} n=9 passes=1")
        for series in ("", "short_", "long_"):
            records.append(f"data {series}cycles {cycles}*9")
            records += [f"data {series}instret {cycles // 3}*9"] * instret
    return encoded(app, [*records, "end ok"])


def result(catalogue: Catalogue, counter: CounterName) -> Result:
    result = of_log(log(SAID[counter], counter != "cyclecount"), catalogue)
    return with_provenance(result, board=SIMULATED, counter=counter)


@pytest.mark.parametrize("counter", COUNTERS)
def test_apps_say_what_they_read(counter: CounterName, catalogue: Catalogue) -> None:
    result = of_log(log(SAID[counter], counter != "cyclecount"), catalogue)
    assert result.provenance.counter == counter
    assert not result.problems
    (row,) = (row for row in result.table.values() if row.id == "loop.empty")
    assert row.net == 0  # slopes of equal samples
    assert (row.instructions is None) == (counter == "cyclecount")
    assert row.missing_series == []


def test_old_apps_say_nothing_and_read_perf(catalogue: Catalogue) -> None:
    result = of_log(log("", True), catalogue)
    assert result.provenance.counter == "perf"
    assert "counter" not in file.text(result)


def test_a_row_without_instructions_is_not_whole_where_they_are_counted(
    catalogue: Catalogue,
) -> None:
    result = of_log(log(SAID["perf"], False), catalogue)
    assert any("loop.empty" in problem for problem in result.problems)


def test_apps_that_read_by_different_means_are_a_problem(catalogue: Catalogue) -> None:
    lines = [*log(SAID["perf"], True), *log(SAID["cyclecount"], False, "call")]
    assert "cyclecount" in of_log(lines, catalogue).problems[0]


def test_the_file_keeps_it(tmp_path: Path, catalogue: Catalogue) -> None:
    path = tmp_path / "r.json"
    path.write_text(file.text(result(catalogue, "cyclecount")))
    again = file.load(path)
    assert again.provenance.counter == "cyclecount"
    assert {row.counter for row in again.rows} == {"cyclecount"}


def test_headings_name_it_and_instructions_are_a_dash(catalogue: Catalogue) -> None:
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
