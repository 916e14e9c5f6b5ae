# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The pool gives back what was put there, whole or not at all."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tockmark.target.kinds import sim
from tockmark.target.pool import Pool, Pooled
from tockmark.target.protocol import Start

BOOT = Pooled(("#tm 0 time begin", "", "odd \xff line"), 12345, panicked=True)
KEY = "ab" * 32


def test_a_boot_comes_back_as_it_was(tmp_path: Path) -> None:
    pool = Pool(tmp_path / "pool")
    assert pool.find(KEY) is None
    pool.keep(KEY, BOOT)
    assert pool.find(KEY) == BOOT
    assert pool.find("cd" * 32) is None
    assert Pool(tmp_path / "pool", fresh=True).find(KEY) is None


@given(at=st.integers(min_value=0), to=st.integers(0, 255), cut=st.booleans())
def test_a_damaged_one_is_not_there(
    at: int, to: int, cut: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("pool")
    whole = bytearray(BOOT.text().encode("latin-1"))
    at %= len(whole)
    damaged = whole[:at] if cut else whole[:at] + bytes([to]) + whole[at + 1 :]
    (folder / f"{KEY}.log").write_bytes(damaged)
    found = Pool(folder).find(KEY)
    assert found == (BOOT if damaged == whole else None)
    Pool(folder, fresh=True).keep(KEY, BOOT)  # whatever is there is the pool's own
    assert Pool(folder).find(KEY) == BOOT


def test_a_key_follows_from_all_that_decides_what_a_boot_prints(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    one.write_bytes(b"1")
    two.write_bytes(b"2")

    def key(binary: Path, start: Start, pace: int = 16) -> str:
        return sim.Target(binary, True, pace, 1000).key(start)

    start = Start("boot", two, icache=True)
    keys = {
        key(one, start),
        key(two, start),
        key(one, replace(start, flash=one)),
        key(one, replace(start, icache=False)),
        key(one, replace(start, marks=("--mark", "irq"))),
        key(one, replace(start, marks=("--mark irq",))),
        key(one, start, 17),
    }
    assert len(keys) == 7
    assert key(one, replace(start, name="another", image="0" * 8)) in keys  # they decide nothing
