# SPDX-License-Identifier: Apache-2.0 OR MIT
"""One browser and one copy of each site for all tests here. Without `make setup-browser` they are
skipped; where TOCKMARK_BROWSER=required, as in .ci/run, they fail."""

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
    """The folder of a site, by its name in SITES; made when it is asked for first."""

    @cache
    def made(name: str) -> Path:
        return SITES[name](tmp_path_factory.mktemp(name))

    return made


@pytest.fixture(scope="session")
def surveyed(chrome: Chrome, site: Callable[[str], Path]) -> Callable[[str], Survey]:
    """All pages of a site, seen once."""

    @cache
    def seen(name: str) -> Survey:
        return survey(chrome, site(name))

    return seen
