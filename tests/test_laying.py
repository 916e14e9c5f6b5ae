# SPDX-License-Identifier: Apache-2.0 OR MIT
"""`tockmark board image` and `install`: tockloader reads the images, loaders are called with the
right arguments, and no other file is replaced."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import scratch

from tockmark.base import paths
from tockmark.result import file
from tockmark.target import board as boards
from tockmark.target import image_folder
from tockmark.target.image import TOCKLOADER, install_with_tockloader
from tockmark.target.image_folder import ImageFolder

SIMULATOR = paths.ROOT / "build" / "sim" / "cw310" / "earlgrey-sim"
ONLY = "ipc,upcall,irq"  # boots of one app and of two, and boots that a board cannot measure
PRINTER = f"""#!{sys.executable}
import sys
open(sys.argv[0] + ".called", "w").write("\\n".join(sys.argv[1:]))
"""


def tockmark(
    *words: str | Path, code: int = 0, on_path: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the tool, with a folder of other tools first on PATH."""
    path = ":".join([*([str(on_path)] if on_path else []), os.environ["PATH"]])
    done = scratch.run(paths.ROOT, "tockmark", *words, code=code, PATH=path)
    assert "Traceback" not in done.stderr
    return done


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("laid") / "out"
    done = tockmark("board", "image", "--board", "cw310", "--only", ONLY, "-o", folder)
    assert done.stdout == (
        "omitted 2 of 5 boots, irq-asleep, irq-busy: needs the simulator's clock,"
        " which this target does not have\n"
        f"3 images, each to be flashed once: {folder}/\n"
    )
    return folder


@pytest.fixture
def folder(out: Path) -> ImageFolder:
    return image_folder.read_folder(out)


def test_tockloader_lists_the_apps_of_each_flash_file(folder: ImageFolder) -> None:
    address = hex(folder.manifest.kernel.room.flash_start)
    for boot in folder.manifest.boots:
        file = str(folder.folder / boot.flash)
        where = ["--board", "opentitan_earlgrey", "--app-address", address]
        command = [str(TOCKLOADER), "list", "-q", "--flash-file", file, *where]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert done.stdout.split() == [app.name for app in boot.slots]


def test_tockloader_installs_the_same_bytes(folder: ImageFolder, tmp_path: Path) -> None:
    board, room = boards.load("cw310"), folder.manifest.kernel.room
    for boot in folder.manifest.boots:
        image = (folder.folder / boot.flash).read_bytes()
        copy = tmp_path / f"{boot.name}.flash"
        copy.write_bytes(image[: room.flash_start - board.flash.base])
        tabs = [folder.folder / app.tab for app in boot.slots]
        install_with_tockloader(tabs, copy, board, room)
        assert copy.read_bytes() == image, boot.name


def test_the_flash_begins_with_the_kernel(folder: ImageFolder) -> None:
    kernel = folder.kernel()
    base = boards.load("cw310").flash.base
    for boot in folder.manifest.boots:
        flash = (folder.folder / boot.flash).read_bytes()
        differ = 0
        for address, data in kernel.segments:
            there = flash[address - base :][: len(data)]
            differ += sum(a != b for a, b in zip(there, data, strict=True))
        assert differ <= 4  # the word with the time slice
    assert kernel.name is not None
    assert kernel.name.startswith("tockmark-baseline")


def test_the_app_prints_the_image_id_of_the_manifest(folder: ImageFolder) -> None:
    boot = folder.boot("upcall")
    simulator = paths.ROOT / "build" / "sim" / "cw310" / "earlgrey-sim"
    command = [str(simulator), "--flash", str(folder.folder / boot.flash), "--uart", "-"]
    done = subprocess.run(
        [*command, "--max-cycles", "1000000"], capture_output=True, text=True, check=False
    )
    assert f" boot=upcall image={boot.image}" in done.stdout


def test_install_calls_the_tool_of_the_profile(folder: ImageFolder, tmp_path: Path) -> None:
    tool = tmp_path / "opentitantool"
    tool.write_text(PRINTER)
    tool.chmod(0o755)
    install = ("board", "install", "--images", folder.folder, "upcall")
    flash = str(folder.folder / "c" / "upcall.flash")
    done = tockmark(*install, "--dry-run", on_path=tmp_path)
    assert done.stdout.splitlines()[1] == f"opentitantool --interface=cw310 bootstrap {flash}"
    assert not (tmp_path / "opentitantool.called").exists()
    done = tockmark(*install, on_path=tmp_path)
    assert done.stdout.splitlines()[1] == "loaded onto cw310"
    called = (tmp_path / "opentitantool.called").read_text().splitlines()
    assert called == ["--interface=cw310", "bootstrap", flash]


def test_install_refuses_another_kernel(folder: ImageFolder, tmp_path: Path) -> None:
    install = ("board", "install", "--images", folder.folder, "upcall", "--dry-run")
    tockmark(*install, "--kernel", boards.load("cw310").kernels[2])
    done = tockmark(*install, "--kernel", boards.load("cw310").kernels[1], code=2)
    assert "another" in done.stderr
    other = tmp_path / "flash"
    torn = (folder.folder / "c/upcall.flash").read_bytes()[:0x500]
    for content in (b"", b"\xff" * 0x40000, torn):
        other.write_bytes(content)
        done = tockmark(*install, "--flash-file", other, code=2)
        assert "has another kernel" in done.stderr
        assert other.read_bytes() == content
    endless = tockmark(*install, "--flash-file", Path("/dev/zero"), code=2)
    assert "/dev/zero" in endless.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("lop",), "'lop'"),
        (("irq-busy",), "cw310"),
        (("upcall", "--only", "time"), "--only"),
        (("upcall", "--abi", "1", "--kernel", "README.md"), "is not an ELF file"),
    ],
)
def test_images_that_cannot_be_built_are_reported_in_one_line(
    words: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    done = tockmark("board", "image", "--board", "cw310", "-o", out, *words, code=2)
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not list(tmp_path.iterdir())


def test_a_captured_log_replaces_the_board(folder: ImageFolder, tmp_path: Path) -> None:
    """Missing and unfinished boots are reported."""
    first = folder.manifest.boots[0]
    command = [str(SIMULATOR), "--flash", str(folder.folder / first.flash)]
    printed = subprocess.run(command, capture_output=True, check=True).stdout
    log, result = tmp_path / "uart.log", tmp_path / "r.json"
    wanted: list[str | Path] = ["run", "--images", folder.folder, "--log", log, "-o", result]
    log.write_bytes(b"ROM: jumps\n" + printed)
    tockmark(*wanted, "--only", first.name)
    measured = file.load(result)
    assert (measured.provenance.board.name, measured.incomplete) == ("cw310", ())
    assert {row.boot for row in measured.rows} == {first.name}
    errors = tockmark(*wanted, code=1).stderr
    assert folder.manifest.boots[1].name in errors
    log.write_bytes(printed[: len(printed) // 2])
    assert "ends before" in tockmark(*wanted, "--only", first.name, code=1).stderr
    other = tockmark("run", "--log", log, code=2).stderr
    assert other == (
        "tockmark: --log needs the images that were run."
        " Add --images DIR, or use `tockmark board parse`.\n"
    )
