# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The site has pages of studies, waits and rows over time; menus and search find them."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs
from typer.testing import CliRunner

from tockmark.cli import draw
from tockmark.site import pictures as site_pictures
from tockmark.suite import catalogue
from tockmark.suite.selection import select
from tockmark.tests.pages import captions, check_links, contents, pages
from tockmark.tests.test_site import NEW, stored
from tockmark_lab.app import app
from tockmark_lab.folders import DATA, STUDIES
from tockmark_lab.over_time import pictures
from tockmark_lab.over_time.commits import load_campaign

ROWS = "time,syscall,ipc,ctx.ring"
CAMPAIGN = DATA / "tock-history.jsonl"
FOLDERS = sorted(path for path in STUDIES.iterdir() if (path / "README.md").is_file())


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a site with all pages of the lab, and few rows."""
    folder = tmp_path_factory.mktemp("lab-site")
    few = NEW.only(select(catalogue.load(), ROWS))
    board = structs.replace(few.provenance.board, timing="checked-against-rtl")
    few = replace(few, provenance=structs.replace(few.provenance, board=board))
    given = [stored(folder / "a.json", few), str(DATA / "latency")]
    options = [word for study in FOLDERS for word in ("--study", str(study))]
    for path in (DATA / "history.jsonl", CAMPAIGN):
        options += ["--over-time", str(path)]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(draw, "STUDY", folder / "absent")  # measured on hardware
        patched.setattr(site_pictures, "draw", lambda named, only=None: {})
        patched.setattr(pictures, "commits_picture", lambda trails, form: b'<svg width="1"></svg>')
        done = CliRunner().invoke(app, ["site", *given, *options, "-o", str(folder / "site")])
    assert done.exit_code == 0, done.output
    return folder / "site"


def test_each_study_and_the_waits_have_a_page_that_every_menu_leads_to(site: Path) -> None:
    read = pages(site)
    assert {f"study-{folder.name}.html" for folder in FOLDERS} < read.keys()
    for name, page in read.items():
        root = "../" * name.count("/")
        menu = {f"{root}{path}.html" for path in ("latency", "studies", "commits", "history")}
        assert menu < {*page.targets}, name
    assert check_links(site) > 1000
    largest = max(contents(site).items(), key=lambda item: len(item[1]))
    assert len(largest[1]) < 500_000, largest[0]


def test_every_caption_says_that_its_figures_are_simulated(site: Path) -> None:
    for name in pages(site):
        for caption in captions((site / name).read_text(encoding="utf-8")):
            for word in ("imulated", "MHz", "i-cache", "version"):
                assert word in caption, (name, caption)


def test_every_commit_links_to_its_change(site: Path) -> None:
    data, _ = load_campaign(CAMPAIGN)
    targets = {*pages(site)["commits.html"].targets}
    every = [*(measured.commit for measured in data.all_commits)]
    every += [gap.commit for gap in data.gaps.values()]
    assert len(every) > 40
    for commit in every:
        assert f"https://github.com/tock/tock/commit/{commit.sha}" in targets
        if commit.pull is not None:
            assert f"https://github.com/tock/tock/pull/{commit.pull}" in targets
    text = (site / "commits.html").read_text(encoding="utf-8")
    assert text.count('class="sortable"') == text.count("<table")


@pytest.mark.parametrize(
    ("words", "address"),
    [
        ("crypto", "study-crypto.html"),
        ("worst case", "latency.html"),
        ("ipc 256", "benchmark/ipc"),
        ("history", "history.html"),
    ],
)
def test_the_search_has_the_words_of_a_reader(site: Path, words: str, address: str) -> None:
    text = (site / "search-index.js").read_text(encoding="utf-8")
    entries = json.loads(text.removeprefix("var TOCKMARK_PAGES = ").removesuffix(";\n"))
    hits = [
        entry["u"]
        for entry in entries
        for whole in [" ".join([entry["t"], entry["w"], *entry["a"]]).lower()]
        if all(word in whole for word in words.split())
    ]
    assert any(re.match(address, hit) for hit in hits), hits


def test_a_folder_without_a_page_is_refused(tmp_path: Path) -> None:
    words = ["site", stored(tmp_path / "a.json", NEW), "--study", str(tmp_path)]
    done = CliRunner().invoke(app, [*words, "-o", str(tmp_path / "site")])
    assert "README.md" in str(done.exception)
    assert not (tmp_path / "site").exists()
