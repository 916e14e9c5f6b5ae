# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The same operations on bare Rust, RTIC, Embassy and the baseline. Builds them with
`make runtimes`."""

import os
import subprocess
import sys
from pathlib import Path

import products
import pytest

from tockmark.base import paths
from tockmark.profile.sample import MODE
from tockmark.result import file
from tockmark.result.model import Result
from tockmark.suite import catalogue
from tockmark.target import board as profiles
from tockmark.target.kernel import read_kernel
from tockmark_lab.folders import STUDIES
from tockmark_lab.studies import stack

STUDY = STUDIES / "runtimes"
CATALOGUE = STUDY / "catalogue.toml"
MANIFEST = ["--manifest-path", str(STUDY / "firmware" / "Cargo.toml")]
CHIP = ["--target", "riscv32imc-unknown-none-elf"]
NAMES = ("bare", "rtic", "embassy")


def elf(name: str, built: str = "3") -> Path:
    return paths.ROOT / "build" / "runtimes" / built / f"{name}-0.elf"


def measured(path: Path, only: str, *options: object, code: int = 0) -> Result:
    """Run rows with the cache off, which must end with this exit code; return the result."""
    command = [sys.executable, "-m", "tockmark", "run", "--catalogue", CATALOGUE, "--only", only]
    command += ["--icache", "off", "-o", path, *options]
    done = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, check=False, cwd=paths.ROOT
    )
    assert done.returncode == code, done.stdout + done.stderr
    return file.load(path)


@pytest.fixture(scope="module", autouse=True)
def built() -> None:
    products.make("runtimes")


def test_clippy_and_rustfmt_have_no_warnings() -> None:
    own = os.environ | {"CARGO_TARGET_DIR": str(paths.ROOT / "build" / "cargo-runtimes")}
    own |= {"RISCV_MTVEC_ALIGN": "256"}
    clippy = ["clippy", "--quiet", "--release", *CHIP, *MANIFEST, "--", "-Dwarnings"]
    for command in (clippy, ["fmt", "--check", *MANIFEST]):
        done = subprocess.run(
            ["cargo", *command], env=own, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", NAMES)
def test_a_row_runs_without_a_kernel(name: str, tmp_path: Path) -> None:
    """A timer costs at least its instructions, and reading the counters nothing else."""
    options = ("--kernel", elf(name), "--counter", "csr", "--lang", "rust")
    result = measured(tmp_path / "timer.json", "cost.timer", *options)
    (row,) = (row for row in result.rows if row.id == "cost.timer")
    assert row.sound
    assert row.net is not None
    assert row.instructions is not None
    assert row.net > row.instructions > 10
    assert row.stack
    (reading,) = (row for row in result.rows if row.id == "time.reading")
    assert reading.instructions is not None
    assert reading.instructions < 4
    assert result.provenance.kernel.opt_level == "3"


@pytest.mark.parametrize(
    ("name", "ids"),
    [("bare", {"cost.timer"}), *((name, {"cost.switch", "cost.message"}) for name in NAMES[1:])],
)
def test_a_wrong_answer_fails(name: str, ids: set[str], tmp_path: Path) -> None:
    products.make("runtimes", "WRONG=1")
    options = ("--kernel", elf(name, "3-wrong"), "--counter", "csr", "--lang", "rust")
    result = measured(tmp_path / "wrong.json", ",".join(ids), *options, code=1)
    assert {failed.id for failed in result.failed} == ids


def test_the_same_row_runs_on_the_baseline(tmp_path: Path) -> None:
    result = measured(tmp_path / "timer.json", "cost.timer")
    (row,) = (row for row in result.rows if row.id == "cost.timer")
    assert row.sound


def test_a_kernel_uses_a_part_of_its_stack() -> None:
    """Neither a process's stack pointer in the kernel counts, nor the kernel's own in a process,
    nor the half of one."""
    board = profiles.load(profiles.DEFAULT)
    kernel = read_kernel(board.kernels[2])
    reserved = stack.reserved(kernel)
    top = reserved.stop
    moves = [("M", top - 64), ("M", top - 16), ("M", top + 4096), ("U", top - 512)]
    lines = [f"{'':{MODE}}{mode} 20000000     1141   1 -  x2={at:08x}" for mode, at in moves]
    half = f"{'':{MODE}}M 20000408 f0001117   2 -  x2={top - 900:08x}"
    assert stack.deepest([*lines, half], reserved) == 64
    first, *_ = catalogue.load(CATALOGUE).boots()
    assert 256 < stack.measure(kernel, board, first) < len(reserved)


def test_the_committed_stacks_are_whole() -> None:
    boots = {boot.name for boot in catalogue.load(CATALOGUE).boots()}
    stacks = [stack.load(path) for path in sorted((STUDY / "data" / "stack").glob("*.json"))]
    assert len(stacks) == 2 * 3
    for stored in stacks:
        assert stored.used.keys() == boots
        assert all(0 < used < stored.reserved for used in stored.used.values())


def test_the_committed_results_are_whole() -> None:
    """Each has eight layouts, and every row that has an equal there."""
    stored = {path.stem: file.load(path) for path in sorted((STUDY / "data").glob("*.json"))}
    assert len(stored) == 2 * 6
    for name, result in stored.items():
        assert (result.missing, result.failed) == ((), ()), name
        assert result.layouts == 8, name
        assert all(row.sound for row in result.rows if row.id.startswith("cost.")), name
        if name.startswith(("baseline", "tock")):
            continue
        skipped = {(gone.id, *gone.params.values()) for gone in result.skipped}
        assert (("cost.switch",) in skipped) == name.startswith("bare")
