# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Screens fit into 60, 80 and 120 columns, and their first and last lines say what matters most."""

import csv
import io
import os
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

import msgspec
import pytest
from typer.testing import CliRunner

from tockmark.base import paths
from tockmark.base.errors import TockmarkError
from tockmark.cli import measure
from tockmark.cli.app import PROGRAM, app
from tockmark.compare import pairs
from tockmark.compare.limits import load_limits, load_margins
from tockmark.compare.spread import committed_spread
from tockmark.compare.sweeps import sweeps
from tockmark.compare.verdict import Judgement, judge_comparison
from tockmark.latency import report as latency
from tockmark.profile import file as profiles
from tockmark.profile.diff import diff_profiles, diff_text
from tockmark.result import file
from tockmark.result.model import Result
from tockmark.show import comparison, listing, table, text
from tockmark.show.judgement import first_line, headline, next_steps
from tockmark.suite import catalogue as catalogues
from tockmark.suite.selection import LABELS, select
from tockmark.trees.patch import tock_release

KNOWN = catalogues.load()
NAMES = "tock-2.2-cw310", "tock-master-cw310", "baseline-cw310"
ROWS = "syscall,ipc,loop"
WAITS = paths.ROOT / "lab" / "data" / "latency" / "baseline-on.json"


@cache
def named() -> list[tuple[str, Result]]:
    return [
        (name, file.load(paths.RESULTS / f"{name}.json").only(select(KNOWN, ROWS)))
        for name in NAMES
    ]


@cache
def compared(base: int, new: int, limits: bool = False) -> tuple[pairs.Comparison, Judgement]:
    (_, before), (name, after) = named()[base], named()[new]
    margins, spread = load_margins(None, KNOWN, []), committed_spread(before)
    pair = pairs.compare(before, after, name, KNOWN, margins, spread)
    return pair, judge_comparison(pair, load_limits(None, KNOWN, []) if limits else None)


def diff() -> str:
    sides = (
        profiles.load(paths.RESULTS / "profiles" / f"tock-{name}-z" / "syscall.command-on.json")
        for name in ("2.2", "master")
    )
    return diff_text(diff_profiles(*sides))


SCREENS: dict[str, Callable[[], str]] = {
    "first": lambda: table.first_screen(named(), KNOWN),
    "one": lambda: table.every_row(named()[2][1], KNOWN),
    "events": lambda: table.event_counts(named()[2][1], KNOWN),
    "several": lambda: table.side_by_side(named(), KNOWN),
    "compare": lambda: comparison.compare_text(named()[:2], [compared(0, 1)]),
    "all": lambda: comparison.compare_text(named()[:2], [compared(0, 1)], every=True),
    "limits": lambda: comparison.judged_text(NAMES[0], [compared(0, 1, True)], every=False),
    "list": lambda: listing.list_text(KNOWN, KNOWN.benchmarks),
    "list ipc": lambda: listing.list_text(KNOWN, select(KNOWN, "ipc").ids()),
    "fit": lambda: listing.fit_text(sweeps(named()[2][1], KNOWN)),
    "profile --diff": diff,
    "latency": lambda: latency.format_report(latency.load(WAITS)),
}


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("name", SCREENS)
def test_no_line_is_wider_than_the_terminal(
    name: str, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text, "_columns", width)
    lines = text.fold(SCREENS[name]()).splitlines()
    assert [line for line in lines if len(line) > width and " " in line.strip()] == []
    assert len(lines) > 5


def test_a_narrow_table_names_what_it_omits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "_columns", 60)
    made = text.Table(
        [text.TableColumn("", 0, 0, left=True), *text.figures({"a": 9, "b": 9}, spare=("a",))]
    )
    made.add("x" * 60, "1", "2")
    assert made.text()[0].split() == ["a", "b"]
    made = text.Table([*made.columns, text.TableColumn("c", 25)])
    made.add("x" * 60, "1", "2", "3")
    assert made.text()[0].split() == ["a", "b", "c"]
    made.add("x", "1" * 9, "2" * 9, "3" * 25)
    lines = made.text()
    assert lines[0].split() == ["b", "c"]
    assert lines[-1] == "(60 columns: without a)"


def test_a_name_that_does_not_fit_is_whole_and_its_figures_are_on_the_next_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(text, "_columns", 60)
    made = text.Table([text.TableColumn(left=True), *text.figures({"a": 30})])
    made.add("short", "1" * 30)
    made.add("a name of thirty-two characters!", "2" * 30)
    *_, short, name, behind = made.text()
    assert short.split() == ["short", "1" * 30]
    assert (name, behind.strip()) == ("a name of thirty-two characters!", "2" * 30)
    assert len(short) == len(behind) <= 60
    made = text.Table([*text.figures({"a": 30}), text.TableColumn(gap=2, left=True)])
    made.add("3" * 30, "two words of a name that continues")
    first, second = made.text()[-2:]
    assert second.index("continues") == first.index("two")


def test_folded_lines_continue_below_their_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "_columns", 60)
    folded = text.fold(f"kernel  {'word ' * 20}\nshort\n").splitlines()
    assert folded[1].startswith("        word")
    assert folded[-1] == "short"


def test_compare_and_list_fit_on_a_few_screens() -> None:
    whole = file.load(paths.RESULTS / f"{NAMES[2]}.json")
    pair = pairs.compare(
        whole, whole, "b", KNOWN, load_margins(None, KNOWN, []), committed_spread(whole)
    )
    lines = comparison.compare_text([("a", whole), ("b", whole)], [(pair, judge_comparison(pair))])
    assert len(lines.splitlines()) < 80 < len(pair.pairs)
    shown = listing.list_text(KNOWN, KNOWN.benchmarks)
    rows = [line.split() for line in shown.splitlines()[1:] if line.startswith("  ")]
    assert sorted(words[0] for words in rows) == sorted(KNOWN.benchmarks)
    assert all(label in shown for label in LABELS if LABELS[label].count(":") == 0)


# The order of files, ratios and means.


def csv_rows(*named_results: tuple[str, Result]) -> list[list[str]]:
    shown = table.first_screen(named_results, KNOWN, form=text.Form.CSV)
    return list(csv.reader(io.StringIO(shown)))


def test_results_stay_in_order_and_ratios_are_to_the_first() -> None:
    tock, master, baseline = named()
    for first, second in ((tock, master), (master, tock)):
        heads, *rows = csv_rows(first, second)
        assert heads[2] == f"{table.short_names([first, second], 20)[0]} cycles"
        (row,) = (row for row in rows if row[1] == "command")
        figures = [float(row[heads.index(head)]) for head in heads if "cycles" in head]
        assert float(row[-1]) == pytest.approx(figures[1] / figures[0], abs=0.006)
    assert csv_rows(baseline, tock)[0][2] == "baseline (3) cycles"


def test_a_kernel_with_another_opt_level_has_neither_ratio_nor_mean() -> None:
    tock, _, baseline = named()
    assert table.unlike(tock[1], baseline[1]) == "kernel and opt-level"
    assert not [head for head in csv_rows(tock, baseline)[0] if "ratio" in head]
    shown = table.first_screen([tock, baseline], KNOWN)
    assert "Geometric mean" not in shown
    compared_ = comparison.totals_lines(*compared(0, 2))
    assert [line for line in compared_ if "geometric mean" in line] == [
        "no geometric mean: other kernel and opt-level"
    ]
    assert "kernel and opt-level" in " ".join(shown.split())
    lines = table.side_by_side([tock, baseline], KNOWN).splitlines()
    (row, *_) = (line.split() for line in lines if line.startswith("syscall.command "))
    assert row[-1] == text.NONE


@pytest.mark.parametrize("other", ["paper-2021", "baseline-v1-cw310"])
def test_there_is_no_ratio_to_another_machine_or_interface_version(other: str) -> None:
    assert table.unlike(named()[2][1], file.load(paths.RESULTS / f"{other}.json"))


def test_tables_have_the_same_figures_in_every_format() -> None:
    heads, *rows = csv_rows(*named()[:2])
    assert {len(row) for row in rows} == {len(heads)}
    shown = table.first_screen(named()[:2], KNOWN, form=text.Form.MARKDOWN).splitlines()
    cells = [
        [cell.strip() for cell in line.strip("| ").split(" | ")]
        for line in shown
        if line.startswith("|   command |")
    ]
    assert cells == [row[1:] for row in rows if row[1] == "command"]
    whole = table.every_row(named()[2][1], KNOWN, text.Form.CSV).splitlines()
    assert sum(line.startswith("section,") for line in whole) == 1


def test_run_shows_every_language_that_was_selected() -> None:
    both = file.load(paths.RESULTS / f"{NAMES[2]}.json")
    wanted = select(KNOWN, "syscall.command")
    shown = measure._screen([("r", both.only(wanted))], KNOWN, wanted, every=False)
    assert {"C", "Rust"} <= set(shown.split())


# First lines and next steps.


def test_the_first_line_says_how_few_rows_are_in_common() -> None:
    _, base = named()[2]
    new = base.only(select(KNOWN, "syscall.command icache=off"))
    pair = pairs.compare(
        base, new, "b", KNOWN, load_margins(None, KNOWN, []), committed_spread(base)
    )
    judgement = judge_comparison(pair)
    count = len(judgement.rows)
    common = len(pair.pairs)
    assert common < count
    assert f"only {common} of {count} rows in common" in headline(judgement)


def test_the_first_line_says_that_a_result_is_incomplete_or_the_same_kernel() -> None:
    _, base = named()[2]
    broken = replace(base, problems=("interrupted",))
    margins, spread = load_margins(None, KNOWN, []), committed_spread(base)
    judgement = judge_comparison(pairs.compare(base, broken, "b.json", KNOWN, margins, spread))
    first = headline(judgement)
    assert first.startswith("both sides are the same kernel; b.json is incomplete; ")
    assert first in first_line(judgement)
    assert "incomplete" not in headline(compared(0, 1)[1])


def test_a_judgement_ends_with_a_next_step() -> None:
    _, judgement = compared(0, 1, limits=True)
    steps = next_steps(judgement, "measure more")
    assert f"exit code {judgement.exit_code}" in steps
    worst = judgement.rows[0]
    assert worst.is_news
    assert worst.row.name in steps
    doubtful = sum(row.in_doubt for row in judgement.rows)
    assert (f"{text.counted(doubtful)} in doubt, measure more" in steps) == bool(doubtful)
    same = judge_comparison(compared(0, 0, limits=True)[0], load_limits(None, KNOWN, []))
    assert "look first" not in next_steps(same, "")


# Mistakes of a new user.


def test_rows_that_a_result_lacks_are_an_error(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_text(file.text(named()[2][1].only(select(KNOWN, "syscall.command"))))
    done = CliRunner().invoke(app, ["table", str(path), "--only", "ipc"])
    assert isinstance(done.exception, TockmarkError)


def test_a_redirected_output_that_is_also_written_by_o_is_an_error(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with capfd.disabled():
        log = tmp_path / "x.log"
        with log.open("w") as stream, pytest.MonkeyPatch.context() as patch:
            patch.setattr(os, "fstat", lambda number: log.stat())
            assert stream
            with pytest.raises(TockmarkError, match="output"):
                measure._check_output(tmp_path / "x.json", None)


def test_a_result_that_another_run_wrote_meanwhile_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    before = measure._check_output(path, None)
    assert measure._free(path, before) == path
    path.write_text("another run's")
    assert measure._free(path, before) == tmp_path / "x-2.json"


def test_our_own_checkout_is_not_tock() -> None:
    assert tock_release(paths.ROOT) is None


@pytest.mark.parametrize("verb", PROGRAM.verbs)
def test_an_option_has_one_default_and_is_not_also_required(verb: str) -> None:
    shown = CliRunner().invoke(app, [*PROGRAM.full_name(verb).split(), "--help"]).output
    for entry in "".join(
        f"\0{line}" if line.startswith("  -") else line for line in shown.splitlines()
    ).split("\0"):
        assert entry.count("(default:") + entry.count("; default:") <= 1, entry
        assert not ("default:" in entry and "required" in entry), entry


def test_the_run_says_when_it_is_the_committed_one() -> None:
    baseline = file.load(paths.RESULTS / f"{NAMES[2]}.json")
    assert "same" in measure._committed_text(baseline, "cw310")
    row = [*baseline.table.values()][3]
    changed = msgspec.structs.replace(row, samples=())
    rows = tuple(changed if other is row else other for other in baseline.rows)
    assert ": 1 of" in measure._committed_text(replace(baseline, rows=rows), "cw310")
    assert measure._committed_text(named()[0][1], "cw310") == ""
