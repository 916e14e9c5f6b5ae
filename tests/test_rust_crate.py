# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The crate tock on a host: its own tests for both versions of the interface with Miri, which
detects accesses to freed memory and conflicting borrows. test_style.py also runs them without."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CRATE = ROOT / "apps" / "rust" / "tock"
V1 = ["--features", "abi-v1"]
VERSIONS = pytest.mark.parametrize("features", [[], V1], ids=["v2", "v1"])
LIST = (ROOT / "apps" / "asm" / "abi.h").read_text(encoding="utf-8")
MISUSE = 10  # the least number of examples that must not compile


def run(command: list[str], where: Path = CRATE, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=where, capture_output=True, text=True, check=False, env=os.environ | env
    )


@VERSIONS
def test_miri_reports_no_error(features: list[str]) -> None:
    """A nightly compiler also checks the error code of each misuse that does not compile."""
    miri = ["cargo", "+nightly", "miri"]
    if run([*miri, "--version"]).returncode != 0:
        pytest.skip("no Miri: rustup component add --toolchain nightly miri rust-src")
    target = str(ROOT / "build" / "cargo-miri")
    command = [*miri, "test", "--quiet", *features, "--target-dir", target]
    done = run(command, MIRIFLAGS="-Zmiri-strict-provenance")
    assert done.returncode == 0, done.stdout + done.stderr


def test_each_misuse_names_its_error() -> None:
    misuse = (CRATE / "src" / "misuse.rs").read_text(encoding="utf-8")
    refused = [line for line in misuse.splitlines() if "```compile_fail" in line]
    assert len(refused) >= MISUSE
    assert all("```compile_fail,E0" in line for line in refused)


@pytest.fixture(scope="module")
def build_script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    script = tmp_path_factory.mktemp("crate") / "build"
    done = run(["rustc", "--edition", "2024", "-o", str(script), "build.rs"])
    assert done.returncode == 0, done.stderr
    return script


@pytest.fixture
def crate(tmp_path: Path) -> Path:
    """A folder with the same path to the list of numbers as the crate. It is also OUT_DIR."""
    folder = tmp_path / "apps" / "rust" / "tock"
    folder.mkdir(parents=True)
    (tmp_path / "apps" / "asm").mkdir()
    return folder


def build(script: Path, crate: Path, text: str) -> subprocess.CompletedProcess[str]:
    (crate / "../../asm/abi.h").write_text(text, encoding="utf-8")
    return run([str(script)], where=crate, OUT_DIR=str(crate))


def test_the_constants_have_the_numbers_of_the_list(build_script: Path, crate: Path) -> None:
    done = build(build_script, crate, LIST)
    assert done.returncode == 0, done.stderr
    lines = (crate / "abi.rs").read_text(encoding="utf-8").splitlines()
    assert "pub const TM_PERF: u32 = 0x90010;" in lines
    assert not any("TOCK_ALARM_AT" in line or "CLASS" in line for line in lines)
