# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Every page of a site opened once, and all that is asked of every page asked then: a page takes a
moment to open, and the questions take less."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

from chrome import DESK, PAPER, PHONE, Chrome

LEAST = 300  # px that a picture is wide on a phone, unless it scrolls in a region of its own
LETTER = 6.5  # px that a picture's letters are high
PAGE = (
    "return {ids: [...document.querySelectorAll('[id]')].map((one) => one.id),"
    " links: [...document.links].map((one) => one.href),"
    " text: document.body.textContent,"
    " scripts: document.scripts.length, hit: String(window.hit)};"
)

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
    pages: list[str] = field(default_factory=list)
    ids: dict[str, set[str]] = field(default_factory=dict)
    links: dict[str, list[str]] = field(default_factory=dict)
    wrong: dict[str, list[str]] = field(default_factory=dict)  # by question, with the page
    scripts: dict[str, int] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    hits: list[str] = field(default_factory=list)  # pages on which a script ran that is not ours

    def lost(self) -> list[str]:
        """Links that lead to no page of the site, or to no anchor of it. One to the network is none
        of these."""
        start = self.root.as_uri() + "/"
        lost = []
        for page, links in self.links.items():
            for link in links:
                target, _, anchor = link.removeprefix(start).partition("#")
                if link.startswith("https://"):
                    continue
                if not link.startswith(start) or unquote(target) not in self.ids:
                    lost.append(f"{page}: {link}")
                elif anchor and unquote(anchor) not in self.ids[unquote(target)]:
                    lost.append(f"{page}: {link}: no such anchor")
        return lost


def survey(chrome: Chrome, root: Path, done: Callable[[str], None] = lambda _: None) -> Survey:
    """Open all pages of a site."""
    found = Survey(root, wrong={name: [] for name in ("console", *ASKED)})
    found.pages = sorted(str(path.relative_to(root)) for path in root.rglob("*.html"))
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
        found.ids[page], found.links[page] = set(seen["ids"]), seen["links"]
        found.scripts[page], found.texts[page] = seen["scripts"], seen["text"]
        found.hits += [page] * (seen["hit"] != "undefined")
        found.wrong["console"] += [f"{page}: {line}" for line in chrome.logged()]
        done(page)
    return found
