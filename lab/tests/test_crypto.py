# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Crypto in an app, a service and a driver: known answers, all ways on the baseline, and the sizes
at which they cross."""

import re
import struct
import subprocess
import sys
from pathlib import Path

import products
import pytest

from tockmark.base import paths
from tockmark.result import file
from tockmark.suite import catalogue
from tockmark.target import board as boards
from tockmark.target.image import AppBuild, build_image
from tockmark.target.kernel import read_kernel
from tockmark.target.protocol import Start
from tockmark_lab.folders import STUDIES
from tockmark_lab.studies.crypto import WAYS, Ways, blocks, ways

KERNEL = paths.ROOT / "build/cargo-crypto/riscv32imc-unknown-none-elf/release/tockmark-kernel"
CATALOGUE = STUDIES / "programs" / "catalogue.toml"
KNOWN = STUDIES / "programs" / "apps" / "crypto" / "known.inc"
DATA = STUDIES / "crypto" / "data"
SIZES = (16, 64, 256, 1024, 4096)
KEY = bytes(range(0x80, 0xA0))
NONCE = bytes([7, 0, 0, 0, *range(0x40, 0x48)])


def rotated(word: int, by: int) -> int:
    return (word << by | word >> (32 - by)) & 0xFFFFFFFF


def block(count: int) -> bytes:
    """Return a block of ChaCha20's keystream (RFC 8439, 2.3)."""
    before = [
        *struct.unpack("<4I", b"expand 32-byte k"),
        *struct.unpack("<8I", KEY),
        count,
        *struct.unpack("<3I", NONCE),
    ]
    now = list(before)
    rounds = [(i, 4 + i, 8 + i, 12 + i) for i in range(4)]
    rounds += [(i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4) for i in range(4)]
    for a, b, c, d in rounds * 10:
        for x, y, z, by in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
            now[x] = (now[x] + now[y]) & 0xFFFFFFFF
            now[z] = rotated(now[z] ^ now[x], by)
    return struct.pack("<16I", *((a + b) & 0xFFFFFFFF for a, b in zip(now, before, strict=True)))


def sealed(text: bytes, data: bytes = b"") -> tuple[bytes, bytes]:
    """Return ciphertext and tag (RFC 8439, 2.5 and 2.8)."""
    out = b"".join(
        bytes(a ^ b for a, b in zip(text[i : i + 64], block(1 + i // 64), strict=False))
        for i in range(0, len(text), 64)
    )
    one_time = block(0)
    r = int.from_bytes(one_time[:16], "little") & 0x0FFFFFFC0FFFFFFC0FFFFFFC0FFFFFFF
    s = int.from_bytes(one_time[16:32], "little")
    message = b"".join(part + bytes(-len(part) % 16) for part in (data, out))
    message += struct.pack("<QQ", len(data), len(out))
    sum_ = 0
    for i in range(0, len(message), 16):
        sum_ = (sum_ + int.from_bytes(message[i : i + 16] + b"\1", "little")) * r % (2**130 - 5)
    return out, ((sum_ + s) % 2**128).to_bytes(16, "little")


def test_the_known_answers_match_the_rfc() -> None:
    sunscreen = (
        b"Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the"
        b" future, sunscreen would be it."
    )
    data = bytes.fromhex("50515253c0c1c2c3c4c5c6c7")
    assert sealed(sunscreen, data)[1].hex() == "1ae10b594f09e26a7e902ecbd0600691"  # 2.8.2
    words = [int(word, 0) for word in re.findall(r"\b(?:0x[0-9a-f]+|\d+)(?=[,}])", _table())]
    for size, *answer in (words[i : i + 18] for i in range(0, len(words), 18)):
        text, tag = sealed(bytes((7 * i + size) % 256 for i in range(size)))
        sum_ = 0
        for byte in text:
            sum_ = (sum_ * 31 + byte) % 2**32
        assert answer == [sum_, *tag], size
    assert words[::18] == list(SIZES)


def _table() -> str:
    return KNOWN.read_text(encoding="utf-8").rpartition("*/")[2]


@pytest.fixture(scope="module")
def built() -> None:
    products.make("kernel-crypto", "ONLY=crypto")


def test_all_ways_give_the_right_answer(built: None, tmp_path: Path) -> None:
    """A wrong answer would be an error of its row; a way that did not run would have no row."""
    out = tmp_path / "crypto.json"
    only = ("--only", "crypto.seal,crypto.command", "--icache", "off", "--lang", "c")
    command = [sys.executable, "-m", "tockmark", "run", "--catalogue", str(CATALOGUE), *only]
    command += ["--kernel", str(KERNEL), "--samples", "9", "-o", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=paths.ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    result = file.load(out)
    (costs,) = ways(result)
    assert costs.measured == list(WAYS)
    for way in costs.measured[1:]:
        assert tuple(costs.more(way)) == SIZES
        assert all(more > 0 for more in costs.more(way).values()), way
    assert costs.line("ipc") is not None
    assert "driver, one is cheaper than driver, four crossings at every size" in blocks(result)


def test_a_way_that_the_kernel_lacks_is_skipped_with_its_reason(tmp_path: Path) -> None:
    """The default kernel has no crypto driver. Its boot reports this and is complete."""
    out = tmp_path / "crypto.json"
    only = ("--only", "crypto.command", "--icache", "off", "--samples", "9")
    command = [sys.executable, "-m", "tockmark", "run", "--catalogue", str(CATALOGUE), *only]
    command += ["-o", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=paths.ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    result = file.load(out)
    assert {row.id for row in result.rows} == {"time.read", "null.sample"}
    assert {(row.id, row.why) for row in result.skipped} == {
        ("crypto.command", "this kernel has no such driver")
    }
    assert len(result.skipped) == len(SIZES)


def test_a_wrong_tag_is_an_error_of_the_row(built: None, tmp_path: Path) -> None:
    """One bit of the first known tag is changed in flash."""
    board = boards.load(boards.DEFAULT)
    (boot,) = (each for each in catalogue.load(CATALOGUE).boots() if each.name == "crypto")
    apps = AppBuild.built(2, "c", "perf", "programs")
    image = build_image(boot, apps, read_kernel(KERNEL), board, tmp_path)
    flash = bytearray(image.flash.read_bytes())
    tag = sealed(bytes((7 * i + 16) % 256 for i in range(16)))[1]
    flash[flash.index(tag)] ^= 1
    image.flash.write_bytes(flash)
    start = Start("crypto", image.flash, icache=False, marks=(), reporter="crypto")
    session = board.target.start(start)
    for line in session.lines():
        if "fail crypto.seal" in line:
            break
    else:
        pytest.fail("nothing failed")
    session.stop()


@pytest.mark.parametrize("icache", [True, False])
def test_ways_cross_where_their_costs_do(icache: bool) -> None:
    """Check the committed result, at measured sizes not near the crossing."""
    costs = Ways(file.load(DATA / "baseline.json"), icache)
    assert len(costs.crossings()) == 6  # four ways in addition to the app's own
    for (first, second), at in costs.crossings().items():
        low, high = costs.seal(first), costs.seal(second)
        for size in SIZES:
            if at is None or size < at / 2:
                assert low[size] < high[size], (first, second, size)
            elif size > 2 * at:
                assert low[size] > high[size], (first, second, size)


def test_the_work_is_the_same_on_every_kernel() -> None:
    """A decapsulation in the app retires the same instructions on every kernel. A service adds
    more."""
    for path in sorted(DATA.glob("*.json")):
        for costs in ways(file.load(path)):
            own = costs.decapsulate("app", instructions=True)
            assert own is None or abs(own - 1_929_351) <= 3, path
            for way in costs.measured[1:]:
                beyond = costs.decapsulate_more(way, instructions=True)
                assert beyond is None or 1_000 < beyond < 20_000, (path, way)
