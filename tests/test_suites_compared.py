# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Results of one suite held against each other: rows under their own headings, what differs by its
name; and what `list` tells of a suite."""

import re

import pytest
from typer.testing import CliRunner

from tockmark.cli.app import app
from tockmark.paths import RESULTS


def said(*words: str) -> str:
    done = CliRunner().invoke(app, [*words], env={"COLUMNS": "100"})
    assert done.exit_code in (0, 1), done.output
    return done.output


def compared(*names: str) -> tuple[str, dict[str, str]]:
    text = said("compare", *(str(RESULTS / f"{name}.json") for name in names))
    return text, dict(re.findall(r"^    differs: (\S+)\s+(\S.*)$", text, re.M))


@pytest.mark.parametrize(
    ("folder", "heading"),
    [
        ("programs", "Whole programs"),
        ("ladder", "Clients of one server"),
        ("crypto", "Crypto, by where it is done"),
        ("sizes", "Cost by size"),
    ],
)
def test_two_kernels_in_one_suite(folder: str, heading: str) -> None:
    text, differs = compared(f"{folder}/tock-2.2", f"{folder}/tock-master")
    assert f"\n{heading}, i-cache on" in text
    assert "Not in this catalogue" not in text
    assert set(differs) == {"kernel", "rustc"}


def test_layouts_and_cache_settings_are_named() -> None:
    _, differs = compared("programs/tock-2.2", "programs/tock-2.2-off")
    assert differs == {"i-cache": "on -> off", "layouts": "8 -> 1"}


def test_two_cores_are_named() -> None:
    _, differs = compared("cores/baseline-on-opentitan", "cores/baseline-on-maxperf-pmp-bmfull")
    assert set(differs) == {"simulator", "core"}
    assert differs["core"] == "opentitan -> maxperf-pmp-bmfull"


def test_a_bare_run_is_held_against_a_kernel_without_what_readings_cost() -> None:
    text, differs = compared("programs/bare", "programs/tock-2.2")
    assert {"kernel", "counter"} <= set(differs)
    assert "qsort.sort beside=none" in text
    assert "\ntime.read " not in text


def test_list_tells_the_rows_of_a_suite() -> None:
    usual = said("list")
    assert "`tockmark list --suite programs`" in usual
    assert "aes.encrypt" not in usual
    assert "aes.encrypt" in said("list", "--suite", "programs")
    assert said("list", "--suite", "programs", "length.aes").count("Counted:") == 1
