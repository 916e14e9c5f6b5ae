# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A site as a folder: written whole or not at all, and over a site only."""

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from importlib import resources
from itertools import groupby
from pathlib import Path
from typing import Any

import jinja2

from tockmark import __version__
from tockmark.check import validation as checks
from tockmark.errors import TockmarkError
from tockmark.paths import shown
from tockmark.profile.attribute import CAUSES
from tockmark.show.table import Named
from tockmark.show.text import sentence
from tockmark.site import overview, pages
from tockmark.site.model import MOST, Sorted, judged, site_pairs
from tockmark.site.rows import TIMING, conditions

FORMAT = "tockmark-site"
LIST = "site.json"  # names every file of the site, so that a later one knows what it may replace


def check_site(folder: Path) -> None:
    """TockmarkError if a folder holds anything but a site, or is none."""
    if not folder.exists() and not folder.is_symlink():
        return
    if not folder.is_dir():
        raise TockmarkError(f"{shown(folder)} is there, and is no folder", ELSEWHERE)
    try:
        there = {
            path.relative_to(folder).as_posix()
            for path in folder.rglob("*")
            if path.is_symlink() or not path.is_dir()
        }
    except OSError as error:
        raise TockmarkError(f"cannot read {shown(folder)}: {error.strerror}") from error
    if strange := sorted(there - _listed(folder)):
        raise TockmarkError(
            f"{shown(folder)} holds {shown(folder / strange[0])}, which is no part of a site",
            ELSEWHERE,
        )


ELSEWHERE = "name another folder with -o"


def _listed(folder: Path) -> set[str]:
    """The files of the site that is there; none if there is no site."""
    try:
        told = json.loads((folder / LIST).read_text(encoding="utf-8"))
        files = told["files"] if told.get("format") == FORMAT else []
        return {LIST, *map(str, files)} if files else set()
    except (OSError, ValueError, AttributeError, KeyError, TypeError, RecursionError):
        return set()


def write_site(folder: Path, files: Mapping[str, str]) -> None:
    """The files of a site, by their paths in it: all are there afterwards, or what was there
    before is."""
    check_site(folder)
    listed = {"format": FORMAT, "version": 1, "files": sorted(files)}
    whole = {**files, LIST: json.dumps(listed, indent=0) + "\n"}
    target = folder.resolve()
    new = old = None
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        new = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
        inside = new / "site"
        for name, content in whole.items():
            path = inside / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, encoding="utf-8", newline="\n")
        if target.exists():
            old = new / "old"
            os.rename(target, old)
        os.rename(inside, target)
    except OSError as error:
        if old is not None and old.exists() and not target.exists():
            os.rename(old, target)
        raise TockmarkError(
            f"cannot write {shown(folder)}: {error.strerror}; what was there before is untouched",
            "make room or choose another place with -o",
        ) from error
    finally:
        if new is not None:
            shutil.rmtree(new, ignore_errors=True)


# The pages of a site, by their paths in it. All that a page shows is text: the templates escape
# it, and addresses are made of it (addresses.py).


Step = Callable[[str, int, int], None]  # is told what is made, how many are, and of how many
OWN = ("site.css", "search.js")


def site_pages(site: Sorted, baselines: dict[str, Named], step: Step) -> dict[str, str]:
    """Every file of the site."""
    chosen, site.unpaired = site_pairs(site)
    for i, (base, new) in enumerate(chosen):
        step("comparisons", i, len(chosen))
        site.pairs.append(judged(site, base, new))
    maker = _Maker(site)
    ids = pages.ids(site)
    for id_ in ids:
        pages.address(site, id_)
    todo = list(_made(maker, baselines, ids))
    for i, make in enumerate(todo):
        step("pages", i, len(todo))
        make()
    for name in OWN:
        maker.files[name] = _static(name)
    # A script and no data: a page from a folder may not fetch one.
    told = json.dumps(maker.index, ensure_ascii=True, separators=(",", ":"))
    script = f"var TOCKMARK_PAGES = {told};\n"
    maker.files["search-index.js"] = script.replace("<", "\\u003c")
    return maker.files


def _made(
    maker: "_Maker", baselines: dict[str, Named], ids: list[str]
) -> Iterator[Callable[[], None]]:
    """What makes each page."""
    site = maker.site
    yield maker.overview
    yield lambda: maker.add("reading.html", "reading.html", "How to read it", "page", timing=TIMING)
    for id_ in ids:
        yield lambda id_=id_: maker.benchmark(id_)  # type: ignore[misc]
    for one in site.kernels:
        yield lambda one=one: maker.kernel(one, baselines)  # type: ignore[misc]
    for other in site.pairs:
        if other.comparison:
            yield lambda other=other: maker.pair(other)  # type: ignore[misc]
    for i, told in enumerate(site.found.studies):
        yield lambda i=i, told=told: maker.study(i, told)  # type: ignore[misc]
    if site.found.validation:
        yield maker.validation


def other_study_page(place: int) -> str:
    """The file of a study's page."""
    return f"study{f'-{place + 1}' if place else ''}.html"


class _Maker:
    """Fills templates, and keeps what the search finds."""

    def __init__(self, site: Sorted) -> None:
        self.site = site
        self.files: dict[str, str] = {}
        self.index: list[dict[str, str]] = []
        self.environment = jinja2.Environment(
            loader=jinja2.PackageLoader("tockmark.site"),
            autoescape=True,
            trim_blocks=True,
            lstrip_blocks=True,
            undefined=jinja2.StrictUndefined,
        )
        self.environment.filters["sentence"] = sentence
        self.environment.filters["groupby_run"] = lambda lines: [
            (id_, list(some)) for id_, some in groupby(lines, key=lambda line: line.id)
        ]
        self.environment.globals |= {
            "address": lambda id_: pages.address(site, id_),
            "kernel_page": lambda named: site.kernel_of(named).page,
            "study_page": other_study_page,
            "site": site,
            "version": __version__,
        }

    def add(self, path: str, template: str, title: str, kind: str, **filled: Any) -> None:
        """One page; the search finds it by its title, and by `words` if there are any."""
        words = filled.pop("words", "")
        root = "../" * path.count("/")
        made = self.environment.get_template(template)
        self.files[path] = made.render(root=root, title=title, here=path, **filled) + "\n"
        self.index.append({"t": title, "k": kind, "u": path, "w": words})

    def overview(self) -> None:
        site = self.site
        findings = overview.findings(site)
        first = [one.pair for one in findings] or [p for p in site.pairs if p.comparison]
        self.add(
            "index.html",
            "index.html",
            "What the operating system costs",
            "page",
            screens=overview.screens(site),
            findings=findings,
            picture=overview.picture(site),
            moved=[(p, pages.pair_lines(overview.moved(p.comparison.in_order, overview.MOVED)))  # type: ignore[union-attr]
                   for p in first[:1]],
            conditions=[(one, conditions(one.result)) for one in site.found.every],
            timing=dict.fromkeys(o.result.provenance.board.timing for o in site.found.every),
            timing_means=TIMING,
            has_baseline=any(o.result.provenance.kernel.is_baseline for o in site.found.every),
            incomplete=[one for one in site.found.results if one.result.incomplete],
            sections=site.catalogue.in_sections(pages.ids(site), lambda id_: id_),
            most=MOST,
        )  # fmt: skip

    def benchmark(self, id_: str) -> None:
        found = pages.benchmark_page(self.site, id_)
        words = found.known.what if found.known else ""
        path = pages.address(self.site, id_)
        self.add(path, "benchmark.html", id_, "benchmark", page=found, causes=CAUSES, words=words)

    def kernel(self, one: Any, baselines: dict[str, Named]) -> None:
        found = pages.kernel_page(self.site, one, baselines)
        words = " ".join([one.built, *(named.name for named in one.named)])
        self.add(
            one.page, "kernel.html", one.title, "kernel", page=found, causes=CAUSES, words=words
        )

    def pair(self, one: Any) -> None:
        found = pages.pair_page(self.site, one, one.comparison)
        title = f"{one.new.name} against {one.base.name}"
        self.add(one.page, "pair.html", title, "comparison", page=found)

    def study(self, place: int, one: Named) -> None:
        found = pages.study_page(self.site, one)
        title = one.result.provenance.kernel.title
        self.add(other_study_page(place), "study.html", title, "page", page=found)

    def validation(self) -> None:
        judged = checks.judge_rows(self.site.found.validation, checks.load_unexplained())
        told = checks.validation_text(judged)
        self.add("validation.html", "validation.html", "The simulator", "page", told=told)


def _static(name: str) -> str:
    return (resources.files("tockmark.site") / "static" / name).read_text(encoding="utf-8")
