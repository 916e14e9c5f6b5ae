# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The questions themselves: each finds what it is for on a page that has it, and only then."""

import re
from pathlib import Path

import pytest
from chrome import Chrome
from survey import ASKED, survey

from tockmark.tests.pages import check_links

PICTURE = "<svg role=img aria-label=p width=400 height=40>"
GOOD = (
    "<h1>a</h1><p>b <a href='#x'>c</a></p><p id=x>d</p>"
    "<svg role=img aria-label=p width=310 height=40><text x=9 y=20 fill=currentColor>t</text></svg>"
)
WRONG = {
    "console": "<script>console.error('no')</script>",
    "loads": "<link rel=stylesheet href=https://example.org/a.css>",
    "marks": "<p id=x>twice</p>",
    "desk": "<div style='width: 1400px'>wide</div>",
    "light": "<p style='color: #aaa; background: #fff'>pale</p>",
    "pictures at a desk": f"{PICTURE}<text x=390 y=20>out</text></svg>",
    "dark": "<p style='color: #333'>on the browser's own dark</p>",
    "phone": "<div style='overflow-x: auto'><div style='width: 500px'>no key</div></div>",
    "pictures on a phone": "<svg role=img aria-label=p style='width: 40vw' height=40></svg>",
    "paper": "<div tabindex=0 style='overflow-x: auto'><div style='width: 1100px'>cut</div></div>",
    "ink": "<p style='color: #999; background: #fff'>pale in print</p>",
}
MORE = {
    "desk": "<p style='width: 90px; overflow: hidden; white-space: nowrap'>Cut at its end.</p>",
    "light": f"{PICTURE}<rect width=400 height=40 fill='#333'/>"
    "<text x=9 y=20>dark on dark</text></svg>",
    "marks": "<p>A heading is left out.</p><h3>so</h3>",
    "phone": "<table width=9><td style='overflow-wrap: anywhere'>letterbyletter</table>",
}


def seen(chrome: Chrome, folder: Path, more: str) -> dict[str, list[str]]:
    head = "<!doctype html><html lang=en><meta charset=utf-8><title>t</title>"
    head += "<meta name=color-scheme content='light dark'>"
    head += "<meta name=viewport content='width=device-width, initial-scale=1'>"
    (folder / "index.html").write_text(f"{head}<main>{GOOD}{more}</main>", encoding="utf-8")
    return survey(chrome, folder).wrong


def test_every_question_has_a_page() -> None:
    assert set(WRONG) == {"console", *ASKED}


def test_a_good_page_has_nothing_wrong(chrome: Chrome, tmp_path: Path) -> None:
    assert not [line for lines in seen(chrome, tmp_path, "").values() for line in lines]


@pytest.mark.parametrize(("question", "fault"), [*WRONG.items(), *MORE.items()])
def test_it_finds_its_fault(question: str, fault: str, chrome: Chrome, tmp_path: Path) -> None:
    assert seen(chrome, tmp_path, fault)[question]


@pytest.mark.parametrize("link", ["none.html", "#none", "index.html#none", "javascript:hit=1"])
def test_a_link_to_nowhere_is_lost(link: str, tmp_path: Path) -> None:
    page = tmp_path / "index.html"
    page.write_text("<p id='there'><a href='#there'>l</a></p>", encoding="utf-8")
    assert check_links(tmp_path) == 1
    page.write_text(f"<p id='there'><a href='{link}'>l</a></p>", encoding="utf-8")
    with pytest.raises(AssertionError, match=re.escape(link)):
        check_links(tmp_path)
