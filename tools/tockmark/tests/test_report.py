# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The HTML report: one page that needs nothing else, and holds what the results hold."""

import re
import shutil
import subprocess
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import msgspec
import pytest
import typer
from typer.testing import CliRunner

from tockmark import paths
from tockmark.commands import showing
from tockmark.result import file
from tockmark.result.model import Absent, Result
from tockmark.show import figures, plot, report
from tockmark.show.plot import Named
from tockmark.suite import catalogue
from tockmark.tests import made
from tockmark.tests.conftest import seconds

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
VOID = {"meta", "br", "link", "img", "hr", "input"}
LOADING = {"src", "srcset", "data", "poster", "action", "background", "formaction"}


class Page(HTMLParser):
    """What a page holds: its text, its ids, and whatever it would load."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.targets: list[str] = []
        self.loads: list[str] = []
        self.text: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)
        if tag in ("script", "iframe", "object", "embed", "link", "base"):
            self.loads.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            if name in LOADING:
                self.loads.append(f"{tag} {name}={value}")
            if name == "href":
                self.targets.append(value or "")
            if value and "url(" in value:
                self.targets += re.findall(r"url\(([^)]*)\)", value)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


@pytest.fixture(scope="module")
def results() -> list[Named]:
    known = catalogue.load()
    return [Named("old", made.result(known, 1.2)), Named("new", made.result(known))]


def paged(results: list[Named], baseline: Result | None = None) -> str:
    """The page as the verb makes it, beside the committed study."""
    study = Named("study", file.load(showing.STUDY))
    beside = Named("baseline", baseline) if baseline else None
    return report.report(results, catalogue.load(), beside, study)


def of_kernel(result: Result, name: str, machine: str = "cw310") -> Result:
    """The same from another kernel or machine."""
    told = result.provenance
    kernel = msgspec.structs.replace(told.kernel, name=name)
    board = msgspec.structs.replace(told.board, machine=machine)
    return replace(result, provenance=msgspec.structs.replace(told, kernel=kernel, board=board))


@pytest.fixture(scope="module")
def page(results: list[Named]) -> str:
    return paged(results)


def test_the_page_needs_nothing_else(page: str) -> None:
    read = Page(page)
    assert not read.open
    assert not read.loads
    assert len(set(read.ids)) == len(read.ids)
    assert read.targets
    for target in read.targets:
        assert target.startswith("#")
        assert target[1:] in read.ids
    assert not re.search(r"https?:|@import|//[a-z]+\.", page)


def test_every_row_and_what_it_means_is_there(page: str, results: list[Named]) -> None:
    known = catalogue.load()
    text = re.sub(r"[ \n]+", " ", "".join(Page(page).text))
    for row in results[1].result.table.values():
        assert row.id in text
        if row.id in known.benchmarks:
            assert " ".join(known.benchmarks[row.id].what.split()) in text
        for value in (row.net, row.instructions):
            assert report.number(value) in text
    assert "made-up kernel" in text
    assert "Nothing is known of how true these cycle counts are" in text
    assert "What it does not prove" in text


def test_pictures_and_the_study_are_there(page: str) -> None:
    for name in ("procedure-calls", "instruction-cache", "before-after"):
        assert f'<figure id="{name}"><div><svg' in page
    study = page[page.index('id="study"') :]
    assert "4.6883 ms" in study
    assert "are the first sample, in which a buffer is shared" in study
    assert "43\u202f626" in study


def test_errors_and_gaps_stand_in_the_page(results: list[Named]) -> None:
    result = results[1].result
    wrong = replace(
        result,
        rows=tuple(
            replace(row, faults=("torn",)) if row.id == "syscall.command" else row
            for row in result.rows
        ),
        skipped=(Absent("ipc.ping", "ipc", {}, True, "none"),),
    )
    page = paged([Named("wrong", wrong)], results[0].result)
    assert "wrong is incomplete:" in page
    assert "wrong: all: syscall.command: torn" in page
    assert "ipc.ping: none" in page
    call = page[page.index("<b>syscall.command</b>") :]
    call = call[: call.index("</tbody>")]
    assert '<td class="bad" colspan="3" title="torn">150, error</td>' in call
    assert call.count("<td>–</td>") == 4  # per op, µs, MB/s and the ratio: nothing is made of it


def test_what_a_result_says_is_text_and_no_markup(results: list[Named]) -> None:
    hostile = of_kernel(results[1].result, "<script>alert(1)</script>")
    page = paged([Named("<b>", hostile)])
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert not Page(page).loads


def test_the_baseline_is_that_of_the_same_machine_and_interface(
    results: list[Named], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def stored(path: str, result: Result) -> str:
        (tmp_path / path).write_text(file.text(result), encoding="utf-8")
        return str(tmp_path / path)

    def shown(path: str) -> str:
        app = typer.Typer()
        showing.register(app)
        page = tmp_path / "page.html"
        done = CliRunner().invoke(app, ["report", path, "-o", str(page)])
        assert done.exit_code == 0, done.output
        return page.read_text(encoding="utf-8")

    ours = of_kernel(made.result(catalogue.load(), 0.5), "tockmark-baseline 0 abi2")
    mine = stored("mine.json", results[1].result)
    stored("baseline-a.json", of_kernel(ours, "tockmark-baseline 0 abi2", "nexysvideo"))
    monkeypatch.setattr(paths, "RESULTS", tmp_path)
    assert "× baseline" not in shown(mine)
    path = stored("baseline-b.json", ours)
    page = shown(mine)
    assert "× baseline" in page
    call = page[page.index("<b>syscall.command</b>") :]
    assert "<td>2</td></tr>" in call[: call.index("</tbody>")]  # 150 by 75
    assert "is not Tock" not in page
    page = shown(path)
    assert "is not Tock" in page
    assert "× baseline" not in page


def test_a_page_takes_little_longer_than_its_pictures(results: list[Named]) -> None:
    def pictures() -> None:
        for sheet in figures.draw(results).values():
            plot.rendered(sheet, "svg")

    assert seconds(lambda: paged(results)) < 2 * seconds(pictures)


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium here")
def test_a_browser_shows_it_at_any_width(page: str, tmp_path: Path, width: int) -> None:
    # A window cannot be as narrow as a phone here, but the page in it can.
    written, picture = tmp_path / "page.html", tmp_path / "page.png"
    probe = (
        f"<style>html {{ width: {width}px; }}</style>"
        "<script>document.title = document.documentElement.scrollWidth</script></body>"
    )
    written.write_text(page.replace("</body>", probe), encoding="utf-8")
    command = [str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    command += [f"--user-data-dir={tmp_path / 'profile'}", f"--window-size={max(width, 500)},2000"]
    for what in (f"--screenshot={picture}", "--dump-dom"):
        done = subprocess.run(
            [*command, what, written.as_uri()], capture_output=True, text=True, timeout=120
        )
    assert picture.stat().st_size > 20_000
    title = re.search(r"<title>(\d+)</title>", done.stdout)
    assert title is not None
    assert int(title[1]) <= max(width, 500)  # nothing sticks out to the side
