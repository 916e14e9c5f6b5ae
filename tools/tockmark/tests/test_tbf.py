# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Read TBF headers in flash, and arbitrary bytes."""

import io
import struct
import tarfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tockmark.base.errors import TockmarkError
from tockmark.target.tab import ANYWHERE, FIXED, MAIN, NAME, Tbf, merge_tabs, parse_tbfs

BASE = 0x2000_0000


def element(kind: int, value: bytes) -> bytes:
    return struct.pack("<HH", kind, len(value)) + value + b"\0" * (-len(value) % 4)


def tbf(*elements: bytes, total: int = 128) -> bytes:
    """Return a TBF of `total` bytes."""
    body = b"".join(elements)
    start = struct.pack("<HHII", 2, 16 + len(body), total, 1)
    words = struct.unpack(f"<{len(start + body) // 4}I", start + body)
    checksum = 0
    for word in words:
        checksum ^= word
    return (start + struct.pack("<I", checksum) + body).ljust(total, b"\0")


def app(name: str, ram: int = ANYWHERE) -> bytes:
    fixed = element(FIXED, struct.pack("<II", ram, ANYWHERE))
    return tbf(element(MAIN, bytes(12)), element(NAME, name.encode()), fixed)


def test_apps_and_padding_are_read_up_to_other_bytes() -> None:
    flash = b"\xff" * 64 + app("first", 0x1000_8000) + tbf(total=64) + app("second") + b"\xff" * 64
    assert parse_tbfs(flash, BASE, BASE + 64) == [
        Tbf(BASE + 64, 128, "first", 0x1000_8000),
        Tbf(BASE + 192, 64, None),
        Tbf(BASE + 256, 128, "second"),
    ]
    assert parse_tbfs(flash, BASE, BASE) == []


def test_a_wrong_checksum_or_length_ends_the_apps() -> None:
    whole = app("one")
    for at in range(16, 40):
        damaged = bytearray(whole)
        damaged[at] ^= 4
        assert parse_tbfs(bytes(damaged), BASE, BASE) == []
    assert parse_tbfs(whole[:30], BASE, BASE) == []


@given(st.binary(max_size=64))
def test_any_elements_are_read(elements: bytes) -> None:
    raw = elements[: len(elements) // 4 * 4]
    assert [tbf_.length for tbf_ in parse_tbfs(tbf(raw), BASE, BASE)] == [128]


@given(st.binary(max_size=200), st.integers(0, 220))
def test_any_bytes_are_read(flash: bytes, at: int) -> None:
    parse_tbfs(flash, BASE, BASE + at)


def tab(path: Path, **programs: bytes) -> Path:
    with tarfile.open(path, "w") as archive:
        for name, content in programs.items():
            member = tarfile.TarInfo(f"{name.replace('_', '-')}.tbf")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return path


def test_programs_of_other_tabs_have_their_addresses_in_their_names(tmp_path: Path) -> None:
    ours = tab(tmp_path / "ours", rv32imc=app("one", 0x1000_8000))
    others = [
        tab(tmp_path / name, cortex_m4=app("one", ram))
        for name, ram in (("here", 0x2000_4000), ("there", 0x2000_8000))
    ]
    merge_tabs(ours, others)
    with tarfile.open(ours) as archive:
        assert archive.getnames() == [
            "rv32imc.tbf",
            "cortex-m4.0x00000000.0x20004000.tbf",
            "cortex-m4.0x00000000.0x20008000.tbf",
        ]
        content = archive.extractfile("cortex-m4.0x00000000.0x20008000.tbf")
        assert content is not None
        assert content.read() == app("one", 0x2000_8000)
    with pytest.raises(TockmarkError, match="addresses"):
        merge_tabs(ours, others[1:])
    (tmp_path / "none").write_bytes(b"no archive")
    with pytest.raises(TockmarkError, match="none: not a TAB"):
        merge_tabs(ours, [tmp_path / "none"])
