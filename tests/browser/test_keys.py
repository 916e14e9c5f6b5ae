# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Keyboard navigation on a page of each type, and the search."""

import io
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from chrome import DESK, Chrome
from PIL import Image
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from sites import PAYLOAD
from survey import Survey

Site = Callable[[str], Path]
MOST = 80  # stops of the Tab key that are checked per page
KINDS = ["index.html", "reading.html", "benchmark/*.html", "kernel/*.html", "compare/*.html"]
# The elements where Tab should stop, in page order.
STOPS = """
const all = [...document.querySelectorAll('a[href], button, input, summary, [tabindex="0"]')];
const shut = 'details:not([open]) > :not(summary)';
window.stops = all.filter((element) => shown(element) && !element.closest(shut));
return window.stops.length;
"""
# The focused element, and whether it is visible: in the window, with an outline.
NOW = """
const at = document.activeElement, box = at.getBoundingClientRect(), style = getComputedStyle(at);
const inside = box.right > 0 && box.bottom > 0 && box.left < innerWidth && box.top < innerHeight;
const ring = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
return [window.stops.indexOf(at), inside && ring, described(at)];
"""


def press(chrome: Chrome, *keys: str) -> None:
    """Send keys to the focused element."""
    ActionChains(chrome.driver, duration=0).send_keys(*keys).perform()


def opened(chrome: Chrome, page: Path) -> None:
    chrome.media()
    chrome.wide(DESK)
    chrome.open(page)


def hits(chrome: Chrome) -> list[str]:
    """Return the titles of the search's hits."""
    return chrome.ask("own('.hits a').map((link) => link.textContent)")


def focus(chrome: Chrome) -> str:
    """Return the id of the focused element."""
    return str(chrome.run("return document.activeElement.id;"))


@pytest.mark.parametrize("kind", KINDS)
def test_tab_goes_through_the_page_in_order(kind: str, chrome: Chrome, site: Site) -> None:
    opened(chrome, sorted(site("compared").glob(kind))[0])
    count = min(chrome.run(STOPS), MOST)
    assert count > 5
    for place in range(count):
        press(chrome, Keys.TAB)
        at, visible, outline = chrome.run(NOW)
        assert at == place, outline
        assert visible, outline


def test_search_finds_a_benchmark_and_enter_opens_it(chrome: Chrome, site: Site) -> None:
    opened(chrome, sorted(site("compared").glob("kernel/*.html"))[0])  # a folder below
    press(chrome, "/")
    assert focus(chrome) == "search"
    press(chrome, "syscall.memop")
    assert hits(chrome)[0] == "syscall.memop"
    assert chrome.ask("faint()") == []
    press(chrome, Keys.ENTER)
    chrome.run("return 1;")
    page = (site("compared") / "benchmark/syscall.html").as_uri()
    assert chrome.driver.current_url == f"{page}#syscall.memop"
    assert chrome.driver.find_element(By.ID, "syscall.memop").text == "syscall.memop"


@pytest.mark.parametrize(
    ("words", "title"),
    [
        ("context switch", "ctx.ring"),
        ("null syscall", "syscall.command"),
        ("getpid", "syscall.command"),
        ("round trip", "ipc.round_trip"),
        ("token hop", "ctx.ring"),
    ],
)
def test_search_finds_aliases(words: str, title: str, chrome: Chrome, site: Site) -> None:
    opened(chrome, site("compared") / "index.html")
    press(chrome, "/", words)
    assert hits(chrome)[0] == title


def test_a_search_without_a_hit_says_so(chrome: Chrome, site: Site) -> None:
    opened(chrome, site("compared") / "index.html")
    press(chrome, "/", "zzyzx")
    assert chrome.ask("own('.hits li').map(described)")
    assert hits(chrome) == []


def test_a_table_is_sorted_and_filtered(chrome: Chrome, site: Site, tmp_path: Path) -> None:
    table = (
        '<div class="wide"><table class="sortable">'
        "<thead><tr><th>row</th><th>cycles</th></tr></thead>"
        "<tbody><tr><th>b</th><td>1\u202f000</td></tr><tr><th>a</th><td>30</td></tr>"
        "<tr><th>c</th><td>\u22125</td></tr></tbody></table></div>"
    )
    folder = shutil.copytree(site("compared"), tmp_path / "site")
    text = (folder / "reading.html").read_text(encoding="utf-8")
    (folder / "reading.html").write_text(re.sub("<dl>.*</dl>", table, text, flags=re.DOTALL))
    opened(chrome, folder / "reading.html")
    shown = "own('.sortable tbody tr').filter((r) => !r.hidden).map((r) => r.cells[0].textContent)"
    by_row, by_cycles = chrome.driver.find_elements(By.CSS_SELECTOR, ".sortable th button")
    by_row.click()
    assert chrome.ask(shown) == ["a", "b", "c"]
    by_cycles.click()
    assert chrome.ask(shown) == ["c", "a", "b"]
    by_cycles.click()
    assert chrome.ask(shown) == ["b", "a", "c"]
    chrome.driver.find_element(By.CSS_SELECTOR, ".filter input").send_keys("30")
    assert chrome.ask(shown) == ["a"]


def test_escape_leaves_the_search(chrome: Chrome, site: Site) -> None:
    opened(chrome, site("compared") / "index.html")
    press(chrome, "/", "memop")
    assert chrome.ask("own('.hits a').map(described)")
    press(chrome, Keys.ESCAPE)
    assert chrome.ask("own('.hits a').map(described)") == []
    assert chrome.run("return document.getElementById('search').value;") == ""
    assert focus(chrome) != "search"


def test_hostile_text_stays_text(
    chrome: Chrome, site: Site, surveyed: Callable[[str], Survey]
) -> None:
    texts = surveyed("hostile").texts
    assert PAYLOAD in texts["index.html"]
    opened(chrome, site("hostile") / "index.html")
    press(chrome, "/", "onerror")
    assert any("<img" in line for line in hits(chrome))
    assert chrome.run("return window.hit === undefined && !document.querySelector('img');")


def test_pictures_are_dark_in_the_dark(chrome: Chrome, site: Site) -> None:
    opened(chrome, site("compared") / "index.html")
    picture = chrome.driver.find_element(By.CSS_SELECTOR, "figure svg")

    def lightness() -> float:
        drawn = Image.open(io.BytesIO(picture.screenshot_as_png)).convert("L")
        return float(np.median(np.asarray(drawn)))

    light = lightness()
    chrome.media("dark")
    assert lightness() < 60 < 200 < light  # 0 to 255, of the most common colour
