# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A new type of target needs one module and its name in KINDS; a new board needs one profile."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from tockmark import target
from tockmark.base import paths
from tockmark.base.errors import OK, UNUSABLE
from tockmark.cli.app import app
from tockmark.result import file
from tockmark.target import board as boards
from tockmark.tests.of_samples import exit_code

# The simulator again, as a target with only the required functions.
KIND = """
import subprocess
from pathlib import Path

import msgspec

from tockmark.target.protocol import Ability, target_fields
from tockmark.wire.captured import Ending


class Target(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    program: Path
    icache: bool = True
    can = frozenset({Ability.CYCLES, Ability.PARALLEL})

    def check_ready(self):
        pass

    def configured(self, options):
        return msgspec.structs.replace(self, **target_fields(options, {}, "plain"))

    def key(self, start):
        return None

    def start(self, start):
        return Session([self.program, "--flash", start.flash, "--uart", "-", "--icache", "on"])

    def provenance(self, clock_hz):
        return {}


class Session:
    cycles = 0

    def __init__(self, command):
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        self.process = subprocess.Popen(command, encoding="latin-1", **pipes)

    def lines(self):
        yield from map(str.rstrip, self.process.stdout)

    def stop(self):
        self.process.terminate()

    def ending(self):
        return Ending(None if self.process.wait() == 0 else "it broke")
"""
TARGET = '[target]\nkind = "plain"\nprogram = "build/sim/cw310/earlgrey-sim"\n\n'


@pytest.fixture
def plain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Add the board `plain`, with this target."""
    (tmp_path / "plain.py").write_text(KIND)
    old = (paths.BOARDS / "earlgrey-sim.toml").read_text().replace("earlgrey-sim", "plain", 2)
    before, _, after = old.partition("[target]")
    profile = before + TARGET + after[after.index("[memory]") :]
    (tmp_path / "plain.toml").write_text(profile)
    monkeypatch.setattr(paths, "BOARDS", tmp_path)
    monkeypatch.setattr(boards, "KINDS", (*boards.KINDS, "plain"))
    monkeypatch.setattr(target, "__path__", [str(tmp_path), *target.__path__])


@pytest.mark.usefixtures("plain")
def test_a_new_target_makes_images_runs_and_refuses_to_profile(tmp_path: Path) -> None:
    def run(*words: str, code: int = OK) -> str:
        done = CliRunner().invoke(app, words)
        assert exit_code(done) == code, done.output
        return str(done.exception)

    out, images = str(tmp_path / "out.json"), str(tmp_path / "images")
    run("run", "--board", "plain", "--only", "time,irq.entry", "-o", out)
    measured = file.load(Path(out))
    assert measured.provenance.board.name == "plain"
    assert {"time.read", "time.reading"} <= {row.id for row in measured.rows}
    assert {row.id for row in measured.skipped} == {"irq.entry"}
    run("board", "image", "time", "--board", "plain", "-o", images)
    run("run", "--images", images, "--only", "time", "-o", out)
    run("board", "run-tab", f"{images}/c/time.0.tab", "--board", "plain")
    message = run("profile", "time.read", "--board", "plain", code=UNUSABLE)
    assert "plain cannot profile" in message
