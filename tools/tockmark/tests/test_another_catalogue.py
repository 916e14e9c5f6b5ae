# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A named catalogue: what it takes from the default one, and results that are read without it."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from tockmark.base import paths
from tockmark.base.errors import TockmarkError
from tockmark.cli.app import app
from tockmark.result import file
from tockmark.result.build import Context, build
from tockmark.result.model import catalogue_of
from tockmark.result.provenance import Board, Kernel
from tockmark.suite.catalogue import HARNESS_ROWS, Catalogue, load
from tockmark.suite.selection import Selection
from tockmark.target.image import AppBuild
from tockmark.tests.rows import app_of, stored
from tockmark.wire.boots import Measured, MeasuredBoot

MINE = """
name = "mine"
silence = 5_000_000
sections = ["My own"]

[[benchmark]]
id = "own.walk"
section = "My own"
touches = "kernel"
samples = 9
inner = 2
unit = "step"
skip_rust = "it is an app in C"
budget = 1
what = "a walk"
counts = "all of it"
"""


@pytest.fixture
def mine(tmp_path: Path) -> Catalogue:
    path = tmp_path / "mine.toml"
    path.write_text(MINE)
    catalogue = load(path)
    path.unlink()
    return catalogue


def test_the_harness_comes_from_the_default_catalogue(mine: Catalogue) -> None:
    assert set(mine.benchmarks) == {*HARNESS_ROWS, "own.walk"}
    assert mine.groups() == ["own"]
    wanted = Selection(mine)
    assert [boot.name for boot in wanted.boots("c")] == ["own"]
    assert wanted.boots("rust") == []


def test_the_name_selects_the_apps(
    mine: Catalogue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paths, "APPS", tmp_path)
    with pytest.raises(TockmarkError, match="catalogue"):
        AppBuild.built(2, catalogue=mine.name)
    (tmp_path / "mine-c-abi2-csr").mkdir()
    assert AppBuild.built(2, "c", "csr", mine.name).folder == tmp_path / "mine-c-abi2-csr"


def test_a_result_is_read_without_the_file(mine: Catalogue, tmp_path: Path) -> None:
    samples = {"cycles": [130] * 9, "instret": [40] * 9}
    rows = [
        stored("time.read", {"cycles": [100] * 9, "instret": [10] * 9}, {}, 9),
        stored("own.walk", samples, {}, 9),
    ]
    booted = MeasuredBoot("own", True, "own", {"own": app_of("own", rows, lang="c", abi="2")})
    board = Board("made-up", "cw310", 24_000_000, "unchecked")
    result = build(Measured([booted]), mine, Context(Kernel("Tock"), board, 2), expected=())
    path = tmp_path / "own.json"
    path.write_text(file.text(result))
    read = file.load(path)
    assert read.provenance.catalogue == "mine"
    assert catalogue_of([read]).section_of("own.walk") == "My own"
    for section, *verb in (
        ("My own", "table"),
        ("My own", "table", "--all"),
        ("own.walk", "compare", "--all", str(path)),
    ):
        done = CliRunner().invoke(app, [*verb, str(path)])
        assert section in done.output, verb
