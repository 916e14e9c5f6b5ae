# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Both engines of the simulated CW310 give the same results and the same traces of instructions.

Builds the RTL, which takes a minute the first time."""

import subprocess
import sys
from pathlib import Path

import pytest
from products import make

from tockmark.base import paths
from tockmark.result import file

TOCKMARK = str(Path(sys.executable).with_name("tockmark"))
SIMULATORS = [paths.ROOT / "build" / "sim" / name for name in ("cw310", "cw310-rtl-retire")]
ROWS = "time,syscall.command,irq.upcall,ipc.round_trip,ctx.ring:processes=2"
BEGIN, END = 250_000, 450_000  # cycles of a trace


def test_results_are_equal(tmp_path: Path) -> None:
    """Every sample of these rows is equal, with the cache on and off, in both versions."""
    make("sim-rtl")
    for abi in ("1", "2"):
        results = []
        for engine in ("fast", "rtl"):
            out = tmp_path / f"{engine}.json"
            command = [TOCKMARK, "run", "--engine", engine, "--abi", abi, "--only", ROWS]
            command += ["--samples", "9", "--fresh", "-o", str(out)]
            subprocess.run(command, check=True, capture_output=True)
            results.append(file.load(out))
        fast, rtl = results
        assert fast.rows == rtl.rows
        assert [boot.cycles for boot in fast.provenance.boots] == [
            boot.cycles for boot in rtl.provenance.boots
        ]
        assert (fast.provenance.board.engine, rtl.provenance.board.engine) == ("fast", "rtl")
        assert rtl.provenance.board.ibex is not None


def test_results_without_registers_at_the_ports_are_equal(tmp_path: Path) -> None:
    """Both engines also agree on the machine earlgrey-asic. It takes fewer cycles than the FPGA,
    and is `unchecked`."""
    make("sim-earlgrey-asic")
    make("sim-rtl", "MACHINE=earlgrey-asic")
    results = []
    for board, engine in (("-asic", "fast"), ("-asic", "rtl"), ("", "fast")):
        out = tmp_path / f"{board}{engine}.json"
        command = [TOCKMARK, "run", "--board", f"earlgrey-sim{board}", "--engine", engine]
        command += ["--only", ROWS, "--samples", "9", "--fresh", "-o", str(out)]
        subprocess.run(command, check=True, capture_output=True)
        results.append(file.load(out))
    assert results[0].rows == results[1].rows
    asic, asic_rtl, fpga = ([boot.cycles for boot in each.provenance.boots] for each in results)
    assert asic == asic_rtl
    assert sum(sum(each.values()) for each in asic) < sum(sum(each.values()) for each in fpga)
    assert [result.provenance.board.timing for result in results] == [
        "unchecked",
        "unchecked",
        "checked-against-rtl",
    ]


@pytest.mark.parametrize("icache", ["on", "off"])
def test_traces_are_equal(icache: str, tmp_path: Path) -> None:
    """All lines are equal: cycles, waits, cache fills, traps, registers and memory accesses."""
    make("sim-retire")
    for app in ("fault", "irq-asleep"):
        command = [TOCKMARK, "board", "image", app, "-o", str(tmp_path / app)]
        subprocess.run(command, check=True, capture_output=True)
        traces = []
        for folder in SIMULATORS:
            trace = tmp_path / folder.name
            image = tmp_path / app / "c" / f"{app}.flash"
            command = [str(folder / "earlgrey-sim"), "--flash", str(image), "--icache", icache]
            command += ["--max-cycles", str(END), "--itrace", str(trace), "--from", str(BEGIN)]
            subprocess.run(command, check=False, capture_output=True)
            traces.append(trace.read_text().splitlines())
        assert traces[0] == traces[1]
        assert len(traces[0]) > 10_000
