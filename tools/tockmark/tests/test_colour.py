# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Only a terminal gets colours. The text is the same without them."""

import io
import re

import pytest
from typer.testing import CliRunner

from tockmark.base import paths
from tockmark.cli.app import app
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


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(paths.ROOT)
    for name in ("NO_COLOR", "FORCE_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)


def piped(arguments: list[str]) -> str:
    """Return what the tool writes into a pipe."""
    text.set_output(io.StringIO())
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code in (0, 1, 3), done.exception
    return done.stdout


@pytest.mark.parametrize("arguments", TABLES, ids=" ".join)
def test_a_pipe_gets_the_same_text_without_colours(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = piped(arguments)
    monkeypatch.setenv("FORCE_COLOR", "1")
    coloured = piped(arguments)
    assert "\x1b" not in plain
    assert CODES.sub("", coloured) == plain
    if "agree" not in arguments:  # all rows of this output are equal
        assert "\x1b[" in coloured


def test_json_has_no_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b" not in piped(["compare", OLD, NEW, "--json"])


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
