# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The tool refuses a copied environment, and writes to the right folders."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tockmark.base import paths
from tockmark.base.errors import TockmarkError
from tockmark.base.paths import ROOT, check_environment


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove PYTHONPATH, and use an environment outside any checkout."""
    monkeypatch.delenv("PYTHONPATH", raising=False)
    monkeypatch.setattr(sys, "prefix", "/usr")


@pytest.mark.parametrize("by", ["prefix", "script"])
def test_a_copied_environment_is_refused(
    by: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The copy has its own interpreter, or only a script that runs the original's."""
    copy = tmp_path / "copy" / ".venv"
    if by == "prefix":
        monkeypatch.setattr(sys, "prefix", str(copy))
    script = str(copy / "bin" / "tockmark") if by == "script" else "tockmark"
    with pytest.raises(TockmarkError, match=r"make setup.*/copy"):
        check_environment(script)


def where(**variables: str) -> list[Path]:
    """Return the output folders of the tool in another process."""
    script = (
        "from tockmark.base import paths as p;"
        " print(p.WRITTEN, p.NEW_RESULTS, p.user_folder('config'))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={"PYTHONPATH": str(ROOT / "tools"), "HOME": "/home/user"} | variables,
        capture_output=True,
        text=True,
        check=True,
    )
    return [Path(word) for word in done.stdout.split()]


def test_one_variable_moves_all_output() -> None:
    assert where(TOCKMARK_HOME="/own") == [
        Path("/own/cache/build"),
        Path("/own/data/results"),
        Path("/own/config"),
    ]


def test_output_of_a_read_only_checkout_goes_to_the_users_folders(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv(paths.HOME, raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert paths._output_folder(ROOT / "results", "data") == tmp_path / "tockmark" / "results"
