# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Apps for Cortex-M: on the stand-in in QEMU, in both languages, and in one TAB with apps for
RISC-V. Needs `make build` and `make kernel-qemu-cortex-m4`."""

import importlib
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tockmark.base import paths
from tockmark.result import file
from tockmark.result.model import Result
from tockmark.suite import catalogue
from tockmark.target import board as boards
from tockmark.target import image_folder
from tockmark.target.elf import read_elf
from tockmark.target.image import HEADER
from tockmark_lab.folders import LAB

PROFILE = LAB / "stand-in" / "board.toml"
BOARD = boards.load(str(PROFILE))
KERNEL = BOARD.kernels[2]
LANGS = ("c", "rust")
APPS = [paths.APPS / f"{lang}-abi2-cortex-m4" for lang in LANGS]
THERE = shutil.which("qemu-system-arm") and all(path.exists() for path in (KERNEL, *APPS))
needs_arm = pytest.mark.skipif(not THERE, reason="`make kernel-qemu-cortex-m4` has not been run")

GROUPS = ("time", "syscall", "upcall", "ipc")
LACKING = "loop.empty"  # rows without a body in apps/asm/thumb
RUST_LINT = ["cargo", "clippy", "--quiet", "--release", "--target", "thumbv7em-none-eabi"]


def tockmark(*arguments: str | Path) -> str:
    command = [sys.executable, "-m", "tockmark", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=paths.ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cortex-m")


@pytest.fixture(scope="module")
def output(out: Path) -> str:
    only = ",".join([*GROUPS, LACKING])
    board: list[str | Path] = ["--board", PROFILE, "--lang", "c,rust"]
    return tockmark("run", *board, "--only", only, "-o", out / "result.json")


@pytest.fixture(scope="module")
def ran(out: Path, output: str) -> Result:
    assert output
    return file.load(out / "result.json")


@needs_arm
def test_each_row_runs_in_both_languages_or_gives_a_reason(ran: Result) -> None:
    benchmarks = catalogue.load().benchmarks.values()
    wanted = {benchmark.id for benchmark in benchmarks if benchmark.id.partition(".")[0] in GROUPS}
    for lang in LANGS:
        assert {row.id for row in ran.rows if row.lang == lang} >= wanted
        skipped = [(gone.id, gone.why) for gone in ran.skipped if gone.lang == lang]
        assert skipped == [(LACKING, "tm_loop_empty is in RISC-V assembly alone")]
    assert (ran.failed, ran.missing, ran.problems) == ((), (), ())


@needs_arm
def test_no_count_of_the_stand_in_is_stored_or_shown(ran: Result, output: str, out: Path) -> None:
    assert not ran.provenance.has_figures
    assert {(row.cycles, row.instret) for row in ran.rows} == {(None, None)}
    assert '"cycles_runs"' not in (out / "result.json").read_text()
    assert output.startswith("Rows that ran (no figures)")
    for words in ("neither Tock nor the baseline", "not timing-valid"):
        assert words in " ".join(output.split())
        assert words in " ".join(tockmark("table", "--all", out / "result.json").split())


@needs_arm
def test_an_apps_memory_is_aligned_to_its_power_of_two_size(ran: Result) -> None:
    """The MPU of ARMv7-M requires this."""
    several = [run for run in ran.provenance.boots if len(run.slots) > 1]
    assert several
    for run in several:
        first, second, *_ = run.slots
        for at, length in (
            (first.flash_start - HEADER, second.flash_start - first.flash_start),
            (first.ram_start, second.ram_start - first.ram_start),
        ):
            assert length & (length - 1) == 0
            assert at % length == 0


@needs_arm
def test_one_tab_is_for_both_architectures(out: Path) -> None:
    """tockloader lists both, and the tool lays out the same image as before for the first
    architecture's board."""
    boot, alone, both = "ipc-server_first", out / "alone", out / "both"
    tockmark("board", "image", boot, "--board", PROFILE, "-o", alone)
    tockmark("board", "image", boot, "--board", "cw310", "--also", alone, "-o", both)
    listed = importlib.import_module("tockloader.tab").TAB
    (laid,) = image_folder.read_folder(both).manifest.boots
    assert len(laid.slots) == 2
    for slot in laid.slots:
        assert listed(str(both / slot.tab)).get_supported_architectures() == [
            "cortex-m4",
            "rv32imc",
        ]
    flash = out / "mine.flash"
    shutil.copyfile(both / laid.flash, flash)
    tockmark("board", "install", "--images", both, boot, "--flash-file", flash)
    assert flash.read_bytes() == (both / laid.flash).read_bytes()


@needs_arm
def test_its_kernel_is_refused_by_another_board_with_its_name() -> None:
    command = [sys.executable, "-m", "tockmark", "run", "--kernel", str(KERNEL)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=paths.ROOT)
    assert done.returncode == 2
    assert "is built for cortex-m4, but earlgrey-sim has rv32imc" in done.stderr
    assert read_elf(KERNEL).isa.name == BOARD.isa


@needs_arm
@pytest.mark.parametrize(
    "what",
    [
        ["--package", "tockmark-kernel", "--features", "qemu-cortex-m4"],
        ["--package", "tockmark-suite"],
    ],
)
def test_clippy_finds_nothing(what: list[str]) -> None:
    folder = paths.ROOT / "build" / "cargo-clippy-cortex-m4"
    command = [*RUST_LINT, *what, "--target-dir", str(folder), "--", "-D", "warnings"]
    done = subprocess.run(command, cwd=paths.ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
