# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The tool works on the checkout that holds it: an environment that was copied is told."""

import os
import sys
from pathlib import Path

import pytest

from tockmark.errors import TockmarkError
from tockmark.paths import ROOT, check_environment, shown


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if nobody had said where the code is, in an environment that is none of a checkout."""
    monkeypatch.delenv("PYTHONPATH", raising=False)
    monkeypatch.setattr(sys, "prefix", "/usr")


def test_its_own_environment_is_fine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "prefix", str(ROOT / ".venv"))
    check_environment(str(ROOT / ".venv" / "bin" / "tockmark"))
    check_environment("/usr/bin/tockmark")


@pytest.mark.parametrize("by", ["prefix", "script"])
def test_a_copied_environment_is_told(
    by: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its interpreter lies in it, or only its script does, which calls the original's."""
    copy = tmp_path / "copy" / ".venv"
    if by == "prefix":
        monkeypatch.setattr(sys, "prefix", str(copy))
    script = str(copy / "bin" / "tockmark") if by == "script" else "tockmark"
    with pytest.raises(TockmarkError, match=r"it is a copy; run `make setup` in .*/copy$"):
        check_environment(script)


@pytest.mark.parametrize("folder", ["tools", str(ROOT / "tools")])
def test_who_names_the_code_knows_what_they_do(
    folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(["elsewhere", folder]))
    check_environment(str(tmp_path / ".venv" / "bin" / "tockmark"))


def test_a_path_is_shown_as_what_a_terminal_may_show(tmp_path: Path) -> None:
    assert shown(tmp_path / "a\x1b[2J\n") == f"{tmp_path}/a?[2J?"
    assert shown(Path("x")) == "x"
