# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Boots on the workers of a Dask cluster: two processes of this machine, some of which die.

Needs the products of `make build`.
"""

import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest
from distributed import LocalCluster
from typer.testing import CliRunner

import tockmark
from tockmark.base.errors import INCOMPLETE, OK, UNUSABLE
from tockmark.cli.app import app
from tockmark.result import file
from tockmark.result.model import Result
from tockmark.result.provenance import BootHost
from tockmark.target import board as boards
from tockmark.target import dask
from tockmark.target.dask import DEATHS
from tockmark.target.sim import SimTarget

ROW = "syscall.command"  # one boot per cache setting
# Runs the simulator. With the cache on, it kills its worker FATAL times, each time after the boot
# with the cache off has ended.
DEADLY = """#!/bin/sh
cd FOLDER
case "$*" in
*"--icache on"*)
    for look in $(seq 200); do [ -e off ] || sleep 0.1; done
    if [ $(cat deaths | wc -l) -lt FATAL ]; then
        echo >> deaths
        kill -9 $PPID
        sleep 60
    fi
    exec SIMULATOR "$@" ;;
esac
SIMULATOR "$@"; code=$?
touch off
exit $code
"""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The address of the scheduler of a cluster of two processes."""
    with LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=60
    ) as cluster:
        yield cluster.scheduler_address


@pytest.fixture
def deadly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Return a function that makes N workers die during a boot."""

    def make(deaths: int) -> None:
        profile = boards.load(boards.DEFAULT)
        assert isinstance(profile.target, SimTarget)
        text = DEADLY.replace("FATAL", str(deaths)).replace("FOLDER", str(tmp_path))
        text = text.replace("SIMULATOR", str(profile.target.binary.absolute()))
        binary = tmp_path / "simulator"
        binary.write_text(text)
        binary.chmod(0o755)
        (tmp_path / "deaths").touch()
        target = msgspec.structs.replace(profile.target, binary=binary)
        changed = msgspec.structs.replace(profile, target=target)
        monkeypatch.setattr(boards, "load", lambda name: changed)

    return make


def run(folder: Path, code: int, *options: str) -> Result:
    """Run two boots, check the exit code, and return the result."""
    output = folder / f"{len(list(folder.glob('*.json')))}.json"
    done = CliRunner().invoke(app, ["run", "--only", ROW, "-o", str(output), *options])
    assert done.exit_code == code, (done.output, done.exception)
    return file.load(output)


def error_of(*options: str) -> str:
    """Return the error of a run that cannot start."""
    done = CliRunner().invoke(app, ["run", "--only", ROW, *options])
    assert getattr(done.exception, "code", None) == UNUSABLE, done.output
    return str(done.exception)


def test_a_dying_worker_changes_no_sample_and_the_result_names_the_hosts(
    address: str, deadly: Callable[[int], None], tmp_path: Path
) -> None:
    here = run(tmp_path, OK)
    assert here.provenance.hosts == ()
    assert '"hosts"' not in (tmp_path / "0.json").read_text()
    deadly(1)
    there = run(tmp_path, OK, "--dask", address)
    assert len((tmp_path / "deaths").read_text()) == 1
    assert there.rows == here.rows
    host = socket.gethostname()
    hosts = {BootHost(host, "syscall", "on"), BootHost(host, "syscall", "off")}
    assert set(there.provenance.hosts) == hosts


def test_three_deaths_in_a_boot_end_the_run_and_keep_finished_boots(
    address: str, deadly: Callable[[int], None], tmp_path: Path
) -> None:
    deadly(99)
    result = run(tmp_path, INCOMPLETE, "--dask", address)
    assert len((tmp_path / "deaths").read_text()) == DEATHS
    assert {row.icache for row in result.rows} == {False}
    assert any(f"{DEATHS} Dask workers died" in why for why in result.incomplete)


def test_workers_need_the_same_version(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tockmark, "__version__", "0.0.1")
    dask.connect.cache_clear()
    assert "tockmark" in error_of("--dask", address)
    dask.connect.cache_clear()


def test_a_missing_scheduler_or_package_is_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(dask, "CONNECT", 1)
    assert "tcp://127.0.0.1:9" in error_of("--dask", "tcp://127.0.0.1:9")
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert "'tockmark[dask]'" in error_of("--dask", "tcp://127.0.0.1:9")
