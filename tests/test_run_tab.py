# SPDX-License-Identifier: Apache-2.0 OR MIT
"""`tockmark board run-tab` runs any apps on the simulator, and reports errors in one line."""

import io
import os
import signal
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
import scratch

from tockmark.base import paths
from tockmark.cli import app

COMMAND = [sys.executable, "-m", "tockmark"]
ENVIRONMENT = os.environ | {"PYTHONPATH": str(paths.ROOT / "tools")}
BEGIN = "#tm 0 syscall begin proto=1 lang=c abi=2"


def tockmark(*words: str | Path, code: int = 0) -> subprocess.CompletedProcess[str]:
    """Run the tool."""
    return scratch.run(paths.ROOT, "tockmark", *words, code=code)


@pytest.fixture(scope="module")
def tabs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """TABs of two apps at adjacent addresses: syscall, and one that sleeps."""
    out = tmp_path_factory.mktemp("tabs") / "out"
    tockmark("board", "image", "by_processes-2", "-o", out)
    return out / "c"


@pytest.fixture
def syscall(tabs: Path) -> Path:
    return tabs / "by_processes-2.0.tab"


@pytest.fixture
def idle(tabs: Path) -> Path:
    return tabs / "by_processes-2.1.tab"


def repacked(tab: Path, out: Path, arch: str = "rv32imc", change: bytes | None = None) -> Path:
    """Return a TAB with the same program for another architecture, or with other bytes."""
    with tarfile.open(tab) as old, tarfile.open(out, "w") as new:
        for member in old:
            content = old.extractfile(member)
            assert content is not None
            data = content.read()
            if member.name.endswith(".tbf"):
                member.name = f"{arch}.tbf"
                data = data if change is None else change
                member.size = len(data)
            new.addfile(member, io.BytesIO(data))
    return out


def test_several_tabs_run_in_any_order_until_the_limit(syscall: Path, idle: Path) -> None:
    done = tockmark("board", "run-tab", idle, syscall, "--max-cycles", "400000")
    places = done.stderr.splitlines()
    assert [line.split()[2] for line in places[:2]] == ["syscall,", "idle,"]
    assert "400000" in places[2]
    assert done.stdout.splitlines()[0].endswith("apps: 2")
    assert done.stdout.splitlines()[1].startswith(BEGIN)


def test_an_app_may_sleep_forever_on_a_terminal(idle: Path) -> None:
    done = tockmark("board", "run-tab", idle, "--board", "sim-pty")
    assert "sleeps" in done.stderr.splitlines()[-1]


def test_ctrl_c_keeps_what_was_shown(tmp_path: Path) -> None:
    """The app `mem` runs for half a second."""
    tockmark("board", "image", "mem", "-o", tmp_path / "out")
    with subprocess.Popen(
        [*COMMAND, "board", "run-tab", tmp_path / "out" / "c" / "mem.0.tab"],
        cwd=paths.ROOT,
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert process.stdout.readline().startswith("#tm 0 mem begin")
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert stderr.splitlines()[-1] == "tockmark: interrupted"
    assert "Traceback" not in stderr


def test_an_error_is_one_line(
    syscall: Path,
    idle: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """The test calls the tool in this process, because there are many cases."""
    bad, arm = tmp_path / "bad.tab", repacked(idle, tmp_path / "arm.tab", "cortex-m4")
    bad.write_text("hello")
    none = repacked(idle, tmp_path / "none.tab", change=b"\0" * 64)
    link, pipe = tmp_path / "link.tab", tmp_path / "pipe.tab"
    with tarfile.open(link, "w") as archive:
        member = tarfile.TarInfo("rv32imc.tbf")
        member.type, member.linkname = tarfile.SYMTYPE, "/another-folder"
        archive.addfile(member)
    os.mkfifo(pipe)
    longer = tmp_path / "long.tab"
    longer.write_bytes(syscall.read_bytes()[:-9000])
    cases: list[tuple[tuple[str | Path, ...], str]] = [
        ((bad,), "bad.tab: not a TAB: "),
        ((longer,), "long.tab: not a TAB: "),
        ((tmp_path / "gone.tab",), "cannot read "),
        ((tmp_path,), "is not a file. Give TABs"),
        ((pipe,), "pipe.tab is not a file. Give TABs"),
        ((arm,), "arm.tab has no program for rv32imc; it has: cortex-m4. Build it for rv32imc"),
        ((none,), "none.tab is damaged: its program for rv32imc has no valid header"),
        ((link,), "link.tab has no program for rv32imc; it has: none"),
        ((syscall, arm), "arm.tab has no program for rv32imc"),
        ((idle, idle), "tockloader installed 1 of 2 TABs: idle. Give each app a different name"),
        ((idle, "--kernel", idle), "is not an ELF file"),
        ((idle, "--kernel", tmp_path / "gone"), "gone. Give the kernel's .elf"),
        ((idle, "--board", "nexysvidio"), "there is no board 'nexysvidio'"),
        ((idle, "--board", "cw310", "--max-cycles", "9"), "--max-cycles has no effect on a target"),
        ((idle, "--board", "cw310", "--icache", "on"), "cw310 cannot run with another cache"),
        ((idle, "--board", "cw310"), "run-tab does not load cw310. Omit --board"),
    ]
    monkeypatch.chdir(paths.ROOT)
    for words, message in cases:
        monkeypatch.setattr(sys, "argv", ["tockmark", "board", "run-tab", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            app.main()
        out, error = capfd.readouterr()
        assert (ended.value.code, out) == (2, "")
        (line,) = error.splitlines()
        assert message in line
