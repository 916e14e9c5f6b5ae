# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The workflow of docs/measure-your-change.md follows the published schema of GitHub's workflows,
and uses verbs and options that exist."""

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tockmark.base import paths
from tockmark.cli import app

PAGE = (paths.ROOT / "docs" / "measure-your-change.md").read_text(encoding="utf-8")
WORKFLOW = PAGE.split("```yaml\n")[1].split("```")[0]


def refused(workflow: str, folder: Path) -> str:
    """Return why the schema refuses a workflow, or an empty text."""
    path = folder / "tockmark.yml"
    path.write_text(workflow, encoding="utf-8")
    schema = ["--builtin-schema", "vendor.github-workflows", str(path)]
    command = [sys.executable, "-m", "check_jsonschema", *schema]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    assert "No module named" not in done.stderr
    return done.stdout if done.returncode else ""


def test_the_workflow_follows_the_published_schema(tmp_path: Path) -> None:
    assert refused(WORKFLOW, tmp_path) == ""


def test_its_verbs_and_options_exist() -> None:
    joined = WORKFLOW.replace("\\\n", " ")
    calls = re.findall(r"tool/bin/tockmark (\w+) ([^\n]*)", joined)
    assert [verb for verb, _ in calls] == ["judge", "export", "export"]
    for verb, words in calls:
        shown = CliRunner().invoke(app.app, [*verb.split(), "--help"]).stdout
        options = re.findall(r"(?<= )--?[a-z]+(?= )", words)
        assert options
        for option in options:
            assert re.search(rf"(?<![\w-]){option}(?![\w-])", shown), (verb, option)


def test_no_script_contains_an_expression() -> None:
    """An expression could insert code from a pull request; in the environment it stays text."""
    scripts = re.findall(r"run: (?:\|\n(?:\s{10,}.*\n)+|.*\n)", WORKFLOW)
    assert len(scripts) == 5
    assert not [script for script in scripts if "${{" in script]


def script(name: str) -> str:
    """Return the script of a step of the workflow."""
    step = WORKFLOW.split(f"- name: {name}\n")[1].split("      - ")[0].split("  comment:")[0]
    script_ = step.split("run: ")[1]
    return textwrap.dedent(script_.removeprefix("|\n")) if script_.startswith("|") else script_


# Replaces the tool: it logs its arguments, writes the comment of judge unless it exits with 2, and
# exits with $ENDS.
STAND_IN = """#!/bin/sh
echo "$@" >> calls
[ "$1" = judge ] || exit 0
[ "$ENDS" = 2 ] || echo report > comment.md
exit "$ENDS"
"""


@pytest.mark.parametrize("ends", [0, 1, 2, 3])
def test_its_steps_run_one_after_another(ends: int, tmp_path: Path) -> None:
    """Run the job that judges, on a commit with its parent and a stand-in for the tool."""
    tool = tmp_path / "tool" / "bin" / "tockmark"
    tool.parent.mkdir(parents=True)
    tool.write_text(STAND_IN)
    tool.chmod(0o755)
    git = ["git", "-c", "user.name=A", "-c", "user.email=a@b"]
    (tmp_path / "tock").mkdir()
    for command in (["init", "-q"], *[["commit", "-q", "--allow-empty", "-m", n] for n in "ab"]):
        subprocess.run([*git, *command], cwd=tmp_path / "tock", check=True)
    files = {"GITHUB_OUTPUT": "output", "GITHUB_STEP_SUMMARY": "summary", "ENDS": str(ends)}
    own = os.environ | files | {"BASE": "HEAD~1", "HEAD": "HEAD", "BUILD": "make it"}

    def run(name: str, **more: str) -> int:
        command = ["bash", "-e", "-c", script(name)]
        return subprocess.run(command, cwd=tmp_path, env=own | more, check=False).returncode

    assert run("Judge") == 0
    outputs = dict(line.split("=") for line in (tmp_path / "output").read_text().splitlines())
    code = outputs["code"]
    assert int(code) == ends
    assert outputs.get("comment") == (None if ends == 2 else "yes")
    if ends != 2:
        assert (tmp_path / "summary").read_text() == "report\n"
        assert run("Figures for other tools") == 0
    assert run("Pass, or not", CODE=code) == ends
    calls = (tmp_path / "calls").read_text().splitlines()
    assert calls[0].startswith("judge tock ")
    assert calls[0].endswith("HEAD --build make it --markdown comment.md -o judged")
    assert len(calls) == (1 if ends == 2 else 3)
