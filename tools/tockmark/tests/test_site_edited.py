# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The project's own site, which was edited: few pages, nothing in bold that is not sure, names and
no letters. Of results of one's own there is no choice, and the same holds."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser

import pytest

from tockmark.base import paths
from tockmark.compare import pairs
from tockmark.compare.limits import Margins
from tockmark.compare.pairs import Comparison, Pair
from tockmark.compare.spread import committed_spread, paired_spread
from tockmark.compare.verdict import MOVED, verdict_of
from tockmark.result import file
from tockmark.show.table import Named
from tockmark.site import model, pictures, render
from tockmark.site.model import MOST, Site
from tockmark.suite import catalogue

KNOWN = catalogue.load()


@pytest.fixture(scope="module")
def made() -> Iterator[tuple[Site, dict[str, str]]]:
    """The project's site and its files, without pictures and profiles."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(pictures, "_inline", lambda sheets, of="": [])
        patched.setattr(pictures, "draw", lambda named, only=None: {})
        found = model.gather([paths.RESULTS])
        found.profiles = []
        site = Site(found, KNOWN)
        yield site, render.site_pages(site, lambda what, done, of: None)


Made = tuple[Site, dict[str, str]]


class Bold(HTMLParser):
    """The figures in bold, with what they are said to be of, and of which comparison."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, str, str]] = []
        self.pair, self.of, self.inside = "", "", 0
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said = dict(attrs)
        self.pair = said.get("data-pair") or self.pair
        if tag in ("b", "strong"):
            self.inside, self.of = 1, said.get("data-of") or ""

    def handle_endtag(self, tag: str) -> None:
        if tag in ("b", "strong"):
            self.inside = 0

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.found.append((self.pair, self.of, data))


def compared(base: Named, new: Named, links_paired: bool) -> Comparison:
    """The comparison of two committed results, read and judged anew."""
    one, two = (file.load(paths.RESULTS / f"{name}.json") for name in (base.name, new.name))
    known = committed_spread(one)
    known = paired_spread(known, KNOWN) if links_paired else known
    return pairs.compare(one, two, new.name, KNOWN, Margins(), known)


def is_sure(found: Pair) -> bool:
    """Whether the interval is beyond the margin, by itself."""
    edge = 1 + found.margin
    return found.judged and (found.cycles.low > edge or found.cycles.high < 1 / edge)


def ends(text: str) -> list[float]:
    """The figures of a text, in percent."""
    return [float(one) for one in re.findall(r"[+-]?\d+(?:\.\d+)?", text.replace("\u2212", "-"))]


def test_every_bold_figure_of_the_index_is_sure(made: Made) -> None:
    site, files = made
    bold = Bold(files["index.html"]).found
    assert len(bold) > 10
    judged = {pair.page: compared(pair.base, pair.new, pair.paired) for pair in site.pairs}
    of_page = {pair.page: pair for pair in site.pairs}
    for page, of, text in bold:
        found = judged[page]
        group, _, way = of.partition(" ")
        if of == "mean":
            mean = found.mean
            assert mean is not None
            assert verdict_of(mean.change, found.margin) in MOVED
            assert abs(abs(mean.ratio - 1) * 100 - ends(text)[0]) <= 0.5
        elif way in ("lower", "higher"):
            rows = [
                one
                for one in found.judged
                if one.row.id.startswith(f"{group}.")
                and one.row.icache is of_page[page].icache
                and one.row.lang == found.judged[0].row.lang
                and is_sure(one)
                and one.cycles.lower is (way == "lower")
            ]
            assert rows, of
            low = min(one.cycles.low for one in rows)
            high = max(one.cycles.high for one in rows)
            shown = ends(text)
            assert abs((low - 1) * 100 - shown[0]) <= 0.5
            assert abs((high - 1) * 100 - shown[-1]) <= 0.5
        else:
            (row,) = [one for one in found.judged if one.row.name == of]
            assert is_sure(row), of
            assert row.cycles.ratio is not None
            assert abs((row.cycles.ratio - 1) * 100 - ends(text)[0]) < 0.06


def test_the_site_is_small(made: Made) -> None:
    site, files = made
    names = [name for name in files if name.endswith(".html")]
    assert len(names) <= 60
    assert 4 < len(site.pairs) <= MOST
    assert not [
        pair.page
        for pair in site.pairs
        if not pair.paired and min(pair.comparison.links if pair.comparison else [0]) < 4
    ]
    titles = {kernel.title for kernel in site.kernels if kernel.has_page}
    assert titles == {"Tock 1.x, patched", "Tock 2.2, patched", "Tock master, patched"} | {
        "Tock 2.0, on the chip of 2020"
    }
    assert all(
        f'id="{one.page.partition("#")[2]}"' in files["kernels.html"] or one.has_page
        for one in site.kernels
    )
