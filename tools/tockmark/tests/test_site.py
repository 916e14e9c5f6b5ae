# SPDX-License-Identifier: Apache-2.0 OR MIT
"""A site has static pages that need no other files and show the data of the results."""

import json
import re
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from msgspec import structs
from typer.testing import CliRunner
from typer.testing import Result as Done

from tockmark.base import paths
from tockmark.base.errors import TockmarkError
from tockmark.cli import draw
from tockmark.cli.app import app
from tockmark.result import file
from tockmark.result.model import Result
from tockmark.site import pages as site_pages
from tockmark.site import pictures
from tockmark.suite import catalogue
from tockmark.suite.selection import select
from tockmark.tests import made
from tockmark.tests.pages import CONDITIONS, captions, check_links, contents, pages
from tockmark.wire.rows import Absent

KNOWN = catalogue.load()
DRAWN = select(KNOWN, "time,app,syscall")
OLD, NEW = made.result(KNOWN, 1.2), made.result(KNOWN)


def of_kernel(result: Result, name: str, machine: str = "cw310", level: str = "z") -> Result:
    """Return the result as if from another kernel or machine."""
    provenance = result.provenance
    kernel = msgspec.structs.replace(provenance.kernel, name=name, opt_level=level, sha256=None)
    board = msgspec.structs.replace(provenance.board, machine=machine)
    return replace(
        result, provenance=msgspec.structs.replace(provenance, kernel=kernel, board=board)
    )


def stored(path: Path, result: Result) -> str:
    """Write a result to a file and return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(file.text(result), encoding="utf-8")
    return str(path)


def called(*words: str | Path) -> Done:
    """Run the verb `site`."""
    return CliRunner().invoke(app, ["site", *map(str, words)], catch_exceptions=True)


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Omit the pictures, which take most of the time."""
    monkeypatch.setattr(pictures, "_inline", lambda sheets, of="": [])
    monkeypatch.setattr(pictures, "draw", lambda named, only=None: {})


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the site of two results, with pictures."""
    folder = tmp_path_factory.mktemp("two")
    files = [
        stored(folder / f"{name}.json", result.only(DRAWN))
        for name, result in (("old", of_kernel(OLD, "old kernel")), ("new", NEW))
    ]
    done = called(*files, "-o", folder / "site")
    assert done.exit_code == 0, done.output
    return folder / "site"


def test_the_pages_load_only_files_of_the_site(drawn: Path) -> None:
    assert check_links(drawn) > 500
    for page in pages(drawn).values():
        own = {"data:,", "site.css", "search-index.js", "search.js"}
        assert {Path(load).name for load in page.loads} == own
    for name, data in contents(drawn).items():
        assert not re.search(rb"https?:|@import|//[a-z]+\.", data), name
    assert b"url(" not in (drawn / "site.css").read_bytes()


def test_no_page_allows_more_than_its_own_files(drawn: Path) -> None:
    policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; "
    meta = f'<meta http-equiv="Content-Security-Policy" content="{policy}'
    for name in pages(drawn):
        text = (drawn / name).read_text(encoding="utf-8")
        assert text.index(meta) < text.index("<title>")
        assert not re.search(r"<style|\sstyle=|\son\w+=|<script(?! src=)", text), name
    page = (drawn / "benchmark" / "call.html").read_text(encoding="utf-8")
    pictures = re.findall("<svg.*?</svg>", page, re.DOTALL)
    assert any('stroke-width="' in picture for picture in pictures)


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("timing", ["checked-against-rtl", "hardware"])
def test_every_caption_says_whether_its_figures_are_simulated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, timing: str
) -> None:
    monkeypatch.setattr(draw, "STUDY", tmp_path / "absent")  # measured on hardware
    provenance = NEW.provenance
    board = structs.replace(provenance.board, timing=timing)
    result = replace(NEW, provenance=structs.replace(provenance, board=board))
    called(stored(tmp_path / "a.json", result.only(DRAWN)), "-o", tmp_path / "site")
    texts = [path.read_text() for path in (tmp_path / "site").rglob("*.html")]
    every = [caption for text in texts for caption in captions(text)]
    assert len(every) > 10
    for caption in every:
        assert all(word in caption for word in CONDITIONS), caption
        assert ("imulated" in caption) == (timing != "hardware"), caption


@pytest.mark.usefixtures("undrawn")
def test_a_further_file_changes_no_name_and_no_title(tmp_path: Path) -> None:
    """Not even a newer result of the same kernel, first in its folder."""

    def names(*given: str | Path) -> tuple[dict[str, str], list[str]]:
        done = called(*given, "-o", tmp_path / "site")
        assert done.exit_code == 0, done.output
        text = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
        head = text[text.index('<table id="screen-first">') :]
        head = head[: head.index("</thead>")]
        links = re.findall(r"<a href[^>]*>([^<]*)</a>", head)
        titles = {
            path.relative_to(tmp_path / "site").as_posix(): title
            for path in (tmp_path / "site").rglob("*.html")
            for title in re.findall(r"<h1>(.*?)</h1>", path.read_text(encoding="utf-8"))
        }
        return titles, links

    folder = tmp_path / "in"
    stored(folder / "m.json", of_kernel(OLD, "old kernel").only(DRAWN))
    stored(folder / "n.json", NEW.only(DRAWN))
    titles, before = names(folder)
    assert len(titles) > 10
    later = structs.replace(NEW.provenance, date="2099-01-01T00:00:00+00:00")
    stored(folder / "a.json", replace(NEW.only(DRAWN), provenance=later))
    again, after = names(folder)
    assert titles.items() <= again.items()
    assert len(after) == len(before) + 1
    assert set(before) < set(after)


@pytest.mark.usefixtures("undrawn")
def test_a_kernel_without_a_name_is_not_named_by_its_file(tmp_path: Path) -> None:
    provenance = NEW.provenance
    kernel = structs.replace(provenance.kernel, name=None, file="base-0.elf", sha256="ab" * 32)
    result = replace(NEW.only(DRAWN), provenance=structs.replace(provenance, kernel=kernel))
    assert called(stored(tmp_path / "a.json", result), "-o", tmp_path / "site").exit_code == 0
    for path in (tmp_path / "site").rglob("*.html"):  # provenance may name it
        names = re.findall(r"<(h1|h2|th|a)\b[^>]*>(.*?)</\1>", path.read_text(), re.DOTALL)
        assert not [name for _, name in names if "base-0.elf" in name], path


@pytest.mark.usefixtures("undrawn")
def test_samples_and_links_are_drawn_where_they_differ(tmp_path: Path) -> None:
    called(stored(tmp_path / "a.json", NEW.only(DRAWN)), "-o", tmp_path / "site")
    (rows,) = (tmp_path / "site" / "rows").glob("*.html")
    varying = [
        row
        for row in NEW.only(DRAWN).table.values()
        if row.cycles and not row.errors and len({*row.cycles.steady}) > 1
    ]
    drawn = rows.read_text(encoding="utf-8").count('<svg class="dots"')
    assert drawn == len([row for row in varying if row.cycles and not row.cycles.is_slope])


@pytest.mark.usefixtures("undrawn")
def test_a_file_without_a_page_is_named_with_the_reason(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    stored(folder / "a.json", NEW.only(DRAWN))
    (folder / "b.log").write_text("#tm")
    (folder / "c.json").write_text('{"format":"tockmark-other"}')
    called(folder, "-o", tmp_path / "site")
    text = pages(tmp_path / "site")["index.html"].text
    assert "b.log: a log; `tockmark board parse`" in text
    assert "c.json: tockmark-other" in text
    (folder / "a.json").unlink()
    done = called(folder, "-o", tmp_path / "other")
    assert isinstance(done.exception, TockmarkError)
    assert "b.log" in str(done.exception)


def test_every_row_is_on_the_page_of_its_kernel(drawn: Path) -> None:
    page = pages(drawn)["rows/new.html"]
    for row in NEW.only(DRAWN).table.values():
        assert row.id in page.text
        for value in (row.net, row.instructions):
            assert site_pages.number(value) in page.text
    kernel = pages(drawn)["kernel/made-up-kernel.html"]
    assert "../rows/new.html" in kernel.targets
    assert "ab" * 32 in kernel.text
    assert "ab" * 8 not in pages(drawn)["index.html"].text  # no sha256 on the first page


@pytest.mark.usefixtures("undrawn")
def test_text_of_a_result_is_escaped(tmp_path: Path) -> None:
    evil = "<script>alert(1)</script>\"'&../../x"
    hostile = of_kernel(NEW, evil)
    strange = structs.replace(hostile.rows[-1], id=f"x.{evil}", params={evil: evil})
    hostile = replace(
        hostile,
        rows=(*hostile.rows, strange),
        skipped=(Absent(evil, "all", {evil: evil}, True, evil),),
        problems=(evil,),
    )
    path = tmp_path / "<b onclick=x>.json"
    done = called(stored(path, hostile), stored(tmp_path / "b.json", NEW), "-o", tmp_path / "out")
    assert done.exit_code == 1, done.output  # the result has a problem
    check_links(tmp_path / "out")
    for name, data in contents(tmp_path / "out").items():
        assert re.fullmatch(r"[a-z0-9./-]+", name), name
        assert b"<script>" not in data
        assert b"<b " not in data
    assert "<script>alert(1)</script>" in pages(tmp_path / "out")["index.html"].text
    index = (tmp_path / "out" / "search-index.js").read_text()
    assert json.loads(index.removeprefix("var TOCKMARK_PAGES = ").removesuffix(";\n"))
    assert not [path for path in tmp_path.iterdir() if path.name.startswith("x")]


@pytest.mark.usefixtures("undrawn")
def test_a_kernel_is_compared_with_the_baseline_of_its_machine_and_interface(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    ours = of_kernel(made.result(KNOWN, 0.5), "tockmark-baseline 0 abi2")
    mine = stored(tmp_path / "mine.json", NEW)
    stored(tmp_path / "baseline-a.json", of_kernel(ours, "tockmark-baseline 0", "nexysvideo"))
    monkeypatch.setattr(paths, "RESULTS", tmp_path)

    def page(path: str, name: str) -> str:
        assert called(path, "-o", tmp_path / "out").exit_code == 0
        files = [tmp_path / "out" / "kernel" / f"{name}.html", *(tmp_path / "out/rows").iterdir()]
        return "".join(file.read_text(encoding="utf-8") for file in files)

    assert "× baseline" not in page(mine, "made-up-kernel")
    path = stored(tmp_path / "baseline-b.json", ours)
    text = page(mine, "made-up-kernel")
    assert "× baseline" in text
    line = text[text.index("syscall.command</th>") :]
    assert "<td>2</td></tr>" in line[: line.index("\n")]  # 150 / 75
    assert "It is not Tock" not in text
    text = page(path, "tockmark-baseline-0-abi2")
    assert "It is not Tock" in text
    assert "× baseline" not in text


@pytest.mark.usefixtures("undrawn")
def test_a_site_names_why_results_cannot_be_compared(tmp_path: Path) -> None:
    other = stored(tmp_path / "other.json", of_kernel(NEW, "other", "nexysvideo"))
    mine = stored(tmp_path / "mine.json", NEW)
    assert called(mine, other, "-o", tmp_path / "out").exit_code == 0
    text = pages(tmp_path / "out")["index.html"].text
    assert "cw310" in text
    check_links(tmp_path / "out")
