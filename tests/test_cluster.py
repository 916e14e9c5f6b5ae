# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A run on a real Dask cluster: a scheduler and two workers, all processes of their own, none of
which could import tockmark.

Needs what `make build` makes.
"""

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import distributed
import pytest
from typer.testing import CliRunner

from tockmark import paths
from tockmark.cli.app import app
from tockmark.errors import INTERRUPTED, TockmarkError
from tockmark.result import file
from tockmark.rig import cluster, cluster_worker
from tockmark.rig.kinds import sim
from tockmark.rig.protocol import Start
from tockmark.tests import stand_in

TOCKMARK = str(Path(sys.executable).with_name("tockmark"))
# Without `site` the packages of the environment are there by PYTHONPATH, and what is installed to
# be edited, which is tockmark, is not.
BARE = (sys.executable, "-S")
PACKAGES = {"PYTHONPATH": str(Path(distributed.__file__).parents[1])}
PATIENCE = 120.0  # seconds for something to happen on a slow machine
LOOKS = 2400  # after something that is to happen, a twentieth of a second apart
# In two layouts, with the cache on and off: boots of half a million cycles.
CAMPAIGN = ("--only", "upcall,fault", "--layouts", "2", "--fresh")


@dataclass
class Here:
    """A cluster on this machine."""

    address: str
    client: distributed.Client
    folder: Path
    processes: dict[str, subprocess.Popen[bytes]]

    def begin(self, name: str, *command: str) -> None:
        environment = {"PATH": os.environ["PATH"], **PACKAGES}
        with (self.folder / f"{name}.log").open("wb") as said:
            self.processes[name] = subprocess.Popen(
                [*BARE, "-m", *command], cwd=self.folder, env=environment, stdout=said, stderr=said
            )

    def worker(self, name: str) -> None:
        options = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--name", name)
        self.begin(name, "distributed.cli.dask_worker", self.address, *options)
        until(lambda: name in self.at_work())

    def at_work(self) -> dict[str, int]:
        """How many simulations each worker has begun."""
        known = self.client.scheduler_info(n_workers=-1)["workers"]
        tasks = self.client.processing()  # type: ignore[no-untyped-call]
        return {
            one["name"]: sum("simulate" in task for task in tasks.get(address, ()))
            for address, one in known.items()
        }

    def kill(self, name: str) -> None:
        process = self.processes.pop(name)
        process.kill()
        process.wait()


def until(true: Callable[[], bool]) -> None:
    for _ in range(LOOKS):
        if true():
            return
        time.sleep(0.05)
    pytest.fail("it does not happen")


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Here]:
    folder = tmp_path_factory.mktemp("cluster")
    told = folder / "scheduler.json"
    made = Here("", None, folder, {})  # type: ignore[arg-type]
    options = ("--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file")
    made.begin("scheduler", "distributed.cli.dask_scheduler", *options, str(told))
    try:
        until(lambda: told.exists() and told.read_text().rstrip().endswith("}"))
        made.client = distributed.Client(  # type: ignore[no-untyped-call]
            scheduler_file=str(told), set_as_default=False
        )
        made.address = json.loads(told.read_text())["address"]
        yield made
    finally:
        if made.client is not None:
            made.client.close()  # type: ignore[no-untyped-call]
        for process in made.processes.values():
            process.kill()  # a worker that is asked to end first ends its simulation
            process.wait()


def run(folder: Path, *arguments: str) -> tuple[str, bytes]:
    """A run's result less its date, and its log."""
    path = folder / "r.json"
    command = [TOCKMARK, "run", *CAMPAIGN, "-o", str(path), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=paths.ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    text = path.read_text().splitlines()
    return "\n".join(line for line in text if '"date"' not in line), path.with_suffix(
        ".log"
    ).read_bytes()


def test_workers_have_nothing_of_ours(here: Here) -> None:
    done = subprocess.run(
        [*BARE, "-c", "import distributed, tockmark"],
        cwd=here.folder,
        env=PACKAGES,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "No module named 'tockmark'" in done.stderr
    here.worker("first")
    assert set(here.client.run(importlib.util.find_spec, "tockmark").values()) == {None}
    assert None not in here.client.run(importlib.util.find_spec, "distributed").values()


def test_a_lost_worker_changes_nothing(here: Here, tmp_path: Path) -> None:
    """Two work, one is killed while it does; a result is that of a local run, byte for byte."""
    if "first" not in here.processes:
        here.worker("first")
    here.worker("second")
    path = tmp_path / "far.json"
    command = [TOCKMARK, "run", *CAMPAIGN, "-o", str(path), "--cluster", here.address]
    under_way = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=paths.ROOT
    )
    until(lambda: under_way.poll() is not None or min(here.at_work().values()) > 0)
    assert under_way.poll() is None, under_way.communicate()[0]
    here.kill("second")
    said = under_way.communicate(timeout=10 * PATIENCE)[0]
    assert under_way.returncode == 0, said
    assert set(here.at_work()) == {"first"}
    text = "\n".join(line for line in path.read_text().splitlines() if '"date"' not in line)
    assert (text, path.with_suffix(".log").read_bytes()) == run(tmp_path)


def test_what_cannot_be_used_is_one_line(
    here: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "CONNECT", 1.0)
    for address in ("tcp://127.0.0.1:1", "nonsense://x", "127.0.0.1:x"):
        with pytest.raises(TockmarkError, match=r"give --cluster tcp://|has no worker"):
            cluster.connect(address)
    for name in [name for name in here.processes if name != "scheduler"]:
        here.kill(name)
    until(lambda: not here.at_work())
    with pytest.raises(TockmarkError, match="has no worker, or no scheduler; start one"):
        cluster.connect(here.address)


def test_without_dask_it_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(TockmarkError, match=r"needs Dask: .*; run `make setup`"):
        cluster.connect("tcp://127.0.0.1:2")


def test_a_simulator_that_needs_libraries_does_not_travel(tmp_path: Path) -> None:
    cluster.check_static(paths.ROOT / "build/sim/cw310/earlgrey-sim")
    source = tmp_path / "x.c"
    source.write_text("int main(void) { return 0; }\n")
    subprocess.run(["gcc", str(source), "-o", str(tmp_path / "x")], check=True)
    with pytest.raises(TockmarkError, match="is linked to libraries"):
        cluster.check_static(tmp_path / "x")


@pytest.mark.parametrize("ending", ["0", "3", "7", "77"])
def test_what_comes_back_is_what_a_local_run_says(
    ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Odd ends of lines and odd bytes, too."""
    binary, flash = tmp_path / "stand-in", tmp_path / "boot.flash"
    binary.write_text(stand_in.STAND_IN.replace("print(line,", "put(line,").replace(
        "import sys, time",
        "import sys, time\ndef put(line, flush):\n"
        "    sys.stdout.buffer.write(line.encode() + b'\\r\\n\\xff\\r')\n    sys.stdout.flush()",
    ))  # fmt: skip
    binary.chmod(0o755)
    stand_in.end(tmp_path, "boot", ending, ["one", "two", "", "three"])
    target, start = sim.SimTarget(binary, True, 16, 1000), Start("boot", flash, True)

    class Done:
        def outcome(self) -> cluster_worker.Outcome:
            packed = (zlib.compress(path.read_bytes()) for path in (binary, flash))
            program, image = packed
            return cluster_worker.simulate(program, image, ())

    def whole(session: sim.Ended) -> tuple[object, ...]:
        lines, ended = list(session.lines()), session.ending()  # type: ignore[attr-defined]
        return lines, ended, session.cycles, session.panicked, session.idle, session.killed

    distant = sim.Distant(run=Done())  # type: ignore[arg-type]
    assert whole(distant) == whole(target.start_here(start))


def test_a_program_that_is_still_open_elsewhere_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries: list[int] = []
    real = subprocess.run

    def busy(*given: object, **more: object) -> object:
        tries.append(1)
        if len(tries) < 3:
            raise OSError(26, "Text file busy")
        return real(["true"], capture_output=True, check=False)

    monkeypatch.setattr(subprocess, "run", busy)
    empty = zlib.compress(b"")
    assert cluster_worker.simulate(empty, empty, ()) == (0, b"", b"")
    assert len(tries) == 3


class Never:
    """What does not come."""

    def result(self, timeout: float) -> None:
        raise TimeoutError

    def cancel(self) -> None:
        pass

    def nthreads(self) -> dict[str, int]:
        return {}


def test_a_cluster_without_workers_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "PATIENCE", 0.0)
    gone = cluster.Cluster("tcp://x:1", Never())
    with pytest.raises(TockmarkError, match=r"tcp://x:1 did not simulate it: no worker is left"):
        cluster.ClusterRun(gone, Never()).outcome()


def test_what_was_stopped_says_so() -> None:
    distant = sim.Distant(run=cluster.ClusterRun(None, Never()))  # type: ignore[arg-type]
    distant.stop()
    assert list(distant.lines()) == []
    assert distant.ending() == f"the simulator was stopped by signal {signal.SIGTERM.value}"
    assert distant.killed


@pytest.mark.parametrize(
    "command",
    [
        ["run", "--only", "time"],
        ["judge", "--base", "k.elf", "--head", "k.elf"],
        ["bisect", ".", "a", "b", "--row", "syscall.command", "--limit", "+2 %", "--build", "true"],
    ],
)
def test_every_verb_that_simulates_much_takes_a_cluster(
    command: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "CONNECT", 1.0)
    more = ["--elf", "k"] if command[0] == "bisect" else []
    given = [*command, *more, "--cluster", f"nonsense://{command[0]}"]
    done = CliRunner().invoke(app, given)
    assert isinstance(done.exception, TockmarkError), done.output
    assert "is no Dask scheduler that answers" in str(done.exception)
    done = CliRunner().invoke(app, [*given, "--board", "qemu"])
    assert "means nothing to a target of kind 'qemu'" in str(done.exception)


def test_ctrl_c_ends_a_run_whose_boots_are_elsewhere(here: Here, tmp_path: Path) -> None:
    if not here.at_work():
        here.worker("third")
    path = tmp_path / "r.json"
    limit = ("--max-cycles", "5000000")  # the worker ends what it has begun
    command = [TOCKMARK, "run", "--only", "mem", *limit, "--cluster", here.address, "-o", str(path)]
    under_way = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=paths.ROOT
    )
    until(lambda: under_way.poll() is not None or max(here.at_work().values()) > 0)
    under_way.send_signal(signal.SIGINT)
    said = under_way.communicate(timeout=PATIENCE)[0]
    assert under_way.returncode == INTERRUPTED, said
    assert "tockmark: interrupted" in said
    assert "Traceback" not in said
    assert file.load(path).missing
