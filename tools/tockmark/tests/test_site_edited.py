# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The project's own site, which was edited: few pages, nothing in bold that is not sure, names and
no letters. Of results of one's own there is no choice, and the same holds."""

import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tockmark import paths
from tockmark.compare import pairs
from tockmark.compare.limits import Margins
from tockmark.compare.pairs import Comparison, Pair
from tockmark.compare.spread import known_spread, paired_spread
from tockmark.compare.verdict import MEANING, MOVED, of_change
from tockmark.result import file
from tockmark.show.table import Named
from tockmark.site import model, pictures, render
from tockmark.site import pages as site_pages
from tockmark.site.model import MOST, Site, SiteSources, told_apart
from tockmark.suite import catalogue
from tockmark.tests.test_site import NEW, called, of_kernel, stored

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
    known = known_spread(one)
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
            assert of_change(mean.change, found.margin) in MOVED
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


def test_nothing_else_on_the_index_is_bold(made: Made) -> None:
    """By its style: headings are, and what is wrong; what moved is, and is such a figure."""
    css = (Path(site_pages.__file__).with_name("static") / "site.css").read_text("utf-8")
    bold = re.findall(r"^(.*?) \{[^}]*font-weight: [67]00", css, re.MULTILINE)
    told = [".bad", ".lower", ".higher", "th", "tr.block th", "dt", "header nav a[aria-current]"]
    assert sorted(bold) == sorted(told)
    index = made[1]["index.html"]
    marked = re.findall(r'<(\w+) class="(?:lower|higher)"', index)
    assert marked == ["b"] * len(marked)


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


def test_a_pull_request_is_named_by_number_and_title(made: Made) -> None:
    text = made[1]["index.html"]
    assert "Pull request #4717: kernel/process_standard: zero-initialize" in text
    assert made[0].pairs[0].names == ("Tock 2.2", "Tock master")


def test_the_first_page_says_three_sentences_with_intervals(made: Made) -> None:
    told = re.search(r'<ul class="told">(.*?)</ul>', made[1]["index.html"], re.DOTALL)
    assert told is not None
    lines = re.findall(r"<li.*?</li>", told[1], re.DOTALL)
    assert len(lines) == 3
    assert all(re.search(r"\d to .?\d", line) for line in lines)


def test_no_letter_stands_for_a_name(made: Made) -> None:
    for name, text in made[1].items():
        assert not re.search(r"\b[AB] (?:is|=) |>[ABD]</|>[AB]/[AB]<|[ABCD], cycles<", text), name


def test_verdicts_are_words_that_lead_to_their_meaning(made: Made) -> None:
    site, files = made
    reading = files["reading.html"]
    page = files[str(site.pairs[0].page)]
    linked = set(re.findall(r"reading\.html#(verdict-[a-z-]+)", page))
    assert len(linked) >= 4
    for verdict, meaning in MEANING.items():
        name = verdict.replace(" ", "-")
        assert f'id="verdict-{name}">{verdict}</dt>' in reading
        assert f'id="word-{name}">{verdict}</dt>' in page
        assert meaning[1:] in reading
    assert linked <= set(re.findall(r'id="(verdict-[a-z-]+)"', reading))


def test_what_moved_most_is_in_both_directions_and_once(made: Made) -> None:
    pair = made[0].pairs[0]
    most = site_pages.moved_most(pair)
    for way, rows in most.items():
        groups = [one.group for one in rows]
        assert len(set(groups)) == len(groups)
        assert {one.verdict.capitalize() for one in rows} == {way}
    assert pair.comparison is not None
    sure = [one for one in pair.comparison.judged if is_sure(one) and one.row.icache]
    assert len(most) == len({one.cycles.lower for one in sure})


def test_a_benchmark_opens_with_a_picture_and_a_row_for_each_kernel(made: Made) -> None:
    """Here with bars, since nothing else is drawn; all else is behind "All data"."""
    site, files = made
    for group, ids in site.ids_by_group.items():
        sections = files[site.group_address(group)].split("<h2 ")[1:]
        assert len(sections) == len(ids)
        for id_, section in zip(ids, sections, strict=True):
            if KNOWN.benchmarks[id_].touches == "control":  # there is nothing to draw
                continue
            figure, table = section.find('<figure class="bars"'), section.find("<table")
            assert 0 < figure < table < section.find("<details"), id_
            body = section[table : section.find("</table>")]
            kernels = re.findall(r'<th scope="row"[^>]*><a[^>]*>(.*?)</th>', body)
            least = 1 if group == "ipc2" else 3  # no whole run of Tock has the new IPC
            assert len(set(kernels)) == len(kernels) >= least, id_
            assert "µs" in body


def test_a_kernel_opens_with_costs_and_ends_with_hashes(made: Made) -> None:
    site, files = made
    for kernel in site.kernels:
        if kernel.has_page:
            page = files[kernel.page]
            assert page.find('id="costs"') < page.find('id="data"') < page.find('id="provenance"')
            assert page.find("sha256") > page.find('id="provenance"')
            first = page[page.index('id="screen-1"') :]
            assert f'href="../{kernel.page}"' in first[: first.index("colspan")]


def test_the_search_knows_other_names(made: Made) -> None:
    told = made[1]["search-index.js"]
    known = json.loads(told.removeprefix("var TOCKMARK_PAGES = ").removesuffix(";\n"))
    aliases = {one["t"]: one["a"] for one in known if one["k"] == "benchmark"}
    assert "context switch" in aliases["ctx.ring"]
    assert {"null syscall", "getpid", "command"} <= set(aliases["syscall.command"])
    assert aliases.keys() >= KNOWN.benchmarks.keys()


def test_every_choice_is_of_something_that_is_there() -> None:
    """And has its reason; the rows and groups are the catalogue's."""
    chosen = model.choices()
    for one in chosen.comparison:
        assert one.why
        for name in (one.base, one.new):
            assert one.paired or file.load(paths.RESULTS / f"{name}.json").links > 1, name
    assert all((paths.RESULTS / f"{one.result}.json").exists() and one.why for one in chosen.kernel)
    assert chosen.groups.keys() == {one.group for one in KNOWN.benchmarks.values()}
    assert chosen.aliases.keys() <= KNOWN.benchmarks.keys()


def test_results_of_ones_own_are_told_apart_by_names(tmp_path: Path) -> None:
    """Also two of one kernel, as after a second `make bench`, and many."""
    same = [Named(f"runs/{i}", NEW) for i in range(5)] + [Named("other/1", NEW)]
    assert told_apart(same[:5]) == ["0", "1", "2", "3", "4"]
    assert told_apart(same) == [one.name for one in same]
    site = Site(SiteSources(list(same)), KNOWN)
    assert site.chosen == []
    site.compare(lambda done, of: None)
    assert len(site.pairs) == MOST
    assert site.unpaired == 15 - MOST


def test_a_result_by_name_is_compared_beside_those_that_were_chosen(tmp_path: Path) -> None:
    site = Site(model.gather([paths.RESULTS, Path(stored(tmp_path / "mine.json", NEW))]), KNOWN)
    found = site.candidates()
    chosen = len(model.choices().comparison)
    assert [choice is not None for *_, choice in found[:chosen]] == [True] * chosen
    assert all("mine" in (base.name, new.name) for base, new, _ in found[chosen:])
    assert len(found) > chosen


def test_one_result_has_a_sentence_and_no_bold_figure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pictures, "_inline", lambda sheets, of="": [])
    monkeypatch.setattr(pictures, "draw", lambda named, only=None: {})
    path = stored(tmp_path / "mine.json", of_kernel(NEW, "mine 1.0"))
    assert called(path, "-o", tmp_path / "out").exit_code == 0
    text = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert "<h1>What mine 1.0 costs</h1>" in text
    assert "On mine 1.0 a command takes " in text
    assert Bold(text).found == []
