# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Render the pages of a site and write them to a folder.

The folder is written completely or not at all, and only an earlier site is overwritten. The
templates escape all text of a page.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import resources
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import jinja2
from markupsafe import Markup

from tockmark import __version__
from tockmark.base.errors import TockmarkError
from tockmark.base.files import reading, replaced_folder
from tockmark.base.paths import shown
from tockmark.compare.verdict import MEANING
from tockmark.latency import report as latency
from tockmark.profile.report import COLOURS
from tockmark.profile.sample import CAUSES
from tockmark.result.model import ratio
from tockmark.show import comparison, judgement, table, text
from tockmark.site import pages, pictures
from tockmark.site.model import MOST, Site, SitePair, choices, heading, is_baseline
from tockmark.suite.catalogue import ICACHE, LANGS, row_key
from tockmark.suite.selection import single_row

Step = Callable[[str, int, int], None]  # called with the work, the number done and the total
OWN = ("site.css", "search.js")
FORMAT = "tockmark-site"
LIST = "site.json"  # the list of the site's files, which a later site may replace
SENTENCES = 3  # on the first page
WAITS = "How long an interrupt waits"
WAIT_WORDS = (
    "latency worst case longest wait response time alarm sent line stages"  # for the search
)
ELSEWHERE = "give another folder with -o"


class Page(NamedTuple):
    """A page: its file, its template, its content, and further words for the search."""

    path: str
    template: str
    title: str
    kind: str
    filled: dict[str, Any]
    words: str = ""  # in addition to the title


class Chapter(NamedTuple):
    """A page that the caller adds to the top folder of a site."""

    path: str
    title: str
    body: Markup
    links: Mapping[str, str]  # for each benchmark id, the part of the page about it
    menu: str = ""  # its name in the menu of every page, if it is in it
    words: str = ""  # further words for the search


class SearchEntry(NamedTuple):
    """A page, or a part of a page, that the search finds."""

    title: str
    kind: str
    address: str
    words: str = ""
    aliases: tuple[str, ...] = ()  # other names


def site_pages(site: Site, step: Step, chapters: Sequence[Chapter] = ()) -> dict[str, str]:
    """Return the files of the site by their paths."""
    site.compare(lambda done, total: step("comparisons", done, total))
    environment = _environment(site, chapters)
    todo = list(_pages(site, chapters))
    files: dict[str, str] = {}
    for i, page in enumerate(todo):
        step("pages", i, len(todo))
        files[page.path] = (
            environment.get_template(page.template).render(
                page.filled, root="../" * page.path.count("/"), title=page.title, here=page.path
            )
            + "\n"
        )
    for kernel in site.kernels:
        for profile in kernel.profiles:
            if profile.stacks:
                files[pages.flame_address(site, kernel, profile)] = pages.flame_graph(profile)
    for name in OWN:
        files[name] = (resources.files("tockmark.site") / "static" / name).read_text("utf-8")
    # A script instead of JSON: a page opened from a folder may not fetch files.
    index = [
        {
            "t": entry.title,
            "k": entry.kind,
            "u": entry.address,
            "w": entry.words,
            "a": entry.aliases,
        }
        for entry in _search(site, todo)
    ]
    index_json = json.dumps(index, ensure_ascii=True, separators=(",", ":"))
    files["search-index.js"] = f"var TOCKMARK_PAGES = {index_json};\n".replace("<", "\\u003c")
    return files


def _pages(site: Site, chapters: Sequence[Chapter]) -> Iterator[Page]:
    sources = site.sources
    costs = pages.cost_sentence(site)
    sentences: list[tuple[SitePair | None, pages.Sentence]] = [(None, [costs])] if costs else []
    sentences += [(pair, pages.sentence(pair)) for pair in site.pairs]
    first = {
        "sentences": sentences[:SENTENCES],
        "compared": site.pairs,
        "screens": [group for group in site.groups if group.blocks(site.catalogue)],
        "picture": pictures.first_picture(site),
        "timing": dict.fromkeys(named.result.provenance.board.timing for named in sources.every),
        "has_baseline": any(is_baseline(named) for named in sources.every),
        "incomplete": [named for named in sources.results if named.result.uncorrected],
    }
    yield Page("index.html", "index.html", pages.TITLE, "page", first)
    yield Page("reading.html", "reading.html", "How to read it", "page", {})
    for group, ids in site.ids_by_group.items():
        path = site.group_address(group)
        title = heading(group)
        yield Page(path, "benchmark.html", title, "benchmarks", {"ids": ids, "group": group}, group)
    named = {
        words.partition(" ")[2]: row_key(*single_row(site.catalogue, term))
        for term, words in choices().costs.items()
    }
    yield Page("kernels.html", "kernels.html", "All kernels", "page", {"costs": named})
    for kernel in site.kernels:
        if kernel.has_page:
            words = " ".join([kernel.built, *(named.name for named in kernel.named)])
            filled = {"kernel": kernel}
            title = f"{kernel.title}, {pages.opt_level(kernel.named[0].result)}"
            yield Page(kernel.page, "kernel.html", title, "kernel", filled, words)
            for entry in kernel.named:
                rows_title = f"All rows of {kernel.title}: {entry.name}"
                path = pages.rows_address(site, entry)
                yield Page(path, "rows.html", rows_title, "rows", {"named": entry})
    for pair in site.pairs:
        words = f"{pair.new.name} against {pair.base.name}"
        yield Page(str(pair.page), "pair.html", pair.title, "comparison", {"pair": pair}, words)
    for n, study in enumerate(sources.studies):
        title = study.result.provenance.kernel.title
        yield Page(study_address(n), "study.html", title, "page", {"study": study})
    if sources.latencies:
        yield Page("latency.html", "latency.html", WAITS, "page", {}, WAIT_WORDS)
    for chapter in chapters:
        body = {"body": chapter.body}
        yield Page(chapter.path, "chapter.html", chapter.title, "page", body, chapter.words)


def _search(site: Site, made_pages: list[Page]) -> Iterator[SearchEntry]:
    """Yield the entries of the search: benchmarks with all their names, and pages."""
    benchmarks, labels = site.catalogue.benchmarks, pages.names_of_rows(site.catalogue)
    for id_ in site.ids:
        benchmark = benchmarks.get(id_)
        sizes = {
            str(v)
            for params in (benchmark.variants() if benchmark else ())
            for v in params.values()
        }
        words = " ".join([benchmark.what if benchmark else "", *sorted(sizes)])
        aliases = [label for key, label in labels.items() if key[0] == id_]
        aliases += choices().aliases.get(id_, ())
        yield SearchEntry(id_, "benchmark", site.address(id_), words, tuple(aliases))
    for kernel in site.kernels:
        if not kernel.has_page:
            words = " ".join([kernel.built, *(named.name for named in kernel.named)])
            yield SearchEntry(kernel.title, "kernel", kernel.page, words)
    for page in made_pages:
        yield SearchEntry(page.title, page.kind, page.path, page.words)


def study_address(n: int) -> str:
    """Return the path of a study's page."""
    return f"study{f'-{n + 1}' if n else ''}.html"


def _environment(site: Site, chapters: Sequence[Chapter]) -> jinja2.Environment:
    """Return the environment of the templates, with the functions that they call."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("tockmark.site"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= {
        "by_id": lambda rows: [
            (id_, list(some)) for id_, some in groupby(rows, key=lambda row: row[0].id)
        ],
        "condition": pages.condition,
        "number": pages.number,
        "opt_level": pages.opt_level,
        "percent": text.percent,
        "sentence": text.sentence,
        "times": text.ratio,
    }
    environment.tests["same_setup"] = pages.same_setup
    public = {name: value for name, value in vars(pages).items() if not name.startswith("_")}
    environment.globals |= public | {
        "chapters": chapters,
        "group_pictures": pictures.group_pictures,
        "CAUSES": CAUSES,
        "COLOURS": COLOURS,
        "latency": latency,
        "ICACHE": ICACHE,
        "LANGS": LANGS,
        "MOST": MOST,
        "MEANING": MEANING,
        "verdict_cells": comparison.verdict_cells,
        "agreement_headline": comparison.agreement_headline,
        "comparison_headline": judgement.headline,
        "heading": heading,
        "sentence_of": pages.sentence,
        "shown_means": comparison.shown_means,
        "ratio": ratio,
        "overhead_notes": table.overhead_notes,
        "site": site,
        "study_address": study_address,
        "version": __version__,
    }
    return environment


def check_site(folder: Path) -> None:
    """Raise TockmarkError unless a path is free, or a folder that contains only a site."""
    if not folder.exists() and not folder.is_symlink():
        return
    if not folder.is_dir():
        raise TockmarkError(f"{shown(folder)}: not a folder", ELSEWHERE)
    with reading(folder):
        present = {
            path.relative_to(folder).as_posix()
            for path in folder.rglob("*")
            if path.is_symlink() or not path.is_dir()
        }
    if others := sorted(present - _listed(folder)):
        raise TockmarkError(
            f"{shown(folder)}: contains {shown(folder / others[0])}, which does not belong to a"
            " site",
            ELSEWHERE,
        )


def _listed(folder: Path) -> set[str]:
    """Return the files of the site in a folder; an empty set if there is no site."""
    try:
        manifest = json.loads((folder / LIST).read_text(encoding="utf-8"))
        files = manifest["files"] if manifest.get("format") == FORMAT else []
        return {LIST, *map(str, files)} if files else set()
    except (OSError, ValueError, AttributeError, KeyError, TypeError, RecursionError):
        return set()


def write_site(folder: Path, files: Mapping[str, str]) -> None:
    """Write the files of a site, by path. If that fails, the folder is unchanged."""
    check_site(folder)
    listed = {"format": FORMAT, "version": 1, "files": sorted(files)}
    whole = {**files, LIST: json.dumps(listed, indent=0) + "\n"}
    with replaced_folder(folder) as inside:
        for name, content in whole.items():
            path = inside / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, encoding="utf-8", newline="\n")
