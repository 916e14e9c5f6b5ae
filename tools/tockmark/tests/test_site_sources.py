# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The sources of a site: files are recognised by their format, and only a site is overwritten."""

from pathlib import Path

import pytest

from tockmark.base import paths
from tockmark.base.errors import TockmarkError
from tockmark.profile import file as profiles
from tockmark.profile.file import FORMAT, VERSION, Chain, Share, StoredProfile
from tockmark.site import model, pictures, render
from tockmark.site.model import Site
from tockmark.suite import catalogue
from tockmark.tests.pages import check_links, contents
from tockmark.tests.test_site import NEW, called, of_kernel, stored


@pytest.fixture(autouse=True)
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "_inline", lambda sheets, of="": [])
    monkeypatch.setattr(pictures, "draw", lambda named, only=None: {})


def test_all_committed_files_are_recognised() -> None:
    sources = model.gather([paths.RESULTS])
    names = {result.name for result in sources.results}
    assert {"baseline-cw310", "links/tock-2.2", "rust/tock-2.2"} <= names
    assert [study.name for study in sources.studies] == ["paper-2021"]
    assert len(sources.profiles) == len(list((paths.RESULTS / "profiles").rglob("*.json")))
    assert sources.problems == []
    assert sources.unknown_files == []
    site = Site(sources, catalogue.load())
    assert [
        kernel for kernel in site.kernels if not kernel.named
    ] == []  # every profile has its kernel


@pytest.mark.parametrize(
    "torn", ['{"format":"tockmark-result","ver', '{"format":"tockmark-profile","version":2}']
)
def test_a_damaged_file_in_a_folder_is_reported_and_the_rest_is_shown(
    tmp_path: Path, torn: str
) -> None:
    stored(tmp_path / "in" / "a.json", NEW)
    (tmp_path / "in" / "torn.json").write_text(torn)
    done = called(tmp_path / "in", "-o", tmp_path / "out")
    assert done.exit_code == 1
    (line,) = [line for line in done.output.splitlines() if "torn.json" in line]
    assert line.startswith("tockmark: ")
    assert check_links(tmp_path / "out")


@pytest.mark.parametrize("content", ["nothing", "{}", '{"format":"tockmark-result","ver'])
def test_an_unusable_file_given_by_name_is_an_error(tmp_path: Path, content: str) -> None:
    good = stored(tmp_path / "a.json", NEW)
    (tmp_path / "bad.json").write_text(content)
    for given in ([good, tmp_path / "bad.json"], [good, tmp_path / "gone.json"], [good, good]):
        done = called(*given, "-o", tmp_path / "out")
        assert isinstance(done.exception, TockmarkError)
        assert done.exception.code == 2
        assert not (tmp_path / "out").exists()


def test_a_site_replaces_only_a_site_and_completely(tmp_path: Path) -> None:
    out = tmp_path / "out"
    a, b = stored(tmp_path / "a.json", NEW), stored(tmp_path / "b.json", of_kernel(NEW, "b"))
    assert called(a, b, "-o", out).exit_code == 0
    assert called(a, "-o", out).exit_code == 0  # the other files of the old site are removed
    assert not (out / "compare").exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.json", "b.json", "out"]
    before = contents(out)
    (out / "mine.txt").write_text("kept")
    done = called(a, b, "-o", out)
    assert isinstance(done.exception, TockmarkError)
    assert "mine.txt" in str(done.exception)
    assert contents(out) == {**before, "mine.txt": b"kept"}


@pytest.mark.parametrize("kind", ["file", "folder", "list"])
def test_other_files_are_not_overwritten(tmp_path: Path, kind: str) -> None:
    out = tmp_path / "out"
    if kind == "file":
        out.write_text("x")
    else:
        out.mkdir()
        (out / "site.json").write_text("[]" if kind == "list" else '{"files": ["site.json"]}')
    with pytest.raises(TockmarkError, match="Give another folder with -o"):
        render.write_site(out, {"index.html": "x"})
    assert not (tmp_path / "out" / "index.html").exists()


def test_a_profile_is_on_the_pages_of_its_kernel_and_benchmark(tmp_path: Path) -> None:
    evil = "<script>f</script>"
    profile = StoredProfile(
        FORMAT,
        VERSION,
        "syscall.command",
        True,
        NEW.provenance.kernel,
        "a-board",
        (Share("kernel", {"execute": 70, "fetch": 30}, 70, 60),),
        (Share(evil, {"execute": 70, "fetch": 30}, 70, 60),),
        frames=(evil,),
        stacks=(Chain((0,), "kernel", 100),),
    )
    stored(tmp_path / "r.json", NEW)
    (tmp_path / "profile.json").write_text(profiles.text(profile), encoding="utf-8")
    done = called(tmp_path / "r.json", tmp_path / "profile.json", "-o", tmp_path / "out")
    assert done.exit_code == 0, done.output
    for name in ("kernel/made-up-kernel.html", "benchmark/syscall.html"):
        page = (tmp_path / "out" / name).read_text(encoding="utf-8")
        assert "100 cycles and 70 instructions. The body takes 60 of these" in page
        assert "<script>f" not in page
    assert 'href="../kernel/made-up-kernel.html#profile-' in page
    (flame,) = (tmp_path / "out" / "flame").iterdir()  # both pages link to it
    assert page.count(f'href="../flame/{flame.name}"') == 1
    assert "&lt;script&gt;f&lt;/script&gt;: 100 cycles, 100.0%" in flame.read_text()
    check_links(tmp_path / "out")
