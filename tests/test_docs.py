# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The pages are correct: tables match committed results, and links and paths exist."""

import fnmatch
import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import jsonschema
import pytest

import pictures
from pages import FENCED, MOST_WORDS, PAGES, words, words_by_page
from tockmark.tests.conftest import committed

ROOT = Path(__file__).parents[1]
MAKE = ROOT / "tools" / "pages"
BUILT = ("build", ".venv", ".venvs", ".tools")
# Projects whose paths begin with these names.
UPSTREAM = ("tock", "libtock-c", "libtock-rs", "ibex", "opentitan")
READERS = ("~", "path")  # placeholders for the reader's own files: ~/tock, path/to/kernel.elf
PATH = re.compile(r"(?<![\w./$~…-])[\w.~-]+/[\w./*<>{},…-]*")
NAME = re.compile(r"`([\w-]+\.(?:c|cc|h|S|sv|vlt|ld|rs|py|sh|toml|mk|j2|md))`")
OPEN = re.compile(r"<\w+>|\{[\w.,]+\}|…")  # a placeholder for anything


def test_tables_match_the_committed_results() -> None:
    command = [sys.executable, str(MAKE), "--check", "tables"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_pages_are_short() -> None:
    assert sum(words_by_page().values()) <= MOST_WORDS, "python tests/pages.py"


def lines_of(*path: str) -> int:
    """Return the number of lines of a page."""
    return ROOT.joinpath(*path).read_text(encoding="utf-8").count("\n")


def test_the_first_pages_are_short() -> None:
    assert lines_of("README.md") <= 110
    assert lines_of("CONTRIBUTING.md") <= 30
    for folder in ("apps", "boards", "capsules", "kernel-patches", "lab", "tests", "tools"):
        assert lines_of(folder, "README.md") <= 30, folder


def test_a_page_with_figures_of_cycles_says_that_they_are_simulated() -> None:
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        if re.search(r"\d[\d,]* (cycles|µs)", text):
            assert "simulat" in text.lower(), page


def test_the_citation_names_the_version() -> None:
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    (version,) = re.findall(r'^version = "(.*)"$', project, re.M)
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def test_words_are_counted_without_tables_and_code() -> None:
    page = "# A title\n\nFive words of `plain` prose\n\n| a | table |\n\n    code here\n"
    assert words(page + "```sh\nmore code\n```\n<!-- a\ncomment -->\n- an item\n") == 11


def headings(text: str) -> set[str]:
    """Return the anchors that GitHub makes from the headings of a page."""
    seen: Counter[str] = Counter()
    anchors = set()
    for heading in re.findall(r"^#+ (.+?)\s*$", FENCED.sub("", text), re.M):
        words = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).lower()
        anchor = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        anchors.add(f"{anchor}-{seen[anchor]}" if seen[anchor] else anchor)
        seen[anchor] += 1
    return anchors


def dead_links(page: Path) -> list[str]:
    """Return the links of a page to missing files or headings."""
    dead = []
    text = FENCED.sub("", page.read_text(encoding="utf-8"))
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if link.startswith("https://"):
            continue
        name, _, anchor = link.partition("#")
        to = page.parent / name if name else page
        if not to.exists() or (anchor and anchor not in headings(to.read_text(encoding="utf-8"))):
            dead.append(link)
    return dead


@pytest.mark.parametrize(
    "page",
    [*PAGES, ROOT / "CHANGELOG.md"],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_links_have_targets(page: Path) -> None:
    assert dead_links(page) == []


def test_all_markdown_is_a_page() -> None:
    """The tests of pages then cover all Markdown files."""
    listed = [name for name in tracked_names() if name.endswith(".md")]
    assert {ROOT / name for name in listed} == {*PAGES, ROOT / "CHANGELOG.md"}


def test_the_index_has_every_page() -> None:
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    linked = {link.partition("#")[0] for link in re.findall(r"\]\(([^)]+)\)", index)}
    pages = {page.name for page in (ROOT / "docs").glob("*.md")} - {"README.md"}
    assert pages - linked == set()
    assert "(docs/README.md)" in (ROOT / "README.md").read_text(encoding="utf-8")


def tracked_names() -> set[str]:
    """Return our files and folders, relative to the root: those that git has or would add."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    files = [Path(name) for name in listed.splitlines() if (ROOT / name).exists()]
    return {str(path) for file in files for path in (file, *file.parents)} - {"."}


def lost_paths(text: str, ours: set[str]) -> list[str]:
    """Return the missing paths in a page, each with its line.

    A path that starts with a folder of our root must exist. In code, any other path with a slash
    that ends like a file or in a slash is an error, because our paths start at the root. A name
    without a slash must be the name of one of our sources."""
    roots = {path for path in ours if "/" not in path}
    names = {Path(path).name for path in ours}
    lost = []
    for number, line in enumerate(text.splitlines(), 1):
        prose = re.sub(r"\]\([^)]*\)", "]", line)  # links have a test of their own
        code = [match.span() for match in re.finditer(r"`[^`]+`", prose)]
        missing = [match[1] for match in NAME.finditer(prose) if match[1] not in names]
        for match in PATH.finditer(prose):
            path = match[0].rstrip(".,")
            root = path.partition("/")[0]
            if root in roots:
                wanted = OPEN.sub("*", path).rstrip("/")
                missing += [] if fnmatch.filter(ours, wanted) else [path]
            elif root not in (*BUILT, *UPSTREAM, *READERS):
                coded = any(start < match.start() < end for start, end in code)
                missing += [path] if coded and re.search(r"\.[a-zA-Z]\w*$|/$", path) else []
        lost += [f"{number}: {path}" for path in missing]
    return lost


def test_paths_exist() -> None:
    ours = tracked_names()
    lost = [
        f"{page.relative_to(ROOT)}:{path}"
        for page in PAGES
        for path in lost_paths(page.read_text(encoding="utf-8"), ours)
        if not (page.parent / path.partition(": ")[2]).exists()  # written from the page's folder
    ]
    assert not lost, "not in the checkout, from its root:\n" + "\n".join(lost)


def test_the_committed_results_follow_the_published_schema() -> None:
    """Independent readers use this schema. The check of tables compares it with the code."""
    schema = json.loads((ROOT / "docs" / "result.schema.json").read_text(encoding="utf-8"))
    read = jsonschema.Draft202012Validator(schema)
    folder = ROOT / "results"
    results = [p for p in committed(".json") if p.parent == folder]
    assert results
    for path in results:
        data = json.loads(path.read_text(encoding="utf-8"))
        assert [error.message for error in read.iter_errors(data)] == []
    data["rows"][0]["surplus"] = 1
    assert not read.is_valid(data)


def test_the_pictures_match_the_committed_results() -> None:
    """They have the same bytes."""
    for path, picture in pictures.generate().items():
        assert path.read_bytes() == picture, f"{path}: run `make tables`"
        assert len(picture) < 300_000
