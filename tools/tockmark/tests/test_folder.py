# SPDX-License-Identifier: Apache-2.0 OR MIT
"""`run --images`: the folder says what is run, and an option that says otherwise is one line."""

import dataclasses
from pathlib import Path

import pytest
from msgspec import structs

from tockmark.base.errors import TockmarkError
from tockmark.cli.measure import RunPlace
from tockmark.suite.catalogue import Catalogue, Lang
from tockmark.target import board as boards
from tockmark.target.image_folder import read_folder_to_run
from tockmark.tests.test_image_folder import write


@pytest.fixture
def known(catalogue: Catalogue) -> Catalogue:
    """The catalogue that the folder was laid by."""
    return dataclasses.replace(catalogue, sha256="c" * 64)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path / "out")
    return tmp_path / "out"


def test_options_that_say_the_same_are_taken(folder: Path, known: Catalogue) -> None:
    given = {"board": "cw310", "abi": 2, "samples": None, "all_samples": True, "machine": None}
    laid = read_folder_to_run(folder, known, given, [], ["rust"])
    assert laid.langs == ["c", "rust"]


@pytest.mark.parametrize(
    ("given", "langs", "why"),
    [
        ({"board": "nexysvideo"}, [], "--board contradicts .*, which was built for cw310"),
        ({"abi": 1}, [], "--abi does not go with .* --abi 2"),
        ({"samples": 20}, [], "--samples does not go with .* all samples"),
        ({"kernel_name": "x"}, [], "--kernel-name does not go with .*. Leave out --kernel-name"),
    ],
)
def test_an_option_that_says_otherwise_is_one_line(
    given: dict[str, object], langs: list[Lang], why: str, folder: Path, known: Catalogue
) -> None:
    with pytest.raises(TockmarkError, match=why) as error:
        read_folder_to_run(folder, known, given, [], langs)
    assert "\n" not in str(error.value)


def test_only_what_was_laid_is_run(folder: Path, known: Catalogue) -> None:
    board = boards.load("cw310")
    laid = read_folder_to_run(folder, known, {}, [], [])
    found = laid.boots(known.boots(), "c", board, known, None)
    assert [boot.name for boot in found] == ["time", "mem"]
    assert laid.boots(found, "c", board, known, "mem") == found
    with pytest.raises(TockmarkError, match="'loop'"):
        laid.boots(known.boots(), "c", board, known, "loop")
    (only,) = laid.boots(known.boots(), "rust", board, known, None)
    assert only.name == "mem"


def test_a_language_that_was_not_laid_is_named(
    tmp_path: Path, known: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "out")
    laid = read_folder_to_run(tmp_path / "out", known, {}, [], [])
    manifest = structs.replace(laid.manifest, boots=laid.manifest.boots[:2])
    without = dataclasses.replace(laid, manifest=manifest)
    monkeypatch.setattr("tockmark.target.image_folder.read_folder", lambda path: without)
    with pytest.raises(TockmarkError, match="--lang"):
        read_folder_to_run(tmp_path / "out", known, {}, [], ["rust"])


def test_a_board_needs_a_folder_and_a_simulator_none() -> None:
    for name in ("cw310", "nexysvideo"):
        with pytest.raises(TockmarkError, match=f"tockmark board image --board {name} -o DIR"):
            RunPlace(board=name).load_board(None, {})
    for name in ("earlgrey-sim", "sim-pty"):
        assert RunPlace(board=name).load_board(None, {}) == boards.load(name)
