# SPDX-License-Identifier: Apache-2.0 OR MIT
"""tockloader accepts the load commands of board profiles, and passes the image and the flash
address to the programmer's tool. The tools here are stand-ins that record their input."""

import os
import subprocess
from pathlib import Path

import pytest

from tockmark.base.errors import TockmarkError
from tockmark.target import board as boards
from tockmark.target.image import TOCKLOADER

LOADED = [
    name
    for name in boards.names()
    if (load := boards.load(name).load) and load.command[0] == TOCKLOADER.name
]
TOOLS = {"--jlink": "JLinkExe", "--openocd": "openocd"}
STAND_IN = """#!/bin/sh
for word in "$@"; do
    echo "$word" >> "$RECORD"
    [ ! -f "$word" ] || cat "$word" >> "$RECORD"
done
"""


@pytest.mark.parametrize("name", LOADED)
def test_tockloader_accepts_the_command_of_the_profile(name: str, tmp_path: Path) -> None:
    board = boards.load(name)
    assert board.load is not None
    (tool,) = (tool for option, tool in TOOLS.items() if option in board.load.command)
    (tmp_path / tool).write_text(STAND_IN)
    (tmp_path / tool).chmod(0o755)
    flash, record = tmp_path / "time.flash", tmp_path / "record"
    flash.write_bytes(bytes(4096))
    words = [str(TOCKLOADER), *board.load.words(flash)[1:]]
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    env = os.environ | {"PATH": path, "RECORD": str(record)}
    done = subprocess.run(words, env=env, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    programmed = [
        line for line in record.read_text().splitlines() if "program " in line or "loadbin " in line
    ]
    assert programmed
    assert all(f" {board.flash.base:#x}" in line for line in programmed)


@pytest.mark.parametrize("name", LOADED)
def test_a_board_without_a_baseline_kernel_is_reported(name: str) -> None:
    with pytest.raises(TockmarkError, match=r"--kernel"):
        boards.load(name).kernels[2]


def test_tockloader_loads_the_two_cortex_m4_boards() -> None:
    assert {"nrf52840dk", "microbit-v2"} <= set(LOADED)
