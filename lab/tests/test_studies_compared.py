# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Comparison of results of one study without its catalogue, and the name of each
difference. Also `list` for a catalogue."""

import re

import pytest
from typer.testing import CliRunner

from tockmark.cli.app import app
from tockmark.result import file
from tockmark_lab.folders import STUDIES
from tockmark_lab.studies import cores

CORES = ("opentitan", "maxperf-pmp-bmfull")


def output_of(*words: str) -> str:
    done = CliRunner().invoke(app, [*words], env={"COLUMNS": "100"})
    assert done.exit_code in (0, 1), done.output
    return done.output


def compared(*names: str) -> tuple[str, dict[str, str]]:
    paths = [name if name == "--all" else str(STUDIES / f"{name}.json") for name in names]
    text = output_of("compare", *paths)
    return text, dict(re.findall(r"^differs: (\S+)\s+(\S.*)$", text, re.M))


@pytest.mark.parametrize("folder", ["programs", "ladder", "crypto", "sizes"])
def test_two_kernels_of_one_study_are_compared(folder: str) -> None:
    names = [f"{folder}/data/{kernel}" for kernel in ("tock-2.2", "tock-master")]
    text, differs = compared(*names, "--all")
    base, new = (file.load(STUDIES / f"{name}.json").table for name in names)
    ids = {row.id for key, row in base.items() if key in new}
    assert ids
    assert ids <= set(re.findall(r"^([\w.]+) ", text, re.M))
    assert set(differs) == {"kernel", "rustc"}


def test_layouts_and_cache_settings_are_named() -> None:
    _, differs = compared("programs/data/tock-2.2", "programs/data/tock-2.2-off")
    assert differs == {"i-cache": "on -> off", "layouts": "4 -> 1"}


def test_two_cores_are_named() -> None:
    _, differs = compared(*(f"cores/data/baseline-on-{core}" for core in CORES))
    assert set(differs) == {"simulator", "core"}
    assert differs["core"] == " -> ".join(CORES)


def test_results_have_the_name_of_their_core() -> None:
    for path in sorted((STUDIES / "cores" / "data").glob("*.json")):
        if path != cores.STORED:
            board = file.load(path).provenance.board
            core = path.stem.partition("-on-")[2]
            assert (board.core.name if board.core else "") == core, path
            assert (board.timing == "unchecked") == bool(core), path


def test_list_shows_the_rows_of_a_catalogue() -> None:
    file = str(STUDIES / "programs" / "catalogue.toml")
    assert "aes.encrypt" not in output_of("list")
    assert "aes.encrypt" in output_of("list", "--catalogue", file)
    assert output_of("list", "--catalogue", file, "length.aes").count("Counted:") == 1
