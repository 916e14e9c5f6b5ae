# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The lab's verbs and the lab's commands in pages."""

import pytest

from pages import Command, UnusableError, arguments, every
from tockmark_lab.app import PROGRAM

COMMANDS = [command for command in dict.fromkeys(every()) if command.program == PROGRAM.name]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: f"{command.page}: {command.text}")
def test_a_command_of_the_lab_is_valid(command: Command) -> None:
    arguments(command, PROGRAM)


@pytest.mark.parametrize("verb", PROGRAM.verbs)
def test_each_example_of_a_verb_is_a_command(verb: str) -> None:
    for example in PROGRAM.about(verb).examples:
        text = example.rpartition("&& ")[2].partition("  # ")[0]
        assert arguments(Command("help", text, is_whole=True), PROGRAM)["verb"] == verb


def test_an_invalid_command_of_the_lab_is_detected() -> None:
    with pytest.raises(UnusableError, match="No such option"):
        arguments(Command("page", "tockmark-lab history --only time", is_whole=True), PROGRAM)
