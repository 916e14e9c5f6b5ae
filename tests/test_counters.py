# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The suite on kernels without Perf: with CycleCount, with the core's counters, and with neither.
The way of reading changes the samples, but not the cost of a row.
"""

import subprocess
import sys
from pathlib import Path

import products
import pytest

from tockmark.base import paths
from tockmark.result import file
from tockmark.result.model import Result, Row

ONLY = (
    "time,syscall,loop.empty,loop.taken,call.args,upcall.yield_wait,sched.preempted,"
    "ipc.client_to_server"
)
COMMAND = ("syscall.command", "syscall.by_processes", "syscall.by_regions")
NEAR = 0.05  # relative difference of a row in another link of the kernel


def kernel(variant: str) -> Path:
    folder = paths.ROOT / "build" / f"cargo-{variant}"
    products.copy_dependencies(folder)
    products.make(f"kernel-{variant}")
    return folder / "riscv32imc-unknown-none-elf/release/tockmark-kernel"


def run(*options: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tockmark", "run", "--icache", "off", *map(str, options)]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=paths.ROOT)


def result(out: Path, *options: object) -> Result:
    done = run("-o", out, *options)
    assert done.returncode == 0, done.stdout + done.stderr
    return file.load(out)


@pytest.fixture(scope="module")
def by_perf(tmp_path_factory: pytest.TempPathFactory) -> Result:
    return result(tmp_path_factory.mktemp("perf") / "r.json", "--only", ONLY)


def same_cost(row: Row, base: Row) -> None:
    """Check that app rows have equal cycles, and kernel rows nearly equal cycles: links differ."""
    assert row.net is not None
    assert base.net is not None
    near = 0 if base.id.startswith(("loop", "call")) else NEAR * base.net
    assert abs(row.net - base.net) <= near, row.name


def test_an_unpatched_kernel_with_cyclecount_is_measured(by_perf: Result, tmp_path: Path) -> None:
    out = tmp_path / "r.json"
    done = run("-o", out, "--only", ONLY, "--kernel", kernel("cyclecount"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "CycleCount" in done.stderr
    assert "instructions" in " ".join(done.stdout.split())
    measured = file.load(out)
    assert measured.provenance.counter == "cyclecount"
    assert not any(row.instret for row in measured.rows)
    reasons = [row.why for row in measured.skipped if row.id.startswith("upcall")]
    assert reasons
    assert all("Perf" in str(reason) for reason in reasons)
    by_id = {(row.id, str(row.params)): row for row in by_perf.table.values()}
    rows = [row for row in measured.table.values() if row.clock == "core"]
    assert len(rows) > 30
    # A command that reads the counter also costs a counter read.
    extra = next(r.net or 0 for r in rows if r.id == "time.read") - (
        by_id["time.read", "{}"].net or 0
    )
    assert extra > 0
    for row in rows:
        base = by_id[row.id, str(row.params)]
        if row.id in COMMAND:
            assert (row.net or 0) - (base.net or 0) == extra, row.name
        elif not row.is_overhead:
            same_cost(row, base)


def test_readable_counters_need_no_driver(by_perf: Result, tmp_path: Path) -> None:
    """The simulated core has no such counters; this variant of the kernel reads them instead."""
    only = "time,loop,syscall.memop,syscall.command,call.args"
    options = ("--only", only, "--kernel", kernel("open-counters"), "--counter", "csr")
    measured = result(tmp_path / "r.json", *options)
    assert measured.provenance.counter == "csr"
    for row in measured.table.values():
        base = next((b for b in by_perf.table.values() if b.key == row.key), None)
        if base is not None and not row.is_overhead and row.id not in COMMAND:
            assert row.instructions == base.instructions, row.name
            same_cost(row, base)


def test_without_counters_the_error_is_one_line() -> None:
    for variant in ("without-perf", "open-counters"):
        done = run("--only", "loop.empty", "--kernel", kernel(variant))
        assert done.returncode == 2
        (line,) = done.stderr.splitlines()
        assert "counters" in line
        assert "`tockmark patch TREE`" in line


def test_a_missing_counter_is_named() -> None:
    done = run("--only", "loop.empty", "--counter", "cyclecount")
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert "CycleCount" in line
    assert "--counter" in line
