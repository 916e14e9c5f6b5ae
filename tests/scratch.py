# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Copies of the checkout for tests that change sources. Apps can be built and run in them.
`copy_to` links simulators and kernels to those of this checkout."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from products import copy_dependencies, make

from tockmark.base import paths

COPIED = ("apps", "boards", "capsules", "docs", "kernel", "tools")
FILES = ("Cargo.toml", "Cargo.lock", "rust-toolchain.toml")
LINKED = (".tools", "build/sim", "build/cargo")
# The rest of a reader's clone.
WHOLE = (".cargo", "Makefile", "constraints.txt", "lab", "pyproject.toml", "results")
KERNELS = ("cargo", "cargo-v1")
IMAGES = Path("riscv32imc-unknown-none-elf")
# An edit in a page: the file, the line to insert before (if not at the end), and the text.
EDIT = re.compile(
    r"^(?:Append to|In) `([^`]+)`(?:, before `([^\n]+)`)?:\n\n```\w+\n(.*?)^```$", re.M | re.S
)


def copy_to(root: Path) -> None:
    """Make the copy in an empty folder."""
    ignored = shutil.ignore_patterns("__pycache__", "model", "rtl")
    for name in COPIED:
        shutil.copytree(paths.ROOT / name, root / name, ignore=ignored)
    for name in FILES:
        shutil.copy(paths.ROOT / name, root / name)
    (root / "build").mkdir()
    for name in LINKED:
        (root / name).symlink_to(paths.ROOT / name)


def clone_to(root: Path) -> None:
    """Make a reader's clone after `make profile` in an empty folder: no changes, a Python
    environment that seems to be its own, simulators, apps, its own kernels, and compiled crates
    to link more of them. Builds in the clone do not change this checkout."""
    if not (paths.ROOT / "build" / "cargo" / IMAGES / "profiling" / "tockmark-kernel").exists():
        make("profile")
    copy_to(root)
    for name in WHOLE:
        source = paths.ROOT / name
        copy = shutil.copytree if source.is_dir() else shutil.copy
        copy(source, root / name)
    (root / "build" / "cargo").unlink()
    for image in (
        image
        for folder in KERNELS
        for image in (paths.ROOT / "build" / folder / IMAGES).glob("*/tockmark-kernel")
    ):
        own = root / image.relative_to(paths.ROOT)
        own.parent.mkdir(parents=True)
        shutil.copy(image, own)
    copy_dependencies(root / "build" / "kernel-layouts" / "cargo")
    (root / "build" / "apps").symlink_to(paths.ROOT / "build" / "apps")
    (root / ".venv").mkdir()
    for part in ("bin", "lib", "pyvenv.cfg"):
        (root / ".venv" / part).symlink_to(Path(sys.executable).parents[1] / part)
    (root / ".venv" / ".installed").write_text(f"{root}\n")  # tools/setup.sh checks it
    (root / ".gitignore").write_text("/build\n/.venv\n/.tools\n__pycache__/\n")
    by = ("-c", "user.name=reader", "-c", "user.email=reader@localhost")
    for command in (("init", "-q"), ("add", "-A"), (*by, "commit", "-q", "-m", "A fresh clone")):
        subprocess.run(("git", *command), cwd=root, check=True)


def environment(root: Path) -> dict[str, str]:
    """Return the environment of a reader in a clone: without an outer make's variables and without
    the width of this terminal. Boots are cached in the clone, as for a reader."""
    outer = ("MAKE", "MFLAGS", "CARGO", "TOCKMARK_CACHE")
    own = {k: v for k, v in os.environ.items() if not k.startswith(outer)}
    return own | {"PYTHONPATH": str(root / "tools"), "COLUMNS": "100"}


def edit(root: Path, file: str, before: str, text: str) -> None:
    """Insert text at the end of a file, or before the only line that equals `before` (indented or
    not)."""
    path = root / file
    lines = path.read_text().splitlines(keepends=True)
    line_numbers = [number for number, line in enumerate(lines) if line.strip() == before]
    assert not before or len(line_numbers) == 1, f"{file} has {len(line_numbers)} lines '{before}'"
    at = line_numbers[0] if before else len(lines)
    path.write_text("".join([*lines[:at], text, *lines[at:]]))


def build(root: Path, abi: int) -> None:
    """Build the apps of both languages, as `make apps` does."""
    for lang, makefile in (("c", "apps/build.mk"), ("rust", "apps/rust/build.mk")):
        make("-s", "-f", makefile, f"OUT=build/apps/{lang}-abi{abi}", f"ABI={abi}", cwd=root)


def run(
    root: Path, *command: str | Path, code: int = 0, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run a module from the tools of the checkout in `root`."""
    environment = os.environ | {"PYTHONPATH": str(root / "tools")} | variables
    done = subprocess.run(
        [sys.executable, "-m", *map(str, command)],
        cwd=root,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done
