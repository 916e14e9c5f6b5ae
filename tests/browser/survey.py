# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Pages of a site opened once, and all that is asked of a page asked then: a page takes a moment to
open, and the questions take less. Most pages of a site come from three templates: those are opened
that are the largest of a folder, where most can be wrong, and a share of all. Where links lead
is asked without a browser."""

import json
from dataclasses import dataclass, field
from pathlib import Path

from chrome import DESK, PAPER, PHONE, Chrome

LEAST = 300  # px that a picture is wide on a phone, unless it scrolls in a region of its own
LETTER = 6.5  # px that a picture's letters are high
PAGE = (
    "return {text: document.body.textContent,"
    " scripts: document.scripts.length, hit: String(window.hit)};"
)
LARGEST, EACH = 2, 24

# What is asked, by its name: the width and the media it is asked with, and the question.
ASKED: dict[str, tuple[int, str, str, str]] = {
    "loads": (DESK, "light", "screen", "elsewhere({root})"),
    "marks": (DESK, "light", "screen", "marked()"),
    "desk": (DESK, "light", "screen", f"cut({DESK}, true)"),
    "light": (DESK, "light", "screen", "faint()"),
    "pictures at a desk": (DESK, "light", "screen", f"pictures({LEAST}, {LETTER})"),
    "dark": (DESK, "dark", "screen", "faint()"),
    "phone": (PHONE, "light", "screen", f"cut({PHONE}, true)"),
    "pictures on a phone": (PHONE, "light", "screen", f"pictures({LEAST}, {LETTER})"),
    "paper": (PAPER, "light", "print", f"cut({PAPER}, false)"),
    "ink": (PAPER, "dark", "print", "faint()"),
}


@dataclass
class Survey:
    """What was seen of a site."""

    root: Path
    pages: list[str]
    wrong: dict[str, list[str]] = field(default_factory=dict)  # by question, with the page
    scripts: dict[str, int] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    hits: list[str] = field(default_factory=list)  # pages on which a script ran that is not ours


def chosen(root: Path) -> list[str]:
    """Return the pages that are opened."""
    every = sorted(str(path.relative_to(root)) for path in root.rglob("*.html"))
    found = set(every[::EACH])
    for folder in {Path(page).parent for page in every}:
        own = [page for page in every if Path(page).parent == folder]
        found |= set(sorted(own, key=lambda page: (root / page).stat().st_size)[-LARGEST:])
    return sorted(found)


def survey(chrome: Chrome, root: Path) -> Survey:
    """Open the pages of a site that are chosen."""
    found = Survey(root, chosen(root), wrong={name: [] for name in ("console", *ASKED)})
    uri = json.dumps(root.as_uri() + "/")
    for page in found.pages:
        chrome.media()
        chrome.wide(DESK)
        chrome.open(root / page)
        for name, (width, scheme, kind, question) in ASKED.items():
            chrome.wide(width)
            chrome.media(scheme, kind)
            lines = chrome.ask(question.replace("{root}", uri))
            found.wrong[name] += [f"{page}: {line}" for line in lines]
        seen = chrome.run(PAGE)
        found.scripts[page], found.texts[page] = seen["scripts"], seen["text"]
        found.hits += [page] * (seen["hit"] != "undefined")
        found.wrong["console"] += [f"{page}: {line}" for line in chrome.logged()]
    return found
