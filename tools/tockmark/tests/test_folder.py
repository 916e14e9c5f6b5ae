# SPDX-License-Identifier: Apache-2.0 OR MIT
"""`run --images`: the folder determines what is run, and an option may not contradict it."""

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
def this_catalogue(catalogue: Catalogue) -> Catalogue:
    """The catalogue of the folder."""
    return dataclasses.replace(catalogue, sha256="c" * 64)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path / "out")
    return tmp_path / "out"


def test_options_that_agree_with_the_folder_are_accepted(
    folder: Path, this_catalogue: Catalogue
) -> None:
    options = {"board": "cw310", "abi": 2, "samples": None, "all_samples": True, "machine": None}
    images = read_folder_to_run(folder, this_catalogue, options, [], ["rust"])
    assert images.langs == ["c", "rust"]


@pytest.mark.parametrize(
    ("options", "langs", "why"),
    [
        ({"board": "nexysvideo"}, [], "--board contradicts .*, which was built for cw310"),
        ({"abi": 1}, [], "--abi contradicts .* --abi 2"),
        ({"samples": 20}, [], "--samples contradicts .* all samples"),
        ({"kernel_name": "x"}, [], "--kernel-name contradicts .*. Omit --kernel-name"),
    ],
)
def test_an_option_that_contradicts_the_folder_is_an_error(
    options: dict[str, object], langs: list[Lang], why: str, folder: Path, this_catalogue: Catalogue
) -> None:
    with pytest.raises(TockmarkError, match=why) as error:
        read_folder_to_run(folder, this_catalogue, options, [], langs)
    assert "\n" not in str(error.value)


def test_only_boots_with_images_are_run(folder: Path, this_catalogue: Catalogue) -> None:
    board = boards.load("cw310")
    images = read_folder_to_run(folder, this_catalogue, {}, [], [])
    boots_to_run = images.boots(this_catalogue.boots(), "c", board, this_catalogue, None)
    assert [boot.name for boot in boots_to_run] == ["time", "mem"]
    assert images.boots(boots_to_run, "c", board, this_catalogue, "mem") == boots_to_run
    with pytest.raises(TockmarkError, match="'loop'"):
        images.boots(this_catalogue.boots(), "c", board, this_catalogue, "loop")
    (only,) = images.boots(this_catalogue.boots(), "rust", board, this_catalogue, None)
    assert only.name == "mem"


def test_a_language_without_images_is_an_error(
    tmp_path: Path, this_catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "out")
    images = read_folder_to_run(tmp_path / "out", this_catalogue, {}, [], [])
    manifest = structs.replace(images.manifest, boots=images.manifest.boots[:2])
    without = dataclasses.replace(images, manifest=manifest)
    monkeypatch.setattr("tockmark.target.image_folder.read_folder", lambda path: without)
    with pytest.raises(TockmarkError, match="--lang"):
        read_folder_to_run(tmp_path / "out", this_catalogue, {}, [], ["rust"])


def test_a_board_needs_a_folder_and_a_simulator_does_not() -> None:
    for name in ("cw310", "nexysvideo"):
        with pytest.raises(TockmarkError, match=f"tockmark board image --board {name} -o DIR"):
            RunPlace(board=name).load_board(None, {})
    for name in ("earlgrey-sim", "sim-pty"):
        assert RunPlace(board=name).load_board(None, {}) == boards.load(name)
