# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Rows that no kernel affects, on the simulated chip of the study and with its interface, compared
with the study's FPGA. Builds the Nexys Video simulator if it is missing."""

import subprocess
import sys
from pathlib import Path

import pytest

from tockmark.base import paths
from tockmark.result import file
from tockmark.result.model import Result, Row

TOCKMARK = str(Path(sys.executable).with_name("tockmark"))
ROWS = (
    "loop.empty",
    "loop.not_taken",
    "mem.latency stride=16",
    "mem.latency stride=32",
    "mem.latency stride=64",
    "mem.copy_asm size=32",
    "flash.read_seq",
)


def by_name(result: Result) -> dict[str, Row]:
    return {row.label: row for row in result.rows}


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Row]:
    make = ["make", "--silent", "sim-nexysvideo", "kernel-v1-nexysvideo"]
    subprocess.run(make, cwd=paths.ROOT, check=True, capture_output=True)
    path = tmp_path_factory.mktemp("study") / "result.json"
    wanted = ",".join(dict.fromkeys(name.partition(" ")[0] for name in ROWS))
    where = ["--machine", "nexysvideo", "--icache", "off", "--abi", "1"]
    command = [TOCKMARK, "run", *where, "--only", wanted, "-o", str(path)]
    subprocess.run(command, cwd=paths.ROOT, check=True, capture_output=True)
    return by_name(file.load(path))


@pytest.fixture(scope="module")
def study() -> dict[str, Row]:
    return by_name(file.load(paths.RESULTS / "paper-2021.json"))


@pytest.mark.parametrize("name", ROWS)
def test_a_row_without_a_kernel_matches_the_fpga(
    name: str, ours: dict[str, Row], study: dict[str, Row]
) -> None:
    """Within 2 %, or 3 cycles per sample if that is more."""
    theirs, here = study[name].net, ours[name].single_pass.net
    assert theirs is not None
    assert here is not None
    assert study[name].inner == ours[name].inner
    assert abs(here - theirs) <= max(0.02 * theirs, 3), (here, theirs)
