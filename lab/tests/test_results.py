# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The committed results are small, and a result equals the result of its log. test_docs.py checks
them against the published schema."""

from pathlib import Path
from statistics import median

import pytest
from typer.testing import CliRunner

from tockmark.base.paths import RESULTS
from tockmark.cli.app import app
from tockmark.result import file
from tockmark.result.build import Context, Expected, build
from tockmark.result.model import Result
from tockmark.suite.catalogue import ICACHE, load
from tockmark.target import board as boards
from tockmark.target.sim import SimTarget
from tockmark.tests.conftest import committed
from tockmark.wire.boots import assemble
from tockmark.wire.records import decode

JSON = committed(".json")
FILES = [path for path in JSON if path.parent == RESULTS]
LINKS = [path for path in JSON if path.parent == RESULTS / "links"]
CALLS = [path for path in JSON if path.parent == RESULTS / "rust"]
MOST_LINES = 1_500
MOST_BYTES = 14_500_000  # keeps a clone small; suites and waits are 2 MB of it


def name(path: Path) -> str:
    return path.stem


def rebuilt(log: Path, whole: Result) -> Result:
    """Return the result that the log gives in the context of the stored result.

    Boots that only the stored result has must be those that panic the kernel by the catalogue."""
    catalogue = load()
    measured = assemble(decode(log.read_bytes().decode("latin-1").split("\n")))
    measured_boots = {(boot.name_for(app), boot.icache, app.lang) for boot, app in measured.each()}
    boots = {boot.name: boot for boot in catalogue.boots()}
    provenance = whole.provenance
    only = {(boot.name_for(app), boot.icache, app.lang): app.only for boot, app in measured.each()}
    expected = [
        Expected(
            catalogue.with_only(boots[run.boot], only.get((run.boot, on, run.lang), 0)),
            on,
            None if (run.boot, on, run.lang) in measured_boots else boots[run.boot].panics,
            run.lang,
        )
        for run in provenance.boots
        for on in (True, False)
        if ICACHE[on] in run.cycles
    ]
    context = Context(provenance.kernel, provenance.board, provenance.abi, provenance.boots)
    return build(measured, catalogue, context, expected)


def test_a_result_equals_the_result_of_its_log(tmp_path: Path) -> None:
    """A run of some boots, also with two processes, in both languages."""
    path = tmp_path / "run.json"
    only = "time,call.void,upcall,fault"
    words = ["run", "--only", only, "--lang", "c,rust", "-o", str(path)]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    result = file.load(path)
    again = rebuilt(path.with_suffix(".log"), result)
    assert again.rows == result.rows
    assert set(map(repr, again.skipped)) == set(map(repr, result.skipped))
    assert (again.failed, again.missing, again.problems) == ((), (), ())
    assert again.provenance.apps == result.provenance.apps
    assert len(again.rows) > 50


@pytest.mark.parametrize("path", LINKS, ids=name)
def test_a_result_of_several_links_is_whole(path: Path) -> None:
    result = file.load(path)
    judged = path.stem.startswith("pr-")  # further links only have rows in doubt
    assert result.links == result.layouts >= (1 if judged else 4)
    assert not result.incomplete


@pytest.mark.parametrize("path", [*FILES, *LINKS, *CALLS], ids=name)
def test_a_committed_result_has_the_tools_format(path: Path) -> None:
    assert file.text(file.load(path)) == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", JSON, ids=name)
def test_a_json_file_is_readable(path: Path) -> None:
    assert path.read_text(encoding="utf-8").count("\n") <= MOST_LINES


def test_no_boot_is_silent_until_the_simulators_limit() -> None:
    targets = [boards.load(boards.simulated_board(name)).target for name in ("cw310", "nexysvideo")]
    waits = min(target.silence_cycles for target in targets if isinstance(target, SimTarget))
    results = [file.load(path) for path in (*FILES, *CALLS)]
    boots = [run.cycles for result in results for run in result.provenance.boots]
    whole = [cycles for run in boots for cycles in run.values()]
    assert len(whole) > 200
    assert max(whole) < waits * 0.7


def test_the_results_are_small() -> None:
    sizes = {path: path.stat().st_size for path in committed("")}
    assert sum(sizes.values()) < MOST_BYTES, sorted(sizes.items(), key=lambda item: -item[1])[:5]


@pytest.mark.parametrize("icache", [True, False])
def test_the_default_link_of_the_baseline_is_typical(icache: bool) -> None:
    """In the median over the rows, the default link is within 1.5 % of the median of 16 links."""
    links = file.load(RESULTS / "opt" / "baseline-3.json")
    assert links.layouts == 16
    offsets = [
        abs(row.cycles.nets[0] / median(row.cycles.nets) - 1)
        for row in links.rows
        if row.icache is icache and row.cycles and len(row.cycles.nets) == 16
        if min(row.cycles.nets) > 100
    ]
    assert len(offsets) > 60
    assert median(offsets) < 0.015
    assert sum(offset > 0.05 for offset in offsets) < 0.1 * len(offsets)


@pytest.mark.parametrize("level", ["3", "2", "s", "z"])
def test_the_baseline_of_readme_and_findings_is_one_build(level: str) -> None:
    """The first link at each opt-level is the usual build, and no reading is wrong."""
    usual = file.load(RESULTS / "baseline-cw310.json").provenance
    links = file.load(RESULTS / "opt" / f"baseline-{level}.json")
    assert not links.uncorrected
    assert (links.provenance.kernel.sha256 == usual.kernel.sha256) is (level == "3")
    assert links.provenance.board.simulator_sha256 == usual.board.simulator_sha256
