# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Chapters of a site: the page of each study, from the README.md in its folder.

Links between studies stay; other links of the repository become text, since a site has no other
files. Pictures are inserted, and every table gets a caption with its conditions. A line
`<!-- conditions: … -->` of the page states them for the tables and pictures after it.
"""

import re
from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from itertools import count, pairwise
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markupsafe import Markup, escape

from tockmark.base.errors import TockmarkError
from tockmark.base.files import reading
from tockmark.base.paths import shown
from tockmark.site.pictures import inline
from tockmark.site.render import Chapter

PAGE = "README.md"
STATED = "conditions"  # the language of a block of code that states conditions
CONDITIONS = (  # by default
    "Simulated CW310, 24 MHz, interface version 2, unless the text or a heading names others; the"
    " text states the i-cache."
)


def study_chapters(folders: Sequence[Path]) -> list[Chapter]:
    """Return a chapter for each study, and one that lists them all. Raise TockmarkError if a folder
    has no page."""
    addresses = {folder.resolve(): f"study-{folder.name}.html" for folder in folders}
    if not folders:
        return []
    chapters = [_chapter(folder, addresses) for folder in folders]
    items = [Markup('<li><a href="{}">{}</a></li>').format(c.path, c.title) for c in chapters]
    body = Markup("<p>{}</p><ul>{}</ul>").format(CONDITIONS, Markup("").join(items))
    words = "experiments research what we found"
    return [Chapter("studies.html", "Studies", body, {}, "Studies", words), *chapters]


def _chapter(folder: Path, addresses: Mapping[Path, str]) -> Chapter:
    path = folder / PAGE
    if not path.is_file():
        raise TockmarkError(f"{shown(folder)}: no {PAGE}", "give folders of studies")
    with reading(path):
        block = rf"```{STATED}\n\1\n```"
        text = re.sub(r"<!-- conditions: (.*) -->", block, path.read_text(encoding="utf-8"))
        text = re.sub(r"<!--.*?-->\n?", "", text, flags=re.DOTALL)
    page = StudyPage(folder, addresses)
    body = Markup(page.render(text))
    words = " ".join([folder.name, *page.headings])
    return Chapter(addresses[folder.resolve()], page.title, body, {}, "", words)


class StudyPage:
    """Renders the page of one study."""

    def __init__(self, folder: Path, addresses: Mapping[Path, str]) -> None:
        self._folder, self._addresses = folder, addresses
        self.title = folder.name
        self._conditions = CONDITIONS
        self.headings: list[str] = []
        self._markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
        renderer = self._markdown.renderer
        assert isinstance(renderer, RendererHTML)
        rules: dict[str, Any] = {
            "image": self._image,
            "table_open": self._table_open,
            "table_close": self._table_close,
            "code_block": self._code_block,
            "fence": self._code_block,
        }
        renderer.rules |= rules

    def render(self, text: str) -> str:
        """Return the page as HTML."""
        tokens = self._markdown.parse(text)
        self._name_headings(tokens)
        kept = tokens
        if tokens and tokens[0].tag == "h1":
            self.title, kept = self.headings.pop(0), tokens[3:]
        for token in kept:
            if token.type in ("td_open", "th_open"):
                aligned = str(token.attrs.pop("style", ""))
                token.attrs |= {} if "right" in aligned else {"class": "name"}
                token.attrs |= {"scope": "col"} if token.tag == "th" else {}
            token.children = list(self._linked(token.children or []))
        page = self._markdown.renderer.render(kept, self._markdown.options, {})
        return re.sub("&lt;(/?code|br)&gt;", r"<\1>", str(page))

    def _name_headings(self, tokens: Sequence[Token]) -> None:
        """Give each heading the id that GitHub gives it, with a prefix."""
        used: set[str] = set()
        for opening, inside in pairwise(tokens):
            if opening.type == "heading_open":
                words = "".join(child.content for child in inside.children or [])
                self.headings.append(words)
                slug = re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")
                names = (f"{slug}-{n}" if n else slug for n in count())
                name = next(name for name in names if name not in used)
                used.add(name)
                opening.attrs["id"] = f"s-{name}"

    def _linked(self, tokens: Iterable[Token]) -> Iterable[Token]:
        """Yield the tokens of a line; of its links, those within the site."""
        kept = []
        for token in tokens:
            if token.type == "link_open":
                target = self._target(str(token.attrs.get("href", "")))
                kept.append(target is not None)
                token.attrs["href"] = target or ""
            if not token.type.startswith("link_") or kept[-1]:
                yield token
            if token.type == "link_close":
                kept.pop()

    def _target(self, link: str) -> str | None:
        """Return the address of a link on the site, or None if it leads out of it."""
        path, sign, anchor = link.partition("#")
        place = f"{sign}s-{anchor}" if anchor else ""
        if not path:
            return place
        if ":" in path:
            return None
        folder = (self._folder / path).resolve()
        address = self._addresses.get(folder.parent if folder.name == PAGE else folder)
        return f"{address}{place}" if address else None

    def _image(
        self, tokens: Sequence[Token], at: int, _options: Any, _env: MutableMapping[str, Any]
    ) -> str:
        source = self._folder / str(tokens[at].attrs["src"])
        with reading(source):
            picture = inline(source.read_bytes(), f"{self._folder.name}-{source.stem}")
        words = escape(tokens[at].content)
        caption = f'<span class="soft">{words}. {self._conditions}</span>'
        return (
            f'<span class="figure"><span class="wide" role="region" aria-label="Picture: {words}"'
            f' tabindex="0">{picture}</span>{caption}</span>'
        )

    def _table_open(self, *_: Any) -> str:
        caption = f"<caption><span>{escape(self._conditions)}</span></caption>"
        return f"{self._region('Table')}<table>\n{caption}"

    def _table_close(self, *_: Any) -> str:
        return "</table></div>\n"

    def _code_block(self, tokens: Sequence[Token], at: int, *_: Any) -> str:
        if tokens[at].info == STATED:
            self._conditions = tokens[at].content.strip()
            return ""
        return f"{self._region('Text')}<pre>{escape(tokens[at].content)}</pre></div>\n"

    def _region(self, words: str) -> str:
        label = f"{words} of {self.title}"
        return f'<div class="wide" role="region" aria-label="{escape(label)}" tabindex="0">'
