# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The project's own site, with the editor's choices. It has few pages, bold figures are certain,
and kernels have names instead of letters. The same holds for other results,
without choices."""

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
pytestmark = pytest.mark.whole


@pytest.fixture(scope="module")
def made() -> Iterator[tuple[Site, dict[str, str]]]:
    """Return the project's site and its files, without pictures and profiles."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(pictures, "_inline", lambda sheets, of="": [])
        patched.setattr(pictures, "draw", lambda named, only=None: {})
        sources = model.gather([paths.RESULTS])
        sources.profiles = []
        site = Site(sources, KNOWN)
        yield site, render.site_pages(site, lambda what, done, of: None)


Made = tuple[Site, dict[str, str]]


class Bold(HTMLParser):
    """The figures in bold, each with its comparison and subject."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.figures: list[tuple[str, str, str]] = []
        self.pair, self.of, self.inside = "", "", 0
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        self.pair = attributes.get("data-pair") or self.pair
        if tag in ("b", "strong"):
            self.inside, self.of = 1, attributes.get("data-of") or ""

    def handle_endtag(self, tag: str) -> None:
        if tag in ("b", "strong"):
            self.inside = 0

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.figures.append((self.pair, self.of, data))


def compared(base: Named, new: Named, links_paired: bool) -> Comparison:
    """Read two committed results again and compare them."""
    before, after = (file.load(paths.RESULTS / f"{name}.json") for name in (base.name, new.name))
    spread = committed_spread(before)
    spread = paired_spread(spread, KNOWN) if links_paired else spread
    return pairs.compare(before, after, new.name, KNOWN, Margins(), spread)


def is_sure(pair: Pair) -> bool:
    """Return whether the whole interval is beyond the margin."""
    edge = 1 + pair.margin
    return pair.judged and (pair.cycles.low > edge or pair.cycles.high < 1 / edge)


def ends(text: str) -> list[float]:
    """Return the percentages in a text."""
    return [
        float(number) for number in re.findall(r"[+-]?\d+(?:\.\d+)?", text.replace("\u2212", "-"))
    ]


def test_every_bold_figure_of_the_index_is_sure(made: Made) -> None:
    site, files = made
    bold = Bold(files["index.html"]).figures
    assert len(bold) > 10
    judged = {pair.page: compared(pair.base, pair.new, pair.paired) for pair in site.pairs}
    of_page = {pair.page: pair for pair in site.pairs}
    for page, of, text in bold:
        judged_pair = judged[page]
        group, _, way = of.partition(" ")
        if of == "mean":
            mean = judged_pair.mean
            assert mean is not None
            assert verdict_of(mean.change, judged_pair.margin) in MOVED
            assert abs(abs(mean.ratio - 1) * 100 - ends(text)[0]) <= 0.5
        elif way in ("lower", "higher"):
            rows = [
                pair
                for pair in judged_pair.judged
                if pair.row.id.startswith(f"{group}.")
                and pair.row.icache is of_page[page].icache
                and pair.row.lang == judged_pair.judged[0].row.lang
                and is_sure(pair)
                and pair.cycles.lower is (way == "lower")
            ]
            assert rows, of
            low = min(row.cycles.low for row in rows)
            high = max(row.cycles.high for row in rows)
            shown = ends(text)
            assert abs((low - 1) * 100 - shown[0]) <= 0.5
            assert abs((high - 1) * 100 - shown[-1]) <= 0.5
        else:
            (row,) = [pair for pair in judged_pair.judged if pair.row.name == of]
            assert is_sure(row), of
            assert row.cycles.ratio is not None
            assert abs((row.cycles.ratio - 1) * 100 - ends(text)[0]) < 0.06


def test_the_site_is_small(made: Made) -> None:
    site, files = made
    names = [name for name in files if name.endswith(".html")]
    assert len(names) <= 70
    assert len(files["index.html"]) < 300_000
    assert {name for name in names if len(files[name]) > 500_000} == set()
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
        f'id="{kernel.page.partition("#")[2]}"' in files["kernels.html"] or kernel.has_page
        for kernel in site.kernels
    )
