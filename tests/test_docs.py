# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The pages say what is so: tables are those of committed results, links lead somewhere."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tockmark.result import result
from tockmark.show import view

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "kernel" / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def test_tables_are_those_of_the_committed_results() -> None:
    command = [sys.executable, str(ROOT / "tools" / "refresh_tables.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "<!-- table: " in (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8"))
    for link in links:
        assert link.startswith("https://") or (page.parent / link).exists(), link


def test_the_published_schema_is_that_of_the_tool() -> None:
    own = ROOT / "tools" / "tockmark" / "result.schema.json"
    assert (ROOT / "docs" / "result.schema.json").read_bytes() == own.read_bytes()


def test_the_pictures_are_those_of_the_committed_result() -> None:
    source = view.provenance(result.load(ROOT / "results" / "baseline-cw310.json"))
    pictures = list((ROOT / "docs" / "pictures").glob("*.svg"))
    assert pictures
    for picture in pictures:
        assert source in picture.read_text(encoding="utf-8"), f"{picture}: run `make tables`"


def test_the_findings_are_those_of_the_committed_results() -> None:
    check = [sys.executable, str(ROOT / "tools" / "findings.py"), "--check"]
    done = subprocess.run(check, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
