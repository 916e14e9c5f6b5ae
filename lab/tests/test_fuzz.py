# SPDX-License-Identifier: Apache-2.0 OR MIT
"""The simulator ends with a reason and never crashes, for any firmware.

Images are random bytes, random instructions, and the baseline kernel truncated or with flipped
bits. All come from a seed that a failure prints. TOCKMARK_FUZZ_IMAGES sets their number, and
TOCKMARK_SIMULATOR selects another build (docs/boards-and-simulator.md, "Sanitizers")."""

import os
import random
import struct
import subprocess
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tockmark.base import paths
from tockmark.target import board, image
from tockmark.target.kernel import read_kernel
from tockmark.tests.tries import RecordProperty, record_tries

SIMULATOR = os.environ.get(
    "TOCKMARK_SIMULATOR", str(paths.ROOT / "build" / "sim" / "cw310" / "earlgrey-sim")
)
IMAGES = int(os.environ.get("TOCKMARK_FUZZ_IMAGES", "500"))
SEED = 2021
ENTRY = 0x400
CYCLES = 30_000
# The allowed ends: the suite ended, the core sleeps, the cycle limit, a lock-up.
GOOD = {0, 3, 4, 5, 7}


def random_bytes(rng: random.Random, kernel: bytes) -> bytes:
    return bytes(ENTRY) + rng.randbytes(rng.choice([0, 1, 2, 3, 64, 4096]))


def random_instructions(rng: random.Random, kernel: bytes) -> bytes:
    """Return loads, stores, branches, jumps, CSR and system instructions with random fields."""
    opcodes = [0x03, 0x23, 0x63, 0x67, 0x6F, 0x73, 0x13, 0x33, 0x37, 0x17, 0x0F]
    words = (rng.getrandbits(25) << 7 | rng.choice(opcodes) for _ in range(1024))
    return bytes(ENTRY) + b"".join(struct.pack("<I", word) for word in words)


def wild_accesses(rng: random.Random, kernel: bytes) -> bytes:
    """Return stores and loads over the whole address space; a handler skips each that faults."""
    a0, a1, t1 = 10, 11, 6
    handler = [0x34102373, 0x00430313, 0x34131073, 0x30200073]  # t1 = mepc, + 4, back; mret
    code = [0x20001 << 12 | t1 << 7 | 0x37, 0x30531073]  # mtvec = t1 = 0x20001000
    for _ in range(200):
        block = rng.choice([0x8, 0x10000, 0x20000, 0x40000, 0x41000, 0x48000, rng.getrandbits(20)])
        offset = rng.getrandbits(5) << 7
        code += [
            (block + rng.getrandbits(9)) % (1 << 20) << 12 | a0 << 7 | 0x37,
            rng.getrandbits(7) << 25 | a1 << 20 | a0 << 15 | rng.randrange(3) << 12 | offset | 0x23,
            rng.getrandbits(12) << 20 | a0 << 15 | rng.choice([0, 1, 2, 4, 5]) << 12 | a1 << 7 | 3,
        ]
    code.append(0x0000006F)  # j .
    text = struct.pack(f"<{len(code)}I", *code)
    return (bytes(ENTRY) + text).ljust(0x1000, b"\0") + struct.pack("<4I", *handler)


def truncated_kernel(rng: random.Random, kernel: bytes) -> bytes:
    return kernel[: rng.randrange(len(kernel))]


def damaged_kernel(rng: random.Random, kernel: bytes) -> bytes:
    damaged = bytearray(kernel)
    for _ in range(rng.choice([1, 10, 1000])):
        damaged[rng.randrange(len(damaged))] ^= 1 << rng.randrange(8)
    return bytes(damaged)


KINDS: list[Callable[[random.Random, bytes], bytes]] = [
    random_bytes,
    random_instructions,
    wild_accesses,
    truncated_kernel,
    damaged_kernel,
]


def baseline(folder: Path) -> bytes:
    profile = board.load("earlgrey-sim")
    path = folder / "kernel.bin"
    image.write_flash(read_kernel(profile.kernels[2]), profile, path)
    return path.read_bytes()


def run(path: Path, option: str, *more: str) -> tuple[int, str]:
    """Return exit code and last line, and remove the image. A time-out fails the test."""
    command = [SIMULATOR, option, str(path), "--max-cycles", str(CYCLES), *more]
    done = subprocess.run(command, capture_output=True, timeout=60, check=False)
    path.unlink()
    lines = done.stderr.decode().splitlines()
    return done.returncode, lines[-1] if lines else "it said nothing"


def test_any_image_ends_with_a_reason(tmp_path: Path, record_property: RecordProperty) -> None:
    kernel = baseline(tmp_path)

    def attempt(number: int) -> tuple[int, str]:
        rng = random.Random(SEED * 1_000_003 + number)
        path = tmp_path / f"{number}.bin"
        path.write_bytes(KINDS[number % len(KINDS)](rng, kernel))
        code, last = run(path, "--flash", "--touched", "--icache", rng.choice(["on", "off"]))
        assert code in GOOD, f"image {number} of seed {SEED}: exit {code}: {last}"
        assert last.startswith("earlgrey-sim: end reason="), f"image {number}: {last}"
        return number % len(KINDS), last.split()[2]

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        ends = Counter(pool.map(attempt, range(IMAGES)))
    assert sum(ends.values()) == IMAGES
    # Every type of image ran, and they did not all end in the same way.
    assert {kind for kind, _ in ends} == set(range(len(KINDS)))
    reasons = Counter[str]()
    for (_, reason), number in ends.items():
        reasons[reason.removeprefix("reason=")] += number
    assert len(reasons) >= 3, ends
    record_tries(record_property, "flash images, simulated", IMAGES, SEED, reasons)


def test_any_elf_is_loaded_or_refused(tmp_path: Path, record_property: RecordProperty) -> None:
    whole = board.load("earlgrey-sim").kernels[2].read_bytes()
    codes = Counter[int]()
    for number in range(IMAGES // 5):
        rng = random.Random(SEED + number)
        damaged = bytearray(whole[: rng.choice([len(whole), rng.randrange(1, 4096)])])
        for _ in range(rng.randrange(1, 8)):
            damaged[rng.randrange(min(len(damaged), 256))] = rng.getrandbits(8)
        path = tmp_path / f"{number}.elf"
        path.write_bytes(damaged)
        code, last = run(path, "--elf")
        assert code in GOOD | {2}, f"ELF {number} of seed {SEED}: exit {code}: {last}"
        assert last.startswith("earlgrey-sim: "), last
        codes[code] += 1
    assert codes[2], codes
    assert len(codes) > 1, codes
    came = {"refused": codes[2], "ran and ended with a reason": codes.total() - codes[2]}
    record_tries(record_property, "kernel ELFs, simulated", codes.total(), SEED, came)
