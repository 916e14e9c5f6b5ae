# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Parse the pages of a site for tests: ids, links, loaded files and text."""

import re
from html.parser import HTMLParser
from pathlib import Path

COMMIT = re.compile(r"https://github\.com/tock/tock/(commit/[0-9a-f]{40}|pull/[0-9]+)")
VOID = {"meta", "br", "link", "img", "hr", "input", "wbr"}
LOADING = {"src", "srcset", "data", "poster", "action", "background", "formaction"}


class Page(HTMLParser):
    """A parsed page. `open` has the elements that are not closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.targets: list[str] = []
        self.loads: list[str] = []
        self.inside: list[str] = []
        self.open: list[str] = []
        self.handlers: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)
        if tag in ("iframe", "object", "embed", "base", "img", "style"):
            self.loads.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            if name in LOADING or (name == "href" and tag == "link"):
                self.loads.append(value or "")
            elif name == "href":
                self.targets.append(value or "")
            if name.startswith("on"):
                self.handlers.append(name)
            if value and "url(" in value:
                self.targets += re.findall(r"url\(([^)]*)\)", value)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.inside.append(data)

    @property
    def text(self) -> str:
        """The whole text in one line."""
        return re.sub(r"[ \n]+", " ", " ".join(self.inside))


def pages(folder: Path) -> dict[str, Page]:
    """Return all pages of a site, by path relative to its folder."""
    files = sorted(folder.rglob("*.html"))
    return {p.relative_to(folder).as_posix(): Page(p.read_text(encoding="utf-8")) for p in files}


def contents(folder: Path) -> dict[str, bytes]:
    """Return the contents of all files of a folder, by relative path."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def check_links(folder: Path) -> int:
    """Check all pages of a site, and return the number of links.

    Fail if a page has a duplicate id, an unclosed element, or a link to anything outside its site
    but a commit or pull request of Tock.
    """
    read, count = pages(folder), 0
    for name, page in read.items():
        assert not page.open, name
        assert len(set(page.ids)) == len(page.ids), name
        assert not page.handlers, name
        for target in (*page.targets, *page.loads):
            if target == "data:,":  # the empty icon
                continue
            if COMMIT.fullmatch(target):
                continue
            path, _, id_ = target.partition("#")
            assert not re.match(r"[a-z]+:|//", path), (name, target)
            to = (folder / name).parent / path if path else folder / name
            assert to.resolve().is_file(), (name, target)
            target_path = to.resolve().relative_to(folder.resolve()).as_posix()
            assert not id_ or id_ in read[target_path].ids, (name, target)
            count += 1
    return count


TABLE = re.compile(r"<table(?P<kind>[^>]*)>(?P<inside>.*?)</table>", re.DOTALL)
CONDITIONS = ("MHz", "i-cache", "version")


def captions(text: str) -> list[str]:
    """Return the caption of each table and picture of a page; tables of facts need none."""
    tables = [table["inside"] for table in TABLE.finditer(text) if "facts" not in table["kind"]]
    figures = re.findall(r"<figure.*?</figure>", text, re.DOTALL)
    found = [
        re.search(r"<(caption|figcaption)>(.*?)</\1>", part, re.DOTALL)
        for part in (*tables, *figures)
    ]
    inline = re.findall(r'<span class="figure">.*?<span class="soft">(.*?)</span>', text, re.DOTALL)
    words = [match[2] if match else "" for match in found]
    return [re.sub(r"<[^>]*>", "", caption) for caption in (*words, *inline)]
