# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Every command of the pages is valid: its verb, options, rows and targets exist. Commands that
need only a clone are run in one, in the order of the pages.

`unready` decides from a command's arguments and cost whether to run it.
"""

import re
import subprocess
import sys
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import scratch

from pages import Command, arguments, commands, every
from tockmark.base.errors import TockmarkError
from tockmark.base.paths import CATALOGUE, ROOT
from tockmark.cli.app import PROGRAM
from tockmark.result import file
from tockmark.result.model import catalogue_of
from tockmark.suite.catalogue import load
from tockmark.suite.selection import select, single_row
from tockmark.target import board as boards
from tockmark.target.elf import RISC_V

# Verbs that run for minutes, and the tests that run them.
LONG = {
    "latency": "tests/test_latency.py",
    "site": "tests/browser/test_every_page.py",
}
LAYS = ("image", "parse")  # these verbs run nothing, so they need no board
BUDGET = 5  # millions of simulated cycles, by the catalogue: a few seconds
READERS = re.compile(r"^[A-Z]+$|…|[<{$~]")  # placeholders for the reader's own files
OUTPUTS = ("output", "callgrind", "markdown")


def strange_rows(given: dict[str, Any], page: str) -> list[str]:
    """Return the row terms of a command that select no row, except rows that the page adds."""
    named = [given[key] for key in ("only", "benchmark") if given.get(key)]
    strange = []
    results = [ROOT / path for path in given.get("files") or () if (ROOT / path).is_file()]
    for text in named:
        if READERS.search(text) or f'id = "{text}"' in page:
            continue
        try:
            catalogue = load(ROOT / (given.get("catalogue") or CATALOGUE))
            select(catalogue_of(map(file.load, results)) if results else catalogue, text)
        except TockmarkError as error:
            strange.append(str(error))
    return strange


@cache
def makefiles() -> str:
    """Return the text of all our makefiles."""
    ours = [*ROOT.glob("*/**/*.mk")]
    ours += [ROOT / folder / "Makefile" for folder in ("", "lab", "boards/earlgrey-sim")]
    return "\n".join(path.read_text(encoding="utf-8") for path in ours if ".venv" not in str(path))


def strange_targets(words: list[str], root: Path = ROOT) -> list[str]:
    """Return the targets and variables of a make command that no makefile has."""
    makefile, strange, rest = root / "Makefile", [], iter(words)
    asked = []
    for word in rest:
        if word == "-f":
            makefile = root / next(rest)
        elif word == "-C":
            folder = next(rest)  # in a workflow, the reader's name for this checkout
            makefile = root / folder / "Makefile" if (root / folder).is_dir() else makefile
        elif "=" in word:
            name = word.partition("=")[0]
            strange += [] if re.search(rf"\b{re.escape(name)}\b", makefiles()) else [word]
        else:
            asked.append(word)
    if not makefile.exists():
        return [str(makefile)]
    text = makefile.read_text(encoding="utf-8")
    for included in re.findall(r"^include (.*)$", text, re.M):
        text += (makefile.parent / included).read_text(encoding="utf-8")
    rules = re.findall(r"^([^\s:#=][^:#=\n]*):(?!=)", text, re.M)
    targets = [target.replace("%", "*") for rule in rules for target in rule.split()]
    phony = re.findall(r"^\.PHONY: (.*)$", text, re.M)
    targets += [target for line in phony for target in line.split()]
    return strange + [word for word in asked if not any(fnmatch(word, t) for t in targets)]


def unready(command: Command, given: dict[str, Any], there: Path) -> str | None:
    """Return why a command cannot run in this clone, or None."""
    verb = given["verb"]
    if verb == "VERB" or verb.startswith("-"):
        return "not a verb; --install-completion would change the shell of the tester"
    if command.is_shown:
        return "another test checks its output"
    if len(given) == 1 or (not command.is_whole and command.words[-1] == given["verb"]):
        return "a part of a command"
    if given.get("help"):
        return None
    if verb in LONG:
        return f"takes minutes: {LONG[verb]}"
    if unknown := next((word for word in command.words if READERS.search(word)), None):
        return f"{unknown} is the reader's"
    if hardware := [key for key in ("port", "images") if given.get(key)]:
        return f"needs a {hardware[0]}"
    board = given["board"] if isinstance(given.get("board"), str) else None  # agree's is a file
    other = board not in (None, "earlgrey-sim") or given.get("machine")
    profile = boards.load(board) if board else None
    if profile and verb in LAYS and profile.isa != RISC_V.name:
        return "needs what `make setup-qemu` builds"
    if (other and verb not in LAYS) or given.get("core") or given.get("catalogue"):
        return "needs what is built for another board, core or catalogue"
    for key, value in given.items():
        for path in value if isinstance(value, (list, tuple)) else [value]:
            if isinstance(path, Path) and key not in OUTPUTS and not (there / path).exists():
                return f"{path} is not there"
    if rows := [given[key] for key in ("benchmark", "only") if given.get(key)]:
        try:
            single_row(load(), rows[0]) if given.get("benchmark") else select(load(), rows[0])
        except TockmarkError:
            return "uses a row that the page adds"
    if verb == "run":
        cost = len((given["lang"] or "c").split(",")) * sum(
            load().benchmarks[id_].budget for id_ in select(load(), given["only"]).ids()
        )
        return f"simulates {cost:.0f} million cycles" if cost > BUDGET else None
    return None


EVERY = list(dict.fromkeys(every()))


def command_id(command: Command) -> str:
    """Return the id of a test."""
    return f"{command.page}: {command.text}"


@pytest.mark.parametrize("command", [c for c in EVERY if c.program == PROGRAM.name], ids=command_id)
def test_a_command_of_the_tool_exists(command: Command) -> None:
    page = (ROOT / command.page).read_text(encoding="utf-8")
    assert strange_rows(arguments(command, PROGRAM), page) == []


@pytest.mark.parametrize("command", [c for c in EVERY if c.program == "make"], ids=command_id)
def test_a_make_command_has_its_target(command: Command) -> None:
    assert strange_targets(command.words) == []


def test_commands_that_need_only_a_clone_run(tmp_path: Path) -> None:
    """No command fails, except with 1 (a result is incomplete) or 3 (a regression), and each prints
    something."""
    scratch.clone_to(tmp_path)
    ran, wrong, done_before = set(), [], set()
    for command in EVERY:
        if command.program != PROGRAM.name:
            continue
        given = arguments(command, PROGRAM)
        if command.text in done_before or unready(command, given, tmp_path):
            continue
        done_before.add(command.text)
        ran.add(given["verb"])
        done = subprocess.run(
            [sys.executable, "-m", "tockmark", *command.words],
            cwd=tmp_path,
            env=scratch.environment(tmp_path),
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode not in (0, 1, 3) or not done.stdout:
            wrong.append(f"{command_id(command)}: {done.returncode}: {done.stderr[-300:]}")
    assert not wrong, "\n".join(wrong)
    assert ran >= {"run", "profile", "table", "compare", "list", "image", "export"}


PAGE = """A `tockmark run --only time`, `tockmark
  judge` and `make build`; `tockmarks`, `make_it`.

    .venv/bin/tockmark run --only syscall \\
        -o out.json         # a remark
    tockmark judge --base a.elf          two kernels
    tockmark: what it prints

```sh
make kernel OPT=z
ls *.elf | xargs -P 4 -I{} tockmark run --kernel {}
```
```text
tockmark-baseline prints this
$ .venv/bin/tockmark list > list.txt
$ .venv/bin/tockmark-lab history --add a.json
make no command
```
"""


def test_commands_are_found() -> None:
    found_commands = commands("page", PAGE)
    assert [(command.text, command.is_whole) for command in found_commands] == [
        ("tockmark run --only time", False),
        ("tockmark judge", False),
        ("make build", False),
        ("tockmark run --only syscall -o out.json", True),
        ("tockmark judge --base a.elf", True),
        ("make kernel OPT=z", True),
        ("tockmark run --kernel {}", True),
        ("tockmark list > list.txt", True),
        ("tockmark-lab history --add a.json", True),
    ]
    assert found_commands[-2].words == ["list"]
    assert [found_commands[n].program for n in (1, 2, -1)] == ["tockmark", "make", "tockmark-lab"]
