# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Does what docs/first-measurement.md says, in a copy of the checkout: every command, every edit,
in order; and what comes out is what the page shows.

A block of commands is a step; the block of text behind it is what its last command prints, with its
exit code if that is not 0. In such a block … stands for anything, and alone on a line for lines.
The step that sets up is not repeated: the copy gets what it makes. Takes about a minute; needs what
`make build` and `make profile` make.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
import scratch
from products import make

from tockmark import paths

PAGE = paths.ROOT / "docs" / "first-measurement.md"
SETS_UP = "make build profile"
BLOCK = re.compile(r"^```(sh|text)\n(.*?)^```$", re.M | re.S)
FILES = ("Makefile", "pyproject.toml", "constraints.txt")
KERNELS = Path("build", "cargo", "riscv32imc-unknown-none-elf")


class Step(NamedTuple):
    """Commands and what is shown of their output, or an edit: file, line, text."""

    commands: str = ""
    shown: str | None = None
    edit: tuple[str, str, str] | None = None


def steps(page: str) -> list[Step]:
    """The page's, in order."""
    found: list[tuple[int, Step]] = []
    for match in sorted(
        (*BLOCK.finditer(page), *scratch.EDIT.finditer(page)), key=lambda match: match.start()
    ):
        if match.re is scratch.EDIT:
            found.append((match.start(), Step(edit=(match[1], match[2] or "", match[3]))))
        elif match[1] == "sh":
            found.append((match.start(), Step(match[2])))
        else:
            before = found[-1][1]
            assert before.commands, f"no command has this output:\n{match[2]}"
            assert before.shown is None, f"a second output of one command:\n{match[2]}"
            found[-1] = (found[-1][0], before._replace(shown=match[2]))
    return [step for _, step in found]


def expected(shown: str) -> re.Pattern[str]:
    """What an output has to be like that a page shows so."""
    lines = []
    for line in shown.splitlines():
        if line.strip() == "…":
            lines.append(r"(?:.*\n)*?")
        else:
            lines.append(".*?".join(map(re.escape, line.rstrip().split("…"))) + r"[ ]*\n")
    return re.compile("".join(lines))


def copy_to(root: Path) -> None:
    """A checkout in which the page's first step was done: kernels are its own to build."""
    scratch.copy_to(root)
    for name in (*FILES, ".cargo", "validation", "results"):
        source = paths.ROOT / name
        if source.is_dir():
            shutil.copytree(source, root / name)
        else:
            shutil.copy2(source, root / name)
    (root / "build" / "cargo").unlink()
    for profile in ("release", "profiling"):
        (root / KERNELS / profile).mkdir(parents=True)
        kernel = KERNELS / profile / "tockmark-kernel"
        shutil.copy2(paths.ROOT / kernel, root / kernel)
    (root / "build" / "apps").symlink_to(paths.ROOT / "build" / "apps")
    # Its environment is this one, and says that it was made here, so that nothing is installed.
    (root / ".venv").mkdir()
    for part in ("bin", "lib", "pyvenv.cfg"):
        (root / ".venv" / part).symlink_to(Path(sys.executable).parents[1] / part)
    (root / ".venv" / ".installed").write_text(f"{root}\n")
    (root / ".gitignore").write_text("/build\n/.venv\n/.tools\n__pycache__/\n")
    by = ("-c", "user.name=reader", "-c", "user.email=reader@localhost")
    for command in (("init", "-q"), ("add", "-A"), (*by, "commit", "-q", "-m", "A fresh clone")):
        subprocess.run(("git", *command), cwd=root, check=True)


def test_every_step_of_the_page_does_what_it_shows(tmp_path: Path) -> None:
    first, *further = steps(PAGE.read_text(encoding="utf-8"))
    assert first.commands.strip() == SETS_UP
    assert sum(bool(step.edit) for step in further) == 2
    assert sum(step.shown is not None for step in further) == 5
    make("sim-retire")
    if not (paths.ROOT / KERNELS / "profiling" / "tockmark-kernel").exists():
        make("profile")
    copy_to(tmp_path)
    # Neither what an outer make told, nor a width of somebody's terminal.
    own = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS", "CARGO"))}
    own |= {"PYTHONPATH": str(tmp_path / "tools"), "COLUMNS": "100"}
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
        said = done.stdout if not done.returncode else f"{done.stdout}exit code {done.returncode}\n"
        assert done.returncode == 0 or step.shown, f"{step.commands}{said}{done.stderr}"
        if step.shown:
            lost = f"the page shows of\n{step.commands}\n{step.shown}\nbut it prints\n{said}"
            assert expected(step.shown).fullmatch(said), lost + done.stderr
    changed = ["git", "status", "--porcelain"]
    done = subprocess.run(changed, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "", "the page takes its change out again"


@pytest.mark.parametrize(
    ("shown", "said", "fits"),
    [
        ("a\n…\nd\n", "a\nb\nc\nd\n", True),
        ("a\n…\nd\n", "a\nd\n", True),
        ("a\n…\nd\n", "a\nb\nc\n", False),
        ("a\nd\n", "a\nb\nd\n", False),
        ("a … d\n", "a b c d\n", True),
        ("a … d\n", "a b\nc d\n", False),
        ("+4 (.)\n", "+4 (.)\n", True),
        ("+4 (.)\n", "+5 (.)\n", False),
        ("a\nexit code 3\n", "a\n", False),
    ],
)
def test_what_is_shown_is_compared(shown: str, said: str, fits: bool) -> None:
    assert bool(expected(shown).fullmatch(said)) is fits
