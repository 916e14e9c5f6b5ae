# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The two engines of a simulator: the choice of a target, and the record in a result."""

from pathlib import Path

import msgspec
import pytest

from tockmark import BASELINE
from tockmark.base.errors import UNUSABLE, TockmarkError
from tockmark.compare.limits import Margins
from tockmark.compare.pairs import compare
from tockmark.result.provenance import Board
from tockmark.show import table
from tockmark.suite.catalogue import Catalogue
from tockmark.target import board as boards
from tockmark.target.kernel import KernelElf, check_runs
from tockmark.target.protocol import Start, target_fields
from tockmark.target.sim import SimTarget, make_target
from tockmark.tests.of_samples import CALM, SIMULATED, made, steady


def target(folder: Path, machine: str, engine: str | None = "fast") -> SimTarget:
    """Return a target with a built simulator of a machine."""
    binary = folder / machine / "earlgrey-sim"
    binary.parent.mkdir()
    binary.touch()
    versions = "" if engine is None else f'engine = "{engine}"\n'
    binary.with_name("versions.toml").write_text(versions)
    return SimTarget(binary, icache=True, uart_cycles_per_byte=16, max_cycles=1)


def test_rtl_is_the_simulator_in_another_folder(tmp_path: Path) -> None:
    fast = target(tmp_path, "cw310")
    with pytest.raises(TockmarkError, match=r"cw310-rtl/earlgrey-sim is not built.*`make sim-rtl`"):
        fast.configured({"engine": "rtl"})
    rtl = target(tmp_path, "cw310-rtl", "rtl")
    assert fast.configured({"engine": "rtl"}).binary == rtl.binary
    assert fast.configured({"engine": "fast"}) == fast.configured({"engine": None}) == fast
    assert (fast.engine, rtl.engine) == ("fast", "rtl")


@pytest.mark.parametrize("machine", ["nexysvideo", "cw310-small"])
def test_a_machine_without_the_fast_engine_refuses_it(machine: str, tmp_path: Path) -> None:
    other = target(tmp_path, machine, None)  # of a build that records no engine
    assert other.configured({"engine": "rtl"}) == other
    assert other.engine == "rtl"
    with pytest.raises(TockmarkError, match=rf"not {machine}\. Omit --engine") as refused:
        other.configured({"engine": "fast"})
    assert refused.value.code == UNUSABLE


def test_only_rtl_needs_another_build_to_trace_instructions(tmp_path: Path) -> None:
    fast, rtl = target(tmp_path, "cw310"), target(tmp_path, "cw310-rtl", "rtl")
    assert fast.tracing() is fast
    with pytest.raises(TockmarkError, match="`make sim-retire MACHINE=cw310`"):
        rtl.tracing()
    retire = target(tmp_path, "cw310-rtl-retire", "rtl")
    assert rtl.tracing().binary == retire.binary


def test_a_machine_without_the_ports_registers_is_unchecked(tmp_path: Path) -> None:
    """Whatever the timing of the board's profile."""
    silicon, fpga = target(tmp_path, "earlgrey-asic"), target(tmp_path, "cw310")
    with silicon.binary.with_name("versions.toml").open("a") as versions:
        versions.write('port_stage = "none"\n')
    assert silicon.provenance(1)["timing"] == "unchecked"
    assert "timing" not in fpga.provenance(1)


def test_a_machine_without_the_ports_registers_runs_the_kernel_of_the_fpga() -> None:
    kernel = KernelElf(Path("kernel"), f"{BASELINE} 1.0 abi2 cw310", "0" * 64, None, ())
    for board in ("earlgrey-sim", "earlgrey-sim-asic"):
        check_runs(kernel, 2, boards.load(board))
    with pytest.raises(TockmarkError, match=r"is built for cw310, but .* nexysvideo"):
        check_runs(kernel, 2, boards.load("earlgrey-sim-nexysvideo"))


@pytest.mark.parametrize(
    ("folder", "made_by"),
    [
        ("cw310", "build"),
        ("cw310-rtl", "sim-rtl"),
        ("flat-rtl", "sim-rtl MACHINE=flat"),
        ("nexysvideo", "sim-nexysvideo"),
        ("earlgrey-asic", "sim-earlgrey-asic"),
        ("earlgrey-asic-rtl", "sim-rtl MACHINE=earlgrey-asic"),
    ],
)
def test_each_simulator_has_a_make_target(folder: str, made_by: str) -> None:
    assert make_target(Path(folder) / "earlgrey-sim") == made_by


def test_older_results_were_simulated_by_rtl() -> None:
    old = Board("earlgrey-sim", "cw310", simulator_sha256="a" * 64)
    assert old.simulated_by == "rtl"
    assert msgspec.structs.replace(old, engine="fast").simulated_by == "fast"
    assert Board("cw310", "cw310", timing="hardware").simulated_by is None
    assert msgspec.structs.replace(old, timing="functional-only").simulated_by is None


@pytest.mark.parametrize(
    ("board", "title"),
    [
        (Board("earlgrey-sim", "cw310", timing="checked-against-rtl"), "simulated cw310"),
        (Board("other", "cw310", simulator_sha256="a" * 64), "simulated cw310"),
        (Board("qemu", "qemu", timing="functional-only"), "simulated qemu"),
        (Board("cw310", "cw310", timing="hardware"), "cw310"),
        (Board(), "unknown machine"),
    ],
)
def test_only_what_is_simulated_says_so(board: Board, title: str) -> None:
    assert board.title == title


def test_only_a_proof_makes_two_engines_equal(catalogue: Catalogue) -> None:
    fast = msgspec.structs.replace(SIMULATED, simulator_sha256="a" * 64, engine="fast")
    rtl = msgspec.structs.replace(SIMULATED, simulator_sha256="b" * 64, engine="rtl")
    base, new = (made(catalogue, {"a.x": steady(1000)}, board=board) for board in (fast, rtl))
    assert "engine fast" in table.every_row(base, catalogue)
    compared = compare(base, new, "b", catalogue, Margins(), CALM)
    assert [factor.name for factor in compared.factors] == ["simulator"]


def test_a_seed_of_the_sram_is_a_condition_of_a_result(tmp_path: Path) -> None:
    zeros = target(tmp_path, "cw310")
    seeded = zeros.configured({"sram-seed": 7})
    assert zeros.configured({"sram-seed": 0}) == zeros.configured({"sram-seed": None}) == zeros
    flash = tmp_path / "flash"
    flash.touch()
    start = Start("boot", flash, icache=True)
    assert zeros.key(start) != seeded.key(start)
    boards = [msgspec.convert(side.provenance(1), Board) for side in (zeros, seeded)]
    assert [board.sram_seed for board in boards] == [0, 7]
    with pytest.raises(TockmarkError, match="--sram-seed has no effect"):
        target_fields({"sram-seed": 7}, {}, "serial")
