# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The cache gives back what a boot printed, whole or not at all, and stays within its bound."""

import json
import os
import zlib
from dataclasses import replace
from pathlib import Path

import msgspec
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


def test_a_boot_comes_back_as_it_was(tmp_path: Path) -> None:
    some = Cache(tmp_path / "cache")
    assert some.find(KEY) is None
    some.keep(KEY, BOOT)
    assert some.find(KEY) == BOOT
    assert some.find("cd" * 32) is None
    assert Cache(some.folder, fresh=True).find(KEY) is None
    (tmp_path / "cache" / KEY).rename(tmp_path / "cache" / ("cd" * 32))
    assert some.find("cd" * 32) is None  # it is another one's


@given(at=st.integers(min_value=0), to=st.integers(0, 255), cut=st.booleans())
def test_a_damaged_one_is_not_there(
    at: int, to: int, cut: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("cache")
    Cache(folder).keep(KEY, BOOT)
    whole = (folder / KEY).read_bytes()
    at %= len(whole)
    damaged = whole[:at] if cut else whole[:at] + bytes([to]) + whole[at + 1 :]
    (folder / KEY).write_bytes(damaged)
    found = Cache(folder).find(KEY)
    assert found == (BOOT if damaged == whole else None)
    Cache(folder, fresh=True).keep(KEY, BOOT)
    assert Cache(folder).find(KEY) == BOOT


def test_what_was_not_used_for_longest_goes_first(tmp_path: Path) -> None:
    keys = [f"{n:064x}" for n in range(50)]
    some = Cache(tmp_path, limit=10 * cache.BLOCK)
    noise = [bytes(reversed(range(256))).hex() + str(n) for n in range(50)]
    for at, key in enumerate(keys):
        some.keep(key, Captured([noise[at]], ending=ENDED))
        os.utime(tmp_path / key, (at, at))
        assert some.find(keys[0]) is not None  # that is in use
        assert sum(size for _, size, _ in some.entries()) <= some.limit
    held = {path.name for _, _, path in some.entries()}
    assert keys[0] in held
    recent = held - {keys[0]}
    assert recent == set(keys[-len(recent) :])
    assert len(recent) > 3
    assert len(some.clear()) == len(held)
    assert some.entries() == []


def test_a_cache_that_cannot_be_written_is_one_line_and_no_more(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "file", Path("/dev/full/x")):
        some = Cache(folder)
        for n in range(3):
            some.keep(f"{n:064x}", BOOT)
        said = capsys.readouterr().err
        assert said.count("\n") == 1
        assert "boots" in said
        assert some.find(KEY) is None


def stood_in(tmp_path: Path, ending: str) -> tuple[sim.SimTarget, Start]:
    """The stand-in for a simulator, and a boot that prints two lines and ends so."""
    binary = tmp_path / "stand-in"
    binary.write_text(stand_in.STAND_IN)
    binary.chmod(0o755)
    stand_in.end(tmp_path, "boot", ending, ["one", "two"])
    return sim.SimTarget(binary, True, 16, 1000), Start("boot", tmp_path / "boot.flash", True)


def whole(session: Session) -> tuple[object, ...]:
    lines = list(session.lines())
    return lines, session.ending(), session.cycles


@pytest.mark.parametrize(("ending", "again"), [("0", True), ("7", True), ("4", False)])
def test_a_kept_boot_is_as_the_first_run_of_it(ending: str, again: bool, tmp_path: Path) -> None:
    """A boot that hung, or whose simulator gave up, is simulated again."""
    target, start = stood_in(tmp_path, ending)
    some = Cache(tmp_path / "cache")
    first = whole(some.begin(target, start))
    second = some.begin(target, start)
    assert isinstance(second, Replay) is again
    assert whole(second) == first
    assert first[2] == 2_500_000


WHOLE = encoded("time", RECORDS["time"])
TORN = {
    "torn": [*WHOLE[:2], WHOLE[2][:-9], *WHOLE[3:]],
    "lost": [*WHOLE[:2], *WHOLE[3:]],
    "again": [*WHOLE[:3], *WHOLE[2:]],
}


@pytest.mark.parametrize("what", TORN)
def test_a_boot_that_does_not_parse_whole_is_simulated_again(what: str, tmp_path: Path) -> None:
    """One that is kept, too."""
    target, start = stood_in(tmp_path, "0")
    folder = tmp_path / "cache"
    stand_in.end(tmp_path, "boot", "0", TORN[what])
    key = target.key(start)
    whole(Cache(folder).begin(target, start))
    assert kept(folder) == 0
    Cache(folder).keep(key, Captured(TORN[what], ending=ENDED))
    assert Cache(folder).find(key) is None
    stand_in.end(tmp_path, "boot", "0", ["kernel: " + WHOLE[0], *WHOLE[1:]])
    whole(Cache(folder).begin(target, start))
    assert kept(folder) == 2


def test_a_key_follows_from_all_that_decides_what_a_boot_prints(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_bytes(b"1")
    two.write_bytes(b"2")

    def key(binary: Path, start: Start, pace: int = 16, most: int = 1000) -> str:
        return sim.SimTarget(binary, True, pace, most).key(start)

    start = Start("boot", two, icache=True)
    keys = {
        key(one, start),
        key(two, start),
        key(one, replace(start, flash=one)),
        key(one, replace(start, icache=False)),
        key(one, replace(start, marks=("--mark", "irq"))),
        key(one, replace(start, marks=("--mark irq",))),
        key(one, start, 17),
        key(one, start, 16, 1001),
    }
    assert len(keys) == 8
    assert key(one, replace(start, name="another", image="0" * 8)) in keys  # they decide nothing


def entry(boot: Captured) -> bytes:
    """Return a file of the cache whose hash is right."""
    return cache._sealed_file(KEY, zlib.compress(msgspec.json.encode(boot)))


def test_an_entry_that_unpacks_to_too_much_is_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "MAX_BOOT_BYTES", 100_000)
    some = Cache(tmp_path)
    (tmp_path / KEY).write_bytes(entry(Captured(["0" * 200_000], ending=ENDED)))
    assert (tmp_path / KEY).stat().st_size < 1000
    assert some.find(KEY) is None
    (tmp_path / KEY).write_bytes(bytes(200_000))
    assert some.find(KEY) is None
    some.keep("cd" * 32, Captured(["0" * 200_000], ending=ENDED))
    assert kept(tmp_path) == 1


def test_doctor_shows_and_clears(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(cache.CACHE_VARIABLE, str(tmp_path / "c"))
    assert (doctor._cached_boots().version or "").startswith("0, 0.0 of at most 1024 MiB, in ")
    cache.default_cache().keep(KEY, BOOT)
    assert (doctor._cached_boots().version or "").startswith("1, ")
    done = CliRunner().invoke(app, ["doctor", "--clear-cache", "--json"])
    removed = {"boots": 1, "bytes": cache.BLOCK, "folder": str(tmp_path / "c")}
    assert json.loads(done.stdout) == removed
    assert (doctor._cached_boots().version or "").startswith("0, ")


@pytest.mark.parametrize(
    ("place", "why", "good"),
    [("off", "TOCKMARK_CACHE", True), ("file", "Not a directory", False)],
)
def test_doctor_says_in_one_line_what_is_no_cache(
    place: str, why: str, good: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(cache.CACHE_VARIABLE, place)
    assert doctor._cached_boots().good is good
    done = CliRunner().invoke(app, ["doctor", "--clear-cache"])
    assert isinstance(done.exception, TockmarkError)
    assert why in str(done.exception)
