# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Fixtures: one browser and one copy of each site for all tests. Without `make setup-browser`
the tests are skipped, or fail if TOCKMARK_BROWSER=required, as in .ci/run."""

import os
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
from chrome import BROWSER, DRIVER, Chrome
from sites import SITES
from survey import Survey, survey

sys.path.append(str(Path(__file__).parents[1]))  # where products.py is


@pytest.fixture(scope="session")
def chrome() -> Iterator[Chrome]:
    if not (BROWSER and DRIVER):
        why = "no chromium or no chromedriver here: run `make setup-browser`"
        if os.environ.get("TOCKMARK_BROWSER") == "required":
            pytest.fail(why)
        pytest.skip(why)
    browser = Chrome()
    yield browser
    browser.close()


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return a function that makes a site of SITES on its first call, and returns its folder."""

    @cache
    def made(name: str) -> Path:
        return SITES[name](tmp_path_factory.mktemp(name))

    return made


@pytest.fixture(scope="session")
def surveyed(chrome: Chrome, site: Callable[[str], Path]) -> Callable[[str], Survey]:
    """Return a function that opens the pages of a site once, and returns the findings."""

    @cache
    def seen(name: str) -> Survey:
        return survey(chrome, site(name))

    return seen
