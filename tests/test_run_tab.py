# SPDX-License-Identifier: Apache-2.0 OR MIT
"""`tockmark board run-tab` runs any apps on the simulator, and reports errors in one line."""

import functools
import io
import operator
import os
import signal
import struct
import subprocess
import sys
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
import scratch

from tockmark.base import paths
from tockmark.cli import app
from tockmark.target.tab import parse_tbfs

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


def repacked(
    tab: Path,
    out: Path,
    arch: str = "rv32imc",
    change: Callable[[bytes], bytes] = bytes,
    metadata: Callable[[bytes], bytes | None] = bytes,
) -> Path:
    """Return a TAB with the same program for another architecture, with a changed program, or with
    other metadata (None: without)."""
    with tarfile.open(tab) as old, tarfile.open(out, "w") as new:
        for member in old:
            content = old.extractfile(member)
            assert content is not None
            is_program = member.name.endswith(".tbf")
            data = (change if is_program else metadata)(content.read())
            if data is not None:
                member.name = f"{arch}.tbf" if is_program else member.name
                member.size = len(data)
                new.addfile(member, io.BytesIO(data))
    return out


def for_another_kernel(program: bytes) -> bytes:
    """Return a program that wants version 99 of the kernel's interface."""
    words, (length,) = bytearray(program), struct.unpack_from("<H", program, 2)
    at = program.index(struct.pack("<HH", 8, 4), 16, length)
    struct.pack_into("<HH", words, at + 4, 99, 0)
    struct.pack_into("<I", words, 12, 0)
    checksum = functools.reduce(operator.xor, struct.unpack_from(f"<{length // 4}I", words))
    struct.pack_into("<I", words, 12, checksum)
    return bytes(words)


def faulting(program: bytes) -> bytes:
    """Return a program whose instructions are all illegal."""
    (app,) = parse_tbfs(program, 0, 0)
    assert app.entry
    return program[: app.entry] + bytes(len(program) - app.entry)


@pytest.mark.parametrize(
    ("change", "code", "words"),
    [
        (for_another_kernel, 2, "did not start idle"),
        (faulting, 1, "sleeps"),
    ],
)
def test_an_app_that_cannot_run_has_its_exit_code(
    change: Callable[[bytes], bytes], code: int, words: str, idle: Path, tmp_path: Path
) -> None:
    tab = repacked(idle, tmp_path / "changed.tab", change=change)
    done = tockmark("board", "run-tab", tab, "--max-cycles", "400000", code=code)
    assert "tockmark-kernel: app idle" in done.stdout
    assert words in done.stderr.splitlines()[-1]


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
    none = repacked(idle, tmp_path / "none.tab", change=lambda program: bytes(64))
    cut = repacked(idle, tmp_path / "cut.tab", change=lambda program: program[:-8])
    without = repacked(idle, tmp_path / "without.tab", metadata=lambda old: None)
    empty = repacked(idle, tmp_path / "empty.tab", metadata=lambda old: b"")
    text = repacked(idle, tmp_path / "text.tab", metadata=lambda old: b"a\n")
    other = b'only-for-boards = "hail, imix"\n'
    others = repacked(idle, tmp_path / "others.tab", metadata=lambda old: other + old)
    link = tmp_path / "link.tab"
    with tarfile.open(link, "w") as archive:
        member = tarfile.TarInfo("rv32imc.tbf")
        member.type, member.linkname = tarfile.SYMTYPE, "/another-folder"
        archive.addfile(member)
        metadata = tarfile.TarInfo("metadata.toml")
        content = b'name = "link"\ntab-version = 1\n'
        metadata.size = len(content)
        archive.addfile(metadata, io.BytesIO(content))
    longer = tmp_path / "long.tab"
    longer.write_bytes(syscall.read_bytes()[:-9000])
    cases: list[tuple[tuple[str | Path, ...], str]] = [
        ((bad,), "bad.tab: not a TAB: "),
        ((longer,), "long.tab: not a TAB: "),
        ((tmp_path / "gone.tab",), "cannot read "),
        ((tmp_path,), "cannot read "),
        ((arm,), "arm.tab has no program for rv32imc; it has: cortex-m4. Build it for rv32imc"),
        ((none,), "none.tab is damaged: its program for rv32imc has no valid header"),
        ((cut,), "cut.tab is damaged"),
        ((without,), "without.tab: not a TAB: its metadata.toml is missing"),
        ((empty,), "empty.tab: not a TAB: its metadata.toml "),
        ((text,), "text.tab: not a TAB: its metadata.toml "),
        ((others,), "others.tab is only for hail, imix, not for opentitan_earlgrey"),
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
