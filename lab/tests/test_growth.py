# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The study growth on the baseline: its rows, and boots with more entries in the headers. Builds
its apps with `make growth`."""

import struct
import subprocess
import sys
from pathlib import Path

import products
import pytest

from tockmark.base import paths
from tockmark.result import file
from tockmark.target import board as profiles
from tockmark.target.image import HEADER
from tockmark.target.kernel import read_kernel
from tockmark_lab.studies.growth import CATALOGUE, ENTRIES, UNKNOWN, boots, with_entries

BOARD = profiles.load(profiles.DEFAULT)
ROWS = "growth.command,growth.start,growth.set,growth.rung,grants.subscribe:used=0,queue.add"


@pytest.fixture(scope="module", autouse=True)
def built() -> None:
    products.make("growth")


def test_the_baseline_runs_the_rows_of_its_drivers(tmp_path: Path) -> None:
    path = tmp_path / "growth.json"
    command = [sys.executable, "-m", "tockmark", "run", "--catalogue", str(CATALOGUE)]
    command += ["--icache", "off", "--only", ROWS, "--samples", "9", "-o", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=paths.ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    result = file.load(path)
    costs = {(row.id, *row.params.values()): row.per_op for row in result.rows if row.params}
    # And queue.add, unless the apps were built with LIBTOCK_C.
    assert {row.id for row in result.skipped} - {"queue.add"} == {"grants.subscribe"}
    for n in (2, 3, 4):
        # The baseline looks at no other process to answer a command, and loads one app more.
        assert costs["growth.command", n] == costs["growth.command", 1]
        assert (costs["growth.start", n] or 0) > (costs["growth.start", n - 1] or 0)
    for row in ("growth.set", "growth.rung"):
        assert {key[1] for key in costs if key[0] == row} == {1, 2, 3, 4}


LENGTH = 56  # of a header with these two entries


def _header() -> bytes:
    """Return a header in its room, whose code begins behind that."""
    after = HEADER - LENGTH
    main = struct.pack("<HHIII", 1, 12, after, after, 0x2000)
    program = struct.pack("<HHIIIII", 9, 20, after, after, 0x2000, 0, 0)
    header = struct.pack("<HHIII", 2, LENGTH, 0x1000, 1, 0) + main + program
    return header.ljust(HEADER, b"\xff")


def test_more_entries_move_no_code_and_keep_the_checksum() -> None:
    old, new = _header(), with_entries(_header(), 3)
    assert len(new) == len(old) == HEADER
    (length,) = struct.unpack_from("<H", new, 2)
    assert length == LENGTH + 3 * 4
    checksum = 0
    for (word,) in struct.iter_unpack("<I", new[:length]):
        checksum ^= word
    assert checksum == 0  # with the checksum itself
    start, protected = struct.unpack_from("<II", new, 20)
    assert length + start == length + protected == HEADER
    assert [struct.unpack_from("<HH", new, LENGTH + 4 * i) for i in range(3)] == [
        (UNKNOWN, 0),
        (UNKNOWN + 1, 0),
        (UNKNOWN + 2, 0),
    ]
    with pytest.raises(ValueError, match="do not fit"):
        with_entries(_header(), HEADER)


def test_a_boot_takes_longer_with_each_entry() -> None:
    kernel = read_kernel(BOARD.kernels[2])
    measured = list(boots(kernel, BOARD, 2, [False]))
    assert [boot.entries for boot in measured] == list(ENTRIES)
    cycles = [boot.cycles for boot in measured]
    assert cycles == sorted(set(cycles))
    assert cycles[-1] < 2 * cycles[0]
