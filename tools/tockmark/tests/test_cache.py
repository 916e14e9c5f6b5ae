# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The cache returns complete boots only, and keeps its size limit."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from tockmark.base.errors import TockmarkError
from tockmark.cli import doctor
from tockmark.cli.app import app
from tockmark.target import cache, sim
from tockmark.target.cache import Cache
from tockmark.target.protocol import Replay, Session, Start
from tockmark.tests import stand_in
from tockmark.tests.conftest import RECORDS, encoded
from tockmark.wire.captured import Captured, Ending

ENDED = Ending()
BOOT = Captured(
    ["kernel: began", "", "odd \xff line"],
    ending=Ending("the kernel panicked", 12345, panicked=True),
)
KEY = "ab" * 32


def kept(folder: Path) -> int:
    return len(Cache(folder).entries())


def test_a_stored_boot_is_found(tmp_path: Path) -> None:
    some_cache = Cache(tmp_path / "cache")
    assert some_cache.find(KEY) is None
    some_cache.keep(KEY, BOOT)
    assert some_cache.find(KEY) == BOOT
    assert some_cache.find("cd" * 32) is None
    assert Cache(some_cache.folder, fresh=True).find(KEY) is None
    (tmp_path / "cache" / KEY).rename(tmp_path / "cache" / ("cd" * 32))
    assert some_cache.find("cd" * 32) is None  # the name is part of the hash


@given(at=st.integers(min_value=0), to=st.integers(0, 255), cut=st.booleans())
def test_a_damaged_entry_is_not_found(
    at: int, to: int, cut: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("cache")
    Cache(folder).keep(KEY, BOOT)
    whole = (folder / KEY).read_bytes()
    at %= len(whole)
    damaged = whole[:at] if cut else whole[:at] + bytes([to]) + whole[at + 1 :]
    (folder / KEY).write_bytes(damaged)
    entry_ = Cache(folder).find(KEY)
    assert entry_ == (BOOT if damaged == whole else None)
    Cache(folder, fresh=True).keep(KEY, BOOT)
    assert Cache(folder).find(KEY) == BOOT


def test_the_least_recently_used_entries_are_evicted(tmp_path: Path) -> None:
    keys = [f"{n:064x}" for n in range(50)]
    some_cache = Cache(tmp_path, limit=10 * cache.BLOCK)
    noise = [bytes(reversed(range(256))).hex() + str(n) for n in range(50)]
    for at, key in enumerate(keys):
        some_cache.keep(key, Captured([noise[at]], ending=ENDED))
        os.utime(tmp_path / key, (at, at))
        assert some_cache.find(keys[0]) is not None  # now the most recently used
        assert sum(size for _, size, _ in some_cache.entries()) <= some_cache.limit
    names = {path.name for _, _, path in some_cache.entries()}
    assert keys[0] in names
    recent = names - {keys[0]}
    assert recent == set(keys[-len(recent) :])
    assert len(recent) > 3
    assert len(some_cache.clear()) == len(names)
    assert some_cache.entries() == []


def test_a_cache_that_cannot_be_written_gives_one_warning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "file", Path("/dev/full/x")):
        some_cache = Cache(folder)
        for n in range(3):
            some_cache.keep(f"{n:064x}", BOOT)
        warning = capsys.readouterr().err
        assert warning.count("\n") == 1
        assert "boots" in warning
        assert some_cache.find(KEY) is None


def stood_in(tmp_path: Path, ending: str) -> tuple[sim.SimTarget, Start]:
    """Return a stand-in for a simulator, and a boot of two lines that ends with this code."""
    binary = tmp_path / "stand-in"
    binary.write_text(stand_in.STAND_IN)
    binary.chmod(0o755)
    stand_in.end(tmp_path, "boot", ending, ["one", "two"])
    return sim.SimTarget(binary, True, 16, 1000), Start("boot", tmp_path / "boot.flash", True)


def whole(session: Session) -> tuple[object, ...]:
    lines = list(session.lines())
    return lines, session.ending(), session.cycles


@pytest.mark.parametrize(("ending", "again"), [("0", True), ("7", True), ("4", False)])
def test_a_cached_boot_equals_its_first_run(ending: str, again: bool, tmp_path: Path) -> None:
    """A boot that hangs is not cached."""
    target, start = stood_in(tmp_path, ending)
    some_cache = Cache(tmp_path / "cache")
    first = whole(some_cache.begin(target, start))
    second = some_cache.begin(target, start)
    assert isinstance(second, Replay) is again
    assert whole(second) == first
    assert first[2] == 2_500_000


WHOLE = encoded("time", RECORDS["time"])
TORN = {
    "torn": [*WHOLE[:2], WHOLE[2][:-9], *WHOLE[3:]],
    "lost": [*WHOLE[:2], *WHOLE[3:]],
    "again": [*WHOLE[:3], *WHOLE[2:]],
}


@pytest.mark.parametrize("damage", TORN)
def test_a_boot_with_damaged_lines_is_simulated_again(damage: str, tmp_path: Path) -> None:
    """Such an entry is not found either."""
    target, start = stood_in(tmp_path, "0")
    folder = tmp_path / "cache"
    stand_in.end(tmp_path, "boot", "0", TORN[damage])
    key = target.key(start)
    whole(Cache(folder).begin(target, start))
    assert kept(folder) == 0
    Cache(folder).keep(key, Captured(TORN[damage], ending=ENDED))
    assert Cache(folder).find(key) is None
    stand_in.end(tmp_path, "boot", "0", ["kernel: " + WHOLE[0], *WHOLE[1:]])
    whole(Cache(folder).begin(target, start))
    assert kept(folder) == 2


def test_the_key_covers_everything_that_affects_the_output(tmp_path: Path) -> None:
    first, second = tmp_path / "one", tmp_path / "two"
    first.write_bytes(b"1")
    second.write_bytes(b"2")

    def key(binary: Path, start: Start, pace: int = 16, max_cycles: int = 1000) -> str:
        return sim.SimTarget(binary, True, pace, max_cycles).key(start)

    start = Start("boot", second, icache=True)
    keys = {
        key(first, start),
        key(second, start),
        key(first, replace(start, flash=first)),
        key(first, replace(start, icache=False)),
        key(first, replace(start, marks=("--mark", "irq"))),
        key(first, replace(start, marks=("--mark irq",))),
        key(first, start, 17),
        key(first, start, 16, 1001),
    }
    assert len(keys) == 8
    assert (
        key(first, replace(start, name="another", image="0" * 8)) in keys
    )  # these do not affect it


def test_doctor_shows_and_clears_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(cache.CACHE_VARIABLE, str(tmp_path / "c"))
    assert (doctor._cached_boots().version or "").startswith("0, 0.0 of at most 1024 MiB, in ")
    cache.default_cache().keep(KEY, BOOT)
    assert (doctor._cached_boots().version or "").startswith("1, ")
    done = CliRunner().invoke(app, ["doctor", "--clear-cache", "--json"])
    removed = {"boots": 1, "bytes": cache.BLOCK, "folder": str(tmp_path / "c")}
    assert json.loads(done.stdout) == removed
    assert (doctor._cached_boots().version or "").startswith("0, ")


@pytest.mark.parametrize(
    ("folder", "why", "good"),
    [("off", "TOCKMARK_CACHE", True), ("file", "Not a directory", False)],
)
def test_doctor_reports_a_missing_cache_in_one_line(
    folder: str, why: str, good: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(cache.CACHE_VARIABLE, folder)
    assert doctor._cached_boots().good is good
    done = CliRunner().invoke(app, ["doctor", "--clear-cache"])
    assert isinstance(done.exception, TockmarkError)
    assert why in str(done.exception)
