# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Captured logs, and options that name their board, kernel and cache setting."""

import struct
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from tockmark import BASELINE
from tockmark.base.errors import UNUSABLE
from tockmark.cli.app import app
from tockmark.result import file
from tockmark.result.model import Result as Measured
from tockmark.suite.catalogue import load
from tockmark.target import log as captured
from tockmark.target.board import Room
from tockmark.target.image import AppSlot
from tockmark.target.image_folder import FolderBoot, FolderKernel, ImageFolder, ImageManifest
from tockmark.target.kernel import KernelElf
from tockmark.tests.conftest import encoded
from tockmark.tests.of_samples import exit_code
from tockmark.wire.records import BootMark, Mark

RECORDS = [
    'begin proto=1 lang=c abi=2 apps=1 perf=0x90010 cc="gcc 12.2.0 -O3"',
    "bench time.read inner=1 n=9",
    "data cycles 200 169*8",
    "data instret 84*9",
    "bench sched.alarm_lateness beside=alone inner=1 n=9 clock=sim from=irq to=upcall",
    "end ok",
]
LOG = [f"tockmark-kernel: {BASELINE.partition('-')[2]} 0.1.0, apps: 1", *encoded("time", RECORDS)]


def parsed(tmp_path: Path, *options: str, log: list[str] = LOG) -> tuple[Result, Path]:
    """Run the verb on a log; return its outcome and the path of the result."""
    path, out = tmp_path / "uart.log", tmp_path / "uart.json"
    path.write_text("\n".join(log) + "\n", encoding="latin-1")
    done = CliRunner().invoke(app, ["board", "parse", str(path), "-o", str(out), *options])
    return done, out


def read(done: Result, out: Path) -> Measured:
    assert exit_code(done) != UNUSABLE, done.output
    return file.load(out)


@pytest.fixture(autouse=True)
def _old_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not wait for logs that are still being written."""
    monkeypatch.setattr(captured, "LOOK", 0)


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Return a function that makes a kernel with this name, without reading an ELF."""

    def make(name: str | None) -> Path:
        path = tmp_path / "kernel.elf"
        code = struct.pack("<8I", *range(8))
        elf = KernelElf(path, name, "e" * 64, None, ((0x20000400, code),), flash_bytes=28)
        monkeypatch.setattr("tockmark.cli.run_options.read_kernel", lambda _: elf)
        return path

    return make


def test_board_and_kernel_are_in_the_result(tmp_path: Path, kernel: Callable[..., Path]) -> None:
    elf = kernel(f"{BASELINE} 0.1.0 abi2 cw310")
    result = read(*parsed(tmp_path, "--board", "cw310", "--kernel", str(elf), "--opt-level", "3"))
    provenance = result.provenance
    assert (provenance.board.name, provenance.board.machine) == ("cw310", "cw310")
    assert (provenance.board.clock_hz, provenance.board.timing) == (24_000_000, "hardware")
    assert (provenance.kernel.sha256, provenance.kernel.opt_level) == ("e" * 64, "3")
    assert provenance.kernel.flash_bytes == 28
    assert provenance.abi == 2
    assert not result.simulated
    assert {row.icache for row in result.rows} == {True}  # from the profile
    (skipped,) = (row for row in result.skipped if row.id == "sched.alarm_lateness")
    assert "simulator's clock" in (skipped.why or "")


@pytest.mark.parametrize(
    ("options", "name", "log", "message"),
    [
        (["--kernel", "k"], "Tock 2.2", LOG, f"is of {BASELINE} 0.1.0"),
        (["--kernel", "k"], f"{BASELINE} 0.2.0 abi2 cw310", LOG, f"is of {BASELINE} 0.1.0"),
        (
            ["--kernel", "k"],
            f"{BASELINE} 0.1.0 abi1 cw310",
            LOG,
            "interface",
        ),
        (
            ["--kernel", "k", "--board", "nexysvideo"],
            f"{BASELINE} 0.1.0 abi2 cw310",
            LOG,
            "cw310",
        ),
        (["--abi", "1"], None, LOG, "interface"),
        (
            ["--icache", "on"],
            None,
            [BootMark("time", False, "time").encode(), *LOG],
            "icache=off",
        ),
        (
            ["--board", "cw310"],
            None,
            [Mark(1, 5, "irq").encode(), *LOG],
            "marks",
        ),
        (["--board", "cw311"], None, LOG, "'cw311'"),
        (["--opt-level", "z"], None, LOG, "kernel"),
    ],
)
def test_an_option_that_contradicts_the_log_is_an_error(
    options: list[str],
    name: str | None,
    log: list[str],
    message: str,
    tmp_path: Path,
    kernel: Callable[..., Path],
) -> None:
    kernel(name)
    done, out = parsed(tmp_path, *options, log=log)
    assert exit_code(done) == UNUSABLE
    assert message in str(done.exception)
    assert "\n" not in str(done.exception)
    assert not out.exists()


def folder_for(kernel: KernelElf, board: str = "cw310", image: str = "0123abcd") -> ImageFolder:
    """Return a folder with the boot `time`, without reading one."""
    app = AppSlot("time", "t.tab", "t.elf", "d" * 64, 0x20030000, 64, 0x10004000, 1024)
    manifest = ImageManifest(
        version=1,
        tockmark="0.1.0",
        board=board,
        abi=2,
        catalogue_sha256=load().sha256,
        kernel=FolderKernel("k.elf", kernel.sha256, Room(0, 1, 2, 3)),
        boots=(FolderBoot("time", "c", "t.flash", "f" * 64, image, (app,)),),
    )
    return ImageFolder(Path("out"), manifest)


def test_a_folder_of_images_gives_the_addresses_of_apps(
    tmp_path: Path, kernel: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    elf = kernel(f"{BASELINE} 0.1.0 abi2 cw310")
    own = KernelElf(elf, None, "e" * 64, None, ())
    begin = RECORDS[0].replace("cc=", "boot=time image=0123abcd cc=")
    log = encoded("time", [begin, *RECORDS[1:]])
    monkeypatch.setattr("tockmark.target.image_folder.read_folder", lambda _: folder_for(own))
    options = ["--kernel", str(elf), "--images", "out"]
    provenance = read(*parsed(tmp_path, *options, log=log)).provenance
    assert provenance.board.name == "cw310"
    assert [(run.boot, run.slots[0].flash_start) for run in provenance.boots] == [
        ("time", 0x20030000)
    ]
    for given_options, folder, message in (
        (options, folder_for(own, image="99999999"), "ran the image 0123abcd"),
        ([*options, "--board", "cw310"], folder_for(own, "nexysvideo"), "built for nexysvideo"),
        (options, folder_for(KernelElf(elf, None, "0" * 64, None, ())), "built for another kernel"),
    ):
        monkeypatch.setattr(
            "tockmark.target.image_folder.read_folder", lambda _, folder=folder: folder
        )
        done, _ = parsed(tmp_path, *given_options, log=log)
        assert exit_code(done) == UNUSABLE
        assert message in str(done.exception)
