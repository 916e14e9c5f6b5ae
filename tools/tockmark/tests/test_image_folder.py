# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Folders of images are read as they were written, and any damage is reported in one line."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tockmark.base.errors import TockmarkError
from tockmark.suite.catalogue import Lang
from tockmark.target import board as boards
from tockmark.target import image_folder
from tockmark.target.board import Room
from tockmark.target.image import AppSlot
from tockmark.target.image_folder import FolderBoot, FolderKernel, ImageManifest, SkippedBoot

ROOM = Room(0x2003_0000, 0x2010_0000, 0x1000_8000, 0x1002_0000)


def boot(folder: Path, name: str, lang: Lang = "c") -> FolderBoot:
    """Write a boot of one app; each file contains its own name."""
    stem = f"{lang}/{name}"
    for suffix in (".flash", ".0.tab", ".0.elf"):
        (folder / f"{stem}{suffix}").parent.mkdir(exist_ok=True)
        (folder / f"{stem}{suffix}").write_text(stem + suffix)
    elf = f"{stem}.0.elf"
    sha256 = image_folder.sha256_of(folder / elf)
    app = AppSlot(name, f"{stem}.0.tab", elf, sha256, 0x2003_0080, 9, 0x1000_8000, 8)
    flash = f"{stem}.flash"
    return FolderBoot(name, lang, flash, image_folder.sha256_of(folder / flash), "0123abcd", (app,))


def write(folder: Path, board: str = "cw310") -> ImageManifest:
    """Write two boots, one of them in both languages."""
    (folder / "kernel").mkdir(parents=True)
    (folder / "kernel" / "k.elf").write_text("kernel")
    sha256 = image_folder.sha256_of(folder / "kernel" / "k.elf")
    manifest = ImageManifest(
        version=image_folder.VERSION,
        tockmark="0",
        board=board,
        abi=2,
        catalogue_sha256="c" * 64,
        kernel=FolderKernel("kernel/k.elf", sha256, ROOM, name="My Tock"),
        boots=(boot(folder, "time"), boot(folder, "mem"), boot(folder, "mem", "rust")),
        left_out=(SkippedBoot("irq", ("irq.entry",), "no clock"),),
    )
    (folder / image_folder.MANIFEST).write_bytes(image_folder.encode_manifest(manifest))
    (folder / image_folder.README).write_text(
        image_folder.render_readme(manifest, boards.load(board))
    )
    return manifest


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path / "out")
    return tmp_path / "out"


def test_a_written_folder_is_read(tmp_path: Path) -> None:
    manifest = write(tmp_path / "out")
    read = image_folder.read_folder(tmp_path / "out")
    assert read.manifest == manifest
    image = read.image(read.boot("mem", "rust"))
    assert image.flash.read_text() == "rust/mem.flash"
    assert image.id == "0123abcd"
    folder = tmp_path / "out" / "rust"
    sha256 = image_folder.sha256_of(folder / "mem.0.elf")
    files = str(folder / "mem.0.tab"), str(folder / "mem.0.elf"), sha256
    assert image.slots == (AppSlot("mem", *files, 0x2003_0080, 9, 0x1000_8000, 8),)


@pytest.mark.parametrize("name", ["kernel/k.elf", "c/time.flash", "c/mem.0.tab", "rust/mem.0.elf"])
def test_a_missing_file_is_reported(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(TockmarkError, match=f"{name}.*. Make the folder again"):
        image_folder.read_folder(folder)


@pytest.mark.parametrize("name", ["kernel/k.elf", "rust/mem.flash", "c/time.0.elf"])
def test_a_changed_file_is_reported(folder: Path, name: str) -> None:
    (folder / name).write_text("other")
    with pytest.raises(TockmarkError, match=name):
        image_folder.read_folder(folder)


@pytest.mark.parametrize("path", ["/etc/passwd", "../x", "c/../../x", "..", "", "c/\0"])
def test_a_manifest_cannot_name_files_outside_its_folder(folder: Path, path: str) -> None:
    data = json.loads((folder / image_folder.MANIFEST).read_text())
    data["boots"][0]["flash"] = path
    (folder / image_folder.MANIFEST).write_text(json.dumps(data))
    with pytest.raises(TockmarkError, match="damaged"):
        image_folder.read_folder(folder)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_a_damaged_manifest_is_reported_in_one_line(folder: Path, data: st.DataObject) -> None:
    content = image_folder.encode_manifest(image_folder.read_folder(folder).manifest)
    at = data.draw(st.integers(0, len(content) - 1))
    damaged = content[:at] + data.draw(st.binary(max_size=3)) + content[at + 1 :]
    (folder / image_folder.MANIFEST).write_bytes(damaged)
    try:
        image_folder.read_folder(folder)
    except TockmarkError as error:
        assert "\n" not in str(error)  # noqa: PT017
    finally:
        (folder / image_folder.MANIFEST).write_bytes(content)
