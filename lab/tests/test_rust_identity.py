# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Rows in assembly cost the same from C and from Rust, on both versions of the interface and on
both machines: Rust adds nothing to a sample.

Expensive rows are skipped: their bodies are the same objects, and every row has the calling code;
results/rust/assembly.json has all rows. Needs `make build`; builds the Nexys Video simulator and
its kernels if they are missing."""

import subprocess
import sys
from pathlib import Path

import pytest
from test_agreement import COUNT, SHARE

from tockmark.base import paths
from tockmark.result import file
from tockmark.result.model import Result, Row
from tockmark.suite.catalogue import LANGS, Lang, label, load

TOCKMARK = [sys.executable, "-m", "tockmark", "run"]
KNOWN = load()
IN_ASSEMBLY = [
    benchmark
    for benchmark in KNOWN.benchmarks.values()
    if benchmark.bodies and benchmark.by == "sampler"
]
# The UART is behind a crossbar that has a quarter of the core's clock. The cost of a write depends
# on its start within a period, so on all earlier code, in C as well.
PERIOD = 4
CROSSES = "console.write"
QUICK = 0.6  # limit of a benchmark's cycles in millions: all system calls, some others

Figures = dict[str, tuple[float | None, float | None]]  # net cycles and instructions, by label


def labels(icache: bool, abi: int) -> set[str]:
    """Return the labels of the rows to compare: single passes with the cache off; slopes with it
    on, where the counter reads of a single pass also use the cache."""
    ids = [
        benchmark.id
        for benchmark in IN_ASSEMBLY
        if (not icache or (benchmark.passes and benchmark.touches == "app"))
        and not (abi == 1 and benchmark.skip_v1)
        and benchmark.budget < QUICK
    ]
    return {label(id_, params) for id_, params in KNOWN.rows(ids)}


def has(result: Result, lang: Lang, icache: bool) -> dict[str, Row]:
    return {r.label: r for r in result.table.values() if r.lang == lang and r.icache is icache}


def measured(folder: Path, machine: str, abi: int, icache: bool) -> dict[Lang, dict[str, Row]]:
    """Return the rows of each language, by label."""
    wanted = labels(icache, abi)
    path = folder / "both.json"
    only = ",".join(dict.fromkeys(name.partition(" ")[0] for name in wanted))
    how = ["--icache", "on", "--samples", "12"] if icache else ["--icache", "off"]
    where = ["--machine", machine, "--abi", str(abi), "--lang", ",".join(LANGS)]
    command = [*TOCKMARK, *where, *how, "--only", only, "-o", str(path)]
    subprocess.run(command, cwd=paths.ROOT, check=True, capture_output=True)
    rows_by_language = {lang: has(file.load(path), lang, icache) for lang in LANGS}
    return {lang: {name: rows[name] for name in wanted} for lang, rows in rows_by_language.items()}


def figures(rows: dict[str, Row]) -> Figures:
    return {name: (row.net, row.instructions) for name, row in rows.items()}


@pytest.fixture(scope="module")
def study() -> None:
    """Return the machine of 2020."""
    built = ["sim-nexysvideo", "kernel-nexysvideo", "kernel-v1-nexysvideo"]
    subprocess.run(["make", "--silent", *built], cwd=paths.ROOT, check=True, capture_output=True)


@pytest.mark.usefixtures("study")
@pytest.mark.parametrize(("machine", "abi"), [("cw310", 1), ("cw310", 2), ("nexysvideo", 1)])
def test_without_the_cache_every_figure_is_the_same(tmp_path: Path, machine: str, abi: int) -> None:
    rows_by_language = measured(tmp_path, machine, abi, icache=False)
    in_c, in_rust = figures(rows_by_language["c"]), figures(rows_by_language["rust"])
    assert len(in_c) > 20
    for name in [name for name in in_c if name.startswith(CROSSES)]:
        (cycles, instructions), (others, as_many) = in_c.pop(name), in_rust.pop(name)
        assert instructions == as_many, name
        assert cycles is not None
        assert others is not None
        assert abs(cycles - others) < PERIOD, name
    assert in_rust == in_c


@pytest.mark.parametrize("abi", [1, 2])
def test_with_the_cache_slopes_are_the_same(tmp_path: Path, abi: int) -> None:
    rows_by_language = measured(tmp_path, "cw310", abi, icache=True)
    assert len(rows_by_language["c"]) >= 2
    for name, row in rows_by_language["c"].items():
        for language_row in (row, rows_by_language["rust"][name]):
            assert language_row.cycles is not None
            assert language_row.cycles.is_slope, language_row.name
        here, there = row.net, rows_by_language["rust"][name].net
        assert here is not None
        assert there is not None
        assert abs(there - here) <= max(SHARE * here, COUNT), (name, here, there)
        assert row.instructions == pytest.approx(
            rows_by_language["rust"][name].instructions, abs=COUNT
        ), name
