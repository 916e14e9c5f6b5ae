# SPDX-License-Identifier: Apache-2.0 OR MIT
"""If a Python package is missing, a verb prints one line with its name and what to run."""

import os
import subprocess
import sys

import pytest

from tockmark.base import paths


@pytest.mark.parametrize(
    ("package", "verb", "remedy"),
    [
        *((name, "run --only time -o /dev/null", "make setup") for name in ("typer", "msgspec")),
        ("elftools", "run --only time -o /dev/null", "make setup"),
        *((name, "site results -o /dev/null/site", "[site]") for name in ("jinja2", "matplotlib")),
    ],
)
def test_a_missing_package_is_reported_in_one_line(package: str, verb: str, remedy: str) -> None:
    script = (
        f"import sys; sys.modules[{package!r}] = None; from tockmark.__main__ import main;"
        f"sys.argv = ['tockmark', *{verb.split()}]; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=os.environ | {"PYTHONPATH": str(paths.ROOT / "tools")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert package in line
    assert remedy in line
