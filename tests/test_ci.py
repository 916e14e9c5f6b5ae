# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The workflow of docs/measure-your-change.md follows the published schema of GitHub's workflows,
uses verbs and options that exist, and its scripts find their files in its folders."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML
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
    assert len(scripts) == 6
    assert not [script for script in scripts if "${{" in script]


# Stands in for the tool: it writes what judge and export write, and exits with $ENDS.
TOOL = """#!/bin/sh -e
echo "$@" >>"$CALLS"
if [ "$1" = export ]; then
    test -f "$2"
    [ "$4" = github ] && echo '[{"name": "a", "unit": "cycles", "value": 1}]' || echo '{}'
    exit 0
fi
git -C "$2" log -1 "$3" "$4" >/dev/null
echo report >comment.md
[ "$ENDS" = 2 ] || { mkdir judged; echo '{}' >judged/head.json; }
exit "$ENDS"
"""
# Stands in for gh and bencher: it needs the file that it is given.
READER = """#!/bin/sh -e
echo "${0##*/} $@" >>"$CALLS"
while [ "$1" != --file ] && [ "$1" != --body-file ]; do shift; done
test -f "$2"
"""
AS = ("-c", "user.name=A", "-c", "user.email=a@b")


@dataclass
class Workflow:
    """The workflow on a runner: its jobs have separate workspaces and share artifacts."""

    folder: Path
    environment: dict[str, str]
    jobs: dict[str, Any]

    def run(self, job: str, more_steps: Sequence[Any] = (), skipped: Sequence[str] = ()) -> int:
        """Run a job's steps, and return the code of its first script that fails."""
        workspace = self.folder / job
        workspace.mkdir()
        for step in (*self.jobs[job]["steps"], *more_steps):
            if step.get("name") in skipped:
                continue
            if "uses" in step:
                self._use(step["uses"].partition("@")[0], step.get("with", {}), workspace)
                continue
            command = ["bash", "-e", "-c", step["run"]]
            own = self.environment | {"CODE": self.outputs.get("code", "")}
            code = subprocess.run(command, cwd=workspace, env=own, check=False).returncode
            if code:
                return code
        return 0

    @property
    def outputs(self) -> dict[str, str]:
        """The outputs of the first job."""
        lines = Path(self.environment["GITHUB_OUTPUT"]).read_text().splitlines()
        return dict(line.split("=") for line in lines)

    def git(self, folder: Path, *command: str) -> str:
        done = subprocess.run(["git", *AS, *command], cwd=folder, capture_output=True, check=True)
        return done.stdout.decode().strip()

    def _use(self, action: str, options: dict[str, Any], workspace: Path) -> None:
        """Do what an action does to the workspace."""
        stored = self.folder / "artifact"
        if action == "actions/checkout":
            self.git(
                workspace, "clone", "-q", str(self.folder / "origin"), options.get("path", ".")
            )
        elif action == "actions/upload-artifact":
            for pattern in options["path"].split():
                for path in workspace.glob(pattern):
                    to = stored / path.relative_to(workspace)
                    to.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy(path, to)
        elif action == "actions/download-artifact":
            shutil.copytree(stored, workspace / options.get("path", "."), dirs_exist_ok=True)
        elif action == "benchmark-action/github-action-benchmark":
            (entry,) = json.loads((workspace / options["output-file-path"]).read_text())
            assert set(entry) == {"name", "unit", "value"}
            assert options["auto-push"]
            assert "github.token" in options["github-token"]
            assert 100 < int(options["alert-threshold"].removesuffix("%")) < 200
            assert Path(self.git(workspace, "rev-parse", "--show-toplevel")) == workspace
            self.git(workspace, "fetch", "-q", "origin", "gh-pages:gh-pages")
            self.git(workspace, "switch", "-q", "gh-pages")
            self.git(workspace, "commit", "-q", "--allow-empty", "-m", "figures")
            self.git(workspace, "push", "-q", "origin", "gh-pages:gh-pages")
            self.git(workspace, "checkout", "-q", "-")
        else:
            assert action in ("actions/cache", "bencherdev/bencher")


@pytest.fixture
def workflow(tmp_path: Path) -> Workflow:
    programs = tmp_path / "programs"
    programs.mkdir()
    for name, text in (("tockmark", TOOL), ("gh", READER), ("bencher", READER)):
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    variables = {"BUILD": "make it", "NUMBER": "1", "REPOSITORY": "a/b", "BENCHER_API_KEY": "k"}
    variables |= {"GITHUB_REF_NAME": "master", "HEAD": "HEAD", "BASE": "HEAD~1"}
    for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "CALLS"):
        variables[name] = str(tmp_path / name)
        (tmp_path / name).touch()
    search = {"PATH": f"{programs}:{os.environ['PATH']}"}
    jobs = YAML(typ="safe").load(WORKFLOW)["jobs"]
    ran = Workflow(tmp_path, os.environ | variables | search, jobs)
    origin = tmp_path / "origin"
    ran.git(tmp_path, "init", "-q", "-b", "master", str(origin))
    for message in "abc":
        ran.git(origin, "commit", "-q", "--allow-empty", "-m", message)
    ran.environment["GITHUB_SHA"] = ran.git(origin, "rev-parse", "HEAD")
    for step in jobs["judge"]["steps"]:  # instead of a wheel
        if step.get("name") == "The tool":
            step["run"] = f"mkdir -p tool/bin; cp {programs}/tockmark tool/bin"
    return ran


@pytest.mark.parametrize("ends", [0, 1, 2, 3])
def test_its_scripts_run_in_its_folders(ends: int, workflow: Workflow) -> None:
    workflow.environment["ENDS"] = str(ends)
    skipped = ["Figures for other tools"] if ends == 2 else []
    assert workflow.run("judge", skipped=skipped) == ends
    assert workflow.outputs == {"code": str(ends)}
    assert Path(workflow.environment["GITHUB_STEP_SUMMARY"]).read_text() == "report\n"
    assert workflow.run("comment") == 0
    calls = Path(workflow.environment["CALLS"]).read_text().splitlines()
    assert calls[0].startswith("judge tock ")
    assert calls[0].endswith("HEAD --build make it --markdown comment.md -o judged")
    assert [call.split()[0] for call in calls[1:]] == ["export"] * 2 * (ends != 2) + ["gh"]


def test_figures_of_pushes_are_stored(workflow: Workflow) -> None:
    """The branch exists from the second push on."""
    workflow.environment["ENDS"] = "0"
    assert workflow.run("judge") == 0
    steps = YAML(typ="safe").load(PAGE.split("```yaml\n")[2].split("```")[0])
    for pushed in (1, 2):
        shutil.rmtree(workflow.folder / "over-time", ignore_errors=True)
        assert workflow.run("over-time", steps) == 0
        log = workflow.git(workflow.folder / "origin", "log", "--format=%s", "gh-pages")
        assert log.split() == ["figures"] * pushed + ["Figures"]
    last = Path(workflow.environment["CALLS"]).read_text().splitlines()[-1].split()
    assert last[:4] == ["bencher", "run", "--key", "k"]
    assert last[last.index("--hash") + 1] == workflow.environment["GITHUB_SHA"]
