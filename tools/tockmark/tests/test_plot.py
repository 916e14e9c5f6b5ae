# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Pictures show the result's numbers, their units and their provenance. Also the verb `list`."""

import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tockmark.base.errors import TockmarkError
from tockmark.cli.app import app
from tockmark.result import file
from tockmark.result.model import Result
from tockmark.show import listing
from tockmark.show.table import Named
from tockmark.site import pictures as figures
from tockmark.site import plot
from tockmark.suite import catalogue
from tockmark.tests import made


@pytest.fixture(scope="module")
def new() -> Result:
    return made.result(catalogue.load())


@pytest.fixture(scope="module")
def named(new: Result) -> list[Named]:
    return [Named("old", made.result(catalogue.load(), 1.2)), Named("new", new)]


def values(data: Any) -> list[float]:
    return [float(value) for value in data]


@pytest.mark.parametrize("name", sorted(figures.FIGURES))
def test_a_picture_shows_its_units_and_provenance(name: str, named: list[Named]) -> None:
    sheet = figures.draw(named, [name])[name]
    svg = plot.rendered(sheet.figure, "svg").decode()
    words = " ".join(re.findall(r">([^<]*)</text>", svg))  # long lines are wrapped
    for text in named:
        assert f"{text.name}: {text.result.provenance.line}" in words
    for axes in (panel for panel in sheet.panels if panel.axison):
        labelled = [axes.get_xlabel(), axes.get_ylabel()]
        if name == "memory-bandwidth":  # panels of one row and one column share their scales
            labelled = [sheet.grid[-1][0].get_xlabel(), sheet.grid[0][0].get_ylabel()]
        if name in ("instruction-cache", "context-switch", "sweeps"):
            labelled[1] = sheet.grid[0][0].get_ylabel()
        if name in ("before-after", "kernels"):  # this axis has the names of rows
            labelled[1] = axes.get_yticklabels()[0].get_text()
        assert all(labelled)


def test_a_line_has_the_numbers_of_the_result(new: Result) -> None:
    (axes,) = figures.draw([Named("new", new)], ["procedure-calls"])["procedure-calls"].panels
    on, off = axes.get_lines()
    assert values(on.get_xdata()) == list(range(1, 11))
    for line, icache in ((on, True), (off, False)):
        nets = [
            row.net for row in new.table.values() if row.id == "call.args" and row.icache is icache
        ]
        assert values(line.get_ydata()) == nets


def test_the_verb_writes_one_file_per_picture(tmp_path: Path, new: Result) -> None:
    stored = tmp_path / "new.json"
    stored.write_text(file.text(new), encoding="utf-8")
    runner = CliRunner()
    only = ["site", str(stored), "-o", str(tmp_path / "one"), "--picture"]
    done = runner.invoke(app, [*only, "procedure-calls,sweeps", "--format", "png"])
    assert done.exit_code == 0, done.output
    drawn = {path.stem: path for path in (tmp_path / "one").glob("*.png")}
    assert drawn.keys() == {"procedure-calls", "sweeps"}
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in drawn.values())
    assert runner.invoke(app, [*only, "sweeps, before-after"]).exit_code == 1
    assert (tmp_path / "one" / "sweeps.svg").exists()
    wrong = runner.invoke(app, [*only, "sweep"])
    assert isinstance(wrong.exception, TockmarkError)
    assert "sweeps?" in str(wrong.exception)


def test_the_verb_lists_the_suite() -> None:
    done = CliRunner().invoke(app, ["list"])
    assert done.exit_code == 0
    suite = catalogue.load()
    assert done.output == listing.list_text(suite, suite.benchmarks)
