# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Other cores of the simulated machine: the configurations equal Ibex's package, and a
core from a user's folder runs behind the documented interface under its own name.

The user's core here is the packaged Ibex with only eight PMP regions. No configuration has these,
and it runs the kernel for eight regions."""

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Any

import products
import pytest

from tockmark.base import paths
from tockmark.base.errors import OK
from tockmark.compare.pairs import differing_factors
from tockmark.result import file
from tockmark.target.sim import read_core

BOARD = paths.ROOT / "boards" / "earlgrey-sim"
IBEX = Path(importlib.util.find_spec("pythondata_cpu_ibex").origin).parent / "system_verilog"  # type: ignore[union-attr,arg-type]
FOLDER = paths.ROOT / "build" / "tests" / "eight-regions"
NAME = FOLDER.name
SLOWEST = "maxperf-pmp-no-WritebackStage-no-BranchTargetALU"
KERNEL = paths.ROOT / "build/cargo-pmp-8/riscv32imc-unknown-none-elf/release/tockmark-kernel"
NAMES = {
    *("small", "opentitan", "maxperf", "maxperf-pmp", "maxperf-pmp-bmbalanced"),
    *("maxperf-pmp-bmfull", "maxperf-pmp-bmfull-icache", "experimental-branch-predictor"),
}


def script() -> Any:
    """The script that the simulator's Makefile calls."""
    spec = importlib.util.spec_from_file_location("sim_cores", BOARD / "cores.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_configurations_equal_the_packages(tmp_path: Path) -> None:
    cores = script()
    configurations = cores.configurations(IBEX)
    assert set(configurations) == NAMES
    for name, parameters in configurations.items():
        cores.write(name, IBEX, tmp_path)
        core = read_core(tmp_path / "earlgrey-sim")
        assert core is not None
        assert (core.name, core.foreign) == (name, False)
        assert core.pmp_regions == (16 if parameters["PMPEnable"] else 0)
        assert core.icache == bool(parameters["ICache"])
        assert core.bitmanip == parameters["RV32B"].partition("RV32B")[2].lower()
        constants = (tmp_path / "core_config.sv").read_text()
        for key, value in parameters.items():  # the package's settings; OURS replaces some of them
            wanted = cores.OURS.get(key, value)
            if key != "RV32E":
                assert f" {key} = {wanted};" in constants.replace("1'b", ""), (name, key)
    assert sum(bool(settings["PMPEnable"]) for settings in configurations.values()) == 5


def test_one_feature_can_be_changed(tmp_path: Path) -> None:
    cores = script()
    named = "maxperf-pmp-bmfull-icache"  # the longest matching name counts
    before = cores.parameters_of(named, IBEX)
    after = cores.parameters_of(f"{named}-no-WritebackStage-RV32MFast", IBEX)
    changed = {"WritebackStage": 0, "RV32M": "ibex_pkg::RV32MFast"}
    assert after == before | changed != before
    assert cores.parameters_of("small-with-BranchPredictor", IBEX)["BranchPredictor"] == 1


@pytest.mark.parametrize(
    ("core", "why"),
    [
        ("smal", "Ibex has no core smal: give one of small, opentitan"),
        ("small-no-Wings", "-no-Wings is not a change of small"),
        ("small-no-PMPNumRegions", "PMPNumRegions cannot be set"),
        ("maxperf-no-BranchTargetALU", "omit both"),
        ("small-with-RV32E", "-with-RV32E is not a change of small"),
        ("{tmp}/rtl", "rtl is not a valid name"),
        ("{tmp}/small", "small is not a valid name"),
        ("{tmp}/empty", "empty has no files.f"),
    ],
)
def test_an_invalid_core_is_refused(tmp_path: Path, core: str, why: str) -> None:
    (tmp_path / "empty").mkdir()
    command = [sys.executable, str(BOARD / "cores.py"), core.format(tmp=tmp_path), str(IBEX)]
    done = subprocess.run([*command, str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert why in done.stderr
    assert done.stderr.count("\n") == 1


def users_core() -> Path:
    """Make a user's folder: a list of files, the core's features, and the module sim_core."""
    cores = script()
    parameters = cores.parameters_of("maxperf-pmp-no-WritebackStage-no-BranchTargetALU", IBEX) | {
        "PMPNumRegions": 8
    }
    ip = IBEX / "vendor" / "lowrisc_ip"
    prim = ip / "ip" / "prim" / "rtl"
    packages = ("ram_1p_pkg", "secded_pkg", "mubi_pkg", "util_pkg", "count_pkg", "cipher_pkg")
    files = [
        *(f"+incdir+{folder}" for folder in (prim, ip / "dv" / "sv" / "dv_utils")),
        *(f"+incdir+{IBEX / 'dv' / 'fcov'}", f"-y {IBEX / 'rtl'}", f"-y {prim}"),
        *(str(prim / f"prim_{name}.sv") for name in packages),
        *(str(IBEX / "rtl" / "ibex_pkg.sv"), "config.sv", "sim_core.sv"),
    ]
    FOLDER.mkdir(parents=True, exist_ok=True)
    cores.put(FOLDER / "files.f", "".join(f"{line}\n" for line in files))
    cores.put(FOLDER / "config.sv", cores.package(parameters))
    cores.put(FOLDER / "sim_core.sv", (BOARD / "rtl" / "ibex_2025" / "sim_core.sv").read_text())
    cores.put(FOLDER / "core.toml", 'bitmanip = "none"\npmp_regions = 8\nicache = false\n')
    return FOLDER


def tockmark(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tockmark", *arguments]
    return subprocess.run(command, cwd=paths.ROOT, capture_output=True, text=True, check=False)


def test_a_users_core_runs_under_its_name(tmp_path: Path) -> None:
    folder = users_core()
    # Built with the fastest compilation: it runs only some million cycles.
    products.make("sim", f"CORE={folder}", "CXXFLAGS=-std=c++20 -O0", "LDFLAGS=")
    products.make("kernel-pmp-8")
    run = ["run", "--core", str(folder), "--only", "time.read,ipc.client_to_server"]
    run += ["--samples", "9"]

    done = tockmark(*run, "-o", str(tmp_path / "refused.json"))
    assert done.returncode == 2
    assert f"the core {NAME} has 8 PMP regions, and this baseline kernel needs 16" in done.stderr
    assert not (tmp_path / "refused.json").exists()

    output = tmp_path / "eight.json"
    done = tockmark(*run, "--kernel", str(KERNEL), "-o", str(output))
    assert done.returncode == OK, done.stderr
    assert f"(simulated cw310, core {NAME} (a user's own))" in " ".join(done.stdout.split())
    result = file.load(output)
    board = result.provenance.board
    assert board.timing == "unchecked"
    assert board.core is not None
    assert board.core.foreign
    assert {row.icache for row in result.rows} == {False}
    assert {row.id for row in result.rows} >= {"time.read", "ipc.client_to_server"}

    base = file.load(paths.RESULTS / "baseline-cw310.json")
    factors = {factor.name: (factor.base, factor.new) for factor in differing_factors(base, result)}
    assert factors["core"] == ("the machine's own", f"{NAME} (a user's own)")
