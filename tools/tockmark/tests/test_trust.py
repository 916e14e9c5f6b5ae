# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The user's key: where it is, what it is, and that nothing else in its place is taken."""

import os
from pathlib import Path

import pytest

from tockmark import paths
from tockmark.errors import TockmarkError
from tockmark.rig import trust


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the key is of a user who has none in the environment."""
    monkeypatch.delenv(trust.ENVIRONMENT)
    monkeypatch.setenv(paths.HOME, str(tmp_path))
    return tmp_path / "config" / "key"


def test_a_key_is_made_once_and_is_the_users_alone(place: Path) -> None:
    key = trust.key()
    assert place.read_bytes().strip() == key
    assert place.stat().st_mode & 0o777 == 0o600
    assert os.listdir(place.parent) == ["key"]
    trust._of_file.cache_clear()
    assert trust.key() == key
    assert len(key) == 64


def test_the_environment_prevails(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So CI needs no file."""
    monkeypatch.setenv(trust.ENVIRONMENT, "k" * 16)
    assert trust.key() == b"k" * 16
    assert not place.exists()
    monkeypatch.setenv(trust.ENVIRONMENT, "k" * 15)
    with pytest.raises(TockmarkError, match="TOCKMARK_KEY has fewer than 16 characters; `openssl"):
        trust.key()


def test_what_is_no_key_is_one_line(place: Path) -> None:
    """A FIFO is not waited for, nor a device read."""
    place.parent.mkdir()

    def refused(what: str) -> None:
        trust._of_file.cache_clear()
        with pytest.raises(TockmarkError, match=what):
            trust.key()

    os.mkfifo(place, 0o600)
    refused("cannot read the key .*: it is no plain file; remove it, and it is made anew")
    place.unlink()
    place.symlink_to(place)
    refused("cannot read the key")
    place.unlink()
    place.write_text("0" * 64)
    place.chmod(0o640)
    refused("no key to vouch with: others may read it")
    place.chmod(0o600)
    place.write_text("0" * 5000)
    refused("File too large")
    place.write_text("short")
    refused("no key to vouch with: it has fewer than 16 characters")


def test_where_none_can_be_kept_boots_are_foreign_later(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place.parent.write_text("")
    trust._of_file.cache_clear()
    assert len({trust.key(), trust.key()}) == 1
    assert capsys.readouterr().err.count("boots that are kept now count as foreign later") == 1


def test_a_mac_is_of_its_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    mac = trust.mac(b"one", b"two")
    assert trust.holds(mac, b"one", b"two")
    for others in ((b"onet", b"wo"), (b"onetwo",), (b"one", b"two", b"")):
        assert not trust.holds(mac, *others)
    monkeypatch.setenv(trust.ENVIRONMENT, "the key of somebody else")
    assert not trust.holds(mac, b"one", b"two")
