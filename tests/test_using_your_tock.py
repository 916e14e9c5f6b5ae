# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The commands of docs/measure-your-change.md work in a folder outside both checkouts, if these are
where the page expects them. The test uses the baseline kernel without its name instead of Tock, and
measures one row."""

import os
import subprocess
import sys
from pathlib import Path

from pages import FENCED, commands
from tockmark.base import paths
from tockmark.result.file import load

PAGE = paths.ROOT / "docs" / "measure-your-change.md"
KERNEL = paths.ROOT / "build/cargo/riscv32imc-unknown-none-elf/release/tockmark-kernel"
# Commands that need more than an image: a tree of Tock, an app or a result.
OTHERS = (
    "tockmark-lab",
    "tockmark compare base.json",
    "tockmark export",
    "tockmark patch",
    "tockmark board run-tab",
    "tockmark judge",
    "tockmark bisect",
)
ONE_ROW = " --only syscall.command --icache off"


def test_the_commands_work_in_any_folder(tmp_path: Path) -> None:
    text = PAGE.read_text(encoding="utf-8")
    where = next(block[3] for block in FENCED.finditer(text) if block[2] == "sh")
    called = [
        command.text
        for command in commands("page", text)
        if command.is_whole and not command.text.startswith(OTHERS)
    ]
    assert sum(command.startswith("tockmark run") for command in called) == 4
    home, here = tmp_path / "home", tmp_path / "here"
    built = home / "tock/target/riscv32imc-unknown-none-elf/release/earlgrey-cw310.elf"
    (home / "tockmark" / ".venv").mkdir(parents=True)
    (home / "tockmark" / ".venv" / "bin").symlink_to(Path(sys.executable).parent)
    here.mkdir()
    built.parent.mkdir(parents=True)
    nameless = KERNEL.read_bytes().replace(b"\0TOCKMARK_KERNEL\0", b"\0NAMED_BY_NOBODY\0")
    for image in (built, here / "before.elf", here / "after.elf"):
        image.write_bytes(nameless)
    (here / "tock-2.2.toml").write_text('name = "Tock 2.2, patched"\n')
    own = os.environ | {"HOME": str(home), "PYTHONPATH": str(paths.ROOT / "tools")}
    for command in called:
        selection = ONE_ROW if command.startswith("tockmark run") else ""
        done = subprocess.run(
            ["bash", "-ec", f"{where}\n{command}{selection}"],
            cwd=here,
            env=own,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    assert {path.name for path in here.glob("*.json")} == {"tock.json", "before.json", "after.json"}
    assert load(here / "tock.json").provenance.kernel.name == "Tock 2.2, patched"
    assert (here / "profile" / "flame.svg").exists()
