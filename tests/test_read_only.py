# SPDX-License-Identifier: Apache-2.0 OR MIT
"""In a read-only checkout the tool runs and writes to the user's own folders."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tockmark.base import paths

# The checkout is mounted over itself, read only, for these processes alone.
READ_ONLY = f"""
mount --bind {paths.ROOT} {paths.ROOT} && mount -o remount,bind,ro {paths.ROOT} || exit 99
! touch {paths.ROOT}/build/x 2>/dev/null || exit 98
exec "$@"
"""
UNSHARED = ["unshare", "--map-root-user", "--mount", "sh", "-c", READ_ONLY, "sh"]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    try:
        done = subprocess.run([*UNSHARED, "true"], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no unshare here")
    if done.returncode == 98:
        pytest.fail("the checkout can be written all the same")
    if done.returncode:
        pytest.skip(f"nothing can be mounted here: {done.stderr.strip()}")
    return tmp_path


def tockmark(home: Path, *words: str, **more: str) -> str:
    """Run the tool as a user with this home, and return its output."""
    left = ("TOCKMARK_CACHE", "XDG_")
    own = {name: value for name, value in os.environ.items() if not name.startswith(left)}
    done = subprocess.run(
        [*UNSHARED, sys.executable, "-m", "tockmark", *words],
        cwd=home,
        env=own | {"HOME": str(home), "PYTHONPATH": str(paths.ROOT / "tools")} | more,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_one_variable_sets_the_folder_of_all_files(home: Path) -> None:
    own = home / "own"
    tockmark(home, "run", "--only", "time", "--icache", "off", TOCKMARK_HOME=str(own))
    (result,) = (own / "data" / "results").glob("*.json")
    assert "time" in result.name
    assert len(list((own / "cache" / "build" / "cache").iterdir())) == 1
    assert not (home / ".cache").exists()
    output = tockmark(home, "table", str(result), "--all", TOCKMARK_HOME=str(own))
    assert "time.reading" in output


def test_without_a_writable_folder_the_error_has_advice(home: Path) -> None:
    with pytest.raises(AssertionError, match=r"TOCKM"):
        tockmark(home, "run", "--only", "time", TOCKMARK_HOME="/proc/none")
