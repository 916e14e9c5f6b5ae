# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The pages say what is so: tables are those of committed results, links lead somewhere, and so do
the paths that are named."""

import fnmatch
import json
import re
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from tockmark.result import file
from tockmark.tests.conftest import NO_RESULTS, committed

ROOT = Path(__file__).parents[1]
PAGES = [
    *(ROOT / folder / "README.md" for folder in ("", "kernel", "results")),
    *sorted((ROOT / "docs").rglob("*.md")),
]
BUILT = ("build", ".venv", ".tools")
# Whose paths have this before them.
UPSTREAM = ("tock", "libtock-c", "libtock-rs", "ibex", "opentitan")
READERS = ("~", "path")  # stand for the reader's own: ~/tock, path/to/kernel.elf
PATH = re.compile(r"(?<![\w./$~…-])[\w.~-]+/[\w./*<>{},…-]*")
NAME = re.compile(r"`([\w-]+\.(?:c|cc|h|S|sv|vlt|ld|rs|py|sh|toml|mk|j2|md))`")
OPEN = re.compile(r"<\w+>|\{[\w.,]+\}|…")  # a place that anything may stand in


def test_tables_are_those_of_the_committed_results() -> None:
    command = [sys.executable, str(ROOT / "tools" / "refresh_tables.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_first_page_is_short_and_shows_three_kernels() -> None:
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    assert page.count("\n") < 165
    kernels = ["baseline-cw310", "tock-2.2-cw310", "tock-master-cw310"]
    shown = " ".join(f"results/{name}.json" for name in kernels)
    assert f"<!-- output: tockmark table {shown} -->" in page


LONG = ("run", "conformance")  # tests of their own run these


def test_the_commands_of_the_first_page_can_be_pasted() -> None:
    page = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = re.findall(r"^    \.venv/bin/(tockmark [^#\n]+?) *(?:#.*)?$", page, re.MULTILINE)
    assert len(commands) > 8
    for command in commands:
        arguments = command.split()[1:]
        if arguments[0] in LONG:
            arguments += ["--help"]
        done = subprocess.run(
            [str(Path(sys.executable).with_name("tockmark")), *arguments],
            capture_output=True,
            text=True,
            check=False,
            cwd=ROOT,
        )
        assert done.returncode in (0, 1), f"{command}: {done.stderr}"  # 1: a result is incomplete
        assert done.stdout, command


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8"))
    for link in links:
        assert link.startswith("https://") or (page.parent / link).exists(), link


def known() -> set[str]:
    """Our files and folders, from the root: what git has or would add."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    files = [Path(name) for name in listed.splitlines() if (ROOT / name).exists()]
    return {str(path) for file in files for path in (file, *file.parents)} - {"."}


def lost_paths(text: str, ours: set[str]) -> list[str]:
    """The paths in a page that are not there, each with its line.

    A path that begins with a folder of our root is ours. In code, any other with a slash is suspect
    that has the name of a file or a slash at its end: ours are written from the root. A name alone
    is that of one of our sources."""
    roots = {path for path in ours if "/" not in path}
    names = {Path(path).name for path in ours}
    lost = []
    for number, line in enumerate(text.splitlines(), 1):
        prose = re.sub(r"\]\([^)]*\)", "]", line)  # links have a test of their own
        code = [match.span() for match in re.finditer(r"`[^`]+`", prose)]
        found = [match[1] for match in NAME.finditer(prose) if match[1] not in names]
        for match in PATH.finditer(prose):
            path = match[0].rstrip(".,")
            root = path.partition("/")[0]
            if root in roots:
                wanted = OPEN.sub("*", path).rstrip("/")
                found += [] if fnmatch.filter(ours, wanted) else [path]
            elif root not in (*BUILT, *UPSTREAM, *READERS):
                coded = any(start < match.start() < end for start, end in code)
                found += [path] if coded and re.search(r"\.[a-zA-Z]\w*$|/$", path) else []
        lost += [f"{number}: {path}" for path in found]
    return lost


def test_paths_are_there() -> None:
    ours = known()
    lost = [
        f"{page.relative_to(ROOT)}:{path}"
        for page in PAGES
        for path in lost_paths(page.read_text(encoding="utf-8"), ours)
    ]
    assert not lost, "not in the checkout, from its root:\n" + "\n".join(lost)


@pytest.mark.parametrize(
    ("line", "lost"),
    [
        ("see docs/gone.md.", ["1: docs/gone.md"]),
        ("`docs/here.md`, docs/, docs/h*.md, `docs/<page>.md`, docs/{here,gone}.md", []),
        ("`docs/<page>.txt`", ["1: docs/<page>.txt"]),
        ("`model/part.h` and `model/`", ["1: model/part.h", "1: model/"]),
        ("`here.md` and `gone.md`, not gone.md nor `x.json`", ["1: gone.md"]),
        ("load/store, `MB/s`, 1/2", []),
        ("build/docs/x.md, `.venv/bin/x`, `~/docs/x.md`, `path/to/x.elf`", []),
        ("`tock/docs/gone.md`, [page](docs/gone.md), https://a.org/docs/gone.md", []),
    ],
)
def test_a_path_that_is_not_there_is_found(line: str, lost: list[str]) -> None:
    assert lost_paths(line, {"docs", "docs/here.md"}) == lost


def test_the_published_schema_holds_for_the_committed_results() -> None:
    """To a reader that is not ours; that it is the tool's own is a part of the tables' check."""
    schema = json.loads((ROOT / "docs" / "result.schema.json").read_text(encoding="utf-8"))
    read = jsonschema.Draft202012Validator(schema)
    folder = ROOT / "results"
    results = [p for p in committed(".json") if p.parent == folder and p.stem not in NO_RESULTS]
    assert results
    for path in results:
        data = json.loads(path.read_text(encoding="utf-8"))
        assert [error.message for error in read.iter_errors(data)] == []
    data["rows"][0]["surplus"] = 1
    assert not read.is_valid(data)


def test_the_pictures_are_those_of_the_committed_result() -> None:
    source = file.load(ROOT / "results" / "baseline-cw310.json").provenance.line
    found = (ROOT / "docs" / "pictures").glob("*.svg")
    pictures = [path for path in found if path.name != "speed-and-size.svg"]  # of the findings
    assert pictures
    for picture in pictures:
        assert source in picture.read_text(encoding="utf-8"), f"{picture}: run `make tables`"


def test_the_findings_are_those_of_the_committed_results() -> None:
    check = [sys.executable, str(ROOT / "tools" / "findings.py"), "--check"]
    done = subprocess.run(check, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
