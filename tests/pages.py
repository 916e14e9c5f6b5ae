# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The pages of this project, their length, and the commands in them.

    python tests/pages.py

counts the words of each tracked Markdown page, without tables, code and comments. CHANGELOG and
the texts to upstream are not counted.
"""

import re
import shlex
import subprocess
from typing import Any, NamedTuple

import typer
import typer.main

from tockmark.base.paths import ROOT
from tockmark.cli import program as verbs
from tockmark.cli.program import VerbProgram

FOLDERS = [
    "",
    "apps",
    "boards",
    "capsules",
    "kernel",
    "kernel-patches",
    "results",
    "tests",
    "tools",
]
PAGES = [
    *(ROOT / folder / "README.md" for folder in FOLDERS),
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "lab").rglob("*.md")),
]
MOST_WORDS = 20_000  # of all counted pages
NO_PROSE = re.compile(r" {4}|\t|\s*\|")  # the start of a line of code, or of a table
FENCED = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.M | re.S)
OUTPUT = re.compile(r"^<!-- output: .*?^<!-- end of output -->$", re.M | re.S)
QUOTED = re.compile(r"`((?:\.venv/bin/)?tockmark(?:-lab)?\s[^`]+|make\s[^`]+)`")
# The start of a line of code that calls one of our programs: alone, after a prompt, in a
# workflow, in a loop of the shell.
LINE = re.compile(
    r"^\s*(?:\$ |run: |.*\| xargs (?:-\S+ (?:\d+ )?)*)?(?:\S*/)?(tockmark(?:-lab)?|make) (\S.*)$"
)
OPEN = re.compile(r"(requires an argument|^Missing parameter)")
SHELL = ("|", "||", "&&", ";", ">", ">>")
REMARK = re.compile(r"\s+#\s.*$| {3,}[^-\s].*$")  # behind a command


class Command(NamedTuple):
    """A command of a page."""

    page: str  # from the root
    text: str  # without the path of the program: tockmark run --only time
    is_whole: bool  # False: in a sentence, and perhaps only a verb
    is_shown: bool = False  # with its output, by tools/pages/tables.py

    @property
    def program(self) -> str:
        """The program: make, tockmark or tockmark-lab."""
        return self.text.partition(" ")[0]

    @property
    def words(self) -> list[str]:
        """Its arguments, as the shell splits them, without redirections and further commands."""
        words = shlex.split(self.text)[1:]
        return words[: next((at for at, word in enumerate(words) if word in SHELL), None)]


def commands(page: str, text: str) -> list[Command]:
    """Return the commands of make, tockmark and tockmark-lab in a page, in order."""
    shown = [match.span() for match in OUTPUT.finditer(text)]
    commands_by_line: list[tuple[int, Command]] = []
    plain = text
    for block in FENCED.finditer(text):
        plain = plain[: block.start()] + " " * len(block[0]) + plain[block.end() :]
        in_output = any(start < block.start() < end for start, end in shown)
        prompted = block[2] == "text"  # output: its commands have a prompt
        commands_by_line += [
            (block.start(3) + at, Command(page, command, True, in_output))
            for at, command in _of_code(block[3])
            if not prompted or "$ " in block[3][at : at + 6]
        ]
    for indented in re.finditer(r"(?:^(?: {4}|\t).*\n)+", plain, re.M):
        commands_by_line += [
            (indented.start() + at, Command(page, command, True))
            for at, command in _of_code(indented[0])
        ]
    plain = re.sub(r"^(?: {4}|\t).*$", lambda line: " " * len(line[0]), plain, flags=re.M)
    for quoted in QUOTED.finditer(plain):
        words = re.sub(r"^\.venv/bin/", "", " ".join(quoted[1].split()))
        commands_by_line.append((quoted.start(), Command(page, words, False)))
    return [command for _, command in sorted(commands_by_line, key=lambda pair: pair[0])]


def _of_code(code: str) -> list[tuple[int, str]]:
    """Return the commands in lines of code, each with its position."""
    joined = re.sub(r" *\\\n\s*", lambda end: " " + "\0" * (len(end[0]) - 1), code)
    lines, at = [], 0
    for line in joined.splitlines(keepends=True):
        match = LINE.match(line.replace("\0", "").rstrip("\n"))
        if match:
            lines.append((at, f"{match[1]} {REMARK.sub('', match[2])}".rstrip()))
        at += len(line)
    return lines


def every() -> list[Command]:
    """Return the commands of all pages."""
    return [
        command
        for page in PAGES
        for command in commands(str(page.relative_to(ROOT)), page.read_text(encoding="utf-8"))
    ]


class UnusableError(Exception):
    """A command is not valid; the message says why."""


def arguments(command: Command, program: VerbProgram) -> dict[str, Any]:
    """Return the parameters that a command gives its verb, and "verb". A partial command has only
    "verb". UnusableError if the command is not valid."""
    tool = typer.main.get_command(program.command_line())
    words = command.words
    if words[0] in {option for name in tool.params for option in name.opts}:
        return {"verb": words[0], "help": True}  # without a verb: --version etc.
    if words[0] == "VERB" and not command.is_whole:
        return {"verb": words[0], "help": True}
    try:
        context = tool.make_context(program.name, list(words))
        name, verb, rest = tool.resolve_command(context, words)  # type: ignore[attr-defined]
        if name in program.groups and rest:
            group = verb.make_context(name, list(rest), parent=context)
            name, verb, rest = verb.resolve_command(group, rest)
        assert verb is not None
        return {"verb": name, **verb.make_context(name, rest).params}
    except typer.Exit:  # --help, --version
        return {"verb": words[0], "help": True}
    except Exception as error:
        if not command.is_whole and OPEN.search(str(error)):
            return {"verb": words[0]}  # in a sentence: a verb, perhaps with an option
        raise UnusableError(str(error)) from error
    finally:
        verbs._debug = False  # --debug sets it for the whole process


def words(text: str) -> int:
    """Return the number of words of a page, without tables, code and comments."""
    prose = re.sub(r"<!--.*?-->", "", FENCED.sub("", text), flags=re.S)
    return sum(len(line.split()) for line in prose.splitlines() if not NO_PROSE.match(line))


def words_by_page() -> dict[str, int]:
    """Return the number of words of each counted page, by its path from the root."""
    listed = subprocess.run(
        ["git", "ls-files", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return {
        path: words((ROOT / path).read_text(encoding="utf-8"))
        for path in listed.stdout.splitlines()
        if path != "CHANGELOG.md" and not path.startswith("lab/upstream/")
    }


if __name__ == "__main__":
    counts = words_by_page()
    for path, count in sorted(counts.items(), key=lambda item: -item[1]):
        print(f"{count:6} {path}")
    print(f"{sum(counts.values()):6} of at most {MOST_WORDS}")
