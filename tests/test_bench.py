# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A complete run of the suite: its figures match the ISA and the memory system.

Needs the products of `make build`. Most tests share one run.
"""

import itertools
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from tockmark.base import paths
from tockmark.result import file
from tockmark.result.model import Result, Row
from tockmark.suite import catalogue
from tockmark.target import board as boards
from tockmark.target.sources import stamp_path

TOCKMARK = str(Path(sys.executable).with_name("tockmark"))


def tockmark(*arguments: str | Path, code: int = 0) -> subprocess.CompletedProcess[str]:
    command = [TOCKMARK, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=paths.ROOT)
    assert done.returncode == code, done.stdout + done.stderr
    return done


class Bench:
    """The result of a run, by row."""

    def __init__(self, path: Path, output: str) -> None:
        self.path = path
        self.output = output
        self.whole: Result = file.load(path)
        self.result = self.whole.of_lang("c")  # for most tests

    def row(
        self,
        id_: str,
        params: dict[str, int | str] | None = None,
        icache: bool = True,
        boot: str = "",
    ) -> Row:
        """Return the row of a benchmark; for the read overhead, of a boot."""
        rows = [
            r
            for r in self.result.rows
            if (r.id, r.params, r.icache) == (id_, params or {}, icache)
            and (id_ not in catalogue.HARNESS_ROWS or r.boot == (boot or "time"))
        ]
        assert len(rows) == 1, (id_, params, icache, boot)
        return rows[0]

    def net(self, id_: str, series: str, icache: bool = True, **params: int | str) -> float:
        series_ = self.row(id_, params, icache).series(series)
        assert series_ is not None
        assert series_.net is not None
        return series_.net

    def spent(self) -> dict[str, float]:
        """Return the simulated cycles of each benchmark, in millions."""
        millions: dict[str, float] = {}
        for row in self.result.rows:
            assert row.cycles
            slope = row.cycles.slope
            cycles = [*row.cycles.samples, *(slope.short + slope.long if slope else ())]
            millions[row.id] = millions.get(row.id, 0.0) + sum(cycles) / 1_000_000
        return millions


def run_bench(folder: Path, *arguments: str) -> Bench:
    path = folder / "result.json"
    return Bench(path, tockmark("run", "-o", path, *arguments).stdout)


@pytest.fixture(scope="session")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """The run of `make bench`."""
    both = ("--lang", "c,rust", "--short", "rust")
    return run_bench(tmp_path_factory.mktemp("bench"), *both)


def test_the_result_has_every_row_of_the_catalogue(bench: Bench) -> None:
    """A row may be skipped with a reason. All rows occur with the cache on and off."""
    catalogue_ = catalogue.load()
    expected = {
        (icache, catalogue.label(id_, params))
        for icache in (True, False)
        for id_, params in catalogue_.rows(catalogue_.benchmarks)
    }
    given = {(row.icache, row.label) for row in bench.result.rows}
    given |= {(gone.icache, catalogue.label(gone.id, gone.params)) for gone in bench.result.skipped}
    assert given == expected
    assert bench.result.incomplete == ()
    assert all(gone.why for gone in bench.result.skipped)


def test_the_result_equals_the_committed_one(bench: Bench) -> None:
    """All samples are reproducible."""
    committed = file.load(paths.RESULTS / "baseline-cw310.json")
    pairs = itertools.zip_longest(bench.whole.rows, committed.rows)
    assert [(new, old) for new, old in pairs if new != old][:1] == []


def test_the_read_overhead_is_steady(bench: Bench) -> None:
    for boot in catalogue.load().boots():
        for icache in (True, False):
            row = bench.row("time.read", icache=icache, boot=boot.name)
            for series in (row.cycles, row.instret):
                assert series is not None
                assert series.stats is not None
                assert series.stats.settled is not None, boot.name


def test_provenance_is_complete(bench: Bench) -> None:
    provenance = bench.result.provenance
    assert provenance.kernel.title == "tockmark-baseline 0.1.0 abi2 cw310"
    assert provenance.kernel.built == "opt-level 3, lto=true codegen-units=1 panic=abort"
    assert provenance.kernel.commit == provenance.tool.commit is not None
    toolchain = (paths.ROOT / "rust-toolchain.toml").read_text()
    assert f'"{(provenance.kernel.rustc or "").partition(" ")[0]}"' in toolchain
    board = provenance.board
    assert (board.engine, board.verilator, board.ibex) == ("fast", None, None)
    assert provenance.board.timing == "checked-against-rtl"
    booted = [(boot.boot, list(boot.cycles)) for boot in provenance.boots]
    assert booted == [(boot.name, ["on", "off"]) for boot in catalogue.load().boots()]
    assert provenance.abi == 2
    assert provenance.app_values("abi") == ["2"]
    assert all("gcc" in compiler for compiler in provenance.app_values("cc"))


@pytest.mark.parametrize(
    ("id_", "params", "instructions"),
    [
        # Counted in apps/asm, without the `ret`, which time.read also has.
        ("loop.empty", {}, 2 * 1000),
        ("loop.not_taken", {}, 4 * 1000 + 5),
        ("loop.alternating", {}, 17 * 500 + 6),
        ("loop.taken", {}, 4 * 1000 + 3),
        ("loop.align", {"offset": 2}, 2 * 1000 + 1),
        ("loop.align", {"offset": 6}, 2 * 1000 + 3),
        ("call.return", {}, 16 * 3),
        ("call.args", {"n": 8}, 16 * 17),
        ("call.args", {"n": 10}, 16 * (17 + 2 + 2 * 4)),
        ("mem.latency", {"stride": 64}, 2 * 500),
        ("mem.copy_asm", {"size": 32}, 16),
        ("mem.copy_asm", {"size": 16384}, 19 * 512 + 4),
        ("mem.read_asm", {"size": 1024}, 10 * 32 + 5),
        ("mem.write_asm", {"size": 1024}, 10 * 32 + 4),
        ("mem.read_byte", {}, 10 * 128 + 3),
        ("mem.misaligned", {"offset": 1}, 10 * 32 + 3),
        ("flash.read_seq", {}, 18 * 496 + 6),
        ("flash.read_sporadic", {}, 8 * 239 + 9),
        ("flash.latency", {"to": "far"}, 64),
        ("icache.nops", {"width": 4, "size": 8192}, 2048),
    ],
)
def test_instructions_are_counted_exactly(
    bench: Bench, id_: str, params: dict[str, int | str], instructions: int
) -> None:
    """With the cache off, since with it on Ibex's minstret may be wrong by one."""
    assert bench.row(id_, params, icache=False).instructions == instructions


def test_a_slope_is_the_cost_of_a_single_pass(bench: Bench) -> None:
    """With the cache off, exactly; and all controls are 0."""
    slopes = [row for row in bench.result.rows if row.cycles and row.cycles.is_slope]
    ids = {row.id for row in slopes}
    assert ids == {b.id for b in catalogue.load().benchmarks.values() if b.passes} - {"time.read"}
    for row in slopes:
        assert row.cycles
        assert row.instret
        assert row.cycles.own_net is not None
        assert row.cycles.single_pass_net is not None
        if row.icache is False:
            assert row.cycles.own_net == pytest.approx(row.cycles.single_pass_net, abs=1), row.label
            assert row.instret.own_net == row.instret.single_pass_net, row.label
    assert all(row.net == 0 for row in bench.result.rows if row.is_control and not row.icache)


def test_a_load_takes_as_long_as_in_the_rtl(bench: Bench) -> None:
    """Earl Grey's RTL walks 500 nodes in 3006 cycles, 6 per node, with the cache on."""
    assert bench.net("mem.latency", "cycles", stride=16) == pytest.approx(3006, rel=0.01)


def test_the_stride_does_not_matter_since_ram_has_no_cache(bench: Bench) -> None:
    """With the i-cache on, the first walks differ, since the cache also holds harness code."""
    for icache, within in ((False, 0), (True, 10)):
        taken = [bench.net("mem.latency", "cycles", icache, stride=s) for s in (16, 32, 64)]
        assert max(taken) - min(taken) <= within


def test_loops_take_as_long_as_in_the_rtl(bench: Bench) -> None:
    assert bench.net("loop.empty", "cycles") == pytest.approx(3345, rel=0.01)
    assert bench.net("loop.align", "cycles", icache=False, offset=4) == pytest.approx(
        9994, rel=0.01
    )
    assert bench.net("loop.align", "cycles", icache=False, offset=0) == pytest.approx(
        11992, rel=0.01
    )


def test_version_1_has_the_same_figures_for_rows_without_the_kernel(
    bench: Bench, tmp_path: Path
) -> None:
    """Version 1 reads one counter per sample, on another kernel. The nets must be equal."""
    quick = "loop.empty,loop.taken,call.void,call.return,call.indirect,flash.latency"
    first = run_bench(tmp_path, "--abi", "1", "--only", quick, "--icache", "off")
    measured = [row for row in first.result.rows if row.id not in catalogue.HARNESS_ROWS]
    assert len(measured) >= 8
    for row in measured:
        other = bench.row(row.id, row.params, icache=False)
        assert (row.net, row.instructions) == (other.net, other.instructions), row.id


def test_rows_missing_in_version_1_are_skipped_with_a_reason(tmp_path: Path) -> None:
    lacking = {b.id: b.skip_v1 for b in catalogue.load().benchmarks.values() if b.skip_v1}
    groups = ",".join({id_.partition(".")[0] for id_ in lacking})
    result = run_bench(tmp_path, "--abi", "1", "--only", groups, "--icache", "off").result
    assert {gone.id: gone.why for gone in result.skipped} == lacking
    assert not result.failed + result.missing


def test_an_unchanged_run_comes_from_the_cache(
    bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The output and the result show it, and a fresh simulation gives the same."""
    monkeypatch.setenv("TOCKMARK_CACHE", str(tmp_path / "cache"))
    first, again, fresh = (
        run_bench(tmp_path, "--only", "upcall", *more) for more in ((), (), ("--fresh",))
    )
    message = "cache   2 of 2 boots were simulated before (--fresh repeats them); nothing was"
    assert [message in run.output for run in (first, again, fresh)] == [False, True, False]
    assert [run.whole.provenance.cached for run in (first, again, fresh)] == [0, 2, 0]
    assert first.whole.rows == again.whole.rows == fresh.whole.rows
    assert again.result.rows == tuple(row for row in bench.result.rows if row.app == "upcall")
    assert re.search(r"cached boots +2, ", tockmark("doctor").stdout)


def test_ctrl_c_keeps_the_rows_so_far(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    command = [TOCKMARK, "run", "--all-samples", "--jobs", "1", "-o", str(path)]
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, process_group=0
    )
    tasks = Path(f"/proc/{process.pid}/task")
    while not any(children.read_text() for children in tasks.glob("*/children")):
        time.sleep(0.1)  # until a simulator runs
    time.sleep(2)
    os.killpg(process.pid, signal.SIGINT)
    errors = process.communicate(timeout=30)[1]
    assert process.returncode == 130
    assert "tockmark: interrupted" in errors
    assert "Traceback" not in errors
    assert file.load(path).missing


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "--only", "nonsense"], "'nonsense'"),
        (["run", "--only", "syscal.comand"], "syscall.command"),
        (["run", "--kernel", "pyproject.toml"], "is not an ELF file"),
        (["run", "--kernel", "/nowhere"], "/nowhere"),
        (["run", "--board", "toaster"], "'toaster'"),
        (["table", "pyproject.toml"], "it is not JSON"),
        (["board", "parse", "pyproject.toml"], "intact"),
    ],
)
def test_bad_input_is_reported_in_one_line(arguments: list[str], message: str) -> None:
    errors = tockmark(*arguments, code=2).stderr
    assert message in errors
    assert errors.count("\n") == 1


def test_an_outdated_kernel_is_refused() -> None:
    """The kernel's stamp shows that it was built from other sources."""
    with tempfile.TemporaryDirectory(dir=paths.ROOT / "build") as folder:
        kernel = Path(shutil.copy(boards.load(boards.DEFAULT).kernels[2], folder))
        stamp_path(kernel).write_text(f"kernel {'0' * 64}\n")
        errors = tockmark("run", "--kernel", kernel, "--only", "time", code=2).stderr
    assert "make build" in errors
    assert errors.count("\n") == 1


def test_the_legs_of_ipc_sum_to_the_round_trip(bench: Bench) -> None:
    """The difference is only the few instructions that store the server's counter read."""
    there = bench.net("ipc.client_to_server", "cycles", icache=False)
    back = bench.net("ipc.server_to_client_late", "cycles", icache=False)
    assert abs(bench.net("ipc.round_trip", "cycles", icache=False) - there - back) < 50


def test_the_newer_ipc_copies_both_ways_and_serves_all_clients_at_the_same_cost(
    bench: Bench,
) -> None:
    def net(id_: str, *, icache: bool = False, **params: int | str) -> float:
        return bench.net(f"ipc2.{id_}", "cycles", icache=icache, **params)

    empty, request = net("round_trip", size=0), net("request", order="server_first")
    assert request < empty
    for size in (1024, 4096, 8192):
        both, there = net("round_trip", size=size) - empty, net("bandwidth", size=size) - request
        assert abs(both - 2 * there) < 0.03 * both
        assert there > size  # a load and a store of each word take at least two cycles each
    assert len({net("served", client=client) for client in ("first", "second", "third")}) == 1
    alone, answers = net("round_trip_late", size=0), 4  # each is a third
    assert abs(net("served", client="first") / (3 * answers) - alone) < 0.03 * alone
    # Earlier code matters if it evicts other code from the cache.
    assert net("working_set", kib=0) == net("working_set", kib=4)
    assert net("working_set", icache=True, kib=0) < net("working_set", icache=True, kib=4)


def test_the_simulator_times_rows_that_the_core_cannot_time(bench: Bench) -> None:
    def median(id_: str, **params: int | str) -> float:
        cycles = bench.row(id_, params, icache=False).cycles
        assert cycles is not None
        assert cycles.median is not None
        return cycles.median

    # A busy core also has to enter the kernel and switch processes.
    asleep, busy = (median("irq.upcall", core=core) for core in ("asleep", "busy"))
    assert median("irq.entry", core="busy") < asleep < busy
    assert median("sched.alarm_lateness", beside="alone") == asleep
    assert median("sched.alarm_lateness", beside="spinner") == busy
    # A time slice of 1 ms, and two switches that take less than a tenth of it.
    assert 24_000 < median("sched.preempted") < 26_400 + median("time.read")
    # Each additional app costs the same, within 5 %.
    boots = [median("boot.per_process", apps=apps) for apps in (1, 2, 3, 4)]
    steps = [after - before for before, after in itertools.pairwise(boots)]
    assert min(steps) > 100
    assert max(steps) < 1.05 * min(steps)


def test_no_row_exceeds_its_budget_of_simulated_cycles(bench: Bench) -> None:
    catalogue_, spent = catalogue.load(), bench.spent()
    assert set(spent) == {id_ for id_, row in catalogue_.benchmarks.items() if not row.skip_c}
    over = {id_: n for id_, n in spent.items() if n > catalogue_.benchmarks[id_].budget}
    assert not over, f"more than their budgets, in millions of cycles: {over}"
    assert bench.result.provenance.cycles <= catalogue_.budget * 1_000_000
