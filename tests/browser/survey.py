# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Open pages of a site and run all checks on each.

Opening a page takes longer than the checks, so each page is opened once. Most pages come from three
templates, so only the largest pages of each folder and a share of all are opened. Links are checked
without a browser."""

import json
from dataclasses import dataclass, field
from pathlib import Path

from chrome import DESK, PAPER, PHONE, TABLET, Chrome

LEAST = 300  # px, the least width of a picture on a phone, unless its region scrolls
LETTER = 6.5  # px, the least height of letters in a picture
PAGE = (
    "return {text: document.body.textContent,"
    " scripts: document.scripts.length, hit: String(window.hit)};"
)
LARGEST, EACH = 2, 24

# The checks by name: width, colour scheme, media, and the JavaScript call.
ASKED: dict[str, tuple[int, str, str, str]] = {
    "loads": (DESK, "light", "screen", "external({root})"),
    "marks": (DESK, "light", "screen", "marked()"),
    "desk": (DESK, "light", "screen", f"cut({DESK}, true)"),
    "light": (DESK, "light", "screen", "faint()"),
    "pictures at a desk": (DESK, "light", "screen", f"pictures({LEAST}, {LETTER})"),
    "dark": (DESK, "dark", "screen", "faint()"),
    "tablet": (TABLET, "light", "screen", f"cut({TABLET}, true)"),
    "dark tablet": (TABLET, "dark", "screen", "faint()"),
    "dark phone": (PHONE, "dark", "screen", "faint()"),
    "phone": (PHONE, "light", "screen", f"cut({PHONE}, true)"),
    "pictures on a phone": (PHONE, "light", "screen", f"pictures({LEAST}, {LETTER})"),
    "paper": (PAPER, "light", "print", f"cut({PAPER}, false)"),
    "ink": (PAPER, "dark", "print", "faint()"),
}


@dataclass
class Survey:
    """The findings on a site."""

    root: Path
    pages: list[str]
    wrong: dict[str, list[str]] = field(default_factory=dict)  # by check, each with its page
    scripts: dict[str, int] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    hits: list[str] = field(default_factory=list)  # pages where an injected script ran


def chosen(root: Path) -> list[str]:
    """Return the pages to open."""
    every = sorted(str(path.relative_to(root)) for path in root.rglob("*.html"))
    pages = set(every[::EACH])
    for folder in {Path(page).parent for page in every}:
        own = [page for page in every if Path(page).parent == folder]
        pages |= set(sorted(own, key=lambda page: (root / page).stat().st_size)[-LARGEST:])
    return sorted(pages)


def survey(chrome: Chrome, root: Path) -> Survey:
    """Open the chosen pages of a site and run all checks."""
    result = Survey(root, chosen(root), wrong={name: [] for name in ("console", *ASKED)})
    uri = json.dumps(root.as_uri() + "/")
    for page in result.pages:
        chrome.media()
        chrome.wide(DESK)
        chrome.open(root / page)
        for name, (width, scheme, kind, question) in ASKED.items():
            chrome.wide(width)
            chrome.media(scheme, kind)
            lines = chrome.ask(question.replace("{root}", uri))
            result.wrong[name] += [f"{page}: {line}" for line in lines]
        seen = chrome.run(PAGE)
        result.scripts[page], result.texts[page] = seen["scripts"], seen["text"]
        result.hits += [page] * (seen["hit"] != "undefined")
        result.wrong["console"] += [f"{page}: {line}" for line in chrome.logged()]
    return result
