# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The verb judge on variants of the baseline kernel: it finds no change in another layout of the
same source, finds added instructions, and reports errors in one line.

Builds the products of `make profile`, and each variant once: half a minute.
"""

import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
import variants
from products import kernel_links, make
from typer.testing import CliRunner

from tockmark.base import paths
from tockmark.base.errors import TockmarkError
from tockmark.cli import app
from tockmark.judge import report
from tockmark.result import file
from tockmark.show.text import escaped
from tockmark.trees import builds

KERNEL = paths.ROOT / "build" / "cargo" / variants.IMAGE
STORED = "[0-9a-f]" * 64  # a boot in the cache
QUICK = ("--profiles", "0", "--icache", "off")
FEW = {
    "arch/riscv/trap.S": (
        "    call  on_system_call",
        "    .rept 4\n    nop\n    .endr\n    call  on_system_call",
    )
}
PANICKING = {
    "arch/riscv/trap.rs": (
        "    match kernel.system_call([a0, a1, a2, a3, a4]) {",
        '    assert!(a4 != 2, "planted");\n    match kernel.system_call([a0, a1, a2, a3, a4]) {',
    )
}
AUTHOR = {
    f"GIT_{who}_{what}": "a@b" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
}


@dataclass
class Output:
    """The outcome of a call of the tool."""

    code: int
    out: str
    error: str
    folder: Path

    @property
    def first_line(self) -> str:
        """The first line of the output."""
        return self.out.splitlines()[0]


def judge(folder: Path, *options: object, only: str = "time") -> Output:
    words = ["judge", "--only", only, "-o", str(folder), *map(str, options)]
    done = CliRunner(env={"COLUMNS": "100"}).invoke(app.app, words)
    error = done.exception
    assert error is None or isinstance(error, TockmarkError | SystemExit), done.exc_info
    code = error.code if isinstance(error, TockmarkError) else done.exit_code
    return Output(code, done.stdout, str(error or ""), folder)


def built(factory: pytest.TempPathFactory, changes: dict[str, tuple[str, str]]) -> Path:
    return variants.build(factory.mktemp("variant"), changes)


@pytest.fixture(scope="module", autouse=True)
def profiled() -> None:
    make("profile")


@pytest.fixture(scope="module")
def costly(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory, variants.COSTLY)


def test_another_layout_of_the_same_source_finds_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    links = kernel_links()
    monkeypatch.setattr(report, "BOOTS", report.BOOTS[1:])  # the next test traces both
    sides = ["--base", links[0], "--base", links[1], "--head", links[2], "--head", links[3]]
    done = judge(tmp_path, *sides)
    assert done.code == 0, done
    assert done.first_line.startswith("Pass: no ")
    assert "symbol " not in done.out
    assert "stack   the kernel's " in done.out
    result = file.load(tmp_path / "base.json")
    assert result.provenance.kernel.file == "0.elf"


def test_more_expensive_system_calls_are_found_with_their_function(
    costly: Path, tmp_path: Path
) -> None:
    comment = tmp_path / "comment.md"
    sides = ["--base", KERNEL, "--head", costly, "--markdown", comment]
    done = judge(tmp_path / "out", *sides)
    assert done.code == 3, done
    assert done.first_line.startswith(f"Regression: +{variants.MORE} instructions on all ")
    assert f"+{variants.MORE} instructions" in done.out.split("\nwhere   ")[1]
    assert "exception" in done.out.split("\nwhere   ")[1]  # the changed function
    (row,) = (
        line for line in done.out.splitlines() if line.startswith("time.read ") and " off " in line
    )
    assert re.search(rf"\(\+\d.*\)  *worse !! +\+{variants.MORE}!!  exception$", row)
    heading = f"### ❌ tockmark: Regression: +{variants.MORE} instructions on all "
    assert comment.read_text().startswith(heading)
    other = judge(tmp_path / "out", "--base", costly, "--head", KERNEL, "--json", *QUICK)
    assert other.code == 0, other
    heading = json.loads(other.out)
    assert heading["limit"] == "none"
    assert not heading["identical"]
    assert heading["told"].startswith(f"-{variants.MORE} instructions on all ")
    flash = heading["sizes"]["whole"]["flash"]
    assert 0 <= flash[0] - flash[1] - 2 * variants.MORE <= 8  # alignment of the following code


def test_four_more_instructions_are_shown_with_estimate_and_range(
    tmp_path_factory: pytest.TempPathFactory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOCKMARK_CACHE", str(tmp_path / "cache"))
    head = built(tmp_path_factory, FEW)
    sides = ["--base", KERNEL, "--head", head, "--markdown", tmp_path / "comment.md", *QUICK]
    done = judge(tmp_path / "out", *sides, only="time,syscall.command")
    assert done.code == 3, done  # by instructions: 4 of 118
    assert done.first_line.startswith("Regression: +4 instructions on all ")
    document = json.loads(
        judge(tmp_path / "out", *sides, "--json", only="time,syscall.command").out
    )
    rows = {row["row"]: row for row in document["rows"]}
    row = rows["syscall.command icache=off"]
    assert row["low"] < 0 < row["estimate"] < row["high"]
    assert (row["verdict"], row["instructions"]["moved"]) == ("unsure", 4)
    assert row["estimate"] == pytest.approx(row["after"] / row["before"] - 1)
    shown = f"{row['before']:.0f} → {row['after']:.0f}"
    span = f"({100 * row['low']:+.1f} … {100 * row['high']:+.1f})"
    for text in (done.out, (tmp_path / "comment.md").read_text()):
        (line,) = (
            line_ for line_ in text.splitlines() if "syscall.command" in line_ and "→" in line_
        )
        assert all(part in line for part in (shown, span, "unsure", "+4"))


def test_a_panic_is_one_line_and_other_boots_are_kept(
    tmp_path_factory: pytest.TempPathFactory, tmp_path: Path
) -> None:
    head = built(tmp_path_factory, PANICKING)
    done = judge(tmp_path, "--base", KERNEL, "--head", head)
    assert (done.code, done.out) == (2, "")
    assert done.error.startswith(f"head: {head} panicked in time")
    assert "planted" in (tmp_path / "head.log").read_text()
    assert file.load(tmp_path / "base.json").table


def test_stored_boots_are_used_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOCKMARK_CACHE", str(tmp_path / "cache"))
    sides = ["--base", KERNEL, "--head", KERNEL, "--profiles", "0"]
    assert "boots, 0 of them" in judge(tmp_path / "out", *sides).out
    again = judge(tmp_path / "out", *sides).out
    assert again.count("2 boots, 2 of them") == 2
    assert json.loads(judge(tmp_path / "out", *sides, "--json").out)["identical"]


def test_ctrl_c_keeps_finished_boots(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tockmark", "judge", "--only", "kernel", "--jobs", "1"]
    command += ["--icache", "off", "--profiles", "0"]
    command += ["--base", str(KERNEL), "--head", str(KERNEL)]
    own = os.environ | {"TOCKMARK_CACHE": str(tmp_path / "cache")}
    own |= {"PYTHONPATH": str(paths.ROOT / "tools")}
    log = tmp_path / "told"
    with log.open("w") as out:
        running = subprocess.Popen([*command, "-o", str(tmp_path / "out")], env=own, stderr=out)
        while running.poll() is None and not any((tmp_path / "cache").glob(STORED)):
            time.sleep(0.02)
        running.send_signal(signal.SIGINT)
        assert running.wait() == 130
    assert log.read_text().splitlines()[-1].startswith("tockmark: interrupted: every boot that")
    assert (tmp_path / "out" / "base.log").exists()
    again = subprocess.run(command, env=own, capture_output=True, text=True, check=True)
    boots = re.search(r"base: (\d+) boots, (\d+) of them simulated before", again.stdout)
    assert boots
    assert 0 < int(boots[2]) < int(boots[1])


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (["--base", KERNEL, "--head", "none.elf"], "none.elf"),
        (["--base", KERNEL], "not a mix"),
        ([".", "a", "b", "--base", KERNEL, "--head", KERNEL], "not a mix"),
        (["a", "--build", "true", "--elf", "x"], "not a mix"),
        (["--base", KERNEL, "--head", KERNEL, "--board", "cw310"], "judge"),
    ],
)
def test_errors_are_one_line(options: list[str | Path], error: str, tmp_path: Path) -> None:
    done = judge(tmp_path, *options)
    assert (done.code, done.out) == (2, "")
    assert error in done.error
    assert list(tmp_path.iterdir()) == []


def test_an_error_is_also_a_comment(tmp_path: Path) -> None:
    comment = tmp_path / "comment.md"
    comment.write_text("of an earlier run")
    for more in (["--limits", tmp_path / "none.toml"], [], ["--only", "none"]):
        done = judge(
            tmp_path, "--base", KERNEL, "--head", "no_ne.elf", "--markdown", comment, *more
        )
        assert done.code == 2
        assert escaped(done.error) in comment.read_text()


def test_commits_are_built_and_judged(
    costly: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paths, "COMMITS", tmp_path / "commits")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    tree = tmp_path / "tock"
    tree.mkdir()

    def git(*command: str) -> None:
        subprocess.run(["git", *command], cwd=tree, env=os.environ | AUTHOR, check=True)

    git("init", "--quiet")
    for name, kernel in (("plain", KERNEL), ("dear", costly), ("broken", tmp_path / "none")):
        (tree / "kernel").write_text(str(kernel))
        git("add", "kernel")
        git("commit", "--quiet", "-m", f"the {name} one")
        git("tag", name)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    options = ["--no-patch", "--profiles", "0", "--icache", "off"]
    unknown = judge(tmp_path / "out", tree, "plain", "dear", *options)
    assert (unknown.code, unknown.out) == (2, "")
    assert "--build" in unknown.error
    build = ["--build", 'cp "$(cat kernel)" k.elf']
    done = judge(tmp_path / "out", tree, "plain", "dear", *options, *build)
    assert done.code == 3, done
    assert done.first_line.startswith(f"Regression: +{variants.MORE} instructions on all ")
    assert "base    " in done.out
    assert " the dear one" in done.out
    monkeypatch.chdir(tree)  # from here, judge finds the checkout and the build command itself
    again = judge(tmp_path / "out", "plain", "dear", *options)
    assert again.out.splitlines()[:3] == done.out.splitlines()[:3]
    stored = builds.load_build_command(tree)
    assert stored is not None
    assert (stored.command, stored.elf) == (build[1], "")
    assert stored.seconds > 0
    comment = tmp_path / "comment.md"
    broken = judge(tmp_path / "other", "plain", "broken", *options, "--markdown", comment)
    assert (broken.code, broken.out) == (2, "")
    assert "failed with code 1" in broken.error
    assert "failed with code 1" in comment.read_text()
