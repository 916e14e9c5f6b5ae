# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Shell completion, tested with the variables that the shell's script sets."""

import pytest
from typer.testing import CliRunner

from tockmark.cli.app import app
from tockmark.target import board as boards


def completed(shell: str, *words: str) -> list[str]:
    """Return the completions of the last word."""
    line = " ".join(["tockmark", *words])
    by_shell = {
        "bash": {"COMP_WORDS": line, "COMP_CWORD": str(len(words))},
        "zsh": {"_TYPER_COMPLETE_ARGS": line},
        "fish": {"_TYPER_COMPLETE_ARGS": line, "_TYPER_COMPLETE_FISH_ACTION": "get-args"},
    }
    environment = {"_TOCKMARK_COMPLETE": f"complete_{shell}", **by_shell[shell]}
    done = CliRunner().invoke(app, [], env=environment, prog_name="tockmark")
    assert done.exit_code == 0
    return [line for line in done.stdout.splitlines() if line]


def test_verbs() -> None:
    assert completed("bash", "co") == ["compare"]
    assert completed("bash", "board", "im") == ["image"]
    assert any("compare" in line for line in completed("zsh", "co"))
    assert [line.split("\t")[0] for line in completed("fish", "co")] == ["compare"]


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (["run", "--board", ""], boards.names()),
        (["run", "--machine", ""], ["cw310", "earlgrey-asic", "earlgrey_2021", "nexysvideo"]),
        (["run", "--lang", "c,r"], ["c,rust"]),
        (["run", "--icache", "o"], ["on", "off"]),
        (["help", "readi"], ["reading-results"]),
    ],
)
def test_names_of_the_checkout(words: list[str], wanted: list[str]) -> None:
    assert completed("bash", *words) == wanted
