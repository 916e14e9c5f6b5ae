# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Pages of all sites in a browser: nothing is missing, cut or hard to read, and no script runs."""

from collections.abc import Callable
from pathlib import Path

import pytest
from sites import SITES
from survey import ASKED, Survey

from tockmark.suite import catalogue
from tockmark.tests.pages import check_links, contents, pages

EVERY = pytest.mark.parametrize("name", list(SITES))
Seen = Callable[[str], Survey]
SHOWN = 20  # lines of a failure


# Pictures have no room for the hostile site's long names, so these may be cut.
ASKS = [
    (name, question)
    for name in SITES
    for question in ("console", *ASKED)
    if not (name == "hostile" and question.startswith("pictures"))
]


@pytest.mark.parametrize(("name", "question"), ASKS)
def test_nothing_is_wrong(name: str, question: str, surveyed: Seen) -> None:
    seen = surveyed(name)
    assert len(seen.pages) > 3
    assert seen.wrong[question][:SHOWN] == []


def test_the_projects_site_is_whole(site: Callable[[str], Path]) -> None:
    names = contents(site("project"))
    ids = catalogue.load().benchmarks
    assert {f"benchmark/{id_.partition('.')[0]}.html" for id_ in ids} <= names.keys()
    assert sum(name.endswith(".html") for name in names) <= 80
    assert sum(map(len, names.values())) < 20e6


@EVERY
def test_every_link_leads_to_a_page_and_every_page_is_linked(
    name: str, site: Callable[[str], Path]
) -> None:
    """This also runs without a browser."""
    folder = site(name)
    assert check_links(folder) > (5000 if name == "project" else 300)
    read = pages(folder)
    linked = {
        (folder / at).parent.joinpath(target.partition("#")[0]).resolve()
        for at, page in read.items()
        for target in page.targets
    }
    assert {(folder / at).resolve() for at in read} <= linked


@EVERY
def test_no_script_runs_but_the_search(name: str, surveyed: Seen) -> None:
    seen = surveyed(name)
    assert set(seen.scripts.values()) == {2}  # the search and its index
    assert seen.hits == []
