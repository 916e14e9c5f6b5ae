# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The output files of `run` and `parse`, which are checked before anything runs."""

import signal
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tockmark.base.errors import OK, UNUSABLE
from tockmark.cli import measure, run_options
from tockmark.cli.app import app
from tockmark.show import table
from tockmark.suite.catalogue import Catalogue
from tockmark.suite.selection import Selection
from tockmark.target import run
from tockmark.target.kernel import KernelElf
from tockmark.target.results import build_result
from tockmark.tests import stand_in
from tockmark.tests.conftest import RECORDS, encoded
from tockmark.tests.of_samples import exit_code

HISTORY = '{"format":"tockmark-history"}'
LOG = "".join(f"{line}\n" for line in encoded("time", RECORDS["time"]))


@pytest.fixture
def ran(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, catalogue: Catalogue) -> list[object]:
    """Run `tockmark run` on a stand-in for the simulator, and return the list of requested runs."""
    asked: list[object] = []
    options = stand_in.options(tmp_path, monkeypatch, catalogue)
    whole, name = run.run, stand_in.NAME

    def made(ran_: run.FinishedRun, *_: object) -> object:
        return build_result(ran_, options, Selection(catalogue))

    def started(given: run.RunOptions) -> run.FinishedRun:
        asked.append(given)
        return whole(options)

    monkeypatch.setattr(run, "run", started)
    monkeypatch.setattr(measure, "build_result", made)
    monkeypatch.setattr(
        run_options, "read_kernel", lambda path: KernelElf(path, name, "d" * 64, None, ())
    )
    monkeypatch.setattr(measure, "run_layouts", lambda *_: options.layouts)
    return asked


@pytest.mark.parametrize(
    ("existing", "output", "message"),
    [
        ({}, "x.log", "x.log"),
        ({"x.json": HISTORY}, "x.json", "history"),
        ({"x.log": LOG}, "x.json", "x.log"),
        ({"x.json/y": ""}, "x.json", "x.json: it is a folder"),
    ],
)
def test_an_unwritable_output_is_refused_before_the_run(
    existing: dict[str, str], output: str, message: str, ran: list[object], tmp_path: Path
) -> None:
    for name, content in existing.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content)
    done = CliRunner().invoke(app, ["run", "-o", str(tmp_path / output)])
    assert exit_code(done) == UNUSABLE
    assert message in str(done.exception)
    assert ran == []
    assert {name: (tmp_path / name).read_text() for name in existing} == existing


def test_a_log_is_next_to_its_result_and_both_are_replaced(
    ran: list[object], tmp_path: Path
) -> None:
    for _ in range(2):
        done = CliRunner().invoke(app, ["run", "-o", str(tmp_path / "x.json")])
        assert exit_code(done) == OK
    assert len(ran) == 2
    assert (tmp_path / "x.log").read_text().startswith("#boot ")


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM])
def test_a_second_ctrl_c_loses_nothing(
    by: signal.Signals, ran: list[object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = signal.getsignal(by)
    started = run.run

    def run_(options: run.RunOptions) -> run.FinishedRun:
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(by)
        signal.raise_signal(by)
        return started(options)

    def interrupted(*_: object, **named: object) -> str:
        signal.raise_signal(by)
        return "table"

    monkeypatch.setattr(run, "run", run_)
    monkeypatch.setattr(table, "first_screen", interrupted)
    done = CliRunner().invoke(app, ["run", "-o", str(tmp_path / "x.json")])
    assert exit_code(done) == OK
    assert (tmp_path / "x.json").exists()
    assert signal.getsignal(by) is before
