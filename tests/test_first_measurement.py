# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Follow docs/first-measurement.md in a copy of the checkout: run its commands, make its edits in
order, and compare the output with the page.

A block of commands is a step. The text block after it is the output of its last command, with the
exit code unless that is 0. There, … matches any text; alone on a line, it matches any lines. The
copy already contains what the set-up step builds, so that step is skipped. Takes about a minute.
"""

import re
import subprocess
from pathlib import Path
from typing import NamedTuple

import scratch

from tockmark.base import paths

PAGE = paths.ROOT / "docs" / "first-measurement.md"
SET_UP = "make build profile"
BLOCK = re.compile(r"^```(sh|text)\n(.*?)^```$", re.M | re.S)


class Step(NamedTuple):
    """Commands with the output that the page shows, or an edit: file, line, text."""

    commands: str = ""
    shown: str | None = None
    edit: tuple[str, str, str] | None = None


def steps(page: str) -> list[Step]:
    """Return the steps of a page, in order."""
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
    """Return a pattern for the whole output that a page shows."""
    lines = []
    for line in shown.splitlines():
        if line.strip() == "…":
            lines.append(r"(?:.*\n)*?")
        else:
            lines.append(".*?".join(map(re.escape, line.rstrip().split("…"))) + r"[ ]*\n")
    return re.compile("".join(lines))


def test_each_step_prints_what_the_page_shows(tmp_path: Path) -> None:
    first, *further = steps(PAGE.read_text(encoding="utf-8"))
    assert first.commands.strip() == SET_UP
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
            difference = f"{step.commands}\nThe page shows:\n{step.shown}\nActual output:\n{output}"
            assert expected(step.shown).fullmatch(output), difference + done.stderr
    changed = ["git", "status", "--porcelain"]
    done = subprocess.run(changed, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "", "the page must undo its edits"
