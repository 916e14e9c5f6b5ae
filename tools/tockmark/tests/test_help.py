# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The help of every verb: complete lines, valid examples, and all exit codes."""

import re
import shlex

import pytest
from typer.testing import CliRunner

from tockmark.base.errors import MEANING
from tockmark.cli.app import PROGRAM, app

VERBS = sorted(PROGRAM.verbs)
COMMANDS = {name: PROGRAM.command(name) for name in VERBS}


def help_of(*arguments: str, width: int = 80) -> str:
    done = CliRunner().invoke(app, [*arguments, "--help"], terminal_width=width)
    assert done.exit_code == 0
    return done.output


@pytest.mark.parametrize("width", [80, 60])
@pytest.mark.parametrize("verb", ["", *PROGRAM.groups, *VERBS])
def test_no_line_is_cut_or_too_wide(verb: str, width: int) -> None:
    shown = help_of(*PROGRAM.full_name(verb).split(), width=width)
    assert "…" not in shown
    for line in shown.splitlines():
        assert len(line) <= width, line
        assert not re.search(r"\w\.\.\.$", line) or "Usage:" in shown, line
    words = " ".join(shown.split())
    for command in [COMMANDS[name] for name in PROGRAM.top] if not verb else []:
        assert " ".join(command.get_short_help_str(limit=10_000).split()) in words


@pytest.mark.parametrize("verb", VERBS)
def test_exit_codes_are_in_the_help(verb: str) -> None:
    _, _, exits = help_of(*PROGRAM.full_name(verb).split()).partition("\nExit codes:\n")
    lines = re.findall(r"^  (\d+) +(.*(?:\n {4,}.*)*)", exits, re.MULTILINE)
    assert {int(code): " ".join(text.split()) for code, text in lines} == PROGRAM.about(verb).exits
    assert PROGRAM.about(verb).exits.keys() <= MEANING.keys()


@pytest.mark.parametrize("verb", VERBS)
def test_examples_use_existing_options(verb: str) -> None:
    for example in PROGRAM.about(verb).examples:
        words = shlex.split(example, comments=True)
        for at in (number for number, word in enumerate(words) if word == "tockmark"):
            at += words[at + 1] in PROGRAM.groups
            command = COMMANDS[words[at + 1]]
            options = {name for option in command.params for name in (*option.opts, "--help")}
            until = words.index("&&", at) if "&&" in words[at:] else len(words)
            given = [word for word in words[at + 2 : until] if re.match("--?[a-z]", word)]
            assert set(given) <= options, example
