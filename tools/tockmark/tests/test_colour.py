# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Colours: on a terminal only, and the text is the same without them."""

import os
import pty
import re
import subprocess
import sys

import pytest

from tockmark import paths
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


def at_a_terminal(arguments: list[str], **settings: str) -> str:
    """What a terminal gets."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "tockmark", *arguments],
        env=environment(**settings),
        stdin=theirs,
        stdout=theirs,
        stderr=subprocess.DEVNULL,
        cwd=paths.ROOT,
    ) as running:
        os.close(theirs)
        said = b""
        try:
            while some := os.read(ours, 1 << 16):
                said += some
        except OSError:  # as Linux tells that the other end is closed
            pass
        finally:
            os.close(ours)
    assert running.returncode in (0, 1, 3)
    return said.decode().replace("\r\n", "\n")


@pytest.mark.parametrize("arguments", TABLES, ids=" ".join)
def test_a_pipe_gets_the_same_text_without_colours(arguments: list[str]) -> None:
    plain, coloured = piped(arguments), piped(arguments, FORCE_COLOR="1")
    assert "\x1b" not in plain
    assert CODES.sub("", coloured) == plain
    if "agree" not in arguments:  # there all is equal
        assert "\x1b[" in coloured


def test_a_terminal_gets_colours() -> None:
    arguments = ["compare", OLD, NEW]
    shown = at_a_terminal(arguments, TERM="xterm")
    assert "\x1b[32mbetter\x1b[0m" in shown
    assert "\x1b[31mworse\x1b[0m" in shown
    assert "\x1b[33munsure\x1b[0m" in shown
    plain = piped(arguments)
    assert CODES.sub("", shown) == plain
    for setting in ({"NO_COLOR": "1", "TERM": "xterm"}, {"TERM": "dumb"}):
        assert at_a_terminal(arguments, **setting) == plain


def test_what_is_for_programs_has_no_colours() -> None:
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
def test_who_gets_colours(terminal: bool, environment: dict[str, str], wanted: bool) -> None:
    assert text.wanted(terminal, environment) is wanted


def test_a_colour_takes_no_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    table = text.Table([text.TableColumn(), *text.figures({"a": 7, "b": 7})], ends_at=30)
    plain = table.line(["label", "1.50", "0.90"])
    monkeypatch.setattr(text, "_on", True)
    cells = [text.coloured_ratio("1.50"), text.coloured_ratio("0.90")]
    assert cells == ["\x1b[31m1.50\x1b[0m", "\x1b[32m0.90\x1b[0m"]
    assert CODES.sub("", table.line(["label", *cells])) == plain
    assert [text.coloured_ratio(one) for one in ("1.00", "-")] == ["1.00", "-"]
