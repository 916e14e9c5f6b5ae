# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The committed results: what their logs give, in the history, and short. That they follow the
published schema is test_docs.py's."""

from pathlib import Path

import pytest

from tockmark.compare import history
from tockmark.log.protocol import decode
from tockmark.log.rows import assemble
from tockmark.paths import RESULTS
from tockmark.result import file
from tockmark.result.build import Context, Expected, build
from tockmark.result.model import Result
from tockmark.suite.catalogue import ICACHE, load
from tockmark.tests.conftest import NO_RESULTS, committed

LOGS = committed(".log")
JSON = committed(".json")
FILES = [path for path in JSON if path.parent == RESULTS and path.stem not in NO_RESULTS]
LINKS = [path for path in JSON if path.parent == RESULTS / "links"]  # without logs: too long
CALLS = [path for path in JSON if path.parent == RESULTS / "rust"]  # likewise
MOST_LINES = 1_500
MOST_BYTES = 9_500_000


def name(path: Path) -> str:
    return path.stem


def rebuilt(log: Path, committed: Result) -> Result:
    """What the log gives in the context of the committed result.

    The boots that the result has and the log has not are those that the kernel panicked, and the
    catalogue says why."""
    known = load()
    measured = assemble(decode(log.read_bytes().decode("latin-1").split("\n")))
    said = {(boot.of(app), boot.icache, app.lang) for boot, app in measured.each()}
    boots = {boot.name: boot for boot in known.boots()}
    provenance = committed.provenance
    only = {(boot.of(app), boot.icache, app.lang): app.only for boot, app in measured.each()}
    expected = [
        Expected(
            known.of_only(boots[run.boot], only.get((run.boot, on, run.lang), 0)),
            on,
            None if (run.boot, on, run.lang) in said else boots[run.boot].panics,
            run.lang,
        )
        for run in provenance.boots
        for on in (True, False)
        if ICACHE[on] in run.cycles and run.boot in boots  # else of an earlier catalogue
    ]
    context = Context(provenance.kernel, provenance.board, provenance.abi, provenance.boots)
    return build(measured, known, context, expected)


@pytest.mark.parametrize("log", LOGS, ids=name)
def test_a_committed_result_is_what_its_log_gives(log: Path) -> None:
    committed = file.load(log.with_suffix(".json"))
    again = rebuilt(log, committed)
    # An older run with --short leaves out rows that its boots measure all the same.
    own = {row.identity for row in committed.rows} | {gone.identity for gone in committed.skipped}
    assert tuple(row for row in again.rows if row.identity in own) == committed.rows
    skipped = {repr(gone) for gone in again.skipped if gone.identity in own}
    assert skipped == set(map(repr, committed.skipped))
    assert again.failed == committed.failed
    assert again.missing == committed.missing
    assert again.problems == committed.problems
    assert again.provenance.apps == committed.provenance.apps
    assert len(again.rows) > 100


def test_every_run_of_our_kernel_has_its_log() -> None:
    """Those of Tock, which no one can repeat by one command, would be too long with theirs."""
    ours = {path.stem for path in FILES if file.load(path).provenance.kernel.is_baseline}
    assert {path.stem for path in LOGS} == ours


@pytest.mark.parametrize("path", LINKS, ids=name)
def test_a_result_of_several_links_is_whole(path: Path) -> None:
    result = file.load(path)
    assert result.links == result.layouts >= 4
    assert not result.incomplete


@pytest.mark.parametrize("path", [*FILES, *LINKS, *CALLS], ids=name)
def test_a_committed_result_is_written_as_the_tool_writes(path: Path) -> None:
    assert file.text(file.load(path)) == path.read_text(encoding="utf-8")


def test_the_history_has_every_committed_result() -> None:
    runs, problems = history.load(RESULTS / "history.jsonl")
    assert not problems
    for path in FILES:
        assert history.run_of(file.load(path)) in runs, path.name
    assert [run.date for run in runs] == sorted(run.date for run in runs)


@pytest.mark.parametrize("path", JSON, ids=name)
def test_a_json_file_can_be_read_by_people(path: Path) -> None:
    assert path.read_text(encoding="utf-8").count("\n") <= MOST_LINES


def test_the_results_are_no_burden() -> None:
    sizes = {path: path.stat().st_size for path in committed("")}
    assert sum(sizes.values()) < MOST_BYTES, sorted(sizes.items(), key=lambda item: -item[1])[:5]
