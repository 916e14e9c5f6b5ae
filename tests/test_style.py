# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The ordinary tools of every language hold the line; their warnings are errors."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BIN = Path(sys.executable).parent
CHIP = ["--target", "riscv32imc-unknown-none-elf"]
KERNEL = ["--release", "--package", "tockmark-kernel", *CHIP]
V1 = ["--features", "abi-v1,nexysvideo", "--target-dir", "build/cargo-v1-nexysvideo"]
CRATE = ["--package", "tockmark-tock"]
CRATE_V1 = [*CRATE, "--features", "abi-v1", "--target-dir", "build/cargo-v1"]
LONGEST = 400
LISTS = (ROOT / "apps" / "catalogue.toml",)  # read by entry: as long as they have entries
HEADER = "SPDX-License-Identifier: Apache-2.0 OR MIT"


def files(*suffixes: str) -> list[Path]:
    """Our files of these kinds: what git has or would add."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    found = [ROOT / name for name in listed.splitlines() if name.endswith(suffixes)]
    return [path for path in found if path.exists()]


@pytest.mark.parametrize(
    "command",
    [
        ["cargo", "fmt", "--all", "--check"],
        ["cargo", "clippy", "--quiet", "--workspace", "--all-targets", "--", "-D", "warnings"],
        ["cargo", "clippy", "--quiet", *KERNEL, "--", "-D", "warnings"],
        ["cargo", "clippy", "--quiet", *KERNEL, *V1, "--", "-D", "warnings"],
        ["cargo", "clippy", "--quiet", *CRATE_V1, "--all-targets", "--", "-D", "warnings"],
        ["cargo", "clippy", "--quiet", *CRATE, *CHIP, "--", "-D", "warnings"],
        ["cargo", "clippy", "--quiet", *CRATE_V1, *CHIP, "--", "-D", "warnings"],
        ["cargo", "test", "--quiet", "--workspace"],
        ["cargo", "test", "--quiet", "--package", "tockmark-kernel", *V1],
        [str(BIN / "ruff"), "check"],
        [str(BIN / "ruff"), "format", "--check"],
        [str(BIN / "mypy"), "--strict"],
    ],
    ids=" ".join,
)
def test_checker(command: list[str]) -> None:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_clang_format() -> None:
    sources = files(".c", ".cc", ".h")
    assert sources
    command = ["clang-format", "--dry-run", "-Werror", *map(str, sources)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "path",
    files(".c", ".cc", ".h", ".S", ".sv", ".ld", ".rs", ".py", ".sh", ".toml", ".mk", "Makefile"),
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_file_is_short_and_licensed(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    assert len(lines) < LONGEST or path in LISTS
    assert any(HEADER in line for line in lines[:3])
