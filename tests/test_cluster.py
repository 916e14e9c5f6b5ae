# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Runs on workers that shell commands reach: on this machine here, as `ssh` reaches another. What
false and failing workers do is in tools/tockmark/tests/test_workers.py.

Needs what `make build` makes.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tockmark import paths
from tockmark.cli.app import app
from tockmark.errors import INCOMPLETE, INTERRUPTED, OK, TockmarkError
from tockmark.result import file
from tockmark.rig import cluster

TOCKMARK = str(Path(sys.executable).with_name("tockmark"))
PATIENCE = 120.0  # seconds for something to happen on a slow machine
LOOKS = 2400  # after something that is to happen, a twentieth of a second apart
# In two layouts, with the cache on and off: boots of half a million cycles.
CAMPAIGN = ("--only", "upcall,fault", "--layouts", "2", "--fresh")
MARKS = ('"date"', '"elsewhere"', '"draws"')  # what differs by where a boot was simulated


def until(true: Callable[[], bool]) -> None:
    for _ in range(LOOKS):
        if true():
            return
        time.sleep(0.05)
    pytest.fail("it does not happen")


def worker(folder: Path, name: str, more: str = "") -> str:
    """A command that reaches a worker on this machine, and says its process id."""
    path = folder / name
    path.write_text(f'#!/bin/sh\n{more}\necho $$ > {folder}/{name}.pid\nexec sh -c "$1"\n')
    path.chmod(0o755)
    return str(path)


def simulators_of(pid: Path) -> list[str]:
    """What a worker has under way."""
    if not pid.exists() or not pid.read_text():
        return []
    tasks = Path(f"/proc/{pid.read_text().strip()}/task")
    found = [one for task in tasks.glob("*/children") for one in task.read_text().split()]
    return [one for one in found if b"--flash" in command_of(one)]


def command_of(pid: str) -> bytes:
    try:
        return Path("/proc", pid, "cmdline").read_bytes()
    except OSError:  # it has just ended
        return b""


def begun(*arguments: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [TOCKMARK, "run", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        cwd=paths.ROOT,
    )


def plain(path: Path) -> tuple[str, str]:
    """A result and its log, less their date and their marks."""
    lines = [line for line in path.read_text().splitlines() if not line.strip().startswith(MARKS)]
    log = path.with_suffix(".log").read_text().splitlines()
    return "\n".join(lines), "\n".join(line for line in log if line[:5] not in ("#boot", "#end "))


def test_a_lost_worker_changes_nothing(tmp_path: Path) -> None:
    """Two work, one is killed while it does; a result is that of a local run, byte for byte but for
    its date and the marks of where each boot was simulated."""
    far, near = tmp_path / "far.json", tmp_path / "near.json"
    first, second = (worker(tmp_path, name) for name in ("first", "second"))
    commands = ("--cluster", first, "--cluster", second)
    under_way = begun(*CAMPAIGN, "-o", str(far), *commands)
    pid = tmp_path / "second.pid"
    until(lambda: under_way.poll() is not None or bool(simulators_of(pid)))
    assert under_way.poll() is None, under_way.communicate()[0]
    os.kill(int(pid.read_text()), signal.SIGKILL)
    said = under_way.communicate(timeout=10 * PATIENCE)[0]
    assert under_way.returncode == OK, said
    assert f"worker '{second}' is discarded: it ended" in said
    done = begun(*CAMPAIGN, "-o", str(near))
    assert done.communicate()[0]
    assert plain(far) == plain(near)
    known = file.load(far).provenance
    assert sum(len(one.boots) for one in known.elsewhere) == 8
    assert {one.by for one in known.elsewhere} <= {first, second}
    assert "checked" in {one.vouched for one in known.elsewhere}
    assert known.foreign
    assert "ELSEWHERE" in said
    assert "which nothing vouches for (run with --check all)" in " ".join(said.split())
    assert file.load(near).provenance.elsewhere == ()


def test_an_altered_boot_is_found_and_costs_the_exit_code(tmp_path: Path) -> None:
    """What comes back has the right form and lengths, and other words. All is drawn: what is
    printed and written is what this machine simulates."""
    false, bare = tmp_path / "false", worker(tmp_path, "bare")
    (tmp_path / "alter.py").write_text(
        "import os\nwhile data := os.read(0, 1 << 16):\n"
        "    os.write(1, data.replace(b'cycles', b'cyclez'))\n"
    )
    false.write_text(f'#!/bin/sh\n{bare} "$1" | {sys.executable} {tmp_path}/alter.py\n')
    false.chmod(0o755)
    path = tmp_path / "r.json"
    more = ("--only", "upcall", "--icache", "off", "--fresh", "-o", str(path))
    done = begun(*more, "--cluster", str(false), "--check", "all", "--json")
    said = done.communicate(timeout=PATIENCE)[0]
    assert done.returncode == INCOMPLETE, said
    result = file.load(path)
    assert result.incomplete == ()
    assert result.provenance.elsewhere == ()
    assert result.provenance.draws[0].discarded == (str(false),)
    assert f"'{false}' is not believed" in said


@pytest.mark.parametrize(
    "command",
    [
        ["run", "--only", "time"],
        ["judge", "--base", "k.elf", "--head", "k.elf"],
        ["bisect", ".", "a", "b", "--row", "syscall.command", "--limit", "+2 %", "--build", "true"],
    ],
)
def test_every_verb_that_simulates_much_takes_a_cluster(command: list[str]) -> None:
    more = ["--elf", "k"] if command[0] == "bisect" else []
    given = [*command, *more, "--cluster", f"tcp://{command[0]}:8786"]
    done = CliRunner().invoke(app, given)
    assert isinstance(done.exception, TockmarkError), done.output
    assert 'give a command that runs a shell line elsewhere: --cluster "ssh' in str(done.exception)
    done = CliRunner().invoke(app, [*given, "--board", "qemu"])
    assert "means nothing to a target of kind 'qemu'" in str(done.exception)
    done = CliRunner().invoke(app, [*command, *more, "--check", "none"])
    assert "--check none is no share; give N for one in N, or `all`" in str(done.exception)


def test_a_simulator_that_needs_libraries_does_not_travel(tmp_path: Path) -> None:
    cluster.check_static(paths.ROOT / "build/sim/cw310/earlgrey-sim")
    source = tmp_path / "x.c"
    source.write_text("int main(void) { return 0; }\n")
    subprocess.run(["gcc", str(source), "-o", str(tmp_path / "x")], check=True)
    with pytest.raises(TockmarkError, match="is linked to libraries"):
        cluster.check_static(tmp_path / "x")


def test_ctrl_c_ends_a_run_whose_boots_are_elsewhere(tmp_path: Path) -> None:
    """And what they had begun there."""
    path, pid = tmp_path / "r.json", tmp_path / "own.pid"
    under_way = begun("--only", "mem", "--cluster", worker(tmp_path, "own"), "-o", str(path))
    until(lambda: under_way.poll() is not None or bool(simulators_of(pid)))
    children = simulators_of(pid)
    under_way.send_signal(signal.SIGINT)
    said = under_way.communicate(timeout=PATIENCE)[0]
    assert under_way.returncode == INTERRUPTED, said
    assert "tockmark: interrupted" in said
    assert "Traceback" not in said
    assert file.load(path).missing
    until(lambda: not any(Path("/proc", one).exists() for one in children))
    assert not Path("/proc", pid.read_text().strip()).exists()


def test_a_killed_run_leaves_no_worker(tmp_path: Path) -> None:
    pid = tmp_path / "own.pid"
    under_way = begun("--only", "mem", "--cluster", worker(tmp_path, "own"), "-o", "/dev/null")
    until(lambda: under_way.poll() is not None or bool(simulators_of(pid)))
    under_way.kill()
    under_way.communicate()
    until(lambda: not Path("/proc", pid.read_text().strip()).exists())


def test_json_says_nothing_else_on_stdout(tmp_path: Path) -> None:
    """What is said of workers goes to stderr."""
    dead = worker(tmp_path, "dead", "echo >&2 no; exit 1")
    done = subprocess.run(
        [TOCKMARK, "run", "--only", "upcall", "--icache", "off", "--json", "-o", "/dev/null",
         "--cluster", dead, "--cluster", worker(tmp_path, "own")],
        capture_output=True, text=True, check=False, cwd=paths.ROOT,
    )  # fmt: skip
    assert json.loads(done.stdout)["boots"]["all"] == 1
    assert f"worker '{dead}' is discarded: it ended: no" in done.stderr
