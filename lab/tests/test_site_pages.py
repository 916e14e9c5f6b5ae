# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The site has pages of studies, waits and rows over time; menus and search find them."""

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tockmark.base import paths
from tockmark.tests.pages import COMMIT, CONDITIONS, captions, check_links, contents, pages
from tockmark.tests.test_site import NEW, stored
from tockmark_lab.app import app
from tockmark_lab.folders import DATA, STUDIES
from tockmark_lab.over_time.commits import TOCK, load_campaign

CAMPAIGN = DATA / "tock-history.jsonl"
FOLDERS = sorted(path for path in STUDIES.iterdir() if (path / "README.md").is_file())


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the site that `make site` writes."""
    given = [str(paths.RESULTS), str(DATA / "latency")]
    given += [f"--study={folder}" for folder in FOLDERS]
    given += [f"--over-time={path}" for path in (DATA / "history.jsonl", CAMPAIGN)]
    folder = tmp_path_factory.mktemp("lab") / "site"
    done = CliRunner().invoke(app, ["site", *given, "-o", str(folder)])
    assert done.exit_code == 0, done.output
    return folder


def test_each_study_and_the_waits_have_a_page_that_every_menu_leads_to(site: Path) -> None:
    read = pages(site)
    assert {f"study-{folder.name}.html" for folder in FOLDERS} < read.keys()
    for name, page in read.items():
        root = "../" * name.count("/")
        menu = {f"{root}{path}.html" for path in ("latency", "studies", "commits", "history")}
        assert menu < {*page.targets}, name
    assert check_links(site) > 1000


def test_a_page_of_a_study_shows_no_markup(site: Path) -> None:
    for folder in FOLDERS:
        text = (site / f"study-{folder.name}.html").read_text(encoding="utf-8")
        assert not re.search("&lt;/?[a-z]+&gt;|</[a-z]+ ", text), folder.name


def test_no_page_is_large(site: Path) -> None:
    sizes = {name: len(data) for name, data in contents(site).items()}
    assert sizes["index.html"] < 300_000
    assert {name: size for name, size in sizes.items() if size > 500_000} == {}


def test_every_caption_says_that_its_figures_are_simulated_but_those_of_hardware(
    site: Path,
) -> None:
    every = {
        (name, caption)
        for name in pages(site)
        for caption in captions((site / name).read_text(encoding="utf-8"))
    }
    assert len(every) > 150
    for name, caption in every:
        for word in ("imulated", *CONDITIONS):
            assert word in caption, (name, caption)
    for page in ("study.html", "study-versions.html"):
        (study,) = (caption for name, caption in every if name == page and "Ours:" in caption)
        hardware, _, _ = study.partition("Ours:")
        assert "imulated" not in hardware
        assert all(word in hardware for word in CONDITIONS)


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
    leading_out = {target for target in targets if target.startswith("http")}
    shas, pulls = {commit.sha for commit in every}, {str(commit.pull) for commit in every}
    for target in leading_out:
        assert COMMIT.fullmatch(target), target
        kind, _, name = target.removeprefix(f"{TOCK}/").partition("/")
        assert name in (shas if kind == "commit" else pulls), target
    text = (site / "commits.html").read_text(encoding="utf-8")
    shown = re.findall(r'/commit/([0-9a-f]{40})">([0-9a-f]{7,40})<', text)
    assert len(shown) > 40
    assert all(sha.startswith(short) for sha, short in shown)
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
