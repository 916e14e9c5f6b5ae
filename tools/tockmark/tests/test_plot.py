# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The pictures: that they hold the result's numbers, say their units and where they come from, can
be read without colour, and are the same bytes for the same result. And the verb `list`.
"""

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tockmark.base import paths
from tockmark.base.errors import TockmarkError
from tockmark.cli.app import app
from tockmark.compare import sweeps
from tockmark.result import file
from tockmark.result.model import Result
from tockmark.show import listing
from tockmark.show.table import Named
from tockmark.site import pictures as figures
from tockmark.site import plot
from tockmark.suite import catalogue
from tockmark.tests import made

ALONE = sorted({*figures.FIGURES} - {"layouts"})  # what a result of one layout can make


@pytest.fixture(scope="module")
def new() -> Result:
    return made.result(catalogue.load())


@pytest.fixture(scope="module")
def named(new: Result) -> list[Named]:
    return [Named("old", made.result(catalogue.load(), 1.2)), Named("new", new)]


def values(data: Any) -> list[float]:
    return [float(value) for value in data]


@pytest.mark.parametrize("name", ALONE)
def test_a_picture_says_its_units_and_where_it_comes_from(name: str, named: list[Named]) -> None:
    sheet = figures.draw(named, [name])[name]
    svg = plot.rendered(sheet.figure, "svg").decode()
    for one in named:
        assert f"{one.name}: {one.result.provenance.line}" in svg
    for axes in (panel for panel in sheet.panels if panel.axison):
        labelled = [axes.get_xlabel(), axes.get_ylabel()]
        if name == "memory-bandwidth":  # panels of one row and one column share their scales
            labelled = [sheet.grid[-1][0].get_xlabel(), sheet.grid[0][0].get_ylabel()]
        if name == "instruction-cache":
            labelled[1] = sheet.panels[0].get_ylabel()
        if name == "sweeps":
            labelled[1] = sheet.grid[0][0].get_ylabel()
        if name in ("before-after", "kernels"):  # the names of the rows stand there
            labelled[1] = axes.get_yticklabels()[0].get_text()
        assert all(labelled)


def test_the_same_result_makes_the_same_bytes(named: list[Named]) -> None:
    once, again = (
        {name: plot.rendered(sheet.figure, "svg") for name, sheet in figures.draw(named).items()}
        for _ in range(2)
    )
    assert once.keys() == {*ALONE}
    assert once == again
    assert not any(b"<dc:date>" in svg for svg in once.values())


def test_a_line_holds_the_numbers_of_the_result(new: Result) -> None:
    (axes,) = figures.draw([Named("new", new)], ["procedure-calls"])["procedure-calls"].panels
    on, off = axes.get_lines()
    assert values(on.get_xdata()) == list(range(1, 11))
    for line, icache in ((on, True), (off, False)):
        nets = [
            row.net for row in new.table.values() if row.id == "call.args" and row.icache is icache
        ]
        assert values(line.get_ydata()) == nets


def test_the_verb_writes_one_file_a_picture(tmp_path: Path, new: Result) -> None:
    stored = tmp_path / "new.json"
    stored.write_text(file.text(new), encoding="utf-8")
    runner = CliRunner()
    done = runner.invoke(
        app, ["site", "--picture", "all", str(stored), "-o", str(tmp_path), "--format", "png"]
    )
    assert done.exit_code == 0, done.output
    names = {path.stem for path in tmp_path.glob("*.png")}
    assert names == {*ALONE} - {*figures.SEVERAL}
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in tmp_path.glob("*.png"))
    only = ["site", "--picture", "all", str(stored), "-o", str(tmp_path / "one"), "--picture"]
    assert runner.invoke(app, [*only, "sweeps, before-after"]).exit_code == 1
    assert [path.name for path in (tmp_path / "one").iterdir()] == ["sweeps.svg"]
    wrong = runner.invoke(app, [*only, "sweep"])
    assert isinstance(wrong.exception, TockmarkError)
    assert "sweeps?" in str(wrong.exception)
    some = runner.invoke(app, [*only, "sweeps,procedure-calls", "--only", "call.args"])
    assert (some.exit_code, "'sweeps'" in some.output) == (1, True)
    twice = runner.invoke(
        app, ["site", "--picture", "all", str(stored), str(stored), "-o", str(tmp_path)]
    )
    assert "given twice" in str(twice.exception)
    nowhere = runner.invoke(
        app, ["site", "--picture", "all", str(stored), "-o", str(stored / "under a file")]
    )
    assert isinstance(nowhere.exception, TockmarkError)
    assert "cannot write" in str(nowhere.exception)


def test_the_verb_lists_the_suite() -> None:
    done = CliRunner().invoke(app, ["list"])
    assert done.exit_code == 0
    known = catalogue.load()
    assert done.output == listing.list_text(known, known.benchmarks)


def committed(*names: str) -> list[Named]:
    return [Named(name, file.load(paths.RESULTS / f"{name}.json").leading) for name in names]


def test_a_distribution_marks_the_median_of_the_table() -> None:
    named = committed("tock-2.2-cw310", "tock-master-cw310")
    sheet = figures.draw(named, ["distributions"])["distributions"]
    titles = [axes.get_title() for axes in sheet.panels]
    axes = sheet.panels[titles.index("irq.upcall, i-cache on")]
    marks = [line for line in axes.get_lines() if not str(line.get_label()).startswith("_")]
    rows = [
        row
        for one in named
        for row in one.result.table.values()
        if row.id == "irq.upcall" and row.icache
    ]
    assert [values(line.get_xdata()) for line in marks] == [[row.us] for row in rows]
    assert len({str(line.get_label()) for line in marks}) == len(rows) == 4


def test_the_lines_through_sweeps_are_those_of_fit(named: list[Named]) -> None:
    """In the same numbers; a sweep that is no line has none."""
    (one, *_) = named
    panels = {axes.get_title(): axes for axes in figures.draw([one], ["sweeps"])["sweeps"].panels}
    found = [
        sweep for sweep in sweeps.sweeps(one.result, catalogue.load()) if sweep.label in panels
    ]
    assert found
    for sweep in found:
        words = " ".join(text.get_text() for text in panels[sweep.label].texts)
        through = sweep.line
        at_held_out = through.intercept + through.slope * through.held_out
        off = abs(through.held_out_error) > figures.OFF * abs(at_held_out)
        assert (listing.equation(sweep) in words) is (sweep.bend is None and not off), sweep
