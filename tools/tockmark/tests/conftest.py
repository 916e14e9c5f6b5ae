# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Fixtures of the unit tests: a small catalogue, and a log of its apps."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tockmark.base.paths import RESULTS
from tockmark.suite.catalogue import Catalogue, load
from tockmark.tests.encoder import Encoder

CATALOGUE = """
budget = 3
sections = ["Processor and system calls", "Procedure calls and loops", "Memory bandwidths"]

[[benchmark]]
id = "time.read"
section = "Processor and system calls"
touches = "kernel"
samples = 1000
inner = 1
budget = 0.5
what = "two readings, nothing between them"
counts = "the readings"

[[benchmark]]
id = "loop.empty"
section = "Procedure calls and loops"
touches = "app"
samples = 32
inner = 1000
unit = "iteration"
budget = 0.5
what = "an add and a branch back"
counts = "the loop"

[[benchmark]]
id = "mem.copy_asm"
section = "Memory bandwidths"
touches = "app"
params = { size = [32, 64] }
samples = 100
inner = 1
bytes = "size"
budget = 0.5
what = "copy words"
counts = "the copy"
"""

RECORDS = {
    "time": [
        'begin proto=1 lang=c abi=2 apps=1 perf=0x90010 cc="gcc 12.2.0 -O3 -march=rv32imc_zicsr"',
        "bench time.read inner=1 n=1000",
        "data cycles 400 340*9",
        "data instret 100*10",
        "end ok",
    ],
    "loop": [
        'begin proto=1 lang=c abi=2 apps=1 perf=0x90010 cc="gcc 12.2.0 -O3 -march=rv32imc_zicsr"',
        "bench time.read inner=1 n=1000",
        "data cycles 401 341*9",
        "data instret 100*10",
        "bench loop.empty inner=1000 n=32",
        "data cycles 4000 (3341,3343)*5",
        "data instret 2103*11",
        "end ok",
    ],
    "mem": [
        'begin proto=1 lang=c abi=2 apps=1 perf=0x90010 cc="gcc 12.2.0 -O3 -march=rv32imc_zicsr"',
        "bench time.read inner=1 n=1000",
        "data cycles 401 341*9",
        "data instret 100*10",
        "bench mem.copy_asm size=32 inner=1 n=100",
        "data cycles 500 390*9",
        "data instret 118*10",
        "bench mem.copy_asm size=64 inner=1 n=100",
        "data cycles 600 437*9",
        "data instret 134*10",
        "end ok",
    ],
}


def seconds(work: Callable[[], object]) -> float:
    """Return the lower CPU time of two calls. Use only ratios of such times, because machines
    differ."""
    taken = []
    for _ in range(2):
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    return min(taken)


def committed(suffix: str) -> list[Path]:
    """Return the files of results/."""
    return [path for path in sorted(RESULTS.rglob(f"*{suffix}")) if path.is_file()]


def encoded(app: str, records: list[str]) -> list[str]:
    """Return the lines of these records in the UART protocol."""
    encoder = Encoder(app)
    return [line for record in records for line in encoder.lines(record)]


@pytest.fixture
def catalogue(tmp_path: Path) -> Catalogue:
    path = tmp_path / "catalogue.toml"
    path.write_text(CATALOGUE)
    return load(path)


@pytest.fixture
def log() -> list[str]:
    """A complete run, with kernel messages."""
    lines = ["kernel: started"]
    for app, records in RECORDS.items():
        lines += [*encoded(app, records), f"kernel: {app} exited"]
    return lines
