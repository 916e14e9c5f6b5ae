# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Does what docs/first-measurement.md says, in a copy of the checkout: every command, every edit,
in order; and what comes out is what the page shows.

A block of commands is a step; the block of text behind it is what its last command prints, with its
exit code if that is not 0. In such a block … stands for anything, and alone on a line for lines.
The step that sets up is not repeated: the copy gets what it makes. Takes about a minute.
"""

import re
import subprocess
from pathlib import Path
from typing import NamedTuple

import scratch

from tockmark.base import paths

PAGE = paths.ROOT / "docs" / "first-measurement.md"
SETS_UP = "make build profile"
BLOCK = re.compile(r"^```(sh|text)\n(.*?)^```$", re.M | re.S)


class Step(NamedTuple):
    """Commands and what is shown of their output, or an edit: file, line, text."""

    commands: str = ""
    shown: str | None = None
    edit: tuple[str, str, str] | None = None


def steps(page: str) -> list[Step]:
    """The page's, in order."""
    steps_by_position: list[tuple[int, Step]] = []
    for match in sorted(
        (*BLOCK.finditer(page), *scratch.EDIT.finditer(page)), key=lambda match: match.start()
    ):
        if match.re is scratch.EDIT:
            steps_by_position.append(
                (match.start(), Step(edit=(match[1], match[2] or "", match[3])))
            )
        elif match[1] == "sh":
            steps_by_position.append((match.start(), Step(match[2])))
        else:
            before = steps_by_position[-1][1]
            assert before.commands, f"no command has this output:\n{match[2]}"
            assert before.shown is None, f"a second output of one command:\n{match[2]}"
            steps_by_position[-1] = (steps_by_position[-1][0], before._replace(shown=match[2]))
    return [step for _, step in steps_by_position]


def expected(shown: str) -> re.Pattern[str]:
    """What an output has to be like that a page shows so."""
    lines = []
    for line in shown.splitlines():
        if line.strip() == "…":
            lines.append(r"(?:.*\n)*?")
        else:
            lines.append(".*?".join(map(re.escape, line.rstrip().split("…"))) + r"[ ]*\n")
    return re.compile("".join(lines))


def test_every_step_of_the_page_does_what_it_shows(tmp_path: Path) -> None:
    first, *further = steps(PAGE.read_text(encoding="utf-8"))
    assert first.commands.strip() == SETS_UP
    assert sum(bool(step.edit) for step in further) == 2
    assert sum(step.shown is not None for step in further) == 5
    scratch.clone_to(tmp_path)
    own = scratch.environment(tmp_path)
    for step in further:
        if step.edit:
            scratch.edit(tmp_path, *step.edit)
            continue
        done = subprocess.run(
            ["bash", "-ec", step.commands],
            cwd=tmp_path,
            env=own,
            capture_output=True,
            text=True,
            check=False,
        )
        output = (
            done.stdout if not done.returncode else f"{done.stdout}exit code {done.returncode}\n"
        )
        assert done.returncode == 0 or step.shown, f"{step.commands}{output}{done.stderr}"
        if step.shown:
            lost = f"the page shows of\n{step.commands}\n{step.shown}\nbut it prints\n{output}"
            assert expected(step.shown).fullmatch(output), lost + done.stderr
    changed = ["git", "status", "--porcelain"]
    done = subprocess.run(changed, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "", "the page takes its change out again"
