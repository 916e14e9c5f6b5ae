# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The fast core equals its RTL on a short run of lockstep, and lockstep finds what differs."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tockmark.base import paths

LOCKSTEP = paths.ROOT / "lab" / "lockstep"
BUILT = paths.ROOT / "build" / "lockstep"
CORE = paths.ROOT / "boards" / "earlgrey-sim" / "core"


def lockstep(machine: str, *options: str) -> subprocess.CompletedProcess[str]:
    command = [str(BUILT / machine / "lockstep"), *options]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(("machine", "cycles"), [("cw310", 6_000_000), ("flat", 2_000_000)])
def test_the_fast_core_equals_its_rtl(machine: str, cycles: int) -> None:
    done = lockstep(machine, "--cycles", str(cycles), "--seed", "7000")
    assert done.returncode == 0, done.stdout
    assert "equal over" in done.stdout


def test_programs_that_leave_something_out_are_a_failure() -> None:
    done = lockstep("cw310", "--cycles", "2000", "--statistics")
    assert done.returncode == 3
    assert "the generator never did: clmulh" in done.stdout


def test_a_seed_gives_the_same_program() -> None:
    def last_cycles(number: int) -> list[str]:
        output = lockstep("cw310", "--program", str(number), "--flavour", "user").stdout
        return [line for line in output.splitlines() if not line.startswith("lockstep:")]

    assert last_cycles(12) == last_cycles(12)
    assert last_cycles(12) != last_cycles(13)


def test_each_planted_fault_names_text_of_the_core() -> None:
    faults = tomllib.loads((LOCKSTEP / "faults.toml").read_text(encoding="utf-8"))
    assert len(faults) >= 30
    for name, fault in faults.items():
        text = (CORE / fault["file"]).read_text(encoding="utf-8")
        assert " ".join(text.split()).count(" ".join(fault["old"].split())) == 1, name
        assert fault["old"] != fault["new"], name


def test_a_planted_fault_is_found() -> None:
    command = [sys.executable, str(LOCKSTEP / "faults.py"), "--out", str(BUILT / "cw310")]
    command += ["--venv", sys.prefix, "illegal-jalr-jumps"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "illegal-jalr-jumps: after " in done.stdout


def test_a_boot_runs_on_both_cores(tmp_path: Path) -> None:
    tockmark = str(Path(sys.executable).with_name("tockmark"))
    board, result = LOCKSTEP / "board.toml", tmp_path / "result.json"
    command = [tockmark, "run", "--board", str(board), "--only", "syscall.command", "--fresh"]
    done = subprocess.run(
        [*command, "-o", str(result)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert result.exists()
