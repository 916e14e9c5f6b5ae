# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The pictures: that they hold the result's numbers, say their units and where they come from, can
be read without colour, and are the same bytes for the same result. And the verb `list`.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs
from typer.testing import CliRunner

from tockmark import paths
from tockmark.cli import draw
from tockmark.cli.app import app
from tockmark.compare import sweeps
from tockmark.errors import TockmarkError
from tockmark.result import file
from tockmark.result.model import Result, ratio
from tockmark.show import listing
from tockmark.show.table import Named
from tockmark.site import pictures as figures
from tockmark.site import plot
from tockmark.suite import catalogue
from tockmark.suite.catalogue import row_key
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


@pytest.mark.parametrize("name", ALONE)
def test_lines_are_told_apart_without_colour(name: str, named: list[Named]) -> None:
    for axes in figures.draw(named, [name])[name].panels:
        styles = [
            (
                line.get_marker(),
                line.get_linestyle(),
                str(line._dash_pattern),  # type: ignore[attr-defined]
                line.get_markerfacecolor() == "white",
            )
            for line in axes.get_lines()
            if not str(line.get_label()).startswith("_")
        ]
        assert len(set(styles)) == len(styles)


@pytest.mark.parametrize(
    "name", sorted({*figures.FIGURES} - {*figures.SEVERAL, "distributions", "layouts"})
)
def test_a_line_looks_the_same_in_every_panel(name: str, named: list[Named]) -> None:
    old = named[0].result
    gone = {"loop.align", "mem.copy_asm", "icache.nops"}  # so that its other lines come first
    rows = tuple(row for row in old.rows if row.id not in gone or row.icache is False)
    mixed = replace(old, rows=rows)
    looks: dict[str, set[tuple[object, object]]] = {}
    for one in ([named[1], Named("mixed", mixed)], [Named("mixed", mixed), named[1]]):
        sheet = figures.draw(one, [name])[name]
        for axes in sheet.panels:
            for line in axes.get_lines():
                if not str(line.get_label()).startswith("_"):
                    looks.setdefault(str(line.get_label()), set()).add(
                        (line.get_marker(), line.get_color())
                    )
        assert looks
        assert all(len(look) == 1 for look in looks.values()), looks
        looks.clear()


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


def test_bandwidth_is_bytes_by_net_cycles(new: Result) -> None:
    sheet = figures.draw([Named("new", new)], ["memory-bandwidth"])["memory-bandwidth"]
    line = sheet.grid[0][0].get_lines()[0]  # mem.copy_asm with the cache on
    row = next(r for r in new.rows if r.label == "mem.copy_asm size=4096")
    assert row.net
    at = values(line.get_xdata()).index(4096)
    assert values(line.get_ydata())[at] == 4096 / row.net


def test_a_wrong_row_is_not_drawn(new: Result) -> None:
    wrong = replace(
        new,
        rows=tuple(
            structs.replace(row, faults=("torn",)) if row.label == "call.args n=5" else row
            for row in new.rows
        ),
    )
    sheet = figures.draw([Named("wrong", wrong)], ["procedure-calls"])["procedure-calls"]
    assert [5 in values(line.get_xdata()) for line in sheet.panels[0].get_lines()] == [False] * 2


def test_pictures_without_rows_are_left_out(new: Result) -> None:
    bare = replace(new, rows=tuple(row for row in new.rows if row.id == "syscall.command"))
    assert not figures.draw([Named("bare", bare)])
    both = [Named("bare", bare), Named("new", new)]
    assert "before-after" in figures.draw(both)


def test_the_paper_can_be_drawn() -> None:
    paper = file.load(paths.RESULTS / "paper-2021.json")
    sheets = figures.draw([Named("study", paper)])
    assert set(sheets) == {"procedure-calls", "memory-bandwidth"}


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
    assert "did you mean sweeps?" in str(wrong.exception)
    some = runner.invoke(app, [*only, "sweeps,procedure-calls", "--only", "call.args"])
    assert (some.exit_code, "no rows for the picture 'sweeps'" in some.output) == (1, True)
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


def test_what_wants_two_results_says_so(new: Result, tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_text(file.text(new))
    with pytest.raises(TockmarkError, match=r"no rows that make a picture; give two results$"):
        draw.site_verb([path], tmp_path, picture="before-after")


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


def test_the_kernels_cost_what_the_table_says() -> None:
    named = committed("baseline-cw310", "tock-2.2-cw310")
    (axes,) = figures.draw(named, ["kernels"])["kernels"].panels
    names = [label.get_text() for label in axes.get_yticklabels()]
    base, new = (one.result.column(True, "c")[row_key("syscall.command", {})] for one in named)
    for line, row in zip(axes.get_lines(), (base, new), strict=True):
        at = values(line.get_ydata()).index(len(names) - names.index("command"))
        assert values(line.get_xdata())[at] == row.per_op
    times = ratio(base, new)
    assert times
    assert f"{times:.2f}" in [told.get_text().strip() for told in axes.texts]


def test_ratios_are_sorted_and_those_near_one_counted() -> None:
    named = committed("baseline-cw310", "tock-2.2-cw310")
    (axes,) = figures.draw(named, ["before-after"])["before-after"].panels
    ids = [label.get_text() for label in axes.get_yticklabels()]
    means = [
        values(line.get_xdata())[0] for line in axes.get_lines() if line.get_label() == "_mean"
    ]
    assert ids.index("irq.entry") < ids.index("ipc.share")
    pairs = [(a * b) ** 0.5 for a, b in zip(means[::2], means[1::2], strict=True)]
    assert [round(one, 9) for one in pairs] == sorted(round(one, 9) for one in pairs)
    assert "loop.empty" not in ids
    assert "within 1 % of 1 are not drawn" in axes.get_xlabel()
    before, after = (one.result.column(True, "c")[row_key("ipc.share", {})] for one in named)
    assert any(mean == pytest.approx(ratio(before, after)) for mean in means)


def test_a_bar_is_the_range_over_layouts() -> None:
    (one,) = named = committed("links/tock-2.2")
    axes = figures.draw(named, ["layouts"])["layouts"].panels[0]
    row = one.result.column(True, "c")[row_key("syscall.command", {})]
    assert row.cycles
    assert row.net
    bar: Any = axes.patches[0]  # of the first row of the screen
    ends = [100 * (net / row.net - 1) for net in (min(row.cycles.nets), max(row.cycles.nets))]
    assert [bar.get_x(), bar.get_x() + bar.get_width()] == pytest.approx(ends)
    assert axes.texts[0].get_text().strip() == f"{row.per_op:.1f}".removesuffix(".0")


def test_one_benchmark_is_drawn_alone(named: list[Named]) -> None:
    assert set(figures.of_benchmark(named, "ipc.bandwidth")) == {"sweeps"}
    assert set(figures.of_benchmark(named, "call.args")) == {"procedure-calls"}
    assert set(figures.of_benchmark(named, "sched.alarm_lateness")) == {"distributions"}
    assert figures.of_benchmark(named, "no.such") == {}
    assert figures.of_benchmark(committed("links/tock-2.2"), "ipc.share") == {}


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


def test_no_row_exceeds_the_limit_that_is_drawn() -> None:
    """On the machine whose memory system has it, in every committed run of the whole suite."""
    seen = 0
    for path in paths.RESULTS.glob("*-cw310.json"):
        for row in file.load(path).table.values():
            kind = next((k for k, ids in figures.MEMORY.items() if row.id in ids), None)
            size = row.params.get("size")
            if kind and row.per_op and isinstance(size, int) and size >= sweeps.FROM:
                seen += 1
                assert size / row.per_op < figures.ram_limit(kind), (path.stem, row.key)
    assert seen > 100
