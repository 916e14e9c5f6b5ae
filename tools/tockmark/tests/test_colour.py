# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Only a terminal gets colours. The text is the same without them."""

import os
import re
import subprocess
import sys

import pytest

from tockmark.base import paths
from tockmark.show import text

OLD, NEW = (f"results/tock-{name}-cw310.json" for name in ("2.2", "master"))
TABLES = [
    ["table", OLD, NEW, "--all"],
    ["compare", OLD, NEW, OLD],
    ["compare", OLD, NEW, "--limits"],
    ["board", "agree", NEW, NEW, "--force"],
    ["doctor"],
]
CODES = re.compile(r"\x1b\[[0-9;]*m")


def environment(**settings: str) -> dict[str, str]:
    own = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR", "TERM")}
    return {**own, "COLUMNS": "100", **settings}


def piped(arguments: list[str], **settings: str) -> str:
    """Return what the tool writes into a pipe."""
    done = subprocess.run(
        [sys.executable, "-m", "tockmark", *arguments],
        env=environment(**settings),
        capture_output=True,
        text=True,
        check=False,
        cwd=paths.ROOT,
    )
    assert done.returncode in (0, 1, 3), done.stderr
    return done.stdout


@pytest.mark.parametrize("arguments", TABLES, ids=" ".join)
def test_a_pipe_gets_the_same_text_without_colours(arguments: list[str]) -> None:
    plain, coloured = piped(arguments), piped(arguments, FORCE_COLOR="1")
    assert "\x1b" not in plain
    assert CODES.sub("", coloured) == plain
    if "agree" not in arguments:  # all rows of this output are equal
        assert "\x1b[" in coloured


def test_json_has_no_colours() -> None:
    assert "\x1b" not in piped(["compare", OLD, NEW, "--json"], FORCE_COLOR="1")


@pytest.mark.parametrize(
    ("terminal", "environment", "wanted"),
    [
        (True, {"TERM": "xterm"}, True),
        (True, {"TERM": "dumb"}, False),
        (True, {}, False),
        (False, {"TERM": "xterm"}, False),
        (False, {"FORCE_COLOR": "1"}, True),
        (True, {"TERM": "xterm", "NO_COLOR": "1"}, False),
        (True, {"TERM": "xterm", "NO_COLOR": ""}, True),
        (True, {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
    ],
)
def test_only_a_terminal_gets_colours(
    terminal: bool, environment: dict[str, str], wanted: bool
) -> None:
    assert text.wants_colours(terminal, environment) is wanted
